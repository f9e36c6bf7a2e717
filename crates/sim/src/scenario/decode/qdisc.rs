//! An interface's qdisc: the one given, or the default of the device.

mod codel;
mod device;
mod fifo;
mod fq;
mod fq_codel;
mod htb;
mod netem;
mod pie;
mod sfq;
mod tbf;

use stillair_model::qdisc::QdiscConfig;
use stillair_model::qdisc::fq_law::FqLawParams;
use stillair_model::qdisc::law::LawParams;

use super::super::QdiscSpec;
use super::super::contract::{Family, Form, Key, Shape};
use super::super::custom;
use super::super::document::Value;
use super::super::error::{Fault, suggest};
use super::super::parts::Found;
use super::super::reader::{Field, Section};
use super::super::spec::{self, Section as _, cake};
pub(super) use device::DeviceQueue;

/// Packets that a queue with a user-defined law holds.
// linux: net/sched/sch_codel.c DEFAULT_CODEL_LIMIT (6.1) - codel's.
const LAW_LIMIT: u32 = 1_000;

/// What a burst may be.
pub(super) const BURST: Form = Form::Bytes(1, 1 << 30);

const MQ: &[Key] = &[Key::or(
    "mq",
    Form::Boolean,
    "true",
    "one instance for each access category instead of one for the device",
)];

/// The same for disciplines that stand for a whole device unless told otherwise.
const WHOLE: &[Key] = &[Key::or(
    "mq",
    Form::Boolean,
    "false",
    "one instance for each access category instead of one for the device",
)];

/// What may stand inside another discipline.
pub(super) static CHILD: Form = Form::Kinds { shapes: CHILDREN, bare: true };

/// Declares each discipline's table twice, for anywhere and for a Wi-Fi interface, and lists the tables by where they may stand.
macro_rules! disciplines {
    ($($name:ident: $kind:literal, $options:expr, $mq:expr, $about:literal;)*) => {
        $(
            static $name: [Shape; 2] = [
                Shape {
                    title: concat!("Qdisc ", $kind),
                    about: $about,
                    groups: &[&[Key::tag("kind", $kind)], $options],
                },
                Shape {
                    title: concat!("Qdisc ", $kind, " of a Wi-Fi interface"),
                    about: $about,
                    groups: &[&[Key::tag("kind", $kind)], $options, $mq],
                },
            ];
        )*

        /// What may stand inside another discipline. A static, as some of these may hold each other.
        static CHILDREN: &[&Shape] = &[$(&$name[0]),*];

        /// What the qdisc of a wired interface may be.
        pub(super) const WIRED: Form = Form::Part(
            Family::Qdisc,
            &Form::Kinds { shapes: &[$(&$name[0],)* &NOQUEUE], bare: true },
        );

        /// What the qdisc of a Wi-Fi interface may be.
        pub(super) const WIFI: Form = Form::Part(
            Family::WifiQdisc,
            &Form::Kinds { shapes: &[$(&$name[1],)* &NOQUEUE], bare: true },
        );
    };
}

disciplines! {
    PFIFO_FAST: "pfifo_fast", &[], MQ,
        "Three bands by the type of service; the interface's `txqueuelen` is the limit of each instance.";
    PFIFO: "pfifo", fifo::PFIFO, MQ, "One queue, limited in packets.";
    BFIFO: "bfifo", fifo::BFIFO, MQ, "One queue, limited in bytes.";
    CODEL: "codel", codel::OPTIONS, MQ, "One queue with CoDel, under the names that `tc` uses.";
    FQ_CODEL: "fq_codel", fq_codel::OPTIONS, MQ, "Under the names that `tc` uses.";
    CAKE: "cake", cake::Cake::KEYS, MQ,
        "Shaper, priorities, fair queueing and COBALT in one, under the names that `tc` uses.";
    SFQ: "sfq", sfq::OPTIONS, MQ, "Stochastic fairness queueing, under the names that `tc` uses.";
    HTB: "htb", htb::OPTIONS, WHOLE, "A token bucket; everything goes to its one class.";
    TBF: "tbf", tbf::OPTIONS, WHOLE, "One or two token buckets, under the names that `tc` uses.";
    FQ: "fq", fq::OPTIONS, MQ, "Fair queueing with departure times, under the names that `tc` uses.";
    PIE: "pie", pie::OPTIONS, MQ, "One queue with PIE before it, under the names that `tc` uses.";
    NETEM: "netem", netem::OPTIONS, WHOLE, "An emulated network.";
}

static NOQUEUE: Shape = Shape {
    title: "Qdisc noqueue",
    about: "None; only over a device that never stops its queue: where the MAC queues, and over a veth.",
    groups: &[&[Key::tag("kind", "noqueue")]],
};

