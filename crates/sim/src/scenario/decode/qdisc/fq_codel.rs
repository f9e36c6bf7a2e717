//! The options of fq_codel.

use stillair_model::qdisc::fq_codel::FqCodelParams;

use super::super::super::contract::{Form, Key};
use super::super::super::error::Fault;
use super::super::super::reader::Section;

/// Bytes that a flow may send in a round at least.
// linux: net/sched/sch_fq_codel.c fq_codel_change (4.6) - a quantum below 256 is raised to it (recalled).
// deviation: refused - a value that is not used should not be in a scenario.
pub(in super::super) const MIN_QUANTUM: u32 = 256;

pub(super) const OPTIONS: &[Key] = &[
    Key::or("limit", Form::Integer(1, 1_000_000), "10240", "most packets"),
    Key::or("flows", Form::Integer(1, 65_536), "1024", "flow queues"),
    Key::or("quantum", Form::Bytes(MIN_QUANTUM, 1 << 20), "1514 B", "bytes that a flow may send in a round"),
    Key::open("memory_limit", Form::Bytes(4096, 1 << 30), "the kernel's", "most bytes of truesize"),
    Key::open(
        "drop_batch",
        Form::Integer(1, 1_000_000),
        "the kernel's",
        "packets dropped at once when over a limit",
    ),
    Key::or("target", Form::Period, "5 ms", "CoDel's target"),
    Key::or("interval", Form::Period, "100 ms", "CoDel's interval"),
    Key::or("ecn", Form::Boolean, "true", "CoDel marks packets that allow it"),
];

/// Reads the options; the kernel's defaults are given.
pub(super) fn read(section: Option<&mut Section<'_>>, mut p: FqCodelParams) -> Result<FqCodelParams, Fault> {
    let Some(section) = section else { return Ok(p) };
    p.limit = section.or("limit", p.limit)?;
    p.flows = section.or("flows", p.flows)?;
    p.quantum = section.or("quantum", p.quantum)?;
    p.memory_limit = section.or("memory_limit", p.memory_limit)?;
    p.drop_batch = section.or("drop_batch", p.drop_batch)?;
    p.codel.target = section.or("target", p.codel.target)?;
    p.codel.interval = section.or("interval", p.codel.interval)?;
    p.codel.ecn = section.or("ecn", p.codel.ecn)?;
    Ok(p)
}
