//! Names of rates as scenarios write them: `ht20-mcs15-sgi`, `ofdm-6`, and `mcs13` within a retry chain.

use core::fmt;

use super::rate::{DsssRate, Gi, HtRate, OfdmRate, PhyRate, Preamble, Width};

const FORMS: &str = "`ht20-mcs15-sgi`, `ht40-mcs7-lgi`, `ofdm-6` or `dsss-1`";

impl PhyRate {
    /// The rate called `name` in full; the error says what was found and what would be right.
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

    /// All rates of 802.11b, with each preamble that they may have.
    pub fn all_dsss() -> impl Iterator<Item = Self> {
        let long = DsssRate::ALL.map(|r| Self::Dsss(r, Preamble::Long));
        let short = DsssRate::ALL.map(|r| Self::Dsss(r, Preamble::Short));
        long.into_iter().chain(short.into_iter().skip(1))
    }

    /// The rate called `name` in a retry chain whose station sends at `self`: `mcs13` takes width and guard interval from
    /// there, a full name stands for itself.
    pub fn parse_in_chain(self, name: &str) -> Result<Self, String> {
        if !name.starts_with("mcs") {
            return Self::parse(name);
        }
        let mcs = parse_mcs(name)?;
        match self {
            Self::Ht(own) => Ok(Self::Ht(HtRate { mcs, ..own })),
            Self::Ofdm(_) | Self::Dsss(..) => Err(format!(
                "`{name}` has no width or guard interval to take from `{self}`: write it as {FORMS}"
            )),
        }
    }
}

fn parse_mcs(text: &str) -> Result<u8, String> {
    text.strip_prefix("mcs")
        .and_then(number)
        .and_then(|n| u8::try_from(n).ok())
        .filter(|&mcs| mcs <= HtRate::MAX_MCS)
        .ok_or_else(|| format!("`{text}` is no MCS index: it is `mcs0` to `mcs{}`", HtRate::MAX_MCS))
}

/// A decimal number without sign or leading zeros, so that every rate has one name only.
fn number(digits: &str) -> Option<u32> {
    let plain = digits.bytes().all(|b| b.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'));
    if plain { digits.parse().ok() } else { None }
}

impl fmt::Display for HtRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = match self.width {
            Width::Mhz20 => 20,
            Width::Mhz40 => 40,
        };
        let gi = match self.gi {
            Gi::Long => "lgi",
            Gi::Short => "sgi",
        };
        write!(f, "ht{width}-mcs{}-{gi}", self.mcs)
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

    #[test]
    fn every_rate_reads_back_what_it_prints() {
        let ofdm = OfdmRate::ALL.into_iter().map(PhyRate::Ofdm);
        let ht = (0..=HtRate::MAX_MCS).flat_map(|mcs| {
            [Width::Mhz20, Width::Mhz40].into_iter().flat_map(move |width| {
                [Gi::Long, Gi::Short].into_iter().map(move |gi| PhyRate::Ht(HtRate { mcs, width, gi }))
            })
        });
        let mut names = Vec::new();
        for rate in ofdm.chain(ht).chain(PhyRate::all_dsss()) {
            let name = rate.to_string();
            assert_eq!(PhyRate::parse(&name), Ok(rate));
            names.push(name);
        }
        assert_eq!(names.len(), 8 + 32 * 4 + 7);
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 8 + 32 * 4 + 7);
        assert!(names.iter().any(|n| n == "ht20-mcs15-sgi") && names.iter().any(|n| n == "ofdm-6"));
    }

    #[test]
    fn short_names_inherit() {
        let own = PhyRate::parse("ht40-mcs15-lgi").unwrap();
        assert_eq!(own.parse_in_chain("mcs13"), PhyRate::parse("ht40-mcs13-lgi"));
        assert_eq!(own.parse_in_chain("ht20-mcs5-sgi"), PhyRate::parse("ht20-mcs5-sgi"));
        assert_eq!(own.parse_in_chain("ofdm-6"), Ok(PhyRate::Ofdm(OfdmRate::M6)));
        assert!(PhyRate::Ofdm(OfdmRate::M6).parse_in_chain("mcs0").unwrap_err().contains("ofdm-6"));
    }

    #[test]
    fn wrong_names_are_explained() {
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
        ] {
            let message = PhyRate::parse(name).unwrap_err();
            assert!(message.contains(hint) && message.contains(&format!("`{name}`")), "{message}");
        }
    }
}
