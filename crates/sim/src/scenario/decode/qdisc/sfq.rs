//! The options of sfq.

use stillair_model::qdisc::sfq::SfqParams;

use super::super::super::contract::{Form, Key};
use super::super::super::error::Fault;
use super::super::super::reader::Section;

pub(super) const OPTIONS: &[Key] = &[
    Key::open("limit", Form::Integer(2, 1_000_000), "127", "most packets; not more than all flows may hold"),
    Key::or(
        "quantum",
        Form::Bytes(SfqParams::MIN_QUANTUM, 1 << 20),
        "1514 B",
        "bytes that a flow may send in a round",
    ),
    Key::or("depth", Form::Integer(1, SfqParams::MAX_DEPTH as i64), "127", "most packets of a flow"),
    Key::or(
        "flows",
        Form::Integer(1, SfqParams::MAX_FLOWS as i64),
        "128",
        "maximum number of flows with packets; at most `divisor` and `limit`, if given",
    ),
    Key::or(
        "divisor",
        Form::Integer(1, SfqParams::MAX_DIVISOR as i64),
        "1024",
        "number of hash values, a power of two",
    ),
    Key::or("perturb", Form::Time, "0 s", "how often the hash changes; 0 s: never"),
    Key::or("headdrop", Form::Boolean, "false", "the head of a queue is dropped instead of its tail"),
];

/// Reads the options.
// linux: net/sched/sch_sfq.c sfq_change (6.1) - an option that is given cuts those that follow from it.
pub(super) fn read(section: Option<&mut Section<'_>>) -> Result<SfqParams, Fault> {
    let mut p = SfqParams::default();
    let Some(section) = section else { return Ok(p) };
    p.quantum = section.or("quantum", p.quantum)?;
    p.flows = section.or("flows", p.flows)?;
    p.divisor = section.or_by("divisor", p.divisor, super::power_of_two)?;
    // More slots than values of the hash are never used.
    p.flows = p.flows.min(p.divisor);
    p.depth = section.or("depth", p.depth)?;
    p.perturb = section.or("perturb", p.perturb)?;
    p.headdrop = section.or("headdrop", p.headdrop)?;
    let limit: Option<u32> = section.find("limit")?;
    if let Some(limit) = limit {
        p.limit = limit.min(p.depth * p.flows);
        p.flows = p.flows.min(p.limit);
    }
    if p.limit < 2 {
        return Err(section.wrong("room for one packet", "a depth, flows and limit that leave room for two"));
    }
    Ok(p)
}
