//! Setup of Block Ack sessions: a work queue shared by all TIDs of a device, in which each request takes an
//! RCU grace period.
//!
//! The transmit path does not send an ADDBA request itself. It queues work, which first waits for an RCU
//! grace period. Requests of one device are therefore some milliseconds apart, even if many sessions are
//! wanted at once, and requests of different devices at the same instant are also some milliseconds apart. An
//! unanswered attempt is ended the same way before the next one.

use alloc::collections::VecDeque;

use crate::types::{Duration, Instant, RandomStream};

/// Timer tick of the host.
// linux: kernel/Kconfig.hz (4.4) - HZ=250 is the default, also in Debian and Ubuntu.
const TICK: Duration = Duration::from_millis(4);

/// Shortest and longest grace period.
// linux: kernel/rcu/tree.h RCU_JIFFIES_TILL_FORCE_QS, kernel/rcu/tree.c rcu_gp_kthread (4.4) - checks idle
// CPUs one tick after the start of a grace period and at every tick after that; a request during a grace
// period waits for the next one.
// deviation: uniform between one and three ticks - the duration depends on everything that runs on the host.
const GRACE: (Duration, Duration) = (TICK, Duration::from_millis(12));

/// Maximum lateness of a one-second timer.
// linux: kernel/time/timer.c calc_wheel_index (4.8) - rounds timers of 64 to 511 ticks up to the next eighth
// tick.
// deviation: also applied before 4.8, where timers are exact - real clocks are never as synchronous as those
// of a simulation.
const LATE: Duration = Duration::from_millis(8 * 4);

/// Block Ack sessions to start and attempts to end, in the order of the work queue.
// linux: net/mac80211/ht.c ieee80211_ba_session_work, main.c ieee80211_register_hw (4.4) - an ordered work
// queue per radio; agg-tx.c ieee80211_tx_ba_session_handle_start, ___ieee80211_stop_tx_ba_session - calls
// synchronize_net before the driver.
// deviation: responses bypass the queue that Linux also uses for them; each device has its own queue even on
// a shared radio; firmware that sets up sessions itself (ath10k) takes as long.
#[derive(Debug)]
pub struct Starts {
    /// TID numbers. The first one is in progress.
    queue: VecDeque<u32>,
    stream: RandomStream,
}

impl Starts {
    /// Creates an empty work queue. Grace periods are drawn from `stream`.
    pub fn new(stream: RandomStream) -> Self {
        Self { queue: VecDeque::new(), stream }
    }

    /// Queues the start of a session, or the end of an attempt, for TID number `tid`. If the queue was empty,
    /// returns the work that starts, with the end of its grace period.
    pub fn want(&mut self, now: Instant, tid: u32) -> Option<(u32, Instant)> {
        self.queue.push_back(tid);
        if self.queue.len() == 1 { self.begin(now) } else { None }
    }

    /// Ends the first work item after its grace period. Returns the work that starts next, if any, with the
    /// end of its grace period.
    pub fn done(&mut self, now: Instant) -> Option<(u32, Instant)> {
        self.queue.pop_front();
        self.begin(now)
    }

    /// Returns the random delay after which the host notices a response timeout.
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
    fn work_items_run_in_order() {
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
        // Uniform between 4 and 12 ms: the mean is 8, within the error of a hundred draws.
        assert!(waits.iter().all(|ms| (4..12).contains(ms)), "{waits:?}");
        assert!((750..850).contains(&((now - Instant::ZERO).nanos() / 1_000_000)), "{now:?}");
    }
}
