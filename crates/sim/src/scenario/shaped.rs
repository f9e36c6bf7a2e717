//! Traffic that a queueing discipline lets through.

use stillair_model::qdisc::QdiscConfig;
use stillair_model::types::Rate;

/// Returns the rate that a qdisc shapes to, in bit/s.
pub(super) fn shaped(config: &QdiscConfig) -> Option<u64> {
    match config {
        QdiscConfig::Cake(p) => p.bandwidth.map(Rate::bps),
        QdiscConfig::Htb(p) => Some(p.rate.bps()),
        QdiscConfig::Tbf(p) => Some(p.rate.bps()),
        QdiscConfig::Netem(p, child) => p.rate.map(Rate::bps).or_else(|| shaped(child.as_deref()?)),
        _ => None,
    }
}
