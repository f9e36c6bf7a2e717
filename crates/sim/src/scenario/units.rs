//! Parses numbers with units and names of rates into integers, without floating point.
//!
//! Each function's error text states what is expected.

use stillair_model::types::{Duration, Rate};
use stillair_model::wifi::phy::{Gi, HeRate, HtRate, OfdmRate, PhyRate, VhtRate, Width};

/// Description of the expected text.
pub(super) type Expected = String;

const TIMES: [(&str, u64); 5] =
    [("ns", 1), ("us", 1_000), ("µs", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)];
const RATES: [(&str, u64); 4] =
    [("bit/s", 1), ("kbit/s", 1_000), ("Mbit/s", 1_000_000), ("Gbit/s", 1_000_000_000)];
const SIZES: [(&str, u64); 5] =
    [("B", 1), ("kB", 1_000), ("MB", 1_000_000), ("KiB", 1 << 10), ("MiB", 1 << 20)];

/// Maximum time, eleven days: sums of times in a run stay far below 64 bits.
const MAX_TIME: u64 = 1_000_000 * 1_000_000_000;
/// Maximum rate, 1 Tbit/s.
const MAX_RATE: u64 = 1_000_000_000_000;

/// Parses a time such as `5 ms`.
pub(super) fn duration(text: &str) -> Result<Duration, Expected> {
    match quantity(text, &TIMES) {
        Some(Quantity::Whole(ns)) if ns <= MAX_TIME => Ok(Duration::from_nanos(ns)),
        Some(Quantity::Whole(_)) => Err("at most 1000000 s".to_owned()),
        Some(Quantity::Fraction) => Err("a whole number of nanoseconds".to_owned()),
        None => Err(format!("a time in ns, us, ms or s, such as \"5 ms\"{}", but(text, &TIMES))),
    }
}

/// Parses a rate such as `144.4 Mbit/s`, which must not be zero.
pub(super) fn rate(text: &str) -> Result<Rate, Expected> {
    match quantity(text, &RATES) {
        Some(Quantity::Whole(0)) => Err("a rate above zero".to_owned()),
        Some(Quantity::Whole(bps)) if bps <= MAX_RATE => Ok(Rate::from_bps(bps)),
        Some(Quantity::Whole(_)) => Err("at most 1000 Gbit/s".to_owned()),
        Some(Quantity::Fraction) => Err("a whole number of bits per second".to_owned()),
        None => {
            let but = but(text, &RATES);
            Err(format!("a rate in bit/s, kbit/s, Mbit/s or Gbit/s, such as \"10 Mbit/s\"{but}"))
        }
    }
}

/// Parses a rate or zero.
pub(super) fn rate_or_zero(text: &str) -> Result<Rate, Expected> {
    match quantity(text, &RATES) {
        Some(Quantity::Whole(0)) => Ok(Rate::from_bps(0)),
        _ => rate(text),
    }
}

/// Parses a number of bytes such as `64 KiB`.
pub(super) fn bytes(text: &str) -> Result<u64, Expected> {
    match quantity(text, &SIZES) {
        Some(Quantity::Whole(bytes)) => Ok(bytes),
        Some(Quantity::Fraction) => Err("a whole number of bytes".to_owned()),
        None => {
            let but = but(text, &SIZES);
            Err(format!("a number of bytes, or a size in B, kB, MB, KiB or MiB, such as \"64 KiB\"{but}"))
        }
    }
}

/// Returns a quantity such as `40 MHz` without the space before its unit, which is optional; `None` for a
/// plain name.
pub(super) fn unspaced(name: &str) -> Option<String> {
    let is_measure = name.starts_with(|c: char| c.is_ascii_digit());
    name.split_once(' ').filter(|_| is_measure).map(|(number, unit)| format!("{number}{unit}"))
}

