//! A source of UDP datagrams in bursts, over a socket with a send buffer.

use crate::vocabulary::{
    Bytes, Duration, Endpoint, Instant, NewPacket, PacketKind, RandomStream, Rate, SockId,
};

/// How the times between bursts are distributed; the mean follows from rate, payload and burst.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Gap {
    /// Exponential.
    Exponential,
    /// Uniform between two multiples of the mean.
    Uniform(f64, f64),
    /// Always the mean. Periodic sources can synchronize with tail drops.
    Periodic,
}

/// Parameters of a UDP source.
#[derive(Clone, Copy, Debug)]
pub struct UdpSourceParams {
    /// Destination.
    pub endpoint: Endpoint,
    /// Mean payload rate.
    pub rate: Rate,
    /// Bytes of payload in each datagram.
    pub payload: u32,
    /// Datagrams sent back to back.
    pub burst: u32,
    /// Times between bursts.
    pub gap: Gap,
    /// Start of the source.
    pub start: Instant,
    /// When the source stops.
    pub stop: Instant,
    /// Truesize of a datagram in bytes.
    pub truesize: u32,
    /// Send buffer of the socket (`net.core.wmem_default`), at most 2^30 bytes.
    pub sndbuf: u32,
}

/// What the times between bursts are drawn from.
#[derive(Clone, Copy, Debug)]
enum Gaps {
    /// Exponential around a mean.
    Exponential(Duration),
    /// Uniform from the one to the other.
    Uniform(Duration, Duration),
    /// Always this.
    Periodic(Duration),
}

/// A UDP source and its socket.
///
/// With many sources hardly one is still in the cache when its next burst is due: what a burst needs and what a datagram
/// needs are a cache line each.
#[derive(Debug)]
#[repr(C)]
pub struct UdpSource {
    stream: RandomStream,
    gaps: Gaps,
    next_burst: Instant,
    stop: Instant,
    /// Datagrams of the current burst that are still to be written.
    left: u32,
    burst: u32,
    seq: u32,
    /// Bytes of a datagram from the IP header on.
    len: u32,
    truesize: u32,
    sndbuf: u32,
    /// Memory charged to the socket now (`sk_wmem_alloc`).
    charged: u32,
    sock: SockId,
    endpoint: Endpoint,
    /// The send buffer was full and the source sleeps.
    blocked: bool,
}

impl UdpSource {
    /// A source that has sent nothing; its first burst comes one gap after its start.
    ///
    /// Panics if the send buffer is larger than it may be.
    pub fn new(params: UdpSourceParams, sock: SockId, stream: RandomStream) -> Self {
        let UdpSourceParams { endpoint, rate, payload, burst, gap, start, stop, truesize, sndbuf } = params;
        assert!(sndbuf <= 1 << 30, "a send buffer of more than 2^30 bytes");
        let mean = rate.time_for(Bytes::new(u64::from(payload) * u64::from(burst)));
        let times = |x: f64| Duration::from_nanos((mean.nanos() as f64 * x) as u64);
        let mut source = Self {
            stream,
            gaps: match gap {
                Gap::Exponential => Gaps::Exponential(mean),
                Gap::Uniform(low, high) => Gaps::Uniform(times(low), times(high)),
                Gap::Periodic => Gaps::Periodic(mean),
            },
            next_burst: start,
            stop,
            left: 0,
            burst,
            seq: 0,
            len: endpoint.datagram(payload),
            truesize,
            sndbuf,
            charged: 0,
            sock,
            endpoint,
            blocked: false,
        };
        let gap = source.gap();
        source.next_burst += gap;
        source
    }

    /// The same with bursts at a steady interval from `start` on.
    #[must_use]
    pub(super) fn every(self, interval: Duration, start: Instant) -> Self {
        Self { gaps: Gaps::Periodic(interval), next_burst: start, ..self }
    }

    fn gap(&mut self) -> Duration {
        match self.gaps {
            Gaps::Exponential(mean) => self.stream.exponential(mean),
            Gaps::Uniform(low, high) => self.stream.between(low, high),
            Gaps::Periodic(gap) => gap,
        }
    }

    /// When to call [`UdpSource::on_timer`]; `None` while the last burst waits for memory.
    pub fn next_timer(&self) -> Option<Instant> {
        (self.left == 0 && self.next_burst < self.stop).then_some(self.next_burst)
    }

