//! Host jitter: interrupts, timers and clock.

use stillair_model::node::jitter::{JitterParams, Spread};
use stillair_model::vocabulary::Duration;

use super::super::contract::{Form, Key, Shape};
use super::super::error::Fault;
use super::super::reader::{Field, Section};
use super::super::units;

const EXPECTED: &str = "\"none\", \"uniform 0 us..50 us\" or \"exponential 10 us..104 us\" (its mean and its most), of up to 10 ms";

/// A host that is later than that has other troubles.
const MOST: Duration = Duration::from_millis(10);

const SPREAD: Form = Form::Written {
    words: "`none`, `uniform LEAST..MOST`, or `exponential MEAN..MOST` whose longer values count as the most, of up to 10 ms",
    pattern: r"^(none|(uniform|exponential) [0-9.]+ *(ns|us|ms)\.\.[0-9.]+ *(ns|us|ms))$",
    examples: &["none", "uniform 0 us..50 us", "exponential 10 us..104 us"],
};

static NONE: Shape = Shape {
    title: "Jitter none",
    about: "The host does everything at once, and its clock is right.",
    groups: &[&[Key::tag("kind", "none")]],
};

static DESKTOP: Shape = Shape {
    title: "Jitter of a desktop",
    about: "As a desktop computer under Linux with its power management on. Each key may be changed by itself.",
    groups: &[&[
        Key::tag("kind", "desktop"),
        Key::or(
            "softirq",
            SPREAD,
            "exponential 10 us..104 us",
            "from an interrupt of received packets until the network stack takes them in, with all that have come since; default: what a Core i5 \
             of 2011 needs to wake from C1E, at most from C6 (intel_idle). It acts on Ethernet and Wi-Fi, after `rx_usecs` and `rx_mitigation`; \
             a veth has no interrupts, and behind USB it does not act",
        ),
        Key::or(
            "timer_slack",
            SPREAD,
            "uniform 0 us..50 us",
            "how late timers of its applications fire: those of senders of datagrams, pings, calls and pages, of QUIC, and beginnings; default: \
             anywhere within Linux's timer slack. The kernel's own timers, such as those of TCP and its pacing, have none",
        ),
        Key::or(
            "drift_ppm",
            Form::Integer(0, 500),
            "15",
            "parts per million by which its clock may be fast or slow, drawn evenly for each run: it stretches the intervals of datagrams, pings \
             and calls; default: NTP's bound for a clock that was adjusted, without that some 100",
        ),
    ]],
};

const FORM: Form = Form::Kinds { shapes: &[&NONE, &DESKTOP], bare: true };

/// Key of a node.
pub(super) const KEY: Key = Key::or(
    "jitter",
    FORM,
    "none",
    "how its interrupts, timers and clock vary, at random; what runs of a scenario without it have in common may be the work of periods \
     that lock, which no real host keeps",
);

pub(super) fn read(section: &mut Section<'_>) -> Result<JitterParams, Fault> {
    let Some(field) = section.get("jitter") else { return Ok(JitterParams::NONE) };
    let (kind, section) = field.kind()?;
    let mut params = if kind == "none" { JitterParams::NONE } else { JitterParams::DESKTOP };
    if let Some(mut section) = section {
        if kind == "desktop" {
            params = JitterParams {
                softirq: section.or_by("softirq", params.softirq, spread)?,
                timer_slack: section.or_by("timer_slack", params.timer_slack, spread)?,
                drift_ppm: section.or("drift_ppm", params.drift_ppm)?,
            };
        }
        section.finish()?;
    }
    Ok(params)
}

fn spread(field: &Field<'_>) -> Result<Spread, Fault> {
    let text = field.text(EXPECTED)?;
    let bounds = |range: &str| {
        let (low, high) = range.split_once("..")?;
        let (low, high) = (units::duration(low.trim()).ok()?, units::duration(high.trim()).ok()?);
        (low <= high && high <= MOST).then_some((low, high))
    };
    let read = match text.split_once(' ') {
        None if text == "none" => Some(Spread::None),
        Some(("uniform", range)) => bounds(range).map(|(least, most)| Spread::Uniform(least, most)),
        Some(("exponential", range)) => bounds(range).map(|(mean, most)| Spread::Exponential(mean, most)),
        _ => None,
    };
    // What is always zero is none, under whatever name.
    read.map(|spread| match spread {
        Spread::Uniform(_, Duration::ZERO) | Spread::Exponential(Duration::ZERO, _) => Spread::None,
        spread => spread,
    })
    .ok_or_else(|| field.wrong(EXPECTED))
}
