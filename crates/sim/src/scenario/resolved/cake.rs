//! cake, resolved.

use serde_json::{Value, json};
use stillair_model::qdisc::cake::{CakeParams, Masquerade};
use stillair_model::vocabulary::Rate;

pub(super) fn cake(p: &CakeParams) -> Value {
    let mut keys = json!({
        "kind": "cake",
        "bandwidth_bps": p.bandwidth.map(Rate::bps),
        "tins": p.tins.name(),
        "isolation": p.isolation.name(),
        "rtt_ns": p.rtt.nanos(),
        "target_ns": p.target.nanos(),
        "memlimit_bytes": p.memlimit,
        "overhead_bytes": p.framing.overhead,
        "mpu_bytes": p.framing.mpu,
        "atm": p.framing.cells.name(),
        "split_gso": p.split_gso,
        "ingress": p.ingress,
        "wash": p.wash,
        "ack_filter": p.ack_filter.name(),
    });
    // Only where it is said: what was kept of scenarios without it stays theirs.
    if p.nat {
        keys["nat"] = json!(true);
    }
    if p.masquerade != Masquerade::Off {
        keys["masquerade"] = json!(true);
    }
    keys
}
