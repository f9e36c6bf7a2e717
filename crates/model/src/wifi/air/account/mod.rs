//! The airtime account of a channel: each nanosecond is counted once.

use crate::types::{Duration, Instant};

/// What the air of a channel was used for during a stretch of time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum AirUse {
    /// Idle: no radio had a frame to send.
    Idle,
    /// A radio waited to send. This includes interframe spaces, backoff, and the time after a failed
    /// transmission.
    Contention,
    /// A data PPDU.
    Data,
    /// The SIFS and the acknowledgement after a PPDU.
    Ack,
    /// Overlapping transmissions (a collision).
    Collision,
    /// A beacon.
    Beacon,
    /// Block Ack set-up and Block Ack requests.
    Management,
    /// RTS and CTS frames, with the gaps that follow them.
    Protection,
    /// Several frames at once in a scenario with hidden stations. These frames may collide at one receiver
    /// and not at another.
    Overlap,
    /// Non-Wi-Fi interference made the medium busy for at least one radio, and no radio sent.
    Noise,
    /// A frame of a neighbouring network, or the gap before the answer to that frame.
    Neighbour,
}

impl AirUse {
    /// Number of uses.
    pub const COUNT: usize = 11;
    /// All uses, in table order.
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
    /// Whether this is a use by a source outside the scenario (interference or a neighbouring network). Only
    /// scenarios with such sources report these uses.
    pub const fn is_foreign(self) -> bool {
        matches!(self, Self::Noise | Self::Neighbour)
    }
    /// Name of the use in tables.
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

/// Time per use, booked without gap or overlap from the start of the run.
#[derive(Clone, Debug, Default)]
pub struct AirAccount {
    by_use: [Duration; AirUse::COUNT],
    until: Instant,
}

impl AirAccount {
    /// Books the time from the end of the last booking until `until` as `what`.
    ///
    /// An `until` at or before the end of the last booking changes nothing.
    #[inline]
    pub fn book(&mut self, what: AirUse, until: Instant) {
        self.by_use[what as usize] += until.saturating_since(self.until);
        self.until = self.until.max(until);
    }

    /// Time booked for `what`.
    pub fn used(&self, what: AirUse) -> Duration {
        self.by_use[what as usize]
    }

    /// Total time booked.
    pub fn total(&self) -> Duration {
        self.by_use.iter().copied().sum()
    }

    /// End of the last booking.
    pub fn until(&self) -> Instant {
        self.until
    }
}

#[cfg(test)]
mod tests;
