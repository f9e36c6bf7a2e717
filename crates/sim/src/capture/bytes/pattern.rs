//! The bytes of payloads, as the model keeps only their lengths.

/// Period of the pattern in bytes.
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

/// The payload of `len` bytes whose first byte is `phase`. The payload of a datagram begins with zero, so
/// that a capture shows where the payload was truncated. A byte of a TCP stream is the lowest byte of its
/// sequence number, so a retransmission has the same bytes.
pub fn pattern(phase: u8, len: usize) -> &'static [u8] {
    &PATTERN[usize::from(phase)..][..len]
}