/// Returns a regular expression for a number with one of these units, and the units.
fn described(units: &[(&'static str, u64)]) -> (String, Vec<&'static str>) {
    let names: Vec<&str> = units.iter().map(|(name, _)| *name).collect();
    (format!(r"^\s*[0-9]+(\.[0-9]+)?\s*({})\s*$", names.join("|")), names)
}

/// Parses a power ratio such as `25 dB`, in thousandths of a decibel.
pub(super) fn ratio(text: &str) -> Result<i32, Expected> {
    signed(text, &[("dB", 1_000)]).ok_or_else(|| format!("a ratio in dB, {DECIBELS}, such as \"25 dB\""))
}

/// Parses a power level such as `16 dBm`, in thousandths of a dBm.
pub(super) fn level(text: &str) -> Result<i32, Expected> {
    signed(text, &[("dBm", 1_000)]).ok_or_else(|| format!("a level in dBm, {DECIBELS}, such as \"16 dBm\""))
}

/// Bounds of ratios and levels, beyond those of any radio.
const DECIBELS: &str = "-200 to 200";

fn signed(text: &str, units: &[(&str, u64)]) -> Option<i32> {
    let text = text.trim();
    let (sign, plain) = text.strip_prefix('-').map_or((1, text), |plain| (-1, plain));
    match quantity(plain, units) {
        Some(Quantity::Whole(n)) if n <= 200_000 => Some(sign * n as i32),
        _ => None,
    }
}

/// Parses a length such as `10 m`, in millimetres.
pub(super) fn length(text: &str) -> Result<u64, Expected> {
    match quantity(text, &[("m", 1_000)]) {
        Some(Quantity::Whole(n)) if (1..=1_000_000_000).contains(&n) => Ok(n),
        _ => Err("a length in m, above zero and in whole millimetres, such as \"10 m\"".to_owned()),
    }
}

/// Formats a time in the largest unit that gives an integer.
pub(super) fn duration_text(time: Duration) -> String {
    quantity_text(time.nanos(), &TIMES)
}

/// Formats a range of two times in one unit.
pub(super) fn range_text(low: Duration, high: Duration) -> String {
    let whole = |scale: u64| low.nanos().is_multiple_of(scale) && high.nanos().is_multiple_of(scale);
    let (unit, scale) = largest(&TIMES[..4], whole);
    format!("{} {unit}..{} {unit}", low.nanos() / scale, high.nanos() / scale)
}

/// Formats a rate.
pub(super) fn rate_text(rate: Rate) -> String {
    quantity_text(rate.bps(), &RATES)
}

fn quantity_text(number: u64, units: &[(&str, u64)]) -> String {
    let whole = |scale: u64| number.is_multiple_of(scale) && (number != 0 || scale == 1_000_000);
    let (unit, scale) = largest(units, whole);
    format!("{} {unit}", number / scale)
}

/// Returns the largest unit for which `whole` holds; the smallest is one.
fn largest<'a>(units: &[(&'a str, u64)], whole: impl Fn(u64) -> bool) -> (&'a str, u64) {
    let able = units.iter().filter(|(name, scale)| name.is_ascii() && whole(*scale));
    *able.last().unwrap_or(&units[0])
}

/// Returns the notation of times: a regular expression, and the units.
pub(super) fn times() -> (String, Vec<&'static str>) {
    described(&TIMES)
}

/// Returns the notation of rates: a regular expression, and the units.
pub(super) fn rates() -> (String, Vec<&'static str>) {
    described(&RATES)
}

/// Returns the notation of sizes: a regular expression, and the units.
pub(super) fn sizes() -> (String, Vec<&'static str>) {
    described(&SIZES)
}

/// Returns the names of all rates: in full, or as entries of a retry chain.
pub(super) fn phy_rates(in_chain: bool) -> Vec<String> {
    let short = (0..=HtRate::MAX_MCS).filter(|_| in_chain).map(|mcs| format!("mcs{mcs}"));
    let ht = [Width::Mhz20, Width::Mhz40].into_iter().flat_map(|width| {
        [Gi::Long, Gi::Short].into_iter().flat_map(move |gi| {
            (0..=HtRate::MAX_MCS).map(move |mcs| PhyRate::Ht(HtRate { mcs, width, gi }).to_string())
        })
    });
    let ofdm = OfdmRate::ALL.into_iter().map(|rate| PhyRate::Ofdm(rate).to_string());
    let dsss = PhyRate::all_dsss().map(|rate| rate.to_string());
    let vht = VhtRate::all().map(|rate| PhyRate::Vht(rate).to_string());
    let he = HeRate::all().map(|rate| PhyRate::He(rate).to_string());
    short.chain(ht).chain(ofdm).chain(dsss).chain(vht).chain(he).collect()
}

/// Returns the names of all rates without HT.
pub(super) fn legacy_rates() -> Vec<String> {
    let ofdm = OfdmRate::ALL.into_iter().map(PhyRate::Ofdm);
    ofdm.chain(PhyRate::all_dsss()).map(|rate| rate.to_string()).collect()
}

