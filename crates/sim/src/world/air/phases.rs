//! Phases of an exchange that is simulated frame by frame.

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

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// Gap before a frame.
    Before(Step),
    /// Frame on the air.
    On(Step, FrameId),
    /// An expected frame was not received; the sender waits for its timeout.
    Failed,
}

/// An exchange started by a radio.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exchange {
    pub(super) queue: usize,
    /// Number on the channel of the receiving radio; `None` for a beacon.
    pub(super) to: Option<usize>,
    pub(super) phase: Phase,
    /// End of the current phase.
    pub(super) at: Instant,
    pub(super) begun: Instant,
    /// Start of the PPDU if no frame before it is lost, and its duration.
    pub(super) start: Instant,
    pub(super) took: Duration,
    /// Duration of SIFS and the response.
    pub(super) response: Duration,
    pub(super) protection: Protection,
    pub(super) use_of: AirUse,
    /// Frames of the PPDU that the receiver got.
    pub(super) got: RxOutcome,
    /// The PPDU was sent.
    pub(super) sent: bool,
    /// Other transmissions destroyed some of its frames.
    pub(super) disturbed: bool,
    pub(super) txop_until: Option<Instant>,
}

impl Exchange {
    /// Returns the end of the exchange if no frame is lost.
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

    /// Returns the use of the air by the exchange, including the gaps between its frames.
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
