//! Host of a QUIC stack: CPU time per datagram, timer granularity, and the choice of the stack.

use crate::types::{Datagram, Duration, Instant};
use alloc::boxed::Box;

use super::connection::Quic;
use super::stack::{Connection, Read, Snapshot, Stack, StackEvent, StreamId};

/// CPU cost of QUIC on a host whose process does one thing at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HostCost {
    /// CPU time for each datagram sent.
    pub send: Duration,
    /// CPU time for each datagram received.
    pub receive: Duration,
    /// Timer granularity: a timer fires after a whole number of these, at least one. Zero: timers are exact.
    // spec: tools/epoll_server/epoll_server.cc (Chromium 62) - waits are whole milliseconds, at least one.
    pub timer_granularity: Duration,
}

impl HostCost {
    /// When a timer that is set at `now` for `at` fires.
    pub fn fires(&self, now: Instant, at: Instant) -> Instant {
        if self.timer_granularity == Duration::ZERO {
            return at.max(now);
        }
        now + self.timer_granularity * at.saturating_since(now).div_ceil(self.timer_granularity).max(1)
    }
}

/// The stack of one end: the built-in model, or a user's stack.
#[derive(Debug)]
pub enum Engine {
    /// The built-in model, called without dynamic dispatch.
    Model(Box<Quic>),
    /// Any other stack.
    Other(Box<dyn Stack>),
}

macro_rules! each {
    ($self:expr, $stack:ident => $do:expr) => {
        match $self {
            Engine::Model($stack) => $do,
            Engine::Other($stack) => $do,
        }
    };
}

impl Stack for Engine {
    fn connect(&mut self, now: Instant) {
        each!(self, s => s.connect(now));
    }
    #[inline]
    fn on_datagram(&mut self, now: Instant, datagram: &mut Datagram) {
        each!(self, s => s.on_datagram(now, datagram));
    }
    #[inline]
    fn on_timer(&mut self, now: Instant) {
        each!(self, s => s.on_timer(now));
    }
    #[inline]
    fn poll_transmit(&mut self, now: Instant, out: &mut Datagram) -> bool {
        each!(self, s => s.poll_transmit(now, out))
    }
    #[inline]
    fn next_timer(&self) -> Option<Instant> {
        each!(self, s => s.next_timer())
    }
    fn connection(&self) -> Connection {
        each!(self, s => s.connection())
    }
    fn open(&mut self) -> Option<StreamId> {
        each!(self, s => s.open())
    }
    fn write(&mut self, now: Instant, stream: StreamId, bytes: u64) -> u64 {
        each!(self, s => s.write(now, stream, bytes))
    }
    fn finish(&mut self, now: Instant, stream: StreamId) {
        each!(self, s => s.finish(now, stream));
    }
    #[inline]
    fn next_readable(&mut self) -> Option<StreamId> {
        each!(self, s => s.next_readable())
    }
    #[inline]
    fn read(&mut self, now: Instant, stream: StreamId) -> Read {
        each!(self, s => s.read(now, stream))
    }
    fn close(&mut self, now: Instant) {
        each!(self, s => s.close(now));
    }
    fn snapshot(&self, now: Instant) -> Snapshot {
        each!(self, s => s.snapshot(now))
    }
    fn poll_event(&mut self) -> Option<StackEvent> {
        each!(self, s => s.poll_event())
    }
    fn last_sent(&self) -> Option<u64> {
        each!(self, s => s.last_sent())
    }
    fn take_acked(&mut self) -> Option<u64> {
        each!(self, s => s.take_acked())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_come_after_whole_milliseconds() {
        let us = |n| Instant::ZERO + Duration::from_micros(n);
        let cost = HostCost { timer_granularity: Duration::from_millis(1), ..HostCost::default() };
        let seen = [10_000, 10_001, 11_000, 11_001, 9_000].map(|at| cost.fires(us(10_000), us(at)));
        assert_eq!(seen, [11_000, 11_000, 11_000, 12_000, 11_000].map(us));
        let exact = HostCost::default();
        assert_eq!([9_000, 10_001].map(|at| exact.fires(us(10_000), us(at))), [10_000, 10_001].map(us));
    }
}
