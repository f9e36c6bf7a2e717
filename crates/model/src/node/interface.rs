//! The transmit queues of an interface. Each has a qdisc, a list of requeued packets, and the loop that feeds
//! the device.

use crate::offload::gso;
use crate::qdisc::{self, Enqueue, NextSend, Qdisc, QdiscConfig, QdiscStats};
use crate::types::{Ac, Ctx, Instant, Pkt, PktList, PlaceId, RandomStream, Reason, Sink};
use alloc::vec::Vec;

/// The device below an interface, as seen by its transmit queues.
pub trait Port<S> {
    /// Returns true if the device queue of this access category is stopped.
    fn is_stopped(&self, ac: Ac) -> bool;
    /// Returns true if the device accepts packets of several segments (GSO).
    fn takes_gso(&self) -> bool;
    /// Hands a packet to the device, which always accepts it.
    fn push(&mut self, now: Instant, p: Pkt, ctx: &mut Ctx<'_, S>);
}

/// Packets handed to the device in one run before other work gets its turn.
// linux: net/core/dev.c weight_p (4.4).
const QUOTA: u32 = 64;

/// One transmit queue.
#[derive(Debug)]
pub struct TxQueue {
    qdisc: Qdisc,
    /// The device queue that it feeds. `None` if it feeds several.
    only: Option<Ac>,
    /// Packets dequeued from the qdisc while their device queue was stopped: one packet, or its remaining
    /// segments.
    // linux: net/sched/sch_generic.c dequeue_skb (4.4) - tries them first next time; everything behind them
    // waits.
    requeue: PktList,
    requeues: u64,
    /// Time until which no enqueue can make the qdisc release a packet.
    held_until: Instant,
}

impl TxQueue {
    /// Queues a packet and feeds the device. The second result is as in [`TxQueue::run`]. Packets that bypass
    /// an empty qdisc go straight to the device.
    // linux: net/core/dev.c __dev_xmit_skb (4.4).
    // deviation: no bypass while the device queue is stopped - the kernel keeps such a packet in front of the
    // qdisc, where no other can overtake it.
    #[inline(always)]
    pub fn send<S: Sink>(
        &mut self,
        now: Instant,
        p: Pkt,
        port: &mut impl Port<S>,
        ctx: &mut Ctx<'_, S>,
    ) -> (Enqueue, bool) {
        let hot = ctx.packets.get(p);
        let at_once = self.requeue.is_empty()
            && !port.is_stopped(Ac::of_tid(hot.tid))
            && (hot.segs == 1 || port.takes_gso());
        if at_once && self.qdisc.pass(hot) {
            port.push(now, p, ctx);
            return (Enqueue::Queued, false);
        }
        let answer = self.qdisc.enqueue(now, p, ctx);
        (answer, self.run(now, port, ctx))
    }

    /// Returns true if enqueuing a packet now releases none and does not move the watchdog.
    #[inline(always)]
    pub fn holds(&self, now: Instant) -> bool {
        self.held_until > now && self.requeue.is_empty()
    }

    /// Queues a packet while [`TxQueue::holds`] is true. Unless the result is `Queued`, the caller must read
    /// the watchdog again.
    #[inline]
    pub fn enqueue<S: Sink>(&mut self, now: Instant, p: Pkt, ctx: &mut Ctx<'_, S>) -> Enqueue {
        self.qdisc.enqueue(now, p, ctx)
    }

    /// Feeds the device. Returns true if the quota was used up and packets may be left.
    // linux: net/sched/sch_generic.c __qdisc_run, dequeue_skb (4.4) - does not dequeue from a qdisc whose
    // only device queue is stopped; a qdisc that feeds several must dequeue a packet to know its queue.
    #[inline]
    pub fn run<S: Sink>(&mut self, now: Instant, port: &mut impl Port<S>, ctx: &mut Ctx<'_, S>) -> bool {
        for _ in 0..QUOTA {
            if self.only.is_some_and(|ac| port.is_stopped(ac)) {
                return false;
            }
            let next = if self.requeue.is_empty() {
                self.qdisc.dequeue(now, ctx)
            } else {
                self.requeue.pop(ctx.packets)
            };
            let Some(mut p) = next else { return false };
            let hot = ctx.packets.get(p);
            let ac = Ac::of_tid(hot.tid);
            if hot.segs > 1 && !port.takes_gso() {
                p = self.segment(now, p, ctx);
            }
            if port.is_stopped(ac) {
                self.requeue.push_front(ctx.packets, p);
                self.requeues += 1;
                return false;
            }
            port.push(now, p, ctx);
        }
        true
    }

