//! ACK policy of a receiver: an ACK every few packets, or with ACK decimation every ten after the start.
// spec: quic_connection.cc MaybeQueueAck, quic_constants.h (Chromium 62) - the rules of gQUIC 39.
// paper: bquic sec. II-B.1 - TCP_ACKING and ACK_DECIMATION.

use crate::types::{Duration, Instant};

/// Parameters of the ACK policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AckParams {
    /// Number of ack-eliciting packets per ACK.
    pub every: u32,
    /// Maximum ACK delay (max_ack_delay).
    pub max_delay: Duration,
    /// ACK decimation after the start of the connection, if enabled.
    pub decimation: Option<Decimation>,
    /// Number of packets after a new gap that are each acknowledged immediately.
    pub after_gap: u64,
}

/// Parameters of ACK decimation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decimation {
    /// Packet number above which decimation applies.
    pub gate: u64,
    /// Number of ack-eliciting packets per ACK.
    pub count: u32,
    /// Maximum ACK delay, in thousandths of the minimum RTT.
    pub fraction: u32,
    /// Lower bound of that delay.
    pub least: Duration,
}

impl AckParams {
    /// Chromium's former default (TCP_ACKING).
    pub const TCP_ACKING: Self =
        Self { every: 2, max_delay: Duration::from_millis(25), decimation: None, after_gap: 4 };
    /// Chromium's connection option ACKD (ACK_DECIMATION).
    pub const ACK_DECIMATION: Self = Self {
        decimation: Some(Decimation { gate: 100, count: 10, fraction: 250, least: Duration::ZERO }),
        ..Self::TCP_ACKING
    };
}

/// A received packet, as seen by the ACK policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketArrival {
    /// Packet number.
    pub number: u64,
    /// True if the packet is ack-eliciting.
    pub eliciting: bool,
    /// True if the packet fills a gap below a later packet.
    pub was_missing: bool,
    /// Length of the contiguous run that ends at the newest packet; `None` without a gap below the run.
    pub since_gap: Option<u64>,
}

/// ACK policy state of a receiver.
#[derive(Clone, Debug)]
pub struct AckPolicy {
    params: AckParams,
    /// Ack-eliciting packets received since the last ACK.
    waiting: u32,
    queued: bool,
    alarm: Option<Instant>,
}

impl AckPolicy {
    /// Creates a policy with nothing to acknowledge.
    pub fn new(params: AckParams) -> Self {
        Self { params, waiting: 0, queued: false, alarm: None }
    }

    /// Processes a received packet. `min_rtt` is the receiver's own minimum RTT, or zero if unknown.
    // spec: quic_connection.cc MaybeQueueAck (Chromium 62) - compares the gate with the packet number, not
    // with a count; without an RTT sample the delay is zero.
    pub fn on_packet(&mut self, now: Instant, packet: PacketArrival, min_rtt: Duration) {
        if packet.was_missing {
            self.queued = true;
        }
        if packet.eliciting && !self.queued {
            self.waiting += 1;
            let (count, delay) = match self.params.decimation {
                Some(d) if packet.number > d.gate => {
                    let part = Duration::from_nanos(min_rtt.nanos() / 1000 * u64::from(d.fraction));
                    (d.count, part.max(d.least).min(self.params.max_delay))
                }
                _ => (self.params.every, self.params.max_delay),
            };
            if self.waiting >= count {
                self.queued = true;
            } else if self.alarm.is_none() {
                self.alarm = Some(now + delay);
            }
            // spec: quic_received_packet_manager.cc HasNewMissingPackets (Chromium 62) - acknowledges several
            // packets after a gap, so that the sender detects its loss even if an ACK is lost too.
            if packet.since_gap.is_some_and(|n| n <= self.params.after_gap) {
                self.queued = true;
            }
        }
        if self.queued {
            self.alarm = None;
        }
    }

    /// Makes an ACK due immediately.
    pub fn at_once(&mut self) {
        (self.queued, self.alarm) = (true, None);
    }

    /// Makes the ACK due if the delay has elapsed.
    pub fn on_timer(&mut self, now: Instant) {
        if self.alarm.is_some_and(|at| at <= now) {
            (self.alarm, self.queued) = (None, true);
        }
    }

    /// Returns the time at which a delayed ACK is due.
    pub fn next_timer(&self) -> Option<Instant> {
        self.alarm
    }

    /// Returns true if an ACK must be sent now, in a packet of its own if necessary.
    pub fn is_due(&self) -> bool {
        self.queued
    }

