//! tbf: one or two token buckets over a child qdisc.
//!
//! A packet leaves once the bucket holds its transmission time. Unlike htb's, the bucket never goes below
//! zero, so a packet larger than the bucket can never leave: it is split if its segments fit, and refused if
//! not. A second, small bucket with a higher rate limits the bursts that the first one allows.

use super::bucket::{Bucket, BucketRate};
use super::{Enqueue, NextSend, Qdisc, QdiscConfig, QdiscStats};
use crate::offload::gso;
use crate::types::{Ctx, Duration, ETHERNET_HEADER, Instant, Pkt, PlaceId, Rate, Reason, Sink, skb_len};
use alloc::boxed::Box;

/// The second bucket, for the peak rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Peak {
    /// Peak rate, above the rate of the first bucket.
    pub rate: Rate,
    /// Size of the peak rate's bucket in bytes (`mtu`, `minburst`).
    pub mtu: u32,
}

/// Parameters, by their tc names.
#[derive(Clone, PartialEq, Debug)]
pub struct TbfParams {
    /// Rate of the bucket.
    pub rate: Rate,
    /// Size of the bucket in bytes.
    pub burst: u32,
    /// `peakrate` and `mtu`.
    pub peak: Option<Peak>,
    /// The child qdisc, which holds the packets.
    pub child: Box<QdiscConfig>,
}

impl TbfParams {
    /// Limit in bytes that tc computes from `latency`: the bytes sent in that time, plus the burst.
    // linux: iproute2 tc/q_tbf.c tbf_parse_opt (6.1) - the smaller limit of the two buckets.
    pub fn limit(rate: Rate, burst: u32, peak: Option<Peak>, latency: Duration) -> u32 {
        let of = |rate: Rate, burst: u32| {
            let bytes = u128::from(rate.bps() / 8) * u128::from(latency.nanos() / 1000) / 1_000_000;
            u32::try_from(bytes + u128::from(burst)).unwrap_or(u32::MAX)
        };
        let limit = of(rate, burst);
        peak.map_or(limit, |peak| limit.min(of(peak.rate, peak.mtu)))
    }
}

/// Creates a full bucket.
// linux: net/sched/sch_tbf.c tbf_change (6.1) - receives the burst in bytes, and makes the bucket as deep as
// its transmission time.
fn full(rate: Rate, burst: u32) -> Bucket {
    let pace = BucketRate::new(rate);
    Bucket::new(pace, pace.nanos(burst))
}

/// The tbf qdisc.
#[derive(Debug)]
pub struct Tbf {
    place: PlaceId,
    child: Qdisc,
    /// Packet taken from the child by `peek`.
    peeked: Option<Pkt>,
    peeked_bytes: u32,
    rate: Bucket,
    peak: Option<Bucket>,
    /// Size in bytes of the largest packet that can leave.
    max_size: u32,
    /// Time at which tokens were last taken.
    taken: Instant,
    /// Time at which the peeked packet may leave.
    ready: Instant,
    refused: u64,
    stats: QdiscStats,
}

impl Tbf {
    /// Creates full buckets over an empty `child`, at the start of the run. Drops are recorded at `place`.
    pub fn new(params: &TbfParams, child: Qdisc, place: PlaceId) -> Self {
        Self {
            place,
            child,
            peeked: None,
            peeked_bytes: 0,
            rate: full(params.rate, params.burst),
            peak: params.peak.map(|peak| full(peak.rate, peak.mtu)),
            max_size: params.peak.map_or(params.burst, |peak| params.burst.min(peak.mtu)),
            taken: Instant::ZERO,
            ready: Instant::ZERO,
            refused: 0,
            stats: QdiscStats::default(),
        }
    }

    /// Changes the rates. Both buckets are full, and queued packets leave at the new rates.
    // linux: net/sched/sch_tbf.c tbf_change (6.1) - sets rates and limits, fills the buckets and keeps the
    // child with its packets. The watchdog stays armed: unless another packet arrives, the first one waits as
    // long as at the old rate.
    pub(super) fn change(&mut self, params: &TbfParams) {
        self.rate = full(params.rate, params.burst);
        self.peak = params.peak.map(|peak| full(peak.rate, peak.mtu));
        self.max_size = params.peak.map_or(params.burst, |peak| params.burst.min(peak.mtu));
    }

    pub(super) fn child_mut(&mut self) -> &mut Qdisc {
        &mut self.child
    }

