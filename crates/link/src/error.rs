//! Errors.

use std::time::Duration;

use stillair_sim::scenario::ScenarioError;
use thiserror::Error;

/// A path or a link cannot be created.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum LinkError {
    /// There is no preset of that name. The message suggests a similar name and lists all presets.
    #[error("{0}")]
    Preset(String),
    /// The scenario is invalid; the message has the place and the expected value.
    #[error(transparent)]
    Scenario(Box<ScenarioError>),
    /// The scenario has fewer than two interfaces of external hosts.
    #[error(
        "the scenario has {} of the two or more endpoints that a link needs: interfaces of nodes with host = \"external\"{}{}",
        .0.len(),
        if .0.is_empty() { "" } else { ", " },
        .0.join(", ")
    )]
    Endpoints(Vec<String>),
    /// The path has no endpoint of that name; the list has those of the path.
    #[error("the path has no endpoint {0:?}, expected one of {all}", all = .1.join(", "))]
    Endpoint(String, Vec<String>),
    /// The run failed: it is too long, or the accounting does not balance.
    #[error("{0}")]
    Run(String),
}

impl From<ScenarioError> for LinkError {
    fn from(error: ScenarioError) -> Self {
        Self::Scenario(Box::new(error))
    }
}

/// Invalid time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum TimeError {
    /// The first time is before the link's, which is the second.
    #[error("the time {0:?} is before the link's, {1:?}")]
    Backwards(Duration, Duration),
    /// The time is at or after the end of the scenario, which is this time.
    #[error("the link has ended at {0:?}, with its scenario")]
    Ended(Duration),
}

/// A datagram was not sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum SendError {
    /// Invalid time.
    #[error(transparent)]
    Time(#[from] TimeError),
    /// The link has no such endpoint, or source and destination are the same.
    #[error("found no route from endpoint {0} to endpoint {1}")]
    Way(u32, u32),
    /// The payload is larger than one packet of the path (`EMSGSIZE`).
    #[error("found a datagram of {bytes} bytes, expected at most {most}: the path's MTU")]
    TooLong {
        /// Payload length in bytes.
        bytes: usize,
        /// Maximum in bytes.
        most: usize,
    },
    /// The mark is out of range: ECN has 2 bits, DSCP has 6.
    #[error("found ECN {0} and DSCP {1}, expected 0 to 3 and 0 to 63")]
    Mark(u8, u8),
    /// The endpoint's socket is full (`EAGAIN`). [`Poll::Writable`](crate::Poll::Writable) reports when it
    /// has room again.
    #[error("the endpoint's socket is full")]
    Full,
}
