//! A set of small numbers that can be walked in order without looking at the absent ones one by one.

/// Two levels of bits: a word of the upper level tells which of 64 words of the lower one are not zero.
#[derive(Clone, Debug)]
pub(crate) struct Bitmap {
    words: Vec<u64>,
    summary: Vec<u64>,
}

impl Bitmap {
    /// An empty set of numbers below `n`.
    pub(crate) fn new(n: usize) -> Self {
        let words = n.div_ceil(64);
        Self { words: vec![0; words], summary: vec![0; words.div_ceil(64)] }
    }

    #[inline]
    pub(crate) fn insert(&mut self, i: usize) {
        self.words[i / 64] |= 1 << (i % 64);
        self.summary[i / 4096] |= 1 << (i / 64 % 64);
    }

    #[inline]
    pub(crate) fn remove(&mut self, i: usize) {
        let word = &mut self.words[i / 64];
        *word &= !(1 << (i % 64));
        if *word == 0 {
            self.summary[i / 4096] &= !(1 << (i / 64 % 64));
        }
    }

    /// The numbers in the set, in rising order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        bits(&self.summary).flat_map(|w| bits(&self.words[w..=w]).map(move |bit| w * 64 + bit))
    }
}

/// Positions of the ones in `words`.
fn bits(words: &[u64]) -> impl Iterator<Item = usize> + '_ {
    words.iter().enumerate().flat_map(|(i, &word)| {
        let mut rest = word;
        core::iter::from_fn(move || {
            let bit = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
            rest &= rest - 1;
            Some(i * 64 + bit)
        })
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn as_an_ordered_set(ops in prop::collection::vec((any::<bool>(), 0usize..9000), 0..300)) {
            let (mut map, mut set) = (Bitmap::new(9000), BTreeSet::new());
            for (insert, i) in ops {
                // Few different numbers, so that removals hit; some in each word of the upper level.
                let i = i / 100 * 100;
                if insert {
                    map.insert(i);
                    set.insert(i);
                } else {
                    map.remove(i);
                    set.remove(&i);
                }
                prop_assert!(map.iter().eq(set.iter().copied()));
            }
        }
    }
}
