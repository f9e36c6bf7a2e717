//! Losses on a station's path: configured error rates, a signal-to-noise ratio, or a distance.

use stillair_model::types::Duration;
use stillair_model::wifi::air::given::RateError;
use stillair_model::wifi::phy::errors::Snr;
use stillair_model::wifi::phy::path_loss::PathLoss;
use stillair_model::wifi::phy::{Band, PhyRate};

use super::super::description::{Key, TableSchema, ValueType};
use super::super::document::Value;
use super::super::error::Diagnostic;
use super::super::reader::{Field, Section};
use super::super::{Errors, GivenErrors, SnrSteps, Station, units};

pub(super) const RATIO: ValueType = ValueType::Written {
    words: "a ratio such as `25 dB`",
    pattern: r"^-?[0-9]+(\.[0-9]{1,3})? ?dB$",
    examples: &["25 dB", "-3.5 dB"],
};
pub(super) const LEVEL: ValueType = ValueType::Written {
    words: "a level such as `16 dBm`",
    pattern: r"^-?[0-9]+(\.[0-9]{1,3})? ?dBm$",
    examples: &["16 dBm", "-94.5 dBm"],
};
const LENGTH: ValueType = ValueType::Written {
    words: "a length such as `10 m`",
    pattern: r"^[0-9]+(\.[0-9]{1,3})? ?m$",
    examples: &["10 m", "2.5 m"],
};

static STEP: TableSchema = TableSchema {
    title: "Change of a ratio",
    about: "The ratio from a time on.",
    groups: &[&[
        Key::need("at", ValueType::Period, "when it changes, after the one before"),
        Key::need("snr", RATIO, "the new value"),
    ]],
};
const RATIOS: ValueType = ValueType::Either(&[RATIO, ValueType::List(&STEP_OR_FIRST)]);
static STEP_OR_FIRST: ValueType = ValueType::Either(&[RATIO, ValueType::Table(&STEP)]);

static DISTANCE_STEP: TableSchema = TableSchema {
    title: "Change of a distance",
    about: "The distance from a time on.",
    groups: &[&[
        Key::need("at", ValueType::Period, "when it changes, after the one before"),
        Key::need("distance", LENGTH, "the new value"),
    ]],
};
const LENGTHS: ValueType = ValueType::Either(&[LENGTH, ValueType::List(&LENGTH_OR_FIRST)]);
static LENGTH_OR_FIRST: ValueType = ValueType::Either(&[LENGTH, ValueType::Table(&DISTANCE_STEP)]);

const OF_RATE: ValueType = ValueType::Listed {
    title: "rate-with-errors",
    words: "a rate; `mcs14` is that of 802.11n at any width and guard interval",
    names: || units::phy_rates(true),
};

static ONE_RATE: ValueType = OF_RATE;
const OF_RATES: ValueType = ValueType::Either(&[OF_RATE, ValueType::List(&ONE_RATE)]);

static BY_RATE: TableSchema = TableSchema {
    title: "Error rate by rate",
    about: "The chance that a data MPDU is broken at some rates. Every rate that the station may use must be in the list once, and may be in it again for a later time.",
    groups: &[&[
        Key::need("rates", OF_RATES, "the rates"),
        Key::need("probability", ValueType::Fraction, "the probability"),
        Key::open(
            "bytes",
            ValueType::Bytes(1, 65_535),
            "it is that of frames of any length",
            "length of the MPDUs that it is the chance of, from MAC header to FCS (a full packet is 1538): errors fall on each byte \
             alike, so that longer frames are broken more often",
        ),
        Key::or(
            "at",
            ValueType::Time,
            "0 s",
            "when this becomes the chance of these rates; entries stand in the order of their times, those of the start first",
        ),
    ]],
};

static LISTED: ValueType = ValueType::Table(&BY_RATE);
const CHANCES: ValueType = ValueType::Either(&[ValueType::Fraction, ValueType::List(&LISTED)]);

