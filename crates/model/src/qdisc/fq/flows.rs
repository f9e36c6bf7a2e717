//! fq's flow table, indexed by socket or by hash.
//!
//! A flow is created for its first packet. Once empty, it stays in the table with its credit and the time of
//! its next packet, until it is garbage-collected.

use crate::sched::drr::{Drr, Member};
use crate::types::{Duration, Instant, PktList};
use alloc::vec;
use alloc::vec::Vec;

/// Flow key: the hash of a local socket, or some bits of the hash of other packets.
pub(super) type Key = (u32, bool);

/// Idle time after which a flow may be collected.
// linux: net/sched/sch_fq.c FQ_GC_AGE (6.1).
const GC_AGE: Duration = Duration::from_secs(3);
/// Maximum number of flows collected at a time.
// linux: net/sched/sch_fq.c FQ_GC_MAX (6.1).
const GC_MAX: usize = 8;

const NONE: u32 = u32::MAX;

/// One flow. Its credit is its deficit in [`Flows::drr`].
#[derive(Debug)]
pub(super) struct FqFlow {
    key: Key,
    /// Next flow in its bucket, or in the free list.
    next: u32,
    /// Start of the idle time. `None` while the flow is on a list or throttled.
    idle_since: Option<Instant>,
    pub(super) list: PktList,
    /// Earliest departure time of the next packet.
    pub(super) time_next_packet: Instant,
}

#[derive(Debug)]
pub(super) struct Flows {
    buckets: Vec<u32>,
    flows: Vec<FqFlow>,
    /// Credits, and membership in the lists.
    pub(super) drr: Drr,
    free: u32,
    len: u32,
    inactive: u32,
    forgotten: u64,
}

impl Flows {
    /// Creates a table of `buckets` buckets without flows.
    pub(super) fn new(buckets: u32) -> Self {
        let buckets = vec![NONE; buckets as usize];
        Self { buckets, flows: Vec::new(), drr: Drr::new(0), free: NONE, len: 0, inactive: 0, forgotten: 0 }
    }

    /// Returns the flow with this key. Creates it with `credit` bytes of credit if it does not exist.
    // linux: net/sched/sch_fq.c fq_classify (6.1).
    // deviation: a bucket is a list instead of a red-black tree - the order only decides which old flows are
    // collected first.
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

    /// Collects flows of a bucket that have been idle for long, up to the flow with this key.
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

    /// Marks a flow as active. Returns its idle time, if it was idle.
    #[inline]
    pub(super) fn rouse(&mut self, m: Member, now: Instant) -> Option<Duration> {
        let since = self.flows[m.index()].idle_since.take()?;
        self.inactive -= 1;
        Some(now.saturating_since(since))
    }

    /// Marks a flow as idle; it is on no list.
    #[inline]
    pub(super) fn rest(&mut self, m: Member, now: Instant) {
        self.flows[m.index()].idle_since = Some(now);
        self.inactive += 1;
    }

    pub(super) fn len(&self) -> usize {
        self.len as usize
    }

    pub(super) fn inactive(&self) -> u32 {
        self.inactive
    }

    pub(super) fn forgotten(&self) -> u64 {
        self.forgotten
    }
}
