//! A scenario: TOML text to a plain, resolved and fully checked structure that the world is wired from.
//!
//! References are positions in the scenario's own lists, defaults are filled in, `like` and overrides are
//! applied: whoever reads a [`Scenario`] decides nothing. A mistake in the text is one [`ScenarioError`] that
//! says where, what was found and what would be right.
//!
//! ```text
//! text --document--> tree with lines --set, like--> tree --reader, decode--> Scenario --topology--> checked
//! ```

mod amount;
pub mod builder;
mod contract;
mod control;
mod custom;
mod decode;
mod document;
mod ends;
mod error;
mod files;
mod flow;
mod foreign;
mod guest;
mod hearing;
mod many;
mod mtu;
mod notes;
mod outside;
pub mod parts;
mod path;
pub mod paths;
mod profile;
mod quic;
mod quinn;
mod read;
mod reader;
mod record;
mod resolved;
mod scheme;
mod step;
mod survey;
mod sweep;
mod topology;
mod trace;
mod units;

use std::net::{Ipv4Addr, Ipv6Addr};

use stillair_model::node::jitter::JitterParams;
use stillair_model::node::wake::Wake;
use stillair_model::qdisc::QdiscConfig;
use stillair_model::vocabulary::{Ac, Duration};
use stillair_model::wifi::air::edca::EdcaParams;
use stillair_model::wifi::air::filter::DestinationFilter;
use stillair_model::wifi::config::{DriverConfig, HardwareDepth};
use stillair_model::wifi::phy::frame::Cipher;
use stillair_model::wifi::phy::path_loss::PathLoss;
use stillair_model::wifi::phy::timing::{LONG_SLOT, Timing};
use stillair_model::wifi::phy::{Band, PhyRate, Width};
use stillair_model::wifi::power::saver::SaverParams;
use stillair_model::wifi::power::scan::ScanParams;
use stillair_model::wifi::rx::interrupts::RxMitigation;
use stillair_model::wifi::rx::retry_out::RetryOutParams;
use stillair_model::wire::WireParams;

pub use control::CongestionControl;
pub use decode::device::Device;
use document::Table;
pub use ends::{FlowEnd, Ways};
use error::Fault;
pub use error::ScenarioError;
pub use files::{Files, Folder, Memory, NoFiles};
pub use flow::{FlentTest, Flow, FlowKind, Gap};
pub use foreign::{Interferer, NeighbourLoad, ShareFormat, ShareOfTime, SourceLevel, SwitchPattern};
pub use guest::{Guest, GuestQueue, Offload, Program, RxBuffers};
pub use hearing::{Audible, CaptureLevels};
pub use mtu::Mtus;
pub use outside::{Host, OPEN};
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
pub use step::{Change, Step, changeable, changes};
pub use trace::PathTrace;

/// A whole experiment: who is there, how they are connected and what they send.
#[derive(Clone, PartialEq, Debug)]
pub struct Scenario {
    /// Name, for results.
    pub name: String,
    /// Length of the run.
    pub duration: Duration,
    /// What happens before this is not measured.
    pub warm_up: Duration,
    /// What happens in this time before the end is not measured.
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
    /// Traffic between live hosts or guests, which real programs make.
    pub live_flows: Vec<Flow>,
    /// The one of Flent's tests that some of the traffic is.
    pub test: Option<FlentTest>,
    /// What changes while the run goes on, in order.
    pub steps: Vec<Step>,
    /// What is recorded beyond the summary.
    pub record: Record,
    /// Keys of its text that have no effect, each a sentence that begins with the key.
    pub idle: Vec<String>,
}

impl Scenario {
    /// The names of all flows, one for each receiver, in the order in which the world numbers them.
    pub fn flow_names(&self) -> Vec<String> {
        let one = |flow: &Flow| -> Vec<String> {
            flow.to.iter().map(|&to| format!("{}.{}", flow.name, self.end_name(to))).collect()
        };
        self.flows.iter().flat_map(one).collect()
    }

    /// An interface as `node.interface`.
    pub fn interface_name(&self, at: InterfaceRef) -> String {
        let node = &self.nodes[at.node];
        format!("{}.{}", node.name, node.interfaces[at.interface].name)
    }

