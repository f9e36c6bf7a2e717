//! Reception of a PPDU's frames and of the response.

use crate::types::{Instant, RandomStream};
use crate::wifi::air::given::FrameErrors;
use crate::wifi::air::ppdu::{Mpdu, Ppdu};
use crate::wifi::marks::Marks;
use crate::wifi::phy::PhyRate;
use crate::wifi::phy::errors::{ErrorTable, Snr};
use crate::wifi::timeline::Timeline;
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// Errors on the path to a peer.
#[derive(Clone, Debug)]
pub enum PathErrors {
    /// Configured probabilities.
    // deviation: configured probabilities apply to data frames only - management frames and Block Ack
    // requests use the lowest basic rate and always arrive; only their acknowledgements may be lost.
    Given {
        /// Probability that a whole data PPDU is lost.
        unheard: f64,
        /// Probability that a frame is received with errors.
        frame: FrameErrors,
        /// Probability that a response is lost.
        answer: f64,
    },
    /// Noise with the same ratio in both directions.
    Noise(Box<Noise>),
    /// Probability from a trace that a data frame is received with errors. At 1, the whole PPDU is lost.
    Traced(Box<Timeline<f64>>),
}

/// A signal-to-noise ratio that changes at given times.
#[derive(Clone, Debug)]
pub struct Noise {
    steps: Vec<(Instant, Arc<ErrorTable>)>,
    ratios: Vec<Snr>,
    /// Index of the current step.
    at: usize,
}

/// Frames that the receiver's hardware received in one try.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RxOutcome {
    /// Frames received without error. Frame 0 represents a PPDU without data frames.
    pub whole: Marks,
    /// Frames with a readable length and sequence number, including frames with errors. Empty if the preamble
    /// was not decoded.
    pub readable: Marks,
}

impl RxOutcome {
    /// Nothing was received.
    pub const NOTHING: Self = Self { whole: Marks::NONE, readable: Marks::NONE };

    /// Returns true if a frame of the PPDU was received with errors.
    pub fn broken(&self, ppdu: &Ppdu) -> bool {
        (self.readable & !self.whole & ppdu.all()).any()
    }

    /// Returns the frames received without error for the first time. Call this before their packets are
    /// taken.
    pub fn first_of<'a>(&'a self, ppdu: &'a Ppdu) -> impl Iterator<Item = &'a Mpdu> {
        let mpdus = ppdu.mpdus.iter().enumerate();
        mpdus.filter(|(n, mpdu)| self.whole.has(*n) && mpdu.pkt.is_some()).map(|(_, mpdu)| mpdu)
    }

    /// Returns true if nothing of the PPDU was decoded. Frames received without error are also readable.
    #[inline]
    pub const fn is_nothing(&self) -> bool {
        !self.readable.any()
    }
}

impl Noise {
    /// Builds the noise from the ratio of each stretch of time. The first stretch starts with the run.
    /// Returns `None` if `steps` is empty.
    pub fn new(steps: &[(Instant, Snr)]) -> Option<Self> {
        Self::with_tables(steps, |snr| Arc::new(ErrorTable::new(snr)))
    }

    /// Builds the noise with shared error tables. A table takes about 0.1 ms to build, and many paths have
    /// the same ratio.
    pub fn with_tables(
        steps: &[(Instant, Snr)],
        mut table: impl FnMut(Snr) -> Arc<ErrorTable>,
    ) -> Option<Self> {
        let ratios = steps.iter().map(|&(_, snr)| snr).collect();
        let steps: Vec<_> = steps.iter().map(|&(at, snr)| (at, table(snr))).collect();
        (!steps.is_empty()).then_some(Self { steps, ratios, at: 0 })
    }

    /// Error table at `now`. Calls must not go back in time.
    #[inline]
    fn table(&mut self, now: Instant) -> &ErrorTable {
        while self.steps.get(self.at + 1).is_some_and(|&(from, _)| from <= now) {
            self.at += 1;
        }
        &self.steps[self.at].1
    }

    /// Returns the ratio at `now`. Calls must not go back in time.
    pub fn ratio(&mut self, now: Instant) -> Snr {
        self.table(now);
        self.ratios[self.at]
    }
}

impl PathErrors {
    /// A path without loss.
    pub const NONE: Self = Self::Given { unheard: 0.0, frame: FrameErrors::Same(0.0), answer: 0.0 };

    /// Draws the frames received of a PPDU's next try.
    #[inline]
    pub fn receive(&mut self, now: Instant, ppdu: &Ppdu, stream: &mut RandomStream) -> RxOutcome {
        let frames = ppdu.mpdus.len().max(1);
        let all = Marks::first(frames);
        match self {
            Self::Given { unheard, frame, .. } => {
                if !ppdu.header.content.is_data() {
                    return RxOutcome { whole: all, readable: all };
                }
                if stream.chance(*unheard) {
                    return RxOutcome::NOTHING;
                }
                let whole = match frame {
                    &mut FrameErrors::Same(error) => Marks::each(frames, |_| !stream.chance(error)),
                    FrameErrors::ByRate(tables) => tables.now(now).whole(ppdu, stream),
                };
                RxOutcome { whole, readable: all }
            }
            Self::Noise(noise) => noise.table(now).receive(ppdu, stream),
            Self::Traced(chances) => {
                let error = *chances.now(now);
                if !ppdu.header.content.is_data() {
                    return RxOutcome { whole: all, readable: all };
                }
                if error >= 1.0 {
                    return RxOutcome::NOTHING;
                }
                let whole = Marks::each(frames, |_| !stream.chance(error));
                RxOutcome { whole, readable: all }
            }
        }
    }

