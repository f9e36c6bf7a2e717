//! One direction of an access line: the buffer of the modem, or of the provider's end, and the line itself.
//!
//! The host feeds the modem through an Ethernet device that the modem never stops. A packet that finds the modem's buffer full is
//! dropped there, and no qdisc of the host sees it. That is why routers have shapers.

use alloc::collections::VecDeque;

use crate::qdisc::cake::Framing;
use crate::vocabulary::{Bytes, Duration, ETHERNET_HEADER, Instant, PlaceId, Rate};

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
    /// Rate of the line.
    pub rate: Rate,
    /// Buffer before the line.
    pub buffer: LineBuffer,
    /// Link-layer overhead of a packet on the line.
    pub framing: Framing,
}

/// The buffer before a line, and the line.
#[derive(Debug)]
pub(super) struct Line {
    params: LineParams,
    /// What is full is told of by this name.
    pub(super) place: PlaceId,
    busy_until: Instant,
    /// Packets that came, each with the instant at which the line begins to send it.
    waiting: VecDeque<(Instant, u32)>,
    /// Bytes of those.
    bytes: u64,
}

impl Line {
    pub(super) fn new(params: LineParams) -> Self {
        let (busy_until, waiting) = (Instant::ZERO, VecDeque::new());
        Self { params, place: PlaceId(0), busy_until, waiting, bytes: 0 }
    }

    /// When the line begins to send a packet that arrives at `at`.
    pub(super) fn free_from(&self, at: Instant) -> Instant {
        self.busy_until.max(at)
    }

    /// Changes the rate for later packets; packets in the buffer leave at the old rate.
    // deviation: what waits is sent at the rate that the line had when it came.
    pub(super) fn change(&mut self, rate: Rate) {
        self.params.rate = rate;
    }

    /// The line sends nothing before this instant.
    pub(super) fn waits_until(&mut self, at: Instant) {
        self.busy_until = self.busy_until.max(at);
    }

    /// A packet of `len` bytes from the IP header on arrives; instants must not decrease. Returns when its last bit has left, or
    /// `None` if the buffer is full. The packet being sent is no longer in the buffer.
    // spec: docsis MULPIv3.1 C.2.2.7.11 (Buffer Control) - the buffer of a service flow is counted in bytes of the packets that wait; what does
    // not fit is dropped as it comes.
    pub(super) fn push(&mut self, at: Instant, len: u32) -> Option<Instant> {
        while let Some(&(begins, bytes)) = self.waiting.front()
            && begins <= at
        {
            self.waiting.pop_front();
            self.bytes -= u64::from(bytes);
        }
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
            self.waiting.push_back((begins, bytes));
            self.bytes += u64::from(bytes);
        }
        self.busy_until = begins + self.time_for(bytes);
        Some(self.busy_until)
    }

    fn time_for(&self, bytes: u32) -> Duration {
        let (_, whole) = self.params.framing.sizes(bytes);
        self.params.rate.time_for(Bytes::new(u64::from(whole)))
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

    /// When packets of 986 bytes (1000 with their header) that come together have left a line of 8 Mbit/s, which sends one in 1 ms.
    fn left(buffer: LineBuffer, framing: Framing, came: &[u64]) -> Vec<Option<u64>> {
        let mut line = Line::new(LineParams { rate: Rate::from_mbps(8), buffer, framing });
        let when = |at: &u64| line.push(us(*at), 986).map(|at| at.nanos() / 1_000);
        came.iter().map(when).collect()
    }

    #[test]
    fn what_finds_the_buffer_full_is_dropped() {
        let gone = |ms: u64| Some(ms * 1_000);
        // One is on the line, two wait; at 1 ms there is room for one more.
        let three = [gone(1), gone(2), gone(3), None, gone(4), None];
        assert_eq!(left(LineBuffer::Packets(2), Framing::RAW, &[0, 0, 0, 0, 1_000, 1_999]), three);
        assert_eq!(left(LineBuffer::Bytes(2_000), Framing::RAW, &[0, 0, 0, 0, 1_000, 1_999]), three);
        assert_eq!(left(LineBuffer::Bytes(1_999), Framing::RAW, &[0, 0, 0]), [gone(1), gone(2), None]);
        // A pause is not made up for.
        assert_eq!(left(LineBuffer::Bytes(0), Framing::RAW, &[0, 999, 5_000]), [gone(1), None, gone(6)]);
    }

    #[test]
    fn a_packet_costs_what_the_line_makes_of_it() {
        let framing = |overhead, cells| Framing { overhead: Some(overhead), mpu: 64, cells };
        // 986 and 18 bytes; 986 and 40 in 22 cells of 53.
        let one = |framing| left(LineBuffer::Bytes(0), framing, &[0]);
        assert_eq!(one(framing(18, Cells::None)), [Some(1_004)]);
        assert_eq!(one(framing(40, Cells::Atm)), [Some(1_166)]);
    }
}
