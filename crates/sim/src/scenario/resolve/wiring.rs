//! Links between interfaces of different nodes, collected while nodes are read.

use std::net::Ipv4Addr;

use super::super::error::Origin;
use super::super::spec::Place;
use super::super::spec::power::Written;
use super::super::{EdcaOverride, InterfaceRef, Scheme};
use super::scheme::ByDevice;

/// What the interfaces say about each other.
#[derive(Default)]
pub(in super::super) struct Wiring {
    /// For each link, the interfaces that name the link.
    pub ends: Vec<Vec<InterfaceRef>>,
    /// For each node, the place of the key that names the device of its Ethernet interfaces.
    pub nics: Vec<Option<Place>>,
    /// For each node with a position, the node's number and the place of that key.
    pub positions: Vec<(usize, Place)>,
    /// Wi-Fi devices.
    pub devices: Vec<Device>,
    /// Addresses in use, with the place of each in the file and the path of its interface.
    pub addresses: Vec<(Ipv4Addr, Origin, String)>,
    /// Interfaces without an address.
    pub unaddressed: Vec<InterfaceRef>,
}

/// What waits of a Wi-Fi device until the others are read.
pub(in super::super) struct Device {
    pub at: InterfaceRef,
    /// Of a station, the place of the key that names its access point.
    pub ap: Option<Box<Place>>,
    /// The place of the key that names another device whose radio it uses.
    pub radio: Option<Box<Place>>,
    /// The place of its airtime weight.
    pub weight: Option<Box<Place>>,
    /// It is a station without any keys of losses.
    pub is_silent: bool,
    /// It is a station that gives a distance.
    pub has_distance: bool,
    /// The parts of its scheme that depend on the device.
    pub by_device: ByDevice,
    /// The default scheme it would have if its channel were on the other side of 40 MHz, if it names neither
    /// device nor scheme.
    pub by_width: Option<Scheme>,
    /// Of an access point, the EDCA parameters that its beacons announce to stations.
    pub beacon: Option<Box<[EdcaOverride; 4]>>,
    /// What it has written of power save and scans.
    pub power: Written,
}
