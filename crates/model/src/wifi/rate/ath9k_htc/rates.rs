//! Rates of the AR9271 in the order of its firmware's table, with the firmware's estimates.

use crate::wifi::phy::{DsssRate, Gi, HtRate, PhyRate, Preamble, Width};
use crate::wifi::rate::table::HtCapabilities;

/// Index in the firmware's table.
pub(super) type Index = u8;

/// Length of the table up to the fastest rate with one stream.
pub(super) const SIZE: usize = 45;

#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub rate: PhyRate,
    /// PPDU kind; only rates of the same kind are compared.
    pub phy: u8,
    /// Nominal rate in kbit/s according to the firmware.
    pub kbps: u32,
    /// User data rate in kbit/s.
    pub user_kbps: u32,
    /// MCS, or the rate's number in a beacon, in units of 500 kbit/s.
    pub number: u8,
}

impl Known {
    /// Returns the name used in `rc_stats`.
    pub(super) const fn mode(&self) -> &'static str {
        match self.phy {
            CCK => "CCK/LP",
            HT20 => "HT20/LGI",
            HT20_SHORT => "HT20/SGI",
            HT40 => "HT40/LGI",
            _ => "HT40/SGI",
        }
    }
}

/// PPDU kinds in the firmware's order. `NONE` marks rates that links with one stream do not have.
const CCK: u8 = 0;
const HT20: u8 = 4;
const HT40: u8 = 6;
const HT20_SHORT: u8 = 8;
const HT40_SHORT: u8 = 10;
const NONE: u8 = u8::MAX;

const fn ht(phy: u8, mcs: u8, kbps: u32, user_kbps: u32) -> Known {
    let width = if matches!(phy, HT40 | HT40_SHORT) { Width::Mhz40 } else { Width::Mhz20 };
    let gi = if matches!(phy, HT20_SHORT | HT40_SHORT) { Gi::Short } else { Gi::Long };
    Known { rate: PhyRate::Ht(HtRate { mcs, width, gi }), phy, kbps, user_kbps, number: mcs }
}

const fn cck(rate: DsssRate, kbps: u32, user_kbps: u32) -> Known {
    // deviation: uses the long preamble, like all 802.11b rates of this model.
    let rate = PhyRate::Dsss(rate, Preamble::Long);
    Known { rate, phy: CCK, kbps, user_kbps, number: (kbps / 500) as u8 }
}

/// Unused entry between HT20 and HT40: OFDM, which is not used together with HT, and two streams.
const GAP: Known = Known { phy: NONE, ..cck(DsssRate::M1, 0, 0) };

// ath9k_htc-firmware: wlan/ar5416Phy.c ar5416_11ngRateTable (e888634) - rateKbps and userRateKbps of the K2.
pub(super) const ALL: [Known; SIZE] = {
    let mut all = [GAP; SIZE];
    all[0] = cck(DsssRate::M1, 1_000, 900);
    all[1] = cck(DsssRate::M2, 2_000, 1_900);
    all[2] = cck(DsssRate::M5_5, 5_500, 4_900);
    all[3] = cck(DsssRate::M11, 11_000, 8_100);
    all[12] = ht(HT20, 0, 6_500, 6_400);
    all[13] = ht(HT20, 1, 13_000, 12_700);
    all[14] = ht(HT20, 2, 19_500, 18_800);
    all[15] = ht(HT20, 3, 26_000, 25_000);
    all[16] = ht(HT20, 4, 39_000, 36_700);
    all[17] = ht(HT20_SHORT, 4, 43_300, 39_200);
    all[18] = ht(HT20, 5, 52_000, 48_100);
    all[19] = ht(HT20_SHORT, 5, 57_800, 52_300);
    all[20] = ht(HT20, 6, 58_500, 53_500);
    all[21] = ht(HT20_SHORT, 6, 65_000, 58_800);
    all[22] = ht(HT20, 7, 65_000, 58_801);
    all[23] = ht(HT20_SHORT, 7, 72_200, 65_400);
    all[33] = ht(HT40, 0, 13_500, 13_200);
    all[34] = ht(HT40, 1, 27_500, 25_900);
    all[35] = ht(HT40, 2, 40_500, 38_600);
    all[36] = ht(HT40, 3, 54_000, 49_800);
    all[37] = ht(HT40, 4, 81_500, 72_200);
    all[38] = ht(HT40_SHORT, 4, 90_000, 81_500);
    all[39] = ht(HT40, 5, 108_000, 92_900);
    all[40] = ht(HT40_SHORT, 5, 120_000, 102_100);
    all[41] = ht(HT40, 6, 121_500, 102_700);
    all[42] = ht(HT40_SHORT, 6, 135_000, 111_900);
    all[43] = ht(HT40, 7, 135_000, 112_000);
    all[44] = ht(HT40_SHORT, 7, 150_000, 122_000);
    all
};

/// Returns the indices of a link's rates: 802.11b, and HT at the common width of both ends, without MCS 0 at
/// 20 MHz.
// ath9k_htc-firmware: wlan/ratectrl_11n_ln.c rcSibSetValidRates, rcSibSetValidHtRates (e888634) - omits OFDM
// on HT links, and 20 MHz rates on 40 MHz links.
pub(super) fn valid(can: HtCapabilities) -> impl Iterator<Item = Index> {
    let wide = can.width >= Width::Mhz40;
    (0..SIZE as Index).filter(move |&index| match ALL[usize::from(index)].phy {
        CCK => true,
        HT20 => !wide && index > 12,
        HT20_SHORT => !wide && can.short_gi,
        HT40 => wide,
        HT40_SHORT => wide && can.short_gi,
        _ => false,
    })
}

/// Returns all rates of a link.
pub fn rates(can: HtCapabilities) -> impl Iterator<Item = PhyRate> {
    valid(can).map(|index| ALL[usize::from(index)].rate)
}
