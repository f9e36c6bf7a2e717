//! The trace of a station: a file with rate and loss over time.

use stillair_model::wifi::phy::{PhyRate, Width};

use super::super::description::{Key, TableSchema, ValueType};
use super::super::error::Diagnostic;
use super::super::reader::Section;
use super::super::{PathTrace, Rates, Station};
use super::rate;
use crate::trace_file::Format;

static RATES: TableSchema = TableSchema {
    title: "Trace of rates",
    about: "Lines of time in s, rate (`mcs3` takes width and guard interval from `rate`) and share of broken data frames: `0.5, mcs3, 0.1`. \
            The first is at 0 s, the last holds for good; `t_s,rate,error_rate` may stand above them.",
    groups: &[&[
        Key::tag("kind", "rates"),
        Key::need("file", ValueType::Text, "file name, relative to the scenario's folder"),
    ]],
};

static MAHIMAHI: TableSchema = TableSchema {
    title: "Trace of mahimahi",
    about: "Lines of times in ms at which 1504 bytes may leave. In each tenth of a second the rate is the fastest HT rate with the width, guard \
            interval and at most the streams of `rate` that carries no more, MCS 0 at least; where nothing may leave, nothing is heard.",
    groups: &[&[
        Key::tag("kind", "mahimahi"),
        Key::need("file", ValueType::Text, "file name, relative to the scenario's folder"),
        Key::or(
            "repeat",
            ValueType::Boolean,
            "true",
            "it begins anew when it is over, as in mahimahi; or its end holds for good",
        ),
    ]],
};

static THEATERQ: TableSchema = TableSchema {
    title: "Trace of TheaterQ",
    about: "Lines of how long, latency, rate, loss and limit, or of nine or ten fields. Of these, rate and loss count: the rate becomes an HT \
            rate as with mahimahi, or `rate` itself where it is -1 for no limit; where it is 0, nothing is heard. The loss is the share of broken \
            data frames.",
    groups: &[&[
        Key::tag("kind", "theaterq"),
        Key::need("file", ValueType::Text, "file name, relative to the scenario's folder"),
        Key::or(
            "repeat",
            ValueType::Boolean,
            "false",
            "it begins anew when it is over (`cont LOOP`); or its end holds for good (`cont HOLD`)",
        ),
    ]],
};

const KINDS: [(&str, Format); 3] =
    [("rates", Format::Rates), ("mahimahi", Format::Mahimahi), ("theaterq", Format::Theaterq)];

const TRACES: ValueType = ValueType::Kinds { shapes: &[&RATES, &MAHIMAHI, &THEATERQ], bare: false };

/// Keys of a station's interface.
pub(super) const KEYS: &[Key] = &[Key::open(
    "trace",
    TRACES,
    "none",
    "a file of rate and loss over time, in both directions, instead of `error_rate`, `snr` and `distance`; beside a fixed HT `rate`. A changed rate applies from the next PPDU on",
)];

/// Chances of loss that a trace has itself.
const LOSSES: [&str; 5] = ["snr", "distance", "error_rate", "ack_error_rate", "preamble_loss_rate"];

pub(super) fn read(
    section: &mut Section<'_>,
    station: &Station,
    width: Width,
) -> Result<Option<PathTrace>, Diagnostic> {
    let Some(field) = section.get("trace") else { return Ok(None) };
    if let Some(key) = LOSSES.into_iter().find(|key| section.has(key)) {
        return Err(field.found(format!("a trace beside {key}"), "one of them"));
    }
    if let Some(key) = rate::UPLINK.into_iter().find(|key| section.has(key)) {
        return Err(field.found(format!("a trace beside {key}"), "one of them"));
    }
    let base = match &station.rates {
        Rates::Fixed(chain) if matches!(chain.entries(), [one] if matches!(one.rate, PhyRate::Ht(_))) => {
            chain.entries()[0]
        }
        _ => return Err(field.found("a trace", "a fixed HT rate beside it, and no retry chain of several")),
    };
    let (kind, mut table) = field.kind_table("a table with kind and file")?;
    let format = KINDS.iter().find(|(name, _)| *name == kind).expect("every kind has a format").1;
    let file = table.need("file", "the name of a file")?.text("the name of a file")?.to_owned();
    let repeat = match format {
        Format::Rates => false,
        Format::Mahimahi => table.or("repeat", true)?,
        Format::Theaterq => table.or("repeat", false)?,
    };
    table.finish()?;
    Ok(Some(PathTrace { file, format, repeat, base, width, steps: Vec::new(), length: None }))
}
