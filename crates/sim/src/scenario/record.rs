//! The recordings that a scenario requests.

use stillair_model::types::Duration;

/// Recordings beyond the summary.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Record {
    /// Interval between samples of each TCP sender's state, as `ss -tim` shows it; `None` means no samples.
    pub ss: Option<Duration>,
    /// Interval between samples of the backlog in each layer of each interface; `None` means no samples.
    pub queues: Option<Duration>,
    /// Interval between samples of the counters of guests' queueing disciplines, as `tc -s qdisc` shows them;
    /// `None` means no samples.
    pub tc: Option<Duration>,
    /// Interval between samples of guests' protocol counters, as `nstat -az` shows them; `None` means no
    /// samples.
    pub nstat: Option<Duration>,
    /// Whether every datagram of QUIC connections, and their congestion windows, are recorded.
    pub quic: bool,
    /// Part of the run in which every exchange on the air is recorded.
    pub air: Option<Stretch>,
    /// Delays by layer and cause are recorded of one in this many packets; `None` means of no packet.
    pub sojourn: Option<u64>,
}

/// A part of a run, as times since the start of the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stretch {
    /// Start of the part.
    pub from: Duration,
    /// End of the part.
    pub until: Duration,
}
