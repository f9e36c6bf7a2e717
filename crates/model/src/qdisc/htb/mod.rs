//! htb: the hierarchical token bucket, with a single leaf class.
//!
//! The class has two buckets, for its rate and for its ceiling. A packet of any size may leave while neither
//! is in debt, so a large packet drives them below zero, and the next one waits until the debt is paid.
//!
//! Not modelled: several classes, filters, priorities, borrowing (which needs a parent class; without one, a
//! class never exceeds its rate even if its ceiling is higher), and link-layer adaptation.

use super::bucket::{Bucket, BucketRate};
use super::{Enqueue, NextSend, Qdisc, QdiscConfig, QdiscStats};
use crate::types::{Ctx, Duration, Instant, Pkt, Rate, Sink, skb_len};
use alloc::boxed::Box;

/// The packet size that tc assumes for default bursts, in bytes.
// linux: iproute2 tc/q_htb.c htb_parse_class_opt (6.1).
const TC_MTU: u32 = 1600;

/// Maximum debt of a class, and maximum time over which it accumulates tokens, in nanoseconds.
// linux: net/sched/sch_htb.c htb_change_class (6.1) - mbuffer, one minute.
const MBUFFER: i64 = 60_000_000_000;

/// Parameters of the class, by their tc names.
#[derive(Clone, PartialEq, Debug)]
pub struct HtbParams {
    /// Guaranteed rate. A class without a parent is limited to this rate.
    pub rate: Rate,
    /// Ceiling rate.
    pub ceil: Rate,
    /// Bucket size of the rate: bytes that may leave back to back after a pause.
    pub burst: u32,
    /// Bucket size of the ceiling.
    pub cburst: u32,
    /// The qdisc of the class.
    pub child: Box<QdiscConfig>,
}

impl HtbParams {
    /// The burst that tc chooses for a rate: one packet, plus the bytes of one tick of the kernel's timer.
    // linux: iproute2 tc/q_htb.c htb_parse_class_opt (6.1) - rate / HZ + MTU, with HZ from /proc/net/psched:
    // with high-resolution timers a tick is a nanosecond.
    pub fn default_burst(rate: Rate) -> u32 {
        let tick = rate.bps() / 8 / 1_000_000_000;
        TC_MTU.saturating_add(u32::try_from(tick).unwrap_or(u32::MAX))
    }
}

/// Converts a depth in bytes as tc and the kernel do: into tc's time units, rounded up, then into
/// nanoseconds.
// linux: iproute2 tc/tc_core.c tc_calc_xmittime (6.1), include/net/pkt_sched.h PSCHED_TICKS2NS (6.1) - 64 ns.
fn depth(rate: Rate, bytes: u32) -> i64 {
    const TICK: u128 = 64;
    let bytes_a_second = u128::from((rate.bps() / 8).max(1));
    let ticks = (u128::from(bytes) * 1_000_000_000).div_ceil(bytes_a_second * TICK);
    (ticks.min(u128::from(u32::MAX)) * TICK) as i64
}

fn full(rate: Rate, burst: u32) -> Bucket {
    Bucket::new(BucketRate::new(rate), depth(rate, burst))
}

/// Charges a packet to a bucket, down to the maximum debt.
// linux: net/sched/sch_htb.c htb_accnt_tokens (6.1).
#[inline]
fn charge(bucket: &mut Bucket, gathered: i64, bytes: u32) {
    bucket.tokens = bucket.left(gathered, bytes).max(1 - MBUFFER);
}

/// Counters of the class by their tc names, in addition to the common ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HtbStats {
    /// Packets that the class's qdisc dropped on enqueue: the new packet, or another one of the same queue.
    pub drops: u64,
    /// Packets sent on the class's own tokens: all of them, since the class has no parent to borrow from.
    pub lended: u64,
    /// Tokens of the rate after the last packet, in nanoseconds.
    pub tokens: i64,
    /// Tokens of the ceiling after the last packet, in nanoseconds.
    pub ctokens: i64,
}