    /// Splits a packet for a device without GSO. Returns the first segment; the others wait in the requeue
    /// list.
    // linux: net/core/dev.c validate_xmit_skb (4.4) - splits between the qdisc, which counts the packet once,
    // and the device.
    fn segment<S: Sink>(&mut self, now: Instant, p: Pkt, ctx: &mut Ctx<'_, S>) -> Pkt {
        gso::split_by(now, p, ctx, |ctx, segment| self.requeue.push(ctx.packets, segment));
        self.requeue.pop(ctx.packets).expect("at least two segments")
    }

    /// The qdisc's watchdog: time of the next dequeue if the qdisc holds packets back.
    #[inline]
    pub fn watchdog(&mut self, now: Instant) -> Option<Instant> {
        let at = match self.qdisc.next(now) {
            NextSend::At(at) if self.qdisc.holds_back() => Some(at),
            _ => None,
        };
        self.held_until = at.filter(|_| self.qdisc.holds_back_all()).unwrap_or(Instant::ZERO);
        at
    }

    /// Number of packets in the qdisc and in the requeue list.
    pub fn held(&self) -> u64 {
        u64::from(self.qdisc.backlog().0) + u64::from(self.requeue.packets())
    }

    /// Packets and bytes in the qdisc and in the requeue list, as `tc -s qdisc` counts them.
    pub fn backlog(&self) -> (u64, u64) {
        let (packets, bytes) = self.qdisc.backlog();
        (u64::from(packets) + u64::from(self.requeue.packets()), bytes + self.requeue.bytes())
    }

    /// Counters of the qdisc. Requeues include packets that a stopped device queue returned.
    pub fn stats(&self) -> QdiscStats {
        let stats = self.qdisc.stats();
        QdiscStats { requeues: stats.requeues + self.requeues, ..stats }
    }

    /// The qdisc.
    pub fn qdisc(&self) -> &Qdisc {
        &self.qdisc
    }
}

/// Mapping of an interface's qdiscs to device queues.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QueueLayout {
    /// A wired device with one queue.
    OneQueue,
    /// A Wi-Fi device with one qdisc per access category (`mq`).
    Mq,
    /// A Wi-Fi device with one root qdisc for all access categories.
    Root,
}

/// An interface's transmit side.
#[derive(Debug)]
pub struct TxQueues {
    /// Empty with `noqueue`; one queue for all categories; or one per category (`mq`).
    queues: Vec<TxQueue>,
    place: PlaceId,
}

impl TxQueues {
    /// Creates the queues for `config`. Drops are recorded at `place`.
    pub fn new(config: &QdiscConfig, layout: QueueLayout, place: PlaceId, stream: &mut RandomStream) -> Self {
        let fed: &[Option<Ac>] = match layout {
            QueueLayout::OneQueue => &[Some(Ac::Be)],
            QueueLayout::Mq => &[Some(Ac::Vo), Some(Ac::Vi), Some(Ac::Be), Some(Ac::Bk)],
            QueueLayout::Root => &[None],
        };
        let one = |&only: &Option<Ac>| {
            let queue = |qdisc| TxQueue {
                qdisc,
                only,
                requeue: PktList::default(),
                requeues: 0,
                held_until: Instant::ZERO,
            };
            Qdisc::new(config, place, stream).map(queue)
        };
        Self { queues: fed.iter().filter_map(one).collect(), place }
    }

    /// Changes the parameters of the qdiscs from `from` to `to`. Returns false if [`Qdisc::change`] cannot.
    // linux: net/sched/sch_api.c tc_modify_qdisc (6.12) - `tc qdisc replace` with the same kind changes the
    // existing qdisc.
    pub fn change(&mut self, from: &QdiscConfig, to: &QdiscConfig) -> bool {
        let changed = self.queues.iter_mut().all(|queue| queue.qdisc.change(from, to));
        if changed {
            self.queues.iter_mut().for_each(|queue| queue.held_until = Instant::ZERO);
        }
        changed
    }

    /// Replaces the qdiscs, and drops the packets in the old ones. `config` must define as many qdiscs as
    /// there are now.
    // linux: net/sched/sch_generic.c qdisc_reset (6.12) - frees requeued packets too.
    // deviation: options that [`Qdisc::change`] cannot change create an empty qdisc - `tc qdisc change` keeps
    // packets and counters.
    pub fn replace<S: Sink>(
        &mut self,
        now: Instant,
        config: &QdiscConfig,
        stream: &mut RandomStream,
        ctx: &mut Ctx<'_, S>,
    ) {
        let place = self.place;
        for queue in &mut self.queues {
            let Some(new) = Qdisc::new(config, place, stream) else { continue };
            let mut old = core::mem::replace(&mut queue.qdisc, new);
            while let Some(p) = queue.requeue.pop(ctx.packets) {
                ctx.drop(now, p, Reason::Replaced, place);
            }
            (queue.requeues, queue.held_until) = (0, Instant::ZERO);
            qdisc::empty(&mut old, now, place, ctx);
        }
    }

