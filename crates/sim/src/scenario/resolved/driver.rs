//! The driver of a Wi-Fi device, with its queues and its firmware.

use serde_json::{Value, json};
use stillair_model::wifi::config::{
    AirtimeReport, DriverConfig, GroupsCount, Mac80211Rules, Scheduler, SlowBelow, WhenFirmwareFull, WhenFull,
};

use super::super::spec::scheme::{Airtime, Firmware, Htc, Legacy, Limits, Queues, Slow};
use super::super::spec::usb::Usb;
use super::super::spec::{self, Object, Resolved as _};
use super::custom::part;
use super::qdisc::codel;

fn of_kind(kind: &str, mut keys: Object) -> Value {
    keys.insert("kind".to_owned(), kind.into());
    keys.into()
}

pub(super) fn driver(config: &DriverConfig) -> Value {
    let (p, scheduler, firmware) = match config {
        DriverConfig::Legacy(p) => return of_kind("legacy", spec::resolved::<Legacy, _>(p)),
        DriverConfig::Htc(p) => {
            let mut keys = spec::resolved::<Htc, _>(p);
            keys.insert("usb".to_owned(), p.usb.as_ref().map(Usb::resolved).into());
            return of_kind("ath9k_htc", keys);
        }
        DriverConfig::Fq(p, scheduler) => (p, scheduler, None),
        DriverConfig::Firmware(p, scheduler, firmware) => (p, scheduler, Some(firmware)),
    };
    let (name, airtime) = match scheduler {
        Scheduler::RoundRobin(WhenFull::LosesTurn) => ("round_robin_loses_turn", None),
        Scheduler::RoundRobin(WhenFull::KeepsTurn) => ("round_robin", None),
        Scheduler::Airtime(a) => ("airtime", Some(a)),
        Scheduler::AirtimeAsPrinted(a) => ("airtime_as_printed", Some(a)),
        Scheduler::Mac80211(a, _, Mac80211Rules::Rounds) => ("mac80211", Some(a)),
        Scheduler::Mac80211(a, _, Mac80211Rules::VirtualTime) => ("mac80211_virtual_time", Some(a)),
        Scheduler::Mac80211(a, _, Mac80211Rules::RoundsWithPending) => ("mac80211_with_pending", Some(a)),
        Scheduler::Custom(own) => (own.name(), None),
    };
    let aql = match scheduler {
        Scheduler::Mac80211(_, Some(aql), rules) => {
            let mut limits: Value = spec::without("aql_", spec::resolved::<Limits, _>(aql)).into();
            // Omit the kernel's default, so that results stored before the key existed still match.
            if aql.groups != rules.groups() {
                limits["multicast"] = match aql.groups {
                    GroupsCount::InAll => json!("threshold"),
                    GroupsCount::Not => json!("off"),
                    GroupsCount::Limited(most) => json!(most.nanos()),
                };
            }
            limits
        }
        _ => Value::Null,
    };
    let (below, each) = match p.slow_below {
        SlowBelow::Rate(rate) => (Some(rate.bps()), None),
        SlowBelow::EachStation(rate) => (None, Some(rate.bps())),
    };
    let mut keys = spec::resolved::<Queues, _>(p);
    keys.extend(spec::resolved::<Slow, _>(p));
    let mut resolved = of_kind("fq", keys);
    resolved["drop_batch"] = p.drop_batch.into();
    resolved["codel"] = codel(&p.codel);
    resolved["codel_slow"] = codel(&p.codel_slow);
    resolved["slow_below_bps"] = below.into();
    resolved["slow_below_each_station_bps"] = each.into();
    resolved["scheduler"] = name.into();
    resolved["airtime"] = airtime.map(spec::resolved::<Airtime, _>).into();
    resolved["aql"] = aql;
    // Omit if absent, so that results stored before the key existed still match.
    if let Some(p) = firmware {
        let mut keys: Value = spec::resolved::<Firmware, _>(p).into();
        keys["drops_when_full"] = (p.full == WhenFirmwareFull::Drops).into();
        keys["amsdu_by"] = if p.host_joins { "mac80211" } else { "firmware" }.into();
        keys["airtime"] = (p.airtime != AirtimeReport::Nothing).then(|| p.airtime.json()).into();
        resolved["firmware"] = keys;
    }
    if let Scheduler::Custom(own) = scheduler {
        resolved["scheduler"] = part(own);
    }
    if let Some(aqm) = &p.aqm {
        resolved["aqm"] = part(aqm);
    }
    resolved
}