/// Keys of a station's interface.
pub(super) const KEYS: &[Key] = &[
    Key::open(
        "snr",
        RATIOS,
        "errors are given",
        "signal-to-noise ratio in 20 MHz, both ways. Loss follows from it by rate and frame length. A list starts with a value and \
         continues with up to 15 changes; an empty list removes an inherited one",
    ),
    Key::open(
        "distance",
        LENGTHS,
        "errors are given",
        "distance to the access point; `snr` follows by the channel's path loss. A list starts with a distance and continues with up to 15 \
         changes",
    ),
    Key::open(
        "error_rate",
        CHANCES,
        "0.0 without `snr` and `distance`",
        "chance that a data MPDU is broken: the same for all rates, or by rate",
    ),
    Key::open(
        "ack_error_rate",
        ValueType::Fraction,
        "0.0 without `snr` and `distance`",
        "chance that an ACK or Block Ack is lost",
    ),
    Key::open(
        "preamble_loss_rate",
        ValueType::Fraction,
        "0.0 without `snr` and `distance`",
        "probability that the preamble of a data PPDU is not understood, so that the whole PPDU is missed",
    ),
];

/// Keys of a channel.
pub(super) const CHANNEL: &[Key] = &[
    Key::or("tx_power", LEVEL, "16 dBm", "transmit power of all radios on the channel"),
    Key::open(
        "reference_loss",
        RATIO,
        "40.2 dB at 2.4 GHz, 46.7 dB at 5 GHz, 47.9 dB at 6 GHz",
        "loss over the first metre",
    ),
    Key::or(
        "path_loss_exponent",
        ValueType::Number(-20.0, 20.0),
        "3.0",
        "path loss exponent: each tenfold distance adds ten times this in dB. 2 in free space, 3 between walls",
    ),
    Key::or("noise", LEVEL, "-94 dBm", "level of the noise in 20 MHz, the receiver's own included"),
];

/// Reads what `distance` is converted by.
// deviation: all of it is a choice, that of ns-3's LogDistancePropagationLossModel, YansWifiPhy's 16.02 dBm
// and noise figure of 7 dB - free space to one metre, exponent 3, and -101 dBm of thermal noise.
pub(super) fn path_loss(section: &mut Section<'_>, band: Band) -> Result<PathLoss, Diagnostic> {
    let at_1m = match band {
        Band::Ghz2 => 40_200,
        Band::Ghz5 => 46_700,
        // 20 log10 of 4 pi over the wave length at 5955 MHz, the lowest channel of 20 MHz.
        Band::Ghz6 => 47_900,
    };
    let level = |field: &Field<'_>| field.unit(units::level);
    let ratio = |field: &Field<'_>| field.unit(units::ratio);
    let per_decade =
        |field: &Field<'_>| field.value::<f64>().map(|exponent| (exponent * 10_000.0).round() as i32);
    Ok(PathLoss {
        tx_power: section.or_by("tx_power", 16_000, level)?,
        at_1m: section.or_by("reference_loss", at_1m, ratio)?,
        per_decade: section.or_by("path_loss_exponent", 30_000, per_decade)?,
        noise: section.or_by("noise", -94_000, level)?,
    })
}

/// The losses of a path; none if the scenario says nothing of them.
pub(super) fn read(
    section: &mut Section<'_>,
    loss: PathLoss,
    station: &Station,
) -> Result<Option<Errors>, Diagnostic> {
    let [snr, distance] = ["snr", "distance"].map(|key| section.get(key));
    // An empty list undoes one that was inherited.
    let snr = snr.filter(|field| !field.is_list() || !field.list().is_empty());
    let given = ["error_rate", "ack_error_rate", "preamble_loss_rate"].map(|key| section.get(key));
    let ratio = match (snr, distance) {
        (Some(_), Some(distance)) => return Err(distance.found("a distance beside a ratio", "one of them")),
        (Some(field), None) => Some(steps(&field, "snr", "a ratio such as \"25 dB\"", ratio)?),
        (None, Some(field)) => {
            let snr = |field: &Field<'_>| field.unit(units::length).map(|length| loss.snr(length));
            Some(if field.is_list() {
                steps(&field, "distance", "a distance such as \"20 m\"", snr)?
            } else {
                SnrSteps::new(snr(&field)?)
            })
        }
        (None, None) => None,
    };
    if let Some(steps) = ratio {
        return match given.iter().flatten().next() {
            Some(field) => Err(field.found("a chance of loss beside a ratio or a distance", "one of them")),
            None => Ok(Some(Errors::Noise(steps))),
        };
    }
    if given.iter().all(Option::is_none) {
        return Ok(None);
    }
    let chance = |field: &Option<Field<'_>>| field.as_ref().map_or(Ok(0.0), Field::value);
    let frame = match &given[0] {
        Some(field) if field.is_list() => GivenErrors::ByRate(by_rate(field, station)?),
        field => GivenErrors::Same(chance(field)?),
    };
    Ok(Some(Errors::Given { frame, answer: chance(&given[1])?, unheard: chance(&given[2])? }))
}

