//! A source of UDP datagrams in bursts, through a socket with a send buffer.

use alloc::boxed::Box;
use core::ops::Range;

use super::due::{Due, DueCount};
use crate::types::{Bytes, Duration, Endpoint, Instant, NewPacket, PacketKind, RandomStream, Rate, SockId};

/// Distribution of the times between bursts; rate, payload and burst determine the mean.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Gap {
    /// Exponential.
    Exponential,
    /// Uniform between two multiples of the mean.
    Uniform(f64, f64),
    /// Always the mean. Periodic sources can synchronize with tail drops.
    Periodic,
}

/// Behaviour of a source whose send buffer is full.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum WhenFull {
    /// Wait for room, and send late (a blocking socket).
    #[default]
    Block,
    /// Skip the rest of the burst (`EWOULDBLOCK`), and continue with the next one.
    Drop,
}

/// Parameters of a UDP source.
#[derive(Clone, Debug)]
pub struct UdpSourceParams {
    /// Destination.
    pub endpoint: Endpoint,
    /// Mean payload rate.
    pub rate: Rate,
    /// Payload bytes per datagram.
    pub payload: u32,
    /// Datagrams sent back to back.
    pub burst: u32,
    /// Times between bursts.
    pub gap: Gap,
    /// Start of the source.
    pub start: Instant,
    /// Stop of the source.
    pub stop: Instant,
    /// Truesize of a datagram in bytes.
    pub truesize: u32,
    /// Send buffer of the socket (`net.core.wmem_default`), at most 2^30 bytes.
    pub sndbuf: u32,
    /// Behaviour when the send buffer is full.
    pub when_full: WhenFull,
    /// Time within which due datagrams are counted.
    pub measured: Range<Instant>,
}

/// Distribution of the times between bursts, with the parameters in [`UdpSource::gaps`].
#[derive(Clone, Copy, Debug)]
enum Draw {
    /// Exponential, with the first as its mean.
    Exponential,
    /// Uniform from the first to the second.
    Uniform,
    /// Always the first.
    Periodic,
}

/// A UDP source and its socket.
///
/// With many sources, one is rarely still in the cache when its next burst is due. The fields used per burst
/// and those used per datagram each fill one cache line.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct UdpSource {
    stream: RandomStream,
    gaps: [Duration; 2],
    next_burst: Instant,
    /// Earliest time at which the stop or a bound of the measured time matters.
    limit: Instant,
    /// Datagrams of the current burst left to write.
    left: u32,
    burst: u32,
    /// Sequence number of the last datagram, sent or skipped.
    seq: u32,
    /// Bytes per datagram, including the IP header.
    len: u32,
    truesize: u32,
    sndbuf: u32,
    /// Memory currently charged to the socket (`sk_wmem_alloc`).
    charged: u32,
    sock: SockId,
    endpoint: Endpoint,
    draw: Draw,
    /// The send buffer was full, and the source sleeps.
    blocked: bool,
    /// A full send buffer has delayed the current burst, or a previous one past the due time of this one.
    late: bool,
    /// Skip datagrams that do not fit into the send buffer.
    drops: bool,
    count: Box<DueCount>,
}

impl UdpSource {
    /// Creates a source; its first burst is due one gap after its start.
    ///
    /// Panics if the send buffer is larger than allowed.
    pub fn new(params: UdpSourceParams, sock: SockId, stream: RandomStream) -> Self {
        let UdpSourceParams { endpoint, rate, payload, burst, gap, start, stop, truesize, sndbuf, .. } =
            params;
        assert!(sndbuf <= 1 << 30, "a send buffer of more than 2^30 bytes");
        let mean = rate.time_for(Bytes::new(u64::from(payload) * u64::from(burst)));
        let times = |x: f64| Duration::from_nanos((mean.nanos() as f64 * x) as u64);
        let (draw, gaps) = match gap {
            Gap::Exponential => (Draw::Exponential, [mean; 2]),
            Gap::Uniform(low, high) => (Draw::Uniform, [times(low), times(high)]),
            Gap::Periodic => (Draw::Periodic, [mean; 2]),
        };
        let count = Box::new(DueCount::new(params.measured, stop));
        let mut source = Self {
            stream,
            gaps,
            next_burst: start,
            limit: count.limit(),
            left: 0,
            burst,
            seq: 0,
            len: endpoint.datagram(payload),
            truesize,
            sndbuf,
            charged: 0,
            sock,
            endpoint,
            draw,
            blocked: false,
            late: false,
            drops: params.when_full == WhenFull::Drop,
            count,
        };
        let gap = source.gap();
        source.next_burst += gap;
        source
    }

