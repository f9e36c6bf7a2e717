//! Block Ack sessions of a TID, and the reasons that keep a TID from sending.

use crate::types::Instant;

/// State of a TID's Block Ack session. Frames may only be aggregated within a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlockAckSession {
    /// No session is possible: voice, or a peer without HT. Frames are sent singly.
    Never,
    /// No session yet. The next frame requests one.
    Closed,
    /// A session will be requested when the host's work queue reaches the request. Frames are sent singly.
    // linux: net/mac80211/tx.c ieee80211_tx_prep_agg (4.4) - HT_AGG_STATE_WANT_START has no effect.
    Wanted,
    /// The host waits for the end of the grace period at this instant, and then sends the request.
    Starting(Instant),
    /// The request was sent. The attempt times out at this instant.
    Asked(Instant),
    /// No response arrived in time. The host's work queue will end the attempt.
    // linux: net/mac80211/tx.c ieee80211_tx_prep_agg (4.4) - frames stay buffered until the session is torn
    // down.
    Unanswered,
    /// The host ends the attempt at this instant. Frames wait until then.
    Stopping(Instant),
    /// The session is open. Frames are aggregated.
    Open,
}

impl BlockAckSession {
    /// Returns true from the start of the host's work on a request until the response, or until the end of a
    /// failed attempt.
    #[inline]
    pub const fn is_negotiated(self) -> bool {
        matches!(self, Self::Starting(_) | Self::Asked(_) | Self::Unanswered | Self::Stopping(_))
    }
}

/// Reason why a TID sends no new frame now, apart from the hardware and the scheduler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Blocked {
    /// The peer sleeps, or the device is on another channel.
    Asleep,
    /// A Block Ack session is being negotiated.
    Negotiating,
    /// The Block Ack window is full until frames in flight are acknowledged.
    Window,
}
