//! PHY rates and retry chains.

use super::channel::{Gi, Width};
use super::vht_he::{HeRate, VhtRate};
use crate::types::Rate;

/// An HT rate (802.11n).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HtRate {
    /// Modulation and coding scheme, 0 to 31; streams = mcs / 8 + 1.
    pub mcs: u8,
    /// Channel width, 20 or 40 MHz.
    pub width: Width,
    /// Guard interval.
    pub gi: Gi,
}

/// A legacy OFDM rate (802.11a/g).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum OfdmRate {
    /// 6 Mbit/s.
    M6,
    /// 9 Mbit/s.
    M9,
    /// 12 Mbit/s.
    M12,
    /// 18 Mbit/s.
    M18,
    /// 24 Mbit/s.
    M24,
    /// 36 Mbit/s.
    M36,
    /// 48 Mbit/s.
    M48,
    /// 54 Mbit/s.
    M54,
}

/// An 802.11b rate: DSSS at 1 and 2 Mbit/s, CCK at 5.5 and 11.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum DsssRate {
    /// 1 Mbit/s.
    M1,
    /// 2 Mbit/s.
    M2,
    /// 5.5 Mbit/s.
    M5_5,
    /// 11 Mbit/s.
    M11,
}

/// Preamble of a DSSS or CCK PPDU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Preamble {
    /// Long: 192 us including the header.
    Long,
    /// Short: 96 us including the header; not available at 1 Mbit/s.
    Short,
}

/// A rate of any PHY.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PhyRate {
    /// 802.11n, HT-mixed format.
    Ht(HtRate),
    /// 802.11a/g.
    Ofdm(OfdmRate),
    /// 802.11b.
    Dsss(DsssRate, Preamble),
    /// 802.11ac.
    Vht(VhtRate),
    /// 802.11ax.
    He(HeRate),
}

impl HtRate {
    /// Highest MCS index with equal modulation on all streams.
    pub const MAX_MCS: u8 = 31;

    /// Returns the number of spatial streams, 1 to 4.
    // spec: ieee80211-2016 19.5 tables 19-27 to 19-34 - eight modulations per number of streams.
    #[inline]
    pub const fn streams(self) -> u8 {
        self.mcs / 8 + 1
    }

    /// Returns the data bits per OFDM symbol, over all streams (N_DBPS).
    // spec: ieee80211-2016 19.5 tables 19-27 to 19-34 - 52 or 108 data subcarriers times coded bits times
    // code rate; the table holds the product of the latter two in half bits per subcarrier.
    #[inline]
    pub const fn bits_per_symbol(self) -> u32 {
        const HALF_BITS: [u32; 8] = [1, 2, 3, 4, 6, 8, 9, 10];
        let half_subcarriers = match self.width {
            Width::Mhz20 => 26,
            _ => 54,
        };
        half_subcarriers * HALF_BITS[(self.mcs % 8) as usize] * self.streams() as u32
    }

    /// Returns the length of an OFDM symbol with its guard interval, in ns.
    #[inline]
    pub const fn symbol_nanos(self) -> u64 {
        match self.gi {
            Gi::Long => 4_000,
            Gi::Short => 3_600,
        }
    }

    /// Returns the number of convolutional encoders (N_ES), each of which adds six tail bits.
    // spec: ieee80211-2016 19.3.11.4 and tables 19-27 to 19-34 - two encoders above 300 Mbit/s. Both guard
    // intervals have the same number, so the rate with the long one decides: 1200 bits per symbol are 300
    // Mbit/s.
    #[inline]
    pub const fn encoders(self) -> u32 {
        if self.bits_per_symbol() > 1_200 { 2 } else { 1 }
    }

    /// Returns the data rate, rounded down to 1 bit/s.
    pub const fn rate(self) -> Rate {
        Rate::from_bps(self.bits_per_symbol() as u64 * 1_000_000_000 / self.symbol_nanos())
    }
}

