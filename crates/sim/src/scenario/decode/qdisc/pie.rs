//! The options of pie.

use stillair_model::qdisc::pie::PieQdiscParams;

use super::super::super::contract::{Form, Key};
use super::super::super::error::Fault;
use super::super::super::reader::Section;

pub(super) const OPTIONS: &[Key] = &[
    Key::or("limit", Form::Integer(1, 1_000_000), "1000", "most packets"),
    Key::open("target", Form::Period, "15 ms, before 5.1 20 ms", "delay that is aimed at"),
    Key::open(
        "tupdate",
        Form::Period,
        "15 ms, before 5.1 30 ms",
        "how often the probability is set anew, in whole ticks of the kernel",
    ),
    Key::or("alpha", Form::Integer(0, 32), "2", "weight of the distance from the target, in sixteenths"),
    Key::or("beta", Form::Integer(0, 32), "20", "weight of the change of the delay, in sixteenths"),
    Key::or(
        "ecn",
        Form::Boolean,
        "false",
        "packets that allow it are marked while the probability is below a tenth",
    ),
    Key::or("bytemode", Form::Boolean, "false", "smaller packets are dropped more rarely"),
    Key::open(
        "dq_rate_estimator",
        Form::Boolean,
        "false, before 5.5 true",
        "the delay follows from the drain rate instead of the packets' time in the queue",
    ),
];

/// Reads the options, for a kernel with such defaults and so many ticks a second.
pub(super) fn read(
    section: Option<&mut Section<'_>>,
    defaults: PieQdiscParams,
    hz: u32,
) -> Result<PieQdiscParams, Fault> {
    let mut p = defaults;
    let Some(section) = section else { return Ok(p) };
    p.limit = section.or("limit", p.limit)?;
    p.tupdate = PieQdiscParams::in_ticks(section.or("tupdate", p.tupdate)?, hz);
    p.pie.target = section.or("target", p.pie.target)?;
    p.pie.alpha = section.or("alpha", p.pie.alpha)?;
    p.pie.beta = section.or("beta", p.pie.beta)?;
    p.pie.ecn = section.or("ecn", p.pie.ecn)?;
    p.pie.bytemode = section.or("bytemode", p.pie.bytemode)?;
    p.pie.dq_rate_estimator = section.or("dq_rate_estimator", p.pie.dq_rate_estimator)?;
    Ok(p)
}
