//! Counts datagrams by due time: how many are due within the measured time, and how many of these never
//! entered the socket.

use core::ops::Range;

use crate::types::{Duration, Instant};

/// Datagrams of a source that are due within the measured time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Due {
    /// Datagrams due, whether sent or not.
    pub datagrams: u64,
    /// Datagrams that never entered the socket, because the send buffer was full or the source stopped first.
    pub unsent: u64,
    /// Due time of the last datagram, and the interval. `None` if the source has no fixed interval.
    pub last: Option<(Instant, Duration)>,
}

/// Counts datagrams at the bounds of the measured time. Sequence numbers follow due times, so two numbers
/// suffice.
#[derive(Clone, Debug)]
pub(super) struct DueCount {
    measured: Range<Instant>,
    pub(super) stop: Instant,
    /// Datagrams due before the measured time. `None` until that starts.
    first: Option<u32>,
    /// Datagrams due before the end of the measured time. `None` until that ends.
    end: Option<u32>,
    unsent: u64,
    /// Due time of the burst delayed by a full send buffer.
    pub(super) held_up: Instant,
    skipped: u32,
}

impl DueCount {
    pub(super) const fn new(measured: Range<Instant>, stop: Instant) -> Self {
        Self { measured, stop, first: None, end: None, unsent: 0, held_up: Instant::ZERO, skipped: 0 }
    }

    /// Next time at which [`DueCount::reaches`] must be called or the source stops.
    pub(super) fn limit(&self) -> Instant {
        let next = match (self.first, self.end) {
            (None, _) => self.measured.start,
            (_, None) => self.measured.end,
            _ => Instant::NEVER,
        };
        next.min(self.stop)
    }

    /// Records that a burst is due, after `before` datagrams.
    pub(super) fn reaches(&mut self, due: Instant, before: u32) {
        if self.first.is_none() && due >= self.measured.start {
            self.first = Some(before);
        }
        if self.end.is_none() && due >= self.measured.end {
            self.end = Some(before);
        }
    }

    /// Records datagrams, due at `due`, that never enter the socket.
    pub(super) fn gives_up(&mut self, due: Instant, datagrams: u32) {
        if self.measured.contains(&due) {
            self.unsent += u64::from(datagrams);
        }
    }

    /// Records datagrams that the source skips because its socket is full.
    pub(super) fn skips(&mut self, due: Instant, datagrams: u32) {
        self.gives_up(due, datagrams);
        self.skipped += datagrams;
    }

    pub(super) const fn take_skipped(&mut self) -> u32 {
        core::mem::replace(&mut self.skipped, 0)
    }

    /// Returns the counts, given that `all` datagrams have been due so far.
    pub(super) fn due(&self, all: u32) -> Due {
        let end = self.end.unwrap_or(all);
        let datagrams = end.wrapping_sub(self.first.unwrap_or(end)).into();
        Due { datagrams, unsent: self.unsent, last: None }
    }

    pub(super) const fn measured_end(&self) -> Instant {
        self.measured.end
    }
}
