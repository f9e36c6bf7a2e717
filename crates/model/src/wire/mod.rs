//! A wired link: one direction of it with the transmit ring of the device that feeds it.

use std::collections::VecDeque;

use crate::vocabulary::{Bytes, Ctx, Duration, IfId, Instant, Pkt, Rate, SockId};

/// What a packet costs on an Ethernet wire besides its bytes from the IP header on: header 14, FCS 4, preamble 8,
/// interframe gap 12.
// spec: ieee8023 3.1.1, 4.4.2.
const ETHERNET_OVERHEAD: u32 = 14 + 4 + 8 + 12;
/// Shortest payload; shorter ones are padded.
const ETHERNET_MIN_PAYLOAD: u32 = 46;

/// What a wire and its device are like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WireParams {
    /// Rate of the wire.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Duration,
    /// Packets the device's ring holds; the queue above is stopped when it is full, and woken at a quarter of it free.
    pub ring: u32,
    /// How long after a transmission its completion is reported: interrupt moderation.
    pub coalesce: Duration,
}

/// One direction of a wired link.
#[derive(Debug)]
pub struct Wire {
    params: WireParams,
    /// The interface that feeds it.
    pub from: IfId,
    /// The interface at its end.
    pub to: IfId,
    busy_until: Instant,
    /// Packets given to the device whose completion has not been reported: time of completion, and the charge it ends.
    ring: VecDeque<(Instant, SockId, u32)>,
    /// Packets on their way, with the time of their arrival.
    flight: VecDeque<(Instant, Pkt)>,
    stopped: bool,
}

impl Wire {
    /// An empty wire between two interfaces.
    pub fn new(params: WireParams, from: IfId, to: IfId) -> Self {
        let (ring, flight) = (VecDeque::new(), VecDeque::new());
        Self { params, from, to, busy_until: Instant::ZERO, ring, flight, stopped: false }
    }

    /// Takes a packet; always accepted. Its charge stays with the ring until the transmission is reported.
    pub fn push<S>(&mut self, now: Instant, p: Pkt, ctx: &mut Ctx<'_, S>) {
        let bytes = ctx.packets.get(p).len.max(ETHERNET_MIN_PAYLOAD) + ETHERNET_OVERHEAD;
        let sent = self.busy_until.max(now) + self.params.rate.time_for(Bytes::new(u64::from(bytes)));
        self.busy_until = sent;
        let (charge, truesize) = ctx.packets.take_charge(p);
        self.ring.push_back((sent, charge, truesize));
        self.stopped |= self.ring.len() as u32 >= self.params.ring;
        self.flight.push_back((sent + self.params.delay, p));
    }

    /// Whether the queue above must hold back.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// When the first packet arrives.
    #[inline]
    pub fn next_arrival(&self) -> Option<Instant> {
        self.flight.front().map(|&(at, _)| at)
    }

    /// The first packet, if it has arrived.
    #[inline]
    pub fn arrive(&mut self, now: Instant) -> Option<Pkt> {
        let &(at, p) = self.flight.front()?;
        (at <= now).then(|| {
            self.flight.pop_front();
            p
        })
    }

    /// When the next completions are reported.
    #[inline]
    pub fn next_completion(&self) -> Option<Instant> {
        self.ring.front().map(|&(at, ..)| at + self.params.coalesce)
    }

    /// Reports all transmissions that have ended; true if the queue above is woken.
    pub fn complete<S>(&mut self, now: Instant, ctx: &mut Ctx<'_, S>) -> bool {
        while let Some(&(at, charge, truesize)) = self.ring.front()
            && at <= now
        {
            self.ring.pop_front();
            ctx.packets.uncharge(charge, truesize);
        }
        let woken = self.stopped && self.ring.len() as u32 <= self.params.ring * 3 / 4;
        if woken {
            self.stopped = false;
        }
        woken
    }

    /// Packets on their way.
    pub fn held(&self) -> u64 {
        self.flight.len() as u64
    }

    /// Charges that the ring holds.
    pub fn charges(&self) -> impl Iterator<Item = (SockId, u32)> {
        self.ring.iter().map(|&(_, charge, truesize)| (charge, truesize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fair::testing::Bench;

    fn us(n: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(n)
    }

    fn wire(ring: u32) -> Wire {
        let (rate, delay) = (Rate::from_mbps(100), Duration::from_micros(250));
        let params = WireParams { rate, delay, ring, coalesce: Duration::from_micros(125) };
        Wire::new(params, IfId(0), IfId(1))
    }

    #[test]
    fn packets_follow_each_other_at_the_rate_and_arrive_after_the_delay() {
        let (mut w, mut b) = (wire(256), Bench::new());
        // 1462 and 38 bytes are 120 us at 100 Mbit/s; a short packet is padded to 46 and 38 bytes, 6.72 us.
        for len in [1462, 1462, 20] {
            let p = b.packet(len, len);
            w.push(us(1000), p, &mut b.ctx());
        }
        let mut arrivals = Vec::new();
        while let Some(at) = w.next_arrival() {
            assert!(w.arrive(Instant::from_nanos(at.nanos() - 1)).is_none());
            let p = w.arrive(at).expect("it has arrived");
            arrivals.push((at.nanos(), b.finish(p)));
        }
        assert_eq!(arrivals, [(1_370_000, 1462), (1_490_000, 1462), (1_496_720, 20)]);
        // The charge was not the packets' any more; the ring ends it, all that are sent in one report.
        assert_eq!((b.uncharged(), w.charges().count()), (0, 3));
        assert_eq!(w.next_completion(), Some(us(1120 + 125)));
        assert!(!w.complete(us(1245), &mut b.ctx()));
        assert_eq!((b.uncharged(), w.charges().count()), (2, 1));
        assert_eq!(w.held(), 0);
    }

    #[test]
    fn a_full_ring_stops_the_queue_and_a_quarter_free_wakes_it() {
        let (mut w, mut b) = (wire(8), Bench::new());
        for n in 0..8 {
            assert!(!w.is_stopped(), "after {n}");
            let p = b.packet(n, 1462);
            w.push(us(0), p, &mut b.ctx());
        }
        assert!(w.is_stopped());
        // Seven left, then six.
        assert!(!w.complete(us(120), &mut b.ctx()) && w.is_stopped());
        assert!(w.complete(us(240), &mut b.ctx()) && !w.is_stopped());
        assert!(!w.complete(us(360), &mut b.ctx()), "woken once");
    }
}
