//! Interrupt mitigation for received frames: the device raises an interrupt when no frame has arrived for a
//! while, or when the first one has waited for the maximum time.

use crate::node::jitter::Softirq;
use crate::types::{Duration, Instant, Pkt};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Interrupt mitigation parameters of received frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RxMitigation {
    /// Time after the last PPDU at which the interrupt is raised.
    pub last: Duration,
    /// Time after the first PPDU at which the interrupt is raised, regardless of later PPDUs.
    pub first: Duration,
}

impl RxMitigation {
    /// No mitigation: the interrupt is raised immediately.
    pub const NONE: Self = Self { last: Duration::ZERO, first: Duration::ZERO };

    /// Parameters of the AR9300 and later chips, including the AR9580.
    // linux: drivers/net/wireless/ath/ath9k/hw.c ath9k_hw_init_config - rimt_last and rimt_first, as read in
    // trees of about 4.9 and 5.10. Older trees use these values for all chips; some versions of OpenWrt use
    // 0.5 and 0.25 ms.
    pub const AR9300: Self = Self { last: Duration::from_micros(500), first: Duration::from_millis(2) };

    /// Parameters of chips before the AR9300.
    // linux: as above, in trees that distinguish the chips.
    pub const AR9002: Self = Self { last: Duration::from_micros(250), first: Duration::from_micros(700) };
}

/// Received packets waiting for an interrupt.
// deviation: starts the timers at the end of the exchange - the radio starts them at the first and last frame
// of the PPDU, before the response.
// deviation: packets wait behind the reorder buffer - on a real host they wait before it. Airtime and session
// requests take effect immediately.
#[derive(Debug)]
pub struct HeldBack {
    params: RxMitigation,
    waiting: Vec<Pkt>,
    /// Time of the interrupt.
    until: Instant,
    /// Latest time of the interrupt.
    latest: Instant,
    /// The host's delay after the interrupt.
    softirq: Option<Box<Softirq>>,
}

impl HeldBack {
    /// Creates the state without packets.
    pub fn new(params: RxMitigation) -> Self {
        Self { params, waiting: Vec::new(), until: Instant::NEVER, latest: Instant::NEVER, softirq: None }
    }

    /// Adds the host's delay from the interrupt to the network stack (softirq).
    #[must_use]
    pub fn with_softirq(mut self, softirq: Softirq) -> Self {
        self.softirq = Some(Box::new(softirq));
        self
    }

    /// Holds the packets in `up` of a received PPDU. A PPDU without packets also restarts the wait.
    pub fn received(&mut self, now: Instant, up: &mut Vec<Pkt>) {
        if self.waiting.is_empty() {
            self.latest = now + self.params.first;
            self.until = Instant::NEVER;
        }
        // An interrupt that has been raised is not delayed by frames that arrive before the host handles it.
        if now <= self.until {
            self.until = self.latest.min(now + self.params.last);
        }
        self.waiting.append(up);
    }

    /// Returns when [`HeldBack::hand_up`] is due, if packets wait.
    #[inline]
    pub fn due(&self) -> Option<Instant> {
        let delay = self.softirq.as_ref().map_or(Duration::ZERO, |softirq| softirq.delay);
        (!self.waiting.is_empty()).then(|| self.until + delay)
    }

    /// Reports the waiting frames with an interrupt for another reason. Returns true if the host processes
    /// them immediately.
    pub fn interrupt(&mut self, now: Instant) -> bool {
        self.until = self.until.min(now);
        self.softirq.is_none()
    }

    /// Delivers all packets in order, when the host handles the interrupt.
    pub fn hand_up(&mut self, up: &mut Vec<Pkt>) {
        up.append(&mut self.waiting);
        if let Some(softirq) = &mut self.softirq {
            softirq.taken_in();
        }
    }

    /// Returns the waiting packets.
    pub fn packets(&self) -> impl Iterator<Item = Pkt> {
        self.waiting.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::jitter::Spread;
    use crate::types::{Packets, Seed};
    use crate::wifi::testing::{ms, packet};
    use alloc::vec;

    fn us(n: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(n)
    }

    #[test]
    fn waits_after_the_last_and_the_first_ppdu() {
        let mut packets = Packets::new();
        let mut one = || packet(&mut packets, 0, 1500);
        let mut held = HeldBack::new(RxMitigation::AR9300);
        let mut seen = Vec::new();
        #[rustfmt::skip]
        let table: &[(u64, u32, Option<u64>)] = &[
            // at    packets due
            (500,    0, None), // no packets
            (1_000,  2, Some(1_500)),
            (1_400,  1, Some(1_900)), // another PPDU, another 0.5 ms
            (1_800,  0, Some(2_300)), // even without packets
            (2_200,  1, Some(2_700)),
            (2_600,  1, Some(3_000)), // 2 ms after the first PPDU
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
        held.hand_up(&mut up);
        assert_eq!((up, held.due()), (seen, None));
        held.received(ms(9), &mut vec![one()]);
        assert_eq!(held.due(), Some(us(9_500)));
    }

    #[test]
    fn a_slow_host_also_takes_later_packets() {
        let mut packets = Packets::new();
        let mut one = || packet(&mut packets, 0, 1500);
        let twenty = Duration::from_micros(20);
        let stream = Seed { seed: 1, run: 0 }.stream("softirq");
        let softirq = Softirq::new(Spread::Uniform(twenty, twenty), stream).expect("a delay");
        // The interrupt is raised immediately and handled 20 us later; packets in between do not delay it.
        let mut held = HeldBack::new(RxMitigation::NONE).with_softirq(softirq.clone());
        for at in [100, 110, 119] {
            held.received(us(at), &mut vec![one()]);
            assert_eq!(held.due(), Some(us(120)), "at {at}");
        }
        let mut up = Vec::new();
        held.hand_up(&mut up);
        assert_eq!((up.len(), held.due()), (3, None));
        held.received(us(500), &mut vec![one()]);
        assert_eq!(held.due(), Some(us(520)));
        // An interrupt for another reason is as slow.
        let mut held = HeldBack::new(RxMitigation::AR9300).with_softirq(softirq);
        held.received(ms(1), &mut vec![one()]);
        assert_eq!(held.due(), Some(us(1_520)));
        assert!(!held.interrupt(us(1_200)));
        assert_eq!(held.due(), Some(us(1_220)));
        held.received(us(1_210), &mut vec![one()]);
        assert_eq!(held.due(), Some(us(1_220)));
    }
}
