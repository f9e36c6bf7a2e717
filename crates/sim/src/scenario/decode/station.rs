//! A station's path to its access point: rates and losses.

use stillair_model::wifi::config::AIRTIME_WEIGHT;

use super::super::description::{Key, ValueType};
use super::super::error::Diagnostic;
use super::super::reader::Section;
use super::super::{Channel, Errors, InterfaceRef, Station};
use super::{losses, rate};

/// Keys of a station's interface, beside those of its rates and losses.
pub(super) const KEYS: &[Key] = &[
    Key::need("ap", ValueType::Name("interface"), "its access point, such as `ap.wlan0`"),
    Key::open(
        "radio",
        ValueType::Name("radio"),
        "its own radio",
        "interface whose radio it shares, such as `wlan0`: a second station on one radio, or a relay if that interface is an access point",
    ),
    // linux: net/wireless/nl80211.c NL80211_ATTR_AIRTIME_WEIGHT (5.1) - 1 to 65535.
    Key::or(
        "airtime_weight",
        ValueType::Integer(1, 65_535),
        "256",
        "its share of the airtime against other stations', where its access point's scheme is `mac80211`; hardly any effect with `ath10k` and `mt76`, whose firmware serves stations in an order of its own",
    ),
];

/// A station, and whether the scenario says something of its losses.
pub(super) fn read(
    section: &mut Section<'_>,
    ap: InterfaceRef,
    channel: &Channel,
) -> Result<(Station, bool), Diagnostic> {
    let rates = rate::read(section, channel)?;
    let uplink = rate::uplink(section, channel)?.unwrap_or(rates);
    let own_chain = rate::own_chains(section);
    let airtime_weight = section.or("airtime_weight", AIRTIME_WEIGHT)?;
    let mut station = Station { ap, rates, uplink, own_chain, errors: Errors::NONE, airtime_weight };
    let errors = losses::read(section, channel.path_loss, &station)?;
    let lossy = errors.is_some();
    station.errors = errors.unwrap_or(Errors::NONE);
    Ok((station, lossy))
}
