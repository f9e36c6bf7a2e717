//! Flows: keys common to all flows, and those of each kind.

pub mod calls;
pub mod dscp;
pub mod ping;
pub mod quic;
pub mod quinn;
pub mod responsiveness;
pub mod tcp;
pub mod udp;
pub mod web;

use stillair_model::types::{Duration, Ip};
use stillair_scenario_derive::Section;

use super::super::description::{TableSchema, ValueType};
use super::super::document::Value;
use super::super::error::{Diagnostic, Diagnostics};
use super::super::parts::Parts;
use super::super::reader::{self, Field};
use super::super::{FlowEnd, FlowKind, Node};
use super::domain::{Flag, Time, as_written};
use super::{Domain, Key, Place, Titled};
use dscp::{Dscp, IpVersion};

/// A kind of flow.
type Kind = (&'static TableSchema, fn(&mut reader::Section<'_>, &mut Diagnostics) -> Box<dyn Traffic>);

const fn kind<K: Titled + Traffic + 'static>() -> Kind {
    (K::SCHEMA, |section, faults| Box::new(K::read(section, faults)))
}

/// All kinds of flows.
const KINDS: [Kind; 9] = [
    kind::<udp::Udp>(),
    kind::<ping::Ping>(),
    kind::<ping::UdpPing>(),
    kind::<tcp::Tcp>(),
    kind::<calls::Voip>(),
    kind::<calls::Video>(),
    kind::<web::Web>(),
    kind::<responsiveness::Responsiveness>(),
    kind::<quic::Quic>(),
];

/// Type of `[[flow]]`.
pub(in super::super) const TYPE: ValueType =
    ValueType::List(&ValueType::Kinds { shapes: &super::domain::firsts(KINDS), bare: false });

/// Keys of every flow.
#[derive(Section, Clone, Debug, Default)]
pub struct Common {
    /// its name in results
    #[key(or = "kind and number, such as `udp-0`")]
    pub name: Key<Label>,
    /// the sender: a node or an interface. Each of several senders has its own flow, named FLOW-SENDER. A
    /// node sends from the address of the interface that its route to the receiver leaves through; offloads,
    /// buffers and pacing are that interface's in any case
    #[key(need = "the name of a node, or a list of them")]
    pub from: Key<Ends>,
    /// the receiver: a node or an interface. Each of several receivers has its own stream of packets. A node
    /// is reached at the interface where the shortest route from the sender arrives, the first of several
    #[key(need = "the name of a node, or a list of them")]
    pub to: Key<Ends>,
    /// DSCP of its packets (in IPv6: in the traffic class)
    #[key(default = "CS0")]
    pub dscp: Key<Dscp>,
    /// IP version of its packets and their answers. An IPv6 header has 40 bytes instead of 20. Its traffic
    /// class sets no kernel priority, so `pfifo_fast` puts all of it into one band. Each interface also has
    /// an address in `fd00::/96`, with its IPv4 address in the last 32 bits
    #[key(or = "the scenario's `ip`: 4")]
    pub ip: Key<IpVersion>,
    /// when it starts; before the end of the run
    #[key(default = "0 s")]
    pub start: Key<Time>,
    /// the start is delayed by up to this much, drawn uniformly for each receiver and run, so that runs
    /// differ
    #[key(
        or = "`0 s`; for several flows of a node with a `count` 100 ms per flow, at most half the time from `start` to the end of `warm_up`, or if `start` is later, a tenth of the time to `stop`"
    )]
    pub start_spread: Key<Time>,
    /// when it stops; after `start`
    #[key(or = "the end of the run")]
    pub stop: Key<Time>,
}

/// Keys of flows that may be bidirectional.
#[derive(Section, Clone, Debug, Default)]
pub struct BothWays {
    /// each receiver sends the same traffic back, as a flow named FLOW-back-RECEIVER
    #[key(default = "false")]
    pub bidirectional: Key<Flag>,
}

/// Text with at least one letter.
pub struct Label;

impl Domain for Label {
    type Value = String;
    const TYPE: ValueType = ValueType::Text;

    fn read(field: &Field<'_>, _: &mut Diagnostics) -> Result<String, Diagnostic> {
        field.label("a name of at least one letter").map(str::to_owned)
    }

    fn written(value: &String) -> Value {
        Value::String(value.clone())
    }
}

as_written! {
    /// One or more nodes or interfaces, by name or pattern.
    Ends = ValueType::Either(&[ValueType::Name("ends"), ValueType::List(&ValueType::Name("ends"))]);
}

/// A flow's place, ends and times, for the evaluation of its other keys.
pub(in super::super) struct Context<'c> {
    pub at: &'c Place,
    pub parts: &'c Parts,
    pub nodes: &'c [Node],
    pub from: FlowEnd,
    pub to: &'c [FlowEnd],
    pub ip: Ip,
    pub start_spread: Duration,
}

/// Keys specific to a kind of flow.
pub(in super::super) trait Traffic {
    /// Returns the traffic, or `None` if a required key is missing or misread. Errors are added to `faults`.
    fn traffic(&self, flow: &Context<'_>, faults: &mut Diagnostics) -> Option<FlowKind>;

    /// Returns true if the receivers send the same traffic back.
    fn bidirectional(&self) -> bool {
        false
    }

    /// Returns true if the receivers are a multicast group.
    fn multicast(&self) -> bool {
        false
    }
}

/// Reads the keys of a kind.
pub(in super::super) fn read(
    kind: &str,
    section: &mut reader::Section<'_>,
    faults: &mut Diagnostics,
) -> Box<dyn Traffic> {
    let known = KINDS.iter().find(|(shape, _)| shape.kind() == kind);
    known.expect("the reader knows the kind").1(section, faults)
}
