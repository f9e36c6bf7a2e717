//! Cross-checks between Wi-Fi devices: stations and their access points, shared radios, and device
//! capabilities derived from their links.

use std::collections::{BTreeMap, BTreeSet};

use stillair_model::wifi::config::{AIRTIME_WEIGHT, DriverConfig, HardwareDepth, MacFqParams, Scheduler};
use stillair_model::wifi::phy::{PhyRate, Width};

use super::super::error::Diagnostic;
use super::super::{Attachment, Channel, InterfaceRef, Node, Rates, Role, Wifi};
use super::wiring::Device;

/// Checks devices against each other, and fills in values that depend on other devices.
pub(in super::super) fn together(
    nodes: &mut [Node],
    devices: &[Device],
    channels: &[Channel],
) -> Result<(), Diagnostic> {
    associate(nodes, devices)?;
    weigh(nodes, devices)?;
    share_radios(nodes, devices)?;
    by_device(nodes, devices, channels);
    Ok(())
}

/// Returns the Wi-Fi device of an interface, if it is one.
pub(in super::super) fn wifi(nodes: &[Node], at: InterfaceRef) -> Option<&Wifi> {
    match &nodes[at.node].interfaces[at.interface].medium {
        Attachment::Wifi(wifi) => Some(wifi),
        Attachment::Wired { .. } => None,
    }
}

/// Checks each station against its access point, and copies the EDCA parameters from the beacons.
fn associate(nodes: &mut [Node], devices: &[Device]) -> Result<(), Diagnostic> {
    let beacons = devices.iter().filter_map(|device| Some((device.at, device.beacon.as_ref()?)));
    let beacons: BTreeMap<InterfaceRef, _> = beacons.collect();
    for (station, field) in devices.iter().filter_map(|device| Some((device.at, device.ap.as_ref()?))) {
        let Some((own, Role::Station(path))) = wifi(nodes, station).map(|wifi| (wifi, &wifi.role)) else {
            continue;
        };
        let Some(ap) = wifi(nodes, path.ap).filter(|ap| ap.role == Role::Ap) else {
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
        let beacon = beacons.get(&path.ap).map_or_else(Default::default, |beacon| ***beacon);
        if let Attachment::Wifi(wifi) = &mut nodes[station.node].interfaces[station.interface].medium {
            wifi.edca = beacon;
        }
    }
    Ok(())
}

/// Rejects airtime weights if the scheme ignores them.
fn weigh(nodes: &[Node], devices: &[Device]) -> Result<(), Diagnostic> {
    for (at, field) in devices.iter().filter_map(|device| Some((device.at, device.weight.as_ref()?))) {
        let Some(Role::Station(station)) = wifi(nodes, at).map(|own| &own.role) else { continue };
        let weighs = |ap: &Wifi| match &ap.driver {
            DriverConfig::Fq(_, Scheduler::Mac80211(..))
            | DriverConfig::Firmware(_, Scheduler::Mac80211(..), _) => true,
            DriverConfig::Fq(_, Scheduler::Custom(own)) => own.make(1).has_weights(),
            _ => false,
        };
        if station.airtime_weight != AIRTIME_WEIGHT && !wifi(nodes, station.ap).is_some_and(weighs) {
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

/// Sets the options left to the device for VHT and HE devices: the memory limit of their queues, no
/// destination filter, and one aggregate prepared in advance (two would share the window of 64 frames, which
/// such a radio fills). VHT devices with their own rate control, such as ath10k, do not report received
/// airtime (the scheme's `charge_rx`). HE drivers that report airtime, such as mt76, report both directions,
/// as do VHT drivers that use Minstrel-HT, also mt76.
// linux: net/mac80211/tx.c ieee80211_txq_setup_flows (5.4) - depends on the radio's bands.
// linux: drivers/net/wireless/mediatek/mt76/mac80211.c mt76_airtime_report, mt7615/mac.c mt7615_mac_sta_poll
// (6.12) - mt76x0, mt76x2 and mt7615 are the VHT drivers without HAS_RATE_CONTROL that report airtime.
// linux: drivers/net/wireless/mediatek/mt76/tx.c mt76_txq_send_burst, drivers/net/wireless/ath/ath10k/mac.c
// ath10k_mac_tx_push_txq (6.12) - hand over frames one by one; hardware or firmware builds the aggregates.
// deviation: an aggregate is built when its predecessor is done; frames that arrive while it contends wait
// for the next.
// deviation: capabilities are inferred from the rates of a device's links, and for an access point also from
// its channel - the scenario states them nowhere else.
fn by_device(nodes: &mut [Node], devices: &[Device], channels: &[Channel]) {
    let is_vht = |rate: &PhyRate| matches!(rate, PhyRate::Vht(_) | PhyRate::He(_));
    // Both ends of a link that uses such rates, and access points of channels too wide for HT.
    let (mut can, mut both) = (BTreeSet::new(), BTreeSet::new());
    for (at, own) in devices.iter().filter_map(|device| Some((device.at, wifi(nodes, device.at)?))) {
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
        wifi(nodes, at).is_some_and(|own| own.role == Role::Ap && channels[own.channel].width > Width::Mhz40)
    };
    can.extend(devices.iter().map(|device| device.at).filter(|at| wide(*at)));
    for Device { at, by_device: left, .. } in devices.iter().filter(|device| can.contains(&device.at)) {
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

/// Checks each device that uses another's radio, and copies the radio's settings.
fn share_radios(nodes: &mut [Node], devices: &[Device]) -> Result<(), Diagnostic> {
    for (at, field) in devices.iter().filter_map(|device| Some((device.at, device.radio.as_ref()?))) {
        let Some((own, of)) = wifi(nodes, at).and_then(|own| Some((own, own.radio?))) else { continue };
        // An access point's radio may only be shared with a station of the same node, which forwards packets
        // through it.
        let lends = |other: &&Wifi| other.radio.is_none() && (other.role != Role::Ap || of.node == at.node);
        let Some(other) = wifi(nodes, of).filter(lends) else {
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
