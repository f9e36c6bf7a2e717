//! Sampling since Linux 5.12: at most one probe per 20 ms, of rates that may be better than those in use.

use super::{Index, MinstrelHt, Sampler, percent};
use crate::types::{Duration, Instant, RandomStream};
use crate::wifi::rate::order::Order;
use crate::wifi::rate::table::MOST_GROUPS;

/// Time between two probes.
// linux: net/mac80211/rc80211_minstrel_ht.h MINSTREL_SAMPLE_INTERVAL (5.12) - HZ / 50.
const SPACING: Duration = Duration::from_millis(20);

/// Maximum number of queued rates per kind of probe.
// linux: net/mac80211/rc80211_minstrel_ht.h MINSTREL_SAMPLE_RATES (5.12).
const WAITING: usize = 5;

/// Kind of probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Why {
    /// The next faster rate of a group.
    Step,
    /// Any faster rate.
    Jump,
    /// A rate between those in use.
    Slow,
}

/// Order of the kinds.
// linux: net/mac80211/rc80211_minstrel_ht.c minstrel_sample_seq (5.12).
const TURNS: [Why; 6] = [Why::Step, Why::Jump, Why::Step, Why::Jump, Why::Step, Why::Slow];

/// Sampling state.
#[derive(Clone, Copy, Debug)]
pub(super) struct ByNeed {
    order: Order,
    /// Position of jumps in the order, by group.
    cursors: [u8; MOST_GROUPS],
    /// Queued rates, by kind.
    waiting: [List; 3],
    /// Current groups of steps and jumps.
    groups: [usize; 2],
    turn: usize,
    next: Instant,
}

/// A short list of rates.
#[derive(Clone, Copy, Debug, Default)]
struct List {
    held: [Index; WAITING],
    len: usize,
}

impl List {
    fn rates(&self) -> &[Index] {
        &self.held[..self.len]
    }
    fn is_full(&self) -> bool {
        self.len == WAITING
    }
    fn push(&mut self, index: Index) {
        self.held[self.len] = index;
        self.len += 1;
    }
    fn take(&mut self) -> Option<Index> {
        let first = *self.rates().first()?;
        self.held.copy_within(1..self.len, 0);
        self.len -= 1;
        Some(first)
    }
    // deviation: keeps all rates that still qualify - in Linux, a rate that stays in place may be overwritten
    // by the next.
    fn retain(&mut self, belongs: impl Fn(Index) -> bool) {
        let old = *self;
        self.len = 0;
        old.rates().iter().filter(|&&i| belongs(i)).for_each(|&i| self.push(i));
    }
}

impl ByNeed {
    pub(super) fn new(places: u8, stream: &mut RandomStream) -> Self {
        Self {
            order: Order::new(places, stream),
            cursors: [0; MOST_GROUPS],
            waiting: Default::default(),
            groups: [0; 2],
            turn: 0,
            next: Instant::ZERO,
        }
    }
}

impl MinstrelHt {
    // linux: net/mac80211/rc80211_minstrel_ht.c minstrel_ht_get_rate, minstrel_ht_get_sample_rate (5.12).
    pub(super) fn probe_by_need(&mut self, now: Instant) -> Option<Index> {
        let Sampler::Need(sampler) = &mut self.sampler else { return None };
        if now < sampler.next {
            return None;
        }
        sampler.next = now + SPACING;
        let why = TURNS[sampler.turn];
        sampler.turn = (sampler.turn + 1) % TURNS.len();
        sampler.waiting[why as usize].take()
    }

    /// Removes rates that no longer need a probe and refills the lists, after a new choice of rates.
    // linux: net/mac80211/rc80211_minstrel_ht.c minstrel_ht_refill_sample_rates (5.12).
    pub(super) fn refill(&mut self, now: Instant) {
        let Sampler::Need(sampler) = &self.sampler else { return };
        let mut sampler = *sampler;
        let used = [self.best[0], self.best[1], self.surest].map(|i| self.packet(i));
        let (fast, slow) = (used.into_iter().min(), used.into_iter().max());
        let (Some(fast), Some(slow)) = (fast, slow) else { return };
        let [steps, jumps, slower] = &mut sampler.waiting;
        steps.retain(|i| self.packet(i) < fast);
        jumps.retain(|i| self.packet(i) < fast);
        slower.retain(|i| self.packet(i) > fast && self.packet(i) < slow);
        while !sampler.waiting[Why::Step as usize].is_full() {
            let Some(step) = self.next_step(&mut sampler) else { break };
            sampler.waiting[Why::Step as usize].push(step);
        }
        while !sampler.waiting[Why::Jump as usize].is_full() {
            let Some(jump) = self.next_jump(&mut sampler, fast, slow) else { break };
            sampler.waiting[Why::Jump as usize].push(jump);
        }
        sampler.next = now;
        self.sampler = Sampler::Need(sampler);
    }

    /// The slowest rate of a group that is faster than `limit`.
    fn first_faster(&self, group: usize, limit: Duration) -> Option<Index> {
        self.groups[group].indices().find(|&i| self.packet(i) < limit)
    }

    /// Goes through the groups for the first rate faster than the best.
    // linux: net/mac80211/rc80211_minstrel_ht.c minstrel_ht_next_inc_rate (5.12).
    fn next_step(&self, sampler: &mut ByNeed) -> Option<Index> {
        let best = self.packet(self.best[0]);
        for _ in 0..self.groups.len() {
            sampler.groups[0] = (sampler.groups[0] + 1) % self.groups.len();
            if let Some(index) = self.first_faster(sampler.groups[0], best)
                && !sampler.waiting[Why::Step as usize].rates().contains(&index)
            {
                return Some(index);
            }
        }
        None
    }

    /// Goes through the groups for a rate faster than the slowest in use. A rate faster than all in use is a
    /// jump; others go to the list of slow rates.
    // linux: net/mac80211/rc80211_minstrel_ht.c minstrel_ht_next_jump_rate,
    // minstrel_ht_next_group_sample_rate (5.12).
    fn next_jump(&self, sampler: &mut ByNeed, fast: Duration, slow: Duration) -> Option<Index> {
        for _ in 0..self.groups.len() {
            let limit = if sampler.waiting[Why::Slow as usize].is_full() { fast } else { slow };
            sampler.groups[1] = (sampler.groups[1] + 1) % self.groups.len();
            let group = sampler.groups[1];
            let Some(least) = self.first_faster(group, limit) else { continue };
            let cursor = &mut sampler.cursors[group];
            let found = (0..sampler.order.places()).find_map(|_| {
                let place = sampler.order.at(*cursor);
                *cursor = sampler.order.after(*cursor);
                self.groups[group].at(place).filter(|&index| index >= least)
            });
            let Some(index) = found else { continue };
            let packet = self.packet(index);
            let why = if packet < fast { Why::Jump } else { Why::Slow };
            if sampler.waiting[why as usize].rates().contains(&index) {
                continue;
            }
            if why == Why::Jump {
                return Some(index);
            }
            let list = &mut sampler.waiting[Why::Slow as usize];
            if !list.is_full() && packet < slow && self.prob(index) <= percent(95) {
                list.push(index);
            }
        }
        None
    }
}
