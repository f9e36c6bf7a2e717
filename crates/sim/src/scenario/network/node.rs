//! Nodes and their interfaces.

use std::net::{Ipv4Addr, Ipv6Addr};

use stillair_model::node::jitter::JitterParams;
use stillair_model::node::wake::Wake;
use stillair_model::qdisc::QdiscConfig;

use super::super::{Guest, Host, Profile};
use super::{Nic, Wifi};

/// A host, router or access point.
#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    /// Name in the scenario.
    pub name: String,
    /// Kind of host: modelled, or outside the model.
    pub host: Host,
    /// The guest kernel that replaces the modelled host, if any.
    pub guest: Option<Guest>,
    /// Kernel profile, with the node's `sysctl` table applied.
    pub profile: Profile,
    /// The `sysctl` table of a live host or guest as names and values, to be set in its network namespace or
    /// kernel.
    pub sysctl: Vec<(String, String)>,
    /// True if the node forwards packets.
    pub forward: bool,
    /// Delay of its processes from wake-up to execution.
    pub wake: Wake,
    /// Device of the node's Ethernet interfaces whose link names none.
    pub nic: Nic,
    /// Jitter of its interrupts, timers and clock.
    pub jitter: JitterParams,
    /// Position in millimetres.
    pub position: Option<[u64; 2]>,
    /// Network interfaces, at least one.
    pub interfaces: Vec<Interface>,
}

/// A network interface.
#[derive(Clone, PartialEq, Debug)]
pub struct Interface {
    /// Name within its node.
    pub name: String,
    /// IPv4 address, unique in the scenario.
    pub address: Ipv4Addr,
    /// IPv6 address, unique in the scenario.
    pub address6: Ipv6Addr,
    /// True if sockets send multi-segment packets that the device or the layer above splits (TSO or GSO).
    pub tso: bool,
    /// Memory of a received packet in bytes, if it differs from that of the sender's packet.
    pub rx_buffer: Option<u32>,
    /// True if received segments are merged (GRO). For an external host, the driver decides.
    pub gro: bool,
    /// True if packets to unknown addresses leave the model here.
    pub default_route: bool,
    /// Queue limit in packets for disciplines without a limit of their own (`txqueuelen`).
    pub txqueuelen: u32,
    /// Queueing discipline: the given one, or the default of device and scheme.
    pub qdisc: QdiscSpec,
    /// Discipline for all received packets, on an ifb device.
    pub ingress: Option<QdiscConfig>,
    /// The link or channel that the interface is attached to.
    pub medium: Attachment,
}

/// A queueing discipline at the root of an interface.
#[derive(Clone, PartialEq, Debug)]
pub struct QdiscSpec {
    /// True for one instance per access category, under `mq`, instead of a single root.
    pub mq: bool,
    /// The discipline.
    pub config: QdiscConfig,
}

/// The link or channel of an interface.
#[derive(Clone, PartialEq, Debug)]
#[expect(clippy::large_enum_variant, reason = "one for each interface, read once when the world is wired")]
pub enum Attachment {
    /// A wired link, by its index in [`Scenario::links`](super::super::Scenario::links).
    Wired {
        /// The link.
        link: usize,
    },
    /// A Wi-Fi channel.
    Wifi(Wifi),
}

/// An interface by its indices in [`Scenario::nodes`](super::super::Scenario::nodes) and
/// [`Node::interfaces`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct InterfaceRef {
    /// The node.
    pub node: usize,
    /// The interface within the node.
    pub interface: usize,
}
