//! Checksums of the internet protocols.

use super::pattern::{PERIOD, pattern};

/// One's complement sum of a header in 16-bit words; an odd byte at the end counts as the upper half of a word.
// spec: rfc1071.
pub fn sum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<2>();
    let all: u64 = words.iter().map(|&w| u64::from(u16::from_be_bytes(w))).sum();
    all + rest.first().map_or(0, |&b| u64::from(b) << 8)
}

/// Sum of the payload of `len` bytes that begins in phase `phase`: whole periods have one of two sums, as the even bytes
/// are the upper or the lower halves of words.
pub fn payload_sum(phase: u8, len: usize) -> u64 {
    const EVEN: u64 = 2 * (127 * 128 / 2);
    const ODD: u64 = EVEN + 128;
    let period = if phase.is_multiple_of(2) { EVEN << 8 | ODD } else { ODD << 8 | EVEN };
    (len / PERIOD) as u64 * period + sum(pattern(phase, len % PERIOD))
}

/// The checksum that a sum makes.
pub fn checksum(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn worked_example() {
        // spec: rfc1071 3 - 0001 f203 f4f5 f6f7 sum to 2ddf0, folded ddf2.
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!((sum(&bytes), !checksum(sum(&bytes))), (0x2ddf0, 0xddf2));
    }

    proptest! {
        #[test]
        fn the_payload_sum_is_the_sum_of_the_payload(phase: u8, len in 0_usize..65_536) {
            prop_assert_eq!(payload_sum(phase, len), sum(pattern(phase, len)));
        }
    }
}
