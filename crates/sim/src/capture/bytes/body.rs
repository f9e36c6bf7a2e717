//! Bytes of one captured frame under construction.

use super::buffer::Buffer;
use super::fcs::{PayloadRegister, update};
use super::pattern::pattern;

/// Minimum length of a payload that stays apart. For shorter payloads, the extra write costs more than the
/// copy.
const LEAST_APART: usize = 256;

/// A payload that is part of a frame but not copied into the buffer.
#[derive(Clone, Copy, Debug)]
pub struct Apart {
    /// Offset of the payload within the frame's part of the buffer.
    pub at: usize,
    /// Length in bytes.
    pub len: usize,
    /// Value of the first byte.
    pub phase: u8,
}

/// A frame under construction, at the end of a buffer shared with other frames.
#[derive(Debug)]
pub struct Body<'a> {
    bytes: &'a mut Buffer,
    begin: usize,
    /// Maximum number of bytes to keep.
    limit: usize,
    /// Bytes of the frame that are not captured.
    left_out: usize,
    apart: Apart,
    register: &'a mut PayloadRegister,
}

/// Lengths of a finished frame, and its payload that is not in the buffer.
#[derive(Clone, Copy, Debug)]
pub struct Finished {
    /// Captured bytes, including the payload that is not in the buffer.
    pub kept: usize,
    /// Bytes of the whole frame.
    pub original: usize,
    /// The payload that was not copied.
    pub apart: Apart,
}

impl<'a> Body<'a> {
    /// Starts an empty frame. Keeps at most `limit` bytes.
    pub fn new(bytes: &'a mut Buffer, limit: usize, register: &'a mut PayloadRegister) -> Self {
        let begin = bytes.len();
        Self { bytes, begin, limit, left_out: 0, apart: Apart { at: begin, len: 0, phase: 0 }, register }
    }

    #[inline]
    fn kept(&self) -> usize {
        self.bytes.len() - self.begin + self.apart.len
    }

    /// Returns the length so far in bytes, captured or not.
    pub fn len(&self) -> usize {
        self.kept() + self.left_out
    }

    /// Returns true if the frame is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends a short, fixed-length part of a header.
    #[inline(always)]
    pub fn push<const N: usize>(&mut self, bytes: &[u8; N]) {
        self.bytes.part(bytes, N);
    }

    /// Appends the first `len` of these bytes.
    #[inline(always)]
    pub fn part<const N: usize>(&mut self, bytes: &[u8; N], len: usize) {
        self.bytes.part(bytes, len);
    }

    /// Appends 32-bit words in network byte order.
    #[inline(always)]
    pub fn words<const N: usize>(&mut self, words: &[u32; N]) {
        self.bytes.words(words);
    }

    /// Appends bytes of any length.
    #[inline]
    pub fn extend(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
    }

    /// Appends `len` bytes of payload starting with the value `phase`, up to the limit. One payload per frame
    /// is not copied.
    pub fn payload(&mut self, phase: u8, len: usize) {
        let kept = len.min(self.limit.saturating_sub(self.kept()));
        if kept < LEAST_APART || self.apart.len > 0 {
            self.bytes.extend(pattern(phase, kept));
        } else {
            self.apart = Apart { at: self.bytes.len(), len: kept, phase };
        }
        self.left_out += len - kept;
    }

    /// Returns true if a payload was truncated.
    pub fn is_cut(&self) -> bool {
        self.left_out > 0
    }

    /// Counts bytes that follow a truncated payload.
    pub fn leave_out(&mut self, len: usize) {
        self.left_out += len;
    }

    /// Appends bytes after the payload. Only counts them if the payload was truncated.
    pub fn tail(&mut self, bytes: &[u8]) {
        if self.left_out > 0 {
            self.left_out += bytes.len();
        } else {
            self.extend(bytes);
        }
    }

    /// Appends the FCS of the bytes from position `from`, which is before the payload. The FCS is wrong if
    /// the frame is `broken`, and omitted if bytes before it are missing.
    pub fn check(&mut self, from: usize, broken: bool) {
        if self.left_out > 0 {
            self.left_out += 4;
            return;
        }
        let from = self.begin + from;
        let right = match self.apart {
            Apart { len: 0, .. } => !update(u32::MAX, &self.bytes.all()[from..]),
            Apart { at, len, phase } => {
                let after = self.register.update(update(u32::MAX, &self.bytes.all()[from..at]), phase, len);
                !update(after, &self.bytes.all()[at..])
            }
        };
        self.push(&if broken { !right } else { right }.to_le_bytes());
    }

    /// Truncates the frame to the limit.
    pub fn finish(self) -> Finished {
        let original = self.len();
        // Payloads are truncated when appended, so the excess is after the payload.
        let excess = self.kept().saturating_sub(self.limit);
        self.bytes.truncate(self.bytes.len() - excess);
        Finished { kept: self.kept(), original, apart: self.apart }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn frame_equals_its_parts(
            head in 0_usize..120, phase: u8, payload in 0_usize..2_000, pad in 0_usize..50,
            limit in prop_oneof![128_usize..2_200, Just(usize::MAX)], broken: bool,
        ) {
            let (mut bytes, mut register) = (Buffer::default(), PayloadRegister::default());
            bytes.extend(&[1, 2, 3]);
            let mut body = Body::new(&mut bytes, limit, &mut register);
            body.extend(&vec![7; head]);
            let from = body.len() / 2;
            body.payload(phase, payload);
            body.extend(&vec![8; pad]);
            body.check(from, broken);
            let Finished { kept, original, apart } = body.finish();

            let mut right = [&vec![7; head], pattern(phase, payload), &vec![8; pad]].concat();
            let check = !update(u32::MAX, &right[from..]);
            right.extend(if broken { !check } else { check }.to_le_bytes());
            prop_assert_eq!(original, right.len());
            right.truncate(limit);
            let mut whole = bytes.all()[3..].to_vec();
            if apart.len > 0 {
                whole.splice(apart.at - 3..apart.at - 3, pattern(apart.phase, apart.len).iter().copied());
            }
            prop_assert_eq!(kept, whole.len());
            // Padding never follows a truncated payload, because packets with padding are shorter than any
            // limit.
            if original == kept || pad == 0 {
                prop_assert_eq!(whole, right);
            }
        }
    }
}
