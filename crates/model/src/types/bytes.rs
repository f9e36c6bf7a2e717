//! The bytes of packets that come from outside: cells of one size that packets share, and the header fields
//! that change on the way.

use super::Instant;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Maximum length in bytes of an external host's packet, or of one of its segments, from the IP header on.
// deviation: a device may have a larger MTU - no path over Wi-Fi does (2,304 bytes with the LLC header);
// larger cells would cost memory for each packet.
pub const LONGEST_PACKET: usize = 2048;

/// A cell with the bytes of a packet. Its holder must release it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BytesId(u32);

impl BytesId {
    /// No cell.
    pub(super) const NONE: Self = Self(u32::MAX);
}

#[derive(Debug)]
struct Cell {
    /// How many hold it; 0 if it is free.
    holders: u32,
    len: u32,
    /// The cell of the next segment, if the packet was kept with several.
    next: BytesId,
    /// Of a segment that was merged with others: when its own packet was sent, and the number of that.
    own: Option<(Instant, u32)>,
    bytes: [u8; LONGEST_PACKET],
}

/// All cells. One that was released is used again, so that nothing is allocated once there are as many as
/// packets are under way.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    #[expect(clippy::vec_box, reason = "cells that are many are not moved when there is one more")]
    cells: Vec<Box<Cell>>,
    free: Vec<BytesId>,
    holders: u64,
}

impl Buffers {
    /// Copies bytes into a cell of one holder. Panics if they are more than [`LONGEST_PACKET`].
    pub(super) fn keep(&mut self, bytes: &[u8]) -> BytesId {
        let id = self.free.pop().unwrap_or_else(|| {
            self.cells.push(Box::new(Cell {
                holders: 0,
                len: 0,
                next: BytesId::NONE,
                own: None,
                bytes: [0; LONGEST_PACKET],
            }));
            BytesId(self.cells.len() as u32 - 1)
        });
        let cell = self.cell(id);
        cell.bytes[..bytes.len()].copy_from_slice(bytes);
        (cell.holders, cell.len, cell.next, cell.own) = (1, bytes.len() as u32, BytesId::NONE, None);
        self.holders += 1;
        id
    }

    /// Copies segments, of one holder, into a cell each. Panics if there is none, or one has more than
    /// [`LONGEST_PACKET`] bytes.
    pub(super) fn keep_all<'a>(&mut self, segments: impl IntoIterator<Item = &'a [u8]>) -> BytesId {
        let mut segments = segments.into_iter();
        let first = self.keep(segments.next().expect("a segment"));
        segments.fold(first, |last, bytes| {
            let next = self.keep(bytes);
            self.cell(last).next = next;
            next
        });
        first
    }

    /// The cell of the segment behind one.
    pub(super) fn next(&self, id: BytesId) -> BytesId {
        self.cells[id.0 as usize].next
    }

    /// What a merged segment keeps of its own packet.
    pub(super) fn own(&self, id: BytesId) -> Option<(Instant, u32)> {
        self.cells[id.0 as usize].own
    }

    /// Whether a cell has no more than one holder.
    pub(super) fn has_one_holder(&self, id: BytesId) -> bool {
        self.cells[id.0 as usize].holders == 1
    }

    /// A segment is merged with others: it keeps what its own packet had.
    pub(super) fn keep_own(&mut self, id: BytesId, own: (Instant, u32)) {
        self.cell(id).own = Some(own);
    }

    /// Puts a segment behind another, which has one holder.
    pub(super) fn put_behind(&mut self, last: BytesId, next: BytesId) {
        debug_assert!(self.has_one_holder(last), "whoever else holds it may have another behind it");
        self.cell(last).next = next;
    }

    fn cell(&mut self, id: BytesId) -> &mut Cell {
        &mut self.cells[id.0 as usize]
    }

    /// What is in a cell.
    pub(super) fn get(&self, id: BytesId) -> &[u8] {
        let cell = &self.cells[id.0 as usize];
        &cell.bytes[..cell.len as usize]
    }

    /// One more holder.
    pub(super) fn share(&mut self, id: BytesId) {
        self.cell(id).holders += 1;
        self.holders += 1;
    }

    /// One holder less; without any the cell is free.
    pub(super) fn release(&mut self, id: BytesId) {
        let cell = self.cell(id);
        cell.holders -= 1;
        if cell.holders == 0 {
            self.free.push(id);
        }
        self.holders -= 1;
    }

    /// Holders of all cells.
    pub(super) fn holders(&self) -> u64 {
        self.holders
    }
}

