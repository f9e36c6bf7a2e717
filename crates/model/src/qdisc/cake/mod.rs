//! cake: a shaper, priority tins, flow queues with flow and host fairness, and COBALT on each queue.
//!
//! The shaper has no bucket. Each departing packet moves the next departure by its own transmission time;
//! credit for unused time is lost when the queue runs empty. A tin has priority up to its threshold rate, and
//! shares the remaining capacity beyond it.
//!
//! Not modelled: filters and marks that select the tin, queue or host, and `autorate-ingress`.

mod ack_filter;
mod chains;
mod params;
mod stats;
mod tin;
mod tins;

pub use ack_filter::AckFilter;
use alloc::boxed::Box;
pub use params::{CakeParams, Cells, Framing, Isolation, Masquerade, Tins};
pub use stats::{CakeStats, CakeTinStats, Span};

use super::{Enqueue, NextSend, QdiscStats};
use crate::aqm::cobalt::Blue;
use crate::offload::gso;
use crate::sched::flow_queues::Salt;
use crate::sched::longest::{Longest, Place, Queues};
use crate::types::{
    Addr, Ctx, Duration, ETHERNET_HEADER, Instant, Ip, Packets, Pkt, PlaceId, Rate, Reason, Sink,
};
use crate::types::{RandomStream, skb_len};
use tin::{Keys, Tin};
use tins::{Pace, Table};

/// Queues per tin.
// linux: net/sched/sch_cake.c CAKE_QUEUES (6.1).
const QUEUES: usize = 1024;

/// The cake qdisc.
#[derive(Debug)]
pub struct Cake {
    params: CakeParams,
    place: PlaceId,
    salt: Salt,
    chance: RandomStream,
    table: &'static Table,
    tins: Box<[Tin]>,
    current: usize,
    longest: Longest,
    pace: Pace,
    time_next: Instant,
    /// Latest release time of the shaper. Only packets that leave advance it, so drops charged in ingress
    /// mode cannot stall the shaper.
    failsafe: Instant,
    packets: u32,
    bytes: u64,
    memory: u64,
    memory_most: u64,
    memory_limit: u64,
    network_size: Span,
    adj_size: Span,
    stats: QdiscStats,
}

enum Served {
    Packet(Pkt),
    /// No packet: choose a tin again.
    Again,
}

/// The queues of all tins, numbered consecutively.
impl Queues for Box<[Tin]> {
    #[inline]
    fn bytes(&self, queue: usize) -> u64 {
        self[queue / QUEUES].flows[queue % QUEUES].list.bytes()
    }
    #[inline]
    fn place(&mut self, queue: usize) -> &mut Place {
        &mut self[queue / QUEUES].flows[queue % QUEUES].place
    }
}

impl Cake {
    /// Creates empty tins. Drops are recorded at `place`. `stream` draws the hash salt and BLUE's random
    /// decisions.
    pub fn new(params: CakeParams, place: PlaceId, stream: &mut RandomStream) -> Self {
        let tins: Box<[Tin]> = (0..params.tins.count()).map(|n| Tin::new(&params, n)).collect();
        Self {
            params,
            place,
            salt: Salt::new(stream.bits()),
            chance: stream.split(),
            table: params.tins.table(),
            longest: Longest::new(QUEUES * tins.len()),
            tins,
            current: 0,
            pace: Pace::new(params.bandwidth.map_or(0, tins::bytes_a_second)),
            time_next: Instant::ZERO,
            failsafe: Instant::ZERO,
            packets: 0,
            bytes: 0,
            memory: 0,
            memory_most: 0,
            memory_limit: tins::memory_limit(&params),
            network_size: Span::NONE,
            adj_size: Span::NONE,
            stats: QdiscStats::default(),
        }
    }

