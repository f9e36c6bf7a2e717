//! Per-frame flags of a PPDU.

use core::ops::{BitAnd, Not};

const WORDS: usize = Marks::MOST / Marks::WORD;

/// One flag bit for each of up to 256 frames, 64 per word. Loops work on words, so a PPDU of up to 64 frames
/// costs one word.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Marks([u64; WORDS]);

impl Marks {
    /// Maximum frames per PPDU.
    pub const MOST: usize = 256;
    /// Frames per word.
    pub const WORD: usize = 64;
    /// No frame marked.
    pub const NONE: Self = Self([0; WORDS]);

    /// Marks the first `n` frames.
    #[inline]
    pub fn first(n: usize) -> Self {
        match n {
            0 => Self::NONE,
            1..=Self::WORD => Self([u64::MAX >> (Self::WORD - n), 0, 0, 0]),
            _ => Self::each(n, |_| true),
        }
    }

    /// Marks the first 64 frames by the bits of `word`.
    #[inline]
    pub const fn of(word: u64) -> Self {
        Self([word, 0, 0, 0])
    }

    /// Marks the frames below `n` for which `is` returns true. Calls `is` in frame order.
    #[inline]
    pub fn each(n: usize, mut is: impl FnMut(usize) -> bool) -> Self {
        if n <= Self::WORD {
            return Self::of((0..n).fold(0, |word, frame| word | u64::from(is(frame)) << frame));
        }
        let (mut marks, mut begin) = (Self::NONE, 0);
        for word in &mut marks.0 {
            for frame in begin..n.min(begin + Self::WORD) {
                *word |= u64::from(is(frame)) << (frame - begin);
            }
            begin += Self::WORD;
            if begin >= n {
                break;
            }
        }
        marks
    }

    /// Returns the words. The first frame is the lowest bit of the first word.
    #[inline]
    pub const fn words(&self) -> &[u64; WORDS] {
        &self.0
    }

    /// Sets the marks of the 64 frames from frame 64 x `word`.
    #[inline]
    pub const fn put(&mut self, word: usize, bits: u64) {
        self.0[word] = bits;
    }

    /// Marks a frame.
    #[inline]
    pub const fn mark(&mut self, frame: usize) {
        self.0[frame / Self::WORD] |= 1 << (frame % Self::WORD);
    }

    /// Clears a frame's mark.
    #[inline]
    pub const fn clear(&mut self, frame: usize) {
        self.0[frame / Self::WORD] &= !(1 << (frame % Self::WORD));
    }

    /// Returns true if the frame is marked.
    #[inline]
    pub const fn has(&self, frame: usize) -> bool {
        self.0[frame / Self::WORD] >> (frame % Self::WORD) & 1 == 1
    }

    /// Returns true if any frame is marked.
    #[inline]
    pub const fn any(&self) -> bool {
        self.0[0] | self.0[1] | self.0[2] | self.0[3] != 0
    }

    /// Returns the number of marked frames.
    #[inline]
    pub fn count(&self) -> u32 {
        let near = self.0[0].count_ones();
        if self.0[1] | self.0[2] | self.0[3] == 0 { near } else { near + self.count_far() }
    }

    #[cold]
    fn count_far(&self) -> u32 {
        self.0[1..].iter().map(|word| word.count_ones()).sum()
    }
}

impl BitAnd for Marks {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        Self(core::array::from_fn(|n| self.0[n] & other.0[n]))
    }
}

impl Not for Marks {
    type Output = Self;
    #[inline]
    fn not(self) -> Self {
        Self(self.0.map(|word| !word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    proptest! {
        /// Operations on marks agree with those on a list of booleans.
        #[test]
        fn agrees_with_a_list_of_booleans(
            n in 0_usize..=Marks::MOST,
            given in prop::collection::vec(any::<bool>(), Marks::MOST),
            more in prop::collection::vec(0_usize..Marks::MOST, 0..5),
        ) {
            let mut asked = Vec::new();
            let mut marks = Marks::each(n, |frame| {
                asked.push(frame);
                given[frame]
            });
            prop_assert_eq!(asked, (0..n).collect::<Vec<_>>());
            let mut truth: Vec<bool> = (0..Marks::MOST).map(|frame| frame < n && given[frame]).collect();
            for (&frame, on) in more.iter().zip([true, false, true, true, false]) {
                if on { marks.mark(frame) } else { marks.clear(frame) };
                truth[frame] = on;
            }
            let seen: Vec<bool> = (0..Marks::MOST).map(|frame| marks.has(frame)).collect();
            let words: Vec<bool> = marks.words().iter().flat_map(|w| (0..64).map(move |n| w >> n & 1 == 1)).collect();
            prop_assert_eq!((&seen, &words), (&truth, &truth));
            prop_assert_eq!(marks.count() as usize, truth.iter().filter(|&&is| is).count());
            prop_assert_eq!(marks.any(), truth.contains(&true));
            let first = Marks::first(n);
            prop_assert_eq!((first.count() as usize, (marks & first & !marks).any()), (n, false));
            prop_assert!((0..Marks::MOST).all(|frame| first.has(frame) == (frame < n)));
            prop_assert!((0..Marks::MOST).all(|frame| (marks & first).has(frame) == (truth[frame] && frame < n)));
        }
    }
}
