//! One limited queue with a user-defined AQM algorithm.

use super::{Enqueue, QdiscStats};
use crate::aqm::algorithm::{AqmAlgorithm, AqmFactory, Fate, Seen};
use crate::types::{Ctx, Duration, Instant, Pkt, PktList, PlaceId, RandomStream, Reason, Sink};
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// Parameters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AqmParams {
    /// Maximum number of packets.
    pub limit: u32,
    /// Factory of the AQM algorithm.
    pub aqm: AqmFactory,
}

/// A queue with a user-defined AQM algorithm.
#[derive(Debug)]
pub struct AqmQdisc {
    name: String,
    limit: u32,
    place: PlaceId,
    list: PktList,
    aqm: Box<dyn AqmAlgorithm + Send>,
    stats: QdiscStats,
    overlimit: u64,
    marks: u64,
}

impl AqmQdisc {
    /// Creates an empty queue. Drops are recorded at `place`. `stream` is the AQM's random stream.
    pub fn new(params: &AqmParams, place: PlaceId, stream: RandomStream) -> Self {
        Self {
            name: params.aqm.name().to_owned(),
            limit: params.limit,
            place,
            list: PktList::default(),
            aqm: params.aqm.make(stream),
            stats: QdiscStats::default(),
            overlimit: 0,
            marks: 0,
        }
    }

    /// Name of the AQM algorithm.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Appends the packet. Drops it if the limit is reached or the AQM rejects it.
    pub fn enqueue<S: Sink>(&mut self, now: Instant, p: Pkt, ctx: &mut Ctx<'_, S>) -> Enqueue {
        if self.list.packets() >= self.limit {
            self.overlimit += 1;
            self.aqm.overlimit(now, 1);
            return self.refuse(now, p, Reason::Overlimit, ctx);
        }
        let hot = ctx.packets.get_mut(p);
        let seen = Seen::new(now, hot, Duration::ZERO, self.backlog(), false);
        match self.aqm.arrives(&seen).apply(hot) {
            Fate::Passed => {}
            Fate::Marked => self.marks += 1,
            Fate::Dropped => return self.refuse(now, p, Reason::Aqm, ctx),
        }
        hot.t_enqueue = now;
        self.list.push(ctx.packets, p);
        Enqueue::Queued
    }

    fn refuse<S: Sink>(&mut self, now: Instant, p: Pkt, reason: Reason, ctx: &mut Ctx<'_, S>) -> Enqueue {
        self.stats.drops += 1;
        ctx.drop(now, p, reason, self.place);
        Enqueue::Dropped
    }

    /// Takes the next packet. The AQM may drop other packets first.
    pub fn dequeue<S: Sink>(&mut self, now: Instant, ctx: &mut Ctx<'_, S>) -> Option<Pkt> {
        while let Some(p) = self.list.pop(ctx.packets) {
            let hot = ctx.packets.get_mut(p);
            let seen = Seen::new(now, hot, now.saturating_since(hot.t_enqueue), self.backlog(), false);
            match self.aqm.leaves(&seen).apply(hot) {
                Fate::Passed => {}
                Fate::Marked => self.marks += 1,
                Fate::Dropped => {
                    self.stats.drops += 1;
                    ctx.drop(now, p, Reason::Aqm, self.place);
                    continue;
                }
            }
            self.stats.sent(hot);
            return Some(p);
        }
        self.aqm.empty(now);
        None
    }

    /// Number of packets and bytes queued.
    #[inline]
    pub fn backlog(&self) -> (u32, u64) {
        (self.list.packets(), self.list.bytes())
    }

    /// The common qdisc counters.
    pub fn stats(&self) -> QdiscStats {
        self.stats
    }

    /// Marks, drops at the limit, and the AQM's own counters.
    pub fn counters(&self) -> Vec<(&'static str, u64)> {
        let mut all = vec![("ecn_mark", self.marks), ("drop_overlimit", self.overlimit)];
        all.extend(self.aqm.counters());
        all
    }
}
