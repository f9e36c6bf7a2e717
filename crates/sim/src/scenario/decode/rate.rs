//! Rates of a station's path: a fixed retry chain or rate control.

use stillair_model::wifi::phy::{Band, DsssRate, OfdmRate, PhyRate, Preamble, RateTry, RetryChain, Width};
use stillair_model::wifi::rate::mask::McsMask;
use stillair_model::wifi::rate::minstrel::LegacyMinstrel;
use stillair_model::wifi::rate::table::{Formats, HtCapabilities};

use super::super::description::{Key, TableSchema, ValueType};
use super::super::document::Value;
use super::super::error::{Diagnostic, suggest};
use super::super::reader::{Field, Section};
use super::super::{Channel, Rates, units};

static MINSTREL_HT: TableSchema = TableSchema {
    title: "Rate control minstrel_ht",
    about: "Minstrel-HT as the kernel of each end has it. Both ends can do the same.",
    groups: &[&[
        Key::tag("kind", "minstrel_ht"),
        Key::or("streams", ValueType::Integer(1, 4), "2", "most spatial streams"),
        Key::open(
            "width",
            ValueType::Choice(&WIDTHS),
            "the channel's, of one of 160 MHz it must be said; 40 MHz at most with `standard = \"802.11n\"`",
            "widest channel; no wider than the channel",
        ),
        Key::open(
            "standard",
            ValueType::Choice(&HIGH_STANDARDS),
            "`802.11ac` where `width` is 80 MHz, else `802.11n`",
            "what both ends can do: rates of HT, or of VHT (at 5 GHz). There are none of 802.11ax: Linux sends to such a station at VHT's",
        ),
        Key::open(
            "vht_only",
            ValueType::Boolean,
            "true",
            "802.11ac stations get no HT rates: the parameter `minstrel_vht_only` of the kernel's module",
        ),
        Key::or("short_gi", ValueType::Boolean, "true", "the short guard interval may be used"),
        Key::open(
            "ht_mcs",
            ValueType::List(&ValueType::Integer(0, 31)),
            "all",
            "MCS that frames of this link may be sent at, in both directions: in place of another that rate control chooses or probes \
             the next lower one, as with `iw set bitrates` (which limits all that one interface sends); not with `802.11ac`",
        ),
    ]],
};

const HT_WIDTHS: [&str; 2] = ["20 MHz", "40 MHz"];
const WIDTHS: [&str; 3] = ["20 MHz", "40 MHz", "80 MHz"];
const HIGH_STANDARDS: [&str; 2] = ["802.11n", "802.11ac"];

static MINSTREL: TableSchema = TableSchema {
    title: "Rate control minstrel",
    about: "Minstrel, the rate control of Linux for stations without HT, as it was until it became a part of Minstrel-HT (5.12).",
    groups: &[&[
        Key::tag("kind", "minstrel"),
        Key::open(
            "standard",
            ValueType::Choice(&STANDARDS),
            "`802.11a` at 5 GHz, `802.11g` at 2.4 GHz",
            "what both ends can do: OFDM, DSSS and CCK, or both of them",
        ),
    ]],
};

static ATH9K_HTC: TableSchema = TableSchema {
    title: "Rate control ath9k_htc",
    about: "The rate control of the AR9271's firmware, which mac80211's is never asked beside: two tries each at three rates, each slower than \
            the one before it, and four at the next, all but the first with RTS; by packet error rates.",
    groups: &[&[
        Key::tag("kind", "ath9k_htc"),
        Key::open(
            "width",
            ValueType::Choice(&HT_WIDTHS),
            "the channel's",
            "width of all that is sent by HT; no wider than the channel",
        ),
        Key::or("short_gi", ValueType::Boolean, "true", "the short guard interval may be used"),
    ]],
};
const STANDARDS: [&str; 3] = ["802.11a", "802.11b", "802.11g"];

const CONTROLS: ValueType = ValueType::Kinds { shapes: &[&MINSTREL_HT, &MINSTREL, &ATH9K_HTC], bare: true };

const FIXED: ValueType = ValueType::Listed {
    title: "rate",
    words: "a rate such as `ht20-mcs15-sgi`, `ht40-mcs7-lgi`, `vht80-mcs9-nss2-sgi`, `he80-mcs11-nss2-gi0.8`, `ofdm-24` or `cck-11`",
    names: || units::phy_rates(false),
};

const IN_CHAIN: ValueType = ValueType::Listed {
    title: "rate-in-chain",
    words: "a rate; `mcs14` takes width and guard interval from `rate`",
    names: || units::phy_rates(true),
};

