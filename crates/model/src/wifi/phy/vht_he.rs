//! Single-user rates of 802.11ac (VHT) and 802.11ax (HE).

use super::channel::{Gi, Width};
use crate::types::Rate;

/// A VHT rate (802.11ac).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VhtRate {
    /// Modulation and coding scheme, 0 to 9.
    pub mcs: u8,
    /// Spatial streams, 1 to 4.
    pub streams: u8,
    /// Channel width.
    pub width: Width,
    /// Guard interval.
    pub gi: Gi,
}

/// Guard interval of an HE symbol. The remainder of the symbol lasts 12.8 us.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum HeGi {
    /// 0.8 us.
    Ns800,
    /// 1.6 us.
    Ns1600,
    /// 3.2 us.
    Ns3200,
}

/// An HE rate (802.11ax).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeRate {
    /// Modulation and coding scheme, 0 to 11.
    pub mcs: u8,
    /// Spatial streams, 1 to 4.
    pub streams: u8,
    /// Channel width.
    pub width: Width,
    /// Guard interval.
    pub gi: HeGi,
}

/// Maximum number of streams in the tables.
pub const MAX_STREAMS: u8 = 4;

/// Coded bits per subcarrier and stream, and the code rate, by MCS.
// spec: ieee80211-2020 21.5 tables 21-30 to 21-61 (MCS 0 to 9), ieee80211ax-2021 27.5 tables 27-78 to 27-116
// (0 to 11).
const MODULATIONS: [(u32, u32, u32); 12] = [
    (1, 1, 2),
    (2, 1, 2),
    (2, 3, 4),
    (4, 1, 2),
    (4, 3, 4),
    (6, 2, 3),
    (6, 3, 4),
    (6, 5, 6),
    (8, 3, 4),
    (8, 5, 6),
    (10, 3, 4),
    (10, 5, 6),
];

/// Data subcarriers by width.
// spec: ieee80211-2020 table 21-5; ieee80211ax-2021 table 27-13 - one user on the whole channel.
const VHT_TONES: [u32; 4] = [52, 108, 234, 468];
const HE_TONES: [u32; 4] = [234, 468, 980, 1_960];

/// Combinations of width, streams and MCS that VHT excludes.
// spec: ieee80211-2020 21.5 - the bits of a symbol would not divide among the encoders.
const EXCLUDED: [(Width, u8, u8); 5] = [
    (Width::Mhz20, 1, 9),
    (Width::Mhz20, 2, 9),
    (Width::Mhz20, 4, 9),
    (Width::Mhz80, 3, 6),
    (Width::Mhz160, 3, 9),
];

/// Returns the data bits per symbol over all streams, and the remainder of the division by the code rate,
/// which must be zero for VHT.
const fn bits(tones: u32, streams: u8, mcs: u8) -> (u32, u32) {
    let (coded, times, by) = MODULATIONS[mcs as usize];
    let all = tones * coded * streams as u32 * times;
    (all / by, all % by)
}

impl VhtRate {
    /// Highest MCS index.
    pub const MAX_MCS: u8 = 9;

    /// Returns all VHT rates that the standard allows, by width, guard interval, streams and MCS.
    pub fn all() -> impl Iterator<Item = Self> {
        Width::ALL.into_iter().flat_map(|width| {
            [Gi::Long, Gi::Short].into_iter().flat_map(move |gi| {
                (1..=MAX_STREAMS).flat_map(move |streams| {
                    let all = (0..=Self::MAX_MCS).map(move |mcs| Self { mcs, streams, width, gi });
                    all.filter(|rate| rate.is_allowed())
                })
            })
        })
    }

    /// Returns true if the standard allows this rate.
    pub fn is_allowed(self) -> bool {
        !EXCLUDED.contains(&(self.width, self.streams, self.mcs))
    }

    /// Returns the data bits per symbol, over all streams (N_DBPS).
    pub const fn bits_per_symbol(self) -> u32 {
        bits(VHT_TONES[self.width as usize], self.streams, self.mcs).0
    }

