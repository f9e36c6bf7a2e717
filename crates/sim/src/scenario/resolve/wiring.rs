//! Links between interfaces of different nodes, collected while nodes are read.

use std::net::Ipv4Addr;

use super::super::error::Origin;
use super::super::spec::Place;
use super::super::spec::power::Written;
use super::super::{EdcaOverride, InterfaceRef, Scheme};
use super::scheme::ByDevice;

/// References between interfaces.
#[derive(Default)]
pub(in super::super) struct Wiring {
    /// Interfaces that name each link.
    pub ends: Vec<Vec<InterfaceRef>>,
    /// Place of each node's `nic` key.
    pub nics: Vec<Option<Place>>,
    /// Index of each node with a position, and the place of the key.
    pub positions: Vec<(usize, Place)>,
    /// Wi-Fi devices.
    pub devices: Vec<Device>,
    /// Addresses in use, with their origin in the file and the path of their interface.
    pub addresses: Vec<(Ipv4Addr, Origin, String)>,
    /// Interfaces without an address.
    pub unaddressed: Vec<InterfaceRef>,
}

/// Data of a Wi-Fi device that is needed once all devices have been read.
pub(in super::super) struct Device {
    pub at: InterfaceRef,
    /// For a station, the place of the key that names its access point.
    pub ap: Option<Box<Place>>,
    /// Place of the key that names another device whose radio it uses.
    pub radio: Option<Box<Place>>,
    /// Place of its airtime weight.
    pub weight: Option<Box<Place>>,
    /// True for a station without any loss keys.
    pub is_silent: bool,
    /// True for a station that gives a distance.
    pub has_distance: bool,
    /// Options of its scheme that depend on the device.
    pub by_device: ByDevice,
    /// Default scheme if its channel were on the other side of 40 MHz; `None` if it names a device or scheme.
    pub by_width: Option<Scheme>,
    /// For an access point, the EDCA parameters announced in its beacons.
    pub beacon: Option<Box<[EdcaOverride; 4]>>,
    /// Power save and scan keys.
    pub power: Written,
}
