//! Pages and flows over QUIC in the resolved scenario.

use serde_json::{Value, json};
use stillair_model::app::Page;
use stillair_model::transport::quic::QuicConfig;
use stillair_model::transport::quic::config::Refresh;
use stillair_model::transport::quic::received::AckMemory;
use stillair_model::transport::quic::timers::Repair;
use stillair_model::types::Duration;

use super::super::spec::flow::quic::Costs;
use super::super::spec::flow::quinn::Stack;
use super::super::spec::flow::web::PageTable;
use super::super::spec::resolved;
use super::super::{QuicFlow, QuicLoad, QuicStack, QuinnControl};
use super::custom;

pub(super) fn page(page: &Page) -> Value {
    resolved::<PageTable, _>(page).into()
}

pub(super) fn flow(flow: &QuicFlow) -> Value {
    let load = match &flow.load {
        QuicLoad::Transfer { bytes, streams, request } => {
            json!({ "bytes": bytes, "streams": streams, "request_bytes": request })
        }
        QuicLoad::Page { page: of, interval } => json!({ "page": page(of), "interval_ns": interval.nanos() }),
    };
    let [sender, receiver] = flow.costs.map(|costs| resolved::<Costs, _>(&costs));
    let mut all = json!({ "kind": "quic", "load": load, "sender": sender, "receiver": receiver });
    // Settings that the flow's stack ignores are omitted.
    match &flow.stack {
        QuicStack::Model => {
            all["stack"] = "model".into();
            all["preset"] = flow.preset.name().into();
            all["parts"] = parts(&flow.config);
            // Omit if absent, so that results stored before the key existed still match.
            if let Some(control) = &flow.control {
                all["parts"]["window"]["of_tcp"] = custom::control(control);
            }
        }
        QuicStack::Quinn(options) => {
            all["stack"] = Stack::resolved(options);
            if options.congestion_control == QuinnControl::Model {
                all["window"] = window(&flow.config);
            }
        }
    }
    all
}

fn parts(c: &QuicConfig) -> Value {
    json!({
        "packet_bytes": c.packet,
        "ack": {
            "every": c.ack.every,
            "max_delay_ns": c.ack.max_delay.nanos(),
            "after_gap": c.ack.after_gap,
            "decimation": c.ack.decimation.map(|d| json!({
                "gate": d.gate,
                "count": d.count,
                "fraction_thousandths": d.fraction,
                "min_delay_ns": d.least.nanos(),
            })),
            "ranges": match c.ack_memory {
                AckMemory::StopWaiting => 255,
                AckMemory::Acknowledged { ranges, .. } => ranges,
            },
            "refresh": match c.refresh {
                Refresh::Packets(packets) => json!({ "after_packets": packets }),
                Refresh::RoundTrip => json!("round trip"),
            },
        },
        "pacing": c.pacing.map(|p| json!({
            "burst": p.burst,
            "horizon_ns": p.horizon.nanos(),
            "gain_slow_start_percent": p.gain_slow_start,
            "gain_percent": p.gain,
            "lumpy": p.lumpy,
        })),
        "window": window(c),
        "loss": {
            "packets": c.loss.packets,
            "eighths_of_rtt": c.loss.eighths,
            "least_ns": c.loss.least.nanos(),
            "by_time_always": c.loss.time,
            "of_previous_rtt": c.loss.previous,
            "adaptive": c.loss.adaptive,
        },
        "tail_loss_probes": match c.timers.repair {
            Repair::TailLossProbes(most) => Some(most),
            Repair::ProbeTimeout(_) => None,
        },
        "probe_timeout": match c.timers.repair {
            Repair::TailLossProbes(_) => None,
            Repair::ProbeTimeout(p) => Some(json!({
                "deviations": p.deviations,
                "first_from_oldest": p.from_oldest,
                "skips_a_number": p.skips,
                "persistent_congestion": p.persistent,
                "doubles_while_held": p.doubles_while_held,
            })),
        },
        "initial_rtt_ns": c.initial_rtt.nanos(),
        "client_windows_bytes": [c.client_flow.stream, c.client_flow.connection],
        "server_windows_bytes": [c.server_flow.stream, c.server_flow.connection],
        "handshake": {
            "messages_bytes": c.handshake.messages,
            "client_ready_at": c.handshake.client_ready,
            "amplification": c.handshake.amplification,
        },
    })
}

fn window(c: &QuicConfig) -> Value {
    json!({
        "growth": format!("{:?}", c.window.growth),
        "cubic": {
            "interval_ns": c.window.cubic.interval.map(Duration::nanos),
            "in_bytes": c.window.cubic.bytes,
            "mild": c.window.cubic.mild,
        },
        "connections": c.window.connections,
        "mss_bytes": c.window.mss,
        "initial_bytes": c.window.initial,
        "least_bytes": c.window.least,
        "most_bytes": c.window.most,
        "hystart": c.window.hystart,
        "prr": c.window.prr,
    })
}
