//! One direction of an access line: the buffer of the modem or of the provider's end, and the line itself.
//!
//! The host feeds the modem through an Ethernet device that the modem never stops. The modem drops packets
//! that find its buffer full; no qdisc of the host sees these drops. That is why routers have shapers.

use alloc::collections::VecDeque;

use super::retime::{Retimer, earliest, pace};
use crate::qdisc::cake::Framing;
use crate::types::{Bytes, Duration, ETHERNET_HEADER, Instant, PlaceId, Rate};

/// Size of the buffer before a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LineBuffer {
    /// In packets.
    Packets(u32),
    /// In bytes, with Ethernet headers.
    Bytes(u64),
}

/// One direction of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LineParams {
    /// Rate of the line; zero during an outage.
    pub rate: Rate,
    /// Buffer before the line.
    pub buffer: LineBuffer,
    /// Link-layer overhead of packets on the line.
    pub framing: Framing,
}

/// The buffer before a line, and the line.
#[derive(Debug)]
pub(super) struct Line {
    params: LineParams,
    /// Place of the buffer's tail drops.
    pub(super) place: PlaceId,
    busy_until: Instant,
    waiting: VecDeque<Waiting>,
    /// Bytes in the buffer.
    bytes: u64,
}

/// A packet that found the line busy. It leaves the buffer when its first bit is sent.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    begins: Instant,
    /// Arrival at the modem.
    at: Instant,
    bytes: u32,
}

/// A change of a line's rate, while its packets are rescheduled.
pub(super) struct LineStep {
    pub(super) retimer: Retimer,
    old: Rate,
    waiting: VecDeque<Waiting>,
}

impl Line {
    pub(super) fn new(params: LineParams) -> Self {
        let (busy_until, waiting) = (earliest(params.rate, Instant::ZERO), VecDeque::new());
        let params = LineParams { rate: pace(params.rate), ..params };
        Self { params, place: PlaceId(0), busy_until, waiting, bytes: 0 }
    }

    /// Time at which the line starts sending a packet that arrives at `at`.
    pub(super) fn free_from(&self, at: Instant) -> Instant {
        self.busy_until.max(at)
    }

    /// The rate, as returned by [`pace`].
    pub(super) fn rate(&self) -> Rate {
        self.params.rate
    }

    /// Starts a change to the retimer's rate. The caller then reschedules the packets on the line and in the
    /// buffer in order, with [`Line::again`].
    pub(super) fn step(&mut self, now: Instant, rate: Rate, retimer: Retimer) -> LineStep {
        self.begin(now);
        let old = core::mem::replace(&mut self.params.rate, rate);
        (self.busy_until, self.bytes) = (retimer.next, 0);
        LineStep { retimer, old, waiting: core::mem::take(&mut self.waiting) }
    }

    /// Reschedules the next packet, which would have left the line at `sent`. Returns its arrival at the
    /// modem, rescaled by `port`, and its new start and end on the line. Packets that have reached the modem
    /// keep their place in the buffer; a later one may find it full.
    pub(super) fn again(
        &mut self,
        now: Instant,
        step: &mut LineStep,
        (sent, len): (Instant, u32),
        port: &Retimer,
    ) -> (Instant, Option<(Instant, Instant)>) {
        let bytes = len + ETHERNET_HEADER;
        let whole = self.on_line(bytes);
        let begins = sent.before(step.old.time_for(whole));
        let has_begun = begins <= now || step.retimer.is_cut(sent);
        let at = match step.waiting.front() {
            _ if has_begun => begins.min(now),
            Some(waiting) if waiting.begins == begins => step.waiting.pop_front().map_or(begins, |of| of.at),
            // The packet finds the line idle.
            _ => begins,
        };
        let at = port.scaled(at);
        if at > now {
            let begins = self.free_from(at);
            return (at, self.push(at, len).map(|sent| (begins, sent)));
        }
        let (begins, sent) = step.retimer.frame(sent, whole);
        if !has_begun {
            self.waiting.push_back(Waiting { begins, at, bytes });
            self.bytes += u64::from(bytes);
        }
        self.busy_until = sent;
        (at, Some((begins, sent)))
    }

