//! Rates and sizes as types that carry their units.

use super::time::Duration;

/// A data rate in bits per second.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Rate(u64);

/// A number of bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Default)]
pub struct Bytes(u64);

impl Rate {
    /// `bps` bits per second.
    pub const fn from_bps(bps: u64) -> Self {
        Self(bps)
    }
    /// `mbps` million bits per second.
    pub const fn from_mbps(mbps: u64) -> Self {
        Self(mbps * 1_000_000)
    }
    /// Bits per second.
    pub const fn bps(self) -> u64 {
        self.0
    }
    /// Transmission time of `bytes` at this rate, rounded up to a nanosecond.
    ///
    /// The scenario reader rejects a rate of zero, so this never divides by zero in a run.
    pub const fn time_for(self, bytes: Bytes) -> Duration {
        const BIT_NANOS: u64 = 8_000_000_000;
        match bytes.0.checked_mul(BIT_NANOS) {
            // 128-bit division is slow; up to 2 GB the product fits in 64 bits.
            Some(bit_nanos) => Duration::from_nanos(bit_nanos.div_ceil(self.0)),
            None => {
                Duration::from_nanos((bytes.0 as u128 * BIT_NANOS as u128).div_ceil(self.0 as u128) as u64)
            }
        }
    }
}

impl Bytes {
    /// `n` bytes.
    pub const fn new(n: u64) -> Self {
        Self(n)
    }
    /// The count as a plain number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl core::ops::Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}