    /// All interfaces with a discipline for what comes in, in their order: the world gives each an ifb.
    pub fn shaped(&self) -> impl Iterator<Item = InterfaceRef> {
        let nodes = self.nodes.iter().enumerate();
        let all = nodes.flat_map(|(node, n)| n.interfaces.iter().enumerate().map(move |(i, x)| (node, i, x)));
        all.filter(|(.., x)| x.ingress.is_some()).map(|(node, interface, _)| InterfaceRef { node, interface })
    }

    /// The names of all interfaces as the world numbers them, the ifbs of shapers behind those of the scenario.
    // sqm-scripts: src/functions.sh get_ifb_for_if (1.6.0) - an ifb is called after its interface.
    pub fn interface_names(&self) -> Vec<String> {
        let own =
            self.nodes.iter().flat_map(|n| n.interfaces.iter().map(|i| format!("{}.{}", n.name, i.name)));
        let ifb = |at: InterfaceRef| {
            let node = &self.nodes[at.node];
            format!("{}.ifb4{}", node.name, node.interfaces[at.interface].name)
        };
        own.chain(self.shaped().map(ifb)).collect()
    }

    /// An end of a flow as the scenario names it.
    pub fn end_name(&self, end: FlowEnd) -> String {
        match end.interface {
            None => self.nodes[end.node].name.clone(),
            Some(interface) => self.interface_name(InterfaceRef { node: end.node, interface }),
        }
    }

    /// Access category of a flow between two interfaces where it is first sent on the air: by its own node, or else by its
    /// station's access point.
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

    /// A station as results name it: the first of a node goes by the node's name.
    pub fn station_name(&self, at: InterfaceRef) -> String {
        let node = &self.nodes[at.node];
        let first = node.interfaces.iter().position(
            |i| matches!(&i.medium, Attachment::Wifi(wifi) if matches!(wifi.role, Role::Station(_))),
        );
        if first == Some(at.interface) { node.name.clone() } else { self.interface_name(at) }
    }
}

/// A Wi-Fi channel: one medium that everyone on it shares.
#[derive(Clone, PartialEq, Debug)]
pub struct Channel {
    /// Name in the scenario.
    pub name: String,
    /// Frequency band.
    pub band: Band,
    /// Width; stations may use less.
    pub width: Width,
    /// Largest packet of its interfaces in bytes, from the IP header on.
    pub mtu: u32,
    /// How loud a signal is at a distance, and how loud the noise.
    pub path_loss: PathLoss,
    /// Who hears whom.
    pub audible: Audible,
    /// Least level in thousandths of a dBm at which nodes with a position sense each other.
    pub sensed_from: i32,
    /// And at which they understand each other.
    pub understood_from: i32,
    /// Frames come through others at the same time that are quieter.
    pub capture: Option<CaptureLevels>,
    /// Interference that is no Wi-Fi.
    pub interference: Vec<Interferer>,
    /// Least level of such energy in thousandths of a dBm that makes the medium busy.
    pub energy_from: i32,
    /// Neighbouring networks as load.
    pub neighbours: Vec<NeighbourLoad>,
    /// How the payload of its data frames is encrypted.
    pub cipher: Cipher,
    /// Lowest basic rate.
    pub lowest_rate: PhyRate,
    /// Slots are of 20 us, because stations without OFDM are there.
    pub long_slot: bool,
    /// A frame that finds the medium busy and no back-off left draws a new one.
    pub busy_backoff: bool,
    /// Rate of the CTS that protects OFDM and HT from stations without them, where such are.
    pub protection: Option<PhyRate>,
    /// Time between beacons of each access point; none where beacons are off.
    pub beacon_interval: Option<Duration>,
}

impl Channel {
    /// Whether all its radios take part in every exchange in the same way, so that one event is enough for it.
    pub fn is_one_medium(&self) -> bool {
        let own = self.interference.is_empty() && self.neighbours.is_empty();
        own && self.audible.is_full() && self.capture.is_none()
    }

    /// Its gaps, slots and lowest rate.
    pub const fn timing(&self) -> Timing {
        let short = Timing::of(self.band);
        short.with(self.lowest_rate, if self.long_slot { LONG_SLOT } else { short.slot })
    }
}

/// Millimetres between two places, rounded down.
pub(crate) const fn distance(a: [u64; 2], b: [u64; 2]) -> u64 {
    decode::position::distance(a, b)
}

