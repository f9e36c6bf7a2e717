//! Meaning of the interface, device and wire numbers in the trace, for readers that need names.

use std::net::{Ipv4Addr, Ipv6Addr};

use stillair_model::types::{ChannelId, DevId, IfId};

/// The interfaces, Wi-Fi devices and wires of a world, by their numbers.
#[derive(Clone, Debug)]
pub struct WorldLayout {
    /// Interfaces by number. The address of interface n in packets is `Addr(n)`.
    pub interfaces: Vec<InterfaceLayout>,
    /// Wi-Fi devices by number.
    pub devs: Vec<DevLayout>,
    /// Wires by number: the interface that sends and the interface at the end. Wires 2n and 2n + 1 are link n
    /// of the scenario.
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
    /// The interface of the device.
    pub interface: IfId,
    /// The channel of the device.
    pub channel: ChannelId,
    /// Whether the device is an access point.
    pub ap: bool,
    /// The devices that the device exchanges frames with, by peer number.
    pub peers: Vec<DevId>,
}