impl OfdmRate {
    /// All rates, slowest first.
    pub const ALL: [Self; 8] =
        [Self::M6, Self::M9, Self::M12, Self::M18, Self::M24, Self::M36, Self::M48, Self::M54];

    /// Returns the data bits per OFDM symbol (N_DBPS).
    // spec: ieee80211-2016 17.3.2.3 table 17-4 - four bits per Mbit/s, because a symbol lasts 4 us.
    #[inline]
    pub const fn bits_per_symbol(self) -> u32 {
        4 * self.mbps()
    }

    /// Returns the data rate in Mbit/s.
    #[inline]
    pub const fn mbps(self) -> u32 {
        match self {
            Self::M6 => 6,
            Self::M9 => 9,
            Self::M12 => 12,
            Self::M18 => 18,
            Self::M24 => 24,
            Self::M36 => 36,
            Self::M48 => 48,
            Self::M54 => 54,
        }
    }

    /// Returns the data rate.
    pub const fn rate(self) -> Rate {
        Rate::from_mbps(self.mbps() as u64)
    }
}

impl DsssRate {
    /// All rates, slowest first.
    pub const ALL: [Self; 4] = [Self::M1, Self::M2, Self::M5_5, Self::M11];

    /// Returns the data bits per 2 us.
    #[inline]
    pub const fn bits_in_2_micros(self) -> u32 {
        match self {
            Self::M1 => 2,
            Self::M2 => 4,
            Self::M5_5 => 11,
            Self::M11 => 22,
        }
    }

    /// Returns the data rate.
    pub const fn rate(self) -> Rate {
        Rate::from_bps(self.bits_in_2_micros() as u64 * 500_000)
    }
}

impl PhyRate {
    /// Returns the data bits per OFDM symbol (N_DBPS), or per 2 us for 802.11b.
    #[inline]
    pub const fn bits_per_symbol(self) -> u32 {
        match self {
            Self::Ht(r) => r.bits_per_symbol(),
            Self::Ofdm(r) => r.bits_per_symbol(),
            Self::Dsss(r, _) => r.bits_in_2_micros(),
            Self::Vht(r) => r.bits_per_symbol(),
            Self::He(r) => r.bits_per_symbol(),
        }
    }

    /// Returns the length of an OFDM symbol with its guard interval in ns, or 2,000 for 802.11b.
    #[inline]
    pub const fn symbol_nanos(self) -> u64 {
        match self {
            Self::Ht(r) => r.symbol_nanos(),
            Self::Ofdm(_) => 4_000,
            Self::Dsss(..) => 2_000,
            Self::Vht(r) => r.symbol_nanos(),
            Self::He(r) => r.symbol_nanos(),
        }
    }

    /// Returns the data rate, rounded down to 1 bit/s.
    pub const fn rate(self) -> Rate {
        match self {
            Self::Ht(r) => r.rate(),
            Self::Ofdm(r) => r.rate(),
            Self::Dsss(r, _) => r.rate(),
            Self::Vht(r) => r.rate(),
            Self::He(r) => r.rate(),
        }
    }

    /// Returns the number of spatial streams.
    #[inline]
    pub const fn streams(self) -> u8 {
        match self {
            Self::Ht(r) => r.streams(),
            Self::Ofdm(_) | Self::Dsss(..) => 1,
            Self::Vht(r) => r.streams,
            Self::He(r) => r.streams,
        }
    }

    /// Returns the channel width. 802.11b counts as 20 MHz.
    #[inline]
    pub const fn width(self) -> Width {
        match self {
            Self::Ht(r) => r.width,
            Self::Ofdm(_) | Self::Dsss(..) => Width::Mhz20,
            Self::Vht(r) => r.width,
            Self::He(r) => r.width,
        }
    }

    /// Returns true if frames at this rate may be aggregated: HT, VHT and HE.
    #[inline]
    pub const fn aggregates(self) -> bool {
        !matches!(self, Self::Ofdm(_) | Self::Dsss(..))
    }
}

