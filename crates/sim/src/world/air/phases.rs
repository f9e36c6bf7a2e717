//! Where an exchange is that is worked out frame by frame.

use stillair_model::wifi::air::views::FrameId;

/// A frame of an exchange.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    Rts,
    Cts,
    CtsToSelf,
    Data,
    Answer,
}

/// Where an exchange is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// A gap before a frame.
    Before(Step),
    /// A frame is on the air.
    On(Step, FrameId),
    /// What should have come has not: its sender waits for a while.
    Failed,
}
