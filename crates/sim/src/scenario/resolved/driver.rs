//! The driver of a Wi-Fi device, with its queues and its firmware.

use serde_json::{Value, json};
use stillair_model::wifi::config::{
    AirtimeReport, DriverConfig, GroupsCount, Mac80211Rules, Scheduler, SlowBelow, WhenFirmwareFull, WhenFull,
};

use super::super::spec::usb::Usb;
use super::custom::part;
use super::qdisc::codel;

pub(super) fn driver(config: &DriverConfig) -> Value {
    let (p, scheduler, firmware) = match config {
        DriverConfig::Legacy(p) => return json!({ "kind": "legacy", "qlen": p.qlen }),
        DriverConfig::Htc(p) => {
            return json!({
                "kind": "ath9k_htc",
                "limit": p.limit,
                "target_buffers": p.target_buffers,
                "max_frames": p.max_frames,
                "usb": p.usb.as_ref().map(Usb::resolved),
            });
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
            let mut limits = json!({
                "low_ns": aql.low.nanos(),
                "high_ns": aql.high.nanos(),
                "threshold_ns": aql.threshold.nanos(),
            });
            // Only where it is not the kernel's: what was kept of scenarios without it stays theirs.
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
    let airtime = airtime.map(|a| {
        json!({
            "quantum_ns": a.quantum.nanos(),
            "sparse": a.sparse,
            "charge_tx": a.charge_tx,
            "charge_rx": a.charge_rx,
        })
    });
    let mut resolved = json!({
        "kind": "fq",
        "flows": p.flows,
        "limit": p.limit,
        "memory_limit_bytes": p.memory_limit,
        "drop_batch": p.drop_batch,
        "fq_quantum_bytes": p.quantum,
        "codel": codel(&p.codel),
        "codel_slow": codel(&p.codel_slow),
        "slow_below_bps": below,
        "slow_below_each_station_bps": each,
        "hysteresis_ns": p.hysteresis.nanos(),
        "scheduler": name,
        "airtime": airtime,
        "aql": aql,
    });
    // Only where they are: what was kept of scenarios without them stays theirs.
    if let Some(p) = firmware {
        resolved["firmware"] = json!({
            "frames": p.frames,
            "drops_when_full": p.full == WhenFirmwareFull::Drops,
            "amsdu_frames": p.amsdu_frames,
            "amsdu_bytes": p.amsdu_bytes,
            "amsdu_by": if p.host_joins { "mac80211" } else { "firmware" },
            "vow_atf": p.shares_airtime,
            "report_frames": p.report_frames,
            "report_delay_ns": p.report_delay.nanos(),
            "airtime": match p.airtime {
                AirtimeReport::Nothing => Value::Null,
                AirtimeReport::Frames => "frames".into(),
                AirtimeReport::Counters => "counters".into(),
            },
        });
    }
    if let Scheduler::Custom(own) = scheduler {
        resolved["scheduler"] = part(own);
    }
    if let Some(law) = &p.law {
        resolved["law"] = part(law);
    }
    resolved
}
