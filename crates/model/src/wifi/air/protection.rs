//! Protection of a PPDU by RTS/CTS or CTS-to-self.

use crate::types::Duration;
use crate::wifi::air::ppdu::{Content, Ppdu};
use crate::wifi::phy::timing::{Timing, control_rate};
use crate::wifi::phy::{DsssRate, OfdmRate, PhyRate, Preamble, frame, ppdu_duration};

/// Frames that protect a PPDU, with their rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Protection {
    /// No protection.
    None,
    /// CTS-to-self.
    CtsToSelf(PhyRate),
    /// RTS and CTS.
    RtsCts(PhyRate),
}

impl Protection {
    /// Returns the protection of a PPDU's next try. `cts` is a rate that stations without OFDM (802.11b)
    /// understand, if any are present.
    // spec: ieee80211-2016 10.26.1 - while 802.11b stations are present, OFDM and HT are protected by frames
    // that these stations understand.
    #[inline]
    pub fn of(ppdu: &Ppdu, cts: Option<PhyRate>) -> Self {
        let old = cts.map(|rate| understood(rate, ppdu.rate()));
        if ppdu.asks_for_rts() {
            // deviation: without 802.11b stations, an RTS uses the control rate of the standard - ath9k would
            // send it before HT as slowly as in `understood`.
            return Self::RtsCts(old.unwrap_or(control_rate(ppdu.rate())));
        }
        match old {
            Some(rate)
                if !matches!(ppdu.rate(), PhyRate::Dsss(..)) && ppdu.header.content != Content::Beacon =>
            {
                Self::CtsToSelf(rate)
            }
            _ => Self::None,
        }
    }

    /// Returns the time from the start of the protection to the start of the PPDU.
    #[inline]
    pub fn duration(self, timing: Timing) -> Duration {
        match self {
            Self::None => Duration::ZERO,
            Self::CtsToSelf(rate) => ppdu_duration(rate, frame::CTS, timing.band) + timing.sifs,
            Self::RtsCts(rate) => {
                self.first(timing) + timing.sifs + ppdu_duration(rate, frame::CTS, timing.band) + timing.sifs
            }
        }
    }

    /// Returns the duration of the first protection frame.
    pub fn first(self, timing: Timing) -> Duration {
        match self {
            Self::None => Duration::ZERO,
            Self::CtsToSelf(rate) => ppdu_duration(rate, frame::CTS, timing.band),
            Self::RtsCts(rate) => ppdu_duration(rate, frame::RTS, timing.band),
        }
    }

    /// Returns the time from the start of the protection to the end of a missing CTS.
    pub fn unanswered(self, timing: Timing) -> Duration {
        self.duration(timing) - timing.sifs
    }

    /// Returns the time that the sender is on the air in a collision, with a PPDU of duration `ppdu`. Without
    /// a CTS, the sender does not send the PPDU.
    #[inline]
    pub fn collided(self, timing: Timing, ppdu: Duration) -> Duration {
        match self {
            Self::RtsCts(_) => self.first(timing),
            _ => self.duration(timing) + ppdu,
        }
    }
}

/// Rate of the protection of a frame at `data`, where `fastest` is the fastest rate that all stations
/// understand.
// linux: net/mac80211/rate.c rate_fixup_ratelist (4.4) - uses the fastest basic rate that does not exceed the
// frame's rate. For HT and VHT the index is never set and stays at the band's first rate.
const fn understood(fastest: PhyRate, data: PhyRate) -> PhyRate {
    match (data, fastest) {
        (PhyRate::Dsss(..) | PhyRate::Ofdm(_), _) => fastest,
        (_, PhyRate::Dsss(..)) => PhyRate::Dsss(DsssRate::M1, Preamble::Long),
        _ => PhyRate::Ofdm(OfdmRate::M6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Packets;
    use crate::wifi::phy::{Band, RateTry, RetryChain};
    use crate::wifi::testing::ppdu;

    #[test]
    fn protection_by_rate() {
        let mut packets = Packets::new();
        let rate = |name: &str| PhyRate::parse(name).unwrap();
        let mut of = |name: &str, rts, cts: Option<&str>| {
            let mut ppdu = ppdu(&mut packets, [0]);
            ppdu.chain = RetryChain::new(&[RateTry { rts, ..RateTry::new(rate(name), 1) }]).unwrap();
            Protection::of(&ppdu, cts.map(rate))
        };
        let high = Timing::of(Band::Ghz5);
        let low = Timing::of(Band::Ghz2);
        let us = |p: Protection, t: Timing| {
            [p.duration(t), p.first(t), p.collided(t, Duration::from_micros(1_000))]
                .map(|d| d.nanos() / 1_000)
        };
        assert_eq!(us(of("ht20-mcs15-sgi", false, None), high), [0, 0, 1_000]);
        // At 24 Mbit/s, RTS and CTS last 28 us each; SIFS is 16 us.
        assert_eq!(us(of("ht20-mcs15-sgi", true, None), high), [28 + 16 + 28 + 16, 28, 28]);
        // A CTS at 11 Mbit/s lasts 203 us.
        assert_eq!(us(of("ofdm-54", false, Some("cck-11")), low), [213, 203, 1_213]);
        assert_eq!(of("cck-11", false, Some("cck-11")), Protection::None);
        assert_eq!(us(of("ofdm-54", true, Some("cck-11")), low), [207 + 10 + 203 + 10, 207, 207]);
        // Before HT, at 1 Mbit/s: 192 us of preamble plus 112 us for the CTS or 160 us for the RTS.
        assert_eq!(us(of("ht20-mcs15-sgi", false, Some("cck-11")), low), [314, 304, 1_314]);
        assert_eq!(us(of("ht20-mcs15-sgi", true, Some("cck-11")), low), [352 + 10 + 304 + 10, 352, 352]);
        // At 5 GHz at 6 Mbit/s: 20 us plus 24 us; the CTS has 134 bits in six symbols.
        assert_eq!(us(of("he20-mcs11-nss1-gi0.8", false, Some("ofdm-24")), high), [44 + 16, 44, 1_060]);
    }
}
