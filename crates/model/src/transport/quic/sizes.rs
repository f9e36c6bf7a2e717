//! Packet and frame sizes in bytes.
// spec: quic_framer.cc, quic_packets.cc (Chromium 62) - of gQUIC 39.
// deviation: uses the same sizes for presets of other versions - they differ by a few bytes in 1350.

use crate::types::QuicFrame;

/// Flags and connection ID.
const HEADER: u32 = 1 + 8;
/// Authentication tag.
const TAG: u32 = 12;

/// Returns the length of a packet number in a header: enough for four times the unacknowledged packets.
pub fn number(number: u64, least: u64) -> u32 {
    match (number - least + 1) * 4 {
        0..0x100 => 1,
        0x100..0x1_0000 => 2,
        _ => 4,
    }
}

/// Returns the overhead around the frames of a packet.
pub fn around(number: u64, least: u64) -> u32 {
    HEADER + self::number(number, least) + TAG
}

/// Returns the number of bytes that encode a packet number or length.
fn bytes_of(value: u64) -> u32 {
    match value {
        0..0x100 => 1,
        0x100..0x1_0000 => 2,
        0x1_0000..0x1_0000_0000 => 4,
        _ => 6,
    }
}

/// Returns the length of an ACK frame: type, largest packet number, delay, first block, number of timestamps;
/// with gaps, a count, and a byte plus a block each.
pub fn ack(newest_first: impl ExactSizeIterator<Item = (u64, u64)>) -> u32 {
    let more = newest_first.len().saturating_sub(1) as u32;
    let (mut newest, mut longest) = (None, 0);
    for (first, end) in newest_first {
        newest = newest.or(Some(end - 1));
        longest = longest.max(end - first);
    }
    let Some(newest) = newest else { return 0 };
    let block = bytes_of(longest);
    let gaps = if more == 0 { 0 } else { 1 + more * (1 + block) };
    1 + bytes_of(newest) + 2 + block + 1 + gaps
}

/// Returns the header length of a STREAM frame: type, stream ID, offset, and length unless it fills a packet.
pub fn stream_head(id: u32, offset: u64, with_length: bool) -> u32 {
    let offset = match offset {
        0 => 0,
        n => (64 - n.leading_zeros()).div_ceil(8).max(2),
    };
    1 + bytes_of(u64::from(id)) + offset + if with_length { 2 } else { 0 }
}

/// Returns the length of a frame. STREAM frames include their length field.
pub fn frame(frame: &QuicFrame) -> u32 {
    match *frame {
        QuicFrame::Stream { id, offset, len, .. } => stream_head(id, offset, true) + len,
        QuicFrame::Crypto { offset, len, .. } => stream_head(1, u64::from(offset), true) + len,
        QuicFrame::Window { .. } => 1 + 4 + 8,
        QuicFrame::StopWaiting { .. } => 1 + 2,
        QuicFrame::Ping => 1,
        QuicFrame::Close => 1 + 4 + 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pure_ack_takes_about_thirty_bytes() {
        let alone = |ranges: &[(u64, u64)]| around(300, 200) + ack(ranges.iter().copied());
        assert_eq!(alone(&[(1, 100)]), 9 + 2 + 12 + 6);
        assert_eq!(alone(&[(1, 5_000)]), 9 + 2 + 12 + 8);
        // Each further gap takes three bytes.
        assert_eq!(alone(&[(600, 605), (1, 599)]), 9 + 2 + 12 + 8 + 1 + 3);
    }

    #[test]
    fn heads_of_stream_frames() {
        assert_eq!([0, 1, 70_000, 10_000_000].map(|at| stream_head(5, at, false)), [2, 4, 5, 5]);
        assert_eq!(stream_head(5, 0, true), 4);
    }
}
