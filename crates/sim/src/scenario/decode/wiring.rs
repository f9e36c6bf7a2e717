//! Links between interfaces of different nodes, collected while nodes are read.

use std::net::Ipv4Addr;

use super::super::error::Origin;
use super::super::reader::Field;
use super::super::{EdcaOverride, InterfaceRef, Scheme};
use super::scheme::ByDevice;

/// What the interfaces say about each other.
#[derive(Default)]
pub(super) struct Wiring<'a> {
    /// For each link the interfaces that name it.
    pub ends: Vec<Vec<InterfaceRef>>,
    /// For each station its interface, and the field that names its access point.
    pub stations: Vec<(InterfaceRef, Field<'a>)>,
    /// For each device that sends with another's radio its interface, and the field that names the other.
    pub radios: Vec<(InterfaceRef, Field<'a>)>,
    /// For each station with a weight its interface, and the field that says it.
    pub weights: Vec<(InterfaceRef, Field<'a>)>,
    /// For each node that names the device of its Ethernet interfaces its number, and the field that does.
    pub nics: Vec<(usize, Field<'a>)>,
    /// For each node that says where it stands its number, and the field that does.
    pub positions: Vec<(usize, Field<'a>)>,
    /// Stations that say nothing of their losses.
    pub silent: Vec<InterfaceRef>,
    /// Devices, and which pieces of their schemes are left to what they can.
    pub by_device: Vec<(InterfaceRef, ByDevice)>,
    /// Devices that name neither themselves nor their scheme, and the scheme of those on channels of more than 40 MHz, or of less.
    pub by_width: Vec<(InterfaceRef, Scheme)>,
    /// Channels of stations that say how far they are.
    pub distances: Vec<usize>,
    /// For each access point what its beacons say to stations.
    pub beacons: Vec<(InterfaceRef, [EdcaOverride; 4])>,
    /// For each station with power save or scans its interface, and the field that says so.
    pub savers: Vec<(InterfaceRef, Field<'a>)>,
    /// For each access point that says how many beacons make a DTIM its interface, and how many.
    pub dtim_periods: Vec<(InterfaceRef, u32)>,
    /// Addresses in use, where each is written, and the path of its interface.
    pub addresses: Vec<(Ipv4Addr, Origin, String)>,
    /// Interfaces without one.
    pub unaddressed: Vec<InterfaceRef>,
}
