//! The bytes that packets carry: the model has lengths only.

/// Bytes after which the pattern begins again.
pub const PERIOD: usize = 256;
/// Longest payload that the pattern covers: what an IP packet can hold.
const LEN: usize = 1 << 16;

/// Each byte says its own position modulo 256.
static PATTERN: [u8; LEN + PERIOD] = {
    let mut pattern = [0; LEN + PERIOD];
    let mut n = 0;
    while n < pattern.len() {
        pattern[n] = n as u8;
        n += 1;
    }
    pattern
};

/// The payload of `len` bytes whose first byte is `phase`. A datagram's begins with zero, so that a capture shows where it
/// was cut; a byte of a TCP stream is its sequence number, so that what is sent again is the same.
pub fn pattern(phase: u8, len: usize) -> &'static [u8] {
    &PATTERN[usize::from(phase)..][..len]
}