/// Most tables of chances that a path has one after the other.
const MOST_TABLES: usize = 16;

/// Chances by rate from each of their times on: a later table has those before it, but for what its entries
/// change.
fn by_rate(field: &Field<'_>, station: &Station) -> Result<Vec<(Duration, Vec<RateError>)>, Diagnostic> {
    let mut tables: Vec<(Duration, Vec<RateError>)> = Vec::new();
    // Rates that entries of the present time have named.
    let mut changed: Vec<PhyRate> = Vec::new();
    for entry in field.list() {
        let mut section = entry.section("a table with rates and probability")?;
        let names = section.need("rates", "a rate such as \"mcs7\", or a list of them")?;
        let chance = section.need("probability", "a fraction from 0 to 1")?.value()?;
        let bytes = section.find("bytes")?;
        let at = match section.get("at") {
            None => Duration::ZERO,
            Some(field) => {
                let at = field.value()?;
                if tables.last().map_or(at > Duration::ZERO, |last| at < last.0) {
                    return Err(
                        field.wrong("a time not before that of the entry before, the first at the start")
                    );
                }
                at
            }
        };
        section.finish()?;
        if tables.last().is_none_or(|last| at > last.0) {
            if tables.len() == MOST_TABLES {
                return Err(entry.found("a time more", format!("at most {MOST_TABLES} times")));
            }
            let before = tables.last().map_or(Vec::new(), |last| last.1.clone());
            tables.push((at, before));
            changed.clear();
        }
        let all = &mut tables.last_mut().expect("there is one by now").1;
        for name in names.list() {
            for rate in name.unit(units::phy_rates_named)? {
                if changed.contains(&rate) {
                    return Err(name.found(format!("`{rate}` a second time"), "one chance for each rate"));
                }
                changed.push(rate);
                let error = RateError { rate, chance, bytes };
                match all.iter_mut().find(|held| held.rate == rate) {
                    Some(held) => *held = error,
                    None => all.push(error),
                }
            }
        }
    }
    let first = tables.first().map_or(&[][..], |first| &first.1);
    match station.all_rates().find(|rate| first.iter().all(|held| held.rate != *rate)) {
        Some(rate) => {
            Err(field.found(format!("no chance for `{rate}`"), "one for each rate that may be used"))
        }
        None => Ok(tables),
    }
}

/// Ratios over time, each read from the value of `key` that `such` describes.
fn steps<'a>(
    field: &Field<'a>,
    key: &str,
    such: &str,
    read: impl Fn(&Field<'a>) -> Result<Snr, Diagnostic>,
) -> Result<SnrSteps, Diagnostic> {
    let list = field.list();
    let Some((first, later)) = list.split_first() else {
        return Err(field.wrong(format!("{such}, or a list that begins with one")));
    };
    let mut steps = SnrSteps::new(read(first)?);
    let table = format!("a table with at and {key}");
    for field in later {
        let Value::Table(_) = field.item.value else { return Err(field.wrong(table)) };
        let mut section = field.section(&table)?;
        let at = section.need("at", "a time such as \"5 s\"")?;
        let when: Duration = at.value()?;
        let snr = read(&section.need(key, such)?)?;
        section.finish()?;
        if !steps.then(when, snr) {
            return Err(
                at.wrong(format!("a time after the one before, and at most {} ratios", SnrSteps::MOST))
            );
        }
    }
    Ok(steps)
}

fn ratio(field: &Field<'_>) -> Result<Snr, Diagnostic> {
    field.unit(units::ratio).map(Snr)
}
