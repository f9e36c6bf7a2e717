//! Stable numeric rate codes, for code that must not depend on the rate type.
//!
//! - HT: `0x100 + MCS`, plus `0x40` for 40 MHz and `0x80` for the short guard interval.
//! - OFDM: the rate in Mbit/s.
//! - 802.11b: `0x200` plus the index of the rate, plus `0x80` for the short preamble.
//! - VHT and HE: `0x1000 + MCS` and `0x2000 + MCS`, with streams minus one from bit 4, the width index from
//!   bit 6 and the guard interval index from bit 8.

use super::channel::{Gi, Width};
use super::rate::{DsssRate, HtRate, OfdmRate, PhyRate, Preamble};
use super::vht_he::{HeGi, HeRate, VhtRate};
use crate::types::RateCode;

const HT: u16 = 0x100;
const DSSS: u16 = 0x200;
const WIDE: u16 = 0x40;
const SHORT: u16 = 0x80;
const VHT: u16 = 0x1000;
const HE: u16 = 0x2000;

/// Packs MCS, streams, width and guard interval of VHT and HE.
const fn packed(mcs: u8, streams: u8, width: Width, gi: u8) -> u16 {
    mcs as u16 | ((streams - 1) as u16) << 4 | (width as u16) << 6 | (gi as u16) << 8
}

impl PhyRate {
    /// Returns the code of this rate.
    pub const fn code(self) -> RateCode {
        RateCode(match self {
            Self::Ofdm(r) => r.mbps() as u16,
            Self::Dsss(r, Preamble::Long) => DSSS | r as u16,
            Self::Dsss(r, Preamble::Short) => DSSS | SHORT | r as u16,
            Self::Ht(r) => {
                let wide = if matches!(r.width, Width::Mhz40) { WIDE } else { 0 };
                let short = if matches!(r.gi, Gi::Short) { SHORT } else { 0 };
                HT | wide | short | r.mcs as u16
            }
            Self::Vht(r) => VHT | packed(r.mcs, r.streams, r.width, matches!(r.gi, Gi::Short) as u8),
            Self::He(r) => HE | packed(r.mcs, r.streams, r.width, r.gi as u8),
        })
    }

    /// Returns the rate with this code, or `None` if no rate has it.
    pub fn of_code(RateCode(code): RateCode) -> Option<Self> {
        let mcs = (code & 0xf) as u8;
        let (streams, width) = ((code >> 4 & 3) as u8 + 1, Width::ALL[usize::from(code >> 6 & 3)]);
        let gi = usize::from(code >> 8 & 0xf);
        match code & 0xf000 {
            VHT => {
                let gi = *[Gi::Long, Gi::Short].get(gi)?;
                let rate = VhtRate { mcs, streams, width, gi };
                return (mcs <= VhtRate::MAX_MCS && rate.is_allowed()).then_some(Self::Vht(rate));
            }
            HE => {
                let gi = *HeGi::ALL.get(gi)?;
                return (mcs <= HeRate::MAX_MCS).then_some(Self::He(HeRate { mcs, streams, width, gi }));
            }
            _ => {}
        }
        if code & !SHORT & !3 == DSSS {
            let rate = DsssRate::ALL[usize::from(code & 3)];
            let preamble = if code & SHORT == 0 { Preamble::Long } else { Preamble::Short };
            let exists = preamble == Preamble::Long || rate != DsssRate::M1;
            return exists.then_some(Self::Dsss(rate, preamble));
        }
        if code & HT == 0 {
            return OfdmRate::ALL.into_iter().find(|r| r.mbps() == u32::from(code)).map(Self::Ofdm);
        }
        let mcs = (code & !(HT | WIDE | SHORT)) as u8;
        let width = if code & WIDE == 0 { Width::Mhz20 } else { Width::Mhz40 };
        let gi = if code & SHORT == 0 { Gi::Long } else { Gi::Short };
        (code < 2 * HT && mcs <= HtRate::MAX_MCS).then_some(Self::Ht(HtRate { mcs, width, gi }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn rate_codes_are_unique() {
        let codes: Vec<u16> = (0..=u16::MAX).filter(|&n| PhyRate::of_code(RateCode(n)).is_some()).collect();
        assert_eq!(codes.len(), 8 + 32 * 2 * 2 + 7 + VhtRate::all().count() + HeRate::all().count());
        for code in codes {
            assert_eq!(PhyRate::of_code(RateCode(code)).map(PhyRate::code), Some(RateCode(code)));
        }
        assert_eq!(PhyRate::parse("ht20-mcs15-sgi").map(PhyRate::code), Ok(RateCode(0x18f)));
    }
}