    /// Index of the queue for an access category.
    #[inline]
    pub fn index_of(&self, ac: Ac) -> usize {
        if self.queues.len() > 1 { ac.index() } else { 0 }
    }

    /// The queue for an access category. `None` if packets go straight to the device (`noqueue`).
    #[inline]
    pub fn queue_of(&mut self, ac: Ac) -> Option<&mut TxQueue> {
        match self.queues.as_mut_slice() {
            [] => None,
            [root] => Some(root),
            per_category => Some(&mut per_category[ac.index()]),
        }
    }

    /// All queues.
    pub fn iter(&self) -> impl Iterator<Item = &TxQueue> {
        self.queues.iter()
    }

    /// Number of packets in all queues.
    pub fn held(&self) -> u64 {
        self.queues.iter().map(TxQueue::held).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qdisc::Xstats;
    use crate::qdisc::fifo::FifoParams;
    use crate::qdisc::fq_codel::FqCodelParams;
    use crate::qdisc::pfifo_fast::PfifoFastParams;
    use crate::sched::testing::Bench;
    use crate::types::Seed;
    use alloc::vec;

    /// A device that records its packets and can stop categories.
    #[derive(Default)]
    struct Device {
        stopped: Vec<Ac>,
        got: Vec<u32>,
        gso: bool,
        /// Packets accepted before the device stops everything.
        room: Option<usize>,
    }

    impl<S> Port<S> for Device {
        fn is_stopped(&self, ac: Ac) -> bool {
            self.stopped.contains(&ac) || self.room == Some(self.got.len())
        }
        fn takes_gso(&self) -> bool {
            self.gso
        }
        fn push(&mut self, _: Instant, p: Pkt, ctx: &mut Ctx<'_, S>) {
            self.got.push(ctx.packets.get(p).seq);
        }
    }

    fn queues(layout: QueueLayout) -> TxQueues {
        let config = QdiscConfig::PfifoFast(PfifoFastParams::default());
        TxQueues::new(&config, layout, PlaceId(0), &mut Seed { seed: 1, run: 0 }.stream("test"))
    }

    /// Enqueues packets of these categories, numbered in order.
    fn fill(q: &mut TxQueues, b: &mut Bench, acs: &[Ac]) {
        for (n, &ac) in acs.iter().enumerate() {
            let p = b.packet(n as u32, 1500);
            b.packets.get_mut(p).tid = [6, 4, 0, 1][ac.index()];
            let queue = q.queue_of(ac).expect("a discipline");
            assert_eq!(queue.enqueue(Instant::ZERO, p, &mut b.ctx()), Enqueue::Queued);
        }
    }

    fn run(q: &mut TxQueues, b: &mut Bench, ac: Ac, device: &mut Device) -> bool {
        q.queue_of(ac).expect("a discipline").run(Instant::ZERO, device, &mut b.ctx())
    }

    #[test]
    fn a_stopped_category_blocks_a_root_qdisc_but_not_mq() {
        let acs = [Ac::Vo, Ac::Bk, Ac::Vo];
        for (layout, first) in [(QueueLayout::Root, vec![0]), (QueueLayout::Mq, vec![0, 2])] {
            let (mut q, mut b) = (queues(layout), Bench::new());
            fill(&mut q, &mut b, &acs);
            let mut device = Device { stopped: vec![Ac::Bk], ..Device::default() };
            assert!(!Ac::ALL.into_iter().any(|ac| run(&mut q, &mut b, ac, &mut device)));
            assert_eq!((&device.got, q.held()), (&first, 3 - first.len() as u64));
            device.stopped.clear();
            assert!(!run(&mut q, &mut b, Ac::Bk, &mut device));
            device.got.sort_unstable();
            assert_eq!((device.got, q.held()), (vec![0, 1, 2], 0));
        }
    }

    #[test]
    fn segments_are_split_above_a_device_without_gso_and_wait_one_by_one() {
        for gso in [true, false] {
            let (mut q, mut b) = (queues(QueueLayout::OneQueue), Bench::new());
            fill(&mut q, &mut b, &[Ac::Be; 2]);
            let big = b.packet(2, 9000);
            b.packets.get_mut(big).segs = 6;
            let queue = q.queue_of(Ac::Be).expect("a discipline");
            assert_eq!(queue.enqueue(Instant::ZERO, big, &mut b.ctx()), Enqueue::Queued);
            // The qdisc counts the packet once, with a header for each segment.
            assert_eq!(queue.backlog(), (3, 2 * 1514 + 9000 + 6 * 14));
            let mut device = Device { gso, room: Some(4), ..Device::default() };
            assert!(!run(&mut q, &mut b, Ac::Be, &mut device));
            // The charge belongs to the last segment, which waits.
            let queue = q.queue_of(Ac::Be).expect("a discipline");
            let left = if gso { (3, 0, 0) } else { (4, 4, 4 * 1514) };
            assert_eq!((device.got.len(), queue.held(), queue.backlog().1), (left.0, left.1, left.2));
            device.room = None;
            run(&mut q, &mut b, Ac::Be, &mut device);
            assert_eq!(device.got, if gso { vec![0, 1, 2] } else { vec![0, 1, 2, 2, 2, 2, 2, 2] });
            assert_eq!(q.held(), 0);
        }
    }

    #[test]
    fn packets_of_a_stopped_device_count_as_requeued() {
        let (mut q, mut b) = (queues(QueueLayout::Root), Bench::new());
        fill(&mut q, &mut b, &[Ac::Be, Ac::Be]);
        let mut device = Device { stopped: vec![Ac::Be], ..Device::default() };
        for _ in 0..3 {
            run(&mut q, &mut b, Ac::Be, &mut device);
        }
        let queue = q.iter().next().expect("a discipline");
        assert_eq!((queue.stats().requeues, queue.stats().packets, queue.backlog().0), (3, 1, 2));
    }

    #[test]
    fn a_bypassing_packet_counts_as_sent_but_not_as_a_flow() {
        let config = QdiscConfig::FqCodel(FqCodelParams::default());
        let mut stream = Seed { seed: 1, run: 0 }.stream("test");
        let mut q = TxQueues::new(&config, QueueLayout::Mq, PlaceId(0), &mut stream);
        let (mut b, mut device) = (Bench::new(), Device::default());
        let queue = q.queue_of(Ac::Be).expect("a discipline");
        // The device queue is stopped for packet 2, the only one that becomes a flow.
        for (n, stopped) in [(0, false), (1, false), (2, true), (3, false), (4, false)] {
            device.stopped = if stopped { vec![Ac::Be] } else { Vec::new() };
            let p = b.packet(n, 1500);
            assert_eq!(queue.send(Instant::ZERO, p, &mut device, &mut b.ctx()), (Enqueue::Queued, false));
        }
        let Xstats::FqCodel(xstats) = queue.qdisc().xstats() else { panic!("not fq_codel") };
        assert_eq!((device.got, queue.stats().packets, xstats.new_flow_count), (vec![0, 1, 2, 3, 4], 5, 1));
    }

    #[test]
    fn bypassing_a_plain_queue_equals_passing_through_it() {
        // The device alternates between free and stopped; packets have one segment or six.
        let fifo = QdiscConfig::Fifo(FifoParams::Packets(2));
        for config in [fifo, QdiscConfig::PfifoFast(PfifoFastParams::default())] {
            let outcome = |passes: bool| {
                let mut stream = Seed { seed: 1, run: 0 }.stream("test");
                let mut q = TxQueues::new(&config, QueueLayout::Mq, PlaceId(0), &mut stream);
                let (mut b, mut device) = (Bench::new(), Device::default());
                let mut answers = Vec::new();
                for n in 0..40 {
                    device.stopped = if n / 5 % 2 == 1 { vec![Ac::Be] } else { Vec::new() };
                    let p = b.packet(n, 1500);
                    b.packets.get_mut(p).segs = if n % 3 == 0 { 6 } else { 1 };
                    let queue = q.queue_of(Ac::Be).expect("a discipline");
                    let ctx = &mut b.ctx();
                    answers.push(if passes {
                        queue.send(Instant::ZERO, p, &mut device, ctx)
                    } else {
                        let answer = queue.enqueue(Instant::ZERO, p, ctx);
                        (answer, queue.run(Instant::ZERO, &mut device, ctx))
                    });
                }
                let queue = q.queue_of(Ac::Be).expect("a discipline");
                (answers, device.got, queue.backlog(), queue.stats())
            };
            assert_eq!(outcome(true), outcome(false));
        }
    }

    #[test]
    fn a_run_ends_at_its_quota() {
        let (mut q, mut b, mut device) = (queues(QueueLayout::OneQueue), Bench::new(), Device::default());
        fill(&mut q, &mut b, &[Ac::Be; 70]);
        assert!(run(&mut q, &mut b, Ac::Be, &mut device));
        assert_eq!((device.got.len(), q.held()), (64, 6));
        assert!(!run(&mut q, &mut b, Ac::Be, &mut device));
        assert_eq!(device.got, (0..70).collect::<Vec<_>>());
    }

    #[test]
    fn noqueue_has_no_queue() {
        let mut stream = Seed { seed: 1, run: 0 }.stream("test");
        let mut q = TxQueues::new(&QdiscConfig::Noqueue, QueueLayout::Root, PlaceId(0), &mut stream);
        assert!(q.queue_of(Ac::Be).is_none());
        assert_eq!(q.held(), 0);
    }
}
