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
