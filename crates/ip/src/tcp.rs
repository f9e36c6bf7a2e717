//! Offsets of TCP header fields in a packet.

use crate::parse::{PacketView, TCP};

// spec: rfc9293 3.1 - flag bits.
pub const FIN: u8 = 0x01;
pub const SYN: u8 = 0x02;
pub const RST: u8 = 0x04;
pub const PSH: u8 = 0x08;
pub const URG: u8 = 0x20;
pub const CWR: u8 = 0x80;

/// Length of a TCP header without options, in bytes.
pub const HEADER: usize = 20;

/// Offsets of a segment's header and payload from the IP header.
#[derive(Clone, Copy, Debug)]
pub struct OptionLayout {
    pub transport: usize,
    pub payload: usize,
}

impl OptionLayout {
    /// Returns the layout of an unfragmented TCP packet with a complete TCP header.
    pub fn of(packet: &[u8], view: &PacketView) -> Option<Self> {
        if view.protocol != TCP || view.fragment.is_some() {
            return None;
        }
        let transport = view.header;
        let header = packet[transport..view.length].get(..HEADER)?;
        let bytes = usize::from(header[12] >> 4) * 4;
        let payload = transport + bytes;
        (bytes >= HEADER && payload <= view.length).then_some(Self { transport, payload })
    }

    /// Offset of the flags.
    pub fn flags(&self) -> usize {
        self.transport + 13
    }

    /// The sequence number.
    pub fn seq(&self, packet: &[u8]) -> u32 {
        let at = self.transport + 4;
        u32::from_be_bytes([packet[at], packet[at + 1], packet[at + 2], packet[at + 3]])
    }
}
