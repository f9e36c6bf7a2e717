//! Hosts and the wires between them.

use serde_json::{Value, json};
use stillair_model::node::wake::Wake;
use stillair_model::wire::{EthernetParams, LineBuffer, WireParams};

use super::super::Link;

pub(super) fn wake(wake: Wake) -> Value {
    match wake {
        Wake::Softirq => json!("softirq"),
        Wake::After(delay) => json!({ "after_ns": delay.nanos() }),
    }
}

/// Returns a link between two named interfaces.
pub(super) fn link(link: &Link, ends: [String; 2]) -> Value {
    let [there, back] = &link.params;
    let mut keys = json!({ "name": link.name, "medium": wire(there), "ends": ends });
    // Different devices at the ends give the two directions different parameters.
    if back != there {
        keys["medium_back"] = wire(back);
    }
    keys
}

fn wire(params: &WireParams) -> Value {
    match params {
        WireParams::Veth => json!({ "kind": "veth" }),
        WireParams::Ethernet(e) => ethernet("ethernet", e),
        WireParams::Access(e, line) => {
            let mut keys = ethernet("access", e);
            keys["line"] = json!({
                "rate_bps": line.rate.bps(),
                "buffer": match line.buffer {
                    LineBuffer::Packets(packets) => json!({ "packets": packets }),
                    LineBuffer::Bytes(bytes) => json!({ "bytes": bytes }),
                },
                "overhead_bytes": line.framing.overhead,
                "mpu_bytes": line.framing.mpu,
                "atm": line.framing.cells.name(),
            });
            keys
        }
    }
}

fn ethernet(kind: &str, e: &EthernetParams) -> Value {
    json!({
        "kind": kind,
        "rate_bps": e.rate.bps(),
        "delay_ns": e.delay.nanos(),
        "ring": e.ring,
        "bql": e.bql,
        "tx_usecs": e.tx_usecs.nanos() / 1000,
        "tx_frames": e.tx_frames,
        "rx_usecs": e.rx_usecs.nanos() / 1000,
        "rx_frames": e.rx_frames,
        "rx_gap_ns": e.rx_gap.nanos(),
    })
}
