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
    /// The guest kernel that takes the place of the modelled host, if there is one.
    pub guest: Option<Guest>,
    /// Kernel profile, with the node's `sysctl` table applied.
    pub profile: Profile,
    /// For a live host or a guest, its `sysctl` table as names and values, to be set in its network namespace
    /// or kernel.
    pub sysctl: Vec<(String, String)>,
    /// Whether the node forwards packets.
    pub forward: bool,
    /// Delay of its processes between wake-up and run.
    pub wake: Wake,
    /// The device of its Ethernet interfaces whose link names none.
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
    /// Whether sockets send packets of several segments, which the device or the layer above it splits (TSO
    /// or GSO).
    pub tso: bool,
    /// Memory of a received packet in bytes, if it differs from that of the sender's packet.
    pub rx_buffer: Option<u32>,
    /// Whether received segments are merged (GRO). For an external host, merging is left to the driver.
    pub gro: bool,
    /// Whether packets to addresses that no interface has leave the model here.
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
    /// Whether there is one instance for each access category, under `mq`, instead of a single root.
    pub mq: bool,
    /// The discipline.
    pub config: QdiscConfig,
}

/// The link or channel of an interface.
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

/// An interface by its positions in [`Scenario::nodes`](super::super::Scenario::nodes) and
/// [`Node::interfaces`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct InterfaceRef {
    /// The node.
    pub node: usize,
    /// The interface within the node.
    pub interface: usize,
}
