//! Parts that break what must hold, and what the checks say of them.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::sync::atomic::{AtomicU32, Ordering};

use super::*;
use crate::aqm::law::{Law, Seen, Verdict};
use crate::qdisc::custom::{Discipline, DisciplineFactory, Room};
use crate::qdisc::{Enqueue, QdiscStats, Wake};
use crate::vocabulary::{Ac, Instant, PartFactory, Pkt, PktList, Reason, skb_len};
use crate::wifi::driver::{AirtimeUse, DeviceView, StationScheduler, scheduler_of};
use crate::wifi::tx::transmitter::{Attempt, TidIndex};

/// A queue of 20 packets with one fault.
#[derive(Debug)]
struct Queue {
    fault: &'static str,
    list: PktList,
    lost: (u32, u64),
    seen: u32,
    stats: QdiscStats,
    chance: Arc<AtomicU32>,
}

impl Discipline for Queue {
    fn enqueue(&mut self, _now: Instant, p: Pkt, room: &mut dyn Room) -> Enqueue {
        self.seen += 1;
        if self.list.packets() >= 20 {
            self.stats.drops += 1;
            room.drop(p, Reason::Overlimit);
            return if self.fault == "says queued" { Enqueue::Queued } else { Enqueue::Dropped };
        }
        let odd = self.seen.is_multiple_of(9);
        match self.fault {
            "loses" if odd => return Enqueue::Queued,
            "loses and lies" if odd => {
                self.lost = (self.lost.0 + 1, self.lost.1 + u64::from(skb_len(room.packet(p))));
                return Enqueue::Queued;
            }
            "drops by chance" if self.chance.fetch_add(1, Ordering::Relaxed) % 7 == 3 => {
                self.stats.drops += 1;
                room.drop(p, Reason::Law);
                return Enqueue::Dropped;
            }
            "last in, first out" => room.push_front(&mut self.list, p),
            "doubles" if odd => {
                self.stats.drops += 1;
                room.push(&mut self.list, p);
                room.drop(p, Reason::Law);
            }
            _ => room.push(&mut self.list, p),
        }
        match self.fault {
            "says dropped" if odd => Enqueue::Dropped,
            "says congested" if odd => Enqueue::Congested,
            _ => Enqueue::Queued,
        }
    }

    fn dequeue(&mut self, _now: Instant, room: &mut dyn Room) -> Option<Pkt> {
        self.seen += 1;
        if self.fault == "stalls" && self.seen.is_multiple_of(5) {
            return None;
        }
        let p = room.pop(&mut self.list)?;
        if self.fault == "does not count" {
            self.stats.packets += 1;
        } else {
            self.stats.sent(room.packet(p));
        }
        Some(p)
    }

    fn next(&self, now: Instant) -> Wake {
        match (self.fault, self.backlog().0) {
            ("wakes without packets", 0) => Wake::Now,
            (_, 0) => Wake::Never,
            ("sleeps", _) => Wake::Never,
            ("wakes too late", _) => Wake::At(now),
            _ => Wake::Now,
        }
    }

    fn backlog(&self) -> (u32, u64) {
        (self.list.packets() + self.lost.0, self.list.bytes() + self.lost.1)
    }

    fn stats(&self) -> QdiscStats {
        self.stats
    }
}

#[test]
fn disciplines_that_break_it() {
    for (fault, said) in [
        ("none", ""),
        ("loses", "its backlog is"),
        ("loses and lies", "it gave no packet and then said Wake::Now"),
        ("doubles", "it said Queued and dropped packet"),
        ("says queued", "it said Queued and dropped packet"),
        ("says dropped", "it said Dropped and did not drop packet"),
        ("says congested", "it said Congested for packet"),
        ("stalls", "it gave no packet and then said Wake::Now"),
        ("sleeps", "it said Wake::Never with 1 inside"),
        ("wakes without packets", "Wake::Now"),
        ("wakes too late", "which is not to come"),
        ("does not count", "it counts 0 bytes"),
        ("last in, first out", "came out behind a later one"),
        ("drops by chance", "it did otherwise when all was the same"),
    ] {
        let chance = Arc::new(AtomicU32::new(0));
        let own = DisciplineFactory::new(fault, "", move |_| {
            let (list, stats, chance) = (PktList::default(), QdiscStats::default(), Arc::clone(&chance));
            Box::new(Queue { fault, list, lost: (0, 0), seen: 0, stats, chance })
        });
        let came = discipline(&QdiscConfig::Custom(own.clone()), Order::Kept);
        match came {
            Ok(()) => assert_eq!(said, "", "{fault}"),
            Err(what) => assert!(!said.is_empty() && what.contains(said), "{fault}: {what}"),
        }
        if fault == "last in, first out" {
            assert_eq!(discipline(&QdiscConfig::Custom(own), Order::Any), Ok(()));
        }
    }
}