    /// Changes the bandwidth. Queued packets leave at the new rate, once the time charged for the last packet
    /// at the old rate has passed.
    // linux: net/sched/sch_cake.c cake_change, cake_reconfigure, cake_set_rate (6.1) - sets rates, quanta,
    // targets and the memory limit; keeps queues, deficits and time_next_packet.
    pub(super) fn change(&mut self, bandwidth: Option<Rate>) {
        self.params.bandwidth = bandwidth;
        self.tins.iter_mut().enumerate().for_each(|(n, tin)| tin.change(&self.params, n));
        self.pace = Pace::new(bandwidth.map_or(0, tins::bytes_a_second));
        self.memory_limit = tins::memory_limit(&self.params);
    }

    /// Returns the time until which the shaper holds packets back, or `None` if packets may leave now.
    #[inline]
    fn held_until(&self, now: Instant) -> Option<Instant> {
        let until = self.time_next.min(self.failsafe);
        (until > now).then_some(until)
    }

    /// Queues the packet. Over the memory limit, drops from the head of the longest queue until the limit
    /// holds.
    // linux: net/sched/sch_cake.c cake_enqueue (6.1, with its stable updates) - returns congestion if the
    // sender's own queue lost a packet.
    pub fn enqueue<S: Sink>(&mut self, now: Instant, p: Pkt, ctx: &mut Ctx<'_, S>) -> Enqueue {
        let n = self.classify(p, ctx.packets);
        let keys = self.keys(p, ctx.packets);
        let hot = ctx.packets.get(p);
        let (len, split) = (skb_len(hot), hot.segs > 1 && self.params.split_gso);
        let queue = self.tins[n].queue_of(keys);
        self.freshen(now, n);
        let counters = &mut self.tins[n].counters;
        counters.max_pkt_len = counters.max_pkt_len.max(len);
        if split {
            gso::split_by(now, p, ctx, |ctx, segment| self.append(now, n, queue, segment, ctx.packets));
        } else {
            self.append(now, n, queue, p, ctx.packets);
            if self.params.ack_filter != AckFilter::Off {
                self.filter_acks(now, n, queue, ctx);
            }
        }
        let tin = &mut self.tins[n];
        let flow = &mut tin.flows[queue];
        self.longest.grown(n * QUEUES + queue, flow.list.bytes(), &mut flow.place);
        tin.rouse(queue, &mut self.chance);
        self.memory_most = self.memory_most.max(self.memory);
        let mut own = false;
        while self.memory > self.memory_limit {
            own |= self.drop_longest(now, ctx) == (n, queue);
        }
        if own { Enqueue::Congested } else { Enqueue::Queued }
    }

    /// Returns the packet's tin. Clears the DSCP if `wash` is on.
    // linux: net/sched/sch_cake.c cake_select_tin, cake_handle_diffserv (6.1).
    fn classify(&self, p: Pkt, packets: &mut Packets) -> usize {
        const ECN: u8 = 3;
        let tos = packets.get(p).tos;
        if self.params.wash && tos & !ECN != 0 {
            packets.get_mut(p).tos = tos & ECN;
        }
        usize::from(self.table[usize::from(tos >> 2)])
    }

    /// Hash keys of the packet's flow and hosts.
    // linux: net/sched/sch_cake.c cake_hash (6.1) - without flow isolation, hashes the host addresses.
    #[inline]
    fn keys(&self, p: Pkt, packets: &Packets) -> Keys {
        let hot = packets.get(p);
        // An address hashes differently as a source and as a destination.
        let host = |a: Addr, side: u32| self.salt.hash(u32::from(a.0) * 2 + side);
        let [src, dst] = self.seen(hot.src, hot.dst);
        let (source, destination) = (host(src, 0), host(dst, 1));
        let flow = match self.params.isolation {
            Isolation::Flowblind => 0,
            Isolation::Srchost => source,
            Isolation::Dsthost => destination,
            Isolation::Hosts => source ^ destination,
            _ => self.salt.hash(hot.flow_hash),
        };
        Keys { flow, source, destination }
    }

