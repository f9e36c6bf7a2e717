//! Reception of a PPDU that overlaps with others.

use crate::types::{Duration, Instant};
use crate::wifi::air::ppdu::Ppdu;
use crate::wifi::air::reception::RxOutcome;
use crate::wifi::marks::Marks;
use crate::wifi::phy::frame::{DELIMITER, QOS_HEADER};
use crate::wifi::phy::ppdu_duration_without_extension;

/// Returns the frames received of a PPDU that started at `start` and lasted `took`, with interference during
/// the intervals `noise`. Frames that overlap with an interval are lost. If one overlaps with the preamble,
/// the whole PPDU is lost.
// spec: ieee80211-2016 9.7.1 - each frame of an A-MPDU has its own delimiter and FCS.
// deviation: locates a frame in time by its bytes in the whole PPDU - a symbol shared by two frames, at most
// 4 us, counts for one of them.
pub fn spared(ppdu: &Ppdu, start: Instant, took: Duration, noise: &[(Instant, Instant)]) -> RxOutcome {
    if noise.is_empty() {
        let all = Marks::first(ppdu.mpdus.len().max(1));
        return RxOutcome { whole: all, readable: all };
    }
    // Includes the symbol that starts with the SERVICE field.
    let head = ppdu_duration_without_extension(ppdu.rate(), 0).min(took);
    let hit = |from: Instant, until: Instant| noise.iter().any(|&(a, b)| a < until && from < b);
    if hit(start, start + head) {
        return RxOutcome::NOTHING;
    }
    if ppdu.mpdus.len() <= 1 {
        return RxOutcome { whole: Marks::NONE, readable: Marks::first(1) };
    }
    let (body, bytes) = ((took - head).nanos(), u64::from(ppdu.bytes).max(1));
    let at = |byte: u32| start + head + Duration::from_nanos(body * u64::from(byte).min(bytes) / bytes);
    let mut got = RxOutcome::NOTHING;
    let mut before = 0;
    for (n, mpdu) in ppdu.mpdus.iter().enumerate() {
        let end = before + DELIMITER + u32::from(mpdu.len);
        let readable = !hit(at(before), at(before + DELIMITER + QOS_HEADER));
        if readable {
            got.readable.mark(n);
        }
        if readable && !hit(at(before), at(end)) {
            got.whole.mark(n);
        }
        before = end.next_multiple_of(DELIMITER);
    }
    got
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Packets;
    use crate::wifi::phy::{Band, PhyRate, RateTry, RetryChain, ppdu_duration};
    use crate::wifi::testing::ppdu;
    use alloc::vec::Vec;

    fn us(n: u64) -> Instant {
        Instant::from_nanos(1_000 * n)
    }

    /// Bits of the intact and the readable frames, of `frames` frames in a PPDU that starts at 1000 us.
    fn of(frames: u16, rate: &str, noise: &[(u64, u64)]) -> (u64, u64) {
        let mut packets = Packets::new();
        let mut ppdu = ppdu(&mut packets, 0..frames);
        let rate = PhyRate::parse(rate).unwrap();
        ppdu.chain = RetryChain::new(&[RateTry::new(rate, 1)]).unwrap();
        ppdu.bytes = if frames == 1 { 1_538 } else { 1_544 * u32::from(frames) - 2 };
        let took = ppdu_duration(rate, ppdu.bytes, Band::Ghz5);
        let noise: Vec<_> = noise.iter().map(|&(a, b)| (us(1_000 + a), us(1_000 + b))).collect();
        let got = spared(&ppdu, us(1_000), took, &noise);
        (got.whole.words()[0], got.readable.words()[0])
    }

    #[test]
    fn overlapped_frames_are_lost() {
        // 1540-byte frames at 65 Mbit/s: one every 190 us after a 40 us preamble.
        for (noise, whole, readable) in [
            (&[][..], 0b1111, 0b1111),
            // Noise before and after the PPDU.
            (&[(900, 2_000)], 0b1111, 0b1111),
            (&[(0, 1)], 0, 0),
            (&[(35, 36)], 0, 0),
            // In the middle of the second frame, after its header; from its first byte on.
            (&[(300, 310)], 0b1101, 0b1111),
            (&[(231, 235)], 0b1101, 0b1101),
            // From the second frame into the third, whose delimiter is lost.
            (&[(300, 430)], 0b1001, 0b1011),
            // From the middle of the second frame to the end.
            (&[(300, 2_000)], 0b0001, 0b0011),
            // Two stretches.
            (&[(100, 101), (700, 701)], 0b0110, 0b1111),
        ] {
            assert_eq!(of(4, "ht20-mcs7-lgi", noise), (whole, readable), "{noise:?}");
        }
    }

    #[test]
    fn an_overlapped_single_frame_is_readable() {
        assert_eq!(of(1, "ofdm-54", &[]), (1, 1));
        assert_eq!(of(1, "ofdm-54", &[(19, 30)]), (0, 0));
        assert_eq!(of(1, "ofdm-54", &[(100, 130)]), (0, 1));
    }
}
