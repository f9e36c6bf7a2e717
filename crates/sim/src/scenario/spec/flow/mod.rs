//! Flows: keys of every flow, and those of each kind.

pub mod mark;
pub mod page;
pub mod ping;
pub mod quic;
pub mod quinn;
pub mod responsiveness;
pub mod tcp;
pub mod udp;
pub mod video;
pub mod voip;
pub mod web;

use stillair_model::vocabulary::Duration;
use stillair_scenario_derive::Section;

use super::super::builder::Setting;
use super::super::contract::Form;
use super::super::document::{Item, Value};
use super::super::error::{Fault, Mistakes};
use super::super::parts::Parts;
use super::super::reader::{self, Field};
use super::super::{FlowEnd, FlowKind, Node};
use super::domain::{Flag, Time};
use super::{Domain, Key, Place, Section as _, Titled};
use mark::{IpVersion, Mark};

/// What `[[flow]]` may be.
pub(in super::super) const FORM: Form = Form::List(&Form::Kinds {
    shapes: &[
        udp::Udp::SHAPE,
        ping::Ping::SHAPE,
        ping::UdpPing::SHAPE,
        tcp::Tcp::SHAPE,
        voip::Voip::SHAPE,
        video::Video::SHAPE,
        web::Web::SHAPE,
        responsiveness::Responsiveness::SHAPE,
        quic::Quic::SHAPE,
    ],
    bare: false,
});

/// Keys of every flow.
#[derive(Section, Clone, Debug, Default)]
pub struct Common {
    /// its name in results
    #[key(or = "kind and number, such as `udp-0`")]
    pub name: Key<Label>,
    /// the sender: a node or an interface. Each of several senders has its own flow, named FLOW-SENDER. A node sends from the address of
    /// the interface that its route to the receiver leaves through; offloads, buffers and pacing are that interface's in any case
    #[key(need = "the name of a node, or a list of them")]
    pub from: Key<Ends>,
    /// the receiver: a node or an interface. Each of several receivers has its own stream of packets. A node is reached at the interface
    /// where the shortest route from the sender arrives, the first of several
    #[key(need = "the name of a node, or a list of them")]
    pub to: Key<Ends>,
    /// DSCP of its packets (in IPv6: in the traffic class)
    #[key(default = "CS0")]
    pub mark: Key<Mark>,
    /// IP version of its packets and their answers. An IPv6 header has 40 bytes instead of 20. Its traffic class sets no kernel priority,
    /// so `pfifo_fast` puts all of it into one band. Each interface also has an address in `fd00::/96`, with its IPv4 address in the last
    /// 32 bits
    #[key(or = "the scenario's `ip`: 4")]
    pub ip: Key<IpVersion>,
    /// when it starts; before the end of the run
    #[key(default = "0 s")]
    pub start: Key<Time>,
    /// the start is delayed by up to this much, drawn uniformly for each receiver and run, so that runs differ
    #[key(
        or = "`0 s`; for several flows of a node with a `count` 100 ms per flow, at most half the time from `start` to the end of `warm_up`, or if `start` is later, a tenth of the time to `stop`"
    )]
    pub start_spread: Key<Time>,
    /// when it stops; after `start`
    #[key(or = "the end of the run")]
    pub stop: Key<Time>,
}

/// Key of flows that may go both ways.
#[derive(Section, Clone, Debug, Default)]
pub struct BothWays {
    /// each receiver sends the same traffic back, as a flow named FLOW-back-RECEIVER
    #[key(default = "false")]
    pub both_ways: Key<Flag>,
}

/// Text with at least one letter.
pub struct Label;

impl Domain for Label {
    type Value = String;
    const FORM: Form = Form::Text;

    fn read(field: &Field<'_>, _: &mut Mistakes) -> Result<String, Fault> {
        field.label("a name of at least one letter").map(str::to_owned)
    }

    fn written(value: &String) -> Value {
        Value::String(value.clone())
    }
}

