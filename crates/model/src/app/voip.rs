//! A phone call in one direction: G.711 over RTP.

use alloc::boxed::Box;
use core::ops::Range;

use super::due::{Due, DueCount};
use crate::types::{Duration, Endpoint, Instant, NewPacket, PacketKind, SockId, linear_truesize};

/// Default interval between packets.
// spec: rfc3551 table 1.
pub const VOIP_INTERVAL: Duration = Duration::from_millis(20);

/// Bytes per packet after the UDP header: `interval` of G.711 audio at 64 kbit/s, plus the RTP header.
// spec: rfc3551 4.5.14 - 8 bits per sample at 8 kHz; rfc3550 5.1 - 12 bytes.
pub const fn voip_payload(interval: Duration) -> u32 {
    (interval.nanos() / 125_000) as u32 + 12
}

/// Parameters of a call in one direction.
#[derive(Clone, Debug)]
pub struct VoipParams {
    /// Destination.
    pub endpoint: Endpoint,
    /// Packet interval.
    pub interval: Duration,
    /// Time of the first packet.
    pub start: Instant,
    /// End of the call (exclusive).
    pub stop: Instant,
    /// Send buffer of the socket (`net.core.wmem_default`), in bytes.
    pub sndbuf: u32,
    /// Time within which due packets are counted.
    pub measured: Range<Instant>,
}

/// A stream of G.711 packets as D-ITG and irtt send it for Flent's `voip` tests: without silence suppression.
#[derive(Debug)]
pub struct Voip {
    endpoint: Endpoint,
    interval: Duration,
    next: Instant,
    limit: Instant,
    /// Sequence number of the last packet, sent or skipped.
    seq: u32,
    sock: SockId,
    sndbuf: u32,
    /// Memory currently charged to the socket (`sk_wmem_alloc`).
    charged: u32,
    count: Box<DueCount>,
}

impl Voip {
    /// Creates a call.
    pub fn new(params: VoipParams, sock: SockId) -> Self {
        let VoipParams { endpoint, interval, start, stop, sndbuf, measured } = params;
        let count = Box::new(DueCount::new(measured, stop));
        let limit = count.limit();
        Self { endpoint, interval, next: start, limit, seq: 0, sock, sndbuf, charged: 0, count }
    }

    /// Reports when the next packet is due. `None` after the last one.
    pub fn next_timer(&self) -> Option<Instant> {
        (self.next < self.limit || self.next < self.count.stop).then_some(self.next)
    }

    /// Returns the packet that is due. `None` if it is skipped because the send buffer is full.
    // linux: net/core/sock.c sock_alloc_send_pskb (4.4) - has room while less than sndbuf is charged.
    pub fn on_timer(&mut self, now: Instant) -> Option<NewPacket> {
        if now >= self.limit {
            self.count.reaches(now, self.seq);
            self.limit = self.count.limit();
        }
        self.next += self.interval;
        self.seq += 1;
        if self.charged >= self.sndbuf {
            self.count.gives_up(now, 1);
            return None;
        }
        let len = self.endpoint.datagram(voip_payload(self.interval));
        let truesize = linear_truesize(len);
        self.charged += truesize;
        Some(self.endpoint.packet(now, PacketKind::Voip, self.seq, len, truesize, self.sock))
    }

    /// Ends a charge of the socket. The application never waits for room.
    pub fn uncharge(&mut self, truesize: u32) {
        self.charged -= truesize;
    }

    /// Truesize currently charged to the socket, in bytes.
    pub fn charged(&self) -> u64 {
        u64::from(self.charged)
    }

    /// Packets due within the measured time.
    pub fn due(&self) -> Due {
        let due = self.count.due(self.seq);
        // `next` is one interval after the last packet, which may be due after the measured time.
        let beyond = self.next.saturating_since(self.count.measured_end()).nanos();
        let back = beyond / self.interval.nanos() + 1;
        let last = Duration::from_nanos(self.interval.nanos() * back);
        let last = Instant::ZERO + self.next.saturating_since(Instant::ZERO + last);
        Due { last: (due.datagrams > 0).then_some((last, self.interval)), ..due }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Addr, FlowId};
    use alloc::vec::Vec;

    #[test]
    fn fifty_packets_of_172_bytes_a_second_or_a_hundred_of_92() {
        let ms = |n| Instant::ZERO + Duration::from_millis(n);
        let sent = |interval| {
            let endpoint = Endpoint { flow: FlowId(0), flow_hash: 1, src: Addr(0), dst: Addr(1), tos: 0xc0 };
            let (start, stop, sndbuf, measured) = (ms(100), ms(130), 212_992, ms(0)..Instant::NEVER);
            let params = VoipParams { endpoint, interval, start, stop, sndbuf, measured };
            let mut call = Voip::new(params, SockId(0));
            core::iter::from_fn(|| {
                let now = call.next_timer()?;
                let p = call.on_timer(now)?;
                Some((now, p.seq, p.len - 28, p.tos))
            })
            .collect::<Vec<_>>()
        };
        assert_eq!(sent(VOIP_INTERVAL), [(ms(100), 1, 172, 0xc0), (ms(120), 2, 172, 0xc0)]);
        // D-ITG's G.711 with one sample per packet.
        let hundred = [(ms(100), 1, 92, 0xc0), (ms(110), 2, 92, 0xc0), (ms(120), 3, 92, 0xc0)];
        assert_eq!(sent(Duration::from_millis(10)), hundred);
    }

    #[test]
    fn a_full_socket_skips_packets_that_still_count_as_due() {
        let ms = |n| Instant::ZERO + Duration::from_millis(n);
        let endpoint = Endpoint { flow: FlowId(0), flow_hash: 1, src: Addr(0), dst: Addr(1), tos: 0xc0 };
        let (interval, start, stop) = (VOIP_INTERVAL, ms(0), ms(400));
        // 200 bytes have a truesize of 1,280: three packets fill the 3,840 bytes.
        let params =
            VoipParams { endpoint, interval, start, stop, sndbuf: 3_840, measured: ms(100)..ms(300) };
        let mut call = Voip::new(params, SockId(0));
        let mut sent = Vec::new();
        while let Some(now) = call.next_timer() {
            sent.extend(call.on_timer(now).map(|p| p.seq));
            if now == ms(200) {
                call.uncharge(1_280);
            }
        }
        assert_eq!((sent, call.charged()), (alloc::vec![1, 2, 3, 12], 3_840));
        // Due at 100, 120 .. 280 ms; only the one at 220 ms was sent.
        let due = Due { datagrams: 10, unsent: 9, last: Some((ms(280), interval)) };
        assert_eq!(call.due(), due);
    }
}
