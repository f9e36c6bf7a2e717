//! 12-bit sequence numbers, and the window of them that both sender and receiver maintain.

/// An 802.11 sequence number, 0 to 4095, compared modulo 4096.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Seq(u16);

impl Seq {
    /// Creates the number `n` modulo 4096.
    pub const fn new(n: u16) -> Self {
        Self(n & 0xfff)
    }
    /// Returns the value of the header field.
    pub const fn get(self) -> u16 {
        self.0
    }
    /// Returns the number `n` steps ahead.
    #[must_use]
    pub const fn plus(self, n: u16) -> Self {
        Self::new(self.0.wrapping_add(n))
    }
    /// Returns the number of steps from `earlier` to this number, modulo 4096.
    pub const fn since(self, earlier: Self) -> u16 {
        self.0.wrapping_sub(earlier.0) & 0xfff
    }
}

/// Position of a sequence number relative to a window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowPosition {
    /// In the half of the number space before the window.
    Behind,
    /// In the window, at this offset from its left edge.
    Inside(u16),
    /// Past the window, at this offset from its left edge.
    Ahead(u16),
}

/// A sliding window of 1 to 256 sequence numbers with a mark for each.
///
/// The sender marks completed numbers, the receiver marks received ones. For both, the left edge is the
/// oldest unfinished number. Only windows of more than 64 numbers use the far marks.
// spec: ieee80211 10.24.7 - full-state Block Ack of the negotiated number of frames; numbers in the half of
// the space before the window are old.
#[derive(Clone, Copy, Debug)]
pub struct SeqWindow {
    start: Seq,
    size: u16,
    near: u64,
    far: [u64; 3],
}

impl Default for SeqWindow {
    fn default() -> Self {
        Self::new(Seq::default(), Self::SIZE)
    }
}

impl SeqWindow {
    /// Default window size.
    // linux: include/linux/ieee80211.h IEEE80211_MAX_AMPDU_BUF_HT (6.12).
    pub const SIZE: u16 = 64;
    /// Maximum window size.
    // linux: include/linux/ieee80211.h IEEE80211_MAX_AMPDU_BUF_HE (6.12).
    pub const MOST: u16 = 256;