/// Writes the TOS byte (IPv6: traffic class) and the TTL (IPv6: hop limit) into a packet. Updates the
/// checksum of an IPv4 header. A packet shorter than its header is not changed.
// spec: rfc791 3.1 (TOS in byte 1, TTL in byte 8, checksum in bytes 10 and 11), rfc8200 3 (traffic class
// after the four bits of the version, hop limit in byte 7; no checksum), rfc1624 eqn. 3 (a checksum mended by
// what changed).
pub fn write_back(packet: &mut [u8], tos: u8, ttl: u8) {
    match packet.first().map(|first| first >> 4) {
        Some(4) if packet.len() >= 20 => {
            replace(packet, 0, [packet[0], tos]);
            replace(packet, 8, [ttl, packet[9]]);
        }
        Some(6) if packet.len() >= 40 => {
            packet[0] = packet[0] & 0xf0 | tos >> 4;
            packet[1] = tos << 4 | packet[1] & 0x0f;
            packet[7] = ttl;
        }
        _ => {}
    }
}

/// Replaces a word of an IPv4 header.
fn replace(header: &mut [u8], at: usize, new: [u8; 2]) {
    let word = |bytes: &[u8]| u32::from(u16::from_be_bytes([bytes[0], bytes[1]]));
    let old = word(&header[at..]);
    if old != word(&new) {
        let mut sum = (!word(&header[10..]) & 0xffff) + (!old & 0xffff) + word(&new);
        sum = (sum & 0xffff) + (sum >> 16);
        sum = (sum & 0xffff) + (sum >> 16);
        header[10..12].copy_from_slice(&(!sum as u16).to_be_bytes());
        header[at..at + 2].copy_from_slice(&new);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The sum over a header, which is all ones where its checksum is right.
    // spec: rfc1071 1.
    fn sum(header: &[u8]) -> u32 {
        let sum: u32 = header.chunks(2).map(|word| u32::from(word[0]) << 8 | u32::from(word[1])).sum();
        let sum = (sum & 0xffff) + (sum >> 16);
        (sum & 0xffff) + (sum >> 16)
    }

    proptest! {
        #[test]
        fn a_checksum_stays_right_or_wrong(mut header in prop::array::uniform20(any::<u8>()), tos: u8, ttl: u8, right: bool) {
            header[0] = 0x45;
            if right {
                header[10..12].fill(0);
                let sum = !sum(&header) as u16;
                header[10..12].copy_from_slice(&sum.to_be_bytes());
            }
            let (before, mut after) = (sum(&header), header);
            write_back(&mut after, tos, ttl);
            prop_assert_eq!((after[1], after[8]), (tos, ttl));
            prop_assert_eq!(sum(&after) % 0xffff, before % 0xffff);
            after[10..12].copy_from_slice(&header[10..12]);
            (after[1], after[8]) = (header[1], header[8]);
            prop_assert_eq!(after, header);
        }
    }

    #[test]
    fn an_ipv6_header_and_a_stump() {
        let mut packet = [0xff; 40];
        packet[0] = 0x6f;
        write_back(&mut packet, 0x12, 3);
        assert_eq!(packet[..9], [0x61, 0x2f, 0xff, 0xff, 0xff, 0xff, 0xff, 3, 0xff]);
        let mut stump = [0x45, 0, 0];
        write_back(&mut stump, 7, 7);
        assert_eq!(stump, [0x45, 0, 0]);
    }

    #[test]
    fn cells_are_shared_and_used_again() {
        let mut buffers = Buffers::default();
        let a = buffers.keep(&[1; LONGEST_PACKET]);
        buffers.share(a);
        let b = buffers.keep(&[2, 3]);
        buffers.release(a);
        assert_eq!((buffers.get(a).len(), buffers.get(b), buffers.holders()), (2048, &[2, 3][..], 2));
        buffers.release(a);
        assert_eq!(buffers.keep(&[]), a);
        assert_eq!((buffers.get(a).len(), buffers.cells.len(), buffers.holders()), (0, 2, 2));
    }
}