    /// Source and destination as cake sees them. Behind a masquerading router all hosts share one address,
    /// unless `nat` looks up their connections.
    // linux: net/sched/sch_cake.c cake_update_flowkeys (6.1) - takes them from the conntrack tuple, for IPv4
    // only; IPv6 is not masqueraded.
    #[inline]
    fn seen(&self, src: Addr, dst: Addr) -> [Addr; 2] {
        const ROUTER: Addr = Addr(u16::MAX >> 1);
        if self.params.masquerade == Masquerade::Off || self.params.nat || src.ip() == Ip::V6 {
            return [src, dst];
        }
        if self.params.masquerade == Masquerade::Sources { [ROUTER, dst] } else { [src, ROUTER] }
    }

    /// Discards the credit that the tin or the whole shaper accumulated while empty.
    // linux: net/sched/sch_cake.c cake_enqueue (6.1).
    #[inline]
    fn freshen(&mut self, now: Instant, n: usize) {
        let tin = &mut self.tins[n];
        if tin.backlog > 0 {
            return;
        }
        tin.time_next = tin.time_next.max(now);
        if self.packets == 0 {
            if self.time_next < now {
                (self.time_next, self.failsafe) = (now, now);
            } else if self.held_until(now).is_some() {
                self.stats.overlimits += 1;
            }
        }
    }

    fn append(&mut self, now: Instant, n: usize, queue: usize, p: Pkt, packets: &mut Packets) {
        let hot = packets.get_mut(p);
        hot.t_enqueue = now;
        let (len, truesize, segs) = (skb_len(hot), hot.truesize, u32::from(hot.segs));
        if segs > 1 {
            let full = gso::full_segment(packets, p) + ETHERNET_HEADER;
            self.note_sizes(full);
            self.note_sizes(len - full * (segs - 1));
        } else {
            self.note_sizes(len);
        }
        let tin = &mut self.tins[n];
        tin.flows[queue].list.push(packets, p);
        tin.backlog += u64::from(len);
        tin.counters.packets += 1;
        tin.counters.bytes += u64::from(len);
        self.packets += 1;
        self.bytes += u64::from(len);
        self.memory += u64::from(truesize);
    }

    #[inline]
    fn note_sizes(&mut self, len: u32) {
        let (net, adjusted) = self.params.framing.sizes(len);
        self.network_size.add(net);
        self.adj_size.add(adjusted);
    }

    /// Bytes that the shaper charges for a packet, with framing applied to each segment.
    // linux: net/sched/sch_cake.c cake_overhead (6.1) - assumes that all segments but the last have the same
    // size.
    #[inline]
    fn cost(&self, p: Pkt, packets: &Packets) -> u32 {
        let hot = packets.get(p);
        let (len, rest) = (skb_len(hot), u32::from(hot.segs) - 1);
        let size = |len| self.params.framing.sizes(len).1;
        if rest == 0 {
            return size(len);
        }
        let full = gso::full_segment(packets, p) + ETHERNET_HEADER;
        size(full) * rest + size(len - full * rest)
    }

    #[inline]
    fn pop(&mut self, n: usize, queue: usize, packets: &mut Packets) -> Option<Pkt> {
        let tin = &mut self.tins[n];
        let p = tin.flows[queue].list.pop(packets)?;
        let hot = packets.get(p);
        let len = u64::from(skb_len(hot));
        tin.backlog -= len;
        self.packets -= 1;
        self.bytes -= len;
        self.memory -= u64::from(hot.truesize);
        Some(p)
    }

    /// Drops a queued ACK that the packet just enqueued makes redundant.
    // linux: net/sched/sch_cake.c cake_enqueue (6.1) - counts the ACK as dropped, and charges it to the
    // shaper with `ingress`.
    #[inline(never)]
    fn filter_acks<S: Sink>(&mut self, now: Instant, n: usize, queue: usize, ctx: &mut Ctx<'_, S>) {
        let aggressive = self.params.ack_filter == AckFilter::Aggressive;
        let list = &mut self.tins[n].flows[queue].list;
        let Some((before, p)) = ack_filter::needless(list, ctx.packets, aggressive) else { return };
        list.remove_behind(ctx.packets, before);
        let hot = ctx.packets.get(p);
        let (len, truesize) = (u64::from(skb_len(hot)), u64::from(hot.truesize));
        let tin = &mut self.tins[n];
        tin.backlog -= len;
        tin.counters.ack_drops += 1;
        self.packets -= 1;
        self.bytes -= len;
        self.memory -= truesize;
        self.stats.drops += 1;
        if self.params.ingress {
            let cost = self.cost(p, ctx.packets);
            self.advance(now, n, cost, true);
        }
        ctx.drop(now, p, Reason::AckFilter, self.place);
    }

