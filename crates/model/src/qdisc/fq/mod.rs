//! fq: a queue for each flow, served in turn, and no packet before its departure time.
//!
//! A TCP socket over it does not pace itself: it stamps each packet with the time at which its pacing rate
//! lets it leave, as far ahead as small queues allow, and fq keeps it until then. A flow whose next packet is
//! not due is throttled: it is on no list, but in order of time with others like it. What bears no stamp,
//! such as what is passed on for others, is due at once, and fq is a fair queue only.
//!
//! Not there: a rate limit of one socket (`SO_MAX_PACING_RATE`), and sockets that change hands.

mod flows;

use alloc::collections::BinaryHeap;
use core::cmp::Reverse;

use self::flows::Flows;
use super::{Enqueue, NextSend, QdiscStats};
use crate::sched::drr::{DeficitRoundRobin, EmptyNew, Member};
use crate::types::{
    Ctx, Duration, Instant, Packet, PacketKind, Pkt, PktList, PlaceId, Rate, Reason, Sink, TTL, skb_len,
};

/// Parameters, by their tc names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FqParams {
    /// Maximum number of packets in all flows.
    pub limit: u32,
    /// Maximum number of packets of a flow.
    pub flow_limit: u32,
    /// Bytes that a flow may send per round.
    pub quantum: u32,
    /// Bytes that a new flow may send in its first round.
    pub initial_quantum: u32,
    /// Maximum rate of a flow.
    pub maxrate: Option<Rate>,
    /// Number of hash buckets for flow lookup, a power of two. With more than twice as many flows, idle flows
    /// are garbage-collected.
    pub buckets: u32,
    /// Hash bits that tell flows without a local socket apart.
    pub orphan_mask: u32,
    /// Pacing is on: sockets leave their pacing to fq, and `maxrate` applies.
    pub pacing: bool,
    /// Idle time after which a flow's credit is refilled.
    pub refill_delay: Duration,
    /// A flow at or below this rate is served after all others with each packet.
    pub low_rate_threshold: Rate,
    /// A packet that leaves this much later than its departure time is CE-marked.
    pub ce_threshold: Duration,
    /// Slack of the timer: how late it may fire.
    pub timer_slack: Duration,
    /// How far in the future a departure time may be.
    pub horizon: Duration,
    /// Packets beyond the horizon are dropped. Otherwise their departure time is capped at the horizon.
    pub horizon_drop: bool,
}

impl Default for FqParams {
    // linux: net/sched/sch_fq.c fq_init (6.1) - two and ten full packets of the device are the quanta.
    fn default() -> Self {
        Self {
            limit: 10_000,
            flow_limit: 100,
            quantum: 2 * 1514,
            initial_quantum: 10 * 1514,
            maxrate: None,
            buckets: 1024,
            orphan_mask: 1023,
            pacing: true,
            refill_delay: Duration::from_millis(40),
            low_rate_threshold: Rate::from_bps(550_000),
            ce_threshold: Duration::from_micros(u32::MAX as u64),
            timer_slack: Duration::from_micros(10),
            horizon: Duration::from_secs(10),
            horizon_drop: true,
        }
    }
}

/// Counters by their tc names, in addition to the common ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FqStats {
    /// Number of flows in the table.
    pub flows: u32,
    /// Number of flows without packets.
    pub inactive: u32,
    /// Number of throttled flows, which wait for the departure time of their next packet.
    pub throttled_flows: u32,
    /// When the timer looks at the first throttled flow.
    pub next_look: Option<Instant>,
    /// Delay with which throttled flows are released: a moving average with weight 1/8.
    pub latency: Duration,
    /// Number of flows garbage-collected.
    pub gc: u64,
    /// Number of packets sent before all flows.
    pub highprio: u64,
    /// Number of times that a flow was throttled.
    pub throttled: u64,
    /// Packets refused because of `flow_limit`.
    pub flows_plimit: u64,
    /// Packets that take longer than a second at their rate.
    pub pkts_too_long: u64,
    /// Packets CE-marked.
    pub ce_mark: u64,
    /// Packets dropped because their departure time was beyond the horizon.
    pub horizon_drops: u64,
    /// Packets whose departure time was capped at the horizon.
    pub horizon_caps: u64,
}

/// A throttled flow: when its packet is due, and how many were throttled before.
type Throttled = Reverse<(Instant, u64, u32)>;

/// The fq qdisc.
#[derive(Debug)]
pub struct Fq {
    params: FqParams,
    place: PlaceId,
    flows: Flows,
    rounds: DeficitRoundRobin,
    throttled: BinaryHeap<Throttled>,
    /// Packets that go before all flows.
    internal: PktList,
    packets: u32,
    bytes: u64,
    sent: QdiscStats,
    stats: FqStats,
}

