//! An interface's queueing discipline: the one given, or the default of the device.

mod cake;
mod fq;
mod pie;
mod sfq;
mod tbf;

use stillair_model::aqm::pie::PieParams;
use stillair_model::qdisc::QdiscConfig;
use stillair_model::qdisc::cake::CakeParams;
use stillair_model::qdisc::codel::CodelQdiscParams;
use stillair_model::qdisc::fifo::FifoParams;
use stillair_model::qdisc::fq::FqParams;
use stillair_model::qdisc::fq_codel::FqCodelParams;
use stillair_model::qdisc::htb::HtbParams;
use stillair_model::qdisc::netem::{Chance, NetemParams, Share};
use stillair_model::qdisc::pfifo_fast::PfifoFastParams;
use stillair_model::qdisc::pie::PieQdiscParams;
use stillair_model::qdisc::sfq::SfqParams;
use stillair_model::vocabulary::Duration;

use super::super::contract::{Form, Key, Shape};
use super::super::error::{Fault, suggest};
use super::super::reader::{Field, Section};
use super::super::{Profile, QdiscSpec, Scheme};
use super::link::Kind;

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

const CODEL_OPTIONS: &[Key] = &[
    Key::or("limit", Form::Integer(1, 1_000_000), "1000", "most packets"),
    Key::or("target", Form::Period, "5 ms", "sojourn time that is acceptable"),
    Key::or("interval", Form::Period, "100 ms", "how long it may be exceeded"),
    Key::or("ecn", Form::Boolean, "false", "packets that allow it are marked"),
];

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