/// A host, router or access point.
#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    /// Name in the scenario.
    pub name: String,
    /// Who makes its packets and takes what comes for it.
    pub host: Host,
    /// The kernel that stands for it, if one does.
    pub guest: Option<Guest>,
    /// Kernel's behaviour, with the node's `sysctl` table applied.
    pub profile: Profile,
    /// Of a live host or a guest: its `sysctl` table as names and values, which its network namespace or its kernel is to have.
    pub sysctl: Vec<(String, String)>,
    /// Packets for others are passed on.
    pub forward: bool,
    /// When its processes run after they were woken.
    pub wake: Wake,
    /// The device of its Ethernet interfaces, where their link names none.
    pub nic: Nic,
    /// How its interrupts, timers and clock vary.
    pub jitter: JitterParams,
    /// Where it stands, in millimetres.
    pub position: Option<[u64; 2]>,
    /// Network interfaces, at least one.
    pub interfaces: Vec<Interface>,
}

/// A network interface.
#[derive(Clone, PartialEq, Debug)]
pub struct Interface {
    /// Name within its node.
    pub name: String,
    /// IPv4 address; no two interfaces of a scenario share one.
    pub address: Ipv4Addr,
    /// IPv6 address; nor this.
    pub address6: Ipv6Addr,
    /// Its sockets make packets of several segments, which its device, or what feeds it, splits (TSO or GSO).
    pub tso: bool,
    /// Memory of a packet that comes in, in bytes, if it is not that of the sender's packet.
    pub rx_buffer: Option<u32>,
    /// Segments that come in together are merged (GRO); at an outside host that is its driver's task.
    pub gro: bool,
    /// Packets to addresses that no interface has leave the model here.
    pub default_route: bool,
    /// Packets that its queues may hold where their discipline does not say.
    pub txqueuelen: u32,
    /// Queueing discipline: the one given, or the default of device and scheme.
    pub qdisc: QdiscSpec,
    /// The discipline that all which comes in passes through, behind an ifb.
    pub ingress: Option<QdiscConfig>,
    /// What it is connected to.
    pub medium: Attachment,
}

/// A queueing discipline at the root of an interface.
#[derive(Clone, PartialEq, Debug)]
pub struct QdiscSpec {
    /// One instance for each access category, under `mq`; otherwise a single root.
    pub mq: bool,
    /// The discipline.
    pub config: QdiscConfig,
}

/// What an interface is connected to.
#[derive(Clone, PartialEq, Debug)]
#[expect(clippy::large_enum_variant, reason = "one for each interface, read once when the world is wired")]
pub enum Attachment {
    /// A wired link, by its position in [`Scenario::links`].
    Wired {
        /// The link.
        link: usize,
    },
    /// A Wi-Fi channel.
    Wifi(Wifi),
}

/// A Wi-Fi device.
#[derive(Clone, PartialEq, Debug)]
pub struct Wifi {
    /// Position in [`Scenario::channels`].
    pub channel: usize,
    /// Access point or station.
    pub role: Role,
    /// The scheme it was given, of which `driver` and the qdisc follow; for reports.
    pub scheme: Scheme,
    /// Queues and scheduler.
    pub driver: DriverConfig,
    /// Short queues of the hardware.
    pub hardware: HardwareDepth,
    /// What the scenario changes of the EDCA parameters that this device uses, by
    /// [`Ac::index`](stillair_model::vocabulary::Ac::index): an access point's own, a station's from the
    /// beacon of its access point.
    pub edca: [EdcaOverride; 4],
    /// Tries by the hardware that a frame of a Block Ack session may have had for the driver to send it once more.
    pub retry_limit: u8,
    /// That limit is lower for frames sent at low rates.
    pub retry_limit_by_rate: bool,
    /// Pseudo retry-out of what an access point receives.
    pub retry_out: Option<RetryOutParams>,
    /// How long it waits before it tells its host of received frames.
    pub rx_mitigation: Option<RxMitigation>,
    /// What a station's path did over time, as a file has it; it takes the place of its rates and errors.
    pub trace: Option<PathTrace>,
    /// Its hardware filters by destination what follows a PPDU that has failed.
    pub filter: Option<DestinationFilter>,
    /// PPDUs of more bytes begin with RTS and CTS.
    pub rts_threshold: u32,
    /// Delimiters without content that its hardware needs between frames of an aggregate to encrypt them.
    pub cipher_delimiters: u32,
    /// Frames of a Block Ack window that it asks for and grants at most; between devices of HT and VHT never more than 64.
    pub block_ack_window: u16,
    /// The interface whose radio it sends with, if it has none of its own: the radio's hardware depth and EDCA parameters
    /// are then this device's too.
    pub radio: Option<InterfaceRef>,
    /// How a station saves power, after the kind that it was given.
    pub power_save: Option<(&'static str, SaverParams)>,
    /// How a station scans.
    pub scan: Option<ScanParams>,
    /// Every so many beacons of an access point is a DTIM.
    pub dtim_period: u32,
    /// The device that it names.
    pub device: Option<&'static Device>,
}

/// Part that a Wi-Fi device plays.
#[derive(Clone, PartialEq, Debug)]
#[expect(clippy::large_enum_variant, reason = "one for each interface, read once when the world is wired")]
pub enum Role {
    /// Access point.
    Ap,
    /// Station.
    Station(Station),
}

impl Role {
    /// Whether this is a station without OFDM.
    pub fn is_old(&self) -> bool {
        let Self::Station(station) = self else { return false };
        station.all_rates().all(|rate| matches!(rate, PhyRate::Dsss(..)))
    }
}

/// An interface by its positions in [`Scenario::nodes`] and [`Node::interfaces`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct InterfaceRef {
    /// The node.
    pub node: usize,
    /// The interface within the node.
    pub interface: usize,
}

