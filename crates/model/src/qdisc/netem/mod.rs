//! netem: an emulated network, which delays, loses, duplicates and reorders packets.
//!
//! A packet gets its departure time on arrival. With jitter the times are not in order, and a later packet
//! may overtake. A delayed packet is no longer charged to its socket, so netem at the sender disables TCP
//! small queues.
//!
//! A child qdisc receives each packet when its time has come, and decides when the packet leaves.
//!
//! Not modelled: distribution tables, correlated loss models (Gilbert-Elliott), corruption, slots, and the
//! link-layer overhead of `rate`.

use alloc::collections::{BinaryHeap, VecDeque};
use core::cmp::Reverse;

use super::{Enqueue, NextSend, Qdisc, QdiscStats};
use crate::types::{
    Ctx, Duration, Instant, Pkt, PlaceId, RandomStream, Rate, Reason, Sink, Step, TraceEvent, skb_len,
};

/// A probability, or a correlation with the previous random number, as a fraction of 2^32 - 1.
// linux: iproute2 tc/q_netem.c get_percent (6.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Share(pub u32);

impl Share {
    /// Converts a fraction from 0 to 1.
    pub fn of(fraction: f64) -> Self {
        Self(libm::rint(fraction * f64::from(u32::MAX)) as u32)
    }
}

/// A probability, with the correlation of successive draws.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Chance {
    /// The probability.
    pub share: Share,
    /// Correlation with the previous draw.
    pub correlation: Share,
}

/// Parameters, by their tc names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NetemParams {
    /// Maximum number of packets.
    pub limit: u32,
    /// Delay of each packet.
    pub delay: Duration,
    /// Jitter: uniform variation of the delay, up and down.
    pub jitter: Duration,
    /// Correlation of a packet's jitter with the previous one. As in the kernel, the correlation has an
    /// effect only if the jitter is of the order of 2^32 ns. The jitter is a 32-bit correlated number modulo
    /// the jitter range. For a range of a few milliseconds this remainder is practically independent.
    pub delay_correlation: Share,
    /// Probability of loss.
    pub loss: Chance,
    /// Probability of duplication.
    pub duplicate: Chance,
    /// Probability that an eligible packet is sent immediately (reordering).
    pub reorder: Chance,
    /// Every `gap`-th packet is eligible for reordering. 0: no packet.
    pub gap: u32,
    /// Rate of the emulated link. Packets also wait for the transmission of earlier ones.
    pub rate: Option<Rate>,
}

impl Default for NetemParams {
    // linux: iproute2 tc/q_netem.c netem_parse_opt (6.1) - limit 1000.
    fn default() -> Self {
        Self {
            limit: 1000,
            delay: Duration::ZERO,
            jitter: Duration::ZERO,
            delay_correlation: Share::default(),
            loss: Chance::default(),
            duplicate: Chance::default(),
            reorder: Chance::default(),
            gap: 0,
            rate: None,
        }
    }
}

/// Random numbers, each correlated with the previous one.
// linux: net/sched/sch_netem.c get_crandom (6.1).
#[derive(Clone, Copy, Debug)]
struct Correlated {
    share: Share,
    last: u32,
}

impl Correlated {
    fn new(share: Share, stream: &mut RandomStream) -> Self {
        Self { share, last: stream.word() }
    }

    #[inline]
    fn draw(&mut self, stream: &mut RandomStream) -> u32 {
        let fresh = stream.word();
        if self.share == Share(0) {
            return fresh;
        }
        let old = u64::from(self.share.0) + 1;
        self.last = ((u64::from(fresh) * ((1 << 32) - old) + u64::from(self.last) * old) >> 32) as u32;
        self.last
    }

    /// Returns true with probability `p`. Draws nothing if `p` is zero.
    #[inline]
    fn happens(&mut self, p: Share, stream: &mut RandomStream) -> bool {
        p != Share(0) && p.0 >= self.draw(stream)
    }
}

/// A packet that overtakes others; ordered by its time, then by its turn.
#[derive(Clone, Copy, Debug)]
struct Overtaker {
    at: Instant,
    turn: u64,
    p: Pkt,
}

impl PartialEq for Overtaker {
    fn eq(&self, other: &Self) -> bool {
        self.turn == other.turn
    }
}
impl Eq for Overtaker {}
impl PartialOrd for Overtaker {
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Overtaker {
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        (self.at, self.turn).cmp(&(other.at, other.turn))
    }
}

/// The netem qdisc.
#[derive(Debug)]
pub struct Netem {
    params: NetemParams,
    place: PlaceId,
    /// Packets to send immediately, newest first.
    at_once: VecDeque<Pkt>,
    /// Packets in order of arrival, which is also the order of their times.
    line: VecDeque<(Instant, Pkt)>,
    /// Packets whose time was before that of the last packet in `line` on arrival.
    overtakers: BinaryHeap<Reverse<Overtaker>>,
    turn: u64,
    /// Packets since the last one sent immediately.
    counter: u32,
    delays: Correlated,
    losses: Correlated,
    duplicates: Correlated,
    reorders: Correlated,
    stream: RandomStream,
    bytes: u64,
    child: Option<Qdisc>,
    stats: QdiscStats,
}

