//! Audibility on a channel, as the scenario describes it.

use stillair_model::wifi::air::audibility::Hearing;

use super::InterfaceRef;

/// Groups of interfaces whose radios receive each other less well than the others. Each interface represents
/// its radio.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Audible {
    /// Groups of stations hidden from each other.
    pub hidden: Vec<Vec<InterfaceRef>>,
    /// Groups in which each radio senses the energy of the others but cannot decode their frames.
    pub sense_only: Vec<Vec<InterfaceRef>>,
    /// Pairs that cannot sense or cannot decode each other because of their distance, sorted, the earlier
    /// interface first.
    pub apart: Vec<(InterfaceRef, InterfaceRef, Hearing)>,
}

/// Levels that decide which frame is received in a collision (capture effect).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CaptureLevels {
    /// Level by which a frame must exceed the sum of all others, in thousandths of a dB.
    pub threshold: u32,
    /// Received power between pairs of radios in thousandths of a dBm, sorted, the earlier radio first.
    pub levels: Vec<(InterfaceRef, InterfaceRef, i32)>,
}

impl CaptureLevels {
    /// Returns the received power between two radios in thousandths of a dBm; `i32::MIN` if unknown.
    pub fn between(&self, a: InterfaceRef, b: InterfaceRef) -> i32 {
        let found = self.levels.binary_search_by_key(&pair(a, b), |&(a, b, _)| (a, b));
        found.map_or(i32::MIN, |at| self.levels[at].2)
    }
}

impl Audible {
    /// Returns true if every radio hears every other.
    pub fn is_full(&self) -> bool {
        self.hidden.is_empty() && self.sense_only.is_empty() && self.apart.is_empty()
    }

    /// Converts the groups to pairs of radios.
    pub fn pairs(&self) -> AudiblePairs {
        let all = |groups: &[Vec<InterfaceRef>], how: Hearing| {
            let apart = self.apart.iter().filter(|&&(_, _, hearing)| hearing == how).map(|&(a, b, _)| (a, b));
            let mut all: Vec<_> = apart.collect();
            add_pairs(groups, &mut all);
            all
        };
        AudiblePairs {
            hidden: all(&self.hidden, Hearing::Nothing),
            sense_only: all(&self.sense_only, Hearing::Faint),
        }
    }

    /// Returns the groups whose members do not hear, or cannot decode, each other. Each pair separated by
    /// distance is a group.
    pub fn groups(&self, how: Hearing) -> impl Iterator<Item = Vec<InterfaceRef>> {
        let groups = if how == Hearing::Nothing { &self.hidden } else { &self.sense_only };
        let apart = self.apart.iter().filter(move |&&(_, _, hearing)| hearing == how);
        groups.iter().cloned().chain(apart.map(|&(a, b, _)| vec![a, b]))
    }
}

/// Pairs of radios with restricted audibility, sorted, the earlier radio first.
#[derive(Debug)]
pub struct AudiblePairs {
    hidden: Vec<(InterfaceRef, InterfaceRef)>,
    sense_only: Vec<(InterfaceRef, InterfaceRef)>,
}

impl AudiblePairs {
    /// Returns all pairs, with those that do not hear each other last. Includes pairs of radios in one node,
    /// although these hear each other.
    pub fn all(&self) -> impl Iterator<Item = (InterfaceRef, InterfaceRef, Hearing)> {
        let sense_only = self.sense_only.iter().map(|&(a, b)| (a, b, Hearing::Faint));
        sense_only.chain(self.hidden.iter().map(|&(a, b)| (a, b, Hearing::Nothing)))
    }

    /// Returns how well one radio hears another. Radios in one node always hear each other.
    pub fn between(&self, a: InterfaceRef, b: InterfaceRef) -> Hearing {
        let among = |pairs: &[_]| a.node != b.node && pairs.binary_search(&pair(a, b)).is_ok();
        match (among(&self.hidden), among(&self.sense_only)) {
            (true, _) => Hearing::Nothing,
            (false, true) => Hearing::Faint,
            (false, false) => Hearing::Clear,
        }
    }
}

/// Orders two radios, the earlier one first.
fn pair(a: InterfaceRef, b: InterfaceRef) -> (InterfaceRef, InterfaceRef) {
    (a.min(b), a.max(b))
}

/// Adds all pairs within groups, then sorts and deduplicates.
fn add_pairs(groups: &[Vec<InterfaceRef>], all: &mut Vec<(InterfaceRef, InterfaceRef)>) {
    for group in groups {
        for (n, &a) in group.iter().enumerate() {
            all.extend(group[n + 1..].iter().map(|&b| pair(a, b)));
        }
    }
    all.sort_unstable();
    all.dedup();
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const fn radio(n: usize) -> InterfaceRef {
        InterfaceRef { node: n / 2, interface: n % 2 }
    }

    proptest! {
        /// Reference implementation: checks the groups one by one.
        #[test]
        fn pairs_match_groups(
            hidden in prop::collection::vec(prop::collection::vec(0..8_usize, 2..5), 0..4),
            sense_only in prop::collection::vec(prop::collection::vec(0..8_usize, 2..5), 0..4),
            far in prop::collection::vec((0..8_usize, 0..8_usize, any::<bool>()), 0..4),
        ) {
            let groups = |all: &[Vec<usize>]| -> Vec<Vec<_>> {
                all.iter().map(|group| group.iter().map(|&n| radio(n)).collect()).collect()
            };
            let apart = far.iter().filter(|&&(a, b, _)| a / 2 != b / 2).map(|&(a, b, hidden)| {
                let (a, b) = pair(radio(a), radio(b));
                (a, b, if hidden { Hearing::Nothing } else { Hearing::Faint })
            });
            let pairs = Audible { hidden: groups(&hidden), sense_only: groups(&sense_only), apart: apart.collect() }.pairs();
            for (a, b) in (0..8).flat_map(|a| (0..8).map(move |b| (a, b))) {
                let both = |all: &[Vec<usize>], no: bool| {
                    let far = far.iter().any(|&(c, d, hidden)| hidden == no && [(a, b), (b, a)].contains(&(c, d)));
                    a / 2 != b / 2 && (far || all.iter().any(|group| group.contains(&a) && group.contains(&b)))
                };
                let expected = match (both(&hidden, true), both(&sense_only, false)) {
                    (true, _) => Hearing::Nothing,
                    (false, true) => Hearing::Faint,
                    (false, false) => Hearing::Clear,
                };
                prop_assert_eq!(pairs.between(radio(a), radio(b)), expected);
                let listed = pairs.all().filter(|&(c, d, _)| (c, d) == pair(radio(a), radio(b)) && a / 2 != b / 2);
                prop_assert_eq!(listed.last().map_or(Hearing::Clear, |(_, _, how)| how), expected);
            }
        }
    }
}
