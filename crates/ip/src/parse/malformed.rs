//! Errors of parsing.

use core::fmt;

/// Why bytes are not a valid IP packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Malformed {
    /// Fewer bytes than the fixed header of this version.
    Truncated {
        /// Bytes that there are.
        bytes: usize,
    },
    /// A version that is neither 4 nor 6.
    Version(u8),
    /// An IPv4 header of less than 20 bytes, or one longer than its packet.
    HeaderLength {
        /// Bytes that the header says it has.
        header: usize,
        /// Bytes that the packet says it has.
        packet: usize,
    },
    /// A packet that is longer than the buffer.
    Length {
        /// Bytes that the packet says it has.
        packet: usize,
        /// Bytes that there are.
        buffer: usize,
    },
    /// An IPv6 extension header that goes beyond the end of its packet.
    Extension {
        /// Where it begins.
        at: usize,
        /// Bytes that the packet has.
        packet: usize,
    },
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Truncated { bytes } => write!(f, "{bytes} bytes are no IP header"),
            Self::Version(version) => write!(f, "IP version {version}, where 4 and 6 are known"),
            Self::HeaderLength { header, packet } => {
                write!(f, "an IPv4 header of {header} bytes in a packet of {packet}")
            }
            Self::Length { packet, buffer } => {
                write!(f, "an IP packet of {packet} bytes in a buffer of {buffer}")
            }
            Self::Extension { at, packet } => {
                write!(f, "the extension header at byte {at} goes beyond an IPv6 packet of {packet} bytes")
            }
        }
    }
}

impl core::error::Error for Malformed {}