/// The same for disciplines that stand for a whole device unless told otherwise.
const WHOLE: &[Key] = &[Key::or(
    "mq",
    Form::Boolean,
    "false",
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

static CODEL: Shape = Shape {
    title: "Qdisc codel",
    about: "One queue with CoDel, under the names that `tc` uses.",
    groups: &[&[Key::tag("kind", "codel")], CODEL_OPTIONS],
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

static CODEL_MQ: Shape = Shape {
    title: "Qdisc codel of a Wi-Fi interface",
    about: "One queue with CoDel, under the names that `tc` uses.",
    groups: &[&[Key::tag("kind", "codel")], CODEL_OPTIONS, MQ],
};

static FQ_CODEL_MQ: Shape = Shape {
    title: "Qdisc fq_codel of a Wi-Fi interface",
    about: "Under the names that `tc` uses.",
    groups: &[&[Key::tag("kind", "fq_codel")], FQ_CODEL_OPTIONS, MQ],
};

static NOQUEUE: Shape = Shape {
    title: "Qdisc noqueue",
    about: "None; only over a device that never stops its queue: where the MAC queues, and over a veth.",
    groups: &[&[Key::tag("kind", "noqueue")]],
};

static HTB_OPTIONS: &[Key] = &[
    Key::need("rate", Form::Rate, "rate of its one class"),
    Key::open(
        "ceil",
        Form::Rate,
        "the rate",
        "ceiling of the class, which no parent lends it anything up to",
    ),
    Key::open("burst", BURST, "`tc`'s, 1600 bytes", "bytes that may leave at once after a pause"),
    Key::open("cburst", BURST, "`tc`'s, 1600 bytes", "the same of the ceiling"),
    Key::open("child", Form::Kinds { shapes: CHILDREN, bare: true }, "`pfifo`", "discipline of the class"),
];

/// What a burst may be.
const BURST: Form = Form::Bytes(1, 1 << 30);

static HTB: Shape = Shape {
    title: "Qdisc htb",
    about: "A token bucket; everything goes to its one class.",
    groups: &[&[Key::tag("kind", "htb")], HTB_OPTIONS],
};

static HTB_MQ: Shape = Shape {
    title: "Qdisc htb of a Wi-Fi interface",
    about: "A token bucket; everything goes to its one class.",
    groups: &[&[Key::tag("kind", "htb")], HTB_OPTIONS, WHOLE],
};

static NETEM_OPTIONS: &[Key] = &[
    Key::or("limit", Form::Integer(1, 1_000_000), "1000", "most packets"),
    Key::or("delay", Form::Time, "0 s", "time that each packet waits"),
    Key::or("jitter", Form::Time, "0 s", "how far that varies, up and down; packets overtake each other"),
    Key::or(
        "delay_correlation",
        Form::Fraction,
        "0",
        "share of a packet's jitter that is that of the one before",
    ),
    Key::or("loss", Form::Fraction, "0", "packets lost"),
    Key::or("loss_correlation", Form::Fraction, "0", "the same share of the draw for losses"),
    Key::or("duplicate", Form::Fraction, "0", "packets doubled"),
    Key::or("duplicate_correlation", Form::Fraction, "0", "the same share of the draw for doubles"),
    Key::or(
        "reorder",
        Form::Fraction,
        "0",
        "packets that leave at once instead of waiting; all of those that `gap` picks, if that is given alone",
    ),
    Key::or("reorder_correlation", Form::Fraction, "0", "the same share of the draw for those"),
    Key::or(
        "gap",
        Form::Integer(0, 1_000_000),
        "0",
        "only one in so many may leave at once; 0: any, if `reorder` is given",
    ),
    Key::open("rate", Form::Rate, "none", "packets also wait for each other's transmission at this rate"),
    Key::open(
        "child",
        Form::Kinds { shapes: CHILDREN, bare: true },
        "none",
        "discipline that gets packets when their time has come",
    ),
];

static NETEM: Shape = Shape {
    title: "Qdisc netem",
    about: "An emulated network.",
    groups: &[&[Key::tag("kind", "netem")], NETEM_OPTIONS],
};

static NETEM_MQ: Shape = Shape {
    title: "Qdisc netem of a Wi-Fi interface",
    about: "An emulated network.",
    groups: &[&[Key::tag("kind", "netem")], NETEM_OPTIONS, WHOLE],
};

/// What may stand inside another discipline. Statics, as some of these may hold each other.
static CHILDREN: &[&Shape] = &[
    &PFIFO_FAST,
    &PFIFO,
    &BFIFO,
    &CODEL,
    &FQ_CODEL,
    &cake::SHAPE,
    &sfq::SHAPE,
    &HTB,
    &tbf::SHAPE,
    &fq::SHAPE,
    &pie::SHAPE,
    &NETEM,
];

/// What the qdisc of a wired interface may be.
pub(super) const WIRED: Form = Form::Kinds {
    shapes: &[
        &PFIFO_FAST,
        &PFIFO,
        &BFIFO,
        &CODEL,
        &FQ_CODEL,
        &cake::SHAPE,
        &sfq::SHAPE,
        &HTB,
        &tbf::SHAPE,
        &fq::SHAPE,
        &pie::SHAPE,
        &NETEM,
        &NOQUEUE,
    ],
    bare: true,
};

/// What the qdisc of a Wi-Fi interface may be.
pub(super) const WIFI: Form = Form::Kinds {
    shapes: &[
        &PFIFO_FAST_MQ,
        &PFIFO_MQ,
        &BFIFO_MQ,
        &CODEL_MQ,
        &FQ_CODEL_MQ,
        &cake::SHAPE_MQ,
        &sfq::SHAPE_MQ,
        &HTB_MQ,
        &tbf::SHAPE_MQ,
        &fq::SHAPE_MQ,
        &pie::SHAPE_MQ,
        &NETEM_MQ,
        &NOQUEUE,
    ],
    bare: true,
};

/// What decides an interface's defaults.
pub(super) struct Device<'a> {
    pub profile: &'a Profile,
    pub txqueuelen: u32,
    /// None for a Wi-Fi device.
    pub link: Option<Kind>,
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

    fn pie(&self) -> PieQdiscParams {
        let Profile { pie_target: target, pie_tupdate, pie_dq_rate_estimator: dq_rate_estimator, .. } =
            *self.profile;
        let (hz, law) = (self.profile.tcp.hz, PieParams::default());
        PieQdiscParams {
            tupdate: PieQdiscParams::in_ticks(pie_tupdate, hz),
            pie: PieParams { target, dq_rate_estimator, ..law },
            ..PieQdiscParams::new(hz)
        }
    }

    // linux: net/sched/sch_generic.c default_qdisc_ops (6.1).
    fn by_sysctl(&self) -> QdiscConfig {
        match self.profile.default_qdisc {
            "pfifo" => QdiscConfig::Fifo(FifoParams::pfifo(self.txqueuelen)),
            "codel" => QdiscConfig::Codel(CodelQdiscParams::default()),
            "fq_codel" => QdiscConfig::FqCodel(self.fq_codel()),
            "cake" => QdiscConfig::Cake(CakeParams::default()),
            "fq" => QdiscConfig::Fq(FqParams::default()),
            "pie" => QdiscConfig::Pie(self.pie()),
            "sfq" => QdiscConfig::Sfq(SfqParams::default()),
            _ => self.pfifo_fast(),
        }
    }

    /// It never stops its qdisc: the MAC queues, or the device is virtual.
    fn never_stops(&self) -> bool {
        self.link == Some(Kind::Veth)
            || matches!(
                self.scheme,
                Some(Scheme::FqMac | Scheme::Airtime | Scheme::AirtimeAsPrinted | Scheme::Mac80211)
            )
    }

    // linux: net/sched/sch_generic.c attach_default_qdiscs (4.4) - pfifo_fast, under mq where the device has
    // several queues; a Wi-Fi device has one for each access category, and none needs a discipline where the
    // MAC queues. A virtual device has none either.
    fn default_qdisc(&self) -> QdiscSpec {
        match self.scheme {
            None if self.never_stops() => QdiscSpec { mq: false, config: QdiscConfig::Noqueue },
            None => QdiscSpec { mq: false, config: self.by_sysctl() },
            Some(Scheme::Fifo | Scheme::Ath9kHtc) => QdiscSpec { mq: true, config: self.by_sysctl() },
            Some(Scheme::FqCodel) => QdiscSpec { mq: true, config: QdiscConfig::FqCodel(self.fq_codel()) },
            Some(Scheme::FqMac | Scheme::Airtime | Scheme::AirtimeAsPrinted | Scheme::Mac80211) => {
                QdiscSpec { mq: false, config: QdiscConfig::Noqueue }
            }
        }
    }
}

/// Reads a number that stands for its bits.
fn power_of_two(field: &Field<'_>) -> Result<u32, Fault> {
    let n: u32 = field.value()?;
    if n.is_power_of_two() { Ok(n) } else { Err(field.wrong("a power of two")) }
}

/// Reads `qdisc`: a name, or a table of `kind` and tc's options.
pub(super) fn read(section: &mut Section<'_>, device: &Device<'_>) -> Result<QdiscSpec, Fault> {
    let Some(field) = section.get("qdisc") else { return Ok(device.default_qdisc()) };
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

/// Reads the options of a discipline, for the root or for a class.
fn config(
    kind: &str,
    section: Option<&mut Section<'_>>,
    field: &Field<'_>,
    device: &Device<'_>,
) -> Result<QdiscConfig, Fault> {
    Ok(match kind {
        "pfifo" | "bfifo" => QdiscConfig::Fifo(fifo(section, kind, device.txqueuelen)?),
        "codel" => QdiscConfig::Codel(codel(section)?),
        "fq_codel" => QdiscConfig::FqCodel(fq_codel(section, device.fq_codel())?),
        "fq" => QdiscConfig::Fq(fq::read(section)?),
        "pie" => QdiscConfig::Pie(pie::read(section, device.pie(), device.profile.tcp.hz)?),
        "cake" => QdiscConfig::Cake(cake::read(section)?),
        "sfq" => QdiscConfig::Sfq(sfq::read(section)?),
        "htb" => {
            let section = section.ok_or_else(|| field.wrong("a table with its rate"))?;
            QdiscConfig::Htb(htb(section, device)?)
        }
        "tbf" => {
            let section = section.ok_or_else(|| field.wrong("a table with its rate"))?;
            QdiscConfig::Tbf(tbf::read(section, device)?)
        }
        "netem" => netem(section, device)?,
        _ => device.pfifo_fast(),
    })
}

// linux: iproute2 tc/q_htb.c (6.1), net/sched/sch_htb.c htb_change_class (6.1) - the ceiling is the rate by default; a class
// begins with a pfifo of txqueuelen packets.
fn htb(section: &mut Section<'_>, device: &Device<'_>) -> Result<HtbParams, Fault> {
    let rate = section.need("rate", "a rate such as \"100 Mbit/s\"")?.value()?;
    let ceil = section.or("ceil", rate)?;
    let burst = section.or("burst", HtbParams::default_burst(rate))?;
    let cburst = section.or("cburst", HtbParams::default_burst(ceil))?;
    let child = child(section, device)?;
    let child = Box::new(child.unwrap_or(QdiscConfig::Fifo(FifoParams::pfifo(device.txqueuelen))));
    Ok(HtbParams { rate, ceil, burst, cburst, child })
}

/// Reads `child`, if it is there.
fn child(section: &mut Section<'_>, device: &Device<'_>) -> Result<Option<QdiscConfig>, Fault> {
    let Some(field) = section.get("child") else { return Ok(None) };
    let (kind, mut section) = field.kind()?;
    let child = config(kind, section.as_mut(), &field, device)?;
    section.map_or(Ok(()), Section::finish)?;
    Ok(Some(child))
}

/// Most jitter: twice of it fits the kernel's 32 bits of nanoseconds.
// linux: net/sched/sch_netem.c tabledist (6.1).
const MAX_JITTER: Duration = Duration::from_secs(2);

// linux: iproute2 tc/q_netem.c netem_parse_opt (6.1), net/sched/sch_netem.c netem_change (6.1) - a probability without a gap
// has a gap of one, a gap without a probability is certain; neither means anything without a delay, which tc refuses.
fn netem(section: Option<&mut Section<'_>>, device: &Device<'_>) -> Result<QdiscConfig, Fault> {
    let mut p = NetemParams::default();
    let Some(section) = section else { return Ok(QdiscConfig::Netem(p, None)) };
    p.limit = section.or("limit", p.limit)?;
    p.delay = section.or("delay", p.delay)?;
    p.jitter = section.or_by("jitter", p.jitter, |field| {
        let jitter = field.value()?;
        if jitter <= MAX_JITTER { Ok(jitter) } else { Err(field.wrong("at most 2 s")) }
    })?;
    p.delay_correlation = Share::of(section.or("delay_correlation", 0.0)?);
    let mut chance = |key: &str, correlation: &str| {
        let share = Share::of(section.or(key, 0.0)?);
        Ok::<_, Fault>(Chance { share, correlation: Share::of(section.or(correlation, 0.0)?) })
    };
    p.loss = chance("loss", "loss_correlation")?;
    p.duplicate = chance("duplicate", "duplicate_correlation")?;
    p.reorder = chance("reorder", "reorder_correlation")?;
    p.gap = section.or("gap", 0)?;
    p.rate = section.find("rate")?;
    if p.delay == Duration::ZERO && (p.gap > 0 || p.reorder.share != Share(0)) {
        return Err(section.wrong("reorder or gap without a delay", "a delay that the others wait for"));
    }
    if p.gap > 0 && p.reorder.share == Share(0) {
        p.reorder.share = Share(u32::MAX);
    } else if p.reorder.share != Share(0) {
        p.gap = p.gap.max(1);
    }
    Ok(QdiscConfig::Netem(p, child(section, device)?.map(Box::new)))
}

fn fifo(section: Option<&mut Section<'_>>, kind: &str, txqueuelen: u32) -> Result<FifoParams, Fault> {
    let default = if kind == "pfifo" { FifoParams::pfifo(txqueuelen) } else { FifoParams::bfifo(txqueuelen) };
    let Some(section) = section else { return Ok(default) };
    Ok(match default {
        FifoParams::Packets(limit) => FifoParams::Packets(section.or("limit", limit)?),
        FifoParams::Bytes(limit) => FifoParams::Bytes(section.or("limit", limit)?),
    })
}

fn codel(section: Option<&mut Section<'_>>) -> Result<CodelQdiscParams, Fault> {
    let mut p = CodelQdiscParams::default();
    let Some(section) = section else { return Ok(p) };
    p.limit = section.or("limit", p.limit)?;
    p.codel.target = section.or("target", p.codel.target)?;
    p.codel.interval = section.or("interval", p.codel.interval)?;
    p.codel.ecn = section.or("ecn", p.codel.ecn)?;
    Ok(p)
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
