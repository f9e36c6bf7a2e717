//! What a host remembers of the path to another from connections that are over, and tells the next ones.

use super::sender::Sender;
use crate::transport::cc::{CaState, INFINITE_SSTHRESH};
use crate::vocabulary::{Duration, Instant};

/// How long it remembers.
// linux: net/ipv4/tcp_metrics.c TCP_METRICS_TIMEOUT (4.4).
const TIMEOUT: Duration = Duration::from_secs(60 * 60);

/// An entry of `ip tcp_metrics`: of a pair of addresses. Zero is not known.
// linux: net/ipv4/tcp_metrics.c struct tcp_metrics_block (4.4).
// deviation: without window and variation of the round-trip time, which the kernel writes and never uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PathMetrics {
    /// Eight times the smoothed round-trip time, in us.
    pub rtt8_us: u32,
    /// Threshold of slow start in segments.
    pub ssthresh: u32,
    /// Reordering in segments, where it is not the usual one.
    pub reordering: u32,
    /// When it was written last.
    pub written: Option<Instant>,
}

impl PathMetrics {
    /// What is still remembered at `now`.
    #[must_use]
    pub fn at(self, now: Instant) -> Self {
        if self.written.is_some_and(|at| now - at > TIMEOUT) { Self::default() } else { self }
    }

    /// A connection on this path has ended in order; `usual` is `net.ipv4.tcp_reordering`.
    // linux: net/ipv4/tcp_metrics.c tcp_update_metrics (4.4; 5.6 for `no_ssthresh`).
    pub fn learn(&mut self, now: Instant, s: &Sender, usual: u32, no_ssthresh: bool) {
        *self = self.at(now);
        let sk = &s.sk;
        if s.backoff() > 0 || sk.srtt_us == 0 {
            self.rtt8_us = 0;
            return;
        }
        // A longer one counts at once, a shorter one by an eighth.
        let shorter = self.rtt8_us.saturating_sub(sk.srtt_us);
        self.rtt8_us = if shorter == 0 { sk.srtt_us } else { self.rtt8_us - (shorter >> 3) };
        let raised = |known: u32, to: u32| if known > 0 { known.max(to) } else { known };
        let ssthresh = if sk.snd_ssthresh >= INFINITE_SSTHRESH {
            raised(self.ssthresh, sk.snd_cwnd >> 1)
        } else if sk.snd_cwnd >= sk.snd_ssthresh && sk.ca_state == CaState::Open {
            sk.snd_ssthresh.max(sk.snd_cwnd >> 1)
        } else {
            if s.reordering() != usual {
                self.reordering = self.reordering.max(s.reordering());
            }
            raised(self.ssthresh, sk.snd_ssthresh)
        };
        if !no_ssthresh {
            self.ssthresh = ssthresh;
        }
        self.written = Some(now);
    }
}

#[cfg(test)]
mod tests;
