//! Fixed data of a capture: points, addresses, channels, and the beacons of access points.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use stillair_model::types::{
    Ac, Addr, ChannelId, ContentView, DevId, Duration, Headers, IfId, Ip, PeerId, PpduView, WireId,
};
use stillair_model::wifi::air::edca::EdcaSet;
use stillair_model::wifi::phy::frame::Cipher;
use stillair_model::wifi::phy::timing::{Timing, control_rate};
use stillair_model::wifi::phy::{PhyRate, ppdu_duration};
use stillair_model::wifi::power::tim::aid;

use super::bytes::beacon::Beacon;
use super::bytes::mac::Mac;
use super::bytes::radiotap::Tuning;
use super::pcapng::{InterfaceBlock, LinkType};
use crate::scenario::{Attachment, Role, Scenario, Wifi};
use crate::world::{DevLayout, WorldLayout};

/// Name that selects all points.
const ALL: &str = "all";

/// IPv4 and IPv6 multicast group of group-addressed frames.
// spec: rfc2365 6.1 - local scope; rfc4291 2.7 - transient, link-local.
const GROUP: (Ipv4Addr, Ipv6Addr) = (Ipv4Addr::new(239, 0, 0, 1), Ipv6Addr::new(0xff12, 0, 0, 0, 0, 0, 0, 1));

/// A capture location.
#[derive(Clone, Copy)]
enum Place {
    Air(usize),
    Dev(usize),
    Link(usize),
    Host(usize),
}

/// Returns all points of a scenario by name: channels, Wi-Fi interfaces, wired links, wired interfaces.
fn places(scenario: &Scenario, layout: &WorldLayout) -> Vec<(String, Place)> {
    let air = |(n, c): (usize, &crate::scenario::Channel)| (format!("air-{}", c.name), Place::Air(n));
    let name = |interface: IfId| {
        let i = &layout.interfaces[interface.index()];
        format!("{}-{}", i.node, i.name)
    };
    let dev = |(n, d): (usize, &DevLayout)| (name(d.interface), Place::Dev(n));
    let mut wired: Vec<IfId> = layout.wires.iter().map(|&[from, _]| from).collect();
    wired.sort_unstable_by_key(|interface| interface.index());
    let host = |interface: IfId| (name(interface), Place::Host(interface.index()));
    let link = |(n, l): (usize, &crate::scenario::Link)| (l.name.clone(), Place::Link(n));
    let airs = scenario.channels.iter().enumerate().map(air);
    let devs = layout.devs.iter().enumerate().map(dev);
    let links = scenario.links.iter().enumerate().map(link);
    airs.chain(devs).chain(links).chain(wired.into_iter().map(host)).collect()
}

/// Returns the names of all points of a scenario.
pub fn point_names(scenario: &Scenario) -> Vec<String> {
    places(scenario, &crate::world::layout(scenario)).into_iter().map(|(name, _)| name).collect()
}

#[derive(Debug)]
struct Dev {
    point: Option<u32>,
    mac: Mac,
    ap: bool,
    peers: Vec<DevId>,
    beacon: Vec<u8>,
}

/// Fixed data of a world for captures.
#[derive(Debug)]
pub struct Topology {
    points: Vec<InterfaceBlock>,
    airs: Vec<Option<u32>>,
    /// Point of each link; both of its wires share it.
    links: Vec<Option<u32>>,
    /// Point of each interface.
    hosts: Vec<Option<u32>>,
    devs: Vec<Dev>,
    wires: Vec<[IfId; 2]>,
    /// IP addresses by model address, which is the interface number.
    addresses: Vec<(Ipv4Addr, Ipv6Addr)>,
    tunings: Vec<Tuning>,
    timings: Vec<Timing>,
    ciphers: Vec<Cipher>,
}

