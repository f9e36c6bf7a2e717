//! codel: one queue with CoDel.

use super::{Enqueue, QdiscStats};
use crate::aqm::codel::{self, CodelParams, CodelQueue, CodelState, CodelStats};
use crate::types::{Ctx, Duration, Instant, Packet, Pkt, PktList, PlaceId, Reason, Sink};

/// Parameters, by their tc names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CodelQdiscParams {
    /// Maximum number of packets.
    pub limit: u32,
    /// CoDel parameters.
    pub codel: CodelParams,
}

impl Default for CodelQdiscParams {
    // linux: net/sched/sch_codel.c codel_init (6.1) - unlike fq_codel, does not mark by default.
    fn default() -> Self {
        let (target, interval) = (Duration::from_millis(5), Duration::from_millis(100));
        Self { limit: 1000, codel: CodelParams { target, interval, ecn: false, mtu: 1514 } }
    }
}

/// Counters and state by their tc names, in addition to the common ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CodelQdiscStats {
    /// Number of drops and marks since CoDel last entered the dropping state.
    pub count: u32,
    /// Value of `count` when CoDel last entered the dropping state.
    pub lastcount: u32,
    /// Sojourn time of the last packet dequeued.
    pub ldelay: Duration,
    /// Time of the next drop, in the dropping state.
    pub drop_next: Option<Instant>,
    /// Largest packet seen by CoDel, in bytes.
    pub maxpacket: u32,
    /// Packets marked instead of dropped.
    pub ecn_mark: u64,
    /// Packets refused because the limit was reached.
    pub drop_overlimit: u64,
}

/// The codel qdisc.
#[derive(Debug)]
pub struct CodelQdisc {
    params: CodelQdiscParams,
    place: PlaceId,
    list: PktList,
    state: CodelState,
    aqm: CodelStats,
    overlimit: u64,
    ldelay: Duration,
    sent: QdiscStats,
}

/// The queue as CoDel accesses it.
struct View<'a, 'c, S> {
    list: &'a mut PktList,
    now: Instant,
    place: PlaceId,
    ctx: &'a mut Ctx<'c, S>,
}

impl<S: Sink> CodelQueue for View<'_, '_, S> {
    fn pop(&mut self) -> Option<Pkt> {
        self.list.pop(self.ctx.packets)
    }
    fn backlog(&self) -> u64 {
        self.list.bytes()
    }
    fn packet(&mut self, p: Pkt) -> &mut Packet {
        self.ctx.packets.get_mut(p)
    }
    fn drop(&mut self, p: Pkt) {
        self.ctx.drop(self.now, p, Reason::Codel, self.place);
    }
}

impl CodelQdisc {
    /// Creates an empty queue. Drops are recorded at `place`.
    pub fn new(params: CodelQdiscParams, place: PlaceId) -> Self {
        let (list, state, aqm) = (PktList::default(), CodelState::default(), CodelStats::default());
        let (ldelay, sent) = (Duration::ZERO, QdiscStats::default());
        Self { params, place, list, state, aqm, overlimit: 0, ldelay, sent }
    }

    /// Appends the packet. Refuses it if the queue is full.
    // linux: net/sched/sch_codel.c codel_qdisc_enqueue (6.1).
    #[inline]
    pub fn enqueue<S: Sink>(&mut self, now: Instant, p: Pkt, ctx: &mut Ctx<'_, S>) -> Enqueue {
        if self.list.packets() >= self.params.limit {
            self.overlimit += 1;
            ctx.drop(now, p, Reason::Overlimit, self.place);
            return Enqueue::Dropped;
        }
        ctx.packets.get_mut(p).t_enqueue = now;
        self.list.push(ctx.packets, p);
        Enqueue::Queued
    }

    /// See [`super::Qdisc::pass`].
    #[inline]
    pub fn pass(&mut self, p: &Packet) -> bool {
        let passes = self.params.limit > 0 && self.list.is_empty();
        if passes {
            self.sent.sent(p);
        }
        passes
    }

    /// Takes the next packet. CoDel may drop other packets first.
    #[inline]
    pub fn dequeue<S: Sink>(&mut self, now: Instant, ctx: &mut Ctx<'_, S>) -> Option<Pkt> {
        let mut view = View { list: &mut self.list, now, place: self.place, ctx };
        let p = codel::dequeue(&self.params.codel, &mut self.state, &mut self.aqm, now, &mut view)?;
        let hot = ctx.packets.get(p);
        self.ldelay = now.saturating_since(hot.t_enqueue);
        self.sent.sent(hot);
        Some(p)
    }

    /// Number of packets and bytes queued.
    #[inline]
    pub fn backlog(&self) -> (u32, u64) {
        (self.list.packets(), self.list.bytes())
    }

    /// The common qdisc counters.
    pub fn stats(&self) -> QdiscStats {
        QdiscStats { drops: self.overlimit + self.aqm.drop_count, ..self.sent }
    }

    /// codel's counters.
    pub fn xstats(&self) -> CodelQdiscStats {
        CodelQdiscStats {
            count: self.state.count(),
            lastcount: self.state.lastcount(),
            ldelay: self.ldelay,
            drop_next: self.state.dropping().then(|| self.state.drop_next()),
            maxpacket: self.aqm.maxpacket,
            ecn_mark: self.aqm.ecn_mark,
            drop_overlimit: self.overlimit,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sched::testing::Bench;

    /// Offers 10 Mbit/s of full packets for three seconds to a queue that takes `served` us per packet.
    /// Returns the drops by CoDel, the drops at the limit, and the marks.
    fn offered(params: CodelQdiscParams, served: u64, tos: u8) -> (u64, u64, u64) {
        let (mut q, mut b) = (CodelQdisc::new(params, PlaceId(1)), Bench::new());
        let mut free_at = Instant::ZERO;
        for n in 0..2500 {
            let now = Instant::ZERO + Duration::from_micros(1200) * n;
            while free_at <= now
                && let Some(p) = q.dequeue(free_at, &mut b.ctx())
            {
                b.finish(p);
                free_at += Duration::from_micros(served);
            }
            free_at = free_at.max(now);
            let p = b.packet(n as u32, 1500);
            b.packets.get_mut(p).tos = tos;
            let _ = q.enqueue(now, p, &mut b.ctx());
        }
        let account = b.packets.account();
        let x = q.xstats();
        assert_eq!(account.dropped_total(), q.stats().drops);
        assert_eq!(account.created, q.stats().packets + q.stats().drops + u64::from(q.backlog().0));
        (q.stats().drops - x.drop_overlimit, x.drop_overlimit, x.ecn_mark)
    }

    #[test]
    fn codel_drops_at_dequeue_and_the_limit_at_enqueue() {
        let default = CodelQdiscParams::default();
        assert_eq!(offered(default, 1100, 0), (0, 0, 0), "served faster than it is filled");
        let (aqm, limit, marks) = offered(default, 1400, 0);
        assert!(aqm > 20 && limit == 0 && marks == 0, "{aqm} {limit} {marks}");
        // A queue of two packets is full before it reaches the target.
        let (aqm, limit, _) = offered(CodelQdiscParams { limit: 2, ..default }, 1400, 0);
        assert!(aqm == 0 && limit > 300, "{aqm} {limit}");
        let codel = CodelParams { ecn: true, ..default.codel };
        let (aqm, _, marks) = offered(CodelQdiscParams { codel, ..default }, 1400, 1);
        assert!(aqm == 0 && marks > 20, "{aqm} {marks}");
    }
}
