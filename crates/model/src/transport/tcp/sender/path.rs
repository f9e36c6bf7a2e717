//! Path metrics: state inherited from earlier connections between the same addresses.

use super::Sender;
use crate::transport::cc::{CaState, INFINITE_SSTHRESH};
use crate::transport::tcp::config::LossDetection;
use crate::transport::tcp::metrics::PathMetrics;
use crate::types::Instant;

impl Sender {
    /// Applies known path metrics: slow-start threshold, reordering degree, and the initial timeout if the
    /// stored RTT exceeds that of the SYN.
    // linux: net/ipv4/tcp_metrics.c tcp_init_metrics (4.4).
    pub(super) fn recall(&mut self, path: &PathMetrics) {
        if path.ssthresh > 0 && !self.cfg.no_ssthresh_metrics_save {
            self.sk.snd_ssthresh = path.ssthresh;
        }
        if path.reordering > 0 && path.reordering != self.reordering {
            self.reordering = path.reordering;
            // Disables FACK and early retransmit; RACK still requires observed reordering.
            self.reord_seen |= self.cfg.loss != LossDetection::RackTlp;
            self.fack_over = true;
        }
        if path.rtt8_us > self.sk.srtt_us {
            let rto_min = self.us_to_ticks(self.rto_min_us);
            self.rtt.expect(path.rtt8_us, rto_min, self.cfg.hz);
        }
    }

    /// Saves path metrics when the connection has closed in order.
    // linux: net/ipv4/tcp_metrics.c tcp_update_metrics (4.4; 5.6 for `tcp_no_ssthresh_metrics_save`).
    pub fn teach(&self, now: Instant, path: &mut PathMetrics) {
        if self.cfg.no_metrics_save {
            return;
        }
        *path = path.at(now);
        let sk = &self.sk;
        if self.rtt.backoff > 0 || sk.srtt_us == 0 {
            path.rtt8_us = 0;
            return;
        }
        // A longer RTT applies immediately, a shorter one with a weight of 1/8.
        let shorter = path.rtt8_us.saturating_sub(sk.srtt_us);
        path.rtt8_us = if shorter == 0 { sk.srtt_us } else { path.rtt8_us - (shorter >> 3) };
        let raised = |known: u32, to: u32| if known > 0 { known.max(to) } else { known };
        let ssthresh = if sk.snd_ssthresh >= INFINITE_SSTHRESH {
            raised(path.ssthresh, sk.snd_cwnd >> 1)
        } else if sk.snd_cwnd >= sk.snd_ssthresh && sk.ca_state == CaState::Open {
            sk.snd_ssthresh.max(sk.snd_cwnd >> 1)
        } else {
            if self.reordering != self.cfg.reordering {
                path.reordering = path.reordering.max(self.reordering);
            }
            raised(path.ssthresh, sk.snd_ssthresh)
        };
        if !self.cfg.no_ssthresh_metrics_save {
            path.ssthresh = ssthresh;
        }
        path.written = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{established, established_by};
    use super::*;
    use crate::transport::tcp::config::TcpConfig;
    use crate::types::Duration;

    /// Kernels before 5.6, and since.
    fn old(s: &mut Sender) -> &Sender {
        s.cfg.no_ssthresh_metrics_save = false;
        s
    }
    fn new(s: &mut Sender) -> &Sender {
        s.cfg.no_ssthresh_metrics_save = true;
        s
    }

    fn at(s: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(s)
    }

    /// Stored threshold; sender's threshold (0: none), window, state and reordering | threshold and
    /// reordering stored then.
    type Row = (u32, (u32, u32, CaState, u32), (u32, u32));

    // linux: net/ipv4/tcp_metrics.c tcp_update_metrics (4.4).
    #[test]
    fn metrics_saved_by_a_connection() {
        let table: [Row; 10] = [
            // In initial slow start: the threshold is only raised.
            (0, (0, 40, CaState::Open, 3), (0, 0)),
            (10, (0, 40, CaState::Open, 3), (20, 0)),
            (30, (0, 40, CaState::Open, 3), (30, 0)),
            // In congestion avoidance: the sender's threshold, or half its window.
            (0, (12, 20, CaState::Open, 3), (12, 0)),
            (90, (12, 20, CaState::Open, 3), (12, 0)),
            (90, (12, 60, CaState::Open, 3), (30, 0)),
            // In recovery, or in slow start after it: raised if known.
            (0, (12, 12, CaState::Recovery, 3), (0, 0)),
            (10, (12, 12, CaState::Recovery, 3), (12, 0)),
            (10, (12, 5, CaState::Open, 7), (12, 7)),
            (20, (12, 5, CaState::Loss, 3), (20, 0)),
        ];
        for (known, (ssthresh, cwnd, state, reordering), want) in table {
            let mut s = established();
            s.sk.snd_ssthresh = if ssthresh == 0 { INFINITE_SSTHRESH } else { ssthresh };
            (s.sk.snd_cwnd, s.sk.ca_state) = (cwnd, state);
            s.reordering = reordering;
            let before = PathMetrics { ssthresh: known, ..PathMetrics::default() };
            let (mut path, mut newer) = (before, before);
            old(&mut s).teach(at(1), &mut path);
            assert_eq!((path.ssthresh, path.reordering), want, "{known} {ssthresh} {cwnd} {state:?}");
            new(&mut s).teach(at(1), &mut newer);
            assert_eq!((newer.ssthresh, newer.reordering), (known, want.1));
        }
    }

    #[test]
    fn stored_rtt_rises_immediately_falls_by_an_eighth_and_expires() {
        let mut s = established();
        let mut path = PathMetrics::default();
        for (srtt8, known) in
            [(80_000, 80_000), (160_000, 160_000), (80_000, 150_000), (0, 0), (80_000, 80_000)]
        {
            s.sk.srtt_us = srtt8;
            old(&mut s).teach(at(1), &mut path);
            assert_eq!(path.rtt8_us, known);
        }
        assert_eq!((path.at(at(3_601)), path.at(at(3_602))), (path, PathMetrics::default()));
    }

    // linux: net/ipv4/tcp_metrics.c tcp_init_metrics (4.4) - the timeout is three RTTs, or one plus 200 ms.
    #[test]
    fn stored_metrics_initialise_the_next_connection() {
        let path = PathMetrics { rtt8_us: 8 * 300_000, ssthresh: 17, reordering: 9, written: Some(at(1)) };
        let old = TcpConfig { no_ssthresh_metrics_save: false, ..TcpConfig::default() };
        let s = established_by(&old, &path);
        assert_eq!((s.sk.snd_ssthresh, s.reordering, s.rto() * 1_000 / old.hz), (17, 9, 900));
        let s = established_by(&TcpConfig::default(), &path);
        assert_eq!((s.sk.snd_ssthresh, s.reordering), (INFINITE_SSTHRESH, 9));
        // A reordering degree other than the sysctl's disables FACK.
        for (reordering, over) in [(0, false), (3, false), (4, true)] {
            let path = PathMetrics { reordering, ..path };
            assert_eq!(established_by(&old, &path).fack_over, over, "{reordering}");
        }
        // The SYN's RTT exceeds the stored one.
        let short = PathMetrics { rtt8_us: 8 * 2_000, ..path };
        assert_eq!(established_by(&old, &short).rto(), established_by(&old, &PathMetrics::default()).rto());
    }
}
