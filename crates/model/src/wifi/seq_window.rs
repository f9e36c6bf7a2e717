//! Sequence numbers of 12 bits, and the window of 64 that sender and receiver both keep.

/// An 802.11 sequence number, 0 to 4095, compared modulo 4096.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Seq(u16);

impl Seq {
    /// The number `n` modulo 4096.
    pub const fn new(n: u16) -> Self {
        Self(n & 0xfff)
    }
    /// As written into the frame.
    pub const fn get(self) -> u16 {
        self.0
    }
    /// The number `n` further on.
    #[must_use]
    pub const fn plus(self, n: u16) -> Self {
        Self::new(self.0.wrapping_add(n))
    }
    /// Steps from `earlier` on to this one, modulo 4096.
    pub const fn since(self, earlier: Self) -> u16 {
        self.0.wrapping_sub(earlier.0) & 0xfff
    }
}

/// Where a sequence number lies relative to a window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowPosition {
    /// In the half of the number space before the window.
    Behind,
    /// In the window, so many steps after its left edge.
    Inside(u16),
    /// Past the window, so many steps after its left edge.
    Ahead(u16),
}

/// 64 sequence numbers from a moving left edge on, with a mark for each.
///
/// The sender marks what is done with, the receiver what it holds; for both the left edge is the oldest number
/// that is still open.
// spec: ieee80211 10.24.7 - full-state Block Ack of 64 frames; a number in the half of the space before the window is old.
#[derive(Clone, Copy, Debug, Default)]
pub struct SeqWindow {
    start: Seq,
    marks: u64,
}

impl SeqWindow {
    /// Numbers in a window.
    pub const SIZE: u16 = 64;

    /// An unmarked window that starts at `start`.
    pub const fn new(start: Seq) -> Self {
        Self { start, marks: 0 }
    }
    /// The left edge.
    #[inline]
    pub const fn start(&self) -> Seq {
        self.start
    }
    /// Where `seq` lies.
    #[inline]
    pub const fn position(&self, seq: Seq) -> WindowPosition {
        match seq.since(self.start) {
            n if n < Self::SIZE => WindowPosition::Inside(n),
            n if n < 2048 => WindowPosition::Ahead(n),
            _ => WindowPosition::Behind,
        }
    }
    /// Whether any number is marked.
    #[inline]
    pub const fn any(&self) -> bool {
        self.marks != 0
    }
    /// Marks the number `offset` steps after the left edge.
    #[inline]
    pub const fn mark(&mut self, offset: u16) {
        self.marks |= 1 << offset;
    }
    /// Whether the number `offset` steps after the left edge is marked.
    #[inline]
    pub const fn is_marked(&self, offset: u16) -> bool {
        self.marks >> offset & 1 == 1
    }
    /// Offsets of the marks, in order.
    #[inline]
    pub fn marked(&self) -> impl Iterator<Item = u16> + use<> {
        let mut left = self.marks;
        core::iter::from_fn(move || {
            let first = (left != 0).then(|| left.trailing_zeros() as u16)?;
            left &= left - 1;
            Some(first)
        })
    }
    /// Moves the left edge by `n` numbers; marks that fall out are lost.
    #[inline]
    pub const fn shift(&mut self, n: u16) {
        self.start = self.start.plus(n);
        self.marks = if n >= Self::SIZE { 0 } else { self.marks >> n };
    }
    /// Moves the left edge past the marked numbers that it stands at; returns how many.
    #[inline]
    pub const fn advance(&mut self) -> u16 {
        let n = self.marks.trailing_ones() as u16;
        self.shift(n);
        n
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_wrap_around() {
        let w = SeqWindow::new(Seq::new(4090));
        assert_eq!(w.position(Seq::new(4090)), WindowPosition::Inside(0));
        assert_eq!(w.position(Seq::new(57)), WindowPosition::Inside(63));
        assert_eq!(w.position(Seq::new(58)), WindowPosition::Ahead(64));
        assert_eq!(w.position(Seq::new(4089)), WindowPosition::Behind);
        assert_eq!(w.position(Seq::new(4090 + 2047)), WindowPosition::Ahead(2047));
        assert_eq!(w.position(Seq::new(4090 + 2048)), WindowPosition::Behind);
    }

    #[test]
    fn the_left_edge_waits_for_the_oldest() {
        let mut w = SeqWindow::new(Seq::new(10));
        w.mark(1);
        w.mark(2);
        assert_eq!((w.advance(), w.start().get(), w.marked().next()), (0, 10, Some(1)));
        w.mark(0);
        assert_eq!((w.advance(), w.start().get(), w.any()), (3, 13, false));
        (0..64).for_each(|n| w.mark(n));
        assert_eq!((w.advance(), w.start().get(), w.any()), (64, 77, false));
    }
}
