//! A station's path: rates that its channel supports, and combinations of loss keys.

use stillair_model::types::Duration;
use stillair_model::wifi::air::given::RateError;
use stillair_model::wifi::config::AIRTIME_WEIGHT;
use stillair_model::wifi::phy::errors::Snr;
use stillair_model::wifi::phy::path_loss::PathLoss;
use stillair_model::wifi::phy::{Band, PhyRate, RateTry, RetryChain, Width};
use stillair_model::wifi::rate::mask::McsMask;
use stillair_model::wifi::rate::minstrel::LegacyMinstrel;
use stillair_model::wifi::rate::table::{Formats, HtCapabilities};

use super::super::error::{Diagnostic, Diagnostics, suggest};
use super::super::spec::domain::{Listed, Named, OneOrTable, Series};
use super::super::spec::path::{
    Ath9kHtc, ByRate, Chain, ChainEntry, Chances, Control, MinstrelHt, OfStation, Rate, Trace,
};
use super::super::spec::{Domain, Key, Place};
use super::super::{Channel, Errors, GivenErrors, InterfaceRef, PathTrace, Rates, SnrSteps, Station, units};
use crate::trace_file::Format;

/// Example rate in messages.
const HE_RATE: &str = "he80-mcs11-nss2-gi0.8";

/// Default number of attempts per entry of a retry chain.
// deviation: assumed - Linux rate control gives each entry its own number, which a fixed rate lacks. If a
// driver sets the number of attempts per frame (mt76), the world applies it to frames outside a Block Ack
// session.
const TRIES: u8 = 4;

/// Returns a station, with its configured losses or [`Errors::NONE`].
pub(in super::super) fn station(
    own: &OfStation,
    ap: InterfaceRef,
    channel: &Channel,
    faults: &mut Diagnostics,
) -> Option<Station> {
    let chain = |chain: &Key<Chain>| chain.place().is_some() && !is_undone(chain);
    let rates = rates(&own.rate, &own.retry_chain, ["rate", "retry_chain"], channel, faults);
    let uplink = match own.uplink_rate.place() {
        Some(_) => {
            let keys = ["uplink_rate", "uplink_retry_chain"];
            self::rates(&own.uplink_rate, &own.uplink_retry_chain, keys, channel, faults)
        }
        None if chain(&own.uplink_retry_chain) => {
            let place = own.uplink_retry_chain.place()?;
            faults.add(place.found("a retry chain without uplink_rate", "both, or neither"));
            None
        }
        None => rates,
    };
    let down = chain(&own.retry_chain);
    let up = chain(&own.uplink_retry_chain) || down && own.uplink_rate.place().is_none();
    let airtime_weight = own.airtime_weight.or(AIRTIME_WEIGHT);
    let (rates, uplink) = (rates?, uplink?);
    let mut station =
        Station { ap, rates, uplink, own_chain: [down, up], errors: Errors::NONE, airtime_weight };
    if says_losses(own) {
        station.errors = errors(own, channel.path_loss, &station, faults)?;
    }
    Some(station)
}

/// Returns true for an empty list, which cancels an inherited chain.
fn is_undone(chain: &Key<Chain>) -> bool {
    chain.get().is_some_and(Vec::is_empty)
}

