//! A hash over the whole trace: equal hashes mean that the same things happened at the same times.

use stillair_model::vocabulary::{Instant, Trace};

/// The running hash: each word is mixed in by multiplication and rotation, fast enough to be on for every run.
#[derive(Clone, Copy, Debug, Default)]
pub struct TraceHash(u64);

impl TraceHash {
    /// Mixes one event in.
    #[inline]
    pub fn add(&mut self, now: Instant, what: &Trace) {
        let (low, high) = match *what {
            Trace::Delivered { flow, kind, seq, len, .. } => {
                (pack(1, flow.0, kind as u64), u64::from(seq) << 32 | u64::from(len))
            }
            Trace::Dropped { flow, seq, reason, place } => {
                (pack(2, flow.0, reason as u64), u64::from(seq) << 32 | u64::from(place.0))
            }
            Trace::Ppdu(t) => (
                pack(3, u32::from(t.dev.0) << 16 | u32::from(t.peer.0), t.kind as u64),
                t.airtime.nanos() << 24
                    | u64::from(t.mpdus) << 16
                    | u64::from(t.received) << 8
                    | u64::from(t.attempt) << 2
                    | u64::from(t.collided) << 1
                    | u64::from(t.acknowledged),
            ),
        };
        self.mix(now.nanos() ^ low.rotate_left(40));
        self.mix(high);
    }

    #[inline]
    fn mix(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    /// The hash so far.
    pub const fn finish(self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}

#[inline]
fn pack(tag: u64, id: u32, small: u64) -> u64 {
    tag << 60 | small << 32 | u64::from(id)
}
