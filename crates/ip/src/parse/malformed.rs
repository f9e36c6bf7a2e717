//! Parse errors.

use core::fmt;

/// Reason why bytes are not a valid IP packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Malformed {
    /// Fewer bytes than the fixed header of the IP version.
    Truncated {
        /// Available bytes.
        bytes: usize,
    },
    /// A version other than 4 or 6.
    Version(u8),
    /// An IPv4 header shorter than 20 bytes, or longer than its packet.
    HeaderLength {
        /// Header length in the header.
        header: usize,
        /// Packet length in the header.
        packet: usize,
    },
    /// A packet longer than the buffer.
    Length {
        /// Packet length in the header.
        packet: usize,
        /// Available bytes.
        buffer: usize,
    },
    /// An IPv6 extension header that extends beyond the end of its packet.
    Extension {
        /// Offset of the extension header.
        at: usize,
        /// Length of the packet in bytes.
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
