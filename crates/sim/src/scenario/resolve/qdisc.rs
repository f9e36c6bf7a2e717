//! An interface's qdisc, given or the device's default, and the shapers of a router, egress and ingress, at
//! its interface to the modem.

use stillair_model::qdisc::QdiscConfig;
use stillair_model::qdisc::cake::{CakeParams, Isolation, Masquerade};
use stillair_model::qdisc::htb::HtbParams;
use stillair_model::types::Rate;

use super::super::QdiscSpec;
use super::super::error::{Diagnostics, suggest};
use super::super::spec::domain::Flag;
use super::super::spec::interface::Wired;
use super::super::spec::link::LinkKind;
use super::super::spec::qdisc::shaper::Unshaped;
use super::super::spec::qdisc::{Context, DeviceQueue, Root};
use super::super::spec::{Key, Place};

/// Returns the qdisc of an interface.
pub(super) fn root<const WIFI: bool>(
    own: &Key<Root<WIFI>>,
    device: &DeviceQueue<'_>,
    faults: &mut Diagnostics,
) -> Option<QdiscSpec> {
    let Some((own, at)) = own.given() else {
        return Some(device.default_qdisc()).filter(|_| !own.is_misread());
    };
    let config = match &own.qdisc {
        Err(_) if device.never_stops() => QdiscConfig::Noqueue,
        Err(others) => {
            faults.add(at.found("\"noqueue\" over a device that stops its queue", suggest("", others)));
            return None;
        }
        Ok(qdisc) => qdisc.config(&mut Context { at, device, faults })?,
    };
    // Shapers and emulators default to a single instance for the whole device.
    let whole = matches!(config, QdiscConfig::Htb(_) | QdiscConfig::Tbf(_) | QdiscConfig::Netem(..));
    let many = device.scheme.is_some() && config != QdiscConfig::Noqueue;
    Some(QdiscSpec { mq: own.mq.unwrap_or(many && !whole), config })
}

/// Sets how a router's qdiscs see masquerading. Reports an error if none of them uses host addresses.
pub(super) fn masquerade(
    own: &Key<Flag>,
    at: &Place,
    egress: &mut QdiscConfig,
    ingress: Option<&mut QdiscConfig>,
    faults: &mut Diagnostics,
) {
    let hides = own.or(false);
    let sides = [(Some(egress), Masquerade::Sources), (ingress, Masquerade::Destinations)];
    let (mut looks, mut nat) = (false, false);
    for (config, side) in sides {
        if let Some(cake) = config.and_then(cake_in) {
            looks |= !matches!(cake.isolation, Isolation::Flows | Isolation::Flowblind);
            nat |= cake.nat;
            if hides {
                cake.masquerade = side;
            }
        }
    }
    if nat && !hides && !own.is_misread() {
        without_masquerade(at, faults);
    }
    if hides && !looks {
        let right = "cake, in another isolation than flows and flowblind, or none";
        own.idle("without a cake that looks at hosts", right, faults);
    }
}

/// Rejects a cake with `nat` on a Wi-Fi interface.
pub(super) fn no_masquerade(config: &mut QdiscConfig, at: &Place, faults: &mut Diagnostics) {
    if cake_in(config).is_some_and(|cake| cake.nat) {
        without_masquerade(at, faults);
    }
}

fn without_masquerade(at: &Place, faults: &mut Diagnostics) {
    let found = "nat of cake at an interface that does not masquerade, where it has no effect";
    faults.add(at.found(found, "masquerade = true at a wired interface, or no nat"));
}

/// Returns the cake in a qdisc, if any.
fn cake_in(config: &mut QdiscConfig) -> Option<&mut CakeParams> {
    match config {
        QdiscConfig::Cake(params) => Some(params),
        QdiscConfig::Htb(p) => cake_in(&mut p.child),
        QdiscConfig::Tbf(p) => cake_in(&mut p.child),
        QdiscConfig::Netem(_, child) => child.as_deref_mut().and_then(cake_in),
        _ => None,
    }
}

/// Returns the egress and ingress qdiscs of an interface.
pub(super) fn shaped(
    wired: &Wired,
    device: &DeviceQueue<'_>,
    faults: &mut Diagnostics,
) -> Option<(QdiscSpec, Option<QdiscConfig>)> {
    let own = root(&wired.qdisc, device, faults);
    if wired.shaper.is_misread() {
        return None;
    }
    let Some((Some(shaper), at)) = wired.shaper.given() else { return Some((own?, None)) };
    if device.link == Some(LinkKind::Veth) {
        faults.add(at.found("a shaper before a veth", "one before a link with a rate, or a qdisc"));
        return None;
    }
    match (shaper.down.place(), shaper.up.place()) {
        (None, up) => {
            shaper.qdisc_down.idle("without down", "down, or no qdisc_down", faults);
            if up.is_none() {
                faults.add(at.found("a shaper of neither down nor up", "at least one of the two"));
            }
        }
        (Some(_), None) if shaper.qdisc_down.place().is_some() => {
            shaper.qdisc.idle("without up beside qdisc_down", "up, or one of the two", faults);
        }
        _ => {}
    }
    let qdisc_down = if shaper.qdisc_down.place().is_some() { &shaper.qdisc_down } else { &shaper.qdisc };
    let down = shaper.down.get().and_then(|rate| config(qdisc_down, *rate, device, faults));
    let up = shaper.up.get().and_then(|rate| config(&shaper.qdisc, *rate, device, faults));
    if shaper.up.place().is_some() {
        wired.qdisc.idle("beside a shaper with up", "the qdisc of the shaper, or no up", faults);
    }
    Some((up.map_or(own, |config| Some(QdiscSpec { mq: false, config }))?, down))
}

/// Returns the qdisc of one direction.
fn config(
    own: &Key<Unshaped>,
    rate: Rate,
    device: &DeviceQueue<'_>,
    faults: &mut Diagnostics,
) -> Option<QdiscConfig> {
    let child = match own.given() {
        Some((qdisc, at)) => qdisc.config(&mut Context { at, device, faults })?,
        None => QdiscConfig::Cake(CakeParams::default()),
    };
    Some(match child {
        QdiscConfig::Cake(params) => QdiscConfig::Cake(CakeParams { bandwidth: Some(rate), ..params }),
        child => {
            let burst = HtbParams::default_burst(rate);
            QdiscConfig::Htb(HtbParams { rate, ceil: rate, burst, cburst: burst, child: Box::new(child) })
        }
    })
}
