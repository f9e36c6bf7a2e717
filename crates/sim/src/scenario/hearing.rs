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
    /// By pair of radios, those of a channel in the order of their nodes: how loud they hear each other, in thousandths of a dBm.
    pub levels: Vec<(InterfaceRef, InterfaceRef, i32)>,
}

impl CaptureLevels {
    /// How loud one radio is heard by another; nothing by itself.
    pub fn between(&self, a: InterfaceRef, b: InterfaceRef) -> i32 {
        let pair = |&&(x, y, _): &&_| (x, y) == (a, b) || (x, y) == (b, a);
        self.levels.iter().find(pair).map_or(i32::MIN, |&(_, _, level)| level)
    }
}

impl Audible {
    /// Everybody hears everybody.
    pub fn is_full(&self) -> bool {
        self.deaf.is_empty() && self.faint.is_empty()
    }

    /// How one radio hears another. Those of one node always hear each other.
    pub fn between(&self, a: InterfaceRef, b: InterfaceRef) -> Hearing {
        let both = |groups: &[Vec<InterfaceRef>]| {
            a.node != b.node && groups.iter().any(|group| group.contains(&a) && group.contains(&b))
        };
        match (both(&self.deaf), both(&self.faint)) {
            (true, _) => Hearing::Nothing,
            (false, true) => Hearing::Faint,
            (false, false) => Hearing::Clear,
        }
    }
}
