//! Times of frames as Linux reckons them for rates without HT, and the tries that follow from them.

use crate::wifi::phy::PhyRate;

/// Length of the packet that rates are compared by, in bytes.
const PACKET: u32 = 1_200;
/// Length of an acknowledgement without its check sequence.
const ACK: u32 = 10;
/// Time that the tries of one entry may take in all, in us.
// linux: net/mac80211/rc80211_minstrel.c minstrel_alloc (4.4) - segment_size.
const SEGMENT_MICROS: u32 = 6_000;
const SLOT_MICROS: u32 = 9;
/// First and last contention window.
// linux: net/mac80211/rc80211_minstrel.c minstrel_alloc (4.4) - not those of the queue.
const WINDOWS: (u32, u32) = (15, 1_023);

/// Time of a frame of so many bytes (the check sequence comes on top) and of the gap before it, in us.
// linux: net/mac80211/util.c ieee80211_frame_duration (4.4) - OFDM: a gap of 16 us, at 2.4 GHz too, where it
// is SIFS and the signal extension; 802.11b: SIFS of 10 us, and the short preamble whichever is used.
pub(super) fn frame_micros(rate: PhyRate, bytes: u32) -> u32 {
    let bits = 8 * (bytes + 4);
    match rate {
        PhyRate::Dsss(rate, _) => 10 + 96 + (2 * bits).div_ceil(rate.bits_in_2_micros()),
        rate => 16 + 20 + 4 * (16 + bits + 6).div_ceil(rate.bits_per_symbol()),
    }
}

/// What follows for a rate from its times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Times {
    /// Of a packet, in us.
    pub packet: u32,
    /// Tries that fit the segment, with their mean back-offs.
    pub tries: u8,
    /// The same where a CTS goes before each.
    pub tries_after_cts: u8,
}

impl Times {
    /// `lowest_ack`: time of an acknowledgement at the lowest rate.
    // linux: net/mac80211/rc80211_minstrel.c minstrel_rate_init (4.4) - the first frame is acknowledged at
    // the lowest rate, later ones at their own, and those after a CTS lack the first.
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
        // No CTS goes before frames of 802.11b.
        Self {
            packet,
            tries,
            tries_after_cts: if matches!(rate, PhyRate::Dsss(..)) { tries } else { tries_after_cts },
        }
    }
}
