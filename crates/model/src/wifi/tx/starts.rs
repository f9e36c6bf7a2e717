//! Setup of Block Ack sessions: a work queue shared by all TIDs of a device, in which each request takes an
//! RCU grace period.
//!
//! The transmit path does not send an ADDBA request itself. It queues work, and the work first waits for an
//! RCU grace period. So requests of one device are some milliseconds apart, even if many sessions are wanted
//! at once, and requests of different devices at the same instant are also some milliseconds apart. An
//! unanswered attempt is ended the same way before the next one.

use alloc::collections::VecDeque;

use crate::types::{Duration, Instant, RandomStream};

/// A tick of the host's clock.
// linux: kernel/Kconfig.hz (4.4) - 250 a second is the default, and what Debian and Ubuntu have.
const TICK: Duration = Duration::from_millis(4);

/// Shortest and longest grace period.
// linux: kernel/rcu/tree.h RCU_JIFFIES_TILL_FORCE_QS, kernel/rcu/tree.c rcu_gp_kthread (4.4) - processors
// that sleep are looked at a tick after a grace period began and every tick from then on, and who comes while
// one is under way waits for the next.
// deviation: drawn evenly from one to three ticks - how long it takes depends on all that runs on the host.
const GRACE: (Duration, Duration) = (TICK, Duration::from_millis(12));

/// By how much a timer of a second may be late.
// linux: kernel/time/timer.c calc_wheel_index (4.8) - timers of 64 to 511 ticks are rounded up to the next
// eighth tick.
// deviation: before 4.8 they were exact; here they are late, too, as nobody's clocks run as alike as those of
// one simulation.
const LATE: Duration = Duration::from_millis(8 * 4);

/// Block Ack sessions to be started and attempts to be ended, in the order of the work queue.
// linux: net/mac80211/ht.c ieee80211_ba_session_work, main.c ieee80211_register_hw (4.4) - an ordered work
// queue for each radio; agg-tx.c ieee80211_tx_ba_session_handle_start, ___ieee80211_stop_tx_ba_session -
// synchronize_net before the driver is asked.
// deviation: answers, which the same queue handles, do not wait in it; devices that share a radio have a
// queue each; firmware that sets sessions up itself (ath10k) is taken to need as long.
#[derive(Debug)]
pub struct Starts {
    /// Numbers of TIDs; the first is under way.
    queue: VecDeque<u32>,
    stream: RandomStream,
}

impl Starts {
    /// An empty work queue. Grace periods are drawn from `stream`.
    pub fn new(stream: RandomStream) -> Self {
        Self { queue: VecDeque::new(), stream }
    }

    /// Queues the start of a session, or the end of an attempt, for TID number `tid`. If the queue was empty,
    /// returns the work that begins, with the end of its grace period.
    pub fn want(&mut self, now: Instant, tid: u32) -> Option<(u32, Instant)> {
        self.queue.push_back(tid);
        if self.queue.len() == 1 { self.begin(now) } else { None }
    }

    /// The grace period of the first work item is over. Returns the work that begins next, if any, with the
    /// end of its grace period.
    pub fn done(&mut self, now: Instant) -> Option<(u32, Instant)> {
        self.queue.pop_front();
        self.begin(now)
    }

    /// Random delay after which the host notices that no answer has come.
    pub fn late(&mut self) -> Duration {
        self.stream.between(Duration::ZERO, LATE)
    }

    fn begin(&mut self, now: Instant) -> Option<(u32, Instant)> {
        let &first = self.queue.front()?;
        Some((first, now + self.stream.between(GRACE.0, GRACE.1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Seed;
    use alloc::vec::Vec;

    #[test]
    fn one_after_the_other() {
        let mut starts = Starts::new(Seed { seed: 1, run: 0 }.stream("starts"));
        let tids: Vec<u32> = (0..100).collect();
        let mut under_way = starts.want(Instant::ZERO, tids[0]);
        assert!(tids[1..].iter().all(|&tid| starts.want(Instant::ZERO, tid).is_none()));
        let (mut now, mut order, mut waits) = (Instant::ZERO, Vec::new(), Vec::new());
        while let Some((tid, at)) = under_way {
            order.push(tid);
            waits.push((at - now).nanos() / 1_000_000);
            now = at;
            under_way = starts.done(now);
        }
        assert_eq!(order, tids);
        // Evenly from 4 to 12 ms: a mean of 8, give or take what a hundred draws leave open.
        assert!(waits.iter().all(|ms| (4..12).contains(ms)), "{waits:?}");
        assert!((750..850).contains(&((now - Instant::ZERO).nanos() / 1_000_000)), "{now:?}");
    }
}
