//! What the numbers of interfaces, devices and wires in the trace stand for, for readers that name things.

use std::net::{Ipv4Addr, Ipv6Addr};

use stillair_model::vocabulary::{ChannelId, DevId, IfId};

/// The interfaces, Wi-Fi devices and wires of a world, by their numbers.
#[derive(Clone, Debug)]
pub struct WorldLayout {
    /// By interface; the address of interface n is `Addr(n)` in packets.
    pub interfaces: Vec<InterfaceLayout>,
    /// By Wi-Fi device.
    pub devs: Vec<DevLayout>,
    /// By wire: the interface that feeds it and the one at its end. Wires 2n and 2n + 1 are link n of the scenario.
    pub wires: Vec<[IfId; 2]>,
}

/// An interface.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InterfaceLayout {
    /// Name of its node.
    pub node: String,
    /// Its own name within the node.
    pub name: String,
    /// Its IPv4 address.
    pub address: Ipv4Addr,
    /// Its IPv6 address.
    pub address6: Ipv6Addr,
}

/// A Wi-Fi device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DevLayout {
    /// Its interface.
    pub interface: IfId,
    /// The channel it is on.
    pub channel: ChannelId,
    /// It is an access point.
    pub ap: bool,
    /// The devices it exchanges frames with, by their numbers as its peers.
    pub peers: Vec<DevId>,
}
