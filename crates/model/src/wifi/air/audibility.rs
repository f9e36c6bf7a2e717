//! Audibility: the radios of a channel that each radio can hear.

use alloc::vec::Vec;

/// Degree to which a radio hears another one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hearing {
    /// Not at all. The other radio's transmissions neither disturb reception nor make the medium busy.
    Nothing,
    /// The radio senses the other radio's transmissions, and they disturb its reception, but it cannot decode
    /// them.
    Faint,
    /// The radio senses and decodes the other radio's transmissions.
    Clear,
}

/// For each radio of a channel, the radios that hear it.
#[derive(Clone, Debug)]
pub struct Audibility {
    /// Listeners by sender, with true for those that decode the sender.
    listeners: Vec<Vec<(u16, bool)>>,
}

impl Audibility {
    /// Builds the table for `radios` radios. `hearing(a, b)` returns how radio `b` hears radio `a`.
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

    /// Builds the table for `radios` radios that hear each other clearly, except for `pairs`. If a pair has
    /// several entries, the last one applies.
    pub fn but_for(radios: usize, pairs: impl Iterator<Item = (usize, usize, Hearing)>) -> Self {
        let mut others: Vec<Vec<(u16, Hearing)>> = alloc::vec![Vec::new(); radios];
        for (a, b, hearing) in pairs {
            others[a].push((b as u16, hearing));
            others[b].push((a as u16, hearing));
        }
        let mut row = Vec::new();
        let mut listeners = |(from, others): (usize, Vec<(u16, Hearing)>)| {
            row.clear();
            row.resize(radios, Hearing::Clear);
            others.into_iter().for_each(|(to, hearing)| row[usize::from(to)] = hearing);
            row[from] = Hearing::Nothing;
            let heard = (0..).zip(&row).filter(|&(_, &hearing)| hearing != Hearing::Nothing);
            heard.map(|(to, &hearing)| (to, hearing == Hearing::Clear)).collect()
        };
        Self { listeners: others.into_iter().enumerate().map(&mut listeners).collect() }
    }

    /// Returns the number of radios.
    pub fn radios(&self) -> usize {
        self.listeners.len()
    }

    /// Returns the radios that hear radio `from`, in ascending order, with true for those that decode it.
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
        // Neighbours hear each other clearly. The last radio hears the first faintly; the first does not hear
        // the last.
        let row = Audibility::new(3, |from, to| match from.abs_diff(to) {
            0 | 1 => Hearing::Clear,
            _ if from == 0 => Hearing::Faint,
            _ => Hearing::Nothing,
        });
        assert_eq!(row.listeners(0), [(1, true), (2, false)]);
        assert_eq!(row.listeners(1), [(0, true), (2, true)]);
        assert_eq!(row.listeners(2), [(1, true)]);
    }

    #[test]
    fn exceptions_by_pair() {
        let pairs = [(0, 3, Hearing::Faint), (2, 1, Hearing::Faint), (3, 0, Hearing::Nothing)];
        let some = Audibility::but_for(4, pairs.into_iter());
        assert_eq!(some.listeners(0), [(1, true), (2, true)]);
        assert_eq!(some.listeners(1), [(0, true), (2, false), (3, true)]);
        assert_eq!(some.listeners(2), [(0, true), (1, false), (3, true)]);
        assert_eq!(some.listeners(3), [(1, true), (2, true)]);
    }
}
