//! Trace of a world whose islands run one after another or in parallel. Each island keeps its own trace; the
//! combined trace is hashed in the order of a single world.
//!
//! A single world orders its timers by time and slot, and always handles the first armed timer. An island's
//! timers are armed only by that island, so the next event is the first among the islands' next events, and
//! merging them restores the order of a single world. Events without a trace matter too: a timer that such an
//! event armed for the same instant fires after it, even with a lower slot. Events are therefore identified
//! by their time and the highest slot that their island has handled at that time.

use stillair_model::types::{Instant, Sink, TraceEvent};

use super::Recorder;
use super::hash::TraceHash;

/// A trace event of an island, or the opening of sockets.
#[derive(Clone, Copy, Debug)]
pub struct Traced {
    at: Instant,
    /// Highest slot handled at that time.
    slot: u32,
    /// Number of sockets opened; if 0, the entry is a hashed event.
    opened: u32,
    words: [u64; 2],
}

/// Trace sink that keeps the input of the hash: the words of each event, in order.
#[derive(Debug, Default)]
pub struct Log {
    at: Instant,
    slot: u32,
    /// Entries so far.
    pub kept: Vec<Traced>,
}

impl Log {
    /// Starts a turn of an island, whose time may be earlier than that of the last event.
    pub fn turns(&mut self) {
        self.at = Instant::NEVER;
    }

    /// Starts an event. Later entries belong to the event of this slot.
    #[inline]
    pub fn begins(&mut self, now: Instant, slot: u32) {
        self.slot = if now == self.at { self.slot.max(slot) } else { slot };
        self.at = now;
    }

    /// Records that the event opened `sockets` sockets, the first of them with number `first` among the
    /// sockets opened during the run. The timer slots of sockets follow the order in which all sockets of a
    /// world are opened.
    pub fn opened(&mut self, first: usize, sockets: usize) {
        self.keep(sockets as u32, [first as u64, 0]);
    }

    #[inline]
    fn keep(&mut self, opened: u32, words: [u64; 2]) {
        self.kept.push(Traced { at: self.at, slot: self.slot, opened, words });
    }
}

impl Sink for Log {
    #[inline]
    fn event(&mut self, now: Instant, what: &TraceEvent) {
        if let Some(words) = TraceHash::words(now, what) {
            self.keep(0, words);
        }
    }
}

/// Trace hash of several islands, merged into the order of a single world.
#[derive(Debug)]
pub struct MergedHash {
    hash: TraceHash,
    /// First timer slot of sockets opened during the run.
    first: u32,
    /// For each world, the number that each such socket would have in a single world.
    numbers: Vec<Vec<u32>>,
    opened: u32,
}

impl MergedHash {
    /// Creates a hash for this many worlds. Sockets opened during the run have slots from `first` on.
    pub fn new(worlds: usize, first: u32) -> Self {
        Self { hash: TraceHash::default(), first, numbers: vec![Vec::new(); worlds], opened: 0 }
    }

    /// Adds the entries kept by the islands in a part of the run. Each slice comes with the number of its
    /// world.
    pub fn add(&mut self, islands: &[(usize, &[Traced])]) {
        let mut heads: Vec<(Key, usize, &[Traced])> =
            islands.iter().filter_map(|&(world, kept)| Some((self.key(world, kept)?, world, kept))).collect();
        while let Some(first) = (0..heads.len()).min_by_key(|&n| heads[n].0) {
            let next = heads.iter().enumerate().filter(|&(n, _)| n != first).map(|(_, head)| head.0).min();
            let (key, world, kept) = &mut heads[first];
            // One event often has several entries.
            while next.is_none_or(|next| *key < next) {
                let (head, rest) = kept.split_first().expect("who has a key has more");
                if head.opened == 0 {
                    self.hash.mix_event(head.words);
                } else {
                    self.open(*world, head.words[0] as usize, head.opened);
                }
                *kept = rest;
                match self.key(*world, rest) {
                    Some(then) => *key = then,
                    None => break,
                }
            }
            if heads[first].2.is_empty() {
                heads.swap_remove(first);
            }
        }
    }

    fn open(&mut self, world: usize, first: usize, sockets: u32) {
        let numbers = &mut self.numbers[world];
        // Sockets with lower numbers in this world may be opened later.
        numbers.resize(numbers.len().max(first + sockets as usize), u32::MAX);
        for number in &mut numbers[first..first + sockets as usize] {
            *number = self.opened;
            self.opened += 1;
        }
    }

    /// Returns the position of the first entry in the single order.
    #[inline]
    fn key(&self, world: usize, kept: &[Traced]) -> Option<Key> {
        let &Traced { at, slot, .. } = kept.first()?;
        let slot = match slot.checked_sub(self.first) {
            None => slot,
            Some(opened) => self.first + self.numbers[world][opened as usize],
        };
        Some((at, slot))
    }
}

