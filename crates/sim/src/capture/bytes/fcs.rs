//! Frame check sequence (CRC-32), computed eight bytes at a time, and for payloads in one step.

use super::pattern::{PERIOD, pattern};

/// Bit-reversed generator polynomial.
// spec: ieee80211-2016 9.2.4.8 - the same CRC-32 as in Ethernet: initialised with ones, complemented at the
// end.
const POLYNOMIAL: u32 = 0xedb8_8320;

/// `TABLES[n][b]`: remainder of byte `b` followed by `n` zero bytes.
static TABLES: [[u32; 256]; 8] = tables();

const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ POLYNOMIAL } else { crc >> 1 };
            bit += 1;
        }
        tables[0][byte] = crc;
        byte += 1;
    }
    let mut zeros = 1;
    while zeros < 8 {
        let mut byte = 0;
        while byte < 256 {
            let crc = tables[zeros - 1][byte];
            tables[zeros][byte] = crc >> 8 ^ tables[0][(crc & 0xff) as usize];
            byte += 1;
        }
        zeros += 1;
    }
    tables
}

/// Returns the CRC register after more bytes. The initial value is all ones. The complement of the final
/// value is the FCS, which is sent least significant byte first.
pub fn update(mut crc: u32, bytes: &[u8]) -> u32 {
    let (chunks, rest) = bytes.as_chunks::<8>();
    for chunk in chunks {
        let word = u64::from_le_bytes(*chunk) ^ u64::from(crc);
        let byte = |n: u32| (word >> (8 * n) & 0xff) as usize;
        // The first byte of the chunk is followed by seven others.
        crc = TABLES[7][byte(0)]
            ^ TABLES[6][byte(1)]
            ^ TABLES[5][byte(2)]
            ^ TABLES[4][byte(3)]
            ^ TABLES[3][byte(4)]
            ^ TABLES[2][byte(5)]
            ^ TABLES[1][byte(6)]
            ^ TABLES[0][byte(7)];
    }
    let (halves, rest) = rest.as_chunks::<4>();
    for half in halves {
        let [a, b, c, d] = (u32::from_le_bytes(*half) ^ crc).to_le_bytes().map(usize::from);
        crc = TABLES[3][a] ^ TABLES[2][b] ^ TABLES[1][c] ^ TABLES[0][d];
    }
    for &byte in rest {
        crc = crc >> 8 ^ TABLES[0][(crc as u8 ^ byte) as usize];
    }
    crc
}

/// Maximum number of cached payload lengths; a scenario has few.
const REMEMBERED: usize = 32;

/// Cached effects of payloads on the CRC register. Payloads with equal length and first byte are equal, and
/// their effect on the register is linear. It is computed once per payload and then costs four table
/// look-ups. Segments of a TCP stream have at most 256 different first bytes.
#[derive(Debug, Default)]
pub struct PayloadRegister {
    known: Vec<Known>,
}

#[derive(Debug)]
struct Known {
    len: usize,
    /// Register after the payload, starting from zero, by first byte; `None` until computed.
    from_zero: Box<[Option<u32>; PERIOD]>,
    /// Effect of `len` zero bytes on each byte of the register.
    zeros: Box<[[u32; 256]; 4]>,
}

impl PayloadRegister {
    /// Returns the CRC register after a payload of `len` bytes starting with the value `phase`.
    pub fn update(&mut self, crc: u32, phase: u8, len: usize) -> u32 {
        let known = match self.known.iter().position(|k| k.len == len) {
            Some(n) => n,
            None if self.known.len() < REMEMBERED => {
                self.known.push(Known::of(len));
                self.known.len() - 1
            }
            None => return update(crc, pattern(phase, len)),
        };
        let Known { from_zero, zeros, .. } = &mut self.known[known];
        let from_zero = *from_zero[usize::from(phase)].get_or_insert_with(|| update(0, pattern(phase, len)));
        let after = crc.to_le_bytes().into_iter().zip(zeros.iter()).map(|(b, t)| t[usize::from(b)]);
        after.fold(from_zero, |sum, part| sum ^ part)
    }
}

impl Known {
    fn of(len: usize) -> Self {
        let mut zeros = Box::new([[0; 256]; 4]);
        for bit in 0..32 {
            // A single bit, then its sums with all combinations of lower bits.
            let after = (0..len).fold(1_u32 << bit, |crc, _| crc >> 8 ^ TABLES[0][(crc & 0xff) as usize]);
            let table = &mut zeros[bit / 8];
            let first = 1 << (bit % 8);
            for n in 0..first {
                table[first + n] = table[n] ^ after;
            }
        }
        Self { len, from_zero: Box::new([None; PERIOD]), zeros }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fcs(frame: &[u8]) -> u32 {
        !update(u32::MAX, frame)
    }

    #[test]
    fn check_value() {
        // Catalogue of parametrised CRC algorithms, entry CRC-32/ISO-HDLC.
        assert_eq!(fcs(b"123456789"), 0xcbf4_3926);
        assert_eq!(fcs(b""), 0);
    }

    #[test]
    fn uncached_lengths_are_correct() {
        let mut register = PayloadRegister::default();
        for len in (0..2 * REMEMBERED).chain(0..2 * REMEMBERED) {
            let right = update(0x1234_5678, pattern(7, len));
            assert_eq!(register.update(0x1234_5678, 7, len), right, "{len}");
        }
        assert_eq!(register.known.len(), REMEMBERED);
    }

    proptest! {
        #[test]
        fn cached_payload_equals_its_bytes(
            len in 0_usize..3_000, payloads in any::<[(u32, u8); 8]>()
        ) {
            let mut register = PayloadRegister::default();
            for (crc, phase) in payloads {
                for _ in 0..2 {
                    prop_assert_eq!(register.update(crc, phase, len), update(crc, pattern(phase, len)));
                }
            }
        }

        #[test]
        fn bit_by_bit(frame in proptest::collection::vec(any::<u8>(), 0..100)) {
            let mut crc = u32::MAX;
            for bit in frame.iter().flat_map(|byte| (0..8).map(move |n| u32::from(byte >> n & 1))) {
                crc = if (crc ^ bit) & 1 == 1 { crc >> 1 ^ POLYNOMIAL } else { crc >> 1 };
            }
            prop_assert_eq!(fcs(&frame), !crc);
        }
    }
}