/// Declares domains whose values refer to nodes or to user-defined parts. They are kept as written, and read when these are known.
macro_rules! as_written {
    ($($(#[doc = $about:literal])+ $domain:ident = $form:expr;)*) => {
        $($(#[doc = $about])+
        pub struct $domain;

        impl $crate::scenario::spec::Domain for $domain {
            type Value = $crate::scenario::builder::Setting;
            const FORM: $crate::scenario::contract::Form = $form;

            fn read(
                field: &$crate::scenario::reader::Field<'_>,
                _: &mut $crate::scenario::error::Mistakes,
            ) -> Result<Self::Value, $crate::scenario::error::Fault> {
                Ok($crate::scenario::builder::Setting::of(field.item.value.clone()))
            }

            fn written(value: &Self::Value) -> $crate::scenario::document::Value {
                value.clone().into_value()
            }
        })*
    };
}
use as_written;

as_written! {
    /// One or several nodes or interfaces, by name or by pattern.
    Ends = Form::Either(&[Form::Name("ends"), Form::List(&Form::Name("ends"))]);
}

impl<D: Domain<Value = Setting>> Key<D> {
    /// Reads the value that was kept as written.
    pub(in super::super) fn late<T>(&self, parts: &Parts, read: impl FnOnce(&Field<'_>) -> T) -> Option<T> {
        let (value, at) = self.given()?;
        let item = Item { value: value.clone().into_value(), origin: at.origin };
        Some(read(&Field { path: at.path.clone(), item: &item, form: const { &D::FORM }, parts }))
    }
}

/// Keys of a flow that only its kind has.
pub(in super::super) enum Own {
    Udp(udp::Udp),
    Ping(ping::Ping),
    UdpPing(ping::UdpPing),
    Tcp(tcp::Tcp),
    Voip(voip::Voip),
    Video(video::Video),
    Web(web::Web),
    Responsiveness(responsiveness::Responsiveness),
    Quic(Box<quic::Quic>),
}

/// A flow's place, ends and times, which its other keys depend on.
pub(in super::super) struct Context<'c> {
    pub at: &'c Place,
    pub parts: &'c Parts,
    pub nodes: &'c [Node],
    pub from: FlowEnd,
    pub to: &'c [FlowEnd],
    pub ip: stillair_model::vocabulary::Ip,
    pub start_spread: Duration,
}

impl Own {
    /// Reads the keys of a kind.
    pub(in super::super) fn read(
        kind: &str,
        section: &mut reader::Section<'_>,
        faults: &mut Mistakes,
    ) -> Self {
        match kind {
            "udp" => Self::Udp(udp::Udp::read(section, faults)),
            "ping" => Self::Ping(ping::Ping::read(section, faults)),
            "udp_ping" => Self::UdpPing(ping::UdpPing::read(section, faults)),
            "tcp" => Self::Tcp(tcp::Tcp::read(section, faults)),
            "voip" => Self::Voip(voip::Voip::read(section, faults)),
            "video" => Self::Video(video::Video::read(section, faults)),
            "web" => Self::Web(web::Web::read(section, faults)),
            "responsiveness" => Self::Responsiveness(responsiveness::Responsiveness::read(section, faults)),
            _ => Self::Quic(Box::new(quic::Quic::read(section, faults))),
        }
    }

    /// Returns the traffic, unless a required key is missing or misread. Mistakes are added to `faults`.
    pub(in super::super) fn traffic(&self, flow: &Context<'_>, faults: &mut Mistakes) -> Option<FlowKind> {
        match self {
            Self::Udp(own) => own.traffic(flow, faults),
            Self::Ping(own) => Some(own.traffic()),
            Self::UdpPing(own) => Some(own.traffic()),
            Self::Tcp(own) => own.traffic(flow, faults),
            Self::Voip(own) => Some(own.traffic()),
            Self::Video(own) => own.params(flow.at, faults).map(FlowKind::Video),
            Self::Web(own) => own.traffic(),
            Self::Responsiveness(own) => Some(FlowKind::Responsiveness(own.params(flow.at, faults))),
            Self::Quic(own) => Some(FlowKind::Quic(Box::new(own.flow(flow.parts, faults)))),
        }
    }

    /// Returns true if the receivers send the same traffic back.
    pub(in super::super) fn both_ways(&self) -> bool {
        match self {
            Self::Voip(own) => own.direction.both_ways.or(false),
            Self::Video(own) => own.direction.both_ways.or(false),
            _ => false,
        }
    }

    /// Returns true if the receivers are a multicast group.
    pub(in super::super) fn multicast(&self) -> bool {
        matches!(self, Self::Udp(own) if own.multicast.or(false))
    }
}
