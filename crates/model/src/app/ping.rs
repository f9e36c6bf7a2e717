//! ICMP echo requests at a steady interval.

use super::{Endpoint, IPV4_HEADER, UDP_HEADER};
use crate::vocabulary::{Duration, Instant, Kind, NewPacket, SockId};

/// Truesize of a packet as small as a ping: one 256-byte head and the skb itself.
// linux: include/linux/skbuff.h SKB_TRUESIZE (4.4) - 512 + 256 for a request of 84 bytes.
const TRUESIZE: u32 = 768;

/// A pinging application.
#[derive(Debug)]
pub struct Ping {
    endpoint: Endpoint,
    interval: Duration,
    payload: u32,
    next: Instant,
    seq: u32,
}

impl Ping {
    /// Pings every `interval` from `start` on with `payload` bytes.
    pub fn new(endpoint: Endpoint, interval: Duration, payload: u32, start: Instant) -> Self {
        Self { endpoint, interval, payload, next: start, seq: 0 }
    }

    /// When the next request is due.
    pub fn next_timer(&self) -> Option<Instant> {
        Some(self.next)
    }

    /// The request that is due. It is small and its socket never blocks, so it is charged to nobody.
    pub fn on_timer(&mut self, now: Instant) -> NewPacket {
        self.next += self.interval;
        self.seq += 1;
        let len = self.payload + UDP_HEADER + IPV4_HEADER;
        self.endpoint.packet(now, Kind::EchoRequest, self.seq, len, TRUESIZE, SockId::NONE)
    }
}
