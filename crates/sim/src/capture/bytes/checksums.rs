//! Contribution of a payload to the Internet checksum.

use super::pattern::PERIOD;

/// Sums of the first `n` bytes of the pattern, by `n`: even offsets and odd offsets.
static FROM_ZERO: [[u32; 2]; 2 * PERIOD] = {
    let mut sums = [[0; 2]; 2 * PERIOD];
    let mut n = 1;
    while n < sums.len() {
        let [even, odd] = sums[n - 1];
        let byte = (n as u32 - 1) % PERIOD as u32;
        sums[n] = if byte & 1 == 0 { [even + byte, odd] } else { [even, odd + byte] };
        n += 1;
    }
    sums
};

/// Returns the sum of the 16-bit words of a payload of `len` bytes starting with the value `phase`. The first
/// byte is the upper half of a word.
#[inline]
pub fn payload_sum(phase: u8, len: usize) -> u64 {
    let [whole_even, whole_odd] = FROM_ZERO[PERIOD];
    let (from, to) = (FROM_ZERO[usize::from(phase)], FROM_ZERO[usize::from(phase) + len % PERIOD]);
    let periods = (len / PERIOD) as u64;
    let even = periods * u64::from(whole_even) + u64::from(to[0] - from[0]);
    let odd = periods * u64::from(whole_odd) + u64::from(to[1] - from[1]);
    let (upper, lower) = if phase.is_multiple_of(2) { (even, odd) } else { (odd, even) };
    (upper << 8) + lower
}

#[cfg(test)]
mod tests {
    use super::super::pattern::pattern;
    use super::*;
    use proptest::prelude::*;
    use stillair_ip::checksum::{fold, sum};

    proptest! {
        #[test]
        fn the_payload_sum_is_the_sum_of_the_payload(phase: u8, len in 0_usize..65_536) {
            prop_assert_eq!(fold(payload_sum(phase, len)), fold(sum(pattern(phase, len))));
        }
    }
}
