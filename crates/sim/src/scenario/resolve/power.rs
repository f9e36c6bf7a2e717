//! Power save and scans: of what was written, what the engine has; and what has no effect, or cannot be had.

use stillair_model::wifi::power::saver::SaverParams;
use stillair_model::wifi::power::scan::ScanParams;

use super::super::error::Fault;
use super::super::spec::power::{DTIM_PERIOD, OfAp, OfStation, PowerSave, Scan};
use super::super::spec::{Onto, Place};
use super::super::{Attachment, Channel, InterfaceRef, Node, Role, Scheme, Station, Wifi};

/// What an interface has written of both.
#[derive(Clone, Debug)]
pub(in super::super) enum Written {
    Station(OfStation),
    Ap(OfAp),
}

/// What the engine has of it.
#[derive(Default)]
pub(in super::super) struct Params {
    pub power_save: Option<(&'static str, SaverParams)>,
    pub scan: Option<ScanParams>,
    pub dtim_period: Option<u32>,
}

impl Written {
    pub(in super::super) fn params(&self) -> Result<Params, Fault> {
        Ok(match self {
            Self::Station(own) => {
                let saver = own.power_save.get().map_or(Ok(None), saver)?;
                let scan = own.scan.given();
                let scan = scan.map(|(own, at)| checked(own.params(), &own.options, at)).transpose()?;
                Params { power_save: saver, scan, dtim_period: None }
            }
            Self::Ap(own) => {
                let scan = own.scan.given();
                let scan = scan.map(|(own, at)| checked(own.params(), &own.options, at)).transpose()?;
                Params { power_save: None, scan, dtim_period: Some(own.dtim_period.or(DTIM_PERIOD)) }
            }
        })
    }

    /// Where it says that it sleeps or scans, if it does.
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

fn saver(own: &PowerSave) -> Result<Option<(&'static str, SaverParams)>, Fault> {
    let Some(mut params) = PowerSave::base(own.kind) else { return Ok(None) };
    let options = &own.options;
    options.onto(&mut params);
    params.uapsd = options.uapsd.get().map_or(0, |bits| bits.0);
    if params.uapsd == 0 {
        let right = "categories in uapsd, or no such key";
        options.max_sp.idle("without uapsd", right)?;
        options.trigger_interval.idle("without uapsd", right)?;
    }
    Ok(Some((own.kind, params)))
}

fn checked(params: Option<ScanParams>, own: &Scan, at: &Place) -> Result<ScanParams, Fault> {
    let Some(mut params) = params else { unreachable!("every kind of scan has options") };
    if params.active.0 + params.passive.0 == 0 {
        return Err(at.says("no channel to scan", "active_channels or passive_channels above zero"));
    }
    for (channels, dwell) in [(params.active.0, &own.dwell_active), (params.passive.0, &own.dwell_passive)] {
        if channels == 0 {
            dwell.idle("without such channels", "some, or no such key")?;
        }
    }
    match own.home_busy.given() {
        Some((busy, at)) if *busy < params.home => return Err(at.wrong("at least home")),
        Some(_) => {}
        None => params.home_busy = params.home_busy.max(params.home),
    }
    Ok(params)
}

/// Refuses what other tables do not allow.
pub(in super::super) fn check(
    nodes: &[Node],
    channels: &[Channel],
    written: &[(InterfaceRef, Written)],
) -> Result<(), Fault> {
    let wifi = |at: InterfaceRef| match &nodes[at.node].interfaces[at.interface].medium {
        Attachment::Wifi(wifi) => wifi,
        Attachment::Wired { .. } => unreachable!("who saves power has a Wi-Fi device"),
    };
    for (at, place) in written.iter().filter_map(|(at, written)| Some((at, written.place()?))) {
        let own = wifi(*at);
        let shares = nodes
            .iter()
            .flat_map(|n| &n.interfaces)
            .any(|i| matches!(&i.medium, Attachment::Wifi(wifi) if wifi.radio == Some(*at)));
        if own.radio.is_some() || shares {
            return Err(place.idle("on a radio that it shares", "a radio of its own"));
        }
        if channels[own.channel].beacon_interval.is_none() {
            return Err(place.idle("without beacons", "a beacon_interval on its channel"));
        }
        // No source that was read tells what it and its firmware do with frames for those that sleep, nor as it leaves its channel.
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

/// Whether a station saves power or scans.
pub(in super::super) fn any(wifi: &Wifi) -> bool {
    wifi.power_save.is_some() || wifi.scan.is_some()
}

/// Keys of access points that nobody's power save makes use of, each a sentence.
pub(in super::super) fn idle(nodes: &[Node], written: &[(InterfaceRef, Written)]) -> Vec<String> {
    let used = |at: InterfaceRef| {
        nodes.iter().flat_map(|n| &n.interfaces).any(|i| match &i.medium {
            Attachment::Wifi(wifi) => {
                any(wifi) && matches!(&wifi.role, Role::Station(station) if station.ap == at)
            }
            Attachment::Wired { .. } => false,
        })
    };
    let given = written.iter().filter_map(|(at, written)| match written {
        Written::Ap(own) => Some((*at, *own.dtim_period.get()?)),
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
