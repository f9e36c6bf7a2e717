//! The phase of an exchange that is simulated frame by frame.

use stillair_model::types::{Duration, Instant};
use stillair_model::wifi::air::account::AirUse;
use stillair_model::wifi::air::protection::Protection;
use stillair_model::wifi::air::reception::RxOutcome;
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

/// An exchange that a radio has begun.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exchange {
    pub(super) queue: usize,
    /// Number on the channel of the radio that it is for; none for a beacon.
    pub(super) to: Option<usize>,
    pub(super) phase: Phase,
    /// When that phase ends.
    pub(super) at: Instant,
    pub(super) begun: Instant,
    /// When the PPDU begins, if all goes well, and how long it takes.
    pub(super) start: Instant,
    pub(super) took: Duration,
    /// SIFS and the answer.
    pub(super) response: Duration,
    pub(super) protection: Protection,
    pub(super) use_of: AirUse,
    /// What the receiver got of the PPDU.
    pub(super) got: RxOutcome,
    /// The PPDU was sent.
    pub(super) sent: bool,
    /// Others destroyed some of it.
    pub(super) disturbed: bool,
    pub(super) txop_until: Option<Instant>,
}

impl Exchange {
    /// The end of it all, if all goes well.
    pub(super) fn ends(&self) -> Instant {
        self.start + self.took + self.response
    }

    pub(super) const fn first(&self) -> Step {
        match self.protection {
            Protection::None => Step::Data,
            Protection::CtsToSelf(_) => Step::CtsToSelf,
            Protection::RtsCts(_) => Step::Rts,
        }
    }

    /// What the air is used for by it, gaps between its frames included.
    pub(super) const fn uses(&self) -> AirUse {
        match self.phase {
            Phase::On(Step::Data, _) => self.use_of,
            Phase::On(Step::Answer, _) | Phase::Before(Step::Answer) => AirUse::Ack,
            Phase::On(..) | Phase::Before(Step::Cts) => AirUse::Protection,
            Phase::Before(Step::Data) if !matches!(self.protection, Protection::None) => AirUse::Protection,
            Phase::Before(_) | Phase::Failed => AirUse::Contention,
        }
    }
}
