//! TCP metrics: what a host remembers of the path to another host from closed connections.

use crate::types::{Duration, Instant};

/// How long it remembers.
// linux: net/ipv4/tcp_metrics.c TCP_METRICS_TIMEOUT (4.4).
const TIMEOUT: Duration = Duration::from_secs(60 * 60);

/// An entry of `ip tcp_metrics`, for a pair of addresses. Zero means unknown.
// linux: net/ipv4/tcp_metrics.c struct tcp_metrics_block (4.4).
// deviation: without window and variation of the round-trip time, which the kernel writes and never uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PathMetrics {
    /// Eight times the smoothed round-trip time in us.
    pub rtt8_us: u32,
    /// Slow-start threshold in segments.
    pub ssthresh: u32,
    /// Reordering degree in segments, where it differs from the default.
    pub reordering: u32,
    /// Time of the last update.
    pub written: Option<Instant>,
}

impl PathMetrics {
    /// The metrics that have not expired at `now`.
    #[must_use]
    pub fn at(self, now: Instant) -> Self {
        if self.written.is_some_and(|at| now - at > TIMEOUT) { Self::default() } else { self }
    }
}