    /// A burst is due.
    ///
    /// A burst that a full send buffer delayed does not shift the later ones: the source keeps its schedule, like iperf.
    pub fn on_timer(&mut self) {
        self.left = self.burst;
        let gap = self.gap();
        self.next_burst += gap;
    }

    /// A burst of so many datagrams of so many bytes of payload is due.
    pub(super) fn on_burst(&mut self, (datagrams, payload): (u32, u32)) {
        self.len = self.endpoint.datagram(payload);
        self.on_timer();
        self.left = datagrams;
    }

    /// The next datagram of the burst, if the send buffer has room for it.
    // linux: net/core/sock.c sock_alloc_send_pskb (4.4) - room is when less than sndbuf is charged before.
    #[inline]
    pub fn emit(&mut self, now: Instant) -> Option<NewPacket> {
        if self.left == 0 || self.blocked {
            return None;
        }
        if self.charged >= self.sndbuf {
            self.blocked = true;
            return None;
        }
        if now >= self.stop {
            // What is left was held up for too long, and so was the schedule behind it.
            (self.left, self.next_burst) = (0, self.stop);
            return None;
        }
        self.left -= 1;
        self.charged += self.truesize;
        self.seq = self.seq.wrapping_add(1);
        Some(self.endpoint.packet(now, PacketKind::Udp, self.seq, self.len, self.truesize, self.sock))
    }

    /// A charge of the socket ended. Returns whether this wakes the source.
    // linux: net/core/sock.c sock_def_write_space (4.4) - a sender is woken when at most half of sndbuf is charged.
    #[inline]
    pub fn uncharge(&mut self, truesize: u32) -> bool {
        self.charged -= truesize;
        let woken = self.blocked && 2 * self.charged <= self.sndbuf;
        self.blocked &= !woken;
        woken
    }

    /// Truesize charged to the socket now, in bytes.
    pub fn charged(&self) -> u64 {
        u64::from(self.charged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::{Addr, FlowId, Seed};

    fn source(gap: Gap, burst: u32) -> UdpSource {
        let endpoint = Endpoint { flow: FlowId(0), flow_hash: 1, src: Addr(0), dst: Addr(1), tos: 0 };
        let params = UdpSourceParams {
            endpoint,
            rate: Rate::from_mbps(100),
            payload: 1470,
            burst,
            gap,
            start: Instant::ZERO,
            stop: Instant::from_nanos(10_000_000_000),
            truesize: 2304,
            sndbuf: 212_992,
        };
        UdpSource::new(params, SockId(0), Seed { seed: 1, run: 0 }.stream("test"))
    }

    #[test]
    fn the_mean_rate_is_kept_whatever_the_gaps() {
        for gap in [Gap::Exponential, Gap::Uniform(0.5, 1.5), Gap::Periodic] {
            let mut s = source(gap, 8);
            let mut sent = 0;
            while let Some(now) = s.next_timer() {
                s.on_timer();
                while let Some(p) = s.emit(now) {
                    sent += 1;
                    s.uncharge(p.truesize);
                }
            }
            // 100 Mbit/s of 1470-byte payloads for 10 s are 85,034.
            assert!((84_000..86_100).contains(&sent), "{gap:?} {sent}");
        }
    }

    #[test]
    fn a_full_send_buffer_blocks_until_half_of_it_is_free() {
        let mut s = source(Gap::Periodic, 200);
        let now = s.next_timer().unwrap();
        s.on_timer();
        let written = core::iter::from_fn(|| s.emit(now)).count();
        assert_eq!(written, 93); // the first count of 2304 bytes that reaches 212,992
        assert_eq!(s.next_timer(), None);
        // 46 datagrams are 105,984 bytes, the first count at or below 106,496: then the next 47 are written at once.
        assert_eq!((0..46).find(|_| s.uncharge(2304) || s.emit(now).is_some()), None);
        assert!(s.uncharge(2304));
        assert_eq!(core::iter::from_fn(|| s.emit(now)).count(), 47);
    }

    #[test]
    fn nothing_held_up_is_sent_after_the_stop() {
        let mut s = source(Gap::Periodic, 200);
        let (now, stop) = (s.next_timer().unwrap(), s.stop);
        s.on_timer();
        while s.emit(now).is_some() {}
        assert_eq!((0..47).filter(|_| s.uncharge(2304)).count(), 1);
        assert!(s.emit(stop).is_none());
        assert_eq!((s.next_timer(), s.uncharge(2304)), (None, false));
    }
}
