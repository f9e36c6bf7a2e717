//! Power save and scans: the engine's parameters, and conditions that involve the radio, the channel and the
//! access point.

use stillair_model::wifi::power::saver::SaverParams;
use stillair_model::wifi::power::scan::ScanParams;

use super::super::error::{Diagnostic, Diagnostics};
use super::super::spec::power::{DTIM_PERIOD, PowerSave, Scan, Written};
use super::super::spec::{Assign, Key, Place};
use super::super::{Attachment, Channel, InterfaceRef, Node, Role, Scheme, Station, Wifi};
use super::wifi::wifi;
use super::wiring::Device;

/// The engine's parameters.
#[derive(Default)]
pub(in super::super) struct Params {
    pub power_save: Option<(&'static str, SaverParams)>,
    pub scan: Option<ScanParams>,
    pub dtim_period: Option<u32>,
}

impl Written {
    /// Returns the engine's parameters. Errors are added to `faults`.
    pub(in super::super) fn params(&self, faults: &mut Diagnostics) -> Params {
        let scan = |params: Option<ScanParams>, own: &Scan, at: &Place, faults: &mut Diagnostics| {
            Some(checked(params.expect("all kinds of scans have options"), own, at, faults))
        };
        match self {
            Self::Station(own) => Params {
                power_save: own.power_save.get().and_then(|own| saver(own, faults)),
                scan: own.scan.given().and_then(|(own, at)| scan(own.params(), &own.options, at, faults)),
                dtim_period: None,
            },
            Self::Ap(own) => Params {
                power_save: None,
                scan: own.scan.given().and_then(|(own, at)| scan(own.params(), &own.options, at, faults)),
                dtim_period: Some(own.dtim_period.or(DTIM_PERIOD)),
            },
        }
    }

    /// Returns the place of the key that enables power save or scans.
    fn place(&self) -> Option<&Place> {
        match self {
            Self::Station(own) => {
                let saver = own.power_save.given().filter(|(saver, _)| saver.kind != "off");
                saver.map(|(_, at)| at).or(own.scan.given().map(|(_, at)| at))
            }
            Self::Ap(own) => own.scan.given().map(|(_, at)| at),
        }
    }
}

fn saver(own: &PowerSave, faults: &mut Diagnostics) -> Option<(&'static str, SaverParams)> {
    let mut params = PowerSave::base(own.kind)?;
    let options = &own.options;
    options.assign(&mut params);
    params.uapsd = options.uapsd.get().map_or(0, |bits| bits.0);
    if matches!(options.uapsd, Key::Absent) {
        let right = "categories in uapsd, or no such key";
        options.max_sp.idle("without uapsd", right, faults);
        options.trigger_interval.idle("without uapsd", right, faults);
    }
    Some((own.kind, params))
}

fn checked(mut params: ScanParams, own: &Scan, at: &Place, faults: &mut Diagnostics) -> ScanParams {
    if params.active.0 + params.passive.0 == 0 {
        faults.add(at.found("no channel to scan", "active_channels or passive_channels above zero"));
        return params;
    }
    for (channels, dwell) in [(params.active.0, &own.dwell_active), (params.passive.0, &own.dwell_passive)] {
        if channels == 0 {
            dwell.idle("without such channels", "some, or no such key", faults);
        }
    }
    match &own.home_dwell_busy {
        Key::Given(busy, at) if *busy < params.home_dwell => faults.add(at.wrong("at least home_dwell")),
        Key::Given(..) | Key::Misread(_) => {}
        Key::Absent => params.home_dwell_busy = params.home_dwell_busy.max(params.home_dwell),
    }
    params
}

/// Rejects power save and scans that conflict with other tables.
pub(in super::super) fn check(
    nodes: &[Node],
    channels: &[Channel],
    devices: &[Device],
) -> Result<(), Diagnostic> {
    let wifi = |at| wifi(nodes, at).expect("power save is a key of Wi-Fi interfaces");
    for (at, place) in devices.iter().filter_map(|device| Some((device.at, device.power.place()?))) {
        let own = wifi(at);
        let shares = nodes
            .iter()
            .flat_map(|n| &n.interfaces)
            .any(|i| matches!(&i.medium, Attachment::Wifi(wifi) if wifi.radio == Some(at)));
        if own.radio.is_some() || shares {
            return Err(place.idle("on a radio that it shares", "a radio of its own"));
        }
        if channels[own.channel].beacon_interval.is_none() {
            return Err(place.idle("without beacons", "a beacon_interval on its channel"));
        }
        // No known source documents how ath9k_htc buffers frames for sleeping stations, or its behaviour off
        // channel.
        let ap = match &own.role {
            Role::Station(Station { ap, .. }) => wifi(*ap),
            Role::Ap => own,
        };
        if ap.scheme == Scheme::Ath9kHtc {
            return Err(place.idle("at an access point with ath9k_htc", "another scheme there"));
        }
    }
    Ok(())
}

/// Returns true if a station uses power save or scans.
pub(in super::super) fn any(wifi: &Wifi) -> bool {
    wifi.power_save.is_some() || wifi.scan.is_some()
}

/// Notes on the `dtim_period` of access points without such stations.
pub(in super::super) fn idle(nodes: &[Node], devices: &[Device]) -> Vec<String> {
    let used = |at: InterfaceRef| {
        nodes.iter().flat_map(|n| &n.interfaces).any(|i| match &i.medium {
            Attachment::Wifi(wifi) => {
                any(wifi) && matches!(&wifi.role, Role::Station(station) if station.ap == at)
            }
            Attachment::Wired { .. } => false,
        })
    };
    let given = devices.iter().filter_map(|device| match &device.power {
        Written::Ap(own) => Some((device.at, *own.dtim_period.get()?)),
        Written::Station(_) => None,
    });
    let unused = given.filter(|(at, _)| !used(*at));
    unused
        .map(|(at, period)| {
            let node = &nodes[at.node];
            format!(
                "node.{}.interface.{}.dtim_period: {period} has no effect where no station saves power or scans; power_save of one",
                node.name, node.interfaces[at.interface].name
            )
        })
        .collect()
}