static CHAIN_ENTRY: ValueType = ValueType::Either(&[IN_CHAIN, ValueType::Table(&ENTRY)]);

static ENTRY: TableSchema = TableSchema {
    title: "Entry of a retry chain",
    about: "A rate with its number of tries, and whether each of them begins with RTS and CTS.",
    groups: &[&[
        Key::need("rate", IN_CHAIN, "the rate"),
        // linux: drivers/net/wireless/ath/ath9k/mac.h AR_XmitDataTries0 (4.4) - four bits in the descriptor.
        Key::or("tries", ValueType::Integer(1, 15), "4", "tries before the next entry"),
        // linux: include/net/mac80211.h IEEE80211_TX_RC_USE_RTS_CTS (4.14) - a flag of each entry.
        Key::or(
            "rts",
            ValueType::Boolean,
            "false",
            "each try begins with RTS and CTS, at the control rate of the entry's rate; an RTS without an answer is a try",
        ),
    ]],
};

/// Keys of a station's interface that choose its rates.
pub(super) const KEYS: &[Key] = &[
    Key::need(
        BOTH[0],
        ValueType::Either(&[FIXED, CONTROLS]),
        "fixed rate of both directions, no wider than the channel; or a rate control, which runs at each end",
    ),
    Key::open(
        BOTH[1],
        ValueType::List(&CHAIN_ENTRY),
        "`rate` alone, tried four times; single frames of `mt76`, `ath10k` and `ath11k` as often as `retry_limit` says",
        "one to four rates tried in turn, the first being `rate`. Not with a rate control, which makes its own. An empty list removes an \
         inherited one",
    ),
    Key::open(
        UPLINK[0],
        ValueType::Either(&[FIXED, CONTROLS]),
        "as `rate`",
        "rate of frames the station sends, if different; `rate` is then only for frames to the station",
    ),
    Key::open(
        UPLINK[1],
        ValueType::List(&CHAIN_ENTRY),
        "`uplink_rate` alone, as `retry_chain`",
        "the chain that begins with `uplink_rate`, as `retry_chain`",
    ),
];

