//! Queueing disciplines, with every parameter.

use serde_json::{Value, json};
use stillair_model::aqm::codel::CodelParams;
use stillair_model::qdisc::QdiscConfig;
use stillair_model::qdisc::fifo::FifoParams;
use stillair_model::qdisc::netem::{Chance, Share};
use stillair_model::vocabulary::Rate;

use super::super::spec::cake::Cake;
use super::custom::part;

/// Parameters of CoDel.
pub(super) fn codel(p: &CodelParams) -> Value {
    json!({ "target_ns": p.target.nanos(), "interval_ns": p.interval.nanos(), "ecn": p.ecn, "mtu_bytes": p.mtu })
}

/// A discipline with those inside it.
pub(super) fn qdisc(config: &QdiscConfig) -> Value {
    match config {
        QdiscConfig::Noqueue => json!({ "kind": "noqueue" }),
        QdiscConfig::Custom(own) => part(own),
        QdiscConfig::Law(p) => json!({ "kind": config.kind(), "limit": p.limit, "law": part(&p.law) }),
        QdiscConfig::FqLaw(p) => json!({
            "kind": config.kind(),
            "limit": p.limit,
            "flows": p.flows,
            "quantum_bytes": p.quantum,
            "memory_limit_bytes": p.memory_limit,
            "drop_batch": p.drop_batch,
            "law": part(&p.law),
        }),
        QdiscConfig::Fifo(p) => match p {
            FifoParams::Packets(limit) => json!({ "kind": p.name(), "limit": limit }),
            FifoParams::Bytes(limit) => json!({ "kind": p.name(), "limit_bytes": limit }),
        },
        QdiscConfig::PfifoFast(p) => {
            json!({ "kind": "pfifo_fast", "limit": p.limit, "limit_per_band": p.limit_per_band })
        }
        QdiscConfig::Codel(p) => json!({ "kind": "codel", "limit": p.limit, "codel": codel(&p.codel) }),
        QdiscConfig::FqCodel(p) => json!({
            "kind": "fq_codel",
            "limit": p.limit,
            "flows": p.flows,
            "quantum_bytes": p.quantum,
            "memory_limit_bytes": p.memory_limit,
            "drop_batch": p.drop_batch,
            "overlimit_raises_count": p.overlimit_raises_count,
            "codel": codel(&p.codel),
        }),
        QdiscConfig::Pie(p) => json!({
            "kind": "pie",
            "limit": p.limit,
            "target_ns": p.pie.target.nanos(),
            "tupdate_ns": p.tupdate.nanos(),
            "alpha": p.pie.alpha,
            "beta": p.pie.beta,
            "ecn": p.pie.ecn,
            "bytemode": p.pie.bytemode,
            "dq_rate_estimator": p.pie.dq_rate_estimator,
            "mtu_bytes": p.pie.mtu,
        }),
        QdiscConfig::Fq(p) => json!({
            "kind": "fq",
            "limit": p.limit,
            "flow_limit": p.flow_limit,
            "quantum_bytes": p.quantum,
            "initial_quantum_bytes": p.initial_quantum,
            "maxrate_bps": p.maxrate.map(Rate::bps),
            "buckets": p.buckets,
            "orphan_mask": p.orphan_mask,
            "pacing": p.pacing,
            "refill_delay_ns": p.refill_delay.nanos(),
            "low_rate_threshold_bps": p.low_rate_threshold.bps(),
            "ce_threshold_ns": p.ce_threshold.nanos(),
            "timer_slack_ns": p.timer_slack.nanos(),
            "horizon_ns": p.horizon.nanos(),
            "horizon_drop": p.horizon_drop,
        }),
        QdiscConfig::Cake(p) => Cake::resolved(p).into(),
        QdiscConfig::Sfq(p) => json!({
            "kind": "sfq",
            "limit": p.limit,
            "quantum_bytes": p.quantum,
            "depth": p.depth,
            "flows": p.flows,
            "divisor": p.divisor,
            "perturb_ns": p.perturb.nanos(),
            "headdrop": p.headdrop,
        }),
        QdiscConfig::Htb(p) => json!({
            "kind": "htb",
            "rate_bps": p.rate.bps(),
            "ceil_bps": p.ceil.bps(),
            "burst_bytes": p.burst,
            "cburst_bytes": p.cburst,
            "child": qdisc(&p.child),
        }),
        QdiscConfig::Tbf(p) => json!({
            "kind": "tbf",
            "rate_bps": p.rate.bps(),
            "burst_bytes": p.burst,
            "peakrate_bps": p.peak.map(|peak| peak.rate.bps()),
            "mtu_bytes": p.peak.map(|peak| peak.mtu),
            "child": qdisc(&p.child),
        }),
        QdiscConfig::Netem(p, child) => json!({
            "kind": "netem",
            "limit": p.limit,
            "delay_ns": p.delay.nanos(),
            "jitter_ns": p.jitter.nanos(),
            "delay_correlation": share(p.delay_correlation),
            "loss": chance(&p.loss),
            "duplicate": chance(&p.duplicate),
            "reorder": chance(&p.reorder),
            "gap": p.gap,
            "rate_bps": p.rate.map(Rate::bps),
            "child": child.as_ref().map(|child| qdisc(child)),
        }),
    }
}

fn chance(c: &Chance) -> Value {
    json!({ "probability": share(c.share), "correlation": share(c.correlation) })
}

fn share(s: Share) -> f64 {
    f64::from(s.0) / f64::from(u32::MAX)
}
