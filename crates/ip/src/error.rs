//! Errors of operations on packets.

use core::fmt;

use crate::parse::Malformed;

/// Reason why a packet could not be processed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Error {
    /// The bytes are not a valid IP packet.
    Malformed(Malformed),
    /// The output buffer is too small.
    Room {
        /// Required bytes.
        needed: usize,
    },
    /// The address of the replying node has the other IP version.
    Version,
    /// The packet to split is not a complete TCP packet.
    NotTcp,
    /// The segment size is zero.
    NoSize,
}

impl From<Malformed> for Error {
    fn from(why: Malformed) -> Self {
        Self::Malformed(why)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Malformed(why) => why.fmt(f),
            Self::Room { needed } => write!(f, "a buffer of less than {needed} bytes"),
            Self::Version => f.write_str("a packet and an own address of different versions of IP"),
            Self::NotTcp => f.write_str("only a whole packet of TCP can be split"),
            Self::NoSize => f.write_str("segments of no bytes"),
        }
    }
}

impl core::error::Error for Error {}
