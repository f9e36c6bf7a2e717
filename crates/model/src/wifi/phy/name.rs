//! Rate names as written in scenarios: `ht20-mcs15-sgi`, `ofdm-6`, and `mcs13` within a retry chain.

use alloc::format;
use alloc::string::String;
use alloc::string::ToString;
use core::fmt;

use super::channel::{Gi, Width};
use super::rate::{DsssRate, HtRate, OfdmRate, PhyRate, Preamble};
use super::vht_he::{HeGi, HeRate, VhtRate};

const FORMS: &str =
    "`ht20-mcs15-sgi`, `ht40-mcs7-lgi`, `vht80-mcs9-nss2-sgi`, `he80-mcs11-nss2-gi0.8`, `ofdm-6` or `dsss-1`";

impl PhyRate {
    /// Parses a full rate name. The error states the input and the accepted forms.
    pub fn parse(name: &str) -> Result<Self, String> {
        if let Some(mbps) = name.strip_prefix("ofdm-") {
            return OfdmRate::ALL
                .into_iter()
                .find(|r| number(mbps) == Some(r.mbps()))
                .map(Self::Ofdm)
                .ok_or_else(|| {
                    format!("no OFDM rate `{name}`: it is one of 6, 9, 12, 18, 24, 36, 48, 54 after `ofdm-`")
                });
        }
        if let Some(dsss) = Self::all_dsss().find(|r| r.to_string() == name) {
            return Ok(dsss);
        }
        if let Some(found) = vht_or_he(name) {
            return found;
        }
        let (width, rest) = match name.split_once('-') {
            Some(("ht20", rest)) => (Width::Mhz20, rest),
            Some(("ht40", rest)) => (Width::Mhz40, rest),
            _ => return Err(format!("no rate `{name}`: write it as {FORMS}")),
        };
        let (mcs, gi) = match rest.rsplit_once('-') {
            Some((mcs, "lgi")) => (mcs, Gi::Long),
            Some((mcs, "sgi")) => (mcs, Gi::Short),
            _ => return Err(format!("rate `{name}` must end in `-lgi` or `-sgi`, as in {FORMS}")),
        };
        let mcs = parse_mcs(mcs).map_err(|e| format!("rate `{name}`: {e}"))?;
        Ok(Self::Ht(HtRate { mcs, width, gi }))
    }

    /// Returns all 802.11b rates with each supported preamble.
    pub fn all_dsss() -> impl Iterator<Item = Self> {
        let long = DsssRate::ALL.map(|r| Self::Dsss(r, Preamble::Long));
        let short = DsssRate::ALL.map(|r| Self::Dsss(r, Preamble::Short));
        long.into_iter().chain(short.into_iter().skip(1))
    }

    /// Parses a rate of a retry chain whose station sends at `self`. `mcs13` takes width and guard interval
    /// from `self`; a full name is used as is.
    pub fn parse_in_chain(self, name: &str) -> Result<Self, String> {
        if !name.starts_with("mcs") {
            return Self::parse(name);
        }
        let number = name.strip_prefix("mcs").and_then(number).and_then(|n| u8::try_from(n).ok());
        let none = || format!("`{name}` is no MCS of `{self}`");
        match self {
            Self::Ht(own) => parse_mcs(name).map(|mcs| Self::Ht(HtRate { mcs, ..own })),
            Self::Vht(own) => {
                vht(number, own).ok_or_else(|| excluded(name, number, own).unwrap_or_else(none))
            }
            Self::He(own) => he(number, own).ok_or_else(none),
            Self::Ofdm(_) | Self::Dsss(..) => Err(format!(
                "`{name}` has no width or guard interval to take from `{self}`: write it as {FORMS}"
            )),
        }
    }
}

