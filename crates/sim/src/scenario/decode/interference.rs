//! Non-Wi-Fi interference: place, power and times.

use stillair_model::types::Duration;
use stillair_model::wifi::air::interference::MOST_SOURCES;

use super::super::description::{Key, TableSchema, ValueType};
use super::super::document::Value;
use super::super::error::Diagnostic;
use super::super::reader::{Field, Section};
use super::super::{
    Attachment, Channel, Errors, Interferer, Node, Role, SourceLevel, SwitchPattern, Wifi, units,
};
use super::{Names, losses, position, refer};

/// Shorter ones are shorter than the frames and gaps of a channel, and an event each.
const ON: ValueType = ValueType::Times {
    least: "10 us",
    most: Some("1000 s"),
    why: "shorter than that is shorter than a gap between frames",
};

static ALWAYS: TableSchema = TableSchema {
    title: "Pattern always",
    about: "On throughout.",
    groups: &[&[Key::tag("kind", "always")]],
};

static CYCLE: TableSchema = TableSchema {
    title: "Pattern cycle",
    about: "On for the first part of each period.",
    groups: &[&[
        Key::tag("kind", "cycle"),
        Key::need("on", ON, "how long it is on"),
        Key::need("period", ON, "from one beginning to the next, longer than `on`"),
        PHASE,
    ]],
};

const PHASE: Key = Key::open(
    "phase",
    ValueType::Time,
    "drawn for each run",
    "how long after `start` the first period begins, less than a period",
);

static MICROWAVE: TableSchema = TableSchema {
    title: "Pattern microwave",
    about: "A household's microwave oven: on for half of each cycle of the mains, as its magnetron is fed by one half of the wave.",
    groups: &[&[
        Key::tag("kind", "microwave"),
        Key::or(
            "mains",
            ValueType::Choice(&MAINS),
            MAINS[0],
            "the mains: on for 10 of 20 ms, or for 8.3 of 16.7 ms",
        ),
        PHASE,
    ]],
};
const MAINS: [&str; 2] = ["50 Hz", "60 Hz"];

static RANDOM: TableSchema = TableSchema {
    title: "Pattern random",
    about: "On and off for exponentially distributed times.",
    groups: &[&[
        Key::tag("kind", "random"),
        Key::need("on", ON, "mean time on"),
        Key::need("off", ON, "mean time off"),
    ]],
};

static RECORDED: TableSchema = TableSchema {
    title: "Pattern trace",
    about: "Lines of time in s after `start` and 1 for on or 0 for off: `0.5, 1`. The first is at 0 s; `t_s,on` may stand above them.",
    groups: &[&[
        Key::tag("kind", "trace"),
        Key::need("file", ValueType::Text, "file name, relative to the scenario's folder"),
        Key::open(
            "repeat",
            ValueType::Period,
            "the last line holds for good",
            "after this time it begins anew",
        ),
    ]],
};

static SOURCE: TableSchema = TableSchema {
    title: "Interference",
    about: "A non-Wi-Fi source: it does not defer, makes the medium busy where it is strong enough (`cca_ed_threshold` of the channel), and is noise to \
            received frames. It is spread evenly over the channel. Every station on the channel needs an `snr`, a `distance` or a position.",
    groups: &[&[
        Key::need("channel", ValueType::Name("channel"), "the channel that it is on"),
        Key::open("power", losses::LEVEL, "by `position`", "its level at every receiver, in 20 MHz"),
        Key::open(
            "position",
            position::TYPE,
            "equally loud everywhere",
            "its position: its level at each node follows from the channel's loss, and every node on the channel needs a position",
        ),
        Key::open(
            "tx_power",
            losses::LEVEL,
            "none",
            "the level that it sends at, in 20 MHz, with `position`",
        ),
        Key::or(
            "pattern",
            ValueType::Kinds { shapes: &[&ALWAYS, &CYCLE, &MICROWAVE, &RANDOM, &RECORDED], bare: true },
            "always",
            "when it is on",
        ),
        Key::or("start", ValueType::Time, "0 s", "from when on it works, before the end of the run"),
        Key::open("stop", ValueType::Period, "the end of the run", "until when it works, after `start`"),
    ]],
};

pub(super) const TYPE: ValueType = ValueType::Named("interference", &ValueType::Table(&SOURCE));

/// Which channels have some, as far as names are right.
pub(super) fn channels(field: Option<&Field<'_>>, names: &Names<'_>) -> Vec<usize> {
    let Some(Value::Table(all)) = field.map(|field| &field.item.value) else { return Vec::new() };
    let name = |source: &Value| match source {
        Value::Table(keys) => match keys.get("channel").map(|item| &item.value) {
            Some(Value::String(name)) => names.channels.iter().position(|known| known == name),
            _ => None,
        },
        _ => None,
    };
    all.0.iter().filter_map(|(_, item)| name(&item.value)).collect()
}

/// Puts the sources into their channels.
pub(super) fn read(
    field: &Field<'_>,
    names: &Names<'_>,
    nodes: &[Node],
    channels: &mut [Channel],
    end: Duration,
) -> Result<(), Diagnostic> {
    for (name, field) in field.named("interference")? {
        let mut section = field.section("a table with channel and power")?;
        let at = section.need("channel", "the name of a channel")?;
        let channel = refer(&at, &names.channels)?;
        let level = level(&mut section, &at, channel, nodes)?;
        let pattern = section.or_by("pattern", SwitchPattern::Always, pattern)?;
        let start = section.or_by("start", Duration::ZERO, |field| {
            let start = field.value()?;
            if start < end { Ok(start) } else { Err(field.wrong("a time before the end of the run")) }
        })?;
        let stop = section.get("stop").map(|field| {
            let stop: Duration = field.value()?;
            if stop > start { Ok(stop) } else { Err(field.wrong("a time after start")) }
        });
        let stop = stop.transpose()?;
        section.finish()?;
        heard(&at, channel, nodes)?;
        let all = &mut channels[channel].interference;
        if all.len() == MOST_SOURCES {
            return Err(at.found(
                format!("{:?}, which has {MOST_SOURCES} sources already", names.channels[channel]),
                format!("at most {MOST_SOURCES} of a channel"),
            ));
        }
        all.push(Interferer { name: name.to_owned(), level, pattern, start, stop });
    }
    Ok(())
}

