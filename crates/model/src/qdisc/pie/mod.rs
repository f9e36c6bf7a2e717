//! pie: one queue with PIE at enqueue.

use super::{Enqueue, QdiscStats};
use crate::aqm::pie::{PieParams, PieState};
use crate::types::{Ctx, Duration, Instant, Pkt, PktList, PlaceId, RandomStream, Reason, Sink, skb_len};

/// Parameters, by their tc names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PieQdiscParams {
    /// Maximum number of packets.
    pub limit: u32,
    /// Update period of the drop probability, in whole kernel ticks. See [`PieQdiscParams::in_ticks`].
    pub tupdate: Duration,
    /// PIE parameters.
    pub pie: PieParams,
}

impl PieQdiscParams {
    // linux: include/net/pie.h pie_params_init (6.1).
    const TUPDATE: Duration = Duration::from_millis(15);

    /// The defaults, for a kernel with CONFIG_HZ = `hz`.
    pub fn new(hz: u32) -> Self {
        Self { limit: 1000, tupdate: Self::in_ticks(Self::TUPDATE, hz), pie: PieParams::default() }
    }

    /// Rounds a period up to whole ticks, as the kernel's timer does.
    // linux: net/sched/sch_pie.c pie_change (6.1), kernel/time/time.c usecs_to_jiffies - at HZ=250, 15 ms
    // become 16.
    pub fn in_ticks(period: Duration, hz: u32) -> Duration {
        let tick = Duration::from_nanos(1_000_000_000 / u64::from(hz));
        tick * period.div_ceil(tick)
    }
}

/// Counters by their tc names, in addition to the common ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PieStats {
    /// Drop probability, as a fraction of 2^64.
    pub prob: u64,
    /// Current estimate of the queueing delay.
    pub delay: Duration,
    /// Drain rate in bytes per second. `None` while it is not measured.
    pub avg_dq_rate: Option<u64>,
    /// Packets queued.
    pub packets_in: u64,
    /// Packets dropped by PIE or because the queue was full.
    pub dropped: u64,
    /// Packets dropped because the queue was full.
    pub overlimit: u64,
    /// Packets marked (ECN).
    pub ecn_mark: u64,
    /// Maximum queue length at a packet's arrival, in packets.
    pub maxq: u32,
}

/// The pie qdisc.
#[derive(Debug)]
pub struct Pie {
    params: PieQdiscParams,
    place: PlaceId,
    stream: RandomStream,
    list: PktList,
    state: PieState,
    update_at: Instant,
    sent: QdiscStats,
    stats: PieStats,
}

impl Pie {
    /// Creates an empty queue. Drops are recorded at `place`. `stream` draws PIE's random drops. Panics if
    /// the period is zero.
    // deviation: the first update comes after one period instead of half a second - the qdisc exists before
    // the run starts.
    pub fn new(params: PieQdiscParams, place: PlaceId, stream: RandomStream) -> Self {
        assert!(params.tupdate > Duration::ZERO, "impossible pie");
        Self {
            params,
            place,
            stream,
            list: PktList::default(),
            state: PieState::default(),
            update_at: Instant::ZERO + params.tupdate,
            sent: QdiscStats::default(),
            stats: PieStats::default(),
        }
    }

    /// Appends the packet. Drops it if the queue is full or PIE decides so.
    // linux: net/sched/sch_pie.c pie_qdisc_enqueue (6.1).
    #[inline]
    pub fn enqueue<S: Sink>(&mut self, now: Instant, p: Pkt, ctx: &mut Ctx<'_, S>) -> Enqueue {
        self.update(now);
        let aqm = &self.params.pie;
        let hot = ctx.packets.get_mut(p);
        if self.list.packets() >= self.params.limit {
            self.stats.overlimit += 1;
            return self.refuse(now, p, Reason::Overlimit, ctx);
        }
        // deviation: the headers of all segments of a packet count - as in the backlog.
        if self.state.drop_early(aqm, self.list.bytes(), skb_len(hot), || self.stream.bits()) {
            if !(aqm.ecn && self.state.marks() && hot.tos & 3 != 0) {
                return self.refuse(now, p, Reason::Pie, ctx);
            }
            hot.tos |= 3;
            self.stats.ecn_mark += 1;
        }
        hot.t_enqueue = now;
        self.stats.packets_in += 1;
        self.stats.maxq = self.stats.maxq.max(self.list.packets());
        self.list.push(ctx.packets, p);
        Enqueue::Queued
    }

    fn refuse<S: Sink>(&mut self, now: Instant, p: Pkt, reason: Reason, ctx: &mut Ctx<'_, S>) -> Enqueue {
        self.state.dropped();
        self.stats.dropped += 1;
        ctx.drop(now, p, reason, self.place);
        Enqueue::Dropped
    }

    /// Removes and returns the first packet.
    #[inline]
    pub fn dequeue<S: Sink>(&mut self, now: Instant, ctx: &mut Ctx<'_, S>) -> Option<Pkt> {
        self.update(now);
        let p = self.list.pop(ctx.packets)?;
        let hot = ctx.packets.get(p);
        self.state.dequeued(&self.params.pie, now, hot.t_enqueue, self.list.bytes(), skb_len(hot));
        self.sent.sent(hot);
        Some(p)
    }

    /// Performs the probability updates that were due since the last enqueue or dequeue. Their inputs do not
    /// change in between, so no timer is needed.
    // linux: net/sched/sch_pie.c pie_timer (6.1).
    #[inline]
    fn update(&mut self, now: Instant) {
        if self.update_at <= now {
            self.catch_up(now);
        }
    }

    #[cold]
    fn catch_up(&mut self, now: Instant) {
        while self.update_at <= now {
            let before = self.state.clone();
            self.state.update(&self.params.pie, self.list.bytes());
            self.update_at += self.params.tupdate;
            if self.state == before {
                // The state is stable until the next enqueue or dequeue.
                let periods = now.saturating_since(self.update_at).nanos() / self.params.tupdate.nanos();
                self.update_at += self.params.tupdate * periods;
            }
        }
    }

    /// Number of packets and bytes queued.
    #[inline]
    pub fn backlog(&self) -> (u32, u64) {
        (self.list.packets(), self.list.bytes())
    }

    /// The common qdisc counters.
    pub fn stats(&self) -> QdiscStats {
        QdiscStats { drops: self.stats.dropped, ..self.sent }
    }

    /// pie's counters and state.
    pub fn xstats(&self) -> PieStats {
        PieStats {
            prob: self.state.prob() << 8,
            delay: self.state.qdelay(),
            avg_dq_rate: self.params.pie.dq_rate_estimator.then(|| self.state.drain_rate()),
            ..self.stats
        }
    }
}

#[cfg(test)]
mod tests;
