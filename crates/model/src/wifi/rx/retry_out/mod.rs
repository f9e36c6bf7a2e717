//! Pseudo retry-out: an access point acts as if the sender had given up a frame that was received with errors
//! too often.
//!
//! The sender retries until its own limit, and all later frames wait in the receiver's reorder buffer. At low
//! rates this takes long, and TCP never sees a loss that would slow it down. The receiver therefore counts
//! the failures, releases the waiting frames, and ignores the frame if it arrives later.

use crate::types::Rate;
use crate::wifi::marks::Marks;
use crate::wifi::seq_window::{Seq, SeqWindow};

/// Number of errors after which a frame counts as lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RetryOutParams {
    /// Depends on the smoothed data rate, as in Table I of the paper.
    ByRate,
    /// The same count for all rates.
    Index(u8),
}

impl RetryOutParams {
    /// Returns the estimated number of retransmissions at which a frame counts as lost at this smoothed rate,
    /// or `None` if it never does.
    // paper: retry-out table 1 - ranges are closed below and open above.
    pub const fn index(self, rate: SmoothedRate) -> Option<u8> {
        match self {
            Self::ByRate => table(rate.rate()),
            Self::Index(index) => Some(index),
        }
    }
}

/// Table I of the paper: the index for rates below 25, 50 and 100 Mbit/s.
// paper: retry-out table 1.
pub const fn table(rate: Rate) -> Option<u8> {
    match rate.bps() {
        0..25_000_000 => Some(2),
        25_000_000..50_000_000 => Some(5),
        50_000_000..100_000_000 => Some(8),
        _ => None,
    }
}

/// Moving average of the data rates of a peer's frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SmoothedRate(u64);

impl SmoothedRate {
    /// Adds a received frame, with or without errors, to the average.
    // paper: retry-out 3.2 (1) - 3/4 of the previous value plus 1/4 of the frame's rate.
    // deviation: starts at the rate of the first frame - the paper does not define the initial value.
    pub const fn update(&mut self, rate: Rate) {
        let bps = rate.bps();
        self.0 = if self.0 == 0 { bps } else { (3 * self.0 + bps) / 4 };
    }
    /// Returns the average.
    pub const fn rate(self) -> Rate {
        Rate::from_bps(self.0)
    }
}

/// Maximum number of remembered sequence numbers: those of the widest window and as many before it, whose
/// frames may still arrive.
const NUMBERS: usize = 2 * SeqWindow::MOST as usize;

/// Counts of frames with errors in one session.
#[derive(Clone, Debug)]
pub struct RetryOut {
    /// Number of remembered sequence numbers, a power of two: those of the window and as many before it.
    numbers: usize,
    /// Receptions with errors, by sequence number modulo `numbers`.
    broken: [u8; NUMBERS],
    /// Marks of lost frames, by sequence number modulo `numbers`.
    lost: [Marks; 2],
}

impl RetryOut {
    /// Creates the counts for a session with a window of `frames` frames.
    pub fn new(frames: u16) -> Self {
        let numbers = 2 * usize::from(frames).next_power_of_two();
        Self { numbers, broken: [0; NUMBERS], lost: [Marks::NONE; 2] }
    }

    fn place(&self, seq: Seq) -> usize {
        usize::from(seq.get()) & (self.numbers - 1)
    }

    /// Counts an error of a frame near the window. Returns the estimated number of its retransmissions, one
    /// less than the number of receptions.
    // paper: retry-out 3.2 (2) - counts every report with an error, including retries of whole PPDUs.
    pub fn broken(&mut self, seq: Seq) -> u8 {
        let place = self.place(seq);
        let broken = &mut self.broken[place];
        *broken = broken.saturating_add(1);
        *broken - 1
    }

    /// Returns the estimated number of retransmissions of a frame, or `None` if it was never received with
    /// errors.
    pub fn count(&self, seq: Seq) -> Option<u8> {
        self.broken[self.place(seq)].checked_sub(1)
    }

    /// Marks the frame as lost.
    pub fn mark(&mut self, seq: Seq) {
        let place = self.place(seq);
        self.lost[place / Marks::MOST].mark(place % Marks::MOST);
    }

    /// Returns true if the frame was marked as lost.
    pub fn is_lost(&self, seq: Seq) -> bool {
        let place = self.place(seq);
        self.lost[place / Marks::MOST].has(place % Marks::MOST)
    }

    /// Moves the window by `n` numbers. Resets the counts of the `n` numbers from `end`, which enter the
    /// window.
    pub fn moved(&mut self, end: Seq, n: u16) {
        for n in 0..n.min(self.numbers as u16) {
            let place = self.place(end.plus(n));
            self.broken[place] = 0;
            self.lost[place / Marks::MOST].clear(place % Marks::MOST);
        }
    }
}

#[cfg(test)]
mod tests;
