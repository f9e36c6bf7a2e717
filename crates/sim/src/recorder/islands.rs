//! The trace of a world whose islands run one after the other or side by side: each keeps what it traces, and all of it is hashed in the order in
//! which one world alone would have traced it.
//!
//! That world has its timers in one order, by time and slot, and always handles the first that is armed. What is armed on an island is
//! armed by that island alone. So the next event is the first among the next events of the islands, and taking those
//! in turn gives back the one order. An event that traces nothing counts too: what it armed for the same instant comes after it, even with a
//! lower slot. So an event is known by its time and the highest slot that its island has handled at that time.

use stillair_model::vocabulary::{Instant, Sink, TraceEvent};

use super::hash::TraceHash;
use super::Recorder;

/// What an island has traced or done.
#[derive(Clone, Copy, Debug)]
pub struct Traced {
    at: Instant,
    /// The highest slot that was handled at that time.
    slot: u32,
    /// So many sockets were opened, and else this is what is hashed.
    opened: u32,
    words: [u64; 2],
}

/// A reader of the trace that keeps what is hashed of it, and what order it is in.
#[derive(Debug, Default)]
pub struct Log {
    at: Instant,
    slot: u32,
    /// What has been kept.
    pub kept: Vec<Traced>,
}

impl Log {
    /// What is kept from now on is of the event of this slot.
    #[inline]
    pub fn begins(&mut self, now: Instant, slot: u32) {
        self.slot = if now == self.at { self.slot.max(slot) } else { slot };
        self.at = now;
    }

    /// The event has opened so many sockets, the first of which is the one of that number among those that are opened in the run: their
    /// timers have slots by the order in which all of a world's are opened.
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

/// The hash of what islands have kept.
#[derive(Debug)]
pub struct MergedHash {
    hash: TraceHash,
    /// The first slot of the sockets that are opened in the run.
    first: u32,
    /// By world: the number of each such socket as one world would have it.
    numbers: Vec<Vec<u32>>,
    opened: u32,
}

impl MergedHash {
    /// Of so many worlds, in which the sockets that are opened in the run have slots from `first` on.
    pub fn new(worlds: usize, first: u32) -> Self {
        Self { hash: TraceHash::default(), first, numbers: vec![Vec::new(); worlds], opened: 0 }
    }

    /// Hashes all that islands have kept of a stretch of time; each comes with its world.
    pub fn add(&mut self, islands: &[(usize, &[Traced])]) {
        let mut heads: Vec<(Key, usize, &[Traced])> =
            islands.iter().filter_map(|&(world, kept)| Some((self.key(world, kept)?, world, kept))).collect();
        while let Some(first) = (0..heads.len()).min_by_key(|&n| heads[n].0) {
            let next = heads.iter().enumerate().filter(|&(n, _)| n != first).map(|(_, head)| head.0).min();
            let (key, world, kept) = &mut heads[first];
            // An event has often traced more than one thing.
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
        // Others of this world may have been opened later although they have lower numbers there.
        numbers.resize(numbers.len().max(first + sockets as usize), u32::MAX);
        for number in &mut numbers[first..first + sockets as usize] {
            *number = self.opened;
            self.opened += 1;
        }
    }

    /// Where the first of these stands in the one order.
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
    /// Takes the records of flows and stations from another recorder, of those for which `whose` has its number.
    pub fn take_over(&mut self, other: Self, number: u16, (flows, stations): (&[u16], &[u16])) {
        let own = |whose: &[u16], n: usize| whose[n] == number;
        for (n, record) in other.flows.into_iter().enumerate().filter(|(n, _)| own(flows, *n)) {
            self.flows[n] = record;
        }
        for (n, record) in other.stations.into_iter().enumerate().filter(|(n, _)| own(stations, *n)) {
            self.stations[n] = record;
        }
    }

    /// The hash of all that was traced is this.
    pub fn set_hash(&mut self, merged: &MergedHash) {
        self.hash = merged.hash;
    }
}
