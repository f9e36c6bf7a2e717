//! An interface's transmit queues: a queueing discipline each, the slot for a packet that the device turned down, and
//! the loop that feeds the device.

use crate::qdisc::{Enqueue, Qdisc, QdiscConfig};
use crate::vocabulary::{Ac, Ctx, Instant, Pkt, PlaceId, Sink, Stream};

/// The device below an interface, as its transmit queues see it.
pub trait Port<S> {
    /// Whether packets of this category are to be held back.
    fn is_stopped(&self, ac: Ac) -> bool;
    /// Takes a packet; always accepted.
    fn push(&mut self, now: Instant, p: Pkt, ctx: &mut Ctx<'_, S>);
}

/// Packets handed to the device in one run before others have their turn.
// linux: net/core/dev.c weight_p (4.4).
const QUOTA: u32 = 64;

/// One transmit queue.
#[derive(Debug)]
pub struct TxQueue {
    qdisc: Qdisc,
    /// The device queue that it feeds, if only one.
    only: Option<Ac>,
    /// A packet that came out of the discipline when the device's queue for it was stopped.
    // linux: net/sched/sch_generic.c dequeue_skb (4.4) - it is tried first next time; everything behind it waits.
    requeue: Option<Pkt>,
}

impl TxQueue {
    /// Queues a packet.
    #[inline]
    pub fn enqueue<S: Sink>(&mut self, now: Instant, p: Pkt, ctx: &mut Ctx<'_, S>) -> Enqueue {
        self.qdisc.enqueue(now, p, ctx)
    }

    /// Feeds the device; true if the quota was used up and there may be more.
    // linux: net/sched/sch_generic.c __qdisc_run, dequeue_skb (4.4) - a discipline that feeds one device queue is not
    // asked while that is stopped; one that feeds several has to look at the packet first.
    pub fn run<S: Sink>(&mut self, now: Instant, port: &mut impl Port<S>, ctx: &mut Ctx<'_, S>) -> bool {
        for _ in 0..QUOTA {
            if self.only.is_some_and(|ac| port.is_stopped(ac)) {
                return false;
            }
            let Some(p) = self.requeue.take().or_else(|| self.qdisc.dequeue(now, ctx)) else { return false };
            if port.is_stopped(Ac::of_tid(ctx.packets.get(p).tid)) {
                self.requeue = Some(p);
                return false;
            }
            port.push(now, p, ctx);
        }
        true
    }

    /// Packets in the discipline and in the requeue slot.
    pub fn held(&self) -> u64 {
        u64::from(self.qdisc.backlog().0) + u64::from(self.requeue.is_some())
    }

    /// The discipline.
    pub fn qdisc(&self) -> &Qdisc {
        &self.qdisc
    }
}

/// Which device queues the disciplines of an interface feed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Layout {
    /// A wired device with one queue.
    OneQueue,
    /// A Wi-Fi device, one discipline for each category (`mq`).
    Mq,
    /// A Wi-Fi device, a single root discipline for all categories.
    Root,
}

/// An interface's transmit side.
#[derive(Debug)]
pub struct TxQueues {
    /// None with `noqueue`; one that serves all categories; or one for each (`mq`).
    queues: Vec<TxQueue>,
}

impl TxQueues {
    /// The queues that `config` asks for. Drops are booked at `place`.
    pub fn new(config: &QdiscConfig, layout: Layout, place: PlaceId, stream: &mut Stream) -> Self {
        let fed: &[Option<Ac>] = match layout {
            Layout::OneQueue => &[Some(Ac::Be)],
            Layout::Mq => &[Some(Ac::Vo), Some(Ac::Vi), Some(Ac::Be), Some(Ac::Bk)],
            Layout::Root => &[None],
        };
        let one = |&only: &Option<Ac>| {
            Qdisc::new(config, place, stream).map(|qdisc| TxQueue { qdisc, only, requeue: None })
        };
        Self { queues: fed.iter().filter_map(one).collect() }
    }

    /// The queue for a category, or `None` if packets go straight to the device.
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

    /// Packets in all queues.
    pub fn held(&self) -> u64 {
        self.queues.iter().map(TxQueue::held).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fair::testing::Bench;
    use crate::qdisc::pfifo_fast::PfifoFastParams;
    use crate::vocabulary::Seed;

    /// A device that takes note of what it is given, and stops categories.
    #[derive(Default)]
    struct Device {
        stopped: Vec<Ac>,
        got: Vec<u32>,
    }

    impl<S> Port<S> for Device {
        fn is_stopped(&self, ac: Ac) -> bool {
            self.stopped.contains(&ac)
        }
        fn push(&mut self, _: Instant, p: Pkt, ctx: &mut Ctx<'_, S>) {
            self.got.push(ctx.packets.get(p).seq);
        }
    }

    fn queues(layout: Layout) -> TxQueues {
        let config = QdiscConfig::PfifoFast(PfifoFastParams::default());
        TxQueues::new(&config, layout, PlaceId(0), &mut Seed { seed: 1, run: 0 }.stream("test"))
    }

    /// Queues packets of these categories, numbered in this order.
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
    fn a_stopped_category_blocks_a_root_and_no_other_of_mq() {
        let acs = [Ac::Vo, Ac::Bk, Ac::Vo];
        for (layout, first) in [(Layout::Root, vec![0]), (Layout::Mq, vec![0, 2])] {
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
    fn a_run_ends_at_its_quota() {
        let (mut q, mut b, mut device) = (queues(Layout::OneQueue), Bench::new(), Device::default());
        fill(&mut q, &mut b, &[Ac::Be; 70]);
        assert!(run(&mut q, &mut b, Ac::Be, &mut device));
        assert_eq!((device.got.len(), q.held()), (64, 6));
        assert!(!run(&mut q, &mut b, Ac::Be, &mut device));
        assert_eq!(device.got, (0..70).collect::<Vec<_>>());
    }

    #[test]
    fn without_a_discipline_there_is_no_queue() {
        let mut stream = Seed { seed: 1, run: 0 }.stream("test");
        let mut q = TxQueues::new(&QdiscConfig::Noqueue, Layout::Root, PlaceId(0), &mut stream);
        assert!(q.queue_of(Ac::Be).is_none());
        assert_eq!(q.held(), 0);
    }
}
