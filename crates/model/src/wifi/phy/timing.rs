//! Interframe spaces, and rates and durations of control responses.

use super::frame;
use super::{Band, OfdmRate, PhyRate, ppdu_duration};
use crate::types::Duration;

/// Interframe spaces and slot time of a band.
///
/// [`ppdu_duration`], [`Timing::ack_duration`], [`Timing::block_ack_duration`] and [`Timing::eifs_extra`]
/// include the signal extension; the interframe spaces do not. Do not add [`Timing::signal_extension`] to any
/// of them. The field is for code that subtracts the extension, such as a packet capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timing {
    /// The band.
    pub band: Band,
    /// SIFS: gap before a response.
    pub sifs: Duration,
    /// Slot time: unit of the backoff.
    pub slot: Duration,
    /// Signal extension: silence at the end of each OFDM and HT PPDU at 2.4 GHz.
    pub signal_extension: Duration,
    /// Lowest basic rate: used for beacons, other management frames, Block Ack requests, and the ACK in the
    /// EIFS.
    pub lowest: PhyRate,
}

/// Slot time if stations without OFDM are present.
// spec: ieee80211-2016 table 16-4 and 18.4.5 - 20 us; 9 us only if all stations of the network support the
// short slot.
pub const LONG_SLOT: Duration = Duration::from_micros(20);

/// Rates that all stations of a network can receive.
// spec: ieee80211-2016 17.2.3.4 - 6, 12 and 24 Mbit/s are mandatory; hostapd uses them as basic rates at 5
// GHz.
// deviation: used at 2.4 GHz as well, where hostapd has 1, 2, 5.5 and 11 - radios answer OFDM with OFDM
// there, too.
const BASIC_RATES: [OfdmRate; 3] = [OfdmRate::M6, OfdmRate::M12, OfdmRate::M24];

impl Timing {
    /// Returns the timing of a band without 802.11b rates: short slot time, and 6 Mbit/s as the lowest basic
    /// rate.
    // spec: ieee80211-2016 table 17-21 (5 GHz: SIFS 16, slot 9 us), table 18-5 (2.4 GHz: SIFS 10, short slot
    // 9 us).
    // spec: ieee80211ax-2021 table 27-60 - 6 GHz: the values of 5 GHz.
    pub const fn of(band: Band) -> Self {
        let sifs = match band {
            Band::Ghz2 => 10,
            Band::Ghz5 | Band::Ghz6 => 16,
        };
        Self {
            band,
            sifs: Duration::from_micros(sifs),
            slot: Duration::from_micros(9),
            signal_extension: band.signal_extension(),
            lowest: PhyRate::Ofdm(OfdmRate::M6),
        }
    }

    /// Returns the timing with another lowest basic rate and slot time.
    pub const fn with(self, lowest: PhyRate, slot: Duration) -> Self {
        Self { lowest, slot, ..self }
    }

    /// Returns the AIFS of an access category: the gap before its backoff.
    // spec: ieee80211-2016 10.22.2.4 - AIFSN slots after a SIFS.
    #[inline]
    pub fn aifs(self, aifsn: u8) -> Duration {
        self.sifs + self.slot * u64::from(aifsn)
    }

    /// Returns EIFS minus DIFS, or minus the AIFS of an access category.
    // spec: ieee80211-2016 10.3.2.3.7 and 10.22.2.4 - SIFS and an ACK at the lowest mandatory rate, before
    // DIFS or AIFS.
    #[inline]
    pub fn eifs_extra(self) -> Duration {
        self.sifs + self.ack_duration(self.lowest)
    }

    /// Returns the time that a sender waits for a missing response, not counting the SIFS, which is part of
    /// the following AIFS.
    // spec: ieee80211-2016 10.3.2.9 and 10.22.2.4 d - ACKTimeout is SIFS, a slot and aRxPHYStartDelay; AIFSN
    // slots follow without a second SIFS.
    // spec: ieee80211-2016 table 17-21 - aRxPHYStartDelay is 20 us: preamble and SIGNAL of the OFDM response.
    #[inline]
    pub fn unanswered(self) -> Duration {
        self.slot + Duration::from_micros(20)
    }

    /// Returns the duration of an ACK at a control rate (see [`control_rate`]).
    #[inline]
    pub fn ack_duration(self, rate: PhyRate) -> Duration {
        ppdu_duration(rate, frame::ACK, self.band)
    }

    /// Returns the duration of a compressed Block Ack at a control rate (see [`control_rate`]), with a bitmap
    /// of 256 frames (`wide`) or 64.
    #[inline]
    pub fn block_ack_duration(self, rate: PhyRate, wide: bool) -> Duration {
        ppdu_duration(rate, frame::block_ack(wide), self.band)
    }
}

/// Returns the rate of the response to a frame sent at `data`: the highest basic rate that does not exceed
/// the reference rate of `data`.
// spec: ieee80211-2016 10.7.6.5.2 - for ACK, Block Ack and CTS. The rate always exists: 6 Mbit/s is basic,
// and all 802.11b rates are basic, with the preamble of the frame that is answered.
#[inline]
pub const fn control_rate(data: PhyRate) -> PhyRate {
    let reference = match reference_rate(data) {
        PhyRate::Ofdm(rate) => rate.mbps(),
        other => return other,
    };
    let mut highest = BASIC_RATES[0];
    let mut i = 1;
    while i < BASIC_RATES.len() {
        if BASIC_RATES[i].mbps() <= reference {
            highest = BASIC_RATES[i];
        }
        i += 1;
    }
    PhyRate::Ofdm(highest)
}

