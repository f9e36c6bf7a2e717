//! What a PPDU can be sent with.

/// Frequency band; it decides SIFS, slot and signal extension.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Band {
    /// 2.4 GHz.
    Ghz2,
    /// 5 GHz.
    Ghz5,
}

/// Channel width.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Width {
    /// 20 MHz.
    Mhz20,
    /// 40 MHz.
    Mhz40,
}

/// Guard interval.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gi {
    /// 800 ns: a symbol lasts 4 us.
    Long,
    /// 400 ns: a symbol lasts 3.6 us.
    Short,
}

/// An HT rate (802.11n).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HtRate {
    /// Modulation and coding scheme, 0 to 31; streams = mcs / 8 + 1.
    pub mcs: u8,
    /// Channel width.
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

/// Any rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PhyRate {
    /// 802.11n, HT-mixed format.
    Ht(HtRate),
    /// 802.11a/g.
    Ofdm(OfdmRate),
}

/// One entry of a retry chain: a rate and how often the hardware tries it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RateTry {
    /// The rate.
    pub rate: PhyRate,
    /// Tries at this rate before the next entry, at least 1.
    pub tries: u8,
}

/// Up to four rates that the hardware tries in turn, the first one first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RetryChain {
    entries: [RateTry; Self::MAX],
    len: u8,
}

impl RetryChain {
    /// Entries that ath9k's hardware takes.
    pub const MAX: usize = 4;

    /// A chain of one to four entries; `None` for any other number or an entry without tries.
    pub fn new(entries: &[RateTry]) -> Option<Self> {
        let first = *entries.first()?;
        if entries.len() > Self::MAX || entries.iter().any(|e| e.tries == 0) {
            return None;
        }
        let mut all = [first; Self::MAX];
        all[..entries.len()].copy_from_slice(entries);
        Some(Self { entries: all, len: entries.len() as u8 })
    }

    /// The entries, the first one first.
    #[inline]
    pub fn entries(&self) -> &[RateTry] {
        &self.entries[..usize::from(self.len)]
    }
}
