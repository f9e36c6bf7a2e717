//! Airtime accounting of a channel. Each nanosecond is counted exactly once.

use crate::types::{Duration, Instant};

/// Use of a channel during a stretch of time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum AirUse {
    /// Idle: no radio has a frame to send.
    Idle,
    /// A radio is waiting to send. Includes interframe spaces, backoff, and the timeout after a failed
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
    /// Block Ack setup and Block Ack requests.
    Management,
    /// RTS and CTS frames, with the gaps that follow them.
    Protection,
    /// Simultaneous frames in a scenario with hidden stations. They may collide at one receiver and not at
    /// another.
    Overlap,
    /// Non-Wi-Fi interference keeps the medium busy for at least one radio, and no radio sends.
    Noise,
    /// A frame of a neighbouring network, or the gap before its response.
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
    /// Returns true for uses by sources outside the scenario: interference and neighbouring networks. Only
    /// scenarios with such sources report these uses.
    pub const fn is_foreign(self) -> bool {
        matches!(self, Self::Noise | Self::Neighbour)
    }
    /// Returns the name used in tables.
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

/// Time per use since the start of the run, without gap or overlap.
#[derive(Clone, Debug, Default)]
pub struct AirAccount {
    by_use: [Duration; AirUse::COUNT],
    until: Instant,
}

impl AirAccount {
    /// Counts the time from the end of the previous entry to `until` as `what`.
    ///
    /// Does nothing if `until` is not after the end of the previous entry.
    #[inline]
    pub fn book(&mut self, what: AirUse, until: Instant) {
        self.by_use[what as usize] += until.saturating_since(self.until);
        self.until = self.until.max(until);
    }

    /// Returns the time counted as `what`.
    pub fn used(&self, what: AirUse) -> Duration {
        self.by_use[what as usize]
    }

    /// Returns the total time counted.
    pub fn total(&self) -> Duration {
        self.by_use.iter().copied().sum()
    }

    /// Returns the end of the last entry.
    pub fn until(&self) -> Instant {
        self.until
    }
}

#[cfg(test)]
mod tests;
