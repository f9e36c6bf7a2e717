//! CoDel: drops or marks at dequeue when packets have waited longer than a target for an interval.

use crate::vocabulary::Duration;

/// Parameters, under tc's names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CodelParams {
    /// Sojourn time that is acceptable.
    pub target: Duration,
    /// How long the target may be exceeded before the law acts.
    pub interval: Duration,
    /// Mark packets that allow it instead of dropping them.
    pub ecn: bool,
    /// A backlog of at most this many bytes is never acted upon.
    pub mtu: u32,
}
