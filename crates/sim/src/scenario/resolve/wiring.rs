//! Links between interfaces of different nodes, collected while nodes are read.

use std::net::Ipv4Addr;

use super::super::error::Origin;
use super::super::spec::Place;
use super::super::{EdcaOverride, InterfaceRef, Scheme};
use super::power::Written;
use super::scheme::ByDevice;

/// What the interfaces say about each other.
#[derive(Default)]
pub(in super::super) struct Wiring {
    /// For each link, the interfaces that name the link.
    pub ends: Vec<Vec<InterfaceRef>>,
    /// For each station, its interface and the place of the key that names its access point.
    pub stations: Vec<(InterfaceRef, Place)>,
    /// For each device that uses another's radio, its interface and the place of the key that names the other.
    pub radios: Vec<(InterfaceRef, Place)>,
    /// For each station with an airtime weight, its interface and the place of the weight.
    pub weights: Vec<(InterfaceRef, Place)>,
    /// For each node, the place of the key that names the device of its Ethernet interfaces.
    pub nics: Vec<Option<Place>>,
    /// For each node with a position, the node's number and the place of that key.
    pub positions: Vec<(usize, Place)>,
    /// Stations without any keys of losses.
    pub silent: Vec<InterfaceRef>,
    /// Devices, each with the parts of its scheme that depend on the device.
    pub by_device: Vec<(InterfaceRef, ByDevice)>,
    /// Devices that name neither device nor scheme, each with the default scheme it would have if its channel
    /// were on the other side of 40 MHz.
    pub by_width: Vec<(InterfaceRef, Scheme)>,
    /// Channels of stations that give a distance.
    pub distances: Vec<usize>,
    /// For each access point, the EDCA parameters that its beacons announce to stations.
    pub beacons: Vec<(InterfaceRef, [EdcaOverride; 4])>,
    /// For each Wi-Fi device, what it has written of power save and scans.
    pub power: Vec<(InterfaceRef, Written)>,
    /// Addresses in use, with the place of each in the file and the path of its interface.
    pub addresses: Vec<(Ipv4Addr, Origin, String)>,
    /// Interfaces without an address.
    pub unaddressed: Vec<InterfaceRef>,
}
