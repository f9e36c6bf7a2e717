//! fq: per-flow queues served by DRR, which release no packet before its departure time.
//!
//! A TCP socket above fq does not pace itself. It stamps each packet with a departure time computed from its
//! pacing rate, as far ahead as TCP small queues allow, and fq holds the packet until then. A flow whose next
//! packet is not due is throttled: it leaves the round and waits in a queue sorted by time. Packets without a
//! stamp, such as forwarded ones, are due immediately; for them fq is only a fair queue.
//!
//! Not modelled: per-socket rate limits (`SO_MAX_PACING_RATE`), and sockets that are reused for another flow.

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
    /// Mask of the hash bits that distinguish flows without a local socket.
    pub orphan_mask: u32,
    /// Enable pacing: sockets leave pacing to fq, and `maxrate` applies.
    pub pacing: bool,
    /// Idle time after which a flow's credit is refilled.
    pub refill_delay: Duration,
    /// A flow at or below this rate loses its credit with every packet, and is served after all other flows.
    pub low_rate_threshold: Rate,
    /// CE-mark packets that leave this much later than their departure time.
    pub ce_threshold: Duration,
    /// Timer slack: how late the timer may fire.
    pub timer_slack: Duration,
    /// Maximum distance of a departure time in the future.
    pub horizon: Duration,
    /// Drop packets beyond the horizon. If false, their departure time is capped at the horizon.
    pub horizon_drop: bool,
}

impl Default for FqParams {
    // linux: net/sched/sch_fq.c fq_init (6.1) - the quanta are two and ten full packets of the device.
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
    /// Time at which the timer looks at the first throttled flow.
    pub next_look: Option<Instant>,
    /// Delay of releasing throttled flows: a moving average with weight 1/8.
    pub latency: Duration,
    /// Number of flows garbage-collected.
    pub gc: u64,
    /// Number of packets sent ahead of all flows.
    pub highprio: u64,
    /// Number of times that a flow was throttled.
    pub throttled: u64,
    /// Packets refused because of `flow_limit`.
    pub flows_plimit: u64,
    /// Packets with a transmission time of more than a second at their rate.
    pub pkts_too_long: u64,
    /// Packets CE-marked.
    pub ce_mark: u64,
    /// Packets dropped because their departure time was beyond the horizon.
    pub horizon_drops: u64,
    /// Packets whose departure time was capped at the horizon.
    pub horizon_caps: u64,
}

/// A throttled flow: due time, sequence number of the throttling, and flow number.
type Throttled = Reverse<(Instant, u64, u32)>;

/// The fq qdisc.
#[derive(Debug)]
pub struct Fq {
    params: FqParams,
    place: PlaceId,
    flows: Flows,
    rounds: DeficitRoundRobin,
    throttled: BinaryHeap<Throttled>,
    /// Packets sent ahead of all flows.
    internal: PktList,
    packets: u32,
    bytes: u64,
    sent: QdiscStats,
    stats: FqStats,
}

/// Kernel priority of packets sent ahead of all flows.
// linux: include/uapi/linux/pkt_sched.h TC_PRIO_CONTROL (6.1).
const PRIO_CONTROL: u8 = 7;

/// Maximum pacing gap of a packet, in nanoseconds.
// linux: net/sched/sch_fq.c fq_dequeue (6.1) - limits the gap because the rate may change.
const MAX_GAP: u64 = 1_000_000_000;

/// Returns true if the packet comes from a socket on this node and therefore carries a departure time.
// linux: include/linux/skbuff.h (6.1) - forwarded packets have lost socket and stamp; datagrams have no
// stamp.
// deviation: a SYN-ACK counts as stamped, although it belongs to no socket yet in Linux. A packet of an
// external host carries no stamp, because the sending kernel paces it; here it is classified by its hash.
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

    /// Activates the flow of a new packet. A flow that was empty becomes new.
    #[inline]
    fn attach(&mut self, now: Instant, m: Member) {
        let Some(idle) = self.flows.rouse(m, now) else { return };
        let drr = &mut self.flows.drr;
        drr.activate(&mut self.rounds, m, true);
        if idle > self.params.refill_delay {
            drr.set_deficit(m, drr.deficit(m).max(i64::from(self.params.quantum)));
        }
        // Reserves room for one more throttled flow, so that throttling does not allocate.
        self.throttled.reserve(self.flows.len().saturating_sub(self.throttled.len()));
    }

    fn refuse<S: Sink>(&mut self, now: Instant, p: Pkt, ctx: &mut Ctx<'_, S>) -> Enqueue {
        self.sent.drops += 1;
        ctx.drop(now, p, Reason::Overlimit, self.place);
        Enqueue::Dropped
    }

    /// Takes the next due packet from the flow whose turn it is.
    // linux: net/sched/sch_fq.c fq_dequeue (6.1) - an empty new flow goes through the old list once, as in
    // fq_codel.
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
                // linux: include/net/inet_ecn.h INET_ECN_set_ce (6.1) - counts packets that cannot be marked
                // too.
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

    /// Moves throttled flows that have become due to the end of the old list.
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

    /// Sets the next departure time of the flow of a departing packet, if fq limits the flow's rate.
    // linux: net/sched/sch_fq.c fq_dequeue (6.1) - lets a flow without stamps use up its credit first and
    // then charges at least a quantum; a late packet may shorten the next gap by up to half.
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

    /// Reports when to call `dequeue` next.
    // linux: kernel/time/hrtimer.c hrtimer_interrupt (6.1) - a timer with slack fires at the end of the
    // slack, unless another timer fires in between.
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

    /// fq's counters.
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