    /// Creates an unmarked window of `size` numbers from `start`.
    pub const fn new(start: Seq, size: u16) -> Self {
        debug_assert!(0 < size && size <= Self::MOST);
        Self { start, size, near: 0, far: [0; 3] }
    }
    /// Returns the left edge.
    #[inline]
    pub const fn start(&self) -> Seq {
        self.start
    }
    /// Returns the first number past the window.
    #[inline]
    pub const fn end(&self) -> Seq {
        self.start.plus(self.size)
    }
    /// Returns the number of sequence numbers in the window.
    #[inline]
    pub const fn size(&self) -> u16 {
        self.size
    }
    /// Returns true if the window has more than 64 numbers.
    #[inline]
    pub const fn is_wide(&self) -> bool {
        self.size > Self::SIZE
    }
    /// Returns the position of `seq` relative to the window.
    #[inline]
    pub const fn position(&self, seq: Seq) -> WindowPosition {
        match seq.since(self.start) {
            n if n < self.size => WindowPosition::Inside(n),
            n if n < 2048 => WindowPosition::Ahead(n),
            _ => WindowPosition::Behind,
        }
    }
    /// Returns true if any number is marked.
    #[inline]
    pub const fn any(&self) -> bool {
        self.near != 0 || self.is_wide() && self.far[0] | self.far[1] | self.far[2] != 0
    }
    /// Marks the number at `offset` from the left edge.
    #[inline]
    pub const fn mark(&mut self, offset: u16) {
        if offset < 64 {
            self.near |= 1 << offset;
        } else {
            self.far[offset as usize / 64 - 1] |= 1 << (offset % 64);
        }
    }
    /// Returns true if the number at `offset` from the left edge is marked.
    #[inline]
    pub const fn is_marked(&self, offset: u16) -> bool {
        let word = if offset < 64 { self.near } else { self.far[offset as usize / 64 - 1] };
        word >> (offset % 64) & 1 == 1
    }
    /// Returns the marks, 64 per word. The left edge is the lowest bit of the first word.
    #[inline]
    pub const fn words(&self) -> [u64; 4] {
        [self.near, self.far[0], self.far[1], self.far[2]]
    }
    /// Returns the offsets of marked numbers in ascending order.
    #[inline]
    pub fn marked(&self) -> impl Iterator<Item = u16> + use<> {
        let (mut words, mut begin) = (self.words(), 0);
        core::iter::from_fn(move || {
            while words[0] == 0 {
                words = [words[1], words[2], words[3], 0];
                begin += 64;
                if words == [0; 4] {
                    return None;
                }
            }
            let first = words[0].trailing_zeros() as u16;
            words[0] &= words[0] - 1;
            Some(begin + first)
        })
    }
    /// Moves the left edge by `n` numbers. Marks that leave the window are lost.
    #[inline]
    pub const fn shift(&mut self, n: u16) {
        self.start = self.start.plus(n);
        if self.is_wide() {
            return self.shift_wide(n);
        }
        self.near = if n >= 64 { 0 } else { self.near >> n };
    }
    const fn shift_wide(&mut self, n: u16) {
        let (words, bits) = (n / 64, n % 64);
        let mut k = 0;
        while k < words && k < 4 {
            (self.near, self.far) = (self.far[0], [self.far[1], self.far[2], 0]);
            k += 1;
        }
        if bits > 0 {
            let [a, b, c] = self.far;
            self.near = self.near >> bits | a << (64 - bits);
            self.far = [a >> bits | b << (64 - bits), b >> bits | c << (64 - bits), c >> bits];
        }
    }
    /// Moves the left edge past the marked numbers at the edge. Returns their count.
    #[inline]
    pub const fn advance(&mut self) -> u16 {
        let mut n = self.near.trailing_ones() as u16;
        if n == 64 && self.is_wide() {
            n += self.far_marked();
        }
        self.shift(n);
        n
    }
    /// Number of marked numbers without a gap from offset 64.
    const fn far_marked(&self) -> u16 {
        let (mut n, mut word) = (0, 0);
        while word < 3 {
            n += self.far[word].trailing_ones() as u16;
            if n < 64 * (word as u16 + 1) {
                break;
            }
            word += 1;
        }
        n
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::VecDeque;
    use alloc::vec;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    #[test]
    fn positions_wrap_around() {
        let w = SeqWindow::new(Seq::new(4090), 64);
        assert_eq!(w.position(Seq::new(4090)), WindowPosition::Inside(0));
        assert_eq!(w.position(Seq::new(57)), WindowPosition::Inside(63));
        assert_eq!(w.position(Seq::new(58)), WindowPosition::Ahead(64));
        assert_eq!(w.position(Seq::new(4089)), WindowPosition::Behind);
        assert_eq!(w.position(Seq::new(4090 + 2047)), WindowPosition::Ahead(2047));
        assert_eq!(w.position(Seq::new(4090 + 2048)), WindowPosition::Behind);
    }

    #[test]
    fn the_left_edge_waits_for_the_oldest() {
        let mut w = SeqWindow::new(Seq::new(10), 64);
        w.mark(1);
        w.mark(2);
        assert_eq!((w.advance(), w.start().get(), w.marked().next()), (0, 10, Some(1)));
        w.mark(0);
        assert_eq!((w.advance(), w.start().get(), w.any()), (3, 13, false));
        (0..64).for_each(|n| w.mark(n));
        assert_eq!((w.advance(), w.start().get(), w.any()), (64, 77, false));
    }

    #[derive(Debug, Clone, Copy)]
    enum Op {
        Mark(u16),
        Shift(u16),
        Advance,
    }

    fn ops() -> impl Strategy<Value = Vec<Op>> {
        let one = prop_oneof![
            6 => (0_u16..256).prop_map(Op::Mark),
            1 => (0_u16..70).prop_map(Op::Shift),
            1 => (0_u16..2_048).prop_map(Op::Shift),
            2 => Just(Op::Advance),
        ];
        prop::collection::vec(one, 1..200)
    }

    proptest! {
        /// A window of any size behaves like a list of booleans on the circle of 4,096 numbers.
        #[test]
        fn agrees_with_a_list_of_booleans(
            start in 0_u16..4_096,
            size in prop_oneof![Just(64_u16), Just(128), Just(256), 1_u16..=256],
            ops in ops(),
        ) {
            let mut w = SeqWindow::new(Seq::new(start), size);
            let (mut edge, mut truth) = (u32::from(start), VecDeque::from(vec![false; usize::from(size)]));
            for op in ops {
                let moved = match op {
                    // Numbers near the edge are more likely, so that the window advances.
                    Op::Mark(n) => {
                        let n = if n % 3 == 0 { n % size } else { (n / 16) % size };
                        w.mark(n);
                        truth[usize::from(n)] = true;
                        0
                    }
                    Op::Shift(n) => {
                        w.shift(n);
                        n
                    }
                    Op::Advance => {
                        let want = truth.iter().take_while(|&&is| is).count();
                        prop_assert_eq!(usize::from(w.advance()), want);
                        want as u16
                    }
                };
                for _ in 0..moved {
                    truth.pop_front();
                    truth.push_back(false);
                }
                edge = (edge + u32::from(moved)) % 4_096;
                prop_assert_eq!((w.start().get(), w.size()), (edge as u16, size));
                prop_assert_eq!(w.any(), truth.contains(&true));
                let offsets: Vec<u16> = (0..size).filter(|&n| truth[usize::from(n)]).collect();
                prop_assert_eq!(w.marked().collect::<Vec<_>>(), offsets);
                prop_assert!((0..size).all(|n| w.is_marked(n) == truth[usize::from(n)]));
            }
            // Every number is inside, ahead or behind.
            for n in 0..4_096_u16 {
                let want = match n {
                    n if n < size => WindowPosition::Inside(n),
                    n if n < 2_048 => WindowPosition::Ahead(n),
                    _ => WindowPosition::Behind,
                };
                prop_assert_eq!(w.position(w.start().plus(n)), want);
            }
        }
    }
}
