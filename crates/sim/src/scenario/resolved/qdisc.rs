//! Queueing disciplines, with every parameter.

use serde_json::{Value, json};
use stillair_model::aqm::codel::CodelParams;
use stillair_model::qdisc::QdiscConfig;
use stillair_model::qdisc::fifo::FifoParams;
use stillair_model::qdisc::htb::HtbParams;
use stillair_model::qdisc::tbf::TbfParams;

use super::super::spec::qdisc::{Cake, Codel, Fq, FqCodel, Htb, Netem, Pie, Sfq, Tbf};
use super::super::spec::resolved;
use super::custom::part;

/// Returns the parameters of CoDel.
pub(super) fn codel(p: &CodelParams) -> Value {
    json!({ "target_ns": p.target.nanos(), "interval_ns": p.interval.nanos(), "ecn": p.ecn, "mtu_bytes": p.mtu })
}

/// Returns a qdisc, including its children.
pub(super) fn qdisc(config: &QdiscConfig) -> Value {
    let mut shown: Value = match config {
        QdiscConfig::Noqueue => json!({}),
        QdiscConfig::Custom(own) => part(own),
        QdiscConfig::Aqm(p) => json!({ "limit": p.limit, "aqm": part(&p.aqm) }),
        QdiscConfig::FqAqm(p) => json!({
            "limit": p.limit,
            "flows": p.flows,
            "quantum_bytes": p.quantum,
            "memory_limit_bytes": p.memory_limit,
            "drop_batch": p.drop_batch,
            "aqm": part(&p.aqm),
        }),
        QdiscConfig::Fifo(FifoParams::Packets(limit)) => json!({ "limit": limit }),
        QdiscConfig::Fifo(FifoParams::Bytes(limit)) => json!({ "limit_bytes": limit }),
        QdiscConfig::PfifoFast(p) => json!({ "limit": p.limit, "limit_per_band": p.limit_per_band }),
        QdiscConfig::Codel(p) => resolved::<Codel, _>(p).into(),
        QdiscConfig::FqCodel(p) => resolved::<FqCodel, _>(p).into(),
        QdiscConfig::Pie(p) => resolved::<Pie, _>(p).into(),
        QdiscConfig::Fq(p) => resolved::<Fq, _>(p).into(),
        QdiscConfig::Cake(p) => Cake::resolved(p).into(),
        QdiscConfig::Sfq(p) => resolved::<Sfq, _>(p).into(),
        QdiscConfig::Htb(p) => resolved::<Htb, _>(p).into(),
        QdiscConfig::Tbf(p) => Tbf::resolved(p).into(),
        QdiscConfig::Netem(p, _) => resolved::<Netem, _>(p).into(),
    };
    // Parameters without a key, and children.
    match config {
        QdiscConfig::Codel(p) => shown["codel"]["mtu_bytes"] = p.codel.mtu.into(),
        QdiscConfig::FqCodel(p) => {
            shown["codel"]["mtu_bytes"] = p.codel.mtu.into();
            shown["overlimit_raises_count"] = p.overlimit_raises_count.into();
        }
        QdiscConfig::Pie(p) => shown["mtu_bytes"] = p.pie.mtu.into(),
        QdiscConfig::Htb(HtbParams { child, .. }) | QdiscConfig::Tbf(TbfParams { child, .. }) => {
            shown["child"] = qdisc(child);
        }
        QdiscConfig::Netem(_, child) => shown["child"] = child.as_deref().map(qdisc).into(),
        _ => {}
    }
    shown["kind"] = config.kind().into();
    shown
}