    /// Removes packets from the buffer whose first bit has been sent.
    #[inline(always)]
    fn begin(&mut self, at: Instant) {
        while let Some(&Waiting { begins, bytes, .. }) = self.waiting.front()
            && begins <= at
        {
            self.waiting.pop_front();
            self.bytes -= u64::from(bytes);
        }
    }

    /// Adds a packet of `len` bytes, including the IP header, that arrives at `at`; times must not decrease.
    /// Returns the time at which its last bit leaves, or `None` if the buffer is full. The packet being sent
    /// is no longer in the buffer.
    // spec: docsis MULPIv3.1 C.2.2.7.11 (Buffer Control) - the buffer of a service flow is measured in bytes
    // of waiting packets; arriving packets that do not fit are dropped.
    pub(super) fn push(&mut self, at: Instant, len: u32) -> Option<Instant> {
        self.begin(at);
        let bytes = len + ETHERNET_HEADER;
        let begins = self.free_from(at);
        if begins > at {
            let fits = match self.params.buffer {
                LineBuffer::Packets(limit) => (self.waiting.len() as u64) < u64::from(limit),
                LineBuffer::Bytes(limit) => self.bytes + u64::from(bytes) <= limit,
            };
            if !fits {
                return None;
            }
            self.waiting.push_back(Waiting { begins, at, bytes });
            self.bytes += u64::from(bytes);
        }
        self.busy_until = begins + self.time_for(bytes);
        Some(self.busy_until)
    }

    fn time_for(&self, bytes: u32) -> Duration {
        self.params.rate.time_for(self.on_line(bytes))
    }

    /// Bytes of a packet on the line, with link-layer overhead.
    fn on_line(&self, bytes: u32) -> Bytes {
        let (_, whole) = self.params.framing.sizes(bytes);
        Bytes::new(u64::from(whole))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qdisc::cake::Cells;
    use alloc::vec::Vec;

    fn us(n: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(n)
    }

    /// Departure times of packets of 986 bytes (1000 with their header) that arrive together on a line of 8
    /// Mbit/s, which takes 1 ms per packet.
    fn left(buffer: LineBuffer, framing: Framing, came: &[u64]) -> Vec<Option<u64>> {
        let mut line = Line::new(LineParams { rate: Rate::from_mbps(8), buffer, framing });
        let when = |at: &u64| line.push(us(*at), 986).map(|at| at.nanos() / 1_000);
        came.iter().map(when).collect()
    }

    #[test]
    fn packets_that_find_the_buffer_full_are_dropped() {
        let gone = |ms: u64| Some(ms * 1_000);
        // One is on the line, two wait; at 1 ms there is room for one more.
        let three = [gone(1), gone(2), gone(3), None, gone(4), None];
        assert_eq!(left(LineBuffer::Packets(2), Framing::RAW, &[0, 0, 0, 0, 1_000, 1_999]), three);
        assert_eq!(left(LineBuffer::Bytes(2_000), Framing::RAW, &[0, 0, 0, 0, 1_000, 1_999]), three);
        assert_eq!(left(LineBuffer::Bytes(1_999), Framing::RAW, &[0, 0, 0]), [gone(1), gone(2), None]);
        // An idle time earns no credit.
        assert_eq!(left(LineBuffer::Bytes(0), Framing::RAW, &[0, 999, 5_000]), [gone(1), None, gone(6)]);
    }

    #[test]
    fn the_line_adds_its_framing() {
        let framing = |overhead, cells| Framing { overhead: Some(overhead), mpu: 64, cells };
        // 986 and 18 bytes; 986 and 40 in 22 cells of 53.
        let one = |framing| left(LineBuffer::Bytes(0), framing, &[0]);
        assert_eq!(one(framing(18, Cells::None)), [Some(1_004)]);
        assert_eq!(one(framing(40, Cells::Atm)), [Some(1_166)]);
    }
}
