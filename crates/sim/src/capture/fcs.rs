//! The frame check sequence: CRC-32 of the standard, eight bytes at a time.

/// Bit-reversed generator polynomial.
// spec: ieee80211-2016 9.2.4.8 - the CRC of 32 bits that Ethernet has too: preset to ones, complemented at the end.
const POLYNOMIAL: u32 = 0xedb8_8320;

/// `TABLES[n][b]`: the remainder of byte `b` followed by `n` zero bytes.
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

/// The check sequence of a frame; on the air its least significant byte comes first.
pub fn fcs(frame: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    let (chunks, rest) = frame.as_chunks::<8>();
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
    for &byte in rest {
        crc = crc >> 8 ^ TABLES[0][(crc as u8 ^ byte) as usize];
    }
    !crc
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn check_value() {
        // The catalogue of parametrised CRC algorithms, entry CRC-32/ISO-HDLC.
        assert_eq!(fcs(b"123456789"), 0xcbf4_3926);
        assert_eq!(fcs(b""), 0);
    }

    proptest! {
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
