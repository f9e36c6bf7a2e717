//! Traffic of a flow in the resolved scenario.

use serde_json::{Value, json};
use stillair_model::types::Rate;

use super::super::FlowKind;
use super::super::spec::flow::{calls, ping, responsiveness, udp, web};
use super::super::spec::{Export, resolved};
use super::{custom, quic};

pub(super) fn traffic(kind: &FlowKind) -> Value {
    match kind {
        FlowKind::Udp { rates, payload, burst, gap, when_full } => {
            let mut keys = of_kind::<udp::Udp, _>("udp", &(*payload, *burst, *gap, *when_full));
            keys["rates_bps"] = rates.iter().copied().map(Rate::bps).collect();
            keys
        }
        FlowKind::Tcp { congestion_control, bytes, write_size, gate } => {
            let mut keys = json!({
                "kind": "tcp",
                "congestion_control": custom::control(congestion_control),
                "bytes": bytes,
                "write_size": write_size,
            });
            if let Some(gate) = gate {
                keys["rate_bps"] = json!(gate.rate.map(Rate::bps));
                keys["on_off_ns"] = json!(gate.on_off.map(|(on, off)| [on.nanos(), off.nanos()]));
            }
            keys
        }
        FlowKind::Video(params) => {
            let mut keys = of_kind::<calls::Video, _>("video", params);
            keys["keyframe_interval"] = json!(
                params.keys.map(|keys| json!({ "every": keys.every, "ratio_percent": keys.ratio_percent }))
            );
            keys
        }
        FlowKind::Responsiveness(params) => {
            of_kind::<responsiveness::Responsiveness, _>("responsiveness", params)
        }
        FlowKind::Web { page, interval } => {
            let mut keys = of_kind::<web::Web, _>("web", &(*interval,));
            keys["page"] = quic::page(page);
            keys
        }
        FlowKind::Voip { interval } => of_kind::<calls::Voip, _>("voip", &(*interval,)),
        FlowKind::Quic(flow) => quic::flow(flow),
        FlowKind::Ping { interval, payload } => of_kind::<ping::Ping, _>("ping", &(*interval, *payload)),
        FlowKind::UdpPing { interval, payload } => {
            of_kind::<ping::UdpPing, _>("udp_ping", &(*interval, *payload))
        }
    }
}

/// Returns the parameters of a kind.
fn of_kind<S: Export<P>, P>(kind: &str, params: &P) -> Value {
    let mut keys = resolved::<S, P>(params);
    keys.insert("kind".to_owned(), kind.into());
    keys.into()
}