/// A number multiplied by its unit.
enum Quantity {
    /// An integer in the smallest unit. Saturates at the maximum.
    Whole(u64),
    /// Finer than the smallest unit.
    Fraction,
}

/// Parses `NUMBER UNIT`; the space is optional.
fn quantity(text: &str, units: &[(&str, u64)]) -> Option<Quantity> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let unit = text[end..].trim_start();
    let (_, scale) = units.iter().find(|(name, _)| *name == unit)?;
    let (whole, fraction) = text[..end].split_once('.').unwrap_or((&text[..end], "0"));
    Some(match scaled(whole, fraction, *scale)? {
        Some(n) => Quantity::Whole(n),
        None => Quantity::Fraction,
    })
}

/// Returns an addition to the error for a negative number or an exponent with one of these units.
fn but(text: &str, units: &[(&str, u64)]) -> &'static str {
    let text = text.trim();
    if let Some(plain) = text.strip_prefix('-')
        && quantity(plain, units).is_some()
    {
        return ", not below zero";
    }
    let Some((number, rest)) = text.split_once(['e', 'E']) else { return "" };
    let unit = rest.trim_start_matches(['+', '-']).trim_start_matches(|c: char| c.is_ascii_digit());
    let is_exponent = unit.len() < rest.len()
        && quantity(&format!("{}{unit}", number.trim_start_matches('-')), units).is_some();
    if is_exponent { ", without an exponent" } else { "" }
}

/// Multiplies `whole.fraction` by `scale`. The outer `None` means not a number, the inner `None` a product
/// that is not an integer.
fn scaled(whole: &str, fraction: &str, scale: u64) -> Option<Option<u64>> {
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(fraction) {
        return None;
    }
    // No unit exceeds 10^9, so further digits can only be zeros.
    let fraction = fraction.trim_end_matches('0');
    if fraction.len() > 9 {
        return Some(None);
    }
    // A number too long for 64 bits saturates; the caller reports it as too large.
    let whole = whole.parse::<u64>().unwrap_or(u64::MAX);
    let part = if fraction.is_empty() { 0 } else { fraction.parse::<u64>().ok()? };
    let unit = 10_u64.pow(fraction.len() as u32);
    let part = u128::from(part) * u128::from(scale);
    if part % u128::from(unit) != 0 {
        return Some(None);
    }
    let sum = u128::from(whole) * u128::from(scale) + part / u128::from(unit);
    Some(Some(u64::try_from(sum).unwrap_or(u64::MAX)))
}

/// Parses a decimal fraction in millionths.
pub(super) fn millionths(text: &str) -> Option<u32> {
    let text = text.trim();
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    u32::try_from(scaled(whole, fraction, 1_000_000)??).ok()
}

/// Parses an integer range `a..b`, both ends included.
pub(super) fn range(text: &str) -> Option<(i64, i64)> {
    let (low, high) = text.split_once("..")?;
    let (low, high) = (low.trim().parse().ok()?, high.trim().parse().ok()?);
    (low <= high).then_some((low, high))
}

/// Parses the rate named `text`, such as `ht20-mcs15-sgi` or `ofdm-24`.
///
/// In a retry chain `mcs14` inherits the rest from `base`: on `ht20-mcs15-sgi` it means `ht20-mcs14-sgi`.
pub(super) fn phy_rate(text: &str, base: Option<PhyRate>) -> Result<PhyRate, Expected> {
    base.map_or_else(|| PhyRate::parse(text), |own| own.parse_in_chain(text)).map_err(|why| {
        if text.starts_with("ofdm") {
            let all = OfdmRate::ALL.map(|r| format!("\"{}\"", PhyRate::Ofdm(r)));
            return format!("an OFDM rate: one of {}", all.join(", "));
        }
        if let Some((_, why)) = why.split_once("VHT has no ") {
            return format!("a rate that the standard has: VHT has no {why}");
        }
        if text.starts_with("vht") || text.starts_with("he") {
            return "a rate such as \"vht80-mcs9-nss2-sgi\" (mcs 0 to 9, where the standard has it) or \"he80-mcs11-nss2-gi0.8\"".to_owned();
        }
        match base {
            Some(PhyRate::Ht(_)) => {
                let most = HtRate::MAX_MCS;
                format!("an HT rate such as \"ht20-mcs15-sgi\" or \"mcs15\" (mcs 0 to {most})")
            }
            Some(own) => format!("a whole rate of the chain's kind, such as \"{own}\""),
            None if text.starts_with("ht") => {
                format!("an HT rate such as \"ht20-mcs15-sgi\" (mcs 0 to {})", HtRate::MAX_MCS)
            }
            None => "a rate such as \"ht20-mcs15-sgi\", \"vht80-mcs9-nss2-sgi\", \"he80-mcs11-nss2-gi0.8\", \"ofdm-54\" or \"dsss-11\", or a \
                     rate control such as \"minstrel_ht\""
                .to_owned(),
        }
    })
}

