//! CoDel (RFC 8289): drops or marks at dequeue once the sojourn time has exceeded a target for an interval.
//!
//! Parameters, state and counters are three types, so that the same code serves qdiscs (one set of
//! parameters) and the MAC (parameters per station). Queues implement [`CodelQueue`].

mod as_aqm;

pub use as_aqm::CodelAqm;

use crate::types::{Duration, Instant, Packet, Pkt, skb_len};

/// Parameters, by their tc names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CodelParams {
    /// Acceptable sojourn time.
    pub target: Duration,
    /// Time for which the target must be exceeded before CoDel acts.
    pub interval: Duration,
    /// Mark ECN-capable packets instead of dropping them.
    pub ecn: bool,
    /// CoDel does not act while at most this many bytes are queued behind the packet.
    // linux: net/mac80211/sta_info.c sta_info_alloc (5.4) - leaves it 0 in the MAC: only the last packet is
    // exempt.
    pub mtu: u32,
}

/// State of CoDel for one queue.
#[derive(Clone, Debug)]
pub struct CodelState {
    /// Time from which CoDel may act, unless the sojourn time falls below the target first. `NEVER` while the
    /// sojourn time is below the target.
    first_above_time: Instant,
    drop_next: Instant,
    count: u32,
    lastcount: u32,
    /// 1/sqrt(count) as a fraction of 2^16.
    rec_inv_sqrt: u16,
    dropping: bool,
}

/// Counters of CoDel, by their tc names.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CodelStats {
    /// Largest packet seen by CoDel, in bytes.
    pub maxpacket: u32,
    /// Packets dropped.
    pub drop_count: u64,
    /// Bytes dropped.
    pub drop_len: u64,
    /// Packets marked instead of dropped.
    pub ecn_mark: u64,
}

/// A queue managed by CoDel.
pub trait CodelQueue {
    /// Removes and returns the packet at the head.
    fn pop(&mut self) -> Option<Pkt>;
    /// Bytes still queued, in the unit of [`CodelParams::mtu`].
    fn backlog(&self) -> u64;
    /// The fields of a packet that was popped.
    fn packet(&mut self, p: Pkt) -> &mut Packet;
    /// Drops a packet that was popped.
    fn drop(&mut self, p: Pkt);
}

/// The root for a count of 1: the 16-bit value closest to one.
const ROOT_OF_ONE: u16 = u16::MAX;

impl Default for CodelState {
    fn default() -> Self {
        Self {
            first_above_time: Instant::NEVER,
            drop_next: Instant::ZERO,
            count: 0,
            lastcount: 0,
            rec_inv_sqrt: 0,
            dropping: false,
        }
    }
}

impl CodelState {
    /// CoDel's count: packets dropped or marked since it last entered the dropping state.
    pub fn count(&self) -> u32 {
        self.count
    }
    /// Value of `count` when CoDel last entered the dropping state.
    pub fn lastcount(&self) -> u32 {
        self.lastcount
    }
    /// Returns true in the dropping state.
    pub fn dropping(&self) -> bool {
        self.dropping
    }
    /// Time of the next drop, in the dropping state.
    pub fn drop_next(&self) -> Instant {
        self.drop_next
    }
    /// Reports `n` packets dropped at the queue's limit, so that CoDel drops more often.
    // linux: net/sched/sch_fq_codel.c fq_codel_drop (5.4) - raises the count, and leaves the root until the
    // next step.
    pub fn strengthen(&mut self, n: u32) {
        self.count = self.count.wrapping_add(n);
    }

    /// Returns true if CoDel may act on `p`, the packet just taken from the head.
    // spec: rfc8289 5.6 - continuously above the target for an interval, with more than an MTU queued.
    // linux: include/net/codel_impl.h codel_should_drop (4.7) - the exact end of the interval is still too
    // early.
    #[inline]
    fn may_act<Q: CodelQueue>(
        &mut self,
        params: &CodelParams,
        stats: &mut CodelStats,
        now: Instant,
        p: Option<Pkt>,
        q: &mut Q,
    ) -> bool {
        let Some(p) = p else {
            self.first_above_time = Instant::NEVER;
            return false;
        };
        let hot = q.packet(p);
        let sojourn = now.saturating_since(hot.t_enqueue);
        stats.maxpacket = stats.maxpacket.max(skb_len(hot));
        self.is_above(params, now, sojourn, || q.backlog())
    }

    /// Returns true if the sojourn time of the packet in hand shows that the queue has been above the target
    /// for an interval.
    #[inline(always)]
    fn is_above(
        &mut self,
        params: &CodelParams,
        now: Instant,
        sojourn: Duration,
        backlog: impl FnOnce() -> u64,
    ) -> bool {
        if sojourn < params.target || backlog() <= u64::from(params.mtu) {
            self.first_above_time = Instant::NEVER;
            return false;
        }
        if self.first_above_time == Instant::NEVER {
            self.first_above_time = now + params.interval;
            return false;
        }
        now > self.first_above_time
    }

