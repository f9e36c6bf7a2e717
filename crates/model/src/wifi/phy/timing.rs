//! Gaps between PPDUs, and the control frames that answer them.

use super::frame;
use super::{Band, OfdmRate, PhyRate, ppdu_duration};
use crate::vocabulary::Duration;

/// Timing of one band.
///
/// The signal extension is in every duration that [`ppdu_duration`] gives, and so in [`Timing::ack_duration`],
/// [`Timing::block_ack_duration`] and [`Timing::eifs_extra`]; it is in no gap. Nobody adds [`Timing::signal_extension`] a second
/// time; it is here for those who must take it off, such as a capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timing {
    /// Whose timing it is.
    pub band: Band,
    /// Gap before an answer.
    pub sifs: Duration,
    /// Unit of the back-off.
    pub slot: Duration,
    /// Silence that ends each PPDU at 2.4 GHz.
    pub signal_extension: Duration,
}

/// The rates that all stations of a network can receive.
// spec: ieee80211-2016 17.2.3.4 - 6, 12 and 24 Mbit/s are mandatory; hostapd makes them its basic rates at 5 GHz.
// deviation: at 2.4 GHz hostapd's are 1, 2, 5.5 and 11 (and 6, 12, 24 without 802.11b stations) - no DSSS rate is modelled.
const BASIC_RATES: [OfdmRate; 3] = [OfdmRate::M6, OfdmRate::M12, OfdmRate::M24];

impl Timing {
    /// Timing of a band without 802.11b stations, which would need slots of 20 us.
    // spec: ieee80211-2016 table 17-21 (5 GHz: SIFS 16, slot 9 us), table 18-5 (2.4 GHz: SIFS 10, short slot 9 us).
    pub const fn of(band: Band) -> Self {
        let sifs = match band {
            Band::Ghz2 => 10,
            Band::Ghz5 => 16,
        };
        Self {
            band,
            sifs: Duration::from_micros(sifs),
            slot: Duration::from_micros(9),
            signal_extension: band.signal_extension(),
        }
    }

    /// Gap before the back-off of an access category.
    // spec: ieee80211-2016 10.22.2.4 - AIFSN slots after a SIFS.
    #[inline]
    pub fn aifs(self, aifsn: u8) -> Duration {
        self.sifs + self.slot * u64::from(aifsn)
    }

    /// What EIFS has beyond DIFS (or beyond the AIFS of a category): time for an answer that could not be heard.
    // spec: ieee80211-2016 10.3.2.3.7 and 10.22.2.4 - SIFS and an ACK at the lowest mandatory rate, before DIFS or AIFS.
    #[inline]
    pub fn eifs_extra(self) -> Duration {
        self.sifs + self.ack_duration(OfdmRate::M6)
    }

    /// Duration of an ACK at a control rate (see [`control_rate`]).
    #[inline]
    pub fn ack_duration(self, rate: OfdmRate) -> Duration {
        ppdu_duration(PhyRate::Ofdm(rate), frame::ACK, self.band)
    }

    /// Duration of a compressed Block Ack at a control rate (see [`control_rate`]).
    #[inline]
    pub fn block_ack_duration(self, rate: OfdmRate) -> Duration {
        ppdu_duration(PhyRate::Ofdm(rate), frame::BLOCK_ACK, self.band)
    }
}

/// The rate at which a frame sent at `data` is answered: the highest basic rate that is not above its reference rate.
// spec: ieee80211-2016 10.7.6.5.2 - ACK and Block Ack; there is always one, as 6 Mbit/s is basic.
#[inline]
pub const fn control_rate(data: PhyRate) -> OfdmRate {
    let reference = reference_rate(data).mbps();
    let mut highest = BASIC_RATES[0];
    let mut i = 1;
    while i < BASIC_RATES.len() {
        if BASIC_RATES[i].mbps() <= reference {
            highest = BASIC_RATES[i];
        }
        i += 1;
    }
    highest
}

/// The legacy rate of the same modulation and code, whatever width, streams and guard interval.
// spec: ieee80211-2016 10.7.10 table 10-7 - non-HT reference rates: 64-QAM 2/3 counts as 48, 3/4 and 5/6 as 54 Mbit/s.
pub const fn reference_rate(data: PhyRate) -> OfdmRate {
    match data {
        PhyRate::Ofdm(r) => r,
        PhyRate::Ht(r) => match r.mcs % 8 {
            0 => OfdmRate::M6,
            1 => OfdmRate::M12,
            2 => OfdmRate::M18,
            3 => OfdmRate::M24,
            4 => OfdmRate::M36,
            5 => OfdmRate::M48,
            _ => OfdmRate::M54,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn us(n: u64) -> Duration {
        Duration::from_micros(n)
    }

    #[test]
    fn gaps() {
        let (low, high) = (Timing::of(Band::Ghz2), Timing::of(Band::Ghz5));
        assert_eq!([high.sifs, high.slot, high.signal_extension], [us(16), us(9), us(0)]);
        assert_eq!([low.sifs, low.slot, low.signal_extension], [us(10), us(9), us(6)]);
        assert_eq!(
            [high.aifs(1), high.aifs(2), high.aifs(3), high.aifs(7)],
            [us(25), us(34), us(43), us(79)]
        );
        assert_eq!([low.aifs(1), low.aifs(2), low.aifs(3), low.aifs(7)], [us(19), us(28), us(37), us(73)]);
        assert_eq!([high.eifs_extra(), low.eifs_extra()], [us(60), us(60)]);
    }

    #[test]
    fn answers() {
        let (low, high) = (Timing::of(Band::Ghz2), Timing::of(Band::Ghz5));
        let ack = BASIC_RATES.map(|r| high.ack_duration(r));
        let block_ack = BASIC_RATES.map(|r| high.block_ack_duration(r));
        assert_eq!(ack, [us(44), us(32), us(28)]);
        assert_eq!(block_ack, [us(68), us(44), us(32)]);
        assert_eq!(
            [low.ack_duration(OfdmRate::M24), low.block_ack_duration(OfdmRate::M24)],
            [us(34), us(38)]
        );
    }

    #[test]
    fn control_rates() {
        let of = |name: &str| control_rate(PhyRate::parse(name).unwrap()).mbps();
        let ht: Vec<u32> = (0..8).map(|mcs| of(&format!("ht20-mcs{mcs}-sgi"))).collect();
        assert_eq!(ht, [6, 12, 12, 24, 24, 24, 24, 24]);
        let two: Vec<u32> = (8..16).map(|mcs| of(&format!("ht40-mcs{mcs}-lgi"))).collect();
        assert_eq!(two, ht);
        let ofdm = OfdmRate::ALL.map(|r| control_rate(PhyRate::Ofdm(r)).mbps());
        assert_eq!(ofdm, [6, 6, 12, 12, 24, 24, 24, 24]);
    }
}