/// Entry of a retry chain: a rate and its number of tries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RateTry {
    /// The rate.
    pub rate: PhyRate,
    /// Tries at this rate before the next entry, at least 1.
    pub tries: u8,
    /// Send RTS and expect a CTS before each try.
    pub rts: bool,
}

impl RateTry {
    /// Creates an entry without RTS.
    pub const fn new(rate: PhyRate, tries: u8) -> Self {
        Self { rate, tries, rts: false }
    }
}

/// Retry chain (multi-rate retry): up to four rates that the hardware tries in order.
#[derive(Clone, Copy, Debug)]
pub struct RetryChain {
    entries: [RateTry; Self::MAX],
    len: u8,
    /// The entries packed into 25 bits each, for a fast comparison: chains are compared for each frame that
    /// joins a PPDU.
    code: u128,
}

impl PartialEq for RetryChain {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.code == other.code
    }
}

impl Eq for RetryChain {}

impl RetryChain {
    /// Maximum number of entries, as in ath9k hardware.
    pub const MAX: usize = 4;

    /// Creates a chain of one to four entries. Returns `None` for any other number, or if an entry has no
    /// tries.
    pub fn new(entries: &[RateTry]) -> Option<Self> {
        let first = *entries.first()?;
        if entries.len() > Self::MAX || entries.iter().any(|e| e.tries == 0) {
            return None;
        }
        let mut all = [first; Self::MAX];
        all[..entries.len()].copy_from_slice(entries);
        let code =
            |of: &RateTry| u128::from(of.rate.code().0) << 9 | u128::from(of.tries) << 1 | u128::from(of.rts);
        // Each entry has at least one try and hence is nonzero, so the code determines the number of entries.
        let code = entries.iter().fold(0, |codes, entry| codes << 25 | code(entry));
        Some(Self { entries: all, len: entries.len() as u8, code })
    }

    /// Returns the entries in order.
    #[inline]
    pub fn entries(&self) -> &[RateTry] {
        &self.entries[..usize::from(self.len)]
    }

    /// Returns the chain with `total` tries, at least one. Missing tries are added to the last entry; surplus
    /// entries are cut off.
    #[must_use]
    pub fn with_tries(&self, total: u8) -> Self {
        let (mut entries, mut left) = (self.entries, total.max(1));
        let len = usize::from(self.len);
        for (n, entry) in entries[..len].iter_mut().enumerate() {
            if n + 1 == len || entry.tries >= left {
                entry.tries = left;
                return Self::new(&entries[..=n]).unwrap_or(*self);
            }
            left -= entry.tries;
        }
        *self
    }
}

#[cfg(test)]
mod tests {
    use alloc::{vec, vec::Vec};

    use super::*;

    #[test]
    fn a_chain_with_a_number_of_tries() {
        let entry = |name: &str, tries| RateTry::new(PhyRate::parse(name).unwrap(), tries);
        let chain = RetryChain::new(&[entry("ht20-mcs7-lgi", 2), entry("ht20-mcs3-lgi", 3)]).unwrap();
        for (total, tries) in
            [(0, vec![1]), (2, vec![2]), (3, vec![2, 1]), (5, vec![2, 3]), (15, vec![2, 13])]
        {
            let made = chain.with_tries(total);
            assert_eq!(made.entries().iter().map(|e| e.tries).collect::<Vec<_>>(), tries, "{total}");
            assert_eq!(made == chain, total == 5, "{total}");
        }
    }

