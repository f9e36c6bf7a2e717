//! The options of fq.

use stillair_model::qdisc::fq::FqParams;

use super::super::super::contract::{Form, Key};
use super::super::super::error::Fault;
use super::super::super::reader::Section;

/// Most heads of lists.
// linux: net/sched/sch_fq.c fq_change (6.1).
const MAX_BUCKETS: i64 = 1 << 18;

pub(super) const OPTIONS: &[Key] = &[
    Key::or("limit", Form::Integer(1, 1_000_000), "10000", "most packets"),
    Key::or("flow_limit", Form::Integer(1, 1_000_000), "100", "most packets of a flow"),
    Key::or("quantum", Form::Bytes(1, 1 << 20), "3028 B", "bytes that a flow may send in a round"),
    Key::or("initial_quantum", Form::Bytes(0, 1 << 30), "15140 B", "bytes that a new flow may send first"),
    Key::open("maxrate", Form::Rate, "none", "most that a flow may send"),
    Key::or(
        "buckets",
        Form::Integer(2, MAX_BUCKETS),
        "1024",
        "lists by which flows are found, a power of two",
    ),
    Key::or(
        "orphan_mask",
        Form::Integer(0, u32::MAX as i64),
        "1023",
        "bits of the hash that distinguish flows without a local TCP socket",
    ),
    Key::or("pacing", Form::Boolean, "true", "fq paces TCP, and `maxrate` applies"),
    Key::or("refill_delay", Form::Time, "40 ms", "a flow idle for longer gets its initial quantum again"),
    Key::or(
        "low_rate_threshold",
        Form::Rate,
        "550 kbit/s",
        "a flow paced below this rate gives up its turn after each packet",
    ),
    Key::open("ce_threshold", Form::Time, "never", "packets that leave this late are ECN-marked"),
    Key::or("timer_slack", Form::Time, "10 us", "how late its timer may be"),
    Key::or("horizon", Form::Time, "10 s", "how far in the future a departure may be"),
    Key::or(
        "horizon_drop",
        Form::Boolean,
        "true",
        "packets due later than the horizon are dropped, instead of leaving at the horizon",
    ),
];

/// Reads the options.
pub(super) fn read(section: Option<&mut Section<'_>>) -> Result<FqParams, Fault> {
    let mut p = FqParams::default();
    let Some(section) = section else { return Ok(p) };
    p.limit = section.or("limit", p.limit)?;
    p.flow_limit = section.or("flow_limit", p.flow_limit)?;
    p.quantum = section.or("quantum", p.quantum)?;
    p.initial_quantum = section.or("initial_quantum", p.initial_quantum)?;
    p.maxrate = section.find("maxrate")?;
    p.buckets = section.or_by("buckets", p.buckets, super::power_of_two)?;
    p.orphan_mask = section.or("orphan_mask", p.orphan_mask)?;
    p.pacing = section.or("pacing", p.pacing)?;
    p.refill_delay = section.or("refill_delay", p.refill_delay)?;
    p.low_rate_threshold = section.or("low_rate_threshold", p.low_rate_threshold)?;
    p.ce_threshold = section.or("ce_threshold", p.ce_threshold)?;
    p.timer_slack = section.or("timer_slack", p.timer_slack)?;
    p.horizon = section.or("horizon", p.horizon)?;
    p.horizon_drop = section.or("horizon_drop", p.horizon_drop)?;
    Ok(p)
}
