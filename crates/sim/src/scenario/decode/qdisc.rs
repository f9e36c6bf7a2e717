//! An interface's queueing discipline: the one given, or the default of the device.

use stillair_model::qdisc::QdiscConfig;
use stillair_model::qdisc::fifo::FifoParams;
use stillair_model::qdisc::fq_codel::FqCodelParams;
use stillair_model::qdisc::pfifo_fast::PfifoFastParams;

use super::super::contract::{Form, Key, Shape};
use super::super::error::{Fault, suggest};
use super::super::reader::Section;
use super::super::{Profile, QdiscSpec, Scheme};

/// Bytes that a full packet needs in a bfifo.
// deviation: a smaller limit is refused - a queue that takes no full packet is a mistake, which tc does not catch.
const MIN_BFIFO: u32 = 1514;

/// Bytes that a flow may send in a round at least.
// linux: net/sched/sch_fq_codel.c fq_codel_change (4.6) - a quantum below 256 is raised to it (recalled).
// deviation: refused - a value that is not used should not be in a scenario.
pub(super) const MIN_QUANTUM: u32 = 256;

const PFIFO_OPTIONS: &[Key] =
    &[Key::open("limit", Form::Integer(1, 1_000_000), "the interface's `txqueuelen`", "most packets")];

const BFIFO_OPTIONS: &[Key] = &[Key::open(
    "limit",
    Form::Bytes(MIN_BFIFO, 1 << 30),
    "as many full packets as the interface's `txqueuelen`",
    "most bytes",
)];

const FQ_CODEL_OPTIONS: &[Key] = &[
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

const MQ: &[Key] = &[Key::or(
    "mq",
    Form::Boolean,
    "true",
    "one instance for each access category, instead of one for the device",
)];

static PFIFO_FAST: Shape = Shape {
    title: "Qdisc pfifo_fast",
    about: "Three bands by the type of service; its limit is the interface's `txqueuelen`.",
    groups: &[&[Key::tag("kind", "pfifo_fast")]],
};

static PFIFO: Shape = Shape {
    title: "Qdisc pfifo",
    about: "One queue, limited in packets.",
    groups: &[&[Key::tag("kind", "pfifo")], PFIFO_OPTIONS],
};

static BFIFO: Shape = Shape {
    title: "Qdisc bfifo",
    about: "One queue, limited in bytes.",
    groups: &[&[Key::tag("kind", "bfifo")], BFIFO_OPTIONS],
};

static FQ_CODEL: Shape = Shape {
    title: "Qdisc fq_codel",
    about: "Under the names that `tc` uses.",
    groups: &[&[Key::tag("kind", "fq_codel")], FQ_CODEL_OPTIONS],
};

static PFIFO_FAST_MQ: Shape = Shape {
    title: "Qdisc pfifo_fast of a Wi-Fi interface",
    about: "Three bands by the type of service; the limit of each instance is the interface's `txqueuelen`.",
    groups: &[&[Key::tag("kind", "pfifo_fast")], MQ],
};

static PFIFO_MQ: Shape = Shape {
    title: "Qdisc pfifo of a Wi-Fi interface",
    about: "One queue, limited in packets.",
    groups: &[&[Key::tag("kind", "pfifo")], PFIFO_OPTIONS, MQ],
};

static BFIFO_MQ: Shape = Shape {
    title: "Qdisc bfifo of a Wi-Fi interface",
    about: "One queue, limited in bytes.",
    groups: &[&[Key::tag("kind", "bfifo")], BFIFO_OPTIONS, MQ],
};

static FQ_CODEL_MQ: Shape = Shape {
    title: "Qdisc fq_codel of a Wi-Fi interface",
    about: "Under the names that `tc` uses.",
    groups: &[&[Key::tag("kind", "fq_codel")], FQ_CODEL_OPTIONS, MQ],
};

static NOQUEUE: Shape = Shape {
    title: "Qdisc noqueue of a Wi-Fi interface",
    about: "None; only where the MAC queues.",
    groups: &[&[Key::tag("kind", "noqueue")]],
};

/// What the qdisc of a wired interface may be.
pub(super) const WIRED: Form = Form::Kinds { shapes: &[&PFIFO_FAST, &PFIFO, &BFIFO, &FQ_CODEL], bare: true };

/// What the qdisc of a Wi-Fi interface may be.
pub(super) const WIFI: Form =
    Form::Kinds { shapes: &[&PFIFO_FAST_MQ, &PFIFO_MQ, &BFIFO_MQ, &FQ_CODEL_MQ, &NOQUEUE], bare: true };

/// What decides an interface's defaults.
pub(super) struct Device<'a> {
    pub profile: &'a Profile,
    pub txqueuelen: u32,
    /// None for a wired device.
    pub scheme: Option<Scheme>,
}

