//! Errors of calls.

use core::fmt;
use std::time::Duration;

use stillair_sim::scenario::ScenarioError;

/// Why a path or a link could not be made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LinkError {
    /// There is no preset of that name. The message suggests a similar one and lists all.
    Preset(String),
    /// The scenario is wrong: the place, and what would be right.
    Scenario(Box<ScenarioError>),
    /// The scenario has fewer than two interfaces of external hosts.
    Endpoints(Vec<String>),
    /// The path has no endpoint of that name; with the endpoints of the path.
    Endpoint(String, Vec<String>),
    /// The run failed: it is too long, or accounts do not close.
    Run(String),
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Preset(says) | Self::Run(says) => f.write_str(says),
            Self::Scenario(error) => error.fmt(f),
            Self::Endpoints(found) => write!(
                f,
                "the scenario has {} of the two or more endpoints that a link needs: interfaces of nodes with host = \"external\"{}{}",
                found.len(),
                if found.is_empty() { "" } else { ", " },
                found.join(", ")
            ),
            Self::Endpoint(found, all) => {
                write!(f, "the path has no endpoint {found:?}, expected one of {}", all.join(", "))
            }
        }
    }
}

impl std::error::Error for LinkError {}

impl From<ScenarioError> for LinkError {
    fn from(error: ScenarioError) -> Self {
        Self::Scenario(Box::new(error))
    }
}

/// Why a time is not possible.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TimeError {
    /// It is before the link's time, the second value.
    Backwards(Duration, Duration),
    /// It is at or after the end of the scenario, which is this time.
    Ended(Duration),
}

impl fmt::Display for TimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Backwards(now, link) => write!(f, "the time {now:?} is before the link's, {link:?}"),
            Self::Ended(end) => write!(f, "the link ends at {end:?}, with its scenario"),
        }
    }
}

impl std::error::Error for TimeError {}

/// Why a datagram was not sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SendError {
    /// The time is not possible.
    Time(TimeError),
    /// The link has no such endpoint, or source and destination are the same.
    Way(u32, u32),
    /// Its payload is larger than one packet of the path (`EMSGSIZE`).
    TooLong {
        /// Its payload in bytes.
        bytes: usize,
        /// The maximum in bytes.
        most: usize,
    },
    /// Its mark is out of range: ECN has 2 bits, DSCP has 6.
    Mark(u8, u8),
    /// The endpoint's socket is full (`EAGAIN`). [`Poll::Writable`](crate::Poll::Writable) tells when it has
    /// room again.
    Full,
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(error) => error.fmt(f),
            Self::Way(from, to) => write!(f, "no way leads from endpoint {from} to endpoint {to}"),
            Self::TooLong { bytes, most } => {
                write!(f, "a datagram of {bytes} bytes, expected at most {most}: the path's MTU")
            }
            Self::Mark(ecn, dscp) => {
                write!(f, "mark of ECN {ecn} and DSCP {dscp}, expected 0 to 3 and 0 to 63")
            }
            Self::Full => f.write_str("the endpoint's socket is full"),
        }
    }
}

impl std::error::Error for SendError {}

impl From<TimeError> for SendError {
    fn from(error: TimeError) -> Self {
        Self::Time(error)
    }
}