    /// Drops the head of the longest queue of all tins. Returns that tin and queue.
    // linux: net/sched/sch_cake.c cake_drop (6.1). deviation: drops from the first of equally long queues,
    // instead of the one on top of the heap - heap order is an implementation detail.
    #[cold]
    fn drop_longest<S: Sink>(&mut self, now: Instant, ctx: &mut Ctx<'_, S>) -> (usize, usize) {
        let at = self.longest.find(&mut self.tins).expect("memory is used by a packet");
        let (n, queue) = (at / QUEUES, at % QUEUES);
        let p = self.pop(n, queue, ctx.packets).expect("the longest queue holds a packet");
        let tin = &mut self.tins[n];
        if tin.flows[queue].aqm.overflowed(&tin.aqm, now) == Blue::Roused {
            tin.unresponsive += 1;
        }
        if self.params.ingress {
            let cost = self.cost(p, ctx.packets);
            self.advance(now, n, cost, true);
        }
        self.tins[n].counters.drops += 1;
        self.stats.drops += 1;
        ctx.drop(now, p, Reason::Overlimit, self.place);
        (n, queue)
    }

    /// Advances the clocks of the tin and of the shaper by the cost of a packet.
    // linux: net/sched/sch_cake.c cake_advance_shaper (6.1) - lets a tin behind its schedule catch up, and
    // does not move a tin that is ahead by more than this packet.
    #[inline]
    fn advance(&mut self, now: Instant, n: usize, cost: u32, dropped: bool) {
        if self.params.bandwidth.is_none() {
            return;
        }
        let tin = &mut self.tins[n];
        let (own, whole) = (tin.pace.time(cost), self.pace.time(cost));
        if tin.time_next < now {
            tin.time_next += own;
        } else {
            tin.time_next = tin.time_next.max(now + own);
        }
        self.time_next += whole;
        if !dropped {
            self.failsafe += whole + Duration::from_nanos(whole.nanos() / 2);
        }
    }

    /// Takes the next packet from the tin and queue whose turn it is. COBALT may drop other packets first.
    pub fn dequeue<S: Sink>(&mut self, now: Instant, ctx: &mut Ctx<'_, S>) -> Option<Pkt> {
        let mut anew = true;
        loop {
            if self.packets == 0 {
                return None;
            }
            if self.held_until(now).is_some() {
                self.stats.overlimits += 1;
                return None;
            }
            let n = self.choose(now)?;
            if let Served::Packet(p) = self.serve(now, n, &mut anew, ctx) {
                return Some(p);
            }
        }
    }

    /// Selects the tin to serve.
    // linux: net/sched/sch_cake.c cake_dequeue (6.1) - with a shaper, selects the last tin within its
    // threshold, or else the tin due soonest; without a shaper, deficit round-robin.
    fn choose(&mut self, now: Instant) -> Option<usize> {
        if self.params.bandwidth.is_none() {
            return self.choose_by_turns();
        }
        let mut best = None;
        for (n, tin) in self.tins.iter().enumerate().filter(|(_, tin)| tin.has_flows()) {
            let wait = tin.time_next.saturating_since(now);
            if best.is_none_or(|(_, least)| wait <= least) {
                best = Some((n, wait));
            }
        }
        self.current = best?.0;
        Some(self.current)
    }

    fn choose_by_turns(&mut self) -> Option<usize> {
        if !self.tins.iter().any(Tin::has_flows) {
            return None;
        }
        loop {
            let tin = &mut self.tins[self.current];
            if tin.deficit >= 0 && tin.has_flows() {
                return Some(self.current);
            }
            if tin.deficit <= 0 {
                tin.deficit += tin.quantum;
            }
            self.current = (self.current + 1) % self.tins.len();
        }
    }

