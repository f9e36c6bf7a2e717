//! Queueing disciplines, with every parameter.

use serde_json::{Value, json};
use stillair_model::aqm::codel::CodelParams;
use stillair_model::qdisc::QdiscConfig;
use stillair_model::qdisc::fifo::FifoParams;

use super::super::spec::qdisc::cake::Cake;
use super::super::spec::qdisc::codel::Codel;
use super::super::spec::qdisc::fq::Fq;
use super::super::spec::qdisc::fq_codel::FqCodel;
use super::super::spec::qdisc::htb::Htb;
use super::super::spec::qdisc::netem::Netem;
use super::super::spec::qdisc::pie::Pie;
use super::super::spec::qdisc::sfq::Sfq;
use super::super::spec::qdisc::tbf::Tbf;
use super::super::spec::{Object, resolved};
use super::custom::part;

/// Parameters of CoDel.
pub(super) fn codel(p: &CodelParams) -> Value {
    json!({ "target_ns": p.target.nanos(), "interval_ns": p.interval.nanos(), "ecn": p.ecn, "mtu_bytes": p.mtu })
}

/// A discipline with those inside it.
pub(super) fn qdisc(config: &QdiscConfig) -> Value {
    let with_child = |mut keys: Object, child: Option<&QdiscConfig>| {
        keys.insert("child".to_owned(), child.map_or(Value::Null, qdisc));
        keys.into()
    };
    let mut shown: Value = match config {
        QdiscConfig::Noqueue => json!({}),
        QdiscConfig::Custom(own) => part(own),
        QdiscConfig::Law(p) => json!({ "limit": p.limit, "law": part(&p.law) }),
        QdiscConfig::FqLaw(p) => json!({
            "limit": p.limit,
            "flows": p.flows,
            "quantum_bytes": p.quantum,
            "memory_limit_bytes": p.memory_limit,
            "drop_batch": p.drop_batch,
            "law": part(&p.law),
        }),
        QdiscConfig::Fifo(FifoParams::Packets(limit)) => json!({ "limit": limit }),
        QdiscConfig::Fifo(FifoParams::Bytes(limit)) => json!({ "limit_bytes": limit }),
        QdiscConfig::PfifoFast(p) => json!({ "limit": p.limit, "limit_per_band": p.limit_per_band }),
        QdiscConfig::Codel(p) => Codel::resolved(p).into(),
        QdiscConfig::FqCodel(p) => FqCodel::resolved(p).into(),
        QdiscConfig::Pie(p) => Pie::resolved(p).into(),
        QdiscConfig::Fq(p) => resolved::<Fq, _>(p).into(),
        QdiscConfig::Cake(p) => Cake::resolved(p).into(),
        QdiscConfig::Sfq(p) => resolved::<Sfq, _>(p).into(),
        QdiscConfig::Htb(p) => with_child(resolved::<Htb, _>(p), Some(&p.child)),
        QdiscConfig::Tbf(p) => with_child(Tbf::resolved(p), Some(&p.child)),
        QdiscConfig::Netem(p, child) => with_child(resolved::<Netem, _>(p), child.as_deref()),
    };
    shown["kind"] = config.kind().into();
    shown
}
