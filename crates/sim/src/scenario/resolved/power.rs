//! Power save and scans of a station.

use serde_json::{Value, json};
use stillair_model::vocabulary::{Ac, Duration};
use stillair_model::wifi::power::saver::{Listen, Retrieve};

use super::super::Wifi;

/// Adds what a station does.
pub(super) fn station(wifi: &Wifi, resolved: &mut Value) {
    if let Some((kind, p)) = &wifi.power_save {
        let uapsd: Vec<&str> =
            Ac::ALL.iter().filter(|ac| p.uapsd >> ac.index() & 1 == 1).map(|ac| ac.name()).collect();
        resolved["power_save"] = json!({
            "kind": kind,
            "timeout_ns": p.timeout.nanos(),
            "listen_interval": match p.listen {
                Listen::Dtim => json!("dtim"),
                Listen::Every(n) => json!(n),
            },
            "retrieve": match p.retrieve {
                Retrieve::Null => "null",
                Retrieve::PsPoll => "ps_poll",
            },
            "uapsd": uapsd,
            "max_sp": p.max_sp,
            "trigger_interval_ns": p.trigger_every.map(Duration::nanos),
        });
    }
    if let Some(p) = &wifi.scan {
        resolved["scan"] = json!({
            "start_ns": p.start.nanos(),
            "every_ns": p.every.map(Duration::nanos),
            "active_channels": p.active.0,
            "dwell_active_ns": p.active.1.nanos(),
            "passive_channels": p.passive.0,
            "dwell_passive_ns": p.passive.1.nanos(),
            "away_ns": p.away.nanos(),
            "home_ns": p.home.nanos(),
            "home_busy_ns": p.home_busy.nanos(),
            "settle_ns": p.settle.nanos(),
        });
    }
}