    /// Serves a tin. `anew` is true until the first queue of this dequeue has been chosen.
    // linux: net/sched/sch_cake.c cake_dequeue (6.1) - never drops the last packet of a queue.
    fn serve<S: Sink>(&mut self, now: Instant, n: usize, anew: &mut bool, ctx: &mut Ctx<'_, S>) -> Served {
        loop {
            let tin = &mut self.tins[n];
            let Some(queue) = tin.next(core::mem::take(anew), &mut self.chance) else { return Served::Again };
            loop {
                let Some(p) = self.pop(n, queue, ctx.packets) else {
                    self.found_empty(now, n, queue);
                    return Served::Again;
                };
                if !self.drops(now, n, queue, p, ctx.packets) {
                    self.leave(now, n, queue, p, ctx.packets);
                    return Served::Packet(p);
                }
                if self.params.ingress {
                    self.charge(now, n, queue, self.cost(p, ctx.packets), true);
                }
                self.tins[n].counters.drops += 1;
                self.stats.drops += 1;
                ctx.drop(now, p, Reason::Codel, self.place);
                if self.params.ingress {
                    break;
                }
            }
        }
    }

    fn found_empty(&mut self, now: Instant, n: usize, queue: usize) {
        let tin = &mut self.tins[n];
        let aqm = &mut tin.flows[queue].aqm;
        if aqm.found_empty(&tin.aqm, now) == Blue::Calmed {
            tin.unresponsive -= 1;
        }
        let at_rest = aqm.is_at_rest(now);
        tin.retire(queue, at_rest);
    }

    /// Returns true if COBALT drops a packet taken from its queue. Marks the packet if COBALT
    /// decides so.
    #[inline]
    fn drops(&mut self, now: Instant, n: usize, queue: usize, p: Pkt, packets: &mut Packets) -> bool {
        // spec: rfc3168 5 - a Not-ECT packet (00) must not be marked.
        const CAPABLE: u8 = 3;
        let tin = &mut self.tins[n];
        let hot = packets.get_mut(p);
        let sojourn = now.saturating_since(hot.t_enqueue);
        let bulk = if self.params.ingress { tin.bulk } else { 0 };
        let flow = &mut tin.flows[queue];
        let capable = hot.tos & CAPABLE != 0;
        let verdict = flow.aqm.judge(&tin.aqm, now, sojourn, capable, bulk, &mut self.chance);
        if verdict.mark {
            hot.tos |= CAPABLE;
        }
        let drop = verdict.drop && !flow.list.is_empty();
        tin.counters.ecn_mark += u64::from(verdict.mark && !drop);
        drop
    }

    /// Charges a packet to its queue, its tin and the shaper.
    #[inline]
    fn charge(&mut self, now: Instant, n: usize, queue: usize, cost: u32, dropped: bool) {
        self.advance(now, n, cost, dropped);
        let tin = &mut self.tins[n];
        tin.flows[queue].deficit -= cost as i32;
        tin.deficit = tin.deficit.saturating_sub_unsigned(cost);
    }

    #[inline]
    fn leave(&mut self, now: Instant, n: usize, queue: usize, p: Pkt, packets: &Packets) {
        self.charge(now, n, queue, self.cost(p, packets), false);
        let hot = packets.get(p);
        self.stats.sent(hot);
        self.tins[n].delays.add(now.saturating_since(hot.t_enqueue));
    }

    /// Reports when to call `dequeue` next.
    #[inline]
    pub fn next(&self, now: Instant) -> NextSend {
        match self.held_until(now) {
            _ if self.packets == 0 => NextSend::Never,
            Some(at) => NextSend::At(at),
            None => NextSend::Now,
        }
    }

    /// Number of packets and bytes queued.
    #[inline]
    pub fn backlog(&self) -> (u32, u64) {
        (self.packets, self.bytes)
    }

    /// The common qdisc counters.
    pub fn stats(&self) -> QdiscStats {
        self.stats
    }
}

#[cfg(test)]
mod tests;