/// Reads `qdisc`: a name, or a table of `kind` and tc's options.
pub(super) fn read(section: &mut Section<'_>, device: &DeviceQueue<'_>) -> Result<QdiscSpec, Fault> {
    let Some(field) = section.get("qdisc") else { return Ok(device.default_qdisc()) };
    if names_mq(&field.item.value) {
        return Err(field.found(
            "\"mq\"",
            match device.scheme {
                Some(_) => {
                    "the kind of its instances with mq = true, such as { kind = \"fq_codel\", mq = true }"
                }
                None => "the kind of its one instance: a wired device has one queue",
            },
        ));
    }
    let (kind, mut section) = field.kind()?;
    let config = match kind {
        "noqueue" if device.never_stops() => QdiscConfig::Noqueue,
        "noqueue" => {
            let others: Vec<&str> = field.kinds().into_iter().filter(|kind| *kind != "noqueue").collect();
            let found = "\"noqueue\" over a device that stops its queue";
            return Err(field.found(found, suggest("", &others)));
        }
        _ => config(kind, section.as_mut(), &field, device)?,
    };
    // What shapes or emulates stands for the whole device, unless told otherwise.
    let whole = matches!(config, QdiscConfig::Htb(_) | QdiscConfig::Tbf(_) | QdiscConfig::Netem(..));
    let many = device.scheme.is_some() && config != QdiscConfig::Noqueue;
    let mut mq = many && !whole;
    if let Some(mut section) = section {
        if many {
            mq = section.or("mq", mq)?;
        }
        section.finish()?;
    }
    Ok(QdiscSpec { mq, config })
}

/// Whether a value is tc's `mq`, which is no discipline of its own here.
fn names_mq(value: &Value) -> bool {
    match value {
        Value::String(kind) => kind == "mq",
        Value::Table(table) => table.get("kind").is_some_and(|kind| names_mq(&kind.value)),
        _ => false,
    }
}

/// Reads the options of a discipline, for the root or for a class.
pub(super) fn config(
    kind: &str,
    section: Option<&mut Section<'_>>,
    field: &Field<'_>,
    device: &DeviceQueue<'_>,
) -> Result<QdiscConfig, Fault> {
    Ok(match kind {
        "pfifo" | "bfifo" => QdiscConfig::Fifo(fifo::read(section, kind, device.txqueuelen)?),
        "codel" => QdiscConfig::Codel(codel::read(section)?),
        "fq_codel" => QdiscConfig::FqCodel(fq_codel::read(section, device.fq_codel())?),
        "fq" => QdiscConfig::Fq(fq::read(section)?),
        "pie" => QdiscConfig::Pie(pie::read(section, device.pie(), device.profile.tcp.hz)?),
        "cake" => QdiscConfig::Cake(section.map_or(Ok(cake::Cake::default()), spec::read)?.params()),
        "sfq" => QdiscConfig::Sfq(sfq::read(section)?),
        "htb" => {
            let section = section.ok_or_else(|| field.wrong("a table with its rate"))?;
            QdiscConfig::Htb(htb::read(section, device)?)
        }
        "tbf" => {
            let section = section.ok_or_else(|| field.wrong("a table with its rate"))?;
            QdiscConfig::Tbf(tbf::read(section, device)?)
        }
        "netem" => netem::read(section, device)?,
        "pfifo_fast" => device.pfifo_fast(),
        other => return custom_part(other, section, field, device),
    })
}

/// Reads the options of what somebody has brought.
fn custom_part(
    kind: &str,
    mut section: Option<&mut Section<'_>>,
    field: &Field<'_>,
    device: &DeviceQueue<'_>,
) -> Result<QdiscConfig, Fault> {
    // A misspelt key is the likelier mistake than options that do not go together without it.
    section.as_deref().map_or(Ok(()), Section::familiar)?;
    let found = field.parts.find_discipline(kind).expect("a discipline is in the table or somebody's own");
    Ok(match found {
        Found::Custom(part) => {
            QdiscConfig::Custom(custom::with(part, field, custom::options(section, part.keys)?)?)
        }
        Found::Law(part) => {
            let law = custom::with(part, field, custom::options(section.as_deref_mut(), part.keys)?)?;
            let limit = section.map_or(Ok(LAW_LIMIT), |section| section.or("limit", LAW_LIMIT))?;
            QdiscConfig::Law(LawParams { limit, law })
        }
        Found::FqLaw(part) => {
            let law = custom::with(part, field, custom::options(section.as_deref_mut(), part.keys)?)?;
            let (mut p, of_device) = (FqLawParams::new(law), device.fq_codel());
            (p.memory_limit, p.drop_batch) = (of_device.memory_limit, of_device.drop_batch);
            if let Some(section) = section {
                p.limit = section.or("limit", p.limit)?;
                p.flows = section.or("flows", p.flows)?;
                p.quantum = section.or("quantum", p.quantum)?;
                p.memory_limit = section.or("memory_limit", p.memory_limit)?;
                p.drop_batch = section.or("drop_batch", p.drop_batch)?;
            }
            QdiscConfig::FqLaw(p)
        }
    })
}

/// Reads `child`, if it is there.
fn child(section: &mut Section<'_>, device: &DeviceQueue<'_>) -> Result<Option<QdiscConfig>, Fault> {
    let Some(field) = section.get("child") else { return Ok(None) };
    let (kind, mut section) = field.kind()?;
    let child = config(kind, section.as_mut(), &field, device)?;
    section.map_or(Ok(()), Section::finish)?;
    Ok(Some(child))
}

/// Reads a number that stands for its bits.
fn power_of_two(field: &Field<'_>) -> Result<u32, Fault> {
    let n: u32 = field.value()?;
    if n.is_power_of_two() { Ok(n) } else { Err(field.wrong("a power of two")) }
}
