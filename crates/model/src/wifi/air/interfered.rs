//! Reception under non-Wi-Fi interference: each part of a frame has the SINR of its time.
// paper: Pei and Henderson, "Validation of OFDM error rate model in ns-3" (Boeing, 2010) - a frame is
// received if every stretch of it with constant noise is.

use super::interference::Stretch;
use crate::types::{Duration, Instant, RandomStream};
use crate::wifi::air::ppdu::Ppdu;
use crate::wifi::air::reception::RxOutcome;
use crate::wifi::marks::Marks;
use crate::wifi::phy::errors::{Snr, byte_is_right, unheard};
use crate::wifi::phy::frame::DELIMITER;
use crate::wifi::phy::{PhyRate, ppdu_duration_without_extension};

/// A frame received under interference.
#[derive(Clone, Copy, Debug)]
pub struct Interfered<'a> {
    /// Signal-to-noise ratio without the interference.
    pub snr: Snr,
    /// Start of the frame.
    pub start: Instant,
    /// Duration of the frame.
    pub took: Duration,
    /// Interference between the start and the end of the frame.
    pub stretches: &'a [Stretch],
}

impl Interfered<'_> {
    fn ratio(&self, lower: i32) -> Snr {
        Snr(self.snr.0 - lower)
    }

    /// Parts of the frame with constant ratio between two instants.
    fn parts(&self, from: Instant, until: Instant) -> impl Iterator<Item = (Snr, Duration)> + '_ {
        let mut begins = self.start;
        self.stretches.iter().filter_map(move |&(end, lower)| {
            let (a, b) = (begins.max(from), end.min(until));
            begins = end;
            (a < b).then(|| (self.ratio(lower), b - a))
        })
    }

    /// Start of the first byte.
    fn body(&self, rate: PhyRate) -> Instant {
        self.start + ppdu_duration_without_extension(rate, 0).min(self.took)
    }

    /// Draws whether the preamble is decoded, from the worst ratio in it.
    // deviation: interference with any part of the preamble counts as interference with its signal field.
    fn is_heard(&self, rate: PhyRate, stream: &mut RandomStream) -> bool {
        let worst = self.parts(self.start, self.body(rate)).map(|(snr, _)| snr).min().unwrap_or(self.snr);
        !stream.chance(unheard(rate, worst))
    }

    /// Error probability of `bytes` bytes on the air between two instants.
    fn broken(&self, rate: PhyRate, bytes: u32, from: Instant, until: Instant) -> f64 {
        let all = (until - from).nanos().max(1) as f64;
        let share = |(snr, part): (Snr, Duration)| part.nanos() as f64 / all * byte_is_right(rate, snr);
        1.0 - libm::exp(f64::from(bytes) * self.parts(from, until).map(share).sum::<f64>())
    }

    /// Draws whether a single frame of `bytes` bytes is received without error.
    pub fn comes(&self, rate: PhyRate, bytes: u32, stream: &mut RandomStream) -> bool {
        let end = self.start + self.took;
        self.is_heard(rate, stream) && !stream.chance(self.broken(rate, bytes, self.body(rate), end))
    }

    /// Draws the frames of a PPDU that are received.
    // deviation: locates a frame in time by its bytes in the whole PPDU, as for overlapping frames.
    pub fn receive(&self, ppdu: &Ppdu, stream: &mut RandomStream) -> RxOutcome {
        let rate = ppdu.rate();
        if !self.is_heard(rate, stream) {
            return RxOutcome::NOTHING;
        }
        let (head, end) = (self.body(rate), self.start + self.took);
        if ppdu.mpdus.len() <= 1 {
            let broken = stream.chance(self.broken(rate, ppdu.bytes, head, end));
            let whole = if broken { Marks::NONE } else { Marks::first(1) };
            return RxOutcome { whole, readable: Marks::first(1) };
        }
        let (body, bytes) = ((end - head).nanos(), u64::from(ppdu.bytes).max(1));
        let at = |byte: u32| head + Duration::from_nanos(body * u64::from(byte).min(bytes) / bytes);
        let mut got = RxOutcome::NOTHING;
        let mut before = 0;
        for (n, mpdu) in ppdu.mpdus.iter().enumerate() {
            let (first, last) = (before + DELIMITER, before + DELIMITER + u32::from(mpdu.len));
            let readable = !stream.chance(self.broken(rate, DELIMITER, at(before), at(first)));
            let whole =
                readable && !stream.chance(self.broken(rate, u32::from(mpdu.len), at(first), at(last)));
            if readable {
                got.readable.mark(n);
            }
            if whole {
                got.whole.mark(n);
            }
            before = last.next_multiple_of(DELIMITER);
        }
        got
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Packets, Seed};
    use crate::wifi::phy::errors::ErrorTable;
    use crate::wifi::phy::{Band, RateTry, RetryChain, ppdu_duration};
    use crate::wifi::testing::ppdu;

    fn us(n: u64) -> Instant {
        Instant::from_nanos(1_000 * n)
    }

    #[test]
    fn each_part_of_a_frame_has_its_own_ratio() {
        let rate = PhyRate::parse("ht20-mcs7-lgi").unwrap();
        let of = |stretches: &[Stretch], from, until| {
            let frame =
                Interfered { snr: Snr(24_000), start: us(0), took: Duration::from_micros(1_000), stretches };
            frame.broken(rate, 1_000, us(from), us(until))
        };
        let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
        let table = |db| ErrorTable::new(Snr(1_000 * db)).broken(rate, 1_000);
        // Matches the table if the ratio is constant.
        assert!(near(of(&[(us(1_000), 0)], 100, 900), table(24)));
        assert!(near(of(&[(us(1_000), 3_000)], 100, 900), table(21)));
        // A quarter of the frame has the lower ratio: the success probability is the product of both parts.
        let whole = libm::pow(1.0 - table(24), 0.75) * libm::pow(1.0 - table(21), 0.25);
        assert!(near(of(&[(us(300), 3_000), (us(1_000), 0)], 100, 900), 1.0 - whole));
        assert!(near(of(&[(us(700), 0), (us(1_000), 3_000)], 100, 900), 1.0 - whole));
        // Interference outside the interval does not count.
        assert!(near(of(&[(us(100), 30_000), (us(900), 0), (us(1_000), 30_000)], 100, 900), table(24)));
    }

    #[test]
    fn an_aggregate_loses_only_disturbed_frames() {
        let mut packets = Packets::new();
        let mut ppdu = ppdu(&mut packets, 0..4);
        let rate = PhyRate::parse("ht20-mcs7-lgi").unwrap();
        ppdu.chain = RetryChain::new(&[RateTry::new(rate, 1)]).unwrap();
        ppdu.bytes = 1_544 * 4 - 2;
        let took = ppdu_duration(rate, ppdu.bytes, Band::Ghz5);
        let mut stream = Seed { seed: 1, run: 0 }.stream("errors");
        let mut got = |stretches: &[Stretch]| {
            let frame = Interfered { snr: Snr(50_000), start: us(0), took, stretches };
            let got = frame.receive(&ppdu, &mut stream);
            (got.whole.words()[0], got.readable.words()[0])
        };
        let end = us(0) + took;
        // 190 us per frame after a 40 us preamble; nothing is received at 10 dB below the noise.
        assert_eq!(got(&[(end, 10_000)]), (0b1111, 0b1111));
        assert_eq!(got(&[(us(300), 0), (us(310), 60_000), (end, 0)]), (0b1101, 0b1111));
        assert_eq!(got(&[(us(300), 0), (us(430), 60_000), (end, 0)]), (0b1001, 0b1011));
        assert_eq!(got(&[(us(10), 60_000), (end, 0)]), (0, 0));
        assert_eq!(got(&[(us(300), 0), (end, 60_000)]), (0b0001, 0b0011));
    }
}
