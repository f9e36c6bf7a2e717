//! The bytes that packets carry: the model has lengths only.

/// Longest payload that the pattern covers: what an IP packet can hold.
const LEN: usize = 1 << 16;

/// Each byte says its own position modulo 256, so that a capture shows where a frame was cut.
static PATTERN: [u8; LEN] = {
    let mut pattern = [0; LEN];
    let mut n = 0;
    while n < LEN {
        pattern[n] = n as u8;
        n += 1;
    }
    pattern
};

/// The payload of `len` bytes that every packet of that length carries.
pub fn pattern(len: usize) -> &'static [u8] {
    &PATTERN[..len]
}