/// Keys of a rate and of the chain that begins with it: of both directions, and of what a station sends by
/// rates of its own.
type Keys = [&'static str; 2];
const BOTH: Keys = ["rate", "retry_chain"];
pub(super) const UPLINK: Keys = ["uplink_rate", "uplink_retry_chain"];

/// A rate that messages show.
const HE_RATE: &str = "he80-mcs11-nss2-gi0.8";

/// Tries of each entry of a retry chain that does not say.
// deviation: assumed - rate control gives each entry its own number in Linux, which a fixed rate has not.
// Where a driver sets the number of tries of a frame (mt76), the wiring does so for frames outside a session.
const TRIES: u8 = 4;

/// The lowest basic rate of a channel.
// hostapd: src/ap/hw_features.c hostapd_prepare_rates (2.10) - 1, 2, 5.5 and 11 Mbit/s are basic at 2.4 GHz,
// 6, 12 and 24 at 5.
pub(super) const LOWEST: Key = Key::open(
    "basic_rate",
    ValueType::Listed {
        title: "legacy-rate",
        words: "a rate such as `dsss-1` or `ofdm-6`",
        names: units::legacy_rates,
    },
    "`dsss-1` at 2.4 GHz, `ofdm-6` at 5 and 6 GHz",
    "lowest basic rate: that of beacons and other management frames",
);

pub(super) fn lowest(section: &mut Section<'_>, band: Band) -> Result<PhyRate, Diagnostic> {
    let by_band = match band {
        Band::Ghz2 => PhyRate::Dsss(DsssRate::M1, Preamble::Long),
        Band::Ghz5 | Band::Ghz6 => PhyRate::Ofdm(OfdmRate::M6),
    };
    section.or_by("basic_rate", by_band, |field| {
        let expected = || format!("a rate without HT that the channel's band has, such as \"{by_band}\"");
        let rate = field.unit(|text| units::phy_rate(text, None).map_err(|_| expected()))?;
        match (rate, band) {
            (PhyRate::Ofdm(_), _) | (PhyRate::Dsss(..), Band::Ghz2) => Ok(rate),
            _ => Err(field.wrong(expected())),
        }
    })
}

/// The rates of a station's path, or of what it is sent.
pub(super) fn read(section: &mut Section<'_>, channel: &Channel) -> Result<Rates, Diagnostic> {
    let field = section.need(BOTH[0], "a rate such as \"ht20-mcs15-sgi\"")?;
    rates(section, &field, BOTH, channel)
}

/// The rates of what a station sends, if it has its own.
pub(super) fn uplink(section: &mut Section<'_>, channel: &Channel) -> Result<Option<Rates>, Diagnostic> {
    let [rate, chain] = UPLINK;
    let Some(field) = section.get(rate) else {
        return match section.get(chain).filter(|chain| !is_undone(chain)) {
            Some(chain) => Err(chain.found(format!("a retry chain without {rate}"), "both, or neither")),
            None => Ok(None),
        };
    };
    rates(section, &field, UPLINK, channel).map(Some)
}

/// Returns whether the scenario gives the retry chain of the downlink, and of the uplink.
pub(super) fn own_chains(section: &mut Section<'_>) -> [bool; 2] {
    let mut gives = |key| section.get(key).is_some_and(|chain| !is_undone(&chain));
    let down = gives(BOTH[1]);
    let up = gives(UPLINK[1]) || down && !section.has(UPLINK[0]);
    [down, up]
}

/// The rates that `field`, the first of the keys, and the second of them say.
fn rates(
    section: &mut Section<'_>,
    field: &Field<'_>,
    keys: Keys,
    channel: &Channel,
) -> Result<Rates, Diagnostic> {
    if let Some(control) = control(field, channel)? {
        if let Some(chain) = section.get(keys[1]).filter(|chain| !is_undone(chain)) {
            let right = format!("one of them; {} = [] undoes an inherited one", keys[1]);
            return Err(chain.found("a retry chain beside rate control", right));
        }
        return Ok(control);
    }
    let rate = field.unit(|text| units::phy_rate(text, None))?;
    fits(rate, field, channel)?;
    let alone = RetryChain::new(&[RateTry::new(rate, TRIES)]).expect("one entry with tries is a chain");
    let given = section.get(keys[1]).filter(|chain| !is_undone(chain));
    given.map_or(Ok(alone), |field| chain(&field, (keys, rate), channel)).map(Rates::Fixed)
}

/// An empty list undoes a chain that was inherited.
fn is_undone(chain: &Field<'_>) -> bool {
    chain.is_list() && chain.list().is_empty()
}

/// The rate control that a value names, unless it is a rate.
fn control(field: &Field<'_>, channel: &Channel) -> Result<Option<Rates>, Diagnostic> {
    let kinds = field.kinds();
    let named = |text: &String| kinds.iter().find(|kind| *kind == text);
    let (kind, section) = match &field.item.value {
        Value::Table(_) => {
            let (kind, section) = field.kind_table("a table with kind")?;
            (kind, Some(section))
        }
        Value::String(text) => match named(text) {
            Some(kind) => (*kind, None),
            None => return Ok(None),
        },
        _ => return Ok(None),
    };
    // spec: ieee80211ax-2021 26.17.2.1 - no HT and no VHT PPDUs at 6 GHz.
    // linux: net/mac80211/rc80211_minstrel_ht.c (6.12) - no rates of HE: drivers of devices at 6 GHz leave
    // rates to their firmware.
    if channel.band == Band::Ghz6 {
        return Err(field.found(
            format!("{kind} at 6 GHz, where all data goes at rates of HE, of which it has none"),
            format!("a fixed rate such as {HE_RATE:?}"),
        ));
    }
    match kind {
        "minstrel" => minstrel(section, channel).map(Rates::Minstrel),
        "ath9k_htc" => ath9k_htc(field, section, channel).map(Rates::Ath9kHtc),
        _ => minstrel_ht(field, section, channel).map(|(can, mask)| Rates::MinstrelHt(can, mask)),
    }
    .map(Some)
}

/// Minstrel-HT has groups of HT to 40 MHz and of VHT to 80: nobody is to take their goodput for that of a
/// wider channel, nor for HE's.
// linux: net/mac80211/rc80211_minstrel_ht.c minstrel_mcs_groups, minstrel_ht_update_caps (4.4, 6.12) - none
// of 160 MHz and none of HE, whose capabilities are not looked at.
fn minstrel_ht(
    field: &Field<'_>,
    section: Option<Section<'_>>,
    channel: &Channel,
) -> Result<(HtCapabilities, McsMask), Diagnostic> {
    let mut section = section;
    let stated = section.as_mut().map(standard).transpose()?.flatten();
    let width = section.as_mut().map(|section| fits_channel(section, &WIDTHS, channel.width)).transpose()?;
    let (high, width) = match (stated, width.flatten()) {
        (None, None) if channel.width > Width::Mhz80 => return Err(too_wide(field, channel)),
        (Some(Formats::Vht), None) if channel.width > Width::Mhz80 => return Err(too_wide(field, channel)),
        (Some(Formats::Ht), None) => (Formats::Ht, channel.width.min(Width::Mhz40)),
        (stated, width) => {
            let width = width.unwrap_or(channel.width);
            let by_width = if width > Width::Mhz40 { Formats::Vht } else { Formats::Ht };
            (stated.unwrap_or(by_width), width)
        }
    };
    if high == Formats::Ht && width > Width::Mhz40 {
        return Err(field.found(
            format!("802.11n with a width of {} MHz, of which its rates fill 40", width.megahertz()),
            "standard = \"802.11ac\", or width = \"40 MHz\"",
        ));
    }
    if high == Formats::Vht && channel.band == Band::Ghz2 {
        return Err(field.found(
            "minstrel_ht with 802.11ac at 2.4 GHz, where VHT has no rates",
            "a channel at 5 GHz, or standard = \"802.11n\" and a width of 20 or 40 MHz",
        ));
    }
    let mut can = HtCapabilities { streams: 2, width, short_gi: true, formats: high };
    let mut mask = McsMask::ALL;
    let Some(mut section) = section else { return Ok((can, mask)) };
    can.streams = section.or("streams", can.streams)?;
    can.short_gi = section.or("short_gi", can.short_gi)?;
    if let Some(field) = section.get("vht_only") {
        if high == Formats::Ht {
            return Err(field.found("vht_only with 802.11n", "standard = \"802.11ac\", or no vht_only"));
        }
        if !field.value::<bool>()? {
            can.formats = Formats::HtAndVht;
        }
    }
    if let Some(field) = section.get("ht_mcs") {
        if high == Formats::Vht {
            return Err(field.found(
                "ht_mcs with 802.11ac, whose rates are VHT's",
                "no ht_mcs, or standard = \"802.11n\"",
            ));
        }
        mask = allowed(&field, 8 * can.streams)?;
    }
    section.finish()?;
    Ok((can, mask))
}

fn too_wide(field: &Field<'_>, channel: &Channel) -> Diagnostic {
    field.found(
        format!("minstrel_ht on a channel of {} MHz, of which its rates fill 80, as Linux's", channel.width.megahertz()),
        "a fixed rate of VHT or HE, a channel of 20 to 80 MHz, or { kind = \"minstrel_ht\", width = \"80 MHz\" }",
    )
}

/// Which standard both ends have, if the table says so.
fn standard(section: &mut Section<'_>) -> Result<Option<Formats>, Diagnostic> {
    let Some(field) = section.get("standard") else { return Ok(None) };
    if matches!(&field.item.value, Value::String(text) if text == "802.11ax") {
        return Err(field.found(
            "802.11ax, of which mac80211's minstrel_ht has no rates",
            "802.11ac, at whose rates it sends to such stations too, or a fixed rate such as \"he80-mcs11-nss2-gi0.8\" in place of rate control",
        ));
    }
    field.choice(&[(HIGH_STANDARDS[0], Formats::Ht), (HIGH_STANDARDS[1], Formats::Vht)]).map(Some)
}

/// The MCS of a list, of which there are so many.
fn allowed(field: &Field<'_>, schemes: u8) -> Result<McsMask, Diagnostic> {
    let mut all = Vec::new();
    if !field.is_list() || field.list().is_empty() {
        return Err(field.wrong("a list of at least one MCS"));
    }
    for entry in field.list() {
        let mcs: u8 = entry.value()?;
        if mcs >= schemes {
            return Err(entry.wrong(format!("an MCS of its streams, 0 to {}", schemes - 1)));
        }
        all.push(mcs);
    }
    Ok(McsMask::only(all))
}

/// The AR9271 has one stream, and is at 2.4 GHz.
fn ath9k_htc(
    field: &Field<'_>,
    section: Option<Section<'_>>,
    channel: &Channel,
) -> Result<HtCapabilities, Diagnostic> {
    if channel.band != Band::Ghz2 || channel.width > Width::Mhz40 {
        return Err(field.found(
            "ath9k_htc, the AR9271's, on a channel it has not",
            "a channel of 20 or 40 MHz at 2.4 GHz, or minstrel_ht",
        ));
    }
    let mut can = HtCapabilities { streams: 1, width: channel.width, short_gi: true, formats: Formats::Ht };
    let Some(mut section) = section else { return Ok(can) };
    if let Some(width) = fits_channel(&mut section, &HT_WIDTHS, channel.width)? {
        can.width = width;
    }
    can.short_gi = section.or("short_gi", can.short_gi)?;
    section.finish()?;
    Ok(can)
}

/// The width that the table says, no wider than the channel.
fn fits_channel(
    section: &mut Section<'_>,
    names: &[&'static str],
    channel: Width,
) -> Result<Option<Width>, Diagnostic> {
    let Some(field) = section.get("width") else { return Ok(None) };
    let all: Vec<_> = names.iter().copied().zip(Width::ALL).collect();
    let width = field.choice(&all)?;
    if width > channel {
        let fits: Vec<_> = all.iter().filter(|(_, width)| *width <= channel).map(|(name, _)| *name).collect();
        return Err(field.wrong(suggest("", &fits)));
    }
    Ok(Some(width))
}

fn minstrel(section: Option<Section<'_>>, channel: &Channel) -> Result<LegacyMinstrel, Diagnostic> {
    let by_band = match channel.band {
        Band::Ghz2 => LegacyMinstrel::G,
        Band::Ghz5 | Band::Ghz6 => LegacyMinstrel::A,
    };
    let Some(mut section) = section else { return Ok(by_band) };
    let all = [LegacyMinstrel::A, LegacyMinstrel::B, LegacyMinstrel::G];
    let can = section.or_by("standard", by_band, |field| {
        let can = field.choice(&[0, 1, 2].map(|n: usize| (STANDARDS[n], all[n])))?;
        if (can == LegacyMinstrel::A) == (channel.band == Band::Ghz5) {
            Ok(can)
        } else {
            Err(field.wrong("a standard of the band: 802.11a at 5 GHz, 802.11b or 802.11g at 2.4 GHz"))
        }
    })?;
    section.finish()?;
    Ok(can)
}

fn chain(
    field: &Field<'_>,
    ([key, own], rate): (Keys, PhyRate),
    channel: &Channel,
) -> Result<RetryChain, Diagnostic> {
    let entries = field.list();
    if !field.is_list() || entries.len() > RetryChain::MAX {
        let found =
            if field.is_list() { format!("{} rates", entries.len()) } else { field.item.value.describe() };
        return Err(field.found(found, "a list of one to four rates"));
    }
    let mut tries = Vec::with_capacity(entries.len());
    for (i, entry) in entries.iter().enumerate() {
        let (field, next) = one(entry, rate)?;
        fits(next.rate, &field, channel)?;
        if i == 0 && next.rate != rate {
            return Err(field.wrong(format!(
                "the chain to begin with {key}, {:?}; {own} = [] undoes an inherited one",
                rate.to_string()
            )));
        }
        tries.push(next);
    }
    RetryChain::new(&tries).ok_or_else(|| field.wrong("a list of one to four rates"))
}

/// A rate's name, or a table of it, its tries and its RTS; with the field that holds the name.
fn one<'a>(entry: &Field<'a>, base: PhyRate) -> Result<(Field<'a>, RateTry), Diagnostic> {
    let parse = |field: &Field<'_>| field.unit(|text| units::phy_rate(text, Some(base)));
    if !matches!(entry.item.value, Value::Table(_)) {
        return Ok((entry.clone(), RateTry::new(parse(entry)?, TRIES)));
    }
    let mut section = entry.section("a table with rate and tries")?;
    let field = section.need("rate", "a rate such as \"mcs15\"")?;
    let rate = parse(&field)?;
    let tries = section.or("tries", TRIES)?;
    let rts = section.or("rts", false)?;
    section.finish()?;
    Ok((field, RateTry { rate, tries, rts }))
}

/// Refuses a rate wider than the channel.
fn fits(rate: PhyRate, field: &Field<'_>, channel: &Channel) -> Result<(), Diagnostic> {
    match rate {
        // spec: ieee80211ax-2021 26.17.2.1 - no HT and no VHT PPDUs at 6 GHz; what Linux sends there without
        // HE are management and control frames.
        rate if channel.band == Band::Ghz6 && !matches!(rate, PhyRate::He(_)) => {
            Err(field.wrong(format!("a rate of HE, as all data at 6 GHz, such as {HE_RATE:?}")))
        }
        PhyRate::Dsss(..) if channel.band == Band::Ghz5 => {
            Err(field.wrong("a rate that its channel's band has: 802.11b is at 2.4 GHz"))
        }
        PhyRate::Vht(_) if channel.band == Band::Ghz2 => {
            Err(field.wrong("a rate that its channel's band has: VHT is at 5 GHz"))
        }
        rate if rate.width() > channel.width => {
            Err(field.wrong(format!("a rate no wider than its channel, {} MHz", channel.width.megahertz())))
        }
        _ => Ok(()),
    }
}