/// Returns the rates given by a key and its accompanying chain.
fn rates(
    rate: &Key<Rate>,
    chain: &Key<Chain>,
    names: [&str; 2],
    channel: &Channel,
    faults: &mut Diagnostics,
) -> Option<Rates> {
    let (rate, at) = rate.given()?;
    let is_known = match rate {
        Rate::Control(Control::MinstrelHt(own)) => {
            !(own.standard.is_misread() || own.width.is_misread() || own.streams.is_misread())
        }
        Rate::Control(_) => true,
        Rate::Fixed(_) => chain.get().into_iter().flatten().all(|entry| match &entry.value {
            OneOrTable::One(_) => true,
            OneOrTable::Table(own) => own.rate.get().is_some(),
        }),
    };
    if !is_known {
        return None;
    }
    let given = chain.place().filter(|_| !is_undone(chain));
    let rates =
        match (rate, given) {
            (Rate::Control(control), None) => self::control(control, at, channel),
            (Rate::Control(own), Some(place)) => control(own, at, channel).and_then(|_| {
                let right = format!("one of them; {} = [] undoes an inherited one", names[1]);
                Err(place.found("a retry chain beside rate control", right))
            }),
            (Rate::Fixed(rate), given) => fits(*rate, at, channel)
                .and_then(|()| match (chain.get(), given) {
                    (Some(entries), Some(place)) => self::chain(entries, place, (names, *rate), channel),
                    _ => Ok(RetryChain::new(&[RateTry::new(*rate, TRIES)])
                        .expect("one entry with tries is a chain")),
                })
                .map(Rates::Fixed),
        };
    faults.unless(rates)
}

fn control(control: &Control, at: &Place, channel: &Channel) -> Result<Rates, Diagnostic> {
    // spec: ieee80211ax-2021 26.17.2.1 - no HT and VHT PPDUs at 6 GHz.
    // linux: net/mac80211/rc80211_minstrel_ht.c (6.12) - no HE rates: drivers of 6 GHz devices leave rate
    // control to the firmware.
    if channel.band == Band::Ghz6 {
        let kind = match control {
            Control::MinstrelHt(_) => "minstrel_ht",
            Control::Minstrel(_) => "minstrel",
            Control::Ath9kHtc(_) => "ath9k_htc",
        };
        return Err(at.found(
            format!("{kind} at 6 GHz, where all data is sent at HE rates, which it does not have"),
            format!("a fixed rate such as {HE_RATE:?}"),
        ));
    }
    match control {
        Control::MinstrelHt(own) => minstrel_ht(own, at, channel),
        Control::Ath9kHtc(own) => ath9k_htc(own, at, channel).map(Rates::Ath9kHtc),
        Control::Minstrel(own) => match own.standard.given() {
            Some((can, at)) if (*can == LegacyMinstrel::A) != (channel.band == Band::Ghz5) => {
                Err(at.wrong("a standard of the band: 802.11a at 5 GHz, 802.11b or 802.11g at 2.4 GHz"))
            }
            Some((can, _)) => Ok(Rates::Minstrel(*can)),
            None if channel.band == Band::Ghz2 => Ok(Rates::Minstrel(LegacyMinstrel::G)),
            None => Ok(Rates::Minstrel(LegacyMinstrel::A)),
        },
    }
}

