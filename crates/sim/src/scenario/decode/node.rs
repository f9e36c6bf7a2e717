//! Nodes with their interfaces, and the links between interfaces of different nodes.

use std::borrow::Cow;
use std::collections::BTreeSet;

use stillair_model::wifi::config::{AIRTIME_WEIGHT, DriverConfig, HardwareDepth, MacFqParams, Scheduler};
use stillair_model::wifi::phy::{PhyRate, Width};

use super::super::description::{Key, TableSchema, ValueType};
use super::super::document::Table;
use super::super::error::{Diagnostic, Diagnostics, Origin, gather};
use super::super::parts::Parts;
use super::super::reader::Section;
use super::super::resolve::interface::Context;
use super::super::resolve::names::Names;
use super::super::resolve::wiring::Wiring;
use super::super::resolve::{self, address, position};
use super::super::spec::domain::Map;
use super::super::spec::interface::Interface;
use super::super::spec::link::OfNode;
use super::super::spec::{self, Domain as _, Section as _, jitter, node_tcp};
use super::super::{Attachment, Channel, InterfaceRef, Nic, Node, Rates, Role, Wifi, many, profile};
use super::{host, wake};

/// Ids of the world are 16 bits wide: those of places that drop packets, of which a node and its interface
/// have up to four, run out first.
const MAX_INTERFACES: usize = 16_000;

/// A host, router or access point.
pub(super) static SCHEMA: TableSchema = TableSchema {
    title: "Node",
    about: "A host, router or access point.",
    groups: &[
        profile::KEYS,
        &[
            node_tcp::KEY,
            host::KEY,
            Key::or("forward", ValueType::Boolean, "false", "the node forwards packets"),
            wake::KEY,
            jitter::OfNode::KEYS[0],
            OfNode::KEYS[0],
            position::OfNode::KEYS[0],
            Key::open(
                "inherits",
                ValueType::Name("node"),
                "like none",
                "another node whose keys this node copies, except those that it has itself; tables are merged key by key",
            ),
            Key::open(
                "count",
                ValueType::Integer(1, many::MOST),
                "one node of that name",
                "number of nodes made from this table: `NAME1`, `NAME2` and so on. Flows, `hidden` and `sense_only` may name all of them as \
                 `NAME`. Addresses given here are the first node's, and count up",
            ),
            Key::need("interface", Map::<Interface>::TYPE, "its interfaces, at least one"),
        ],
    ],
};

/// Reads all nodes; `merged` holds name, origin and table of each.
pub(super) fn all<'a>(
    merged: &'a [(&str, Origin, Cow<'_, Table>)],
    names: &Names<'_>,
    channels: &[Channel],
    parts: &'a Parts,
) -> Result<(Vec<Node>, Wiring), Diagnostic> {
    let mut wiring = Wiring { ends: vec![Vec::new(); names.links.len()], ..Wiring::default() };
    let read = |(index, (name, origin, table)): (usize, &'a (&str, Origin, Cow<'_, Table>))| {
        let mut section = Section::new(format!("node.{name}"), *origin, table, &SCHEMA, parts);
        let mut profile = profile::read(&mut section)?;
        node_tcp::read(&mut section, &mut profile)?;
        let (host, guest, sysctl) = host::read(&mut section)?;
        let context = Context { names, channels, parts, profile, host, guest, sysctl, node: *origin };
        node(index, name, section, &context, &mut wiring)
    };
    let mut nodes = gather(merged.iter().enumerate().map(read)).map_err(Diagnostic::without_what_follows)?;
    associate(&mut nodes, &wiring)?;
    weigh(&nodes, &wiring)?;
    share_radios(&mut nodes, &wiring)?;
    by_device(&mut nodes, &wiring, channels);
    address::complete(&mut nodes, names.links.len(), &wiring);
    Ok((nodes, wiring))
}

