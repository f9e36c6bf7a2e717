//! Scenarios: TOML text is converted to a resolved and fully checked structure from which the world is built.
//!
//! In a [`Scenario`], references are indices into its lists, defaults are filled in, and `inherits` and
//! overrides are applied. An error in the text is a [`ScenarioError`] with the place, what was found, and
//! what is expected.
//!
//! ```text
//! text --document--> tree with lines --set, like--> tree --reader, decode--> Scenario --topology--> checked
//! ```

mod amount;
pub mod builder;
mod control;
mod cost;
mod custom;
mod decode;
mod description;
mod document;
mod ends;
mod error;
mod error_tables;
mod external;
mod files;
mod flow;
mod foreign;
mod guest;
mod hearing;
mod many;
mod mtu;
mod network;
mod notes;
mod notes_time;
pub mod parts;
mod path;
pub mod paths;
mod profile;
mod quic;
mod quinn;
mod read;
mod reader;
mod record;
mod renamed;
mod resolve;
mod resolved;
mod scheme;
mod shaped;
pub mod spec;
mod step;
mod survey;
mod sweep;
mod topology;
mod trace;
mod units;

use stillair_model::types::{Ac, Duration};

pub use control::CongestionControl;
use document::Table;
pub use ends::{FlowEnd, Ways};
pub use error::ScenarioError;
use error::{Diagnostic, Diagnostics, gather};
pub use error_tables::ErrorTables;
pub use external::{Host, OPEN};
pub use files::{Files, Folder, Memory, NoFiles};
pub use flow::{FlentTest, Flow, FlowKind, Gap};
pub use foreign::{Interferer, NeighbourLoad, ShareFormat, ShareOfTime, SourceLevel, SwitchPattern};
pub use guest::{Guest, GuestQueue, Offload, Program, RxBuffers};
pub use hearing::{Audible, CaptureLevels};
pub use mtu::Mtus;
pub use network::{
    Attachment, Channel, EdcaOverride, Interface, InterfaceRef, Link, Nic, Node, QdiscSpec, Role, Wifi,
};
use parts::Parts;
pub use path::{Errors, GivenErrors, Rates, SnrSteps, Station};
pub use profile::{MTU, Profile, SocketMemory};
pub use quic::{QuicFlow, QuicLoad};
#[cfg(feature = "quinn")]
pub use quinn::QuinnFactory;
pub use quinn::{AckFrequency, Crypto, QuicStack, QuinnControl, QuinnOptions};
pub use read::{Reader, parse, sweep};
pub use record::{Record, Stretch};
pub use scheme::Scheme;
pub use spec::product::Device;
pub use step::{Change, Step, changeable, changes, keep_devices};
pub use trace::PathTrace;

/// A whole experiment: nodes, their connections, and their traffic.
#[derive(Clone, PartialEq, Debug)]
pub struct Scenario {
    /// Name of the experiment, for results.
    pub name: String,
    /// Length of the run.
    pub duration: Duration,
    /// Time at the start of the run that is not measured.
    pub warm_up: Duration,
    /// Time before the end of the run that is not measured.
    pub cool_down: Duration,
    /// Seed of all random streams.
    pub seed: u64,
    /// Wi-Fi channels.
    pub channels: Vec<Channel>,
    /// Hosts, routers and access points, in the order of the file.
    pub nodes: Vec<Node>,
    /// Wired links.
    pub links: Vec<Link>,
    /// Traffic of modelled hosts.
    pub flows: Vec<Flow>,
    /// Traffic of real programs between live hosts or guests.
    pub live_flows: Vec<Flow>,
    /// The Flent test that generates some of the traffic.
    pub test: Option<FlentTest>,
    /// Changes during the run, in order of time.
    pub steps: Vec<Step>,
    /// Recordings beyond the summary.
    pub record: Record,
    /// Notes on keys without effect, each a sentence that starts with the key.
    pub idle: Vec<String>,
    /// Error tables by signal-to-noise ratio, computed once for all runs.
    pub error_tables: ErrorTables,
}

impl Scenario {
    /// Returns the names of all flows, one per receiver, in the order of the world's flow numbers.
    pub fn flow_names(&self) -> Vec<String> {
        let one = |flow: &Flow| -> Vec<String> {
            flow.to.iter().map(|&to| format!("{}.{}", flow.name, self.end_name(to))).collect()
        };
        self.flows.iter().flat_map(one).collect()
    }

    /// Returns the name of an interface as `node.interface`.
    pub fn interface_name(&self, at: InterfaceRef) -> String {
        let node = &self.nodes[at.node];
        format!("{}.{}", node.name, node.interfaces[at.interface].name)
    }

