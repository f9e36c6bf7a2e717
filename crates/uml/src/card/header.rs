//! The `virtio_net_hdr` of a packet on a card, which describes pending offload work.

use stillair_ip::checksum;
use thiserror::Error;

/// A checksum field beyond the end of its frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("a checksum at byte {field} of a frame of {len}")]
pub struct ChecksumError {
    /// Offset of the field in bytes.
    pub field: usize,
    /// Length of the frame in bytes.
    pub len: usize,
}

/// Length of the header in bytes (virtio 1.x).
// spec: virtio 1.2 5.1.6 - flags, GSO type, header length, segment size, checksum start and offset, number
// of buffers; little-endian.
pub const HEADER: usize = 12;

const NEEDS_CHECKSUM: u8 = 1;
const IS_VALID: u8 = 2;
const TCP_V4: u8 = 1;

/// The header of a packet that a guest sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TxHeader {
    /// True if the card must complete the transport checksum.
    pub needs_checksum: bool,
    /// Payload per segment in bytes, for a packet of several segments (TSO).
    pub gso_size: Option<u16>,
    start: u16,
    offset: u16,
}

impl TxHeader {
    /// Parses a header.
    pub fn read(bytes: &[u8; HEADER]) -> Self {
        let word = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        Self {
            needs_checksum: bytes[0] & NEEDS_CHECKSUM != 0,
            gso_size: (bytes[1] & 0x7f == TCP_V4).then(|| word(4)),
            start: word(6),
            offset: word(8),
        }
    }

    /// Completes the transport checksum of a frame. The checksum field holds the sum of the pseudo-header.
    pub fn complete(&self, frame: &mut [u8]) -> Result<(), ChecksumError> {
        let (start, field) = (usize::from(self.start), usize::from(self.start) + usize::from(self.offset));
        if start > frame.len() || field + 2 > frame.len() {
            return Err(ChecksumError { field, len: frame.len() });
        }
        let right = match checksum::finish(checksum::sum(&frame[start..])) {
            // In UDP, zero means no checksum.
            0 if usize::from(self.offset) == checksum::UDP_FIELD => 0xffff,
            other => other,
        };
        frame[field..field + 2].copy_from_slice(&right.to_be_bytes());
        Ok(())
    }
}

/// The header of a packet for the guest. One buffer is used. With `may_say_so`, the checksum is marked
/// valid.
pub fn received(may_say_so: bool) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[0] = if may_say_so { IS_VALID } else { 0 };
    header[10] = 1;
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checksum_covers_everything_after_its_start() {
        let mut bytes = [0; HEADER];
        (bytes[0], bytes[1], bytes[6], bytes[8]) = (NEEDS_CHECKSUM, TCP_V4, 2, 4);
        bytes[4..6].copy_from_slice(&1448_u16.to_le_bytes());
        let header = TxHeader::read(&bytes);
        assert_eq!((header.needs_checksum, header.gso_size), (true, Some(1448)));
        let mut frame = [9, 9, 1, 2, 3, 4, 0x12, 0x34, 5];
        header.complete(&mut frame).expect("in bounds");
        // Sum of the pseudo-header and the rest, as ones' complement.
        let pseudo = 0x1234_u64;
        let all = pseudo + checksum::sum(&[1, 2, 3, 4, frame[6], frame[7], 5]);
        assert!(checksum::holds(all));
        assert!(header.complete(&mut frame[..7]).is_err());
        assert_eq!(TxHeader::read(&[0; HEADER]).gso_size, None);
    }
}
