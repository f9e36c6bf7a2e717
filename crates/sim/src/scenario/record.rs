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
    /// True if every datagram of QUIC connections is recorded, with the congestion windows.
    pub quic: bool,
    /// Part of the run in which every exchange on the air is recorded.
    pub air: Option<Stretch>,
    /// Sampling of delays by layer and cause: one in this many packets; `None` means no packet.
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
