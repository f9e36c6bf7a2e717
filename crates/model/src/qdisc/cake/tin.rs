//! A tin: its queues, the assignment of flows to queues, and the load of hosts.

use super::QUEUES;
use super::chains::{Chain, Chains};
use super::params::{CakeParams, Isolation};
use super::stats::{TinCounters, TinDelays};
use super::tins::{self, Pace};
use crate::aqm::cobalt::{CobaltParams, CobaltState};
use crate::sched::longest::Place;
use crate::types::{Instant, PktList, RandomStream};
use alloc::boxed::Box;
use alloc::vec;

/// Set associativity: number of queues that a flow may use.
// linux: net/sched/sch_cake.c CAKE_SET_WAYS (6.1).
const WAYS: usize = 8;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Set {
    /// On no list.
    None,
    /// In its first round.
    Sparse,
    /// Found empty at the end of its first round: counts as sparse, and becomes bulk if a packet arrives now.
    SparseWait,
    /// In later rounds.
    Bulk,
    /// Empty, but its AQM state has not decayed yet.
    Decaying,
}

#[derive(Debug)]
pub(super) struct CakeFlow {
    pub list: PktList,
    pub aqm: CobaltState,
    pub deficit: i32,
    pub set: Set,
    pub place: Place,
    source: u16,
    destination: u16,
}

/// Entry of the host table: the host's hash, and its number of bulk queues.
#[derive(Clone, Copy, Default, Debug)]
struct CakeHost {
    tag: u32,
    bulk: u16,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Keys {
    pub flow: u32,
    pub source: u32,
    pub destination: u32,
}

#[derive(Debug)]
pub(super) struct Tin {
    pub flows: Box<[CakeFlow]>,
    pub chains: Chains,
    /// By queue: the flow that the queue is reserved for.
    tags: Box<[u32]>,
    sources: Box<[CakeHost]>,
    destinations: Box<[CakeHost]>,
    isolation: Isolation,
    pub aqm: CobaltParams,
    pub pace: Pace,
    pub quantum: i32,
    pub flow_quantum: u32,
    pub threshold: u64,
    pub time_next: Instant,
    pub deficit: i32,
    pub backlog: u64,
    pub sparse: u32,
    pub bulk: u32,
    pub decaying: u32,
    pub unresponsive: u32,
    pub counters: TinCounters,
    pub delays: TinDelays,
}

/// Slots that `hash` may use in a set-associative table: its own, then the others of its set.
fn ways(hash: u32) -> impl Iterator<Item = usize> {
    let at = hash as usize % QUEUES;
    let (set, first) = (at - at % WAYS, at % WAYS);
    (0..WAYS).map(move |n| set + (first + n) % WAYS)
}

/// Host table entry of a host: its own, or else one without bulk queues, or else, if all are busy, the first
/// of the set.
// linux: net/sched/sch_cake.c cake_hash (6.1) - a full scan without a free entry ends at the first one.
fn host(table: &mut [CakeHost], hash: u32) -> u16 {
    let found = ways(hash)
        .find(|&n| table[n].tag == hash)
        .or_else(|| ways(hash).find(|&n| table[n].bulk == 0))
        .unwrap_or(hash as usize % QUEUES);
    table[found].tag = hash;
    found as u16
}

impl Tin {
    /// Updates the tin's share for a changed rate.
    pub(super) fn change(&mut self, params: &CakeParams, n: usize) {
        let share = params.tins.share(n, params.bandwidth.map_or(0, tins::bytes_a_second));
        self.pace = Pace::new(share.threshold);
        self.aqm = tins::aqm(params, self.pace);
        (self.quantum, self.threshold) = (share.quantum, share.threshold);
        self.flow_quantum = tins::flow_quantum(share.threshold);
    }

    /// Creates tin `n` of those that `params` define, empty.
    pub(super) fn new(params: &CakeParams, n: usize) -> Self {
        let rate = params.bandwidth.map_or(0, tins::bytes_a_second);
        let share = params.tins.share(n, rate);
        let pace = Pace::new(share.threshold);
        let flow = || CakeFlow {
            list: PktList::default(),
            aqm: CobaltState::default(),
            deficit: 0,
            set: Set::None,
            place: Place::NONE,
            source: 0,
            destination: 0,
        };
        let hosts = || vec![CakeHost::default(); QUEUES].into_boxed_slice();
        Self {
            flows: (0..QUEUES).map(|_| flow()).collect(),
            chains: Chains::new(),
            tags: vec![0; QUEUES].into_boxed_slice(),
            sources: hosts(),
            destinations: hosts(),
            isolation: params.isolation,
            aqm: tins::aqm(params, pace),
            pace,
            quantum: share.quantum,
            flow_quantum: tins::flow_quantum(share.threshold),
            threshold: share.threshold,
            time_next: Instant::ZERO,
            deficit: 0,
            backlog: 0,
            sparse: 0,
            bulk: 0,
            decaying: 0,
            unresponsive: 0,
            counters: TinCounters::default(),
            delays: TinDelays::default(),
        }
    }

    /// Returns true if any queue is sparse or bulk, even if it has run empty.
    #[inline]
    pub(super) fn has_flows(&self) -> bool {
        self.sparse + self.bulk > 0
    }