    // spec: rfc8289 5.5 - the next action is due at `from` plus the interval over the square root of the
    // count.
    fn schedule(&mut self, from: Instant, interval: Duration) {
        let gap = (interval.nanos() * u64::from(self.rec_inv_sqrt)) >> 16;
        self.drop_next = from + Duration::from_nanos(gap);
    }

    #[inline(always)]
    fn begin(&mut self, params: &CodelParams, now: Instant) {
        self.dropping = true;
        // linux: include/net/codel_impl.h codel_dequeue (4.7) - resumes from the drops that the last dropping
        // state added, if more than one and if its next drop was due less than 16 intervals ago.
        let added = self.count.wrapping_sub(self.lastcount);
        if added > 1 && now.saturating_since(self.drop_next) < params.interval * 16 {
            self.count = added;
            self.step_root();
        } else {
            self.count = 1;
            self.rec_inv_sqrt = ROOT_OF_ONE;
        }
        self.lastcount = self.count;
        self.schedule(now, params.interval);
    }

    fn step_root(&mut self) {
        self.rec_inv_sqrt = newton_step(self.rec_inv_sqrt, self.count);
    }
}

/// One Newton step from `root` towards 1/sqrt(count), both as fractions of 2^16.
// linux: include/net/codel_impl.h codel_Newton_step (4.7) - makes one step per change of the count and keeps
// 16 bits. So the second gap is 0.5 instead of 0.707 of the interval, and a count that exceeds the root
// threefold makes the difference below wrap: the root is then wrong until later steps correct it. The model
// reproduces both.
fn newton_step(root: u16, count: u32) -> u16 {
    let x = u64::from(root) << 16;
    let c_x2 = u64::from(count) * ((x * x) >> 32);
    let rest = (3u64 << 32).wrapping_sub(c_x2);
    // Dividing by 4 first keeps the product within 64 bits; 31 = 32 - 2 + 1, where the 1 is Newton's division
    // by 2.
    ((rest >> 2).wrapping_mul(x) >> 31 >> 16) as u16
}

/// Marks a packet if it is ECN-capable. A packet that is already marked counts as marked.
// spec: rfc3168 5 - a Not-ECT packet (00) must not be marked.
fn mark<Q: CodelQueue>(params: &CodelParams, stats: &mut CodelStats, q: &mut Q, p: Pkt) -> bool {
    if !params.ecn {
        return false;
    }
    let hot = q.packet(p);
    let capable = hot.tos & 3 != 0;
    if capable {
        hot.tos |= 3;
        stats.ecn_mark += 1;
    }
    capable
}

fn discard<Q: CodelQueue>(stats: &mut CodelStats, q: &mut Q, p: Pkt) {
    stats.drop_count += 1;
    stats.drop_len += u64::from(skb_len(q.packet(p)));
    q.drop(p);
}

/// Takes the next packet that is not dropped. May drop or mark packets before it.
///
/// Returns `None` if the queue is empty, perhaps because its last packets were dropped.
// spec: rfc8289 5.7 - the dequeue routine. Linux adds marks, and the condition for reusing the old count.
pub fn dequeue<Q: CodelQueue>(
    params: &CodelParams,
    state: &mut CodelState,
    stats: &mut CodelStats,
    now: Instant,
    q: &mut Q,
) -> Option<Pkt> {
    let Some(mut p) = q.pop() else {
        state.dropping = false;
        return None;
    };
    let act = state.may_act(params, stats, now, Some(p), q);
    if !state.dropping {
        return if act { begin(params, state, stats, now, q, p) } else { Some(p) };
    }
    state.dropping = act;
    // A large backlog may require several drops at the same time.
    while state.dropping && now >= state.drop_next {
        state.count = state.count.wrapping_add(1);
        state.step_root();
        if mark(params, stats, q, p) {
            state.schedule(state.drop_next, params.interval);
            return Some(p);
        }
        discard(stats, q, p);
        let next = q.pop();
        state.dropping = state.may_act(params, stats, now, next, q);
        if state.dropping {
            state.schedule(state.drop_next, params.interval);
        }
        p = next?;
    }
    Some(p)
}

/// Enters the dropping state and acts on `p`, regardless of the time of the next drop.
#[cold]
fn begin<Q: CodelQueue>(
    params: &CodelParams,
    state: &mut CodelState,
    stats: &mut CodelStats,
    now: Instant,
    q: &mut Q,
    p: Pkt,
) -> Option<Pkt> {
    let passed = if mark(params, stats, q, p) {
        Some(p)
    } else {
        discard(stats, q, p);
        let next = q.pop();
        state.may_act(params, stats, now, next, q);
        next
    };
    state.begin(params, now);
    passed
}

#[cfg(test)]
mod tests;
