//! Maps interface, device and wire numbers of the trace to names.

use std::net::{Ipv4Addr, Ipv6Addr};

use stillair_model::types::{ChannelId, DevId, IfId};

/// Interfaces, Wi-Fi devices and wires of a world, indexed by number.
#[derive(Clone, Debug)]
pub struct WorldLayout {
    /// Interfaces. In packets, interface n has the address `Addr(n)`.
    pub interfaces: Vec<InterfaceLayout>,
    /// Wi-Fi devices.
    pub devs: Vec<DevLayout>,
    /// Sending and receiving interface of each wire. Wires 2n and 2n + 1 are the two directions of link n of
    /// the scenario.
    pub wires: Vec<[IfId; 2]>,
}

/// An interface.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InterfaceLayout {
    /// Name of the node.
    pub node: String,
    /// Name of the interface within the node.
    pub name: String,
    /// IPv4 address.
    pub address: Ipv4Addr,
    /// IPv6 address.
    pub address6: Ipv6Addr,
}

/// A Wi-Fi device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DevLayout {
    /// Interface of the device.
    pub interface: IfId,
    /// Channel of the device.
    pub channel: ChannelId,
    /// True if the device is an access point.
    pub ap: bool,
    /// Devices that this device exchanges frames with, by peer number.
    pub peers: Vec<DevId>,
}
