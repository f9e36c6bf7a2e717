//! Payload bytes. The model only keeps payload lengths, so captures contain a pattern.

/// Period of the pattern in bytes.
pub const PERIOD: usize = 256;
/// Maximum payload length: what an IP packet can hold.
const LEN: usize = 1 << 16;

/// Each byte is its own offset modulo 256.
static PATTERN: [u8; LEN + PERIOD] = {
    let mut pattern = [0; LEN + PERIOD];
    let mut n = 0;
    while n < pattern.len() {
        pattern[n] = n as u8;
        n += 1;
    }
    pattern
};

/// Returns a payload of `len` bytes starting with the value `phase`. The payload of a datagram starts with
/// zero, so that a capture shows where the payload was truncated. A byte of a TCP stream is the lowest byte
/// of its sequence number, so retransmissions have the same bytes.
pub fn pattern(phase: u8, len: usize) -> &'static [u8] {
    &PATTERN[usize::from(phase)..][..len]
}