/// Returns the reference rate: the legacy rate with the same modulation and coding, regardless of width,
/// streams and guard interval.
// spec: ieee80211-2016 10.7.10 table 10-7 - non-HT reference rates: 64-QAM 2/3 counts as 48, 3/4 and 5/6 as
// 54 Mbit/s.
pub const fn reference_rate(data: PhyRate) -> PhyRate {
    let rate = match data {
        PhyRate::Dsss(..) => return data,
        PhyRate::Ofdm(r) => r,
        PhyRate::Ht(r) => reference(r.mcs % 8),
        PhyRate::Vht(r) => reference(r.mcs),
        PhyRate::He(r) => reference(r.mcs),
    };
    PhyRate::Ofdm(rate)
}

// spec: ieee80211-2020 10.6.11 table 10-10 - 256-QAM counts as 54 Mbit/s as well; ieee80211ax-2021 - so does
// 1024-QAM.
const fn reference(mcs: u8) -> OfdmRate {
    match mcs {
        0 => OfdmRate::M6,
        1 => OfdmRate::M12,
        2 => OfdmRate::M18,
        3 => OfdmRate::M24,
        4 => OfdmRate::M36,
        5 => OfdmRate::M48,
        _ => OfdmRate::M54,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::vec::Vec;

    const fn us(n: u64) -> Duration {
        Duration::from_micros(n)
    }

    #[test]
    fn interframe_spaces() {
        let (low, high) = (Timing::of(Band::Ghz2), Timing::of(Band::Ghz5));
        assert_eq!([high.sifs, high.slot, high.signal_extension], [us(16), us(9), us(0)]);
        assert_eq!(Timing { band: Band::Ghz5, ..Timing::of(Band::Ghz6) }, high);
        assert_eq!([low.sifs, low.slot, low.signal_extension], [us(10), us(9), us(6)]);
        assert_eq!(
            [high.aifs(1), high.aifs(2), high.aifs(3), high.aifs(7)],
            [us(25), us(34), us(43), us(79)]
        );
        assert_eq!([low.aifs(1), low.aifs(2), low.aifs(3), low.aifs(7)], [us(19), us(28), us(37), us(73)]);
        assert_eq!([high.eifs_extra(), low.eifs_extra()], [us(60), us(60)]);
        assert_eq!([high.unanswered(), low.unanswered()], [us(29), us(29)]);
        let old = low.with(PhyRate::parse("dsss-1").unwrap(), LONG_SLOT);
        assert_eq!(
            [old.slot, old.eifs_extra(), old.unanswered(), old.aifs(2)],
            [us(20), us(314), us(40), us(50)]
        );
    }

    #[test]
    fn responses() {
        let (low, high) = (Timing::of(Band::Ghz2), Timing::of(Band::Ghz5));
        let ack = BASIC_RATES.map(|r| high.ack_duration(PhyRate::Ofdm(r)));
        let block_ack = BASIC_RATES.map(|r| high.block_ack_duration(PhyRate::Ofdm(r), false));
        let wide = BASIC_RATES.map(|r| high.block_ack_duration(PhyRate::Ofdm(r), true));
        assert_eq!(ack, [us(44), us(32), us(28)]);
        assert_eq!(block_ack, [us(68), us(44), us(32)]);
        // 470 bits at 24, 48 and 96 per symbol.
        assert_eq!(wide, [us(100), us(60), us(40)]);
        assert_eq!([PhyRate::Ofdm(OfdmRate::M24); 2].map(|r| low.ack_duration(r)), [us(34), us(34)]);
    }

    #[test]
    fn control_rates() {
        let mbps = |rate: PhyRate| control_rate(rate).rate().bps() / 1_000_000;
        let of = |name: &str| mbps(PhyRate::parse(name).unwrap());
        let ht: Vec<u64> = (0..8).map(|mcs| of(&format!("ht20-mcs{mcs}-sgi"))).collect();
        assert_eq!(ht, [6, 12, 12, 24, 24, 24, 24, 24]);
        let two: Vec<u64> = (8..16).map(|mcs| of(&format!("ht40-mcs{mcs}-lgi"))).collect();
        assert_eq!(two, ht);
        let names = [
            "vht80-mcs0-nss2-sgi",
            "vht160-mcs2-nss1-lgi",
            "vht80-mcs9-nss4-lgi",
            "he80-mcs11-nss1-gi0.8",
            "he20-mcs1-nss4-gi3.2",
        ];
        assert_eq!(names.map(of), [6, 12, 24, 24, 12]);
        let ofdm = OfdmRate::ALL.map(|r| mbps(PhyRate::Ofdm(r)));
        assert_eq!(ofdm, [6, 6, 12, 12, 24, 24, 24, 24]);
        PhyRate::all_dsss().for_each(|rate| assert_eq!(control_rate(rate), rate));
    }
}
