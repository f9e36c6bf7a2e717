//! The options of netem.

use stillair_model::qdisc::QdiscConfig;
use stillair_model::qdisc::netem::{Chance, NetemParams, Share};
use stillair_model::vocabulary::Duration;

use super::super::super::contract::{Family, Form, Key};
use super::super::super::error::Fault;
use super::super::super::reader::Section;
use super::{CHILD, DeviceQueue, child};

pub(super) static OPTIONS: &[Key] = &[
    Key::or("limit", Form::Integer(1, 1_000_000), "1000", "most packets"),
    Key::or("delay", Form::Time, "0 s", "delay of each packet"),
    Key::or("jitter", Form::Time, "0 s", "jitter, up and down; packets may be reordered"),
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
        "packets that leave at once instead of waiting; with only `gap` given, all that `gap` selects",
    ),
    Key::or("reorder_correlation", Form::Fraction, "0", "the same share of the draw for those"),
    Key::or(
        "gap",
        Form::Integer(0, 1_000_000),
        "0",
        "only one packet in this many may leave at once; 0: any, if `reorder` is given",
    ),
    Key::open("rate", Form::Rate, "none", "packets also wait for each other's transmission at this rate"),
    Key::open(
        "child",
        Form::Part(Family::Qdisc, &CHILD),
        "none",
        "discipline that gets packets when their time has come",
    ),
];

/// Most jitter: twice of it fits the kernel's 32 bits of nanoseconds.
// linux: net/sched/sch_netem.c tabledist (6.1).
const MAX_JITTER: Duration = Duration::from_secs(2);

/// Reads the options.
// linux: iproute2 tc/q_netem.c netem_parse_opt (6.1), net/sched/sch_netem.c netem_change (6.1) - a probability without a gap
// has a gap of one, a gap without a probability is certain; neither means anything without a delay, which tc refuses.
pub(super) fn read(
    section: Option<&mut Section<'_>>,
    device: &DeviceQueue<'_>,
) -> Result<QdiscConfig, Fault> {
    let mut p = NetemParams::default();
    let Some(section) = section else { return Ok(QdiscConfig::Netem(p, None)) };
    p.limit = section.or("limit", p.limit)?;
    p.delay = section.or("delay", p.delay)?;
    p.jitter = section.or_by("jitter", p.jitter, |field| {
        let jitter = field.value()?;
        if jitter <= MAX_JITTER { Ok(jitter) } else { Err(field.wrong("at most 2 s")) }
    })?;
    p.delay_correlation = Share::of(section.or("delay_correlation", 0.0)?);
    if p.jitter == Duration::ZERO {
        section.idle("delay_correlation", "without jitter", "a jitter beside it")?;
    }
    let mut chance = |key: &str, correlation: &str| {
        let share = Share::of(section.or(key, 0.0)?);
        // A gap alone stands for a chance of one, which nothing correlates with.
        if share == Share(0) {
            section.idle(correlation, &format!("without {key}"), &format!("{key} beside it"))?;
        }
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