impl Topology {
    /// Builds the data of a scenario, for captures at the points `wanted`.
    pub fn new(scenario: &Scenario, layout: &WorldLayout, wanted: &[String]) -> Result<Self, String> {
        let places = places(scenario, layout);
        if let Some(unknown) = wanted.iter().find(|w| *w != ALL && places.iter().all(|(name, _)| name != *w))
        {
            let names: Vec<&str> = places.iter().map(|(name, _)| name.as_str()).collect();
            return Err(format!(
                "capture point: found \"{unknown}\", expected {ALL} or one of {}",
                names.join(", ")
            ));
        }
        let tunings: Vec<Tuning> =
            scenario.channels.iter().enumerate().map(|(n, c)| Tuning::of(c.band, n)).collect();
        let dev = |d: &DevLayout| Dev {
            point: None,
            mac: Mac::of(d.interface),
            ap: d.ap,
            peers: d.peers.clone(),
            beacon: beacon(scenario, layout, d, &tunings),
        };
        let mut scene = Self {
            points: Vec::new(),
            airs: vec![None; scenario.channels.len()],
            links: vec![None; scenario.links.len()],
            hosts: vec![None; layout.interfaces.len()],
            devs: layout.devs.iter().map(dev).collect(),
            wires: layout.wires.clone(),
            addresses: layout.interfaces.iter().map(|i| (i.address, i.address6)).collect(),
            timings: scenario.channels.iter().map(|c| c.timing()).collect(),
            ciphers: scenario.channels.iter().map(|c| c.cipher).collect(),
            tunings,
        };
        for (name, place) in places {
            let is_wanted = match place {
                Place::Air(_) if wanted.is_empty() => true,
                _ => wanted.iter().any(|w| *w == name || w == ALL),
            };
            if !is_wanted {
                continue;
            }
            let number = Some(scene.points.len() as u32);
            let link_type = match place {
                Place::Air(n) => {
                    scene.airs[n] = number;
                    LinkType::Radiotap
                }
                Place::Dev(n) => {
                    scene.devs[n].point = number;
                    LinkType::Radiotap
                }
                Place::Link(n) => {
                    scene.links[n] = number;
                    LinkType::Ethernet
                }
                Place::Host(n) => {
                    scene.hosts[n] = number;
                    LinkType::Ethernet
                }
            };
            scene.points.push(InterfaceBlock { name, link_type });
        }
        Ok(scene)
    }

    /// Returns the captured points.
    pub fn points(&self) -> &[InterfaceBlock] {
        &self.points
    }
    /// Returns the point of a channel, if captured.
    pub fn air(&self, channel: ChannelId) -> Option<u32> {
        self.airs[channel.index()]
    }
    /// Returns the point of a device, if captured.
    pub fn dev(&self, dev: DevId) -> Option<u32> {
        self.devs[dev.index()].point
    }
    /// Returns the point of a wire's link, if captured.
    #[inline]
    pub fn wire(&self, wire: WireId) -> Option<u32> {
        self.links[wire.index() / 2]
    }
    /// Returns the point of the interface at one end of a wire, if captured. End 0 is the sending end.
    #[inline]
    pub fn host(&self, wire: WireId, end: usize) -> Option<u32> {
        self.hosts[self.wires[wire.index()][end].index()]
    }
    /// Returns the MAC addresses of a wire's ends, sending end first.
    pub fn ends(&self, wire: WireId) -> [Mac; 2] {
        self.wires[wire.index()].map(Mac::of)
    }
    /// Returns the source and destination address of a packet. Addresses outside the scenario are
    /// unspecified; only the bytes of an external host's packet contain them.
    pub fn addresses(&self, p: &Headers) -> [IpAddr; 2] {
        let of = |addr: Addr| {
            let (v4, v6) = match addr.index().checked_sub(self.addresses.len()) {
                None => self.addresses[addr.index()],
                Some(1) => GROUP,
                Some(_) => (Ipv4Addr::UNSPECIFIED, Ipv6Addr::UNSPECIFIED),
            };
            match addr.ip() {
                Ip::V4 => IpAddr::V4(v4),
                Ip::V6 => IpAddr::V6(v6),
            }
        };
        [of(p.src), of(p.dst)]
    }
    /// Returns a device's MAC address.
    pub fn mac(&self, dev: DevId) -> Mac {
        self.devs[dev.index()].mac
    }
    /// Returns true if a device is an access point.
    pub fn is_ap(&self, dev: DevId) -> bool {
        self.devs[dev.index()].ap
    }
    /// Returns the devices that a device exchanges frames with.
    pub fn peers(&self, dev: DevId) -> impl Iterator<Item = DevId> {
        self.devs[dev.index()].peers.iter().copied()
    }
    /// Returns a station's AID.
    pub fn aid(&self, station: DevId) -> u16 {
        let ap = self.devs[station.index()].peers.first().map(|ap| &self.devs[ap.index()].peers);
        let place = ap.and_then(|stations| stations.iter().position(|&dev| dev == station));
        aid(PeerId::from_index(place.unwrap_or_default()))
    }

