//! `[record]`: what is recorded beyond the summary.

use stillair_model::vocabulary::Duration;

use super::super::contract::{Form, Key, Shape};
use super::super::document::Value;
use super::super::error::Fault;
use super::super::reader::{Field, Section};
use super::super::{Flow, FlowKind, Record, Stretch, units};

static SAMPLE: Shape = Shape {
    title: "Sojourn of a sample",
    about: "Not all packets are followed.",
    groups: &[&[Key::need("sample", Form::Integer(1, 1_000_000), "one packet in this many is followed")]],
};

pub(super) static SHAPE: Shape = Shape {
    title: "Record",
    about: "What is recorded beyond the summary.",
    groups: &[&[
        Key::open(
            "ss",
            Form::Period,
            "no samples",
            "time between samples of every TCP sender's state, as `ss -tim` shows it",
        ),
        Key::open(
            "queues",
            Form::Period,
            "no samples",
            "time between samples of the backlog in each layer of each interface: sockets, qdisc, driver, hardware, wire",
        ),
        Key::open(
            "tc",
            Form::Period,
            "no samples",
            "time between samples of the queueing discipline of each interface of a guest, as `tc -s qdisc` shows it",
        ),
        Key::open(
            "nstat",
            Form::Period,
            "no samples",
            "time between samples of the counters of each guest's protocols, as `nstat -az` shows them",
        ),
        Key::or(
            "quic",
            Form::Boolean,
            "false",
            "every datagram of QUIC connections as a capture at its sender sees it, and the window with each acknowledgement",
        ),
        Key::open(
            "air",
            Form::Written {
                words: "two times such as `10 s..10.2 s`",
                pattern: r"^[0-9.]+ ?[a-z]+ ?\.\. ?[0-9.]+ ?[a-z]+$",
                examples: &["0 s..1 s", "10 s..10.2 s"],
            },
            "no exchange",
            "part of the run in which every exchange on the air is recorded, for `--plot airtime-timeline`",
        ),
        Key::or(
            "sojourn",
            Form::Either(&[Form::Boolean, Form::Table(&SAMPLE)]),
            "false",
            "where packets spent their delay, by layer and cause: for every packet (`true`), or for one in N",
        ),
    ]],
};

/// Most samples of sockets in a run, each of one sender at one instant: they stay in memory until its end, and are some
/// 150 bytes each and as much again as text.
const SOCKETS: u64 = 4_000_000;

/// Most samples of queues in a run, each of all layers of one interface at one instant, of some 100 bytes.
const QUEUES: u64 = 10_000_000;

/// Most samples of guests' counters in a run, which a guest writes as text.
const GUESTS: u64 = 200_000;

/// Reads the table of a run of length `end` with these flows and so many interfaces.
pub(super) fn read(
    field: &Field<'_>,
    flows: &[Flow],
    interfaces: usize,
    guests: usize,
    end: Duration,
) -> Result<Record, Fault> {
    let mut section = field.section("a table")?;
    let senders = flows.iter().filter(|flow| matches!(flow.kind, FlowKind::Tcp { .. }));
    let senders: usize = senders.map(|flow| flow.to.len()).sum();
    let sampled = |section: &mut Section<'_>, key, what: usize, names, most| {
        let one = |field: Field<'_>| {
            let interval: Duration = field.value()?;
            let samples = (end.nanos() / interval.nanos()).saturating_mul(what as u64);
            if samples <= most {
                return Ok(interval);
            }
            Err(field.found(format!("{samples} samples of {names}"), format!("at most {most} in a run")))
        };
        section.get(key).map(one).transpose()
    };
    let ss = sampled(&mut section, "ss", senders, "TCP senders", SOCKETS)?;
    let queues = sampled(&mut section, "queues", interfaces, "interfaces", QUEUES)?;
    for key in ["tc", "nstat"] {
        if guests == 0 {
            section.idle(
                key,
                "without a guest",
                "a node with host = { kind = \"uml\", kernel = \"6.12\" }; the model has queues instead",
            )?;
        }
    }
    let tc = sampled(&mut section, "tc", guests, "guests", GUESTS)?;
    let nstat = sampled(&mut section, "nstat", guests, "guests", GUESTS)?;
    let quic = section.or("quic", false)?;
    if quic && !flows.iter().any(|flow| matches!(flow.kind, FlowKind::Quic(_))) {
        section.idle("quic", "without a flow of kind quic", "no quic, or such a flow")?;
    }
    let air = section.get("air").map(|field| stretch(&field, end)).transpose()?;
    let sojourn = section.or_by("sojourn", None, sample)?;
    section.finish()?;
    Ok(Record { ss, queues, tc, nstat, quic, air, sojourn })
}

/// One packet of so many is followed, if any is.
fn sample(field: &Field<'_>) -> Result<Option<u64>, Fault> {
    match field.item.value {
        Value::Boolean(all) => Ok(all.then_some(1)),
        Value::Table(_) => {
            let mut section = field.section("a table")?;
            let every = section.need("sample", "a number of packets")?.value()?;
            section.finish()?;
            Ok(Some(every))
        }
        _ => Err(field.wrong("true, false, or a table such as { sample = 100 }")),
    }
}

/// Two times, the second after the first, of which a run of length `end` has something.
fn stretch(field: &Field<'_>, end: Duration) -> Result<Stretch, Fault> {
    let expected = "two times such as \"10 s..10.2 s\", the second after the first";
    let ends = field.text(expected)?.split_once("..");
    let read = |text: &str| units::duration(text.trim()).ok();
    match ends.and_then(|(from, until)| Some(Stretch { from: read(from)?, until: read(until)? })) {
        Some(stretch) if stretch.from < stretch.until && stretch.from < end => Ok(stretch),
        Some(stretch) if stretch.from < stretch.until => {
            Err(field.wrong("a stretch that begins before the end of the run"))
        }
        _ => Err(field.wrong(expected)),
    }
}