fn node(
    index: usize,
    name: &str,
    mut section: Section<'_>,
    context: &Context<'_>,
    wiring: &mut Wiring,
) -> Result<Node, Diagnostic> {
    let forward = section.or("forward", false)?;
    let wake = wake::read(&mut section)?;
    let jitter = spec::read::<jitter::OfNode>(&mut section)?.params();
    let nic = spec::read::<OfNode>(&mut section)?.nic;
    wiring.nics.push(nic.place().cloned());
    let position = spec::read::<position::OfNode>(&mut section)?.position;
    wiring.positions.extend(position.place().map(|place| (index, place.clone())));
    // They have done their work; asking for them puts them among the suggestions.
    section.get("inherits");
    section.get("count");
    let field = section.need("interface", "at least one interface")?;
    let mut faults = Diagnostics::default();
    let specs = Map::<Interface>::read(&field, &mut faults)?;
    let is_empty = specs.is_empty();
    let mut interfaces = Vec::with_capacity(specs.len());
    for (interface, spec) in specs.into_iter().enumerate() {
        let at = InterfaceRef { node: index, interface };
        interfaces.extend(resolve::interface::interface(at, spec, context, wiring, &mut faults));
    }
    faults.or(())?;
    if is_empty {
        return Err(field.found("no interface", "at least one"));
    }
    let so_far = wiring.addresses.len() + wiring.unaddressed.len();
    if so_far > MAX_INTERFACES {
        let found = format!("{so_far} interfaces up to here");
        return Err(field.found(found, format!("at most {MAX_INTERFACES} in a scenario")));
    }
    let over_wifi = interfaces.iter().any(|i| matches!(i.medium, Attachment::Wifi(_)));
    if let Some(tcp) = section.get("tcp").filter(|_| !over_wifi) {
        tcp.section("a table")?.idle(
            "wifi_pacing_shift",
            "without a Wi-Fi interface",
            "none, or at the node that sends over Wi-Fi",
        )?;
    }
    section.finish()?;
    Ok(Node {
        name: name.to_owned(),
        host: context.host,
        guest: context.guest.clone(),
        profile: context.profile.clone(),
        sysctl: context.sysctl.clone(),
        forward,
        wake,
        jitter,
        nic: nic.or(Nic::None),
        position: position.get().copied(),
        interfaces,
    })
}

/// Checks each station against its access point, and hands it what the beacons say.
fn associate(nodes: &mut [Node], wiring: &Wiring) -> Result<(), Diagnostic> {
    for (station, field) in &wiring.stations {
        let wifi = |at: InterfaceRef| match &nodes[at.node].interfaces[at.interface].medium {
            Attachment::Wifi(wifi) => Some(wifi),
            Attachment::Wired { .. } => None,
        };
        let Some((own, Role::Station(path))) = wifi(*station).map(|wifi| (wifi, &wifi.role)) else {
            continue;
        };
        let Some(ap) = wifi(path.ap).filter(|ap| ap.role == Role::Ap) else {
            return Err(field.wrong("an interface with role = \"ap\""));
        };
        if path.ap.node == station.node {
            return Err(field.wrong("an access point of another node"));
        }
        if ap.channel != own.channel {
            return Err(field.found(
                format!("{}, which is on another channel", field.found),
                "an access point on the station's channel",
            ));
        }
        let beacon =
            wiring.beacons.iter().find(|(at, _)| *at == path.ap).map_or_else(Default::default, |b| b.1);
        if let Attachment::Wifi(wifi) = &mut nodes[station.node].interfaces[station.interface].medium {
            wifi.edca = beacon;
        }
    }
    Ok(())
}

/// Refuses weights that nothing weighs by.
fn weigh(nodes: &[Node], wiring: &Wiring) -> Result<(), Diagnostic> {
    let wifi = |at: InterfaceRef| match &nodes[at.node].interfaces[at.interface].medium {
        Attachment::Wifi(wifi) => Some(wifi),
        Attachment::Wired { .. } => None,
    };
    for (at, field) in &wiring.weights {
        let Some(Role::Station(station)) = wifi(*at).map(|own| &own.role) else { continue };
        let weighs = |ap: &Wifi| match &ap.driver {
            DriverConfig::Fq(_, Scheduler::Mac80211(..))
            | DriverConfig::Firmware(_, Scheduler::Mac80211(..), _) => true,
            DriverConfig::Fq(_, Scheduler::Custom(own)) => own.make(1).has_weights(),
            _ => false,
        };
        if station.airtime_weight != AIRTIME_WEIGHT && !wifi(station.ap).is_some_and(weighs) {
            let ap = &nodes[station.ap.node];
            let ap = format!("{}.{}", ap.name, ap.interfaces[station.ap.interface].name);
            return Err(field.found(
                format!("{}, while the scheme of {ap:?} has no weights", field.found),
                format!("scheme = \"mac80211\" at {ap:?}, or no airtime_weight"),
            ));
        }
    }
    Ok(())
}

