//! Neighbouring networks as load: channel, airtime and frames.

use stillair_model::types::Duration;

use super::super::description::{Key, TableSchema, ValueType};
use super::super::document::Value;
use super::super::error::Diagnostic;
use super::super::reader::Field;
use super::super::{Attachment, Channel, NeighbourLoad, Node, ShareFormat, ShareOfTime};
use super::{Names, refer};

static STEP: TableSchema = TableSchema {
    title: "Change of a load",
    about: "The load from a time on.",
    groups: &[&[
        Key::need(
            "at",
            ValueType::Period,
            "when it changes, after the one before and before the end of the run",
        ),
        Key::need("load", ValueType::Fraction, "the new value"),
    ]],
};
static STEP_OR_FIRST: ValueType = ValueType::Either(&[ValueType::Fraction, ValueType::Table(&STEP)]);

static SHARES: TableSchema = TableSchema {
    title: "Load from lines of shares",
    about: "Lines of time in s and share of time: `0.5, 0.25`. The first is at 0 s, the last holds for good; `t_s,busy` may stand above them.",
    groups: &[&[
        Key::tag("kind", "shares"),
        Key::need("file", ValueType::Text, "file name, relative to the scenario's folder"),
    ]],
};

static SURVEY: TableSchema = TableSchema {
    title: "Load from a survey",
    about: "What `iw dev wlan0 survey dump` printed, at least twice, one after the other: of the channel in use, the growth of busy time but for \
            transmit time over that of active time; the last share holds for good.",
    groups: &[&[
        Key::tag("kind", "survey"),
        Key::need("file", ValueType::Text, "file name, relative to the scenario's folder"),
    ]],
};

static FILES: ValueType = ValueType::Kinds { shapes: &[&SHARES, &SURVEY], bare: false };
const LOAD: ValueType = ValueType::Either(&[
    ValueType::Fraction,
    ValueType::List(&STEP_OR_FIRST),
    ValueType::Kinds { shapes: &[&SHARES, &SURVEY], bare: false },
]);

static NEIGHBOUR: TableSchema = TableSchema {
    title: "Neighbour",
    about: "A neighbouring network as load: its senders contend as stations with best effort do, everybody hears them, and their frames are in no \
            capture. What it asks for is what it gets while there is room; with 1 it sends without end.",
    groups: &[&[
        Key::need("channel", ValueType::Name("channel"), "the channel that it is on"),
        Key::need(
            "load",
            LOAD,
            "share of time that its PPDUs and their acknowledgements take; a list starts with a value and continues with changes",
        ),
        Key::need("frame", FRAME, "how long each PPDU lasts"),
        Key::or("senders", ValueType::Integer(1, 64), "1", "stations that send, by turns at random"),
        // 1000 packets, txqueuelen's default, in aggregates of 32.
        Key::or(
            "queue",
            ValueType::Integer(1, 100_000),
            "32",
            "maximum number of PPDUs that wait at each sender; further ones are not sent",
        ),
    ]],
};

// spec: ieee80211-2016 10.22.2.9 and table 19-25 - aPPDUMaxTime, 5.484 ms; an acknowledgement at 54 Mbit/s
// lasts 24 us.
const FRAME: ValueType = ValueType::Times {
    least: "24 us",
    most: Some("5.484 ms"),
    why: "an ACK at 54 Mbit/s to the longest PPDU of HT",
};

pub(super) const TYPE: ValueType = ValueType::Named("neighbour", &ValueType::Table(&NEIGHBOUR));

/// Puts the neighbours into their channels.
pub(super) fn read(
    field: &Field<'_>,
    names: &Names<'_>,
    nodes: &[Node],
    channels: &mut [Channel],
    end: Duration,
) -> Result<(), Diagnostic> {
    for (name, field) in field.named("neighbour")? {
        let mut section = field.section("a table with channel, load and frame")?;
        let at = section.need("channel", "the name of a channel")?;
        let channel = refer(&at, &names.channels)?;
        let load = load(&section.need("load", "a share of time from 0 to 1")?, end)?;
        let frame = section.need("frame", "how long each PPDU lasts")?.value()?;
        let senders = section.or("senders", 1)?;
        let queue = section.or("queue", 32)?;
        section.finish()?;
        let here = |node: &Node| {
            let on =
                |medium: &Attachment| matches!(medium, Attachment::Wifi(wifi) if wifi.channel == channel);
            node.interfaces.iter().any(|i| on(&i.medium))
        };
        if !nodes.iter().any(here) {
            return Err(at.found("a channel that no node is on", "one with a node"));
        }
        if channels[channel].capture.is_some() {
            return Err(at.found(
                "a neighbour on a channel with capture, where it is not known how loud its frames are",
                "capture = \"off\", or no neighbour",
            ));
        }
        let neighbour = NeighbourLoad { name: name.to_owned(), load, senders, frame, queue };
        channels[channel].neighbours.push(neighbour);
    }
    Ok(())
}

fn load(field: &Field<'_>, end: Duration) -> Result<ShareOfTime, Diagnostic> {
    if let Value::Table(_) = field.item.value {
        let field = Field { form: &FILES, ..field.clone() };
        let (kind, mut section) = field.kind_table("a table with kind and file")?;
        let file = section.need("file", "the name of a file")?.text("the name of a file")?.to_owned();
        section.finish()?;
        let format = if kind == "survey" { ShareFormat::Survey } else { ShareFormat::Shares };
        return Ok(ShareOfTime { file: Some((file, format)), steps: Vec::new() });
    }
    let all = field.list();
    let Some((first, changes)) = all.split_first() else {
        return Err(field.wrong("a share of time from 0 to 1, or a list that begins with one"));
    };
    let mut steps = vec![(Duration::ZERO, first.value()?)];
    for change in changes {
        let mut section = change.section("a table with at and load")?;
        let at = section.need("at", "when it changes")?;
        let when: Duration = at.value()?;
        if when <= steps[steps.len() - 1].0 || when >= end {
            return Err(at.wrong("a time after that of the change before, and before the end of the run"));
        }
        steps.push((when, section.need("load", "the new value")?.value()?));
        section.finish()?;
    }
    Ok(ShareOfTime { file: None, steps })
}