impl Netem {
    /// Creates an empty network, over an empty `child` if there is one. Drops are recorded at `place`.
    pub fn new(params: NetemParams, child: Option<Qdisc>, place: PlaceId, mut stream: RandomStream) -> Self {
        let mut correlated = |share| Correlated::new(share, &mut stream);
        Self {
            place,
            at_once: VecDeque::new(),
            line: VecDeque::new(),
            overtakers: BinaryHeap::new(),
            turn: 0,
            counter: 0,
            delays: correlated(params.delay_correlation),
            losses: correlated(params.loss.correlation),
            duplicates: correlated(params.duplicate.correlation),
            reorders: correlated(params.reorder.correlation),
            stream,
            bytes: 0,
            child,
            stats: QdiscStats::default(),
            params,
        }
    }

    /// Changes the parameters. Queued packets keep their departure times; with a rate, new packets follow the
    /// last of them.
    // linux: net/sched/sch_netem.c netem_change (6.1) - keeps time_to_send of queued packets; resets
    // correlations.
    pub(super) fn change(&mut self, params: NetemParams) {
        self.params = params;
        let mut correlated = |share| Correlated::new(share, &mut self.stream);
        self.delays = correlated(params.delay_correlation);
        self.losses = correlated(params.loss.correlation);
        self.duplicates = correlated(params.duplicate.correlation);
        self.reorders = correlated(params.reorder.correlation);
    }

    /// Loses, duplicates or delays the packet. Returns `Enqueue::Queued` for a lost packet and
    /// `Enqueue::Dropped` beyond the limit.
    // linux: net/sched/sch_netem.c netem_enqueue (6.1) - a packet drawn for both duplication and loss is sent
    // once. The copy is charged to no socket, is queued first and is not duplicated again. For a duplicated
    // packet, a refusal is not reported to the sender.
    #[inline]
    pub fn enqueue<S: Sink>(&mut self, now: Instant, p: Pkt, ctx: &mut Ctx<'_, S>) -> Enqueue {
        let doubled = self.duplicates.happens(self.params.duplicate.share, &mut self.stream);
        let lost = self.losses.happens(self.params.loss.share, &mut self.stream);
        if lost && !doubled {
            self.refuse(now, p, Reason::Loss, ctx);
            return Enqueue::Queued;
        }
        if doubled && !lost {
            let copy = ctx.packets.duplicate(p);
            ctx.step(now, &Step::Copied { from: p, to: copy });
            let hot = ctx.packets.get(p);
            let (flow, kind, seq) = (hot.flow, hot.kind, hot.seq);
            ctx.trace.event(now, &TraceEvent::Doubled { flow, kind, seq });
            if self.losses.happens(self.params.loss.share, &mut self.stream) {
                self.refuse(now, copy, Reason::Loss, ctx);
            } else {
                let _ = self.admit(now, copy, ctx);
            }
            let _ = self.admit(now, p, ctx);
            return Enqueue::Queued;
        }
        self.admit(now, p, ctx)
    }

    fn refuse<S: Sink>(&mut self, now: Instant, p: Pkt, reason: Reason, ctx: &mut Ctx<'_, S>) {
        self.stats.drops += 1;
        ctx.drop(now, p, reason, self.place);
    }

    // linux: net/sched/sch_netem.c netem_enqueue (6.1), net/core/sock.c skb_orphan_partial - ends the charge
    // of a packet that will wait, even if the packet is refused next.
    fn admit<S: Sink>(&mut self, now: Instant, p: Pkt, ctx: &mut Ctx<'_, S>) -> Enqueue {
        let NetemParams { limit, delay, jitter, reorder, gap, rate, .. } = self.params;
        if delay > Duration::ZERO || jitter > Duration::ZERO || rate.is_some() {
            ctx.packets.orphan(p);
        }
        if self.waiting() >= limit {
            self.refuse(now, p, Reason::Overlimit, ctx);
            return Enqueue::Dropped;
        }
        let len = skb_len(ctx.packets.get(p));
        self.bytes += u64::from(len);
        // One in `gap` packets may be sent before all others; the correlated number is drawn only for that
        // one.
        let before_all =
            gap != 0 && self.counter >= gap - 1 && reorder.share.0 >= self.reorders.draw(&mut self.stream);
        if before_all {
            self.counter = 0;
            self.stats.requeues += 1;
            self.at_once.push_front(p);
        } else {
            self.counter = self.counter.saturating_add(1);
            let at = self.time(now, len);
            self.wait(at, p);
        }
        Enqueue::Queued
    }