    /// Rates of MCS 0 to 15 in units of 100 kbit/s, rounded as printed in the standard.
    // spec: ieee80211-2016 tables 19-27, 19-28, 19-31 and 19-32.
    const PRINTED: [(Width, Gi, [u64; 16]); 4] = [
        (
            Width::Mhz20,
            Gi::Long,
            [65, 130, 195, 260, 390, 520, 585, 650, 130, 260, 390, 520, 780, 1040, 1170, 1300],
        ),
        (
            Width::Mhz20,
            Gi::Short,
            [72, 144, 217, 289, 433, 578, 650, 722, 144, 289, 433, 578, 867, 1156, 1300, 1444],
        ),
        (
            Width::Mhz40,
            Gi::Long,
            [135, 270, 405, 540, 810, 1080, 1215, 1350, 270, 540, 810, 1080, 1620, 2160, 2430, 2700],
        ),
        (
            Width::Mhz40,
            Gi::Short,
            [150, 300, 450, 600, 900, 1200, 1350, 1500, 300, 600, 900, 1200, 1800, 2400, 2700, 3000],
        ),
    ];

    #[test]
    fn rates_match_the_standard() {
        for (width, gi, printed) in PRINTED {
            for (mcs, want) in (0..).zip(printed) {
                let r = HtRate { mcs, width, gi };
                assert_eq!((r.rate().bps() + 50_000) / 100_000, want, "{r:?}");
                assert_eq!(r.streams(), if mcs < 8 { 1 } else { 2 });
            }
        }
        let exact = HtRate { mcs: 15, width: Width::Mhz20, gi: Gi::Short };
        assert_eq!(exact.rate().bps(), 144_444_444);
        let fastest = HtRate { mcs: 31, width: Width::Mhz40, gi: Gi::Short };
        assert_eq!((fastest.rate().bps(), fastest.streams()), (600_000_000, 4));
    }

    #[test]
    fn encoders_by_table() {
        // spec: ieee80211-2016 tables 19-33 and 19-34 - N_ES at 40 MHz. N_ES is 1 for all rates at 20 MHz.
        for mcs in 0..=HtRate::MAX_MCS {
            let wide = HtRate { mcs, width: Width::Mhz40, gi: Gi::Short }.encoders();
            assert_eq!(wide, if matches!(mcs, 21..=23 | 28..=31) { 2 } else { 1 }, "mcs {mcs}");
            assert_eq!(HtRate { mcs, width: Width::Mhz20, gi: Gi::Short }.encoders(), 1, "mcs {mcs}");
        }
    }

    #[test]
    fn ofdm_bits_per_symbol() {
        let bits = OfdmRate::ALL.map(OfdmRate::bits_per_symbol);
        assert_eq!(bits, [24, 36, 48, 72, 96, 144, 192, 216]);
    }

    #[test]
    fn chains_have_one_to_four_entries() {
        let e = RateTry::new(PhyRate::Ofdm(OfdmRate::M6), 2);
        assert!(RetryChain::new(&[]).is_none());
        assert!(RetryChain::new(&[e; 5]).is_none());
        assert!(RetryChain::new(&[e, RateTry { tries: 0, ..e }]).is_none());
        assert_eq!(RetryChain::new(&[e; 4]).map(|c| c.entries().len()), Some(4));
    }

    #[test]
    fn chains_are_equal_if_all_entries_are() {
        let e = RateTry::new(PhyRate::Ofdm(OfdmRate::M6), 2);
        let others = [
            RateTry { tries: 3, ..e },
            RateTry { rts: true, ..e },
            RateTry { rate: PhyRate::Ofdm(OfdmRate::M9), ..e },
            RateTry { rate: PhyRate::parse("he160-mcs11-nss4-gi3.2").unwrap(), tries: u8::MAX, rts: true },
        ];
        for len in 1..=RetryChain::MAX {
            let entries = [e; RetryChain::MAX];
            let chain = RetryChain::new(&entries[..len]);
            assert_eq!(chain, RetryChain::new(&entries[..len]));
            assert_ne!(chain, RetryChain::new(&entries[..len % RetryChain::MAX + 1]));
            for (at, other) in (0..len).flat_map(|at| others.map(|other| (at, other))) {
                let mut changed = entries;
                changed[at] = other;
                assert_ne!(chain, RetryChain::new(&changed[..len]), "{at} {other:?}");
            }
        }
    }
}