type Key = (Instant, u32);

impl Recorder {
    /// Takes over the flow and station records of world `number` from another recorder.
    pub fn take_over(&mut self, other: Self, number: u16, (flows, stations): (&[u16], &[u16])) {
        let own = |whose: &[u16], n: usize| whose[n] == number;
        for (n, record) in other.flows.into_iter().enumerate().filter(|(n, _)| own(flows, *n)) {
            self.flows[n] = record;
        }
        for (n, record) in other.stations.into_iter().enumerate().filter(|(n, _)| own(stations, *n)) {
            self.stations[n] = record;
        }
    }

    /// Sets the hash of the whole trace.
    pub fn set_hash(&mut self, merged: &MergedHash) {
        self.hash = merged.hash;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// Effects of an event: number of trace entries, timer of its island to arm and its delay, sockets to
    /// open.
    type Act = (u8, u8, u64, u32);
    /// Timers that each island has from the start.
    const FIRST: u32 = 3;

    /// Timers of islands. Each timer that fires performs the next act of its island.
    struct Play<'a> {
        acts: &'a [Vec<Act>],
        /// Per island: acts done, armed timers by slot, and timer slots.
        state: Vec<(usize, BTreeMap<u32, u64>, Vec<u32>)>,
        /// Sockets opened in this world.
        opened: u32,
    }

    impl<'a> Play<'a> {
        fn new(acts: &'a [Vec<Act>]) -> Self {
            let islands = acts.len() as u32;
            let slots = |island: u32| (0..FIRST).map(|n| n * islands + island).collect::<Vec<_>>();
            // All islands start at the same instant.
            let start =
                |island| (0, slots(island).into_iter().map(|slot| (slot, 5)).collect(), slots(island));
            Self { acts, state: (0..islands).map(start).collect(), opened: 0 }
        }

        fn first_opened(&self) -> u32 {
            FIRST * self.acts.len() as u32
        }

        /// Handles the events of these islands before `end`, in a single order.
        fn run(&mut self, which: &[usize], end: u64, log: &mut Log) {
            log.turns();
            loop {
                let due =
                    which.iter().flat_map(|&n| self.state[n].1.iter().map(move |(&slot, &at)| (at, slot, n)));
                let Some((at, slot, n)) = due.min().filter(|&(at, ..)| at < end) else { return };
                log.begins(Instant::from_nanos(at), slot);
                let first = self.first_opened();
                let (done, armed, slots) = &mut self.state[n];
                armed.remove(&slot);
                let Some(&(traces, timer, ahead, opens)) = self.acts[n].get(*done) else { continue };
                *done += 1;
                (0..traces).for_each(|_| log.keep(0, [n as u64, *done as u64]));
                armed.insert(slots[usize::from(timer) % slots.len()], at + ahead);
                if opens > 0 {
                    log.opened(self.opened as usize, opens as usize);
                    for socket in first + self.opened..first + self.opened + opens {
                        slots.push(socket);
                        armed.insert(socket, at + ahead);
                    }
                    self.opened += opens;
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, max_shrink_iters: 200, failure_persistence: None, ..ProptestConfig::default() })]
        /// However islands are divided among worlds and turns, the hash is that of a single world. Most
        /// events share an instant with others.
        #[test]
        fn merged_order_is_that_of_a_single_world(
            acts in prop::collection::vec(
                prop::collection::vec((0_u8..3, 0_u8..20, 0_u64..3, prop_oneof![4 => Just(0), 1 => 1_u32..3]), 0..30), 1..6),
            worlds in prop::collection::vec(0_usize..3, 6),
            turn in 1_u64..40,
        ) {
            let all: Vec<usize> = (0..acts.len()).collect();
            let mut one = Log::default();
            Play::new(&acts).run(&all, u64::MAX, &mut one);
            let mut hash = TraceHash::default();
            one.kept.iter().filter(|kept| kept.opened == 0).for_each(|kept| hash.mix_event(kept.words));

            let mut plays = [(); 3].map(|()| (Play::new(&acts), Log::default()));
            let mut merged = MergedHash::new(3, plays[0].0.first_opened());
            for end in (0..8).map(|n| n * turn).chain([u64::MAX]) {
                let mut kept = Vec::new();
                for &n in &all {
                    let (play, log) = &mut plays[worlds[n]];
                    play.run(&[n], end, log);
                    kept.push((worlds[n], core::mem::take(&mut log.kept)));
                }
                merged.add(&kept.iter().map(|(world, kept)| (*world, &**kept)).collect::<Vec<_>>());
            }
            prop_assert_eq!(merged.hash.finish(), hash.finish());
        }
    }
}