    /// Returns the band and number of a channel, for the radiotap header.
    pub fn tuning(&self, channel: ChannelId) -> Tuning {
        self.tunings[channel.index()]
    }
    /// Returns the encryption of data frames on a channel.
    pub fn cipher(&self, channel: ChannelId) -> Cipher {
        self.ciphers[channel.index()]
    }
    /// Returns the beacon body of an access point after the timestamp.
    pub fn beacon(&self, dev: DevId) -> &[u8] {
        &self.devs[dev.index()].beacon
    }

    /// Returns the duration of a control frame of `bytes` bytes on the channel of a PPDU.
    pub fn control_duration(&self, view: &PpduView<'_>, rate: PhyRate, bytes: u32) -> Duration {
        ppdu_duration(rate, bytes, self.timings[view.tried.channel.index()].band)
    }

    /// Returns the time from the end of a PPDU to the end of its response.
    // spec: ieee80211-2016 9.2.5.2 - Duration field of a frame outside a protected TXOP.
    pub fn answer_time(&self, view: &PpduView<'_>) -> Duration {
        let timing = self.timings[view.tried.channel.index()];
        let rate = control_rate(PhyRate::of_code(view.rate).expect("rates are shown by their own codes"));
        timing.sifs
            + match view.content {
                ContentView::Data { aggregate: true } | ContentView::Bar { .. } => {
                    timing.block_ack_duration(rate, view.wide)
                }
                _ => timing.ack_duration(rate),
            }
    }
}

/// Returns the beacon body of an access point; empty for a station.
fn beacon(scenario: &Scenario, layout: &WorldLayout, dev: &DevLayout, tunings: &[Tuning]) -> Vec<u8> {
    let channel = &scenario.channels[dev.channel.index()];
    let (Some(interval), true) = (channel.beacon_interval, dev.ap) else { return Vec::new() };
    let mut edca = EdcaSet::STATION;
    // Stations use the EDCA parameters of this beacon, so they are taken from one of its stations.
    if let Some(station) = dev.peers.first() {
        let wanted = wifi_of(scenario, layout.devs[station.index()].interface).edca;
        for ac in Ac::ALL {
            wanted[ac.index()].apply(edca.get_mut(ac));
        }
    }
    Beacon { tuning: tunings[dev.channel.index()], width: channel.width, interval, edca }.after_timestamp()
}

fn wifi_of(scenario: &Scenario, interface: IfId) -> &Wifi {
    let all = scenario.nodes.iter().flat_map(|n| &n.interfaces);
    match all.map(|i| &i.medium).nth(interface.index()) {
        Some(Attachment::Wifi(wifi)) => {
            debug_assert!(matches!(wifi.role, Role::Station(_)), "an access point's peers are stations");
            wifi
        }
        _ => unreachable!("a Wi-Fi device belongs to a Wi-Fi interface"),
    }
}