/// Parses a VHT or HE name, or returns `None` if the name does not start with either. All parts are required,
/// in this order.
fn vht_or_he(name: &str) -> Option<Result<PhyRate, String>> {
    let mut parts = name.split('-');
    let head = parts.next()?;
    let digits = head.find(|c: char| c.is_ascii_digit())?;
    let (format, width) = head.split_at(digits);
    if !["vht", "he"].contains(&format) {
        return None;
    }
    let mut after = |prefix: &str| parts.next().and_then(|part| part.strip_prefix(prefix)).and_then(number);
    let (mcs, streams) = (after("mcs"), after("nss"));
    let gi = parts.next();
    let width = Width::ALL.into_iter().find(|w| number(width) == Some(w.megahertz()));
    let mcs = mcs.and_then(|n| u8::try_from(n).ok());
    let streams = streams.and_then(|n| u8::try_from(n).ok()).filter(|n| (1..=4).contains(n));
    let whole = parts.next().is_none();
    let none = || {
        format!(
            "no rate `{name}`: `vht80-mcs9-nss2-sgi` and `he80-mcs11-nss2-gi0.8` are such, with 1 to 4 streams, 20 to 160 MHz, an MCS \
             up to 9 or up to 11, and a guard interval `lgi` or `sgi`, or `gi0.8`, `gi1.6` or `gi3.2`"
        )
    };
    let (Some(width), Some(streams), true) = (width, streams, whole) else { return Some(Err(none())) };
    Some(if format == "vht" {
        let gi = [("lgi", Gi::Long), ("sgi", Gi::Short)].into_iter().find(|(n, _)| Some(*n) == gi);
        let Some((_, gi)) = gi else { return Some(Err(none())) };
        let own = VhtRate { mcs: 0, streams, width, gi };
        vht(mcs, own).ok_or_else(|| excluded(name, mcs, own).unwrap_or_else(none))
    } else {
        let gi = HeGi::ALL.into_iter().find(|g| Some(he_gi(*g)) == gi);
        gi.and_then(|gi| he(mcs, HeRate { mcs: 0, streams, width, gi })).ok_or_else(none)
    })
}

/// Error message for a VHT rate excluded by the standard.
fn excluded(name: &str, mcs: Option<u8>, own: VhtRate) -> Option<String> {
    let mcs = mcs.filter(|&mcs| mcs <= VhtRate::MAX_MCS)?;
    let with = if own.streams == 1 { "one stream".to_string() } else { format!("{} streams", own.streams) };
    Some(format!(
        "no rate `{name}`: VHT has no MCS {mcs} at {} MHz with {with}, as the bits of a symbol would not divide among the encoders",
        own.width.megahertz()
    ))
}

/// Returns `own` with another MCS.
fn vht(mcs: Option<u8>, own: VhtRate) -> Option<PhyRate> {
    let rate = VhtRate { mcs: mcs.filter(|&mcs| mcs <= VhtRate::MAX_MCS)?, ..own };
    rate.is_allowed().then_some(PhyRate::Vht(rate))
}

fn he(mcs: Option<u8>, own: HeRate) -> Option<PhyRate> {
    mcs.filter(|&mcs| mcs <= HeRate::MAX_MCS).map(|mcs| PhyRate::He(HeRate { mcs, ..own }))
}

const fn he_gi(gi: HeGi) -> &'static str {
    match gi {
        HeGi::Ns800 => "gi0.8",
        HeGi::Ns1600 => "gi1.6",
        HeGi::Ns3200 => "gi3.2",
    }
}

const fn gi_name(gi: Gi) -> &'static str {
    match gi {
        Gi::Long => "lgi",
        Gi::Short => "sgi",
    }
}

fn parse_mcs(text: &str) -> Result<u8, String> {
    text.strip_prefix("mcs")
        .and_then(number)
        .and_then(|n| u8::try_from(n).ok())
        .filter(|&mcs| mcs <= HtRate::MAX_MCS)
        .ok_or_else(|| format!("`{text}` is no MCS index: it is `mcs0` to `mcs{}`", HtRate::MAX_MCS))
}

/// Parses a decimal number without sign or leading zeros, so that each rate has a single name.
fn number(digits: &str) -> Option<u32> {
    let plain = digits.bytes().all(|b| b.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'));
    if plain { digits.parse().ok() } else { None }
}

impl fmt::Display for HtRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ht{}-mcs{}-{}", self.width.megahertz(), self.mcs, gi_name(self.gi))
    }
}

impl fmt::Display for OfdmRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ofdm-{}", self.mbps())
    }
}