    /// Returns the length of a symbol with its guard interval, in ns.
    pub const fn symbol_nanos(self) -> u64 {
        match self.gi {
            Gi::Long => 4_000,
            Gi::Short => 3_600,
        }
    }

    /// Returns the number of convolutional encoders (N_ES).
    // spec: ieee80211-2020 21.5 - one per 600 Mbit/s or part thereof with the short guard interval, which are
    // 2160 bits per symbol. Five would not divide the bits, so six (MCS 7 at 160 MHz with four streams).
    pub const fn encoders(self) -> u32 {
        match self.bits_per_symbol().div_ceil(2_160) {
            5 => 6,
            n => n,
        }
    }

    /// Returns the duration of the PPDU preamble, in ns.
    // spec: ieee80211-2020 21.3.4 - L-STF 8, L-LTF 8, L-SIG 4, VHT-SIG-A 8, VHT-STF 4, VHT-SIG-B 4 us, and 4
    // us per VHT-LTF; three streams need four VHT-LTFs (table 21-13).
    pub const fn preamble_nanos(self) -> u64 {
        36_000 + 4_000 * training_fields(self.streams)
    }

    /// Returns the data rate, rounded down to 1 bit/s.
    pub const fn rate(self) -> Rate {
        Rate::from_bps(self.bits_per_symbol() as u64 * 1_000_000_000 / self.symbol_nanos())
    }
}

impl HeGi {
    /// All guard intervals.
    pub const ALL: [Self; 3] = [Self::Ns800, Self::Ns1600, Self::Ns3200];

    /// Returns the length in ns.
    pub const fn nanos(self) -> u64 {
        [800, 1_600, 3_200][self as usize]
    }

    /// Returns the duration of an HE-LTF with this guard interval, in ns.
    // spec: ieee80211ax-2021 27.3.4 table 27-1 - 2x HE-LTF (6.4 us) with 0.8 and 1.6 us, 4x HE-LTF (12.8 us)
    // with 3.2 us, each plus the guard interval.
    // deviation: always 2x HE-LTF with 0.8 us - the standard also allows 1x (3.2 us) and 4x there, at the
    // radio's choice.
    pub const fn training_nanos(self) -> u64 {
        match self {
            Self::Ns800 | Self::Ns1600 => 6_400 + self.nanos(),
            Self::Ns3200 => 12_800 + self.nanos(),
        }
    }
}

impl HeRate {
    /// Highest MCS index.
    pub const MAX_MCS: u8 = 11;

    /// Returns all HE rates, by width, guard interval, streams and MCS.
    pub fn all() -> impl Iterator<Item = Self> {
        Width::ALL.into_iter().flat_map(|width| {
            HeGi::ALL.into_iter().flat_map(move |gi| {
                (1..=MAX_STREAMS).flat_map(move |streams| {
                    (0..=Self::MAX_MCS).map(move |mcs| Self { mcs, streams, width, gi })
                })
            })
        })
    }

    /// Returns the data bits per symbol, over all streams (N_DBPS), rounded down.
    // spec: ieee80211ax-2021 27.3.12.5 - rounds down if the code rate does not divide evenly: 980 subcarriers
    // at 5/6.
    pub const fn bits_per_symbol(self) -> u32 {
        bits(HE_TONES[self.width as usize], self.streams, self.mcs).0
    }

    /// Returns the length of a symbol with its guard interval, in ns.
    pub const fn symbol_nanos(self) -> u64 {
        12_800 + self.gi.nanos()
    }

    /// Returns the duration of the PPDU preamble, in ns.
    // spec: ieee80211ax-2021 27.3.4 - L-STF 8, L-LTF 8, L-SIG 4, RL-SIG 4, HE-SIG-A 8, HE-STF 4 us and the
    // HE-LTFs; three streams need four HE-LTFs.
    pub const fn preamble_nanos(self) -> u64 {
        36_000 + self.gi.training_nanos() * training_fields(self.streams)
    }