/// EDCA parameters of one access category that the scenario sets; none means as shipped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EdcaOverride {
    /// Slots of the arbitration space after SIFS.
    pub aifsn: Option<u8>,
    /// Least contention window: 1, 3, 7, ... slots.
    pub cw_min: Option<u16>,
    /// Greatest contention window.
    pub cw_max: Option<u16>,
    /// Longest transmission opportunity; zero is one frame exchange.
    pub txop: Option<Duration>,
}

impl EdcaOverride {
    /// Changes what the scenario sets.
    pub fn apply(&self, params: &mut EdcaParams) {
        params.aifsn = self.aifsn.unwrap_or(params.aifsn);
        params.cw_min = self.cw_min.unwrap_or(params.cw_min);
        params.cw_max = self.cw_max.unwrap_or(params.cw_max);
        params.txop = self.txop.unwrap_or(params.txop);
    }
}

/// An Ethernet device, by its driver, which sets how it reports arrivals and transmissions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Nic {
    /// None in particular.
    #[default]
    None,
    /// One of Intel's of up to 1 Gbit/s.
    E1000e,
    /// One of Broadcom's of up to 1 Gbit/s.
    Tg3,
}

impl Nic {
    /// Its name in a scenario.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::E1000e => "e1000e",
            Self::Tg3 => "tg3",
        }
    }
}

/// A wired link between two interfaces.
#[derive(Clone, PartialEq, Debug)]
pub struct Link {
    /// Name in the scenario.
    pub name: String,
    /// What it and the devices at its ends are like: from the first end to the second, and back.
    pub params: [WireParams; 2],
    /// What it joins.
    pub ends: [InterfaceRef; 2],
    /// Largest packet in bytes, from the IP header on.
    pub mtu: u32,
}

/// The tree of `text` with overrides put in.
fn tree(text: &str, overrides: &[(String, String)]) -> Result<Table, Fault> {
    let mut tree = document::parse(text)?;
    for (path, value) in overrides {
        tree.set(path, value)?;
    }
    Ok(tree)
}

/// The checked scenario that `tree` describes.
fn decoded(tree: &Table, parts: &Parts) -> Result<Scenario, Fault> {
    let whole = &*many::written_out(tree)?;
    let scenario = decode::scenario(whole, parts)?;
    sweep::check(tree, parts)?;
    outside::check(&scenario, whole)?;
    topology::check(&scenario, whole)?;
    mtu::check(&scenario, whole)?;
    let mut scenario = outside::apart(scenario);
    scenario.steps = step::read(tree, &scenario, parts)?;
    Ok(scenario)
}

/// The JSON Schema of a scenario, for editors and other programs.
pub fn schema() -> String {
    Parts::none().schema()
}

impl Parts {
    /// The JSON Schema of a scenario that may name these parts.
    pub fn schema(&self) -> String {
        contract::schema(&decode::SHAPE, &|family| self.shapes(family))
    }
}

/// The access lines that a scenario may name, as JSON by name: `rates_bps` and `buffers_ms`, down and up.
pub fn lines() -> String {
    decode::lines()
}

/// The reference of a scenario for users, in Markdown.
pub fn reference() -> String {
    contract::reference(&decode::SHAPE)
}

/// Reads a time such as `5 ms`; the error says what would have been right.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    units::duration(text)
}