impl fmt::Display for PhyRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ht(r) => r.fmt(f),
            Self::Ofdm(r) => r.fmt(f),
            Self::Vht(r) => {
                let width = r.width.megahertz();
                write!(f, "vht{width}-mcs{}-nss{}-{}", r.mcs, r.streams, gi_name(r.gi))
            }
            Self::He(r) => {
                let width = r.width.megahertz();
                write!(f, "he{width}-mcs{}-nss{}-{}", r.mcs, r.streams, he_gi(r.gi))
            }
            Self::Dsss(r, preamble) => {
                let short = if *preamble == Preamble::Short { "-short" } else { "" };
                let name = match r {
                    DsssRate::M1 => "dsss-1",
                    DsssRate::M2 => "dsss-2",
                    DsssRate::M5_5 => "cck-5.5",
                    DsssRate::M11 => "cck-11",
                };
                write!(f, "{name}{short}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn names_round_trip() {
        let ofdm = OfdmRate::ALL.into_iter().map(PhyRate::Ofdm);
        let ht = (0..=HtRate::MAX_MCS).flat_map(|mcs| {
            [Width::Mhz20, Width::Mhz40].into_iter().flat_map(move |width| {
                [Gi::Long, Gi::Short].into_iter().map(move |gi| PhyRate::Ht(HtRate { mcs, width, gi }))
            })
        });
        let mut names = Vec::new();
        let vht = VhtRate::all().map(PhyRate::Vht);
        let he = HeRate::all().map(PhyRate::He);
        let count = 8 + 32 * 4 + 7 + VhtRate::all().count() + HeRate::all().count();
        for rate in ofdm.chain(ht).chain(PhyRate::all_dsss()).chain(vht).chain(he) {
            let name = rate.to_string();
            assert_eq!(PhyRate::parse(&name), Ok(rate));
            names.push(name);
        }
        assert_eq!(names.len(), count);
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(names.iter().any(|n| n == "ht20-mcs15-sgi") && names.iter().any(|n| n == "ofdm-6"));
    }

    #[test]
    fn short_names_inherit_width_and_guard_interval() {
        let own = PhyRate::parse("ht40-mcs15-lgi").unwrap();
        assert_eq!(own.parse_in_chain("mcs13"), PhyRate::parse("ht40-mcs13-lgi"));
        assert_eq!(own.parse_in_chain("ht20-mcs5-sgi"), PhyRate::parse("ht20-mcs5-sgi"));
        assert_eq!(own.parse_in_chain("ofdm-6"), Ok(PhyRate::Ofdm(OfdmRate::M6)));
        let vht = PhyRate::parse("vht80-mcs9-nss3-sgi").unwrap();
        assert_eq!(vht.parse_in_chain("mcs5"), PhyRate::parse("vht80-mcs5-nss3-sgi"));
        assert!(
            vht.parse_in_chain("mcs6").unwrap_err().contains("VHT has no MCS 6 at 80 MHz with 3 streams")
        );
        assert!(vht.parse_in_chain("mcs10").unwrap_err().contains("no MCS of"));
        assert!(PhyRate::Ofdm(OfdmRate::M6).parse_in_chain("mcs0").unwrap_err().contains("ofdm-6"));
    }

    #[test]
    fn errors_for_wrong_names() {
        for (name, hint) in [
            ("ofdm-7", "6, 9, 12"),
            ("ofdm-06", "6, 9, 12"),
            ("ht20-mcs15", "-sgi"),
            ("ht20-mcs32-sgi", "mcs31"),
            ("ht20-mcs+1-sgi", "mcs31"),
            ("ht20-mcs-sgi", "mcs31"),
            ("ht20-sgi", "-lgi"),
            ("ht80-mcs1-sgi", "ht40-mcs7-lgi"),
            ("mcs13", "ht20-mcs15-sgi"),
            ("", "ofdm-6"),
            ("dsss-1-short", "dsss-1"),
            ("vht80-mcs10-nss1-sgi", "vht80-mcs9-nss2-sgi"),
            ("vht20-mcs9-nss1-sgi", "VHT has no MCS 9 at 20 MHz with one stream"),
            ("vht20-mcs9-nss4-lgi", "VHT has no MCS 9 at 20 MHz with 4 streams"),
            ("vht80-mcs6-nss3-lgi", "VHT has no MCS 6 at 80 MHz with 3 streams"),
            ("vht160-mcs9-nss3-sgi", "VHT has no MCS 9 at 160 MHz with 3 streams"),
            ("vht320-mcs9-nss3-sgi", "20 to 160 MHz"),
            ("vht80-mcs9-nss2-gi0.8", "`lgi` or `sgi`"),
            ("vht80-mcs9-sgi", "1 to 4 streams"),
            ("he80-mcs11-nss5-gi0.8", "1 to 4 streams"),
            ("he80-mcs11-nss2-sgi", "gi3.2"),
            ("he30-mcs1-nss2-gi0.8", "20 to 160"),
            ("he80-mcs11-nss2-gi0.8-x", "he80"),
        ] {
            let message = PhyRate::parse(name).unwrap_err();
            assert!(message.contains(hint) && message.contains(&format!("`{name}`")), "{message}");
        }
    }
}
