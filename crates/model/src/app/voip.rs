//! A telephone call, one way: G.711 over RTP.

use crate::vocabulary::{
    Duration, Endpoint, IPV4_HEADER, Instant, Kind, NewPacket, SockId, UDP_HEADER, linear_truesize,
};

/// Bytes of a packet's payload: 20 ms of G.711 at 64 kbit/s and the header of RTP.
// spec: rfc3551 4.5.14 - 8 bits a sample at 8 kHz; table 1 - 20 ms a packet unless agreed on; rfc3550 5.1 - 12 bytes.
pub const VOIP_PAYLOAD: u32 = 8_000 * 20 / 1_000 + 12;

/// Time between packets.
pub const VOIP_INTERVAL: Duration = Duration::from_millis(20);

/// A stream of G.711 packets, as D-ITG sends it for Flent's `voip` tests: without pauses, as if somebody spoke all the time.
#[derive(Debug)]
pub struct Voip {
    endpoint: Endpoint,
    next: Instant,
    stop: Instant,
    seq: u32,
}

impl Voip {
    /// A packet every 20 ms from `start` on, until before `stop`.
    pub fn new(endpoint: Endpoint, start: Instant, stop: Instant) -> Self {
        Self { endpoint, next: start, stop, seq: 0 }
    }

    /// When the next packet is due, if there is to be one.
    pub fn next_timer(&self) -> Option<Instant> {
        (self.next < self.stop).then_some(self.next)
    }

    /// The packet that is due. It is small and its socket never blocks, so it is charged to nobody.
    pub fn on_timer(&mut self, now: Instant) -> NewPacket {
        self.next += VOIP_INTERVAL;
        self.seq += 1;
        let len = VOIP_PAYLOAD + UDP_HEADER + IPV4_HEADER;
        self.endpoint.packet(now, Kind::Voip, self.seq, len, linear_truesize(len), SockId::NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::{Addr, FlowId};

    #[test]
    fn fifty_packets_of_172_bytes_a_second() {
        let ms = |n| Instant::ZERO + Duration::from_millis(n);
        let endpoint = Endpoint { flow: FlowId(0), flow_hash: 1, src: Addr(0), dst: Addr(1), tos: 0xc0 };
        let mut call = Voip::new(endpoint, ms(100), ms(160));
        let sent: Vec<_> = core::iter::from_fn(|| {
            let now = call.next_timer()?;
            let p = call.on_timer(now);
            Some((now, p.seq, p.len, p.tos))
        })
        .collect();
        assert_eq!(sent, [(ms(100), 1, 200, 0xc0), (ms(120), 2, 200, 0xc0), (ms(140), 3, 200, 0xc0)]);
    }
}