    /// Departure time of a packet that arrives now.
    // linux: net/sched/sch_netem.c netem_enqueue, tabledist, packet_time_ns (6.1) - with a rate, starts
    // transmission after that of the last packet; the delay runs in parallel with that wait.
    fn time(&mut self, now: Instant, len: u32) -> Instant {
        let NetemParams { delay, jitter, rate, .. } = self.params;
        let mut wait = delay.nanos() as i64;
        if jitter > Duration::ZERO {
            let span = 2 * jitter.nanos();
            wait += (u64::from(self.delays.draw(&mut self.stream)) % span) as i64 - jitter.nanos() as i64;
        }
        let at = Instant::from_nanos(now.nanos().saturating_add_signed(wait));
        let Some(rate) = rate else { return at };
        let sent = u64::from(len) * 1_000_000_000 / (rate.bps() / 8).max(1);
        let begin = self.line.back().map_or(at, |&(last, _)| at.max(last));
        begin + Duration::from_nanos(sent)
    }

    // linux: net/sched/sch_netem.c tfifo_enqueue (6.1) - orders by time, then by arrival.
    fn wait(&mut self, at: Instant, p: Pkt) {
        if self.line.back().is_none_or(|&(last, _)| at >= last) {
            self.line.push_back((at, p));
        } else {
            self.turn += 1;
            self.overtakers.push(Reverse(Overtaker { at, turn: self.turn, p }));
        }
    }

    /// Time of the first waiting packet, and whether it is an overtaker.
    #[inline]
    fn first(&self) -> Option<(Instant, bool)> {
        let line = self.line.front().map(|&(at, _)| (at, false));
        let Some(Reverse(over)) = self.overtakers.peek() else { return line };
        match line {
            Some((at, _)) if at <= over.at => line,
            _ => Some((over.at, true)),
        }
    }

    /// Takes the next packet whose time has come, through the child qdisc if there is one.
    // linux: net/sched/sch_netem.c netem_dequeue (6.1, with its stable updates) - packets sent immediately
    // bypass the child; due packets are enqueued in the child until one has to wait.
    #[inline]
    pub fn dequeue<S: Sink>(&mut self, now: Instant, ctx: &mut Ctx<'_, S>) -> Option<Pkt> {
        let p = loop {
            if let Some(p) = self.at_once.pop_front() {
                self.bytes -= u64::from(skb_len(ctx.packets.get(p)));
                break p;
            }
            let due = match self.first() {
                Some((at, _)) if at > now => None,
                Some((_, true)) => self.overtakers.pop().map(|over| over.0.p),
                Some((_, false)) => self.line.pop_front().map(|(_, p)| p),
                None => None,
            };
            match (due, &mut self.child) {
                (None, None) => return None,
                (None, Some(child)) => break child.dequeue(now, ctx)?,
                (Some(p), child) => {
                    self.bytes -= u64::from(skb_len(ctx.packets.get(p)));
                    let Some(child) = child else { break p };
                    // Refusals by the child are not reported: the sender got `Queued` long ago.
                    let _ = child.enqueue(now, p, ctx);
                }
            }
        };
        self.stats.sent(ctx.packets.get(p));
        Some(p)
    }

    /// Reports when the next packet may leave.
    #[inline]
    pub fn next(&self, now: Instant) -> NextSend {
        if !self.at_once.is_empty() {
            return NextSend::Now;
        }
        let own = self.first().map(|(at, _)| at);
        match (own, self.child.as_ref().map_or(NextSend::Never, |child| child.next(now))) {
            (Some(at), _) if at <= now => NextSend::Now,
            (_, NextSend::Now) => NextSend::Now,
            (Some(at), NextSend::At(then)) => NextSend::At(at.min(then)),
            (Some(at), NextSend::Never) => NextSend::At(at),
            (None, child) => child,
        }
    }

    /// Packets not yet passed to the child or dequeued.
    #[inline]
    fn waiting(&self) -> u32 {
        (self.at_once.len() + self.line.len() + self.overtakers.len()) as u32
    }

    /// Number of packets and bytes queued.
    #[inline]
    pub fn backlog(&self) -> (u32, u64) {
        let (packets, bytes) = self.child.as_ref().map_or((0, 0), Qdisc::backlog);
        (self.waiting() + packets, self.bytes + bytes)
    }

    /// The child qdisc.
    pub fn child(&self) -> Option<&Qdisc> {
        self.child.as_ref()
    }

    /// The common qdisc counters. Packets sent immediately count as requeues. Drops of the child are
    /// included.
    pub fn stats(&self) -> QdiscStats {
        let inside = self.child.as_ref().map_or(0, |child| child.stats().drops);
        QdiscStats { drops: self.stats.drops + inside, ..self.stats }
    }
}

#[cfg(test)]
mod tests;