#[derive(Debug)]
struct Bad {
    fault: &'static str,
    shared: Arc<AtomicU32>,
}

impl Law for Bad {
    fn leaves(&mut self, seen: &Seen) -> Verdict {
        match self.fault {
            "drops everything" => Verdict::Drop,
            "shares" if self.shared.fetch_add(1, Ordering::Relaxed).is_multiple_of(7) => Verdict::Drop,
            // Only where a packet has waited for long.
            "panics" if seen.sojourn > ms(1_000) => panic!("an overflow"),
            _ => Verdict::Pass,
        }
    }
}

#[test]
fn laws_that_break_it() {
    for (fault, said) in [
        ("drops everything", "let 0 pass"),
        ("shares", "it did otherwise when all was the same"),
        ("panics", "it panicked: an overflow"),
    ] {
        let shared = Arc::new(AtomicU32::new(0));
        let own = LawFactory::new(fault, "", move |_| Box::new(Bad { fault, shared: Arc::clone(&shared) }));
        let what = law(&own).unwrap_err();
        assert!(what.contains(said), "{fault}: {what}");
    }
}

/// One aggregate each in turn, with one fault.
#[derive(Debug)]
struct Turns {
    fault: &'static str,
    inner: Box<dyn StationScheduler + Send>,
}

impl StationScheduler for Turns {
    fn schedule(&mut self, now: Instant, tid: TidIndex) {
        if self.fault != "forgets" || tid.peer().0 != 0 || tid.tid() != 3 {
            self.inner.schedule(now, tid);
        }
    }

    fn charge(&mut self, _now: Instant, _tid: TidIndex, _used: Duration, _kind: AirtimeUse) {}

    fn start(&mut self, ac: Ac) {
        self.inner.start(ac);
    }

    fn next(&mut self, now: Instant, ac: Ac, view: &DeviceView<'_>) -> Option<TidIndex> {
        match self.fault {
            "names anybody" => Some(TidIndex::new(crate::vocabulary::PeerId(0), ac.index() as u8)),
            "names strangers" => Some(TidIndex(1_000)),
            "names the idle" => {
                (0..8).map(|t| TidIndex::new(crate::vocabulary::PeerId(0), t)).find(|t| t.ac() == ac)
            }
            _ => self.inner.next(now, ac, view),
        }
    }

    fn done(&mut self, now: Instant, tid: TidIndex, attempt: Attempt, view: &DeviceView<'_>) -> bool {
        self.inner.done(now, tid, attempt, view) || self.fault == "goes on"
    }
}

#[test]
fn schedulers_that_break_it() {
    for (fault, said) in [
        ("none", ""),
        ("forgets", "identifier 3 of peer 0 has frames: nobody would look again"),
        ("names anybody", "it named identifier"),
        ("names strangers", "it named identifier number 1000, and there are"),
        ("names the idle", "which has no frames to send"),
        ("goes on", "a look does not end"),
    ] {
        let own = PartFactory::new(fault, "", move |peers| {
            let inner = scheduler_of(&Scheduler::RoundRobin(WhenFull::KeepsTurn), peers);
            Box::new(Turns { fault, inner }) as Box<dyn StationScheduler + Send>
        });
        match scheduler(&Scheduler::Custom(own)) {
            Ok(()) => assert_eq!(said, "", "{fault}"),
            Err(what) => assert!(!said.is_empty() && what.contains(said), "{fault}: {what}"),
        }
    }
}
