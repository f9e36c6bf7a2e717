//! `[record]`: recordings beyond the summary.

use serde_json::{Value as Json, json};
use stillair_scenario_derive::Section;

use super::super::description::{self, TableSchema, ValueType};
use super::super::document::Value;
use super::super::error::{Diagnostic, Diagnostics};
use super::super::reader::Field;
use super::super::{Record, Stretch, units};
use super::domain::{Flag, Period};
use super::{Domain, Key, Resolved};

/// Options of the recordings.
#[derive(Section, Clone, Debug, Default)]
#[section(params = Record, base = Record::default())]
pub struct Options {
    /// time between samples of every TCP sender's state, as `ss -tim` shows it
    #[key(to = ss, or = "no samples")]
    pub ss: Key<Period>,
    /// time between samples of the backlog in each layer of each interface: sockets, qdisc, driver, hardware,
    /// wire
    #[key(to = queues, or = "no samples")]
    pub queues: Key<Period>,
    /// time between samples of the queueing discipline of each interface of a guest, as `tc -s qdisc` shows
    /// it
    #[key(to = tc, quiet, or = "no samples")]
    pub tc: Key<Period>,
    /// time between samples of the counters of each guest's protocols, as `nstat -az` shows them
    #[key(to = nstat, quiet, or = "no samples")]
    pub nstat: Key<Period>,
    /// every datagram of QUIC connections as a capture at its sender sees it, and the window with each
    /// acknowledgement
    #[key(to = quic)]
    pub quic: Key<Flag>,
    /// part of the run in which every exchange on the air is recorded, for `--plot airtime-timeline`
    #[key(to = air, or = "no exchange")]
    pub air: Key<Stretch>,
    /// where packets spent their delay, by layer and cause: for every packet (`true`), or for one in N
    #[key(to = sojourn, quiet)]
    pub sojourn: Key<Sojourn>,
}

const STRETCH: &str = "two times such as \"10 s..10.2 s\", the second after the first";

impl Domain for Stretch {
    type Value = Self;
    const TYPE: ValueType = ValueType::Written {
        words: "two times such as `10 s..10.2 s`",
        pattern: r"^[0-9.]+ ?[a-z]+ ?\.\. ?[0-9.]+ ?[a-z]+$",
        examples: &["0 s..1 s", "10 s..10.2 s"],
    };
    const UNIT: &'static str = "_ns";

    fn read(field: &Field<'_>, _: &mut Diagnostics) -> Result<Self, Diagnostic> {
        let time = |text: &str| units::duration(text.trim()).ok();
        let ends = field.text(STRETCH)?.split_once("..");
        let read = ends.and_then(|(from, until)| Some(Self { from: time(from)?, until: time(until)? }));
        read.filter(|stretch| stretch.from < stretch.until).ok_or_else(|| field.wrong(STRETCH))
    }

    fn written(value: &Self) -> Value {
        Value::String(units::range_text(value.from, value.until))
    }
}

impl Resolved for Stretch {
    fn json(&self) -> Json {
        json!([self.from.nanos(), self.until.nanos()])
    }
}

/// Sampling of packet delays: one packet in this many, or none.
pub struct Sojourn;

static SAMPLE: TableSchema = TableSchema {
    title: "Sojourn of a sample",
    about: "Not all packets are followed.",
    groups: &[&[description::Key::need(
        "sample",
        ValueType::Integer(1, 1_000_000),
        "one packet in this many is followed",
    )]],
};

impl Domain for Sojourn {
    type Value = Option<u64>;
    const TYPE: ValueType = ValueType::Either(&[ValueType::Boolean, ValueType::Table(&SAMPLE)]);
    const UNIT: &'static str = "_sample";

    fn read(field: &Field<'_>, _: &mut Diagnostics) -> Result<Option<u64>, Diagnostic> {
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

    fn written(value: &Option<u64>) -> Value {
        match value {
            Some(1) | None => Value::Boolean(value.is_some()),
            Some(every) => {
                let every = i64::try_from(*every).expect("it is at most a million");
                Value::Table(super::Table(vec![("sample".to_owned(), super::item(Value::Integer(every)))]))
            }
        }
    }
}
