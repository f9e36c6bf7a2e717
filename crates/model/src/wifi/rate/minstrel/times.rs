//! Frame durations as estimated by Linux for rates without HT, and the resulting tries.

use crate::wifi::phy::PhyRate;

/// Length in bytes of the reference packet for comparing rates.
const PACKET: u32 = 1_200;
/// Length of an ACK without FCS.
const ACK: u32 = 10;
/// Total time for the tries of one entry, in us.
// linux: net/mac80211/rc80211_minstrel.c minstrel_alloc (4.4) - segment_size.
const SEGMENT_MICROS: u32 = 6_000;
const SLOT_MICROS: u32 = 9;
/// Initial and maximum contention window.
// linux: net/mac80211/rc80211_minstrel.c minstrel_alloc (4.4) - independent of the queue's.
const WINDOWS: (u32, u32) = (15, 1_023);

/// Duration in us of a frame of `bytes` bytes without FCS, including the preceding gap.
// linux: net/mac80211/util.c ieee80211_frame_duration (4.4) - OFDM: a gap of 16 us, also at 2.4 GHz, where it
// is SIFS plus the signal extension; 802.11b: SIFS of 10 us, and always the short preamble.
pub(super) fn frame_micros(rate: PhyRate, bytes: u32) -> u32 {
    let bits = 8 * (bytes + 4);
    match rate {
        PhyRate::Dsss(rate, _) => 10 + 96 + (2 * bits).div_ceil(rate.bits_in_2_micros()),
        rate => 16 + 20 + 4 * (16 + bits + 6).div_ceil(rate.bits_per_symbol()),
    }
}

/// Estimates derived from a rate's durations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Times {
    /// Duration of the reference packet in us.
    pub packet: u32,
    /// Tries that fit into the segment, with their mean backoffs.
    pub tries: u8,
    /// Tries that fit into the segment with a CTS before each.
    pub tries_after_cts: u8,
}

impl Times {
    /// Computes the estimates. `lowest_ack` is the duration of an ACK at the lowest rate.
    // linux: net/mac80211/rc80211_minstrel.c minstrel_rate_init (4.4) - the ACK of the first frame uses the
    // lowest rate, later ones the frame's rate; the total with CTS omits the first frame.
    pub(super) fn of(rate: PhyRate, lowest_ack: u32, most: u8) -> Self {
        let (packet, ack) = (frame_micros(rate, PACKET), frame_micros(rate, ACK));
        let mut window = WINDOWS.0;
        let (mut total, mut after_cts) = (packet + lowest_ack, 0);
        let (mut tries, mut tries_after_cts) = (1, 1);
        loop {
            let one = ack + packet + SLOT_MICROS * window / 2;
            window = (2 * window + 1).min(WINDOWS.1);
            total += one;
            after_cts += one + lowest_ack;
            if after_cts < SEGMENT_MICROS && tries_after_cts < most {
                tries_after_cts += 1;
            }
            if total >= SEGMENT_MICROS {
                break;
            }
            tries += 1;
            if tries >= most {
                break;
            }
        }
        // No CTS precedes 802.11b frames.
        Self {
            packet,
            tries,
            tries_after_cts: if matches!(rate, PhyRate::Dsss(..)) { tries } else { tries_after_cts },
        }
    }
}