/// Returns the rates that a name selects: `mcs14` selects 802.11n's at every width and guard interval, a full
/// name only itself.
pub(super) fn phy_rates_named(text: &str) -> Result<Vec<PhyRate>, Expected> {
    if !text.starts_with("mcs") {
        return phy_rate(text, None).map(|rate| vec![rate]);
    }
    let both = |width| [Gi::Long, Gi::Short].map(|gi| PhyRate::Ht(HtRate { mcs: 0, width, gi }));
    let like = [Width::Mhz20, Width::Mhz40].into_iter().flat_map(both);
    like.map(|like| phy_rate(text, Some(like))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quantities() {
        let ns = |text| duration(text).map(Duration::nanos).ok();
        for (text, value) in [
            ("5 ms", Some(5_000_000)),
            ("102.4 ms", Some(102_400_000)),
            ("3.6us", Some(3_600)),
            ("0 s", Some(0)),
            ("300 µs", Some(300_000)),
            ("0.000000001 s", Some(1)),
            ("1.500 ns", None),
            ("0.0000000001 s", None),
            ("5", None),
            ("ms", None),
            (".5 ms", None),
            ("5. ms", None),
            ("1.2.3 ms", None),
            ("-5 ms", None),
            ("5 Ms", None),
            ("1000000 s", Some(MAX_TIME)),
            ("1000001 s", None),
            ("99999999999999999999999999 s", None),
        ] {
            assert_eq!(ns(text), value, "{text}");
        }
        let bps = |text| rate(text).map(Rate::bps).ok();
        for (text, value) in [
            ("144.4 Mbit/s", Some(144_400_000)),
            ("1 Gbit/s", Some(1_000_000_000)),
            ("0 Mbit/s", None),
            ("1 Gbps", None),
            ("0.5 bit/s", None),
        ] {
            assert_eq!(bps(text), value, "{text}");
        }
        assert_eq!(bytes("64 KiB"), Ok(65_536));
        assert_eq!(bytes("1.5 kB"), Ok(1_500));
        assert_eq!(millionths("0.5"), Some(500_000));
        assert_eq!(millionths("0.0000001"), None);
        assert_eq!(range("1..30"), Some((1, 30)));
        assert_eq!(range("3..1"), None);
    }

    #[test]
    fn rates() {
        let base = phy_rate("ht20-mcs15-sgi", None).ok();
        for (text, base, name) in [
            ("ht20-mcs15-sgi", None, Some("ht20-mcs15-sgi")),
            ("ht40-mcs7", None, None),
            ("ht40-mcs7-lgi", base, Some("ht40-mcs7-lgi")),
            ("mcs14", base, Some("ht20-mcs14-sgi")),
            ("mcs14-lgi", base, None),
            ("mcs14", None, None),
            ("ofdm-24", base, Some("ofdm-24")),
            ("ofdm-25", None, None),
            ("ht20-mcs32", None, None),
            ("ht20-mcs015", None, None),
            ("ht20-mcs+1", None, None),
            ("ht20", None, None),
            ("ht20-mcs1-sgi-x", None, None),
        ] {
            assert_eq!(phy_rate(text, base).ok().map(|r| r.to_string()).as_deref(), name, "{text}");
        }
    }

    proptest! {
        #[test]
        fn decimal_times_are_exact(ns in 0..=MAX_TIME) {
            let text = format!("{}.{:06} ms", ns / 1_000_000, ns % 1_000_000);
            prop_assert_eq!(duration(&text), Ok(Duration::from_nanos(ns)));
            let text = format!("{}.{:09} s", ns / 1_000_000_000, ns % 1_000_000_000);
            prop_assert_eq!(duration(&text), Ok(Duration::from_nanos(ns)));
        }
    }
}