    /// Makes the bursts due at a fixed interval from `start` on.
    #[must_use]
    pub(super) fn every(self, interval: Duration, start: Instant) -> Self {
        Self { draw: Draw::Periodic, gaps: [interval; 2], next_burst: start, ..self }
    }

    fn gap(&mut self) -> Duration {
        let [low, high] = self.gaps;
        match self.draw {
            Draw::Exponential => self.stream.exponential(low),
            Draw::Uniform => self.stream.between(low, high),
            Draw::Periodic => low,
        }
    }

    /// When to call [`UdpSource::on_timer`]. `None` while the last burst waits for memory.
    pub fn next_timer(&self) -> Option<Instant> {
        let at = self.next_burst;
        (self.left == 0 && (at < self.limit || at < self.count.stop)).then_some(at)
    }

    /// Starts a burst that is due now, or that was due earlier if a full send buffer delayed its predecessor.
    ///
    /// A delayed burst does not shift later ones: the source keeps its schedule, like iperf.
    pub fn on_timer(&mut self, now: Instant) {
        let datagrams = self.burst;
        self.starts(now, datagrams);
    }

    fn starts(&mut self, now: Instant, datagrams: u32) {
        self.left = datagrams;
        let due = if self.late { self.next_burst } else { now };
        if self.late {
            self.count.held_up = due;
        }
        if due >= self.limit {
            self.passes(due);
        }
        let gap = self.gap();
        self.next_burst += gap;
    }

    /// Starts a burst of `datagrams` with `payload` bytes each.
    pub(super) fn on_burst(&mut self, now: Instant, (datagrams, payload): (u32, u32)) {
        self.len = self.endpoint.datagram(payload);
        self.starts(now, datagrams);
    }

    /// Handles a burst at a bound of the measured time.
    #[cold]
    #[inline(never)]
    fn passes(&mut self, due: Instant) {
        self.count.reaches(due, self.seq);
        self.limit = self.count.limit();
    }

    /// Returns the next datagram of the burst if the send buffer has room. Its creation time is its due time.
    // linux: net/core/sock.c sock_alloc_send_pskb (4.4) - has room while less than sndbuf is charged.
    #[inline]
    pub fn emit(&mut self, now: Instant) -> Option<NewPacket> {
        if self.left == 0 || self.blocked {
            return None;
        }
        if self.charged >= self.sndbuf {
            self.full(now);
            return None;
        }
        if now >= self.limit && now >= self.count.stop {
            self.stops(now);
            return None;
        }
        self.left -= 1;
        let due = if self.late { self.written_late(now) } else { now };
        self.charged += self.truesize;
        self.seq = self.seq.wrapping_add(1);
        Some(self.endpoint.packet(due, PacketKind::Udp, self.seq, self.len, self.truesize, self.sock))
    }

    #[cold]
    #[inline(never)]
    fn full(&mut self, now: Instant) {
        if self.drops {
            self.seq = self.seq.wrapping_add(self.left);
            self.count.skips(now, core::mem::take(&mut self.left));
            return;
        }
        self.blocked = true;
        if !self.late {
            (self.late, self.count.held_up) = (true, now);
        }
    }

