//! The destination filter of ath9k hardware.

use stillair_model::wifi::air::filter::DestinationFilter;
use stillair_model::wifi::config::{DriverConfig, Scheduler};

use super::super::contract::{Form, Key};
use super::super::error::Fault;
use super::super::reader::Section;
use super::scheme::{Choice, Version};

/// Names of the rules, by the kernels that have them.
const RULES: [(&str, Option<DestinationFilter>); 3] = [
    ("none", None),
    ("linux-4.4", Some(DestinationFilter::SentAgain)),
    ("linux-4.9", Some(DestinationFilter::Dropped)),
];

/// The key of a Wi-Fi interface.
pub(super) const KEY: Key = Key::open(
    "destination_filter",
    Form::Choice(&[RULES[0].0, RULES[1].0, RULES[2].0]),
    "of an access point, and of stations too where frames are encrypted: `linux-4.9` in kernels from that on and with queues in the MAC, else \
     `linux-4.4`; `none` where the device is not ath9k's: if it can VHT, with `firmware_aggregates`, with `aql`, and in what is not Linux",
    "when all tries of a PPDU have failed, the hardware returns the frames queued for the same station unsent. Single frames are then sent \
     once more (4.4) or dropped (4.9)",
);

/// Reads what a device does, and whether that is left to what it can.
pub(super) fn read(
    section: &mut Section<'_>,
    has_index: bool,
    scheme: &Choice,
    version: Version,
) -> Result<(Option<DestinationFilter>, bool), Fault> {
    let elsewhere = match scheme.driver {
        DriverConfig::Htc(_) => Some("behind USB"),
        DriverConfig::Firmware(..) => Some("with firmware that makes the aggregates"),
        DriverConfig::Legacy(_) | DriverConfig::Fq(..) => None,
    };
    if let Some(elsewhere) = elsewhere {
        section.idle(KEY.name, elsewhere, "none, or a scheme of ath9k")?;
        return Ok((None, false));
    }
    if !has_index {
        section.idle(
            KEY.name,
            "at a station whose frames are not encrypted",
            "none, or a cipher on its channel",
        )?;
        return Ok((None, false));
    }
    if let Some(field) = section.get(KEY.name) {
        return Ok((field.choice(&RULES)?, false));
    }
    let by_version = version.map(|own| match own >= (4, 9) {
        true => DestinationFilter::Dropped,
        false => DestinationFilter::SentAgain,
    });
    let filter = match &scheme.driver {
        DriverConfig::Legacy(_) if scheme.hardware.open => None,
        DriverConfig::Firmware(..) => None,
        DriverConfig::Legacy(_) | DriverConfig::Htc(_) => by_version,
        DriverConfig::Fq(_, Scheduler::Mac80211(_, Some(_), _)) => None,
        DriverConfig::Fq(..) => by_version.map(|_| DestinationFilter::Dropped),
    };
    Ok((filter, true))
}

/// The name of a rule.
pub(in crate::scenario) fn name(filter: Option<DestinationFilter>) -> &'static str {
    RULES.iter().find(|(_, rule)| *rule == filter).map_or(RULES[0].0, |(name, _)| name)
}
