//! A station's path to its access point: rates and errors.

use stillair_model::wifi::config::AIRTIME_WEIGHT;
use stillair_model::wifi::phy::{HtRate, PhyRate, RateTry, RetryChain, Width};

use super::super::contract::{Form, Key, Shape};
use super::super::document::Value;
use super::super::error::Fault;
use super::super::reader::{Field, Section};
use super::super::{InterfaceRef, Station, units};

/// Keys of a station's interface.
pub(super) const KEYS: &[Key] = &[
    Key::need("ap", Form::Name("interface"), "its access point, such as `ap.wlan0`"),
    Key::open(
        "radio",
        Form::Name("radio"),
        "one of its own",
        "the interface whose radio it shares, such as `wlan0`: a virtual station",
    ),
    Key::need(
        "rate",
        Form::Listed {
            title: "rate",
            words: "a rate such as `ht20-mcs15-sgi`, `ht40-mcs7-lgi` or `ofdm-24`",
            names: || units::phy_rates(false),
        },
        "rate of both directions; no wider than the channel",
    ),
    Key::open(
        "retry_chain",
        Form::List(&CHAIN_ENTRY),
        "`rate` alone, tried four times",
        "one to four rates that are tried in turn, the first being `rate`",
    ),
    Key::or("error_rate", Form::Fraction, "0.0", "chance that an MPDU is lost"),
    Key::or("ack_error_rate", Form::Fraction, "0.0", "chance that an ACK or Block Ack is lost"),
    // linux: net/wireless/nl80211.c NL80211_ATTR_AIRTIME_WEIGHT (5.1) - 1 to 65535.
    Key::or(
        "airtime_weight",
        Form::Integer(1, 65_535),
        "256",
        "its share of the airtime against other stations', with the scheme `mac80211`",
    ),
];

const IN_CHAIN: Form = Form::Listed {
    title: "rate-in-chain",
    words: "a rate; `mcs14` takes width and guard interval from `rate`",
    names: || units::phy_rates(true),
};

static CHAIN_ENTRY: Form = Form::Either(&[IN_CHAIN, Form::Table(&ENTRY)]);

static ENTRY: Shape = Shape {
    title: "Entry of a retry chain",
    about: "A rate with its number of tries.",
    groups: &[&[
        Key::need("rate", IN_CHAIN, "the rate"),
        // linux: drivers/net/wireless/ath/ath9k/mac.h (4.4) - four bits in the descriptor (recalled).
        Key::or("tries", Form::Integer(1, 15), "4", "tries before the next entry"),
    ]],
};

/// Tries of each entry of a retry chain that does not say.
// deviation: assumed - rate control gives each entry its own number in Linux, which a fixed rate has not.
const TRIES: u8 = 4;

pub(super) fn read(section: &mut Section<'_>, ap: InterfaceRef, channel: Width) -> Result<Station, Fault> {
    let field = section.need("rate", "a rate such as \"ht20-mcs15-sgi\"")?;
    let rate = field.unit(|text| units::phy_rate(text, None))?;
    fits(rate, &field, channel)?;
    let alone = RetryChain::new(&[RateTry { rate, tries: TRIES }]).expect("one entry with tries is a chain");
    let chain = section.or_by("retry_chain", alone, |field| chain(field, rate, channel))?;
    Ok(Station {
        ap,
        chain,
        error_rate: section.or("error_rate", 0.0)?,
        ack_error_rate: section.or("ack_error_rate", 0.0)?,
        airtime_weight: section.or("airtime_weight", AIRTIME_WEIGHT)?,
    })
}

fn chain(field: &Field<'_>, rate: PhyRate, channel: Width) -> Result<RetryChain, Fault> {
    let entries = field.list();
    if !field.is_list() || entries.is_empty() || entries.len() > RetryChain::MAX {
        let found =
            if field.is_list() { format!("{} rates", entries.len()) } else { field.item.value.describe() };
        return Err(field.found(found, "a list of one to four rates"));
    }
    let mut tries = Vec::with_capacity(entries.len());
    for (i, entry) in entries.iter().enumerate() {
        let (field, next) = one(entry, rate)?;
        fits(next.rate, &field, channel)?;
        if i == 0 && next.rate != rate {
            return Err(field.wrong(format!("the chain to begin with rate, {:?}", rate.to_string())));
        }
        tries.push(next);
    }
    RetryChain::new(&tries).ok_or_else(|| field.wrong("a list of one to four rates"))
}

/// A rate's name, or a table of it and its tries; with the field that holds the name.
fn one<'a>(entry: &Field<'a>, base: PhyRate) -> Result<(Field<'a>, RateTry), Fault> {
    let parse = |field: &Field<'_>| field.unit(|text| units::phy_rate(text, Some(base)));
    if !matches!(entry.item.value, Value::Table(_)) {
        return Ok((entry.clone(), RateTry { rate: parse(entry)?, tries: TRIES }));
    }
    let mut section = entry.section("a table with rate and tries")?;
    let field = section.need("rate", "a rate such as \"mcs15\"")?;
    let rate = parse(&field)?;
    let tries = section.or("tries", TRIES)?;
    section.finish()?;
    Ok((field, RateTry { rate, tries }))
}

/// Refuses a rate wider than the channel.
fn fits(rate: PhyRate, field: &Field<'_>, channel: Width) -> Result<(), Fault> {
    match rate {
        PhyRate::Ht(HtRate { width, .. }) if width > channel => {
            Err(field.wrong("a rate no wider than its channel"))
        }
        _ => Ok(()),
    }
}