/// Rejects channels for which Minstrel-HT has no groups: HT goes up to 40 MHz, VHT up to 80 MHz. Its goodput
/// must not be mistaken for that of a wider channel or of HE.
// linux: net/mac80211/rc80211_minstrel_ht.c minstrel_mcs_groups, minstrel_ht_update_caps (4.4, 6.12) - no
// groups for 160 MHz or HE; ignores HE capabilities.
fn minstrel_ht(own: &MinstrelHt, at: &Place, channel: &Channel) -> Result<Rates, Diagnostic> {
    let (stated, width) = (own.standard.get().copied(), fits_channel(&own.width, channel.width)?);
    let (high, width) = match (stated, width) {
        (None | Some(Formats::Vht), None) if channel.width > Width::Mhz80 => {
            return Err(at.found(
                format!("minstrel_ht on a channel of {} MHz, of which its rates use at most 80, as in Linux", channel.width.megahertz()),
                "a fixed rate of VHT or HE, a channel of 20 to 80 MHz, or { kind = \"minstrel_ht\", width = \"80 MHz\" }",
            ));
        }
        (Some(Formats::Ht), None) => (Formats::Ht, channel.width.min(Width::Mhz40)),
        (stated, width) => {
            let width = width.unwrap_or(channel.width);
            let by_width = if width > Width::Mhz40 { Formats::Vht } else { Formats::Ht };
            (stated.unwrap_or(by_width), width)
        }
    };
    if high == Formats::Ht && width > Width::Mhz40 {
        return Err(at.found(
            format!("802.11n with a width of {} MHz, of which its rates fill 40", width.megahertz()),
            "standard = \"802.11ac\", or width = \"40 MHz\"",
        ));
    }
    if high == Formats::Vht && channel.band == Band::Ghz2 {
        return Err(at.found(
            "minstrel_ht with 802.11ac at 2.4 GHz, where VHT has no rates",
            "a channel at 5 GHz, or standard = \"802.11n\" and a width of 20 or 40 MHz",
        ));
    }
    let (streams, short_gi) = (own.streams.or(2), own.short_gi.or(true));
    let mut can = HtCapabilities { streams, width, short_gi, formats: high };
    match own.vht_only.given() {
        Some((_, at)) if high == Formats::Ht => {
            return Err(at.found("vht_only with 802.11n", "standard = \"802.11ac\", or no vht_only"));
        }
        Some((false, _)) => can.formats = Formats::HtAndVht,
        _ => {}
    }
    let Some((schemes, at)) = own.ht_mcs.given() else { return Ok(Rates::MinstrelHt(can, McsMask::ALL)) };
    if high == Formats::Vht {
        let right = "no ht_mcs, or standard = \"802.11n\"";
        return Err(at.found("ht_mcs with 802.11ac, whose rates are VHT's", right));
    }
    match schemes.iter().find(|mcs| mcs.value >= 8 * streams) {
        Some(mcs) => Err(mcs.place.wrong(format!("an MCS of its streams, 0 to {}", 8 * streams - 1))),
        None => Ok(Rates::MinstrelHt(can, McsMask::only(schemes.iter().map(|mcs| mcs.value)))),
    }
}

/// Returns the capabilities; the AR9271 has one stream, and supports 2.4 GHz only.
fn ath9k_htc(own: &Ath9kHtc, at: &Place, channel: &Channel) -> Result<HtCapabilities, Diagnostic> {
    if channel.band != Band::Ghz2 || channel.width > Width::Mhz40 {
        return Err(at.found(
            "ath9k_htc, the AR9271's, on a channel that it does not support",
            "a channel of 20 or 40 MHz at 2.4 GHz, or minstrel_ht",
        ));
    }
    let width = fits_channel(&own.width, channel.width)?.unwrap_or(channel.width);
    Ok(HtCapabilities { streams: 1, width, short_gi: own.short_gi.or(true), formats: Formats::Ht })
}

/// Returns a table's width, which must not exceed that of the channel.
fn fits_channel<D: Domain<Value = Width>>(own: &Key<D>, channel: Width) -> Result<Option<Width>, Diagnostic> {
    match own.given() {
        Some((width, at)) if *width > channel => {
            let fits = <Width as Named>::ALL.iter().filter(|(_, width)| *width <= channel);
            let fits: Vec<&str> = fits.map(|(name, _)| *name).collect();
            Err(at.wrong(suggest("", &fits)))
        }
        given => Ok(given.map(|(width, _)| *width)),
    }
}

fn chain(
    entries: &[Listed<OneOrTable<String, ChainEntry>>],
    at: &Place,
    ([key, own], first): ([&str; 2], PhyRate),
    channel: &Channel,
) -> Result<RetryChain, Diagnostic> {
    let mut tries = Vec::with_capacity(entries.len());
    for (i, entry) in entries.iter().enumerate() {
        let (text, at, n, rts) = match &entry.value {
            OneOrTable::One(text) => (text, &*entry.place, TRIES, false),
            OneOrTable::Table(own) => {
                let Some((text, at)) = own.rate.given() else { continue };
                (text, at, own.tries.or(TRIES), own.rts.or(false))
            }
        };
        let rate = units::phy_rate(text, Some(first)).map_err(|expected| at.wrong(expected))?;
        fits(rate, at, channel)?;
        if i == 0 && rate != first {
            return Err(at.wrong(format!(
                "the chain to begin with {key}, {:?}; {own} = [] undoes an inherited one",
                first.to_string()
            )));
        }
        tries.push(RateTry { rate, tries: n, rts });
    }
    RetryChain::new(&tries).ok_or_else(|| at.wrong("a list of one to four rates"))
}

