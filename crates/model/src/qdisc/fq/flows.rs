//! The flows that fq keeps in mind, found by socket or by hash.
//!
//! A flow is made when its first packet comes and stays when it has none, with its credit and the time of its
//! next packet, until there are too many like it.

use crate::sched::drr::{Drr, Member};
use crate::types::{Duration, Instant, PktList};
use alloc::vec;
use alloc::vec::Vec;

/// What flows are told apart by: the hash of a local socket, or some bits of that of anything else.
pub(super) type Key = (u32, bool);

/// A flow that had nothing to send for so long may be forgotten.
// linux: net/sched/sch_fq.c FQ_GC_AGE (6.1).
const GC_AGE: Duration = Duration::from_secs(3);
/// Most flows that are forgotten at once.
// linux: net/sched/sch_fq.c FQ_GC_MAX (6.1).
const GC_MAX: usize = 8;

const NONE: u32 = u32::MAX;

/// One flow; its credit is its deficit in [`Flows::drr`].
#[derive(Debug)]
pub(super) struct FqFlow {
    key: Key,
    /// The next flow in its bucket, or of those that are free.
    next: u32,
    /// Since when it has had nothing to send; none if it is on a list or throttled.
    idle_since: Option<Instant>,
    /// Its packets.
    pub(super) list: PktList,
    /// It sends nothing before.
    pub(super) time_next_packet: Instant,
}

/// All flows.
#[derive(Debug)]
pub(super) struct Flows {
    buckets: Vec<u32>,
    flows: Vec<FqFlow>,
    /// Credits, and who is on which list.
    pub(super) drr: Drr,
    free: u32,
    len: u32,
    inactive: u32,
    forgotten: u64,
}

impl Flows {
    /// No flows, in so many buckets.
    pub(super) fn new(buckets: u32) -> Self {
        let buckets = vec![NONE; buckets as usize];
        Self { buckets, flows: Vec::new(), drr: Drr::new(0), free: NONE, len: 0, inactive: 0, forgotten: 0 }
    }

    /// The flow with that key; a new one has so much credit.
    // linux: net/sched/sch_fq.c fq_classify (6.1).
    // deviation: a bucket is a list where Linux has a tree - order decides only which of the old flows are
    // forgotten first.
    #[inline]
    pub(super) fn find(&mut self, key: Key, now: Instant, credit: u32) -> Member {
        let bucket = key.0 as usize & (self.buckets.len() - 1);
        if self.len as usize >= 2 * self.buckets.len() && self.inactive > self.len / 2 {
            self.forget(bucket, key, now);
        }
        let mut at = self.buckets[bucket];
        while at != NONE {
            let flow = &self.flows[at as usize];
            if flow.key == key {
                return Member(at);
            }
            at = flow.next;
        }
        self.make(bucket, key, now, credit)
    }

    #[cold]
    fn make(&mut self, bucket: usize, key: Key, now: Instant, credit: u32) -> Member {
        let next = self.buckets[bucket];
        let (list, time_next_packet) = (PktList::default(), Instant::ZERO);
        let flow = FqFlow { key, next, idle_since: Some(now), list, time_next_packet };
        let m = if self.free == NONE {
            self.flows.push(flow);
            self.drr.add(())
        } else {
            let m = Member(self.free);
            self.free = core::mem::replace(&mut self.flows[m.index()], flow).next;
            m
        };
        self.drr.set_deficit(m, i64::from(credit));
        self.buckets[bucket] = m.0;
        self.len += 1;
        self.inactive += 1;
        m
    }

    /// Forgets flows of a bucket that have had nothing to send for long, as far as they stand before the one
    /// that is looked for.
    // linux: net/sched/sch_fq.c fq_gc (6.1).
    #[cold]
    fn forget(&mut self, bucket: usize, key: Key, now: Instant) {
        let (mut before, mut at, mut done) = (NONE, self.buckets[bucket], 0);
        while at != NONE && done < GC_MAX && self.flows[at as usize].key != key {
            let flow = &mut self.flows[at as usize];
            let next = flow.next;
            if flow.idle_since.is_some_and(|since| now.saturating_since(since) > GC_AGE) {
                flow.next = self.free;
                self.free = at;
                match before {
                    NONE => self.buckets[bucket] = next,
                    before => self.flows[before as usize].next = next,
                }
                done += 1;
            } else {
                before = at;
            }
            at = next;
        }
        self.len -= done as u32;
        self.inactive -= done as u32;
        self.forgotten += done as u64;
    }

    #[inline]
    pub(super) fn get_mut(&mut self, m: Member) -> &mut FqFlow {
        &mut self.flows[m.index()]
    }

    /// A flow has something to send; how long it had not, if it was idle.
    #[inline]
    pub(super) fn rouse(&mut self, m: Member, now: Instant) -> Option<Duration> {
        let since = self.flows[m.index()].idle_since.take()?;
        self.inactive -= 1;
        Some(now.saturating_since(since))
    }

    /// A flow has nothing more to send and is on no list.
    #[inline]
    pub(super) fn rest(&mut self, m: Member, now: Instant) {
        self.flows[m.index()].idle_since = Some(now);
        self.inactive += 1;
    }

    /// Flows that are kept in mind.
    pub(super) fn len(&self) -> usize {
        self.len as usize
    }

    /// Those that have nothing to send.
    pub(super) fn inactive(&self) -> u32 {
        self.inactive
    }

    /// How many were forgotten.
    pub(super) fn forgotten(&self) -> u64 {
        self.forgotten
    }
}
