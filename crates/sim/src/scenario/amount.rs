//! Upper bounds on the memory of a flow, so that a flow that would not fit is rejected before the run.

use stillair_model::app::Load;
use stillair_model::types::Duration;

use super::{Flow, FlowKind, OPEN};

impl Flow {
    /// Returns the maximum number of page loads, each with its own sockets, in a run of length `end`.
    pub(crate) fn loads(&self, end: Duration) -> u64 {
        let FlowKind::Web { interval, .. } = &self.kind else { return 0 };
        self.times(*interval, end)
    }

    /// Returns the maximum number of connections that its responsiveness test opens in a run of length `end`.
    pub(crate) fn connections(&self, end: Duration) -> u64 {
        let FlowKind::Responsiveness(params) = &self.kind else { return 0 };
        let [first, _, most] = params.connections;
        let ways = if params.load == Load::Both { 2 } else { 1 };
        let second = Duration::from_secs(1);
        // Every second probe opens a connection.
        let probes = self.times(second, end) * u64::from(params.probes_per_second).div_ceil(2);
        probes + self.to.len() as u64 * u64::from(first.max(most) * ways)
    }

    /// Returns the maximum number of ping replies or call packets stored individually in a run of length
    /// `end`.
    pub(crate) fn answers(&self, end: Duration) -> u64 {
        if end == OPEN && self.stop.is_none() {
            // Open-ended runs store a histogram instead.
            return 0;
        }
        match &self.kind {
            FlowKind::Ping { interval, .. } | FlowKind::UdpPing { interval, .. } => {
                self.times(*interval, end)
            }
            FlowKind::Voip { interval } => self.times(*interval, end),
            FlowKind::Udp { .. }
            | FlowKind::Video(_)
            | FlowKind::Tcp { .. }
            | FlowKind::Web { .. }
            | FlowKind::Responsiveness(_)
            | FlowKind::Quic(_) => 0,
        }
    }

    /// Returns the number of events at this interval, summed over all receivers.
    fn times(&self, interval: Duration, end: Duration) -> u64 {
        let length = self.stop.map_or(end, |stop| stop.min(end)).saturating_sub(self.start);
        self.to.len() as u64 * (length.nanos() / interval.nanos() + 1)
    }
}