/// The htb qdisc.
#[derive(Debug)]
pub struct Htb {
    child: Qdisc,
    rate: Bucket,
    ceil: Bucket,
    charged: Instant,
    /// Time at which neither bucket is in debt any more.
    ready: Instant,
    stats: QdiscStats,
    drops: u64,
    lended: u64,
}

impl Htb {
    /// Creates full buckets over an empty `child`, at the start of the run.
    pub fn new(params: &HtbParams, child: Qdisc) -> Self {
        Self {
            child,
            rate: full(params.rate, params.burst),
            ceil: full(params.ceil, params.cburst),
            charged: Instant::ZERO,
            ready: Instant::ZERO,
            stats: QdiscStats::default(),
            drops: 0,
            lended: 0,
        }
    }

    /// Changes the rates. Queued packets wait until the class's debt is paid, and then leave at the new rate.
    // linux: net/sched/sch_htb.c htb_change_class (6.1) - sets rates and bursts of an existing class; keeps
    // its tokens, which are times, and its place in the wait queue.
    pub(super) fn change(&mut self, params: &HtbParams) {
        self.rate.change(full(params.rate, params.burst));
        self.ceil.change(full(params.ceil, params.cburst));
    }

    pub(super) fn child_mut(&mut self) -> &mut Qdisc {
        &mut self.child
    }

    /// Passes the packet to the class.
    // linux: net/sched/sch_htb.c htb_enqueue (6.1) - does not count the child's drops at dequeue as drops of
    // the class.
    #[inline]
    pub fn enqueue<S: Sink>(&mut self, now: Instant, p: Pkt, ctx: &mut Ctx<'_, S>) -> Enqueue {
        let answer = self.child.enqueue(now, p, ctx);
        self.drops += u64::from(answer != Enqueue::Queued);
        answer
    }

    /// Takes the next packet of the class, if the class may send.
    // linux: net/sched/sch_htb.c htb_dequeue, htb_charge_class, htb_class_mode (6.1) - decides on charging a
    // packet whether the next may leave, and checks debts again when the watchdog fires. Counts an overlimit
    // each time the class goes into debt to its ceiling.
    #[inline]
    pub fn dequeue<S: Sink>(&mut self, now: Instant, ctx: &mut Ctx<'_, S>) -> Option<Pkt> {
        if now < self.ready {
            return None;
        }
        let p = self.child.dequeue(now, ctx)?;
        let hot = ctx.packets.get(p);
        let gathered = (now - self.charged).nanos().min(MBUFFER as u64) as i64;
        charge(&mut self.rate, gathered, skb_len(hot));
        charge(&mut self.ceil, gathered, skb_len(hot));
        let debt = -self.rate.tokens.min(self.ceil.tokens);
        (self.charged, self.ready) = (now, now + Duration::from_nanos(debt.max(0) as u64));
        self.stats.sent(hot);
        self.lended += 1;
        self.stats.overlimits += u64::from(self.ceil.tokens < 0);
        Some(p)
    }

    /// Reports when the class may send, if it has packets.
    #[inline]
    pub fn next(&self, now: Instant) -> NextSend {
        match self.child.next(now) {
            NextSend::Never => NextSend::Never,
            _ if now < self.ready => NextSend::At(self.ready),
            child => child,
        }
    }

    /// Number of packets and bytes in the class.
    #[inline]
    pub fn backlog(&self) -> (u32, u64) {
        self.child.backlog()
    }

    /// The common qdisc counters. Drops of the class's qdisc are included.
    // linux: net/sched/sch_api.c qdisc_tree_reduce_backlog (6.1).
    pub fn stats(&self) -> QdiscStats {
        QdiscStats { drops: self.child.stats().drops, ..self.stats }
    }

    /// Counters of the class.
    pub fn xstats(&self) -> HtbStats {
        let Self { drops, lended, rate, ceil, .. } = self;
        HtbStats { drops: *drops, lended: *lended, tokens: rate.tokens, ctokens: ceil.tokens }
    }

    /// The qdisc of the class.
    pub fn child(&self) -> &Qdisc {
        &self.child
    }
}

#[cfg(test)]
mod tests;
