//! Who hears whom on a channel.

use alloc::vec::Vec;

/// How a radio hears another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hearing {
    /// Not at all: neither is its own transmission disturbed nor does it keep silent.
    Nothing,
    /// It senses a transmission, and what it receives meanwhile is disturbed, but it understands nothing.
    Faint,
    /// It senses and understands it.
    Clear,
}

/// For each radio of a channel those that hear it.
#[derive(Clone, Debug)]
pub struct Audibility {
    /// By radio: who hears it, and whether clearly.
    listeners: Vec<Vec<(u16, bool)>>,
}

impl Audibility {
    /// That of `radios` radios, of which the second hears the first as `hearing` says.
    pub fn new(radios: usize, hearing: impl Fn(usize, usize) -> Hearing) -> Self {
        let of = |from: usize| {
            let listener = |to: usize| match hearing(from, to) {
                Hearing::Nothing => None,
                heard => (to != from).then_some((to as u16, heard == Hearing::Clear)),
            };
            (0..radios).filter_map(listener).collect()
        };
        Self { listeners: (0..radios).map(of).collect() }
    }

    /// Radios.
    pub fn radios(&self) -> usize {
        self.listeners.len()
    }

    /// Who hears a radio, by number, and whether clearly.
    #[inline]
    pub fn listeners(&self, from: usize) -> &[(u16, bool)] {
        &self.listeners[from]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_three() {
        // Each clearly by its neighbours; the first faintly by the last, which it does not hear itself.
        let row = Audibility::new(3, |from, to| match from.abs_diff(to) {
            0 | 1 => Hearing::Clear,
            _ if from == 0 => Hearing::Faint,
            _ => Hearing::Nothing,
        });
        assert_eq!(row.listeners(0), [(1, true), (2, false)]);
        assert_eq!(row.listeners(1), [(0, true), (2, true)]);
        assert_eq!(row.listeners(2), [(1, true)]);
    }
}