    /// Passes the packet to the child. Splits a packet that is too large into segments, and refuses it if the
    /// segments are too large.
    // linux: net/sched/sch_tbf.c tbf_enqueue, tbf_segment (6.1) - reports success if the child accepted at
    // least one segment.
    #[inline]
    pub fn enqueue<S: Sink>(&mut self, now: Instant, p: Pkt, ctx: &mut Ctx<'_, S>) -> Enqueue {
        let hot = ctx.packets.get(p);
        if skb_len(hot) <= self.max_size {
            return self.child.enqueue(now, p, ctx);
        }
        if hot.segs > 1 && gso::full_segment(ctx.packets, p) + ETHERNET_HEADER <= self.max_size {
            return self.enqueue_segments(now, p, ctx);
        }
        self.refused += 1;
        ctx.drop(now, p, Reason::Overlimit, self.place);
        Enqueue::Dropped
    }

    fn enqueue_segments<S: Sink>(&mut self, now: Instant, p: Pkt, ctx: &mut Ctx<'_, S>) -> Enqueue {
        let mut answer = Enqueue::Dropped;
        gso::split_by(now, p, ctx, |ctx, segment| {
            if self.child.enqueue(now, segment, ctx) == Enqueue::Queued {
                answer = Enqueue::Queued;
            }
        });
        answer
    }

    /// Size of the next packet in bytes. Leaves the packet in a child whose head cannot change, and dequeues
    /// it from any other.
    // linux: net/sched/sch_generic.h qdisc_peek_head, qdisc_peek_dequeued (6.1) - so a fifo's limit still
    // counts the packet.
    #[inline]
    fn peek<S: Sink>(&mut self, now: Instant, ctx: &mut Ctx<'_, S>) -> Option<u32> {
        if self.peeked.is_some() {
            return Some(self.peeked_bytes);
        }
        if let Some(head) = self.child.head() {
            return Some(skb_len(ctx.packets.get(head)));
        }
        let p = self.child.dequeue(now, ctx)?;
        (self.peeked, self.peeked_bytes) = (Some(p), skb_len(ctx.packets.get(p)));
        Some(self.peeked_bytes)
    }

    /// Takes the next packet if both buckets hold enough tokens.
    // linux: net/sched/sch_tbf.c tbf_dequeue (6.1) - counts an overlimit each time they do not.
    #[inline]
    pub fn dequeue<S: Sink>(&mut self, now: Instant, ctx: &mut Ctx<'_, S>) -> Option<Pkt> {
        let bytes = self.peek(now, ctx)?;
        let gathered = ((now - self.taken).nanos().min(self.rate.depth as u64)) as i64;
        let left = self.rate.left(gathered, bytes);
        let peak_left = self.peak.map_or(0, |peak| peak.left(gathered, bytes));
        let debt = -left.min(peak_left);
        if debt > 0 {
            self.ready = now + Duration::from_nanos(debt as u64);
            self.stats.overlimits += 1;
            return None;
        }
        let p = match self.peeked.take() {
            Some(p) => p,
            None => self.child.dequeue(now, ctx)?,
        };
        (self.taken, self.ready, self.rate.tokens) = (now, now, left);
        if let Some(peak) = &mut self.peak {
            peak.tokens = peak_left;
        }
        self.stats.sent(ctx.packets.get(p));
        Some(p)
    }

    /// Reports when to call `dequeue` next.
    #[inline]
    pub fn next(&self, now: Instant) -> NextSend {
        let child = if self.peeked.is_some() { NextSend::Now } else { self.child.next(now) };
        match child {
            NextSend::Now if now < self.ready => NextSend::At(self.ready),
            child => child,
        }
    }

    /// Number of packets and bytes queued.
    #[inline]
    pub fn backlog(&self) -> (u32, u64) {
        let (packets, bytes) = self.child.backlog();
        match self.peeked {
            Some(_) => (packets + 1, bytes + u64::from(self.peeked_bytes)),
            None => (packets, bytes),
        }
    }

    /// The common qdisc counters. Drops of the child are included.
    pub fn stats(&self) -> QdiscStats {
        QdiscStats { drops: self.refused + self.child.stats().drops, ..self.stats }
    }

    /// The child qdisc, which holds the packets.
    pub fn child(&self) -> &Qdisc {
        &self.child
    }
}

#[cfg(test)]
mod tests;
