//! How much a flow asks to be kept in a run, so that what no memory holds is refused before.

use stillair_model::vocabulary::Duration;

use super::{Flow, FlowKind};

impl Flow {
    /// Most loads of pages, each with sockets of its own, that it makes in a run of length `end`.
    pub(crate) fn loads(&self, end: Duration) -> u64 {
        let FlowKind::Web { interval, .. } = &self.kind else { return 0 };
        self.times(*interval, end)
    }

    /// Most answers to its pings, or packets of its calls, in a run of length `end`.
    pub(crate) fn answers(&self, end: Duration) -> u64 {
        match &self.kind {
            FlowKind::Ping { interval, .. } | FlowKind::UdpPing { interval, .. } => {
                self.times(*interval, end)
            }
            FlowKind::Voip { interval } => self.times(*interval, end),
            FlowKind::Udp { .. }
            | FlowKind::Video(_)
            | FlowKind::Tcp { .. }
            | FlowKind::Web { .. }
            | FlowKind::Quic(_) => 0,
        }
    }

    /// How often something happens each `interval` to all receivers together.
    fn times(&self, interval: Duration, end: Duration) -> u64 {
        let length = self.stop.map_or(end, |stop| stop.min(end)).saturating_sub(self.start);
        self.to.len() as u64 * (length.nanos() / interval.nanos() + 1)
    }
}