/// A priority that goes before all flows.
// linux: include/uapi/linux/pkt_sched.h TC_PRIO_CONTROL (6.1).
const PRIO_CONTROL: u8 = 7;

/// Longest time that a packet takes at its rate.
// linux: net/sched/sch_fq.c fq_dequeue (6.1) - the rate may change.
const MAX_GAP: u64 = 1_000_000_000;

/// The socket that it came from is on this node, hence it bears a departure time.
// linux: include/linux/skbuff.h (6.1) - a packet that is passed on has lost both; a datagram has no stamp.
// deviation: a SYN's answer counts among them, which belongs to no socket yet in Linux. A packet of an
// external host bears none: what paces it is in the kernel that it comes from, and here it is told by its
// hash.
#[inline]
fn is_stamped(p: &Packet) -> bool {
    p.kind == PacketKind::Tcp && p.ttl == TTL
}

impl Fq {
    /// Creates a qdisc without flows. Drops are recorded at `place`.
    ///
    /// Panics if the quantum is zero, or if the number of buckets is not a power of two.
    pub fn new(params: FqParams, place: PlaceId) -> Self {
        assert!(params.quantum > 0 && params.buckets.is_power_of_two(), "impossible fq");
        Self {
            params,
            place,
            flows: Flows::new(params.buckets),
            rounds: DeficitRoundRobin::default(),
            throttled: BinaryHeap::new(),
            internal: PktList::default(),
            packets: 0,
            bytes: 0,
            sent: QdiscStats::default(),
            stats: FqStats::default(),
        }
    }

    /// Queues the packet in its flow. Refuses it at a limit.
    // linux: net/sched/sch_fq.c fq_enqueue (6.1).
    #[inline]
    pub fn enqueue<S: Sink>(&mut self, now: Instant, p: Pkt, ctx: &mut Ctx<'_, S>) -> Enqueue {
        if self.packets >= self.params.limit {
            return self.refuse(now, p, ctx);
        }
        let hot = ctx.packets.get_mut(p);
        let stamped = is_stamped(hot);
        let bytes = u64::from(skb_len(hot));
        if !stamped {
            hot.t_enqueue = now;
        } else if hot.t_enqueue > now + self.params.horizon {
            if self.params.horizon_drop {
                self.stats.horizon_drops += 1;
                return self.refuse(now, p, ctx);
            }
            self.stats.horizon_caps += 1;
            hot.t_enqueue = now + self.params.horizon;
        }
        if hot.prio == PRIO_CONTROL {
            self.internal.push(ctx.packets, p);
            self.stats.highprio += 1;
        } else {
            let hash = hot.flow_hash;
            let key = if stamped { (hash, true) } else { (hash & self.params.orphan_mask, false) };
            let m = self.flows.find(key, now, self.params.initial_quantum);
            let flow = self.flows.get_mut(m);
            if flow.list.packets() >= self.params.flow_limit {
                self.stats.flows_plimit += 1;
                return self.refuse(now, p, ctx);
            }
            flow.list.push(ctx.packets, p);
            self.attach(now, m);
        }
        self.packets += 1;
        self.bytes += bytes;
        Enqueue::Queued
    }

    /// A flow has packets: it is new if it had none.
    #[inline]
    fn attach(&mut self, now: Instant, m: Member) {
        let Some(idle) = self.flows.rouse(m, now) else { return };
        let drr = &mut self.flows.drr;
        drr.activate(&mut self.rounds, m, true);
        if idle > self.params.refill_delay {
            drr.set_deficit(m, drr.deficit(m).max(i64::from(self.params.quantum)));
        }
        // Room for one that is throttled, so that none is made when it is.
        self.throttled.reserve(self.flows.len().saturating_sub(self.throttled.len()));
    }

    fn refuse<S: Sink>(&mut self, now: Instant, p: Pkt, ctx: &mut Ctx<'_, S>) -> Enqueue {
        self.sent.drops += 1;
        ctx.drop(now, p, Reason::Overlimit, self.place);
        Enqueue::Dropped
    }

