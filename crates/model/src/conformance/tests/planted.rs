//! Parts that violate a requirement, and the messages of the checks.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::sync::atomic::{AtomicU32, Ordering};

use super::*;
use crate::aqm::algorithm::{AqmAlgorithm, Seen, Verdict};
use crate::qdisc::custom::{Discipline, DisciplineFactory, Room};
use crate::qdisc::{Enqueue, NextSend, QdiscStats};
use crate::types::{Ac, Instant, PartFactory, Pkt, PktList, Reason, skb_len};
use crate::wifi::driver::{AirtimeUse, DeviceView, StationScheduler, scheduler_of};
use crate::wifi::tx::transmitter::{Attempt, TidIndex};

/// A queue of 20 packets with one fault.
#[derive(Debug)]
struct Queue {
    fault: &'static str,
    list: PktList,
    lost: (u32, u64),
    last: Option<Pkt>,
    seen: u32,
    stats: QdiscStats,
    chance: Arc<AtomicU32>,
}

impl Discipline for Queue {
    fn enqueue(&mut self, _now: Instant, p: Pkt, room: &mut dyn Room) -> Enqueue {
        self.seen += 1;
        if self.fault == "gives up" && self.seen == 100 {
            panic!("no more");
        }
        if self.list.packets() >= 20 {
            self.stats.drops += u64::from(self.fault != "does not count drops");
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
                room.drop(p, Reason::Aqm);
                return Enqueue::Dropped;
            }
            "last in, first out" => room.push_front(&mut self.list, p),
            "doubles" if odd => {
                self.stats.drops += 1;
                room.push(&mut self.list, p);
                room.drop(p, Reason::Aqm);
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
        if self.fault == "gives twice"
            && let Some(last) = self.last.take()
        {
            return Some(last);
        }
        if self.fault == "never comes" && self.seen > 500 {
            return None;
        }
        let p = room.pop(&mut self.list)?;
        self.last = Some(p);
        if self.fault == "drops and gives" && self.seen.is_multiple_of(9) {
            room.drop(p, Reason::Aqm);
            return Some(p);
        }
        if self.fault == "counts packets" {
            self.stats.bytes += u64::from(skb_len(room.packet(p)));
            self.stats.packets += 1;
            return Some(p);
        }
        if self.fault == "does not count" {
            self.stats.packets += 1;
        } else {
            self.stats.sent(room.packet(p));
        }
        Some(p)
    }

    fn next(&self, now: Instant) -> NextSend {
        match (self.fault, self.backlog().0) {
            ("wakes without packets", 0) => NextSend::Now,
            ("wakes later without packets", 0) => NextSend::At(now + ms(1)),
            (_, 0) => NextSend::Never,
            ("sleeps", _) => NextSend::Never,
            ("wakes too late", _) => NextSend::At(now),
            ("never comes", _) if self.seen > 500 => NextSend::At(now + ms(1)),
            _ => NextSend::Now,
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
fn faulty_disciplines_are_detected() {
    for (fault, said) in [
        ("none", ""),
        ("loses", "its backlog is"),
        ("loses and lies", "it gave no packet and then said NextSend::Now"),
        ("doubles", "it said Queued and dropped packet"),
        ("says queued", "it said Queued and dropped packet"),
        ("says dropped", "it said Dropped and did not drop packet"),
        ("says congested", "it said Congested for packet"),
        ("stalls", "it gave no packet and then said NextSend::Now"),
        ("sleeps", "it said NextSend::Never with 1 inside"),
        ("wakes without packets", "NextSend::Now"),
        ("wakes too late", "which is not to come"),
        ("does not count", "it counts 0 bytes"),
        ("does not count drops", "it counts 0 drops, and there were 1"),
        ("counts packets", "segments in packets, and there were"),
        ("gives twice", "it gave a packet that it does not hold"),
        ("drops and gives", "it gave a packet that it does not hold"),
        ("never comes", "packets did not come out in"),
        ("wakes later without packets", "with nothing inside"),
        ("gives up", "it panicked: no more"),
        ("last in, first out", "came out behind a later one"),
        ("drops by chance", "it did otherwise when all was the same"),
    ] {
        let chance = Arc::new(AtomicU32::new(0));
        let own = DisciplineFactory::new(fault, "", move |_| {
            let (list, stats, chance) = (PktList::default(), QdiscStats::default(), Arc::clone(&chance));
            Box::new(Queue { fault, list, lost: (0, 0), last: None, seen: 0, stats, chance })
        });
        let came = discipline(&QdiscConfig::Custom(own.clone()), ServiceOrder::Kept);
        match came {
            Ok(()) => assert_eq!(said, "", "{fault}"),
            Err(what) => assert!(!said.is_empty() && what.contains(said), "{fault}: {what}"),
        }
        if fault == "last in, first out" {
            assert_eq!(discipline(&QdiscConfig::Custom(own), ServiceOrder::Any), Ok(()));
        }
    }
}

#[derive(Debug)]
struct Bad {
    fault: &'static str,
    shared: Arc<AtomicU32>,
}

impl AqmAlgorithm for Bad {
    fn overlimit(&mut self, _now: Instant, _packets: u32) {
        assert!(self.fault != "breaks at a limit", "no limit");
    }

    fn leaves(&mut self, seen: &Seen) -> Verdict {
        match self.fault {
            "drops everything" => Verdict::Drop,
            // Two queues share a counter.
            "shares in order" if self.shared.fetch_add(1, Ordering::Relaxed).is_multiple_of(7) => {
                Verdict::Drop
            }
            "shares" if self.shared.fetch_add(1, Ordering::Relaxed).is_multiple_of(7) => Verdict::Drop,
            // Only after a long sojourn time.
            "panics" if seen.sojourn > ms(1_000) => panic!("an overflow"),
            _ => Verdict::Pass,
        }
    }
}

#[test]
fn faulty_aqms_are_detected() {
    for (fault, said) in [
        ("drops everything", "let 0 pass"),
        ("shares", "it did otherwise when all was the same"),
        ("shares in order", "it did otherwise beside an AQM of another queue"),
        ("panics", "it panicked: an overflow"),
        ("breaks at a limit", "on a short queue: script 0, step"),
    ] {
        let shared = Arc::new(AtomicU32::new(0));
        let own = AqmFactory::new(fault, "", move |_| {
            if fault == "shares in order" {
                shared.store(0, Ordering::Relaxed);
            }
            Box::new(Bad { fault, shared: Arc::clone(&shared) })
        });
        let what = aqm(&own).unwrap_err();
        assert!(what.contains(said), "{fault}: {what}");
    }
}

/// A scheduler that gives each TID one aggregate in turn, with one fault.
#[derive(Debug)]
struct Turns {
    fault: &'static str,
    inner: Box<dyn StationScheduler + Send>,
    turns: u32,
}

impl StationScheduler for Turns {
    fn schedule(&mut self, now: Instant, tid: TidIndex) {
        if self.fault != "forgets" || tid.peer().0 != 0 || tid.tid() != 3 {
            self.inner.schedule(now, tid);
        }
    }

    fn charge(&mut self, now: Instant, tid: TidIndex, used: Duration, kind: AirtimeUse) {
        self.inner.charge(now, tid, used, kind);
    }

    fn start(&mut self, ac: Ac) {
        self.inner.start(ac);
    }

    fn next(&mut self, now: Instant, ac: Ac, view: &DeviceView<'_>) -> Option<TidIndex> {
        self.turns += 1;
        match self.fault {
            "panics" => panic!("out of turns"),
            "ends at once" if self.turns.is_multiple_of(50) => None,
            "names anybody" => Some(TidIndex::new(crate::types::PeerId(0), ac.index() as u8)),
            "names strangers" => Some(TidIndex(1_000)),
            "names the idle" => {
                (0..8).map(|t| TidIndex::new(crate::types::PeerId(0), t)).find(|t| t.ac() == ac)
            }
            _ => self.inner.next(now, ac, view),
        }
    }

    fn done(&mut self, now: Instant, tid: TidIndex, attempt: Attempt, view: &DeviceView<'_>) -> bool {
        self.inner.done(now, tid, attempt, view) || self.fault == "goes on"
    }
}

#[test]
fn faulty_schedulers_are_detected() {
    for (fault, said) in [
        ("none", ""),
        ("forgets", "identifier 3 of peer 0 has frames: nobody would look again"),
        ("names anybody", "it named identifier"),
        ("names strangers", "it named identifier number 1000, and there are"),
        ("names the idle", "which has no frames to send"),
        ("goes on", "a look does not end"),
        ("ends at once", "a look ended with nothing in the hardware"),
        ("panics", "it panicked: out of turns"),
        ("changes its mind", "it did otherwise when all was the same"),
    ] {
        let made = AtomicU32::new(0);
        let own = PartFactory::new(fault, "", move |peers| {
            let odd = made.fetch_add(1, Ordering::Relaxed) % 2 == 1;
            let by_airtime = fault == "changes its mind" && odd;
            let inner = match by_airtime {
                true => scheduler_of(&Scheduler::Airtime(AirtimeParams::default()), peers),
                false => scheduler_of(&Scheduler::RoundRobin(WhenFull::KeepsTurn), peers),
            };
            Box::new(Turns { fault, inner, turns: 0 }) as Box<dyn StationScheduler + Send>
        });
        match scheduler(&Scheduler::Custom(own)) {
            Ok(()) => assert_eq!(said, "", "{fault}"),
            Err(what) => assert!(!said.is_empty() && what.contains(said), "{fault}: {what}"),
        }
    }
}
