//! What the payload of a frame adds to a checksum.

use stillair_ip::checksum::sum;

use super::pattern::{PERIOD, pattern};

/// Sum of the payload of `len` bytes that begins in phase `phase`: whole periods have one of two sums, as the even bytes
/// are the upper or the lower halves of words.
pub fn payload_sum(phase: u8, len: usize) -> u64 {
    const EVEN: u64 = 2 * (127 * 128 / 2);
    const ODD: u64 = EVEN + 128;
    let period = if phase.is_multiple_of(2) { EVEN << 8 | ODD } else { ODD << 8 | EVEN };
    (len / PERIOD) as u64 * period + sum(pattern(phase, len % PERIOD))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use stillair_ip::checksum::fold;

    proptest! {
        #[test]
        fn the_payload_sum_is_the_sum_of_the_payload(phase: u8, len in 0_usize..65_536) {
            prop_assert_eq!(fold(payload_sum(phase, len)), fold(sum(pattern(phase, len))));
        }
    }
}