    /// Returns true if an ACK may be bundled with data.
    // spec: quic_connection.cc ScopedPacketBundler (Chromium 62) - data packets carry a delayed ACK.
    pub fn may_go_along(&self) -> bool {
        self.queued || self.alarm.is_some()
    }

    /// Called after an ACK was sent.
    pub fn sent(&mut self) {
        (self.waiting, self.queued, self.alarm) = (0, false, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(n: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(n)
    }

    /// Number of ACKs for `n` packets, every `gap` us and numbered from `first`, and how many the timer
    /// triggered.
    fn acks(params: AckParams, rtt_ms: u64, first: u64, n: u64, gap: u64) -> (u32, u32) {
        let (mut policy, mut all, mut by_alarm) = (AckPolicy::new(params), 0, 0);
        for i in 0..n {
            let now = us(i * gap);
            if policy.next_timer().is_some_and(|at| at <= now) {
                policy.on_timer(now);
                by_alarm += 1;
                all += 1;
                policy.sent();
            }
            let packet =
                PacketArrival { number: first + i, eliciting: true, was_missing: false, since_gap: None };
            policy.on_packet(now, packet, Duration::from_millis(rtt_ms));
            if policy.is_due() {
                all += 1;
                policy.sent();
            }
        }
        (all, by_alarm)
    }

    /// With an RTT of 8 ms the timer fires after 2 ms, before the tenth packet at up to 54 Mbit/s.
    #[test]
    fn the_alarm_wins_at_low_rates() {
        let decimate = AckParams::ACK_DECIMATION;
        for (gap, all, by_alarm) in [
            (10, 100, 0),    // a burst
            (220, 100, 0),   // 49 Mbit/s: the tenth packet arrives after 1.98 ms
            (270, 124, 124), // 40 Mbit/s: every eighth packet
            (1_000, 499, 499),
            (2_100, 999, 999), // 5 Mbit/s: every packet
        ] {
            assert_eq!(acks(decimate, 8, 1_000, 1_000, gap), (all, by_alarm), "{gap} us");
        }
        assert_eq!(acks(AckParams::TCP_ACKING, 8, 1_000, 1_000, 10), (500, 0));
        // At a gap of 25 ms, each timer expires as the next packet arrives.
        assert_eq!(acks(AckParams::TCP_ACKING, 8, 1, 100, 25_000), (99, 99));
    }

    /// Up to packet 100 every second packet is acknowledged. The gate compares packet numbers, not counts.
    #[test]
    fn the_gate_is_a_packet_number() {
        let decimate = AckParams::ACK_DECIMATION;
        assert_eq!(acks(decimate, 100, 1, 100, 10), (50, 0));
        assert_eq!(acks(decimate, 100, 1, 200, 10), (60, 0));
        assert_eq!(acks(decimate, 100, 101, 100, 10), (10, 0));
    }

    #[test]
    fn gaps_and_their_fills_are_acknowledged_immediately() {
        let mut policy = AckPolicy::new(AckParams::ACK_DECIMATION);
        let packet = PacketArrival { number: 300, eliciting: true, was_missing: false, since_gap: None };
        let mut due = |packet: PacketArrival| {
            policy.on_packet(us(0), packet, Duration::from_millis(8));
            let due = policy.is_due();
            if due {
                policy.sent();
            }
            due
        };
        assert!(!due(packet));
        let after = [1, 2, 3, 4, 5].map(|n| due(PacketArrival { since_gap: Some(n), ..packet }));
        assert_eq!(after, [true, true, true, true, false]);
        assert!(due(PacketArrival { was_missing: true, ..packet }));
        // Packets with only an ACK are not acknowledged, not even after a gap.
        assert!(!due(PacketArrival { eliciting: false, since_gap: Some(1), ..packet }));
    }

    /// Without an RTT sample the delay is zero or the configured minimum.
    #[test]
    fn ack_delay_without_an_rtt_sample() {
        let packet = PacketArrival { number: 101, eliciting: true, was_missing: false, since_gap: None };
        let deadline = |params: AckParams, min_rtt: u64| {
            let mut policy = AckPolicy::new(params);
            policy.on_packet(us(7), packet, Duration::from_millis(min_rtt));
            policy.next_timer()
        };
        let mut params = AckParams::ACK_DECIMATION;
        assert_eq!([0, 8, 200].map(|rtt| deadline(params, rtt)), [7, 2_007, 25_007].map(|at| Some(us(at))));
        params.decimation = params.decimation.map(|d| Decimation { least: Duration::from_millis(1), ..d });
        assert_eq!([0, 8].map(|rtt| deadline(params, rtt)), [1_007, 2_007].map(|at| Some(us(at))));
    }
}
