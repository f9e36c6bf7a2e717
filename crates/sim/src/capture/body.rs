//! The bytes of one captured frame while it is written.

use super::fcs::{PayloadRegister, update};

/// Longest payload that the pattern covers: what an IP packet can hold.
const PATTERN_LEN: usize = 1 << 16;

/// Payload bytes: each says its own position modulo 256, so that a capture shows where a frame was cut.
static PATTERN: [u8; PATTERN_LEN] = {
    let mut pattern = [0; PATTERN_LEN];
    let mut n = 0;
    while n < PATTERN_LEN {
        pattern[n] = n as u8;
        n += 1;
    }
    pattern
};

/// The payload of `len` bytes that every packet of that length carries.
pub fn payload(len: usize) -> &'static [u8] {
    &PATTERN[..len]
}

/// A frame under construction, at the end of a buffer that other frames share.
#[derive(Debug)]
pub struct Body<'a> {
    bytes: &'a mut Vec<u8>,
    begin: usize,
    /// Bytes that are kept at most.
    limit: usize,
    /// Bytes that the frame has but the capture does not.
    left_out: usize,
    /// Where the payload lies in the buffer.
    payload: core::ops::Range<usize>,
    register: &'a mut PayloadRegister,
}

impl<'a> Body<'a> {
    /// A frame without bytes, of which at most `limit` bytes are kept.
    pub fn new(bytes: &'a mut Vec<u8>, limit: usize, register: &'a mut PayloadRegister) -> Self {
        let begin = bytes.len();
        Self { bytes, begin, limit, left_out: 0, payload: begin..begin, register }
    }

    /// Bytes so far, whether kept or not.
    pub fn len(&self) -> usize {
        self.bytes.len() - self.begin + self.left_out
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends bytes of a header.
    #[inline]
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Appends `len` bytes of payload, as far as they are kept.
    pub fn payload(&mut self, len: usize) {
        let room = self.limit.saturating_sub(self.bytes.len() - self.begin);
        let kept = len.min(room);
        let from = self.bytes.len();
        self.bytes.extend_from_slice(payload(kept));
        self.payload = from..self.bytes.len();
        self.left_out += len - kept;
    }

    /// Appends the frame check sequence of all that follows position `from`; a wrong one if the frame is broken. If bytes
    /// are missing before it, it is left out too.
    pub fn check(&mut self, from: usize, broken: bool) {
        if self.left_out > 0 {
            self.left_out += 4;
            return;
        }
        let from = self.begin + from;
        let right = match self.payload.clone() {
            payload if payload.start < from => !update(u32::MAX, &self.bytes[from..]),
            payload => {
                let before = update(u32::MAX, &self.bytes[from..payload.start]);
                let after = self.register.update(before, &self.bytes[payload.clone()]);
                !update(after, &self.bytes[payload.end..])
            }
        };
        self.push(&if broken { !right } else { right }.to_le_bytes());
    }

    /// Cuts the frame to the limit; gives the bytes kept and the bytes there were.
    pub fn finish(self) -> (usize, usize) {
        let original = self.len();
        self.bytes.truncate(self.begin + self.limit.min(self.bytes.len() - self.begin));
        (self.bytes.len() - self.begin, original)
    }
}
