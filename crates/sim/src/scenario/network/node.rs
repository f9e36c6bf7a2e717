//! Nodes and their interfaces.

use std::net::{Ipv4Addr, Ipv6Addr};

use stillair_model::node::jitter::JitterParams;
use stillair_model::node::wake::Wake;
use stillair_model::qdisc::QdiscConfig;

use super::super::{Host, Profile};
use super::{Nic, Wifi};

/// A host, router or access point.
#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    /// Name in the scenario.
    pub name: String,
    /// Who makes its packets and takes what comes for it.
    pub host: Host,
    /// Kernel's behaviour, with the node's `sysctl` table applied.
    pub profile: Profile,
    /// Of a live host: its `sysctl` table as names and values, which its network namespace is to have.
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
    /// A wired link, by its position in [`Scenario::links`](super::super::Scenario::links).
    Wired {
        /// The link.
        link: usize,
    },
    /// A Wi-Fi channel.
    Wifi(Wifi),
}

/// An interface by its positions in [`Scenario::nodes`](super::super::Scenario::nodes) and [`Node::interfaces`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct InterfaceRef {
    /// The node.
    pub node: usize,
    /// The interface within the node.
    pub interface: usize,
}
