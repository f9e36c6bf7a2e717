//! Rates as stable numbers, for those who must not know rates: `0x100 + MCS`, with `0x40` for 40 MHz and `0x80` for the
//! short guard interval; Mbit/s for OFDM; `0x200 +` place for 802.11b, with `0x80` for the short preamble.

use super::rate::{DsssRate, Gi, HtRate, OfdmRate, PhyRate, Preamble, Width};
use crate::vocabulary::RateCode;

const HT: u16 = 0x100;
const DSSS: u16 = 0x200;
const WIDE: u16 = 0x40;
const SHORT: u16 = 0x80;

impl PhyRate {
    /// The number of this rate.
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
        })
    }

    /// The rate of this number; `None` if there is none.
    pub fn of_code(RateCode(code): RateCode) -> Option<Self> {
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

    #[test]
    fn each_rate_has_one_number() {
        let codes: Vec<u16> = (0..=u16::MAX).filter(|&n| PhyRate::of_code(RateCode(n)).is_some()).collect();
        assert_eq!(codes.len(), 8 + 32 * 2 * 2 + 7);
        for code in codes {
            assert_eq!(PhyRate::of_code(RateCode(code)).map(PhyRate::code), Some(RateCode(code)));
        }
        assert_eq!(PhyRate::parse("ht20-mcs15-sgi").map(PhyRate::code), Ok(RateCode(0x18f)));
    }
}
