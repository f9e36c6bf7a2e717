//! Stream content: the byte at each offset is known, so that a reader can verify what it reads.

use bytes::Bytes;

/// Period of the content in bytes: a prime, so that any shift by packets or windows is detected.
const PERIOD: usize = 65_521;

static CONTENT: [u8; PERIOD] = {
    let (mut all, mut i, mut x) = ([0; PERIOD], 0, 1_u32);
    while i < PERIOD {
        x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        all[i] = (x >> 24) as u8;
        i += 1;
    }
    all
};

/// Returns up to `most` bytes of content from an offset, without copying.
pub(crate) fn content(offset: u64, most: u64) -> Bytes {
    let at = (offset % PERIOD as u64) as usize;
    let end = PERIOD.min(at.saturating_add(usize::try_from(most).unwrap_or(usize::MAX)));
    Bytes::from_static(&CONTENT[at..end])
}

/// Returns true if the bytes are the content at an offset.
pub(crate) fn is_content(mut offset: u64, mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        let expected = content(offset, bytes.len() as u64);
        let (head, rest) = bytes.split_at(expected.len());
        if head != expected {
            return false;
        }
        offset += head.len() as u64;
        bytes = rest;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_recognised_only_at_its_offset() {
        let long: Vec<u8> = content(60_000, 10_000).iter().chain(&content(65_521, 4_000)).copied().collect();
        assert_eq!(long.len(), 5_521 + 4_000);
        assert!(is_content(60_000, &long));
        assert!(is_content(60_000 + 65_521, &long));
        for off in [1, 1_200, 1_350, 1_452, 65_536] {
            assert!(!is_content(60_000 + off, &long), "{off}");
        }
    }
}
