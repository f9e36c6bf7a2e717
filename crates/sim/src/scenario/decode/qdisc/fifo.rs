//! The options of pfifo and bfifo.

use stillair_model::qdisc::fifo::FifoParams;

use super::super::super::contract::{Form, Key};
use super::super::super::error::Fault;
use super::super::super::reader::Section;

/// Bytes that a full packet needs in a bfifo.
// deviation: a smaller limit is refused - a queue that takes no full packet is a mistake, which tc does not catch.
pub(super) const MIN_BFIFO: u32 = 1514;

pub(super) const PFIFO: &[Key] =
    &[Key::open("limit", Form::Integer(1, 1_000_000), "the interface's `txqueuelen`", "most packets")];

pub(super) const BFIFO: &[Key] = &[Key::open(
    "limit",
    Form::Bytes(MIN_BFIFO, 1 << 30),
    "as many full packets as the interface's `txqueuelen`",
    "most bytes",
)];

/// Reads the options of either.
pub(super) fn read(
    section: Option<&mut Section<'_>>,
    kind: &str,
    txqueuelen: u32,
) -> Result<FifoParams, Fault> {
    let default = if kind == "pfifo" { FifoParams::pfifo(txqueuelen) } else { FifoParams::bfifo(txqueuelen) };
    let Some(section) = section else { return Ok(default) };
    Ok(match default {
        FifoParams::Packets(limit) => FifoParams::Packets(section.or("limit", limit)?),
        FifoParams::Bytes(limit) => FifoParams::Bytes(section.or("limit", limit)?),
    })
}
