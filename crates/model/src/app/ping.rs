//! ICMP or UDP echo requests at a fixed interval.

use crate::types::{Duration, Endpoint, Instant, NewPacket, PacketKind, SockId, linear_truesize};

/// A ping application.
#[derive(Debug)]
pub struct Ping {
    endpoint: Endpoint,
    request: PacketKind,
    interval: Duration,
    payload: u32,
    next: Instant,
    stop: Instant,
    seq: u32,
}

impl Ping {
    /// Creates a ping with ICMP or ICMPv6 echo requests of `payload` bytes, every `interval` from `start`
    /// until `stop` (exclusive).
    pub fn icmp(endpoint: Endpoint, interval: Duration, payload: u32, start: Instant, stop: Instant) -> Self {
        Self { endpoint, request: PacketKind::EchoRequest, interval, payload, next: start, stop, seq: 0 }
    }

    /// Creates a ping over UDP to an echo server. Isochronous like irtt: requests do not wait for replies.
    pub fn udp(endpoint: Endpoint, interval: Duration, payload: u32, start: Instant, stop: Instant) -> Self {
        Self { request: PacketKind::UdpRequest, ..Self::icmp(endpoint, interval, payload, start, stop) }
    }

    /// Reports when the next request is due. `None` after the last one.
    pub fn next_timer(&self) -> Option<Instant> {
        (self.next < self.stop).then_some(self.next)
    }

    /// Returns the request that is due. No socket is charged: requests are small and their socket never
    /// blocks.
    pub fn on_timer(&mut self, now: Instant) -> NewPacket {
        self.next += self.interval;
        self.seq += 1;
        let len = self.endpoint.datagram(self.payload);
        self.endpoint.packet(now, self.request, self.seq, len, linear_truesize(len), SockId::NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Addr, FlowId};
    use alloc::vec::Vec;

    #[test]
    fn requests_from_start_to_stop_exclusive() {
        let ms = |n| Instant::ZERO + Duration::from_millis(n);
        let endpoint = Endpoint { flow: FlowId(0), flow_hash: 1, src: Addr(0), dst: Addr(1), tos: 0 };
        for (new, kind) in [
            (Ping::icmp as fn(_, _, _, _, _) -> Ping, PacketKind::EchoRequest),
            (Ping::udp, PacketKind::UdpRequest),
        ] {
            let mut ping = new(endpoint, Duration::from_millis(200), 56, ms(100), ms(700));
            let sent: Vec<_> = core::iter::from_fn(|| {
                let now = ping.next_timer()?;
                let p = ping.on_timer(now);
                assert_eq!(p.kind, kind);
                Some((now, p.seq, p.len))
            })
            .collect();
            assert_eq!(sent, [(ms(100), 1, 84), (ms(300), 2, 84), (ms(500), 3, 84)]);
        }
    }
}