/// Gives devices that can VHT or HE what is those devices': memory of their queues, hardware that is not
/// ath9k's, one aggregate before its turn (two would share the window of 64 frames, which such a radio
/// fills), and to those of VHT a driver that does not report what it received (the scheme's `charge_rx`), as
/// ath10k's. Drivers of HE that report airtime at all, as mt76, report both, and so do those of VHT that
/// leave rates to Minstrel-HT: mt76's too.
// linux: net/mac80211/tx.c ieee80211_txq_setup_flows (5.4) - by the bands of the radio.
// linux: drivers/net/wireless/mediatek/mt76/mac80211.c mt76_airtime_report, mt7615/mac.c mt7615_mac_sta_poll
// (6.12) - mt76x0, mt76x2 and mt7615 are the drivers of VHT without HAS_RATE_CONTROL that report airtime.
// linux: drivers/net/wireless/mediatek/mt76/tx.c mt76_txq_send_burst, drivers/net/wireless/ath/ath10k/mac.c
// ath10k_mac_tx_push_txq (6.12) - frames are handed over one by one; hardware or firmware makes the
// aggregates.
// deviation: one aggregate is made when the one before it is done with, and frames that come while it
// contends wait for the next.
// deviation: what a device can is what its links use, and for an access point its channel - nothing else
// tells.
fn by_device(nodes: &mut [Node], wiring: &Wiring, channels: &[Channel]) {
    let wifi = |at: InterfaceRef| match &nodes[at.node].interfaces[at.interface].medium {
        Attachment::Wifi(wifi) => Some(wifi),
        Attachment::Wired { .. } => None,
    };
    let is_vht = |rate: &PhyRate| matches!(rate, PhyRate::Vht(_) | PhyRate::He(_));
    // Both ends of a link that uses such rates, and access points of channels that HT cannot fill.
    let (mut can, mut both) = (BTreeSet::new(), BTreeSet::new());
    for (at, own) in wiring.stations.iter().filter_map(|(at, _)| Some((*at, wifi(*at)?))) {
        if let Role::Station(station) = &own.role
            && station.all_rates().any(|rate| is_vht(&rate))
        {
            can.extend([at, station.ap]);
            let by_host = [&station.rates, &station.uplink].into_iter().any(Rates::has_vht_groups);
            if by_host || station.all_rates().any(|rate| matches!(rate, PhyRate::He(_))) {
                both.extend([at, station.ap]);
            }
        }
    }
    let wide = |at: InterfaceRef| {
        wifi(at).is_some_and(|own| own.role == Role::Ap && channels[own.channel].width > Width::Mhz40)
    };
    can.extend(wiring.by_device.iter().map(|(at, _)| *at).filter(|at| wide(*at)));
    for (at, left) in wiring.by_device.iter().filter(|(at, _)| can.contains(at)) {
        let Attachment::Wifi(own) = &mut nodes[at.node].interfaces[at.interface].medium else { continue };
        if left.filter {
            own.filter = None;
        }
        if left.aggregates {
            own.hardware.aggregates = 1;
        }
        let (DriverConfig::Fq(queues, scheduler) | DriverConfig::Firmware(queues, scheduler, _)) =
            &mut own.driver
        else {
            continue;
        };
        if left.memory {
            queues.memory_limit = MacFqParams::VHT_MEMORY_LIMIT;
        }
        if let Some(airtime) = scheduler.airtime_mut().filter(|_| left.charge_rx && !both.contains(at)) {
            airtime.charge_rx = false;
        }
    }
}

/// Checks each device that sends with another's radio, and hands it what is the radio's.
fn share_radios(nodes: &mut [Node], wiring: &Wiring) -> Result<(), Diagnostic> {
    for (at, field) in &wiring.radios {
        let wifi = |at: InterfaceRef| match &nodes[at.node].interfaces[at.interface].medium {
            Attachment::Wifi(wifi) => Some(wifi),
            Attachment::Wired { .. } => None,
        };
        let Some((own, of)) = wifi(*at).and_then(|own| Some((own, own.radio?))) else { continue };
        // An access point may only lend its radio to a station of its own node, which passes packets on with
        // it.
        let lends = |other: &&Wifi| other.radio.is_none() && (other.role != Role::Ap || of.node == at.node);
        let Some(other) = wifi(of).filter(lends) else {
            return Err(field
                .wrong("a station's interface, or an access point's of its node, with a radio of its own"));
        };
        if other.channel != own.channel {
            return Err(field.found(
                format!("{}, which is on another channel", field.found),
                "a radio on the station's channel",
            ));
        }
        if HardwareDepth::of(&own.driver) != HardwareDepth::of(&other.driver) {
            let found = format!("{}, whose driver is another", field.found);
            return Err(field.found(found, "a radio under the same driver"));
        }
        if own.hardware != HardwareDepth::of(&own.driver) && own.hardware != other.hardware {
            return Err(field
                .found("hw_aggregates or hw_singles beside it", "them at the interface whose radio it is"));
        }
        let (hardware, edca) = (other.hardware, other.edca);
        if let Attachment::Wifi(wifi) = &mut nodes[at.node].interfaces[at.interface].medium {
            (wifi.hardware, wifi.edca) = (hardware, edca);
        }
    }
    Ok(())
}