    /// Due time of a delayed datagram. Later bursts are late while the source is behind schedule.
    #[cold]
    #[inline(never)]
    fn written_late(&mut self, now: Instant) -> Instant {
        self.late = self.left > 0 || self.next_burst < now;
        self.count.held_up
    }

    /// Handles the stop: delayed datagrams and later bursts are not sent.
    #[cold]
    #[inline(never)]
    fn stops(&mut self, now: Instant) {
        let mut due = if self.late { self.count.held_up } else { now };
        loop {
            self.count.gives_up(due, self.left);
            self.seq = self.seq.wrapping_add(self.left);
            due = self.next_burst;
            if due >= self.count.stop {
                break;
            }
            self.starts(due, self.burst);
        }
        (self.left, self.next_burst) = (0, self.count.stop);
    }

    /// Datagrams skipped since the last call.
    #[inline]
    pub fn take_skipped(&mut self) -> u32 {
        if self.drops { self.count.take_skipped() } else { 0 }
    }

    /// Ends a charge of the socket. Returns true if this wakes the source.
    // linux: net/core/sock.c sock_def_write_space (4.4) - wakes a sender when at most half of sndbuf is
    // charged.
    #[inline]
    pub fn uncharge(&mut self, truesize: u32) -> bool {
        self.charged -= truesize;
        let woken = self.blocked && 2 * self.charged <= self.sndbuf;
        self.blocked &= !woken;
        woken
    }

    /// Truesize currently charged to the socket, in bytes.
    pub fn charged(&self) -> u64 {
        u64::from(self.charged)
    }

    /// Datagrams due within the measured time, for a run that ends at `end`. Includes those still delayed by
    /// a full send buffer.
    pub fn due(&self, end: Instant) -> Due {
        let mut source = self.clone();
        source.seq = source.seq.wrapping_add(source.left);
        let end = end.min(source.count.stop).min(source.count.measured_end());
        while source.late && source.next_burst < end {
            let burst = source.burst;
            source.starts(source.next_burst, burst);
            source.seq = source.seq.wrapping_add(burst);
        }
        source.count.due(source.seq)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Addr, FlowId, Seed};

    fn source(gap: Gap, burst: u32) -> UdpSource {
        full_source(gap, burst, WhenFull::Block)
    }

