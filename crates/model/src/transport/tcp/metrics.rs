//! TCP metrics: path properties that a host remembers from closed connections.

use crate::types::{Duration, Instant};

/// Lifetime of an entry.
// linux: net/ipv4/tcp_metrics.c TCP_METRICS_TIMEOUT (4.4).
const TIMEOUT: Duration = Duration::from_secs(60 * 60);

/// An entry of `ip tcp_metrics`, per pair of addresses. Zero means unknown.
// linux: net/ipv4/tcp_metrics.c struct tcp_metrics_block (4.4).
// deviation: omits the window and the RTT variation - the kernel stores but never uses them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PathMetrics {
    /// Smoothed RTT in us, times 8.
    pub rtt8_us: u32,
    /// Slow-start threshold in segments.
    pub ssthresh: u32,
    /// Reordering degree in segments, if it differs from the default.
    pub reordering: u32,
    /// Time of the last update.
    pub written: Option<Instant>,
}

impl PathMetrics {
    /// Returns the metrics, or the default if they have expired at `now`.
    #[must_use]
    pub fn at(self, now: Instant) -> Self {
        if self.written.is_some_and(|at| now - at > TIMEOUT) { Self::default() } else { self }
    }
}