    /// Takes the next packet that is due, from the flow whose turn it is.
    // linux: net/sched/sch_fq.c fq_dequeue (6.1) - a new flow that is empty goes through the old ones once,
    // as in fq_codel.
    #[inline]
    pub fn dequeue<S: Sink>(&mut self, now: Instant, ctx: &mut Ctx<'_, S>) -> Option<Pkt> {
        if self.packets == 0 {
            return None;
        }
        if let Some(p) = self.internal.pop(ctx.packets) {
            self.leaves(ctx.packets.get(p));
            return Some(p);
        }
        self.release(now);
        loop {
            let (m, _) = self.flows.drr.next(&mut self.rounds, i64::from(self.params.quantum))?;
            let flow = self.flows.get_mut(m);
            let Some(p) = flow.list.head() else {
                if self.flows.drr.head_empty(&mut self.rounds, EmptyNew::ToOldUnlessAlone).is_some() {
                    self.flows.rest(m, now);
                }
                continue;
            };
            let due = ctx.packets.get(p).t_enqueue.max(flow.time_next_packet);
            if now < due {
                flow.time_next_packet = due;
                self.flows.drr.remove_head(&mut self.rounds);
                self.throttled.push(Reverse((due, self.stats.throttled, m.0)));
                self.stats.throttled += 1;
                continue;
            }
            flow.list.pop(ctx.packets);
            let hot = ctx.packets.get_mut(p);
            if now - due > self.params.ce_threshold {
                // linux: include/net/inet_ecn.h INET_ECN_set_ce (6.1) - counted whether or not the packet may
                // be marked.
                hot.tos |= if hot.tos & 3 == 0 { 0 } else { 3 };
                self.stats.ce_mark += 1;
            }
            self.flows.drr.charge(m, i64::from(skb_len(hot)));
            if self.params.pacing {
                self.pace(now, m, hot);
            }
            self.leaves(hot);
            return Some(p);
        }
    }

    /// Throttled flows whose time has come go to the end of the old ones.
    // linux: net/sched/sch_fq.c fq_check_throttled (6.1).
    #[inline]
    fn release(&mut self, now: Instant) {
        if let Some(&Reverse((due, ..))) = self.throttled.peek()
            && due <= now
        {
            let (latency, late) = (&mut self.stats.latency, (now - due).nanos());
            *latency = Duration::from_nanos(latency.nanos() - (latency.nanos() >> 3) + (late >> 3));
        }
        while let Some(&Reverse((due, _, flow))) = self.throttled.peek()
            && due <= now
        {
            self.throttled.pop();
            self.flows.drr.activate(&mut self.rounds, Member(flow), false);
        }
    }

    /// When the flow of a packet that leaves may send again, if its rate is limited here.
    // linux: net/sched/sch_fq.c fq_dequeue (6.1) - a flow without stamps sends its credit first and is then
    // charged a quantum at least; who comes late may make up for half of a gap.
    #[inline]
    fn pace(&mut self, now: Instant, m: Member, p: &Packet) {
        let rate = self.params.maxrate;
        let mut bytes = skb_len(p);
        if !is_stamped(p) {
            if rate.is_some_and(|rate| rate <= self.params.low_rate_threshold) {
                self.flows.drr.set_deficit(m, 0);
            } else {
                bytes = bytes.max(self.params.quantum);
                if self.flows.drr.deficit(m) > 0 {
                    return;
                }
            }
        }
        let Some(rate) = rate else { return };
        let mut gap = u64::from(bytes) * 1_000_000_000 / (rate.bps() / 8).max(1);
        if gap > MAX_GAP {
            gap = MAX_GAP;
            self.stats.pkts_too_long += 1;
        }
        let flow = self.flows.get_mut(m);
        if flow.time_next_packet > Instant::ZERO {
            gap -= (now - flow.time_next_packet).nanos().min(gap / 2);
        }
        flow.time_next_packet = now + Duration::from_nanos(gap);
    }

    #[inline]
    fn leaves(&mut self, p: &Packet) {
        self.packets -= 1;
        self.bytes -= u64::from(skb_len(p));
        self.sent.sent(p);
    }

    /// When to call `dequeue` next.
    // linux: kernel/time/hrtimer.c hrtimer_interrupt (6.1) - a timer with slack that nothing else wakes fires
    // at its end.
    #[inline]
    pub fn next(&self, now: Instant) -> NextSend {
        if self.packets == 0 {
            return NextSend::Never;
        }
        match self.throttled.peek() {
            Some(&Reverse((due, ..))) if self.internal.is_empty() && self.rounds.is_empty() => {
                let at = due + self.params.timer_slack;
                if at > now { NextSend::At(at) } else { NextSend::Now }
            }
            _ => NextSend::Now,
        }
    }

    /// Number of packets and bytes in all flows.
    #[inline]
    pub fn backlog(&self) -> (u32, u64) {
        (self.packets, self.bytes)
    }

    /// The common qdisc counters.
    pub fn stats(&self) -> QdiscStats {
        self.sent
    }

    /// The counters of fq.
    pub fn xstats(&self) -> FqStats {
        FqStats {
            flows: self.flows.len() as u32,
            inactive: self.flows.inactive(),
            throttled_flows: self.throttled.len() as u32,
            next_look: self.throttled.peek().map(|&Reverse((due, ..))| due + self.params.timer_slack),
            gc: self.flows.forgotten(),
            ..self.stats
        }
    }
}

#[cfg(test)]
mod tests;
