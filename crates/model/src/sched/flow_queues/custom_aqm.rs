//! User-defined AQMs instead of CoDel: one instance per queue, created in advance.

use super::{FlowQueues, Queue, TinId, UNBOUND, View};
use crate::aqm::algorithm::{AqmAlgorithm, AqmFactory, Fate, Seen};
use crate::aqm::codel::{CodelQueue, CodelStats};
use crate::sched::drr::Member;
use crate::types::{Ctx, Duration, Instant, Pkt, RandomStream, Reason, Sink, skb_len};

impl FlowQueues {
    /// Puts this AQM on each queue. Use [`FlowQueues::enqueue_by_aqm`] and [`FlowQueues::dequeue_by_aqm`]
    /// then. Each instance has its own random stream.
    #[must_use]
    pub fn with_aqm(mut self, aqm: &AqmFactory, mut stream: RandomStream) -> Self {
        self.aqms = (0..self.kept.len()).map(|_| aqm.make(stream.split())).collect();
        self
    }

    /// Returns true if user-defined AQMs replace CoDel.
    #[inline]
    pub fn has_custom_aqm(&self) -> bool {
        !self.aqms.is_empty()
    }

    /// The queue that a packet of this tin and flow hash joins now.
    fn queue_for(&self, tin: TinId, flow_hash: u32) -> Queue {
        let id = self.queue_of(flow_hash);
        let owner = self.find(id).map_or(UNBOUND, |kept| self.queues[kept].tin);
        if owner == UNBOUND || owner == tin.0 { id } else { self.overflow_queue(tin) }
    }

    /// Like [`FlowQueues::enqueue`], after the AQM of the packet's queue has accepted it. Returns `None` if
    /// the AQM dropped the packet.
    pub fn enqueue_by_aqm<S: Sink>(
        &mut self,
        now: Instant,
        tin: TinId,
        slow: bool,
        p: Pkt,
        ctx: &mut Ctx<'_, S>,
    ) -> Option<Queue> {
        let hot = ctx.packets.get_mut(p);
        let id = self.queue_for(tin, hot.flow_hash);
        let list = self.find(id).map(|kept| &self.queues[kept].list);
        let queued = list.map_or((0, 0), |list| (list.packets(), list.bytes()));
        let seen = Seen::new(now, hot, Duration::ZERO, queued, slow);
        match self.aqms[id.index()].arrives(&seen).apply(hot) {
            Fate::Passed => {}
            Fate::Marked => self.codel_stats[tin.index()].ecn_mark += 1,
            Fate::Dropped => {
                let stats = &mut self.codel_stats[tin.index()];
                stats.drop_count += 1;
                stats.drop_len += u64::from(skb_len(hot));
                ctx.drop(now, p, Reason::Aqm, self.place);
                return None;
            }
        }
        Some(self.enqueue(now, tin, p, ctx))
    }

    /// Takes the next packet of a tin. The AQMs may drop other packets first. Their drops and marks are added
    /// to CoDel's counters.
    pub fn dequeue_by_aqm<S: Sink>(
        &mut self,
        now: Instant,
        tin: TinId,
        slow: bool,
        ctx: &mut Ctx<'_, S>,
    ) -> Option<Pkt> {
        loop {
            let t = &mut self.tins[tin.index()];
            let (id, _) = self.queues.next(&mut t.rounds, i64::from(self.params.quantum))?;
            let number = self.queues[id].number as usize;
            let mut aqms = core::mem::take(&mut self.aqms);
            let (mut view, _, stats) = self.view(now, id, ctx);
            let came = view.dequeue_by(&mut *aqms[number], slow, stats);
            self.aqms = aqms;
            if let Some(p) = came {
                self.queues.charge(id, i64::from(skb_len(ctx.packets.get(p))));
                return Some(p);
            }
            self.leave_empty(tin, id);
        }
    }

    /// Notifies a queue's AQM of packets dropped over a limit.
    #[cold]
    pub(crate) fn tell_aqm(&mut self, now: Instant, id: Member, packets: u32) {
        self.aqms[id.index()].overlimit(now, packets);
    }
}

impl<S: Sink> View<'_, '_, S> {
    /// Takes the next packet that the AQM passes.
    fn dequeue_by(
        &mut self,
        aqm: &mut (dyn AqmAlgorithm + Send),
        slow: bool,
        stats: &mut CodelStats,
    ) -> Option<Pkt> {
        while let Some(p) = self.pop() {
            let queued = (self.list.packets(), self.backlog());
            let hot = self.ctx.packets.get_mut(p);
            let seen = Seen::new(self.now, hot, self.now.saturating_since(hot.t_enqueue), queued, slow);
            stats.maxpacket = stats.maxpacket.max(seen.bytes);
            match aqm.leaves(&seen).apply(hot) {
                Fate::Passed => {}
                Fate::Marked => stats.ecn_mark += 1,
                Fate::Dropped => {
                    stats.drop_count += 1;
                    stats.drop_len += u64::from(seen.bytes);
                    self.ctx.drop(self.now, p, Reason::Aqm, self.place);
                    continue;
                }
            }
            return Some(p);
        }
        aqm.empty(self.now);
        None
    }
}
