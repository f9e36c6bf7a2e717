//! Channel properties that determine rates: band, width and guard interval.

use crate::types::Duration;

/// Frequency band. Determines SIFS, slot time and signal extension.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Band {
    /// 2.4 GHz.
    Ghz2,
    /// 5 GHz.
    Ghz5,
    /// 6 GHz: HE only.
    Ghz6,
}

impl Band {
    /// Signal extension: 6 us of silence at the end of a PPDU at 2.4 GHz. Together with the SIFS of 10 us, it
    /// gives decoders the same 16 us as the SIFS at 5 GHz.
    // spec: ieee80211-2016 18.3.2.4 and table 19-25 - aSignalExtension, 6 us at 2.4 GHz for ERP-OFDM and HT,
    // 0 at 5 GHz.
    // spec: ieee80211ax-2021 table 27-60 - 0 at 6 GHz.
    #[inline]
    pub const fn signal_extension(self) -> Duration {
        match self {
            Self::Ghz2 => Duration::from_micros(6),
            Self::Ghz5 | Self::Ghz6 => Duration::ZERO,
        }
    }
}

/// Channel width.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Width {
    /// 20 MHz.
    Mhz20,
    /// 40 MHz.
    Mhz40,
    /// 80 MHz: VHT and HE.
    Mhz80,
    /// 160 MHz: VHT and HE.
    Mhz160,
}

impl Width {
    /// All widths, narrowest first.
    pub const ALL: [Self; 4] = [Self::Mhz20, Self::Mhz40, Self::Mhz80, Self::Mhz160];

    /// Width in MHz.
    pub const fn megahertz(self) -> u32 {
        20 << self as u32
    }
}

/// Guard interval.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gi {
    /// 800 ns: a symbol lasts 4 us.
    Long,
    /// 400 ns: a symbol lasts 3.6 us.
    Short,
}
