//! The TCP header of a packet: its cold record, which only sockets and captures look at.

use super::ids::SockId;

/// Flags of the TCP header, by their bits.
// spec: rfc9293 3.1, rfc3168 6.1 (ECE and CWR).
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct TcpFlags(pub u8);

impl TcpFlags {
    /// No more data from the sender.
    pub const FIN: Self = Self(1);
    /// Synchronise sequence numbers.
    pub const SYN: Self = Self(2);
    /// Reset the connection.
    pub const RST: Self = Self(4);
    /// Hand the data to the application.
    pub const PSH: Self = Self(8);
    /// The acknowledgement number counts.
    pub const ACK: Self = Self(16);
    /// Congestion was experienced (ECN echo).
    pub const ECE: Self = Self(64);
    /// The window was reduced for it.
    pub const CWR: Self = Self(128);

    /// Both sets of flags.
    #[inline]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
    /// Whether any of `other` is set.
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

/// Most SACK blocks in a header: four without time stamps, three with them.
// spec: rfc2018 3.
pub const MAX_SACK_BLOCKS: usize = 4;

/// Options that only a SYN bears.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SynOptions {
    /// Maximum segment size in bytes, without options (RFC 9293).
    pub mss: u16,
    /// Window scale shift (RFC 7323), if offered.
    pub window_scale: Option<u8>,
    /// SACK permitted (RFC 2018).
    pub sack: bool,
    /// Time stamps (RFC 7323).
    pub timestamps: bool,
}

/// What a TCP segment bears beside sequence and acknowledgement number, which are hot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TcpHeader {
    /// The socket that it is for: the demultiplexing of ports, done once for a connection.
    pub to: SockId,
    /// Bytes of data in it, over all segments that the packet stands for.
    pub payload: u32,
    /// Bytes of data in each of those segments but the last (as `gso_size`).
    pub mss: u16,
    /// Flags.
    pub flags: TcpFlags,
    /// SACK blocks that are used.
    pub sacks: u8,
    /// Receive window in bytes, its scaling done.
    pub window: u32,
    /// Time stamp value in ms, if time stamps are used.
    pub ts_val: u32,
    /// Time stamp echo reply in ms.
    pub ts_ecr: u32,
    /// SACK blocks [left, right); the first may be a D-SACK (RFC 2883).
    pub sack: [(u32, u32); MAX_SACK_BLOCKS],
    /// Options of a SYN.
    pub syn: SynOptions,
}

impl TcpHeader {
    /// A header for a socket, without data, flags or options.
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
