//! Interrupts for received frames: a device that tells of frames only when no more have come for a while, or the first of them
//! has waited for long.

use crate::vocabulary::{Duration, Instant, Pkt};

/// How long a device holds back what it has received.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RxMitigation {
    /// From the last PPDU on.
    pub last: Duration,
    /// From the first one on, however many follow.
    pub first: Duration,
}

impl RxMitigation {
    /// That of the AR9300 and its successors, the AR9580 among them.
    // linux: drivers/net/wireless/ath/ath9k/hw.c ath9k_hw_init_config - rimt_last, rimt_first, as read in trees of about 4.9 and 5.10;
    // older ones have these two for all chips, OpenWrt at times 0.5 and 0.25 ms.
    pub const AR9300: Self = Self { last: Duration::from_micros(500), first: Duration::from_millis(2) };

    /// That of chips before it.
    // linux: as above, where the chips differ.
    pub const AR9002: Self = Self { last: Duration::from_micros(250), first: Duration::from_micros(700) };
}

/// What has been received and is not yet handed up.
// deviation: a PPDU counts as received at the end of its exchange; the radio counts from its first and its last frame, so that the
// next one may begin before the wait is over. Here packets wait behind the reorder buffer, on a host before it; airtime and
// requests for a session are known at once.
#[derive(Debug)]
pub struct HeldBack {
    params: RxMitigation,
    waiting: Vec<Pkt>,
    /// When they are handed up.
    until: Instant,
    /// And when at the latest.
    latest: Instant,
}

impl HeldBack {
    /// Nothing is held back yet.
    pub fn new(params: RxMitigation) -> Self {
        Self { params, waiting: Vec::new(), until: Instant::NEVER, latest: Instant::NEVER }
    }

    /// A PPDU has been received, of which these packets would go up; they stay here. One without any is another one to wait for.
    pub fn received(&mut self, now: Instant, up: &mut Vec<Pkt>) {
        if self.waiting.is_empty() {
            self.latest = now + self.params.first;
        }
        self.until = self.latest.min(now + self.params.last);
        self.waiting.append(up);
    }

    /// When [`HeldBack::interrupt`] is due, if at all.
    #[inline]
    pub fn due(&self) -> Option<Instant> {
        (!self.waiting.is_empty()).then_some(self.until)
    }

    /// The host looks, for whatever reason: all goes up, in order.
    pub fn interrupt(&mut self, up: &mut Vec<Pkt>) {
        up.append(&mut self.waiting);
    }

    /// What waits.
    pub fn packets(&self) -> impl Iterator<Item = Pkt> {
        self.waiting.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::Packets;
    use crate::wifi::testing::{ms, packet};

    /// Microseconds after the start.
    fn us(n: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(n)
    }

    #[test]
    fn by_the_last_and_by_the_first() {
        let mut packets = Packets::new();
        let mut one = || packet(&mut packets, 0, 1500);
        let mut held = HeldBack::new(RxMitigation::AR9300);
        let mut seen = Vec::new();
        #[rustfmt::skip]
        let table: &[(u64, u32, Option<u64>)] = &[
            // at    packets due
            (500,    0, None),        // nothing to tell of
            (1_000,  2, Some(1_500)),
            (1_400,  1, Some(1_900)), // another PPDU, another 0.5 ms
            (1_800,  0, Some(2_300)), // though none of it goes up
            (2_200,  1, Some(2_700)),
            (2_600,  1, Some(3_000)), // 2 ms after the first
            (2_900,  0, Some(3_000)),
        ];
        for &(at, count, due) in table {
            let mut up: Vec<_> = (0..count).map(|_| one()).collect();
            seen.extend(up.iter().copied());
            held.received(us(at), &mut up);
            assert_eq!((up.len(), held.due()), (0, due.map(us)), "at {at}");
        }
        assert_eq!(held.packets().collect::<Vec<_>>(), seen);
        let mut up = Vec::new();
        held.interrupt(&mut up);
        assert_eq!((up, held.due()), (seen, None));
        held.received(ms(9), &mut vec![one()]);
        assert_eq!(held.due(), Some(us(9_500)));
    }
}
