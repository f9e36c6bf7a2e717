//! COBALT: cake's combination of CoDel and BLUE.
//!
//! CoDel acts on queues whose flows respond to drops and marks. BLUE drops at random from flows that fill the
//! buffer regardless. Both act on one queue. When the queue runs empty, their state decays one step per
//! interval instead of being reset. The caller owns packets and queue, and reports events.

use crate::types::{Duration, Instant, RandomStream};

/// Parameters of COBALT for one queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CobaltParams {
    /// Time for which the target must be exceeded before CoDel acts.
    pub interval: Duration,
    /// Acceptable sojourn time, and minimum time between two steps of BLUE.
    pub target: Duration,
    /// Transmission time of a full-size packet; zero without a rate.
    pub mtu_time: Duration,
    /// Increment of BLUE's probability, as a fraction of 2^32.
    pub p_inc: u32,
    /// Decrement of BLUE's probability, as a fraction of 2^32.
    pub p_dec: u32,
}

/// State of COBALT for one queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CobaltState {
    count: u32,
    /// 1/sqrt(count), as a fraction of 2^32.
    root: u32,
    /// Time of CoDel's next action, or of the next decrement of its count.
    drop_next: Instant,
    /// Time of the last change of BLUE's probability.
    blue_timer: Instant,
    p_drop: u32,
    dropping: bool,
}

/// Decision on a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CobaltVerdict {
    /// Drop the packet, unless it is the last of its queue.
    pub drop: bool,
    /// Set the CE mark.
    pub mark: bool,
}

/// A change of BLUE between idle and active.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Blue {
    /// No change.
    Same,
    /// BLUE was idle and starts dropping.
    Roused,
    /// BLUE stops dropping.
    Calmed,
}

impl Default for CobaltState {
    // linux: net/sched/sch_cake.c cobalt_vars_init (6.1) - zeroes everything including the root, although the
    // table has almost one for a count of zero. So the first dropping state of a queue starts without waiting
    // for an interval; later ones wait.
    fn default() -> Self {
        Self {
            count: 0,
            root: 0,
            drop_next: Instant::ZERO,
            blue_timer: Instant::ZERO,
            p_drop: 0,
            dropping: false,
        }
    }
}

/// One Newton step from `root` towards 1/sqrt(count), both as fractions of 2^32.
// linux: net/sched/sch_cake.c cobalt_newton_step (6.1).
const fn newton_step(root: u32, count: u32) -> u32 {
    let square = (root as u64 * root as u64) >> 32;
    let rest = (3u64 << 32).wrapping_sub(count as u64 * square);
    // Divides by 4 first so that the product fits; 31 = 32 - 2 + 1, where the 1 is Newton's division by 2.
    ((rest >> 2).wrapping_mul(root as u64) >> 31) as u32
}

/// Roots of small counts, for which a single Newton step would be far off.
// linux: net/sched/sch_cake.c cobalt_cache_init (6.1) - sixteen entries, each four steps from the previous
// one; the first is almost one.
const ROOTS: [u32; 16] = {
    let mut roots = [u32::MAX; 16];
    let mut count = 1;
    while count < 16 {
        let mut root = roots[count - 1];
        let mut step = 0;
        while step < 4 {
            root = newton_step(root, count as u32);
            step += 1;
        }
        roots[count] = root;
        count += 1;
    }
    roots
};

impl CobaltState {
    /// CoDel's count.
    pub const fn count(&self) -> u32 {
        self.count
    }
    /// BLUE's drop probability, as a fraction of 2^32.
    pub const fn p_drop(&self) -> u32 {
        self.p_drop
    }

    /// Returns true if no state is left to decay.
    #[inline]
    pub fn is_at_rest(&self, now: Instant) -> bool {
        self.p_drop == 0 && self.count == 0 && now >= self.drop_next
    }

    fn set_count(&mut self, count: u32) {
        self.count = count;
        self.root = match ROOTS.get(count as usize) {
            Some(&root) => root,
            None => newton_step(self.root, count),
        };
    }

    /// Returns `from` plus the interval over the square root of the count.
    fn after(&self, from: Instant, interval: Duration) -> Instant {
        // Intervals above 4.3 s lose their upper bits, as in the kernel, which multiplies 32-bit values.
        let gap = (u64::from(interval.nanos() as u32) * u64::from(self.root)) >> 32;
        from + Duration::from_nanos(gap)
    }

    /// Records that a packet of the queue was dropped because the buffer was full.
    // linux: net/sched/sch_cake.c cobalt_queue_full (6.1).
    pub fn overflowed(&mut self, params: &CobaltParams, now: Instant) -> Blue {
        let mut blue = Blue::Same;
        if now.saturating_since(self.blue_timer) > params.target {
            if self.p_drop == 0 {
                blue = Blue::Roused;
            }
            self.p_drop = self.p_drop.saturating_add(params.p_inc);
            self.blue_timer = now;
        }
        (self.dropping, self.drop_next) = (true, now);
        self.count = self.count.max(1);
        blue
    }

    /// Records that the queue was empty at its turn.
    // linux: net/sched/sch_cake.c cobalt_queue_empty (6.1).
    pub fn found_empty(&mut self, params: &CobaltParams, now: Instant) -> Blue {
        let mut blue = Blue::Same;
        if self.p_drop > 0 && now.saturating_since(self.blue_timer) > params.target {
            self.p_drop = self.p_drop.saturating_sub(params.p_dec);
            self.blue_timer = now;
            if self.p_drop == 0 {
                blue = Blue::Calmed;
            }
        }
        self.dropping = false;
        if self.count > 0 && now >= self.drop_next {
            self.let_go(params);
        }
        blue
    }

    fn let_go(&mut self, params: &CobaltParams) {
        self.set_count(self.count - 1);
        self.drop_next = self.after(self.drop_next, params.interval);
    }

    /// Decides on the packet at the head of the queue, which has waited for `sojourn`. `capable`: the packet
    /// is ECN-capable. `bulk`: number of bulk flows that share the bottleneck, or zero to ignore them.
    // linux: net/sched/sch_cake.c cobalt_should_drop (6.1) - uses drop_next for the interval before the first
    // action, for the gap between actions and for the decay, and compares it with the time before moving it.
    // BLUE never marks.
    pub fn judge(
        &mut self,
        params: &CobaltParams,
        now: Instant,
        sojourn: Duration,
        capable: bool,
        bulk: u32,
        chance: &mut RandomStream,
    ) -> CobaltVerdict {
        let mut late = now > self.drop_next;
        let due = self.count > 0 && now >= self.drop_next;
        let over = sojourn > params.target
            && sojourn > params.mtu_time * (2 * u64::from(bulk))
            && sojourn > params.mtu_time * 4;
        if over && !self.dropping {
            self.drop_next = self.after(now, params.interval);
        }
        if over {
            self.count = self.count.max(1);
        }
        self.dropping = over;
        let act = due && over;
        if act {
            self.set_count(self.count.saturating_add(1));
            self.drop_next = self.after(self.drop_next, params.interval);
            late = now > self.drop_next;
        } else if due {
            while self.count > 0 && now >= self.drop_next {
                self.let_go(params);
            }
            late = now > self.drop_next;
        }
        let mark = act && capable;
        let drop = (act && !mark) || (self.p_drop > 0 && chance.word() < self.p_drop);
        if self.count == 0 {
            self.drop_next = now + params.interval;
        } else if late && !drop {
            self.drop_next = now;
        }
        CobaltVerdict { drop, mark }
    }
}

#[cfg(test)]
mod tests;
