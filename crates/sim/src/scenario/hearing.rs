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
        self.deaf.is_empty() && self.faint.is_empty()
    }

    /// The same by pair, for those who ask for all of them: positions make a group of each pair.
    pub fn pairs(&self) -> AudiblePairs {
        AudiblePairs { deaf: pairs(&self.deaf), faint: pairs(&self.faint) }
    }
}

/// Pairs of radios that do not hear each other as all others do, each the earlier one first and in order.
#[derive(Debug)]
pub struct AudiblePairs {
    deaf: Vec<(InterfaceRef, InterfaceRef)>,
    faint: Vec<(InterfaceRef, InterfaceRef)>,
}

impl AudiblePairs {
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

/// All pairs within groups, in order and each once.
fn pairs(groups: &[Vec<InterfaceRef>]) -> Vec<(InterfaceRef, InterfaceRef)> {
    let mut all = Vec::new();
    for group in groups {
        for (n, &a) in group.iter().enumerate() {
            all.extend(group[n + 1..].iter().map(|&b| pair(a, b)));
        }
    }
    all.sort_unstable();
    all.dedup();
    all
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
        ) {
            let groups = |all: &[Vec<usize>]| -> Vec<Vec<_>> {
                all.iter().map(|group| group.iter().map(|&n| radio(n)).collect()).collect()
            };
            let pairs = Audible { deaf: groups(&deaf), faint: groups(&faint) }.pairs();
            for (a, b) in (0..8).flat_map(|a| (0..8).map(move |b| (a, b))) {
                let both = |all: &[Vec<usize>]| {
                    a / 2 != b / 2 && all.iter().any(|group| group.contains(&a) && group.contains(&b))
                };
                let expected = match (both(&deaf), both(&faint)) {
                    (true, _) => Hearing::Nothing,
                    (false, true) => Hearing::Faint,
                    (false, false) => Hearing::Clear,
                };
                prop_assert_eq!(pairs.between(radio(a), radio(b)), expected);
            }
        }
    }
}