    /// Returns the queue of a flow, and reserves it for the flow.
    // linux: net/sched/sch_cake.c cake_hash (6.1) - prefers the flow's own queue if reserved for it and
    // active, then a queue of its set that is reserved for it, then an inactive queue of its set. If all are
    // active, the flow shares its own queue.
    #[inline]
    pub(super) fn queue_of(&mut self, keys: Keys) -> usize {
        let own = keys.flow as usize % QUEUES;
        if self.isolation == Isolation::Flowblind {
            return 0;
        }
        if self.tags[own] == keys.flow && self.flows[own].set != Set::None {
            return own;
        }
        self.reserve(own, keys)
    }

    fn reserve(&mut self, own: usize, keys: Keys) -> usize {
        let idle = |n: &usize| self.flows[*n].set == Set::None;
        let (queue, newcomer) = if let Some(n) = ways(keys.flow).find(|&n| self.tags[n] == keys.flow) {
            self.counters.way_indirect_hits += u64::from(n != own);
            (n, idle(&n))
        } else if let Some(n) = ways(keys.flow).find(idle) {
            self.counters.way_misses += 1;
            (n, true)
        } else {
            self.counters.way_collisions += 1;
            (own, true)
        };
        self.tags[queue] = keys.flow;
        if newcomer {
            // A queue that changes hands moves its bulk count from one host to the other.
            let bulk = self.flows[queue].set == Set::Bulk;
            if bulk {
                self.leave_bulk(queue);
            }
            if self.isolation.counts_sources() {
                self.flows[queue].source = host(&mut self.sources, keys.source);
            }
            if self.isolation.counts_destinations() {
                self.flows[queue].destination = host(&mut self.destinations, keys.destination);
            }
            if bulk {
                self.enter_bulk(queue);
            }
        }
        queue
    }

    fn hosts_of(&mut self, queue: usize) -> impl Iterator<Item = &mut CakeHost> {
        let flow = &self.flows[queue];
        let source = self.isolation.counts_sources().then(|| &mut self.sources[usize::from(flow.source)]);
        let destination = self
            .isolation
            .counts_destinations()
            .then(|| &mut self.destinations[usize::from(flow.destination)]);
        source.into_iter().chain(destination)
    }

    fn enter_bulk(&mut self, queue: usize) {
        self.hosts_of(queue).for_each(|host| host.bulk += 1);
    }

    fn leave_bulk(&mut self, queue: usize) {
        self.hosts_of(queue).for_each(|host| host.bulk = host.bulk.saturating_sub(1));
    }

    /// Quantum of a queue: smaller the more bulk queues its busier host has.
    // linux: net/sched/sch_cake.c cake_get_flow_quantum (6.1, with its stable updates) - divides by a table
    // of 65535 / n, and dithers fractions of a byte so that no flow always loses them.
    fn turn(&mut self, queue: usize, chance: &mut RandomStream) -> i32 {
        let load = self.hosts_of(queue).map(|host| host.bulk).fold(1, u16::max);
        let fraction = chance.word() >> 16;
        ((self.flow_quantum * (65_535 / u32::from(load)) + fraction) >> 16) as i32
    }

    /// Activates a queue when a packet arrives.
    // linux: net/sched/sch_cake.c cake_enqueue (6.1).
    pub(super) fn rouse(&mut self, queue: usize, chance: &mut RandomStream) {
        match self.flows[queue].set {
            set @ (Set::None | Set::Decaying) => {
                self.decaying -= u32::from(set == Set::Decaying);
                self.chains.append(Chain::New, queue);
                self.flows[queue].set = Set::Sparse;
                self.sparse += 1;
                self.flows[queue].deficit = self.turn(queue, chance);
            }
            Set::SparseWait => self.sparse_to_bulk(queue),
            Set::Sparse | Set::Bulk => {}
        }
    }

    fn sparse_to_bulk(&mut self, queue: usize) {
        self.flows[queue].set = Set::Bulk;
        self.sparse -= 1;
        self.bulk += 1;
        self.enter_bulk(queue);
    }

    /// Returns the queue to serve. With `anew`, decaying queues come first.
    // linux: net/sched/sch_cake.c cake_dequeue (6.1) - serves them too if no other queue is active.
    pub(super) fn next(&mut self, anew: bool, chance: &mut RandomStream) -> Option<usize> {
        let mut decaying = if anew { self.chains.first(Chain::Decaying) } else { None };
        loop {
            let queue = decaying
                .take()
                .or_else(|| self.chains.first(Chain::New))
                .or_else(|| self.chains.first(Chain::Old))
                .or_else(|| self.chains.first(Chain::Decaying))?;
            if self.flows[queue].deficit > 0 {
                return Some(queue);
            }
            if self.flows[queue].set == Set::Sparse {
                if self.flows[queue].list.is_empty() {
                    self.flows[queue].set = Set::SparseWait;
                } else {
                    self.sparse_to_bulk(queue);
                }
            }
            self.flows[queue].deficit += self.turn(queue, chance);
            self.chains.append(Chain::Old, queue);
        }
    }

    /// Retires a queue found empty at its turn: removes it, or lets it decay until its AQM is at rest.
    pub(super) fn retire(&mut self, queue: usize, at_rest: bool) {
        match self.flows[queue].set {
            Set::Bulk => {
                self.bulk -= 1;
                self.leave_bulk(queue);
            }
            Set::Sparse | Set::SparseWait => self.sparse -= 1,
            Set::Decaying => self.decaying -= 1,
            Set::None => unreachable!("a queue on no list has no turn"),
        }
        if at_rest {
            self.chains.remove(queue);
            self.flows[queue].set = Set::None;
        } else {
            self.chains.append(Chain::Decaying, queue);
            self.decaying += 1;
            self.flows[queue].set = Set::Decaying;
        }
    }
}