    fn full_source(gap: Gap, burst: u32, when_full: WhenFull) -> UdpSource {
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
            when_full,
            measured: Instant::from_nanos(1_000_000_000)..Instant::from_nanos(3_000_000_000),
        };
        UdpSource::new(params, SockId(0), Seed { seed: 1, run: 0 }.stream("test"))
    }

    #[test]
    fn the_mean_rate_is_kept_whatever_the_gaps() {
        for gap in [Gap::Exponential, Gap::Uniform(0.5, 1.5), Gap::Periodic] {
            let mut s = source(gap, 8);
            let mut sent = 0;
            while let Some(now) = s.next_timer() {
                s.on_timer(now);
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
        s.on_timer(now);
        let written = core::iter::from_fn(|| s.emit(now)).count();
        assert_eq!(written, 93); // the first multiple of 2304 bytes that reaches 212,992
        assert_eq!(s.next_timer(), None);
        // The 46th uncharge leaves 47 datagrams or 108,288 bytes; the next leaves 105,984, the first value at
        // or below 106,496. Then 47 more datagrams are written at once.
        assert_eq!((0..46).find(|_| s.uncharge(2304) || s.emit(now).is_some()), None);
        assert!(s.uncharge(2304));
        assert_eq!(core::iter::from_fn(|| s.emit(now)).count(), 47);
    }

    #[test]
    fn delayed_datagrams_are_not_sent_after_the_stop() {
        let mut s = source(Gap::Periodic, 200);
        let (now, stop) = (s.next_timer().unwrap(), s.count.stop);
        s.on_timer(now);
        while s.emit(now).is_some() {}
        assert_eq!((0..47).filter(|_| s.uncharge(2304)).count(), 1);
        assert!(s.emit(stop).is_none());
        assert_eq!((s.next_timer(), s.uncharge(2304)), (None, false));
        // Bursts of 200 are due every 23.52 ms: those from 1.00 s to 2.99 s are numbers 43 to 127.
        let due = s.due(stop);
        assert_eq!((due.datagrams, due.unsent), (85 * 200, 85 * 200));
    }

    /// Bursts of 200 are due every 23.52 ms, and 93 datagrams fill the send buffer.
    #[test]
    fn delayed_datagrams_keep_their_due_time() {
        let ns = |n: u64| Instant::from_nanos(n * 23_520_000);
        let mut s = source(Gap::Periodic, 200);
        let now = s.next_timer().unwrap();
        s.on_timer(now);
        assert_eq!(core::iter::from_fn(|| s.emit(now)).filter(|p| p.now == ns(1)).count(), 93);
        // The rest of the first burst fits when the third one is due.
        (0..93).for_each(|_| _ = s.uncharge(2304));
        assert_eq!(core::iter::from_fn(|| s.emit(ns(3))).filter(|p| p.now == ns(1)).count(), 93);
        (0..93).for_each(|_| _ = s.uncharge(2304));
        assert_eq!(core::iter::from_fn(|| s.emit(ns(3))).filter(|p| p.now == ns(1)).count(), 14);
        // Late bursts follow, each with its own due time, until the source has caught up.
        for (n, at) in [(2, 3), (3, 3), (4, 4), (5, 5)] {
            assert_eq!(s.next_timer(), Some(ns(n)));
            s.on_timer(ns(at));
            let mut written = 0;
            while written < 200 {
                let p = s.emit(ns(at)).expect("room for it");
                assert_eq!((p.now, p.seq), (ns(n), (n as u32 - 1) * 200 + written + 1));
                s.uncharge(2304);
                written += 1;
            }
        }
        assert!(!s.late);
    }

    #[test]
    fn a_source_that_drops_keeps_its_schedule_and_its_numbers() {
        let mut s = full_source(Gap::Periodic, 200, WhenFull::Drop);
        let mut sent = alloc::vec::Vec::new();
        while let Some(now) = s.next_timer().filter(|at| at.nanos() < 4_000_000_000) {
            s.on_timer(now);
            sent.extend(core::iter::from_fn(|| s.emit(now)).map(|p| (p.seq, p.now == now)));
            assert_eq!(s.take_skipped(), if sent.len() == 93 && s.seq == 200 { 107 } else { 200 });
        }
        assert_eq!(sent, (1..=93).map(|seq| (seq, true)).collect::<alloc::vec::Vec<_>>());
        let due = s.due(Instant::NEVER);
        assert_eq!((due.datagrams, due.unsent), (85 * 200, 85 * 200));
    }

    /// Due datagrams count even while a full send buffer delays them.
    #[test]
    fn delayed_datagrams_count_as_due() {
        for gap in [Gap::Periodic, Gap::Exponential, Gap::Uniform(0.5, 1.5)] {
            let (mut free, mut stuck) = (source(gap, 7), source(gap, 7));
            while let Some(now) = free.next_timer() {
                free.on_timer(now);
                while free.emit(now).is_some() {
                    free.uncharge(2304);
                }
            }
            while let Some(now) = stuck.next_timer() {
                stuck.on_timer(now);
                while stuck.emit(now).is_some() {}
            }
            assert_eq!(free.due(Instant::NEVER), stuck.due(Instant::NEVER), "{gap:?}");
            assert!((16_000..18_000).contains(&free.due(Instant::NEVER).datagrams));
            // A run that ends earlier counts the datagrams due before its end.
            let part = stuck.due(Instant::from_nanos(2_000_000_000)).datagrams;
            assert!((8_000..9_000).contains(&part), "{part}");
        }
    }
}