/// Rejects a rate that the channel does not support.
fn fits(rate: PhyRate, at: &Place, channel: &Channel) -> Result<(), Diagnostic> {
    match rate {
        // spec: ieee80211ax-2021 26.17.2.1 - no HT and VHT PPDUs at 6 GHz; Linux sends only management and
        // control frames without HE there.
        rate if channel.band == Band::Ghz6 && !matches!(rate, PhyRate::He(_)) => {
            Err(at.wrong(format!("a rate of HE, as all data at 6 GHz, such as {HE_RATE:?}")))
        }
        PhyRate::Dsss(..) if channel.band == Band::Ghz5 => {
            Err(at.wrong("a rate that its channel's band has: 802.11b is at 2.4 GHz"))
        }
        PhyRate::Vht(_) if channel.band == Band::Ghz2 => {
            Err(at.wrong("a rate that its channel's band has: VHT is at 5 GHz"))
        }
        rate if rate.width() > channel.width => {
            Err(at.wrong(format!("a rate no wider than its channel, {} MHz", channel.width.megahertz())))
        }
        _ => Ok(()),
    }
}

/// Returns the key of a ratio, except an empty list, which cancels an inherited one.
fn snr_place(own: &OfStation) -> Option<&Place> {
    own.snr.place().filter(|_| own.snr.get().is_none_or(|steps| steps.first.is_some()))
}

/// Returns true if a station configures its losses.
pub(in super::super) fn says_losses(own: &OfStation) -> bool {
    let places = [own.distance.place(), own.error_rate.place(), own.ack_error_rate.place()];
    snr_place(own).or(own.preamble_loss_rate.place()).or(places.into_iter().flatten().next()).is_some()
}

fn errors(own: &OfStation, loss: PathLoss, station: &Station, faults: &mut Diagnostics) -> Option<Errors> {
    let given = [own.error_rate.place(), own.ack_error_rate.place(), own.preamble_loss_rate.place()];
    let errors = match (snr_place(own), own.distance.place()) {
        (Some(_), Some(distance)) => Err(distance.found("a distance beside a ratio", "one of them")),
        (None, None) => match &own.error_rate {
            Key::Misread(_) => return None,
            Key::Given(Chances::ByRate(all), _)
                if all
                    .iter()
                    .any(|e| e.value.rates.get().is_none() || e.value.probability.get().is_none()) =>
            {
                return None;
            }
            Key::Given(Chances::ByRate(all), at) => by_rate(all, at, station),
            Key::Given(Chances::Same(chance), _) => Ok(GivenErrors::Same(*chance)),
            Key::Absent => Ok(GivenErrors::Same(0.0)),
        }
        .map(|frame| {
            let (answer, unheard) = (own.ack_error_rate.or(0.0), own.preamble_loss_rate.or(0.0));
            Errors::Given { frame, answer, unheard }
        }),
        (snr, at) => match given.into_iter().flatten().next() {
            Some(chance) => {
                Err(chance.found("a probability of loss beside a ratio or a distance", "one of them"))
            }
            None if snr.is_some() => {
                let all = own.snr.get()?;
                let later = all.later.iter();
                let later = later.filter_map(|change| Some((change.at.given()?, Snr(*change.snr.get()?))));
                steps(Snr(all.first?), later)
            }
            None => match own.distance.get()? {
                Series { first: None, .. } => {
                    Err(at?.wrong("a distance such as \"20 m\", or a list that begins with one"))
                }
                Series { first: Some(first), later, .. } => {
                    let snr = |length: &u64| loss.snr(*length);
                    let later = later.iter();
                    let later =
                        later.filter_map(|change| Some((change.at.given()?, snr(change.distance.get()?))));
                    steps(snr(first), later)
                }
            },
        },
    };
    faults.unless(errors)
}

