//! Limits when an application writes over TCP: a rate, on and off periods, or neither.

use crate::types::{Bytes, Duration, Instant, Rate};

/// When an application has something to write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GateParams {
    /// Mean rate, one write at a time; `None`: as fast as the socket accepts it.
    pub rate: Option<Rate>,
    /// Lengths of the on and off periods, which alternate.
    pub on_off: Option<(Duration, Duration)>,
}

/// What changes at an instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Turn {
    Write,
    On,
    Off,
}

/// The state of a gate.
#[derive(Debug)]
pub(super) struct Gate {
    params: GateParams,
    /// Bytes of a write, and the time from one to the next.
    write: u64,
    period: Duration,
    /// When the next write of the schedule is due.
    next_write: Instant,
    /// When it falls silent, or writes again.
    next_turn: Instant,
    on: bool,
    /// Bytes in all that may not be written yet.
    rest: u64,
}

impl Gate {
    /// One that opens at `start`, for so many bytes in all and so many a write.
    pub(super) fn new(params: GateParams, start: Instant, bytes: u64, write: u32) -> Self {
        let write = u64::from(write);
        let period = params.rate.map_or(Duration::ZERO, |rate| rate.time_for(Bytes::new(write)));
        Self { params, write, period, next_write: Instant::NEVER, next_turn: start, on: false, rest: bytes }
    }

    /// When [`Gate::turn`] is to be called.
    pub(super) fn next(&self) -> Instant {
        self.next_write.min(self.next_turn)
    }

    /// Nothing is kept back, now or later.
    pub(super) fn is_spent(&self) -> bool {
        self.rest == 0
    }

    /// What the instant changes of the bytes that may be written, `left`.
    // iperf 3: src/iperf_client_api.c iperf_check_throttle (3.12) - a write is due as soon as the mean since
    // the start is below the rate, so what the socket did not take is made up for.
    // deviation: writes lie at their own times, not at those of a timer of 1 ms.
    pub(super) fn turn(&mut self, left: &mut u64) {
        let at = self.next();
        let turn = match (self.next_turn <= at, self.on) {
            (false, _) => Turn::Write,
            (true, false) => Turn::On,
            (true, true) => Turn::Off,
        };
        match turn {
            Turn::Write => {
                self.release(left, self.write);
                self.next_write = if self.rest > 0 { at + self.period } else { Instant::NEVER };
            }
            Turn::On => {
                self.on = true;
                self.next_turn = self.params.on_off.map_or(Instant::NEVER, |(on, _)| at + on);
                match self.params.rate {
                    Some(_) => self.next_write = at,
                    None => self.release(left, u64::MAX),
                }
            }
            // What it did not get written is not written later than the rest.
            Turn::Off => {
                self.on = false;
                self.rest += core::mem::take(left);
                self.next_write = Instant::NEVER;
                self.next_turn = self.params.on_off.map_or(Instant::NEVER, |(_, off)| at + off);
            }
        }
    }

    fn release(&mut self, left: &mut u64, most: u64) {
        let now = self.rest.min(most);
        *left += now;
        self.rest -= now;
    }
}
