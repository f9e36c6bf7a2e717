//! Limits the writes of a TCP application: a rate, on and off periods, or both.

use crate::types::{Bytes, Duration, Instant, Rate};

/// Schedule of an application's writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GateParams {
    /// Mean rate, released one write at a time. `None`: as fast as the socket accepts data.
    pub rate: Option<Rate>,
    /// Lengths of the alternating on and off periods.
    pub on_off: Option<(Duration, Duration)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Turn {
    Write,
    On,
    Off,
}

#[derive(Debug)]
pub(super) struct Gate {
    params: GateParams,
    /// Bytes per write, and time between writes.
    write: u64,
    period: Duration,
    next_write: Instant,
    /// Next change between on and off.
    next_turn: Instant,
    on: bool,
    /// Bytes of the transfer that are not released yet.
    rest: u64,
}

impl Gate {
    /// Creates a gate that opens at `start`, for `bytes` in total and `write` bytes per write.
    pub(super) fn new(params: GateParams, start: Instant, bytes: u64, write: u32) -> Self {
        let write = u64::from(write);
        let period = params.rate.map_or(Duration::ZERO, |rate| rate.time_for(Bytes::new(write)));
        Self { params, write, period, next_write: Instant::NEVER, next_turn: start, on: false, rest: bytes }
    }

    /// Reports when to call [`Gate::turn`].
    pub(super) fn next(&self) -> Instant {
        self.next_write.min(self.next_turn)
    }

    /// Returns true if all bytes were released.
    pub(super) fn is_spent(&self) -> bool {
        self.rest == 0
    }

    /// Handles the next event, and updates `left`, the bytes that may be written.
    // iperf 3: src/iperf_client_api.c iperf_check_throttle (3.12) - a write is due as soon as the mean rate
    // since the start is below the target, so bytes that the socket did not accept are made up for.
    // deviation: writes happen at their exact times instead of at ticks of a 1 ms timer.
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
            // Bytes not written in this period go to the end of the transfer.
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
