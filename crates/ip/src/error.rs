//! Why a packet could not be worked on.

use core::fmt;

use crate::parse::Malformed;

/// Why no packet could be made of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Error {
    /// It is no IP packet.
    Malformed(Malformed),
    /// The buffer for the outcome is too small.
    Room {
        /// Bytes it would have to have.
        needed: usize,
    },
    /// The address of the node that answers is of the other version of IP.
    Version,
    /// What shall be split is no whole packet of TCP.
    NotTcp,
    /// What shall be split has a size of segments of zero.
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
