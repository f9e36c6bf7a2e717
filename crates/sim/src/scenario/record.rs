//! What a scenario asks to be recorded.

use stillair_model::vocabulary::Duration;

/// What is recorded beyond the summary.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Record {
    /// Time between samples of every TCP sender's state, as `ss -tim` shows it; none means no samples.
    pub ss: Option<Duration>,
    /// Time between samples of what waits in each layer of each interface; none means no samples.
    pub queues: Option<Duration>,
    /// Time between samples of what guests' queueing disciplines count, as `tc -s qdisc` shows it; none means no samples.
    pub tc: Option<Duration>,
    /// The same of the counters of guests' protocols, as `nstat -az` shows them.
    pub nstat: Option<Duration>,
    /// Every datagram of QUIC connections, and their windows.
    pub quic: bool,
    /// Part of the run in which every exchange on the air is recorded.
    pub air: Option<Stretch>,
    /// Where the time of packets went, of one packet of so many.
    pub sojourn: Option<u64>,
}

/// A part of a run, given as times since its beginning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stretch {
    /// When it begins.
    pub from: Duration,
    /// When it is over.
    pub until: Duration,
}
