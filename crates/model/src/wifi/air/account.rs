//! The airtime account of a channel: each nanosecond is counted once.

use crate::vocabulary::{Duration, Instant};

/// What a stretch of air was used for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum AirUse {
    /// Idle: no radio had a frame to send.
    Idle,
    /// A radio waited to send: interframe spaces, backoff, and the time after a failure.
    Contention,
    /// A data PPDU.
    Data,
    /// The gap and the acknowledgement after a PPDU.
    Ack,
    /// Overlapping transmissions.
    Collision,
    /// A beacon.
    Beacon,
    /// Block Ack set-up and Block Ack requests.
    Management,
    /// RTS and CTS, with the gaps behind them.
    Protection,
    /// Several frames at once with hidden stations: they may collide at one place and not at another.
    Overlap,
    /// Non-Wi-Fi interference made the medium busy for a radio, and no radio sent.
    Noise,
    /// A frame of a neighbouring network, or the gap before its answer.
    Neighbour,
}

impl AirUse {
    /// Number of uses.
    pub const COUNT: usize = 11;
    /// All of them, in order.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Idle,
        Self::Contention,
        Self::Data,
        Self::Ack,
        Self::Collision,
        Self::Beacon,
        Self::Management,
        Self::Protection,
        Self::Overlap,
        Self::Noise,
        Self::Neighbour,
    ];
    /// Whether it is a use by others than those of the scenario, of which only a scenario with such tells.
    pub const fn is_foreign(self) -> bool {
        matches!(self, Self::Noise | Self::Neighbour)
    }
    /// Name for tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Contention => "contention",
            Self::Data => "data",
            Self::Ack => "ack",
            Self::Collision => "collision",
            Self::Beacon => "beacon",
            Self::Management => "management",
            Self::Protection => "protection",
            Self::Overlap => "overlap",
            Self::Noise => "noise",
            Self::Neighbour => "neighbour",
        }
    }
}

/// Time by use, booked without gap or overlap from the start of the run.
#[derive(Clone, Debug, Default)]
pub struct AirAccount {
    by_use: [Duration; AirUse::COUNT],
    until: Instant,
}

impl AirAccount {
    /// Books everything up to `until`, after what is booked already, as `what`.
    ///
    /// An instant that is booked already changes nothing.
    #[inline]
    pub fn book(&mut self, what: AirUse, until: Instant) {
        self.by_use[what as usize] += until.saturating_since(self.until);
        self.until = self.until.max(until);
    }

    /// Time used in the given way.
    pub fn used(&self, what: AirUse) -> Duration {
        self.by_use[what as usize]
    }

    /// Time booked in all.
    pub fn total(&self) -> Duration {
        self.by_use.iter().copied().sum()
    }

    /// The end of what is booked.
    pub fn until(&self) -> Instant {
        self.until
    }
}

#[cfg(test)]
mod tests;