    /// Returns all interfaces with an ingress shaper, in order. The world gives each an ifb device.
    pub fn shaped(&self) -> impl Iterator<Item = InterfaceRef> {
        let nodes = self.nodes.iter().enumerate();
        let all = nodes.flat_map(|(node, n)| n.interfaces.iter().enumerate().map(move |(i, x)| (node, i, x)));
        all.filter(|(.., x)| x.ingress.is_some()).map(|(node, interface, _)| InterfaceRef { node, interface })
    }

    /// Returns the names of all interfaces in the order of the world's numbers. The ifb devices of shapers
    /// follow the interfaces of the scenario.
    // sqm-scripts: src/functions.sh get_ifb_for_if (1.6.0) - names the ifb after its interface.
    pub fn interface_names(&self) -> Vec<String> {
        let own =
            self.nodes.iter().flat_map(|n| n.interfaces.iter().map(|i| format!("{}.{}", n.name, i.name)));
        let ifb = |at: InterfaceRef| {
            let node = &self.nodes[at.node];
            format!("{}.ifb4{}", node.name, node.interfaces[at.interface].name)
        };
        own.chain(self.shaped().map(ifb)).collect()
    }

    /// Returns the name of a flow's end, as in the scenario.
    pub fn end_name(&self, end: FlowEnd) -> String {
        match end.interface {
            None => self.nodes[end.node].name.clone(),
            Some(interface) => self.interface_name(InterfaceRef { node: end.node, interface }),
        }
    }

    /// Returns the access category of a flow between two interfaces at its first transmission on the air,
    /// either by its own node or by the access point of its station.
    pub fn category(&self, flow: &Flow, [from, to]: [InterfaceRef; 2]) -> Ac {
        let station = |at: InterfaceRef| match &self.nodes[at.node].interfaces[at.interface].medium {
            Attachment::Wifi(Wifi { role: Role::Station(station), .. }) => Some(station),
            _ => None,
        };
        let by = match (station(from), station(to)) {
            (None, Some(station)) => station.ap.node,
            _ => from.node,
        };
        Ac::of_tid(self.nodes[by].profile.dscp_to_up.tid(flow.tos))
    }

    /// Returns the name of a station in results. The first station of a node has the node's name.
    pub fn station_name(&self, at: InterfaceRef) -> String {
        let node = &self.nodes[at.node];
        let first = node.interfaces.iter().position(
            |i| matches!(&i.medium, Attachment::Wifi(wifi) if matches!(wifi.role, Role::Station(_))),
        );
        if first == Some(at.interface) { node.name.clone() } else { self.interface_name(at) }
    }
}

/// Returns the distance between two positions in millimetres, rounded down.
pub(crate) const fn distance(a: [u64; 2], b: [u64; 2]) -> u64 {
    resolve::position::distance(a, b)
}

/// Parses `text` and applies overrides.
fn tree(text: &str, overrides: &[(String, String)]) -> Result<Table, Diagnostic> {
    let mut tree = document::parse(text)?;
    gather(overrides.iter().map(|(path, value)| tree.set(path, value)))?;
    Ok(tree)
}

/// Returns the checked scenario that `tree` describes.
fn decoded(tree: &Table, parts: &Parts) -> Result<Scenario, Diagnostic> {
    let whole = &*many::written_out(tree)?;
    let mut wrong = Diagnostics::default();
    let scenario = wrong.unless(decode::scenario(whole, parts));
    wrong.unless(sweep::check(tree, parts));
    let scenario = match scenario {
        Some(scenario) => {
            let ends = external::check(&scenario, whole);
            if wrong.unless(ends.and_then(|()| topology::check(&scenario, whole))).is_some() {
                wrong.unless(mtu::check(&scenario, whole));
            }
            Some(external::apart(scenario))
        }
        None => None,
    };
    let Some(mut scenario) = wrong.or(scenario)? else { unreachable!("what was not read has its mistake") };
    // Each event re-reads the whole scenario.
    scenario.steps = step::read(tree, &scenario, parts)?;
    Ok(scenario)
}

/// Returns the JSON Schema of a scenario, for editors and other programs.
pub fn schema() -> String {
    Parts::none().schema()
}

impl Parts {
    /// Returns the JSON Schema of a scenario that may use these parts.
    pub fn schema(&self) -> String {
        description::schema(&decode::SCHEMA, &|family| self.shapes(family))
    }
}

/// Returns the access lines that a scenario may name, as a JSON object by name, with `rates_bps` and
/// `buffers_ms` for downlink and uplink.
pub fn lines() -> String {
    spec::line::listed()
}

/// Returns the reference of all scenario keys, in Markdown.
pub fn reference() -> String {
    description::reference(&decode::SCHEMA)
}

/// Parses a time such as `5 ms`. The error states what is expected.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    units::duration(text)
}