impl Device<'_> {
    fn pfifo_fast(&self) -> QdiscConfig {
        let limit_per_band = self.profile.pfifo_fast_limit_per_band;
        QdiscConfig::PfifoFast(PfifoFastParams { limit: self.txqueuelen, limit_per_band })
    }

    fn fq_codel(&self) -> FqCodelParams {
        FqCodelParams {
            memory_limit: self.profile.fq_codel_memory_limit,
            drop_batch: self.profile.fq_codel_drop_batch,
            overlimit_raises_count: self.profile.fq_codel_overlimit_raises_count,
            ..FqCodelParams::default()
        }
    }

    /// The MAC queues and never stops its qdisc.
    fn mac_queues(&self) -> bool {
        matches!(self.scheme, Some(Scheme::FqMac | Scheme::Airtime | Scheme::AirtimeAsPrinted))
    }

    // linux: net/sched/sch_generic.c attach_default_qdiscs (4.4) - pfifo_fast, under mq where the device has
    // several queues; a Wi-Fi device has one for each access category, and none needs a discipline where the
    // MAC queues.
    fn default_qdisc(&self) -> QdiscSpec {
        match self.scheme {
            None => QdiscSpec { mq: false, config: self.pfifo_fast() },
            Some(Scheme::Fifo) => QdiscSpec { mq: true, config: self.pfifo_fast() },
            Some(Scheme::FqCodel) => QdiscSpec { mq: true, config: QdiscConfig::FqCodel(self.fq_codel()) },
            Some(Scheme::FqMac | Scheme::Airtime | Scheme::AirtimeAsPrinted) => {
                QdiscSpec { mq: false, config: QdiscConfig::Noqueue }
            }
        }
    }
}

/// Reads `qdisc`: a name, or a table of `kind` and tc's options.
pub(super) fn read(section: &mut Section<'_>, device: &Device<'_>) -> Result<QdiscSpec, Fault> {
    let Some(field) = section.get("qdisc") else { return Ok(device.default_qdisc()) };
    let (kind, mut section) = field.kind()?;
    let config = match kind {
        "noqueue" if device.mac_queues() => QdiscConfig::Noqueue,
        "noqueue" => {
            let others: Vec<&str> = field.kinds().into_iter().filter(|kind| *kind != "noqueue").collect();
            let found = "\"noqueue\" over a device that stops its queue";
            return Err(field.found(found, suggest("", &others)));
        }
        "pfifo" | "bfifo" => QdiscConfig::Fifo(fifo(section.as_mut(), kind, device.txqueuelen)?),
        "fq_codel" => QdiscConfig::FqCodel(fq_codel(section.as_mut(), device.fq_codel())?),
        _ => device.pfifo_fast(),
    };
    let mut mq = device.scheme.is_some() && config != QdiscConfig::Noqueue;
    if let Some(mut section) = section {
        if mq {
            mq = section.or("mq", true)?;
        }
        section.finish()?;
    }
    Ok(QdiscSpec { mq, config })
}

fn fifo(section: Option<&mut Section<'_>>, kind: &str, txqueuelen: u32) -> Result<FifoParams, Fault> {
    let default = if kind == "pfifo" { FifoParams::pfifo(txqueuelen) } else { FifoParams::bfifo(txqueuelen) };
    let Some(section) = section else { return Ok(default) };
    Ok(match default {
        FifoParams::Packets(limit) => FifoParams::Packets(section.or("limit", limit)?),
        FifoParams::Bytes(limit) => FifoParams::Bytes(section.or("limit", limit)?),
    })
}

fn fq_codel(section: Option<&mut Section<'_>>, mut p: FqCodelParams) -> Result<FqCodelParams, Fault> {
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