    /// Returns the data rate, rounded down to 1 bit/s.
    // spec: ieee80211ax-2021 27.5 - the rates in the tables are computed before N_DBPS is rounded down.
    pub const fn rate(self) -> Rate {
        let (coded, times, by) = MODULATIONS[self.mcs as usize];
        let bits = (HE_TONES[self.width as usize] * coded * self.streams as u32 * times) as u64;
        Rate::from_bps(bits * 1_000_000_000 / (by as u64 * self.symbol_nanos()))
    }
}

const fn training_fields(streams: u8) -> u64 {
    match streams {
        1 => 1,
        2 => 2,
        _ => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn vht(mcs: u8, streams: u8, width: Width, gi: Gi) -> VhtRate {
        VhtRate { mcs, streams, width, gi }
    }

    /// Rate in units of 100 kbit/s, rounded as printed in the standard.
    fn printed(rate: Rate) -> u64 {
        (rate.bps() + 50_000) / 100_000
    }

    /// One stream, MCS 0 to 9. Excluded rates are 0.
    // spec: ieee80211-2020 tables 21-30, 21-34 (20 and 40 MHz), 21-38 (80), 21-46 (160) - data rates.
    const VHT: [(Width, Gi, [u64; 10]); 8] = [
        (Width::Mhz20, Gi::Long, [65, 130, 195, 260, 390, 520, 585, 650, 780, 0]),
        (Width::Mhz20, Gi::Short, [72, 144, 217, 289, 433, 578, 650, 722, 867, 0]),
        (Width::Mhz40, Gi::Long, [135, 270, 405, 540, 810, 1080, 1215, 1350, 1620, 1800]),
        (Width::Mhz40, Gi::Short, [150, 300, 450, 600, 900, 1200, 1350, 1500, 1800, 2000]),
        (Width::Mhz80, Gi::Long, [293, 585, 878, 1170, 1755, 2340, 2633, 2925, 3510, 3900]),
        (Width::Mhz80, Gi::Short, [325, 650, 975, 1300, 1950, 2600, 2925, 3250, 3900, 4333]),
        (Width::Mhz160, Gi::Long, [585, 1170, 1755, 2340, 3510, 4680, 5265, 5850, 7020, 7800]),
        (Width::Mhz160, Gi::Short, [650, 1300, 1950, 2600, 3900, 5200, 5850, 6500, 7800, 8667]),
    ];

    /// One stream, MCS 0 to 11, by width and guard interval.
    // spec: ieee80211ax-2021 tables 27-78 to 27-116, and as published by access point vendors.
    const HE: [(Width, HeGi, [u64; 12]); 6] = [
        (Width::Mhz20, HeGi::Ns800, [86, 172, 258, 344, 516, 688, 774, 860, 1032, 1147, 1290, 1434]),
        (Width::Mhz20, HeGi::Ns1600, [81, 163, 244, 325, 488, 650, 731, 813, 975, 1083, 1219, 1354]),
        (Width::Mhz20, HeGi::Ns3200, [73, 146, 219, 293, 439, 585, 658, 731, 878, 975, 1097, 1219]),
        (Width::Mhz80, HeGi::Ns800, [360, 721, 1081, 1441, 2162, 2882, 3243, 3603, 4324, 4804, 5404, 6005]),
        (Width::Mhz80, HeGi::Ns3200, [306, 613, 919, 1225, 1838, 2450, 2756, 3063, 3675, 4083, 4594, 5104]),
        (
            Width::Mhz160,
            HeGi::Ns800,
            [721, 1441, 2162, 2882, 4324, 5765, 6485, 7206, 8647, 9608, 10_809, 12_010],
        ),
    ];

    #[test]
    fn vht_rates_match_the_standard() {
        for (width, gi, row) in VHT {
            for (mcs, want) in (0..).zip(row) {
                let rate = vht(mcs, 1, width, gi);
                assert_eq!(rate.is_allowed(), want != 0, "{rate:?}");
                assert!(want == 0 || printed(rate.rate()) == want, "{rate:?}: {}", rate.rate().bps());
            }
        }
        // 2, 3 and 4 streams (tables 21-31 to 21-33, 21-39 to 21-41, 21-47 to 21-49).
        let short = |mcs, streams, width| printed(vht(mcs, streams, width, Gi::Short).rate());
        assert_eq!([short(9, 3, Width::Mhz20), short(8, 4, Width::Mhz20)], [2889, 3467]);
        assert_eq!(
            [short(9, 2, Width::Mhz80), short(9, 3, Width::Mhz80), short(9, 4, Width::Mhz80)],
            [8667, 13_000, 17_333]
        );
        assert_eq!(
            [short(9, 2, Width::Mhz160), short(8, 3, Width::Mhz160), short(9, 4, Width::Mhz160)],
            [17_333, 23_400, 34_667]
        );
    }

    #[test]
    fn rates_excluded_by_vht() {
        let mut excluded = Vec::new();
        for (n, width) in Width::ALL.into_iter().enumerate() {
            for streams in 1..=MAX_STREAMS {
                for mcs in 0..=VhtRate::MAX_MCS {
                    if !vht(mcs, streams, width, Gi::Long).is_allowed() {
                        excluded.push((20 << n, streams, mcs));
                    }
                }
            }
        }
        assert_eq!(excluded, [(20, 1, 9), (20, 2, 9), (20, 4, 9), (80, 3, 6), (160, 3, 9)]);
        // For all other rates, each encoder gets a whole number of bits before and after coding.
        for rate in VhtRate::all() {
            let (whole, left) = bits(VHT_TONES[rate.width as usize], rate.streams, rate.mcs);
            let (_, times, by) = MODULATIONS[usize::from(rate.mcs)];
            let share = whole / rate.encoders();
            assert_eq!((left, whole % rate.encoders(), share * by % times), (0, 0, 0), "{rate:?}");
        }
        assert_eq!((VhtRate::all().count(), HeRate::all().count()), (2 * (160 - 5), 12 * 4 * 4 * 3));
    }

    #[test]
    fn encoders_by_table() {
        // spec: ieee80211-2020 tables 21-38 to 21-41 and 21-46 to 21-49 - N_ES by MCS.
        let row = |streams, width| -> Vec<u32> {
            (0..10).map(|mcs| vht(mcs, streams, width, Gi::Long).encoders()).collect()
        };
        assert_eq!(row(1, Width::Mhz80), [1; 10]);
        assert_eq!(row(2, Width::Mhz80), [1, 1, 1, 1, 1, 1, 1, 2, 2, 2]);
        assert_eq!(row(4, Width::Mhz80), [1, 1, 1, 1, 2, 2, 2, 3, 3, 3]);
        assert_eq!(row(1, Width::Mhz160), [1, 1, 1, 1, 1, 1, 1, 2, 2, 2]);
        assert_eq!(row(4, Width::Mhz160), [1, 1, 2, 2, 3, 4, 4, 6, 6, 6]);
    }

    #[test]
    fn he_rates_match_the_standard() {
        for (width, gi, row) in HE {
            for (mcs, want) in (0..).zip(row) {
                let rate = HeRate { mcs, streams: 1, width, gi };
                assert_eq!(printed(rate.rate()), want, "{rate:?}");
            }
        }
        let two = HeRate { mcs: 11, streams: 2, width: Width::Mhz80, gi: HeGi::Ns800 };
        assert_eq!(printed(two.rate()), 12_010);
        let four = HeRate { mcs: 11, streams: 4, width: Width::Mhz160, gi: HeGi::Ns800 };
        assert_eq!(printed(four.rate()), 48_039);
        let forty = HeRate { mcs: 11, streams: 1, width: Width::Mhz40, gi: HeGi::Ns800 };
        assert_eq!(printed(forty.rate()), 2_868);
    }
}
