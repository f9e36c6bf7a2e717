//! A telephone call in one direction: G.711 over RTP.

use crate::vocabulary::{Duration, Endpoint, Instant, NewPacket, PacketKind, SockId, linear_truesize};

/// Default interval between packets.
// spec: rfc3551 table 1.
pub const VOIP_INTERVAL: Duration = Duration::from_millis(20);

/// Payload of a packet in bytes: `interval` of G.711 audio at 64 kbit/s, plus the RTP header.
// spec: rfc3551 4.5.14 - 8 bits a sample at 8 kHz; rfc3550 5.1 - 12 bytes.
pub const fn voip_payload(interval: Duration) -> u32 {
    (interval.nanos() / 125_000) as u32 + 12
}

/// A stream of G.711 packets as D-ITG and irtt send it for Flent's `voip` tests: without silence suppression.
#[derive(Debug)]
pub struct Voip {
    endpoint: Endpoint,
    interval: Duration,
    next: Instant,
    stop: Instant,
    seq: u32,
}

impl Voip {
    /// A packet every `interval` from `start` until `stop` (exclusive).
    pub fn new(endpoint: Endpoint, interval: Duration, start: Instant, stop: Instant) -> Self {
        Self { endpoint, interval, next: start, stop, seq: 0 }
    }

    /// When the next packet is due, if there is one.
    pub fn next_timer(&self) -> Option<Instant> {
        (self.next < self.stop).then_some(self.next)
    }

    /// The packet that is due. It is not charged to a socket: it is small and its socket never blocks.
    pub fn on_timer(&mut self, now: Instant) -> NewPacket {
        self.next += self.interval;
        self.seq += 1;
        let len = self.endpoint.datagram(voip_payload(self.interval));
        self.endpoint.packet(now, PacketKind::Voip, self.seq, len, linear_truesize(len), SockId::NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::{Addr, FlowId};
    use alloc::vec::Vec;

    #[test]
    fn fifty_packets_of_172_bytes_a_second_or_a_hundred_of_92() {
        let ms = |n| Instant::ZERO + Duration::from_millis(n);
        let sent = |interval| {
            let endpoint = Endpoint { flow: FlowId(0), flow_hash: 1, src: Addr(0), dst: Addr(1), tos: 0xc0 };
            let mut call = Voip::new(endpoint, interval, ms(100), ms(130));
            core::iter::from_fn(|| {
                let now = call.next_timer()?;
                let p = call.on_timer(now);
                Some((now, p.seq, p.len - 28, p.tos))
            })
            .collect::<Vec<_>>()
        };
        assert_eq!(sent(VOIP_INTERVAL), [(ms(100), 1, 172, 0xc0), (ms(120), 2, 172, 0xc0)]);
        // D-ITG's G.711 with one sample a packet.
        let hundred = [(ms(100), 1, 92, 0xc0), (ms(110), 2, 92, 0xc0), (ms(120), 3, 92, 0xc0)];
        assert_eq!(sent(Duration::from_millis(10)), hundred);
    }
}
