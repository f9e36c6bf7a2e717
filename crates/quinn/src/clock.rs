//! Virtual time for quinn: standard library instants, computed from a fixed base and an offset.

#![allow(
    clippy::disallowed_types,
    reason = "quinn takes the standard library's instants; what they say is virtual time"
)]

use std::sync::OnceLock;

use stillair_model::types::Instant;

/// Instant type used by quinn.
pub use std::time::Instant as StdInstant;

/// Duration type used by quinn.
pub use std::time::Duration as StdDuration;

/// Virtual time zero, the same for all stacks of a process. It is one day after the clock reading, so that a
/// stack may subtract durations.
#[allow(
    clippy::disallowed_methods,
    reason = "an instant can be made only by reading the clock: it is read once, and nothing but differences to that reading \
              is ever looked at"
)]
fn base() -> StdInstant {
    static BASE: OnceLock<StdInstant> = OnceLock::new();
    *BASE.get_or_init(|| StdInstant::now() + StdDuration::from_secs(86_400))
}

/// Converts virtual time to a standard instant.
#[inline]
pub fn to_std(at: Instant) -> StdInstant {
    base() + StdDuration::from_nanos(at.nanos())
}

/// Converts a standard instant to virtual time.
#[inline]
pub fn from_std(at: StdInstant) -> Instant {
    Instant::from_nanos(at.saturating_duration_since(base()).as_nanos() as u64)
}

/// Converts a model duration to a standard duration.
pub fn span(d: stillair_model::types::Duration) -> StdDuration {
    StdDuration::from_nanos(d.nanos())
}

/// Converts a standard duration to a model duration.
pub fn from_span(d: StdDuration) -> stillair_model::types::Duration {
    stillair_model::types::Duration::from_nanos(d.as_nanos() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_convert_back_to_the_nanosecond() {
        for ns in [0, 1, 999_999_999, 1_000_000_001, 86_400_000_000_007] {
            assert_eq!(from_std(to_std(Instant::from_nanos(ns))).nanos(), ns);
        }
        assert_eq!(from_std(to_std(Instant::ZERO) - StdDuration::from_nanos(1)), Instant::ZERO);
        assert_eq!(
            from_span(span(stillair_model::types::Duration::from_micros(333_000))).nanos(),
            333_000_000
        );
    }
}
