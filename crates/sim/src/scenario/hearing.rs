//! Who hears whom on a channel, as the scenario says it.

use stillair_model::wifi::air::audibility::Hearing;

use super::InterfaceRef;

/// Groups of interfaces, each of those whose radio it is, that do not hear each other as all others do.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Audible {
    /// In each, nobody hears any other.
    pub deaf: Vec<Vec<InterfaceRef>>,
    /// In each, everybody senses the others without understanding them.
    pub faint: Vec<Vec<InterfaceRef>>,
    /// Pairs that do not hear or do not understand each other over the distance between them, the earlier one first and in order.
    pub apart: Vec<(InterfaceRef, InterfaceRef, Hearing)>,
}

/// What is needed to say which frame comes through others.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CaptureLevels {
    /// By how much it must be louder than all others together, in thousandths of a decibel.
    pub threshold: u32,
    /// By pair of radios, the earlier one first and in order: how loud they hear each other, in thousandths of a dBm.
    pub levels: Vec<(InterfaceRef, InterfaceRef, i32)>,
}

impl CaptureLevels {
    /// How loud one radio is heard by another; nothing by itself.
    pub fn between(&self, a: InterfaceRef, b: InterfaceRef) -> i32 {
        let found = self.levels.binary_search_by_key(&pair(a, b), |&(a, b, _)| (a, b));
        found.map_or(i32::MIN, |at| self.levels[at].2)
    }
}

impl Audible {
    /// Everybody hears everybody.
    pub fn is_full(&self) -> bool {
        self.deaf.is_empty() && self.faint.is_empty() && self.apart.is_empty()
    }

    /// The same by pair, for those who ask for all of them.
    pub fn pairs(&self) -> AudiblePairs {
        let all = |groups: &[Vec<InterfaceRef>], how: Hearing| {
            let apart = self.apart.iter().filter(|&&(_, _, hearing)| hearing == how).map(|&(a, b, _)| (a, b));
            let mut all: Vec<_> = apart.collect();
            add_pairs(groups, &mut all);
            all
        };
        AudiblePairs { deaf: all(&self.deaf, Hearing::Nothing), faint: all(&self.faint, Hearing::Faint) }
    }

    /// The groups of those who do not hear each other at all, or do not understand each other; over a distance each pair is one.
    pub fn groups(&self, how: Hearing) -> impl Iterator<Item = Vec<InterfaceRef>> {
        let groups = if how == Hearing::Nothing { &self.deaf } else { &self.faint };
        let apart = self.apart.iter().filter(move |&&(_, _, hearing)| hearing == how);
        groups.iter().cloned().chain(apart.map(|&(a, b, _)| vec![a, b]))
    }
}

/// Pairs of radios that do not hear each other as all others do, each the earlier one first and in order.
#[derive(Debug)]
pub struct AudiblePairs {
    deaf: Vec<(InterfaceRef, InterfaceRef)>,
    faint: Vec<(InterfaceRef, InterfaceRef)>,
}

impl AudiblePairs {
    /// All of them, those who do not hear each other at all last. Those of one node are among them, although they hear each other.
    pub fn all(&self) -> impl Iterator<Item = (InterfaceRef, InterfaceRef, Hearing)> {
        let faint = self.faint.iter().map(|&(a, b)| (a, b, Hearing::Faint));
        faint.chain(self.deaf.iter().map(|&(a, b)| (a, b, Hearing::Nothing)))
    }

    /// How one radio hears another. Those of one node always hear each other.
    pub fn between(&self, a: InterfaceRef, b: InterfaceRef) -> Hearing {
        let among = |pairs: &[_]| a.node != b.node && pairs.binary_search(&pair(a, b)).is_ok();
        match (among(&self.deaf), among(&self.faint)) {
            (true, _) => Hearing::Nothing,
            (false, true) => Hearing::Faint,
            (false, false) => Hearing::Clear,
        }
    }
}

/// Two radios, the earlier one first.
fn pair(a: InterfaceRef, b: InterfaceRef) -> (InterfaceRef, InterfaceRef) {
    (a.min(b), a.max(b))
}

/// Adds all pairs within groups; they are in order then, each once.
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
        /// As the groups say it, looked through one by one.
        #[test]
        fn pairs_are_those_within_groups(
            deaf in prop::collection::vec(prop::collection::vec(0..8_usize, 2..5), 0..4),
            faint in prop::collection::vec(prop::collection::vec(0..8_usize, 2..5), 0..4),
            far in prop::collection::vec((0..8_usize, 0..8_usize, any::<bool>()), 0..4),
        ) {
            let groups = |all: &[Vec<usize>]| -> Vec<Vec<_>> {
                all.iter().map(|group| group.iter().map(|&n| radio(n)).collect()).collect()
            };
            let apart = far.iter().filter(|&&(a, b, _)| a / 2 != b / 2).map(|&(a, b, deaf)| {
                let (a, b) = pair(radio(a), radio(b));
                (a, b, if deaf { Hearing::Nothing } else { Hearing::Faint })
            });
            let pairs = Audible { deaf: groups(&deaf), faint: groups(&faint), apart: apart.collect() }.pairs();
            for (a, b) in (0..8).flat_map(|a| (0..8).map(move |b| (a, b))) {
                let both = |all: &[Vec<usize>], no: bool| {
                    let far = far.iter().any(|&(c, d, deaf)| deaf == no && [(a, b), (b, a)].contains(&(c, d)));
                    a / 2 != b / 2 && (far || all.iter().any(|group| group.contains(&a) && group.contains(&b)))
                };
                let expected = match (both(&deaf, true), both(&faint, false)) {
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
