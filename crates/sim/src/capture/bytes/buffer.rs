//! Growing byte buffer with spare space at the end, so that fixed-size data is stored without a call.

/// Minimum growth in bytes.
const MORE: usize = 1 << 12;

/// The buffer.
#[derive(Debug, Default)]
pub struct Buffer {
    /// Used bytes, followed by zeros or stale bytes.
    bytes: Vec<u8>,
    used: usize,
}

impl Buffer {
    /// Returns the length in bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.used
    }

    /// Returns all bytes.
    #[inline]
    pub fn all(&self) -> &[u8] {
        &self.bytes[..self.used]
    }

    /// Extends the buffer by `N` bytes and returns them. `N` is a constant, so copies have a length known at
    /// compile time.
    #[inline(always)]
    fn next<const N: usize>(&mut self) -> &mut [u8; N] {
        if self.bytes.len() - self.used < N {
            self.grow(N);
        }
        self.bytes[self.used..].first_chunk_mut().expect("there is room")
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, len: usize) {
        let more = self.bytes.len().max(len).max(MORE);
        self.bytes.resize(self.bytes.len() + more, 0);
    }

    /// Appends the first `len` of these bytes.
    #[inline(always)]
    pub fn part<const N: usize>(&mut self, bytes: &[u8; N], len: usize) {
        debug_assert!(len <= N, "a part is no more than the whole");
        *self.next() = *bytes;
        self.used += len;
    }

    /// Appends 32-bit words in network byte order.
    #[inline(always)]
    pub fn words<const N: usize>(&mut self, words: &[u32; N]) {
        let (fours, rest) = words.as_chunks::<4>();
        for &[a, b, c, d] in fours {
            let (upper, lower) = (u64::from(a) << 32 | u64::from(b), u64::from(c) << 32 | u64::from(d));
            self.part(&(u128::from(upper) << 64 | u128::from(lower)).to_be_bytes(), 16);
        }
        for word in rest {
            self.part(&word.to_be_bytes(), 4);
        }
    }

    /// Appends bytes.
    #[inline]
    pub fn extend(&mut self, bytes: &[u8]) {
        if self.bytes.len() - self.used < bytes.len() {
            self.grow(bytes.len());
        }
        self.bytes[self.used..][..bytes.len()].copy_from_slice(bytes);
        self.used += bytes.len();
    }

    /// Overwrites existing bytes at `at`.
    #[inline(always)]
    pub fn set<const N: usize>(&mut self, at: usize, bytes: &[u8; N]) {
        *self.bytes[at..].first_chunk_mut().expect("they are there") = *bytes;
    }

    /// Truncates the buffer to `len` bytes.
    pub fn truncate(&mut self, len: usize) {
        self.used = self.used.min(len);
    }

    /// Copies the range `from` to `to`, which must be at or before it.
    pub fn move_back(&mut self, from: core::ops::Range<usize>, to: usize) {
        self.bytes.copy_within(from, to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn appended_bytes_are_stored(pieces in proptest::collection::vec((0_u8..4, 0_usize..5_000), 0..40)) {
            let (mut room, mut right) = (Buffer::default(), Vec::new());
            for (kind, len) in pieces {
                match kind {
                    0 => {
                        let bytes: [u8; 48] = core::array::from_fn(|n| (n + len) as u8);
                        room.part(&bytes, len % 49);
                        right.extend(&bytes[..len % 49]);
                    }
                    1 => {
                        let words: [u32; 5] = core::array::from_fn(|n| (n * len * 0x1357) as u32);
                        room.words(&words);
                        right.extend(words.iter().flat_map(|w| w.to_be_bytes()));
                    }
                    2 => {
                        let bytes: Vec<u8> = (0..len).map(|n| (n * 7) as u8).collect();
                        room.extend(&bytes);
                        right.extend(bytes);
                    }
                    _ if right.len() >= 4 => {
                        let at = len % (right.len() - 3);
                        room.set(at, &[1, 2, 3, 4]);
                        right[at..at + 4].copy_from_slice(&[1, 2, 3, 4]);
                        room.truncate(right.len() - 1);
                        right.pop();
                    }
                    _ => {}
                }
                prop_assert_eq!(room.len(), right.len());
                prop_assert_eq!(room.all(), &right[..]);
            }
        }
    }
}
