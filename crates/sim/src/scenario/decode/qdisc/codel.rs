//! The options of codel.

use stillair_model::qdisc::codel::CodelQdiscParams;

use super::super::super::contract::{Form, Key};
use super::super::super::error::Fault;
use super::super::super::reader::Section;

pub(super) const OPTIONS: &[Key] = &[
    Key::or("limit", Form::Integer(1, 1_000_000), "1000", "most packets"),
    Key::or("target", Form::Period, "5 ms", "sojourn time that is acceptable"),
    Key::or("interval", Form::Period, "100 ms", "how long it may be exceeded"),
    Key::or("ecn", Form::Boolean, "false", "packets that allow it are marked"),
];

/// Reads the options.
pub(super) fn read(section: Option<&mut Section<'_>>) -> Result<CodelQdiscParams, Fault> {
    let mut p = CodelQdiscParams::default();
    let Some(section) = section else { return Ok(p) };
    p.limit = section.or("limit", p.limit)?;
    p.codel.target = section.or("target", p.codel.target)?;
    p.codel.interval = section.or("interval", p.codel.interval)?;
    p.codel.ecn = section.or("ecn", p.codel.ecn)?;
    Ok(p)
}
