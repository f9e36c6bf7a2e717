//! The TCP header of a packet: its cold record, read only by sockets and captures.

use super::ids::SockId;

/// TCP flags, by their bits.
// spec: rfc9293 3.1, rfc3168 6.1 (ECE and CWR).
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct TcpFlags(pub u8);

impl TcpFlags {
    /// FIN: no more data from the sender.
    pub const FIN: Self = Self(1);
    /// SYN: synchronize sequence numbers.
    pub const SYN: Self = Self(2);
    /// RST: reset the connection.
    pub const RST: Self = Self(4);
    /// PSH: push the data to the application.
    pub const PSH: Self = Self(8);
    /// ACK: the acknowledgement number is valid.
    pub const ACK: Self = Self(16);
    /// ECE: ECN echo.
    pub const ECE: Self = Self(64);
    /// CWR: congestion window reduced.
    pub const CWR: Self = Self(128);

    /// Both sets of flags.
    #[inline]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
    /// Returns true if any flag of `other` is set.
    #[inline]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl core::fmt::Debug for TcpFlags {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        const NAMES: [&str; 8] = ["FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR"];
        let set = NAMES.iter().enumerate().filter(|(bit, _)| self.0 >> bit & 1 == 1);
        f.debug_set().entries(set.map(|(_, name)| name)).finish()
    }
}

/// Maximum number of SACK blocks in a header: four without timestamps, three with timestamps.
// spec: rfc2018 3.
pub const MAX_SACK_BLOCKS: usize = 4;

/// Options that only a SYN carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SynOptions {
    /// Maximum segment size in bytes, without options (RFC 9293).
    pub mss: u16,
    /// Window scale shift (RFC 7323), if offered.
    pub window_scale: Option<u8>,
    /// SACK permitted (RFC 2018).
    pub sack: bool,
    /// Timestamps (RFC 7323).
    pub timestamps: bool,
}

/// TCP header fields other than sequence and acknowledgement number, which are in the packet's fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TcpHeader {
    /// The receiving socket. Demultiplexing by port is done once per connection.
    pub to: SockId,
    /// Bytes of data, over all segments of the packet.
    pub payload: u32,
    /// Bytes of data in each segment but the last (`gso_size`).
    pub mss: u16,
    /// Flags.
    pub flags: TcpFlags,
    /// Number of SACK blocks in use.
    pub sacks: u8,
    /// Receive window in bytes, after scaling.
    pub window: u32,
    /// Timestamp value (TSval) in ms, if timestamps are used.
    pub ts_val: u32,
    /// Timestamp echo reply (TSecr) in ms.
    pub ts_ecr: u32,
    /// SACK blocks [left, right); the first may be a D-SACK (RFC 2883).
    pub sack: [(u32, u32); MAX_SACK_BLOCKS],
    /// Options of a SYN.
    pub syn: SynOptions,
}

impl TcpHeader {
    /// Creates a header for a socket, without data, flags or options.
    pub const fn blank(to: SockId) -> Self {
        Self {
            to,
            payload: 0,
            mss: 0,
            flags: TcpFlags(0),
            sacks: 0,
            window: 0,
            ts_val: 0,
            ts_ecr: 0,
            sack: [(0, 0); MAX_SACK_BLOCKS],
            syn: SynOptions { mss: 0, window_scale: None, sack: false, timestamps: false },
        }
    }

    /// The SACK blocks.
    #[inline]
    pub fn sack_blocks(&self) -> &[(u32, u32)] {
        &self.sack[..usize::from(self.sacks)]
    }
}