    /// Draws whether an RTS or CTS at `rate` is received. Configured and traced probabilities apply to data
    /// frames only: RTS and CTS are lost only if the probability of losing the whole PPDU is 1.
    #[inline]
    pub fn guard_comes(
        &mut self,
        now: Instant,
        rate: PhyRate,
        bytes: u32,
        stream: &mut RandomStream,
    ) -> bool {
        match self {
            Self::Given { unheard, .. } => *unheard < 1.0,
            Self::Traced(chances) => *chances.now(now) < 1.0,
            Self::Noise(noise) => noise.table(now).short_comes(rate, bytes, stream),
        }
    }

    /// Draws whether a response of `bytes` bytes at `rate` is received.
    #[inline]
    pub fn answer(&mut self, now: Instant, rate: PhyRate, bytes: u32, stream: &mut RandomStream) -> bool {
        match self {
            Self::Given { answer, .. } => !stream.chance(*answer),
            Self::Traced(_) => true,
            Self::Noise(noise) => noise.table(now).short_comes(rate, bytes, stream),
        }
    }
}

impl ErrorTable {
    /// Draws whether a single short frame is received without error.
    #[inline]
    fn short_comes(&self, rate: PhyRate, bytes: u32, stream: &mut RandomStream) -> bool {
        !stream.chance(self.unheard(rate)) && !stream.chance(self.broken(rate, bytes))
    }

    fn receive(&self, ppdu: &Ppdu, stream: &mut RandomStream) -> RxOutcome {
        let rate = ppdu.rate();
        if stream.chance(self.unheard(rate)) {
            return RxOutcome::NOTHING;
        }
        let unreadable = self.unreadable(rate);
        let Some(first) = ppdu.mpdus.first() else {
            let whole = u64::from(!stream.chance(self.broken(rate, ppdu.bytes)));
            return RxOutcome { whole: Marks::of(whole), readable: Marks::first(1) };
        };
        let (mut len, mut broken) = (first.len, self.broken(rate, u32::from(first.len)));
        let aggregate = ppdu.mpdus.len() > 1;
        let mut got = RxOutcome::NOTHING;
        for (word, mpdus) in ppdu.mpdus.chunks(Marks::WORD).enumerate() {
            let (mut found, mut whole) = (0, 0);
            for (n, mpdu) in mpdus.iter().enumerate() {
                // Most frames of an aggregate have the same length.
                if mpdu.len != len {
                    (len, broken) = (mpdu.len, self.broken(rate, u32::from(mpdu.len)));
                }
                // spec: ieee80211-2016 9.7.1 - a frame without its delimiter is not found.
                let readable = !aggregate || !stream.chance(unreadable);
                found |= u64::from(readable) << n;
                whole |= u64::from(readable && !stream.chance(broken)) << n;
            }
            got.readable.put(word, found);
            got.whole.put(word, whole);
        }
        got
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Duration, Packets, Seed};
    use crate::wifi::testing::ppdu;

    fn stream() -> RandomStream {
        Seed { seed: 3, run: 0 }.stream("errors")
    }

    /// Lost PPDUs, readable frames and intact frames among 1,000 PPDUs of 32 full frames at MCS 7.
    fn thousand(errors: &mut PathErrors) -> (u32, u32, u32) {
        let (mut packets, mut stream) = (Packets::new(), stream());
        let ppdu = ppdu(&mut packets, 0..32);
        (0..1_000).fold((0, 0, 0), |(unheard, readable, whole), _| {
            let got = errors.receive(Instant::ZERO, &ppdu, &mut stream);
            assert!(!(got.whole & !got.readable).any(), "what is whole could be read");
            let none = u32::from(got == RxOutcome::NOTHING);
            (unheard + none, readable + got.readable.count(), whole + got.whole.count())
        })
    }

    #[test]
    fn lost_ppdus_and_lost_frames() {
        let mut none = PathErrors::NONE;
        assert_eq!(thousand(&mut none), (0, 32_000, 32_000));
        let (unheard, readable, whole) =
            thousand(&mut PathErrors::Given { unheard: 0.5, frame: FrameErrors::Same(0.25), answer: 0.0 });
        assert!((450..550).contains(&unheard), "{unheard}");
        assert_eq!(readable, 32 * (1_000 - unheard));
        assert!((0.74..0.76).contains(&(f64::from(whole) / f64::from(readable))), "{whole} of {readable}");
    }

    #[test]
    fn noise_corrupts_frames_but_most_stay_readable() {
        let noise = |db: i32| {
            let noise = Noise::new(&[(Instant::ZERO, Snr(1_000 * db))]).expect("one step");
            thousand(&mut PathErrors::Noise(Box::new(noise)))
        };
        assert_eq!(noise(40), (0, 32_000, 32_000));
        // MCS 7 is on its slope: half of the frames have errors, but nearly all are readable.
        let (unheard, readable, whole) = noise(23);
        assert_eq!(unheard, 0);
        assert!(readable > 31_000 && (8_000..30_000).contains(&whole), "{readable} {whole}");
        // Below 0 dB not even the preamble is decoded.
        assert_eq!(noise(-6), (1_000, 0, 0));
    }

    #[test]
    fn the_ratio_changes_in_time() {
        let ms = |n| Instant::ZERO + Duration::from_millis(n);
        let steps = [(ms(0), Snr(40_000)), (ms(10), Snr(-10_000)), (ms(20), Snr(40_000))];
        let mut errors = PathErrors::Noise(Box::new(Noise::new(&steps).expect("three steps")));
        let mut stream = stream();
        let rate = PhyRate::parse("ofdm-24").unwrap();
        let heard: Vec<bool> =
            [0, 9, 10, 19, 20, 30].map(|n| errors.answer(ms(n), rate, 32, &mut stream)).to_vec();
        assert_eq!(heard, [true, true, false, false, true, true]);
    }
}
