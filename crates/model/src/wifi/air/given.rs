//! Configured frame error rates of data frames: one for all rates, or one per rate.

use crate::types::{RandomStream, RateCode};
use crate::wifi::air::ppdu::Ppdu;
use crate::wifi::marks::Marks;
use crate::wifi::phy::PhyRate;
use crate::wifi::timeline::Timeline;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Probability that a data frame is received with errors.
#[derive(Clone, PartialEq, Debug)]
pub enum FrameErrors {
    /// The same probability for all rates and lengths.
    Same(f64),
    /// Probabilities by rate. The table may change during the run.
    ByRate(Box<Timeline<RateErrors>>),
}

/// Frame error probability at one rate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RateError {
    /// The rate.
    pub rate: PhyRate,
    /// Probability, 0 to 1.
    pub chance: f64,
    /// Frame length that `chance` refers to, in bytes from the MAC header to the FCS. Errors are equally
    /// likely in each byte, so longer frames fail more often. `None`: `chance` applies to all lengths.
    pub bytes: Option<u32>,
}

/// Frame error probabilities by rate. Frames at rates without an entry never fail.
#[derive(Clone, PartialEq, Debug)]
pub struct RateErrors {
    /// In order of codes: natural logarithm of the success probability, as a part per frame and a part per
    /// byte.
    rates: Vec<(RateCode, f64, f64)>,
}

impl RateErrors {
    /// Builds a table. If a rate has several entries, the last one applies.
    pub fn new(given: &[RateError]) -> Self {
        let mut rates: Vec<(RateCode, f64, f64)> = Vec::with_capacity(given.len());
        for error in given {
            let whole = libm::log1p(-error.chance);
            let (alone, per_byte) =
                error.bytes.map_or((whole, 0.0), |bytes| (0.0, whole / f64::from(bytes.max(1))));
            let code = error.rate.code();
            match rates.binary_search_by_key(&code, |r| r.0) {
                Ok(at) => rates[at] = (code, alone, per_byte),
                Err(at) => rates.insert(at, (code, alone, per_byte)),
            }
        }
        Self { rates }
    }

    /// Returns the probability that a frame of `bytes` bytes at `rate` fails.
    pub fn broken(&self, rate: PhyRate, bytes: u32) -> f64 {
        self.of(rate).map_or(0.0, |parts| chance(parts, bytes))
    }

    fn of(&self, rate: PhyRate) -> Option<(f64, f64)> {
        let at = self.rates.binary_search_by_key(&rate.code(), |r| r.0).ok()?;
        Some((self.rates[at].1, self.rates[at].2))
    }

    /// Draws the frames of a PPDU that are received without error.
    pub(super) fn whole(&self, ppdu: &Ppdu, stream: &mut RandomStream) -> Marks {
        let Some(parts) = self.of(ppdu.rate()) else { return ppdu.all() };
        // Most frames of an aggregate have the same length.
        let (mut len, mut broken) = (0, 0.0);
        let mut whole = Marks::NONE;
        for (word, mpdus) in ppdu.mpdus.chunks(Marks::WORD).enumerate() {
            let mut bits = 0;
            for (n, mpdu) in mpdus.iter().enumerate() {
                if mpdu.len != len {
                    (len, broken) = (mpdu.len, chance(parts, u32::from(mpdu.len)));
                }
                bits |= u64::from(!stream.chance(broken)) << n;
            }
            whole.put(word, bits);
        }
        whole
    }
}

fn chance((alone, per_byte): (f64, f64), bytes: u32) -> f64 {
    1.0 - libm::exp(alone + per_byte * f64::from(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Packets, Seed};
    use crate::wifi::testing::{chain, ppdu};
    use alloc::string::ToString;

    fn error(name: &str, chance: f64, bytes: Option<u32>) -> RateError {
        RateError { rate: PhyRate::parse(name).unwrap(), chance, bytes }
    }

    fn millionths(table: &RateErrors, name: &str, bytes: u32) -> u32 {
        (1e6 * table.broken(PhyRate::parse(name).unwrap(), bytes)).round() as u32
    }

    #[test]
    fn probabilities_by_rate_and_length() {
        let table = RateErrors::new(&[
            error("ht20-mcs7-sgi", 0.9, None),
            error("ht20-mcs5-lgi", 0.5, Some(1_538)),
            error("ofdm-6", 1.0, Some(1_538)),
            error("ht20-mcs7-sgi", 0.25, None),
        ]);
        assert_eq!([38, 1_538].map(|n| millionths(&table, "ht20-mcs7-sgi", n)), [250_000, 250_000]);
        // Half the length succeeds with the square root of one half, twice the length with a quarter.
        assert_eq!(
            [769, 1_538, 3_076].map(|n| millionths(&table, "ht20-mcs5-lgi", n)),
            [292_893, 500_000, 750_000]
        );
        assert_eq!([14, 1_538].map(|n| millionths(&table, "ofdm-6", n)), [1_000_000, 1_000_000]);
        // The other guard interval is a different rate.
        assert_eq!(millionths(&table, "ht20-mcs7-lgi", 1_538), 0);
    }

    #[test]
    fn draws_follow_the_rate_of_the_try() {
        let (mut packets, mut stream) = (Packets::new(), Seed { seed: 5, run: 0 }.stream("given"));
        let mut ppdu = ppdu(&mut packets, 0..32);
        let whole = |table: &[RateError], ppdu: &Ppdu, stream: &mut RandomStream| {
            let table = RateErrors::new(table);
            (0..1_000).map(|_| table.whole(ppdu, stream).count()).sum::<u32>()
        };
        let name = ppdu.rate().to_string();
        let half = [error(&name, 0.5, None)];
        assert!((15_500..16_500).contains(&whole(&half, &ppdu, &mut stream)));
        assert_eq!(whole(&[error(&name, 1.0, None)], &ppdu, &mut stream), 0);
        assert_eq!(whole(&[error("ofdm-6", 1.0, None)], &ppdu, &mut stream), 32_000);
        ppdu.chain = chain(&["ofdm-6"]);
        assert_eq!(whole(&half, &ppdu, &mut stream), 32_000);
    }
}
