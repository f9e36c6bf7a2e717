//! Proportional rate reduction (PRR): limits transmission during recovery.
// spec: congestion_control/prr_sender.cc (Chromium 62), rfc6937 3.

/// Maximum segment size in bytes.
const MSS: u64 = super::MSS as u64;

/// PRR state, in bytes since the loss.
#[derive(Clone, Copy, Debug, Default)]
pub struct QuicPrr {
    sent: u64,
    delivered: u64,
    acks: u64,
    in_flight_before: u64,
}

impl QuicPrr {
    /// Called when a loss is detected with `in_flight` bytes in flight.
    pub fn on_lost(&mut self, in_flight: u64) {
        *self = Self { in_flight_before: in_flight, ..Self::default() };
    }

    /// Called when `bytes` bytes were sent in recovery.
    pub fn on_sent(&mut self, bytes: u64) {
        self.sent += bytes;
    }

    /// Called when a packet of `bytes` bytes was acknowledged in recovery.
    pub fn on_acked(&mut self, bytes: u64) {
        self.delivered += bytes;
        self.acks += 1;
    }

    /// Returns true if a packet may be sent now.
    pub fn can_send(&self, cwnd: u64, in_flight: u64, ssthresh: u64) -> bool {
        if self.sent == 0 || in_flight < MSS {
            return true;
        }
        if cwnd > in_flight {
            // spec: rfc6937 3 - slow-start reduction bound: one extra segment per acknowledged segment.
            return self.delivered + self.acks * MSS > self.sent;
        }
        self.delivered * ssthresh > self.sent * self.in_flight_before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With a window of 17 packets after one of 20, seventeen are sent per twenty acknowledged.
    #[test]
    fn in_proportion_while_more_is_in_flight_than_the_window() {
        let mut prr = QuicPrr::default();
        let cwnd = 17 * MSS;
        prr.on_lost(20 * MSS);
        assert!(prr.can_send(cwnd, 19 * MSS, cwnd));
        let mut sent = 0;
        for _ in 0..19 {
            prr.on_acked(MSS);
            while prr.can_send(cwnd, cwnd, cwnd) {
                prr.on_sent(MSS);
                sent += 1;
            }
        }
        assert_eq!(sent, 17);
    }

    /// With less in flight than the window, two packets are sent per acknowledged packet.
    #[test]
    fn at_most_as_slow_start_when_much_was_lost() {
        let mut prr = QuicPrr::default();
        prr.on_lost(20 * MSS);
        prr.on_sent(MSS);
        assert!(!prr.can_send(17 * MSS, 3 * MSS, 17 * MSS));
        prr.on_acked(MSS);
        assert!(prr.can_send(17 * MSS, 3 * MSS, 17 * MSS));
        prr.on_sent(MSS);
        assert!(!prr.can_send(17 * MSS, 3 * MSS, 17 * MSS));
        // With nothing in flight a packet may always be sent.
        assert!(prr.can_send(17 * MSS, 0, 17 * MSS));
    }
}