fn on(channel: usize, nodes: &[Node]) -> impl Iterator<Item = (&Node, &Wifi)> {
    nodes.iter().flat_map(move |node| {
        node.interfaces.iter().filter_map(move |i| match &i.medium {
            Attachment::Wifi(wifi) if wifi.channel == channel => Some((node, wifi)),
            _ => None,
        })
    })
}

fn level(
    section: &mut Section<'_>,
    at: &Field<'_>,
    channel: usize,
    nodes: &[Node],
) -> Result<SourceLevel, Diagnostic> {
    let read = |field: Field<'_>| field.unit(units::level);
    let power = section.get("power");
    let place = section.get("position");
    let sent = section.get("tx_power");
    match (power, place, sent) {
        (Some(power), None, None) => read(power).map(SourceLevel::Everywhere),
        (None, Some(place), Some(sent)) => {
            if let Some((node, _)) = on(channel, nodes).find(|(node, _)| node.position.is_none()) {
                return Err(place.found(
                    format!("that node {:?} has no position", node.name),
                    "a position of each node on the channel, or power",
                ));
            }
            Ok(SourceLevel::At(position::coordinates(&place)?, read(sent)?))
        }
        (Some(_), Some(field), _) | (Some(_), None, Some(field)) => {
            Err(field.found("a place or what it sends at beside the power at every receiver", "one of them"))
        }
        (None, Some(field), None) | (None, None, Some(field)) => {
            Err(field.found("one of position and tx_power", "both of them, or power"))
        }
        (None, None, None) => Err(at.found("neither power nor position and tx_power", "one of them")),
    }
}

fn pattern(field: &Field<'_>) -> Result<SwitchPattern, Diagnostic> {
    let (kind, section) = field.kind()?;
    let mains = |hertz: u64| {
        let period = Duration::from_nanos(1_000_000_000 / hertz);
        (Duration::from_nanos(period.nanos() / 2), period)
    };
    let Some(mut section) = section else {
        return match kind {
            "always" => Ok(SwitchPattern::Always),
            "microwave" => {
                let (on, period) = mains(50);
                Ok(SwitchPattern::Cycle { on, period, phase: None })
            }
            _ => {
                Err(field
                    .wrong(format!("a table with its {}", if kind == "trace" { "file" } else { "times" })))
            }
        };
    };
    let phase = |section: &mut Section<'_>, period: Duration| {
        let read = |field: Field<'_>| {
            let phase: Duration = field.value()?;
            if phase < period { Ok(phase) } else { Err(field.wrong("a time shorter than a period")) }
        };
        section.get("phase").map(read).transpose()
    };
    let pattern = match kind {
        "always" => SwitchPattern::Always,
        "cycle" => {
            let on = section.need("on", "how long it is on")?.value()?;
            let field = section.need("period", "a time longer than on")?;
            let period = field.value()?;
            if period <= on {
                return Err(field.wrong("a time longer than on"));
            }
            SwitchPattern::Cycle { on, period, phase: phase(&mut section, period)? }
        }
        // paper: Gawthrop, Sanders, Nebbia and Sell, Radio spectrum measurements of individual microwave
        // ovens (NTIA report 94-303, 1994), and Kamerman and Erkocevic, Microwave oven interference on
        // wireless LANs operating in the 2.4 GHz ISM band (IEEE PIMRC 1997) - a household's oven emits once
        // in each cycle of the mains; its tube is off for the other half of the wave.
        // deviation: a burst is as loud from its beginning to its end, and lasts for all of its half - real
        // ones are a little shorter.
        "microwave" => {
            let hertz =
                section.or_by("mains", 50, |field| field.choice(&[(MAINS[0], 50), (MAINS[1], 60)]))?;
            let (on, period) = mains(hertz);
            SwitchPattern::Cycle { on, period, phase: phase(&mut section, period)? }
        }
        "random" => {
            let on = section.need("on", "the mean time on")?.value()?;
            let off = section.need("off", "the mean time off")?.value()?;
            SwitchPattern::Random { on, off }
        }
        _ => {
            let file = section.need("file", "the name of a file")?.text("the name of a file")?.to_owned();
            SwitchPattern::Recorded { file, repeat: section.find("repeat")?, steps: Vec::new() }
        }
    };
    section.finish()?;
    Ok(pattern)
}

/// Refuses a channel that nobody is on, or with a station of which it is not known how loud it is.
fn heard(at: &Field<'_>, channel: usize, nodes: &[Node]) -> Result<(), Diagnostic> {
    if on(channel, nodes).next().is_none() {
        return Err(at.found("a channel that no node is on", "one with a node"));
    }
    let silent = on(channel, nodes).find(|(_, wifi)| match &wifi.role {
        Role::Station(station) => wifi.trace.is_some() || !matches!(station.errors, Errors::Noise(_)),
        Role::Ap => false,
    });
    match silent {
        Some((node, _)) => Err(at.found(
            format!("a channel on which it is not known how loud {:?} is", node.name),
            "an snr, a distance or a position of each station there, in place of chances of loss",
        )),
        None => Ok(()),
    }
}