/// Returns the ratios over time.
fn steps<'s>(
    first: Snr,
    later: impl Iterator<Item = ((&'s Duration, &'s Place), Snr)>,
) -> Result<Errors, Diagnostic> {
    let mut steps = SnrSteps::new(first);
    for ((when, at), snr) in later {
        if !steps.then(*when, snr) {
            let right = format!("a time after the one before, and at most {} ratios", SnrSteps::MOST);
            return Err(at.wrong(right));
        }
    }
    Ok(Errors::Noise(steps))
}

/// Maximum number of consecutive error probability tables of a path.
const MOST_TABLES: usize = 16;

/// Returns error probabilities by rate and start time. Each table starts as a copy of its predecessor,
/// changed by its own entries.
fn by_rate(entries: &[Listed<ByRate>], at: &Place, station: &Station) -> Result<GivenErrors, Diagnostic> {
    let mut tables: Vec<(Duration, Vec<RateError>)> = Vec::new();
    // Rates named by entries with the current start time.
    let mut changed: Vec<PhyRate> = Vec::new();
    for entry in entries {
        let own = &entry.value;
        let (names, chance) = (own.rates.get().into_iter().flatten(), own.probability.or(0.0));
        let when = own.at.or(Duration::ZERO);
        if tables.last().map_or(when > Duration::ZERO, |last| when < last.0)
            && let Some(at) = own.at.place()
        {
            return Err(at.wrong("a time not before that of the entry before, the first at the start"));
        }
        if tables.last().is_none_or(|last| when > last.0) {
            if tables.len() == MOST_TABLES {
                return Err(entry.place.found("a time more", format!("at most {MOST_TABLES} times")));
            }
            let before = tables.last().map_or(Vec::new(), |last| last.1.clone());
            tables.push((when, before));
            changed.clear();
        }
        let all = &mut tables.last_mut().expect("there is one by now").1;
        for name in names {
            for rate in name.value.iter().copied() {
                if changed.contains(&rate) {
                    return Err(name
                        .place
                        .found(format!("`{rate}` a second time"), "one probability for each rate"));
                }
                changed.push(rate);
                let error = RateError { rate, chance, bytes: own.bytes.get().copied() };
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
            Err(at.found(format!("no probability for `{rate}`"), "one for each rate that may be used"))
        }
        None => Ok(GivenErrors::ByRate(tables)),
    }
}

/// Returns the trace of a station, whose rate must be an HT rate.
pub(in super::super) fn trace(
    own: &OfStation,
    station: &Station,
    width: Width,
    faults: &mut Diagnostics,
) -> Option<PathTrace> {
    let at = own.trace.place()?;
    let beside = [
        ("snr", own.snr.place()),
        ("distance", own.distance.place()),
        ("error_rate", own.error_rate.place()),
        ("ack_error_rate", own.ack_error_rate.place()),
        ("preamble_loss_rate", own.preamble_loss_rate.place()),
        ("uplink_rate", own.uplink_rate.place()),
        ("uplink_retry_chain", own.uplink_retry_chain.place()),
    ];
    if let Some((key, _)) = beside.iter().find(|(_, place)| place.is_some()) {
        faults.add(at.found(format!("a trace beside {key}"), "one of them"));
        return None;
    }
    let base = match &station.rates {
        Rates::Fixed(chain) => match chain.entries() {
            [one] if matches!(one.rate, PhyRate::Ht(_)) => Some(*one),
            _ => None,
        },
        _ => None,
    };
    let Some(base) = base else {
        faults.add(at.found("a trace", "a fixed HT rate beside it, and no retry chain of several"));
        return None;
    };
    let (file, format, repeat) = match own.trace.get()? {
        Trace::Rates(own) => (&own.file, Format::Rates, false),
        Trace::Mahimahi(own) => (&own.file, Format::Mahimahi, own.repeat.or(true)),
        Trace::Theaterq(own) => (&own.file, Format::Theaterq, own.repeat.or(false)),
    };
    let file = file.get()?.clone();
    Some(PathTrace { file, format, repeat, base, width, steps: Vec::new(), length: None })
}
