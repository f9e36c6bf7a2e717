//! The `virtio_net_hdr` of a packet, which describes merged segments and a checksum that the reader must
//! complete.

use stillair_ip::gro::IpPacket;
use stillair_ip::{checksum, gso};

/// Length of `virtio_net_hdr` in bytes.
pub const HEADER: usize = 10;
const NEEDS_CHECKSUM: u8 = 1;
const TCP_V4: u8 = 1;
const TCP_V6: u8 = 4;
/// Flag in the GSO type: the first segment has CWR set.
const ECN: u8 = 0x80;

/// Header for a packet.
// spec: virtio 1.2 5.1.6 - flags, GSO type, header length, segment size, checksum start and offset; all
// little-endian.
// linux: include/linux/virtio_net.h virtio_net_hdr_to_skb (6.12).
// deviation: writes a legacy header, in native byte order, as little-endian; all supported machines are
// little-endian.
pub fn header(packet: &IpPacket<'_>) -> [u8; HEADER] {
    const CHECKSUM_AT: u16 = 16;
    let mut header = [0; HEADER];
    if let Some(merged) = packet.merged {
        header[0] = NEEDS_CHECKSUM;
        header[1] = if packet.bytes[0] >> 4 == 4 { TCP_V4 } else { TCP_V6 };
        header[2..4].copy_from_slice(&(merged.payload as u16).to_ne_bytes());
        header[4..6].copy_from_slice(&merged.gso_size.to_ne_bytes());
        header[6..8].copy_from_slice(&(merged.transport as u16).to_ne_bytes());
        header[8..].copy_from_slice(&CHECKSUM_AT.to_ne_bytes());
    }
    header
}

/// Calls `each` with each packet after the header, one per segment, with completed checksums. Returns the
/// number of packets. If a packet cannot be split, or the checksum offset is invalid, `each` gets an empty
/// slice, which counts as malformed. `segment` is a buffer for one packet.
pub fn packets(bytes: &mut [u8], segment: &mut [u8], each: &mut impl FnMut(&[u8])) -> usize {
    let Some((header, packet)) = bytes.split_first_chunk_mut::<HEADER>() else {
        each(&[]);
        return 1;
    };
    let word = |at: usize| u16::from_ne_bytes([header[at], header[at + 1]]);
    let whole = match header[1] & !ECN {
        0 if header[0] & NEEDS_CHECKSUM == 0 => true,
        0 => complete(packet, usize::from(word(6)), usize::from(word(8))),
        TCP_V4 | TCP_V6 => {
            if let Ok(count) = gso::split(packet, word(4), false, segment, &mut *each) {
                return usize::from(count);
            }
            false
        }
        _ => false,
    };
    each(if whole { packet } else { &[] });
    1
}

/// Computes the checksum from `start` on and stores it `at` bytes behind `start`. The field initially holds
/// the sum of the pseudo-header.
// linux: net/core/dev.c skb_checksum_help (6.12) - sends a zero checksum as ones for all protocols.
fn complete(packet: &mut [u8], start: usize, at: usize) -> bool {
    let Some(covered) = packet.get_mut(start..).filter(|covered| at + 2 <= covered.len()) else {
        return false;
    };
    let right = match checksum::finish(checksum::sum(covered)) {
        0 => 0xffff,
        other => other,
    };
    covered[at..at + 2].copy_from_slice(&right.to_be_bytes());
    true
}

#[cfg(test)]
mod tests {
    use stillair_ip::checksum::{TCP_FIELD, holds, pseudo, sum};
    use stillair_ip::gro::Merged;
    use stillair_ip::parse;

    use super::*;

    const IP: usize = 20;
    const HEADERS: usize = IP + 20;

    /// A TCP packet with checksum offload: the field holds the sum of the pseudo-header.
    fn packet(payload: usize) -> Vec<u8> {
        let mut bytes = vec![0; HEADERS + payload];
        let length = bytes.len() as u16;
        bytes[0] = 0x45;
        bytes[2..4].copy_from_slice(&length.to_be_bytes());
        (bytes[8], bytes[9]) = (64, parse::TCP);
        bytes[12..20].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
        (bytes[IP + 12], bytes[IP + 13]) = (0x50, 0x18);
        bytes[HEADERS..].iter_mut().enumerate().for_each(|(n, b)| *b = n as u8);
        let right = checksum::ipv4_header(&bytes[..IP]);
        bytes[10..12].copy_from_slice(&right.to_be_bytes());
        let partial = checksum::fold(pseudo_of(&bytes));
        bytes[IP + TCP_FIELD..][..2].copy_from_slice(&partial.to_be_bytes());
        bytes
    }

    fn pseudo_of(packet: &[u8]) -> u64 {
        let view = parse(packet).expect("a packet of IP");
        pseudo(view.source, view.destination, parse::TCP, packet.len() - IP)
    }

    fn read(head: [u8; HEADER], packet: &[u8]) -> (usize, Vec<Vec<u8>>) {
        let mut bytes = [&head[..], packet].concat();
        let (mut segment, mut all) = ([0; 1500], Vec::new());
        let count = packets(&mut bytes, &mut segment, &mut |one: &[u8]| all.push(one.to_vec()));
        (count, all)
    }

    #[test]
    fn a_packet_of_several_segments_is_split_into_whole_ones() {
        let packet = packet(3_000);
        let merged = Merged { gso_size: 1_400, payload: HEADERS, transport: IP, fixed_id: false };
        let head = header(&IpPacket { bytes: &packet, segments: 3, merged: Some(merged) });
        let (count, all) = read(head, &packet);
        assert_eq!((count, all.iter().map(Vec::len).collect::<Vec<_>>()), (3, vec![1_440, 1_440, 240]));
        for one in &all {
            assert!(holds(pseudo_of(one) + sum(&one[IP..])) && checksum::ipv4_header_holds(&one[..IP]));
        }
        let data: Vec<u8> = all.iter().flat_map(|one| &one[HEADERS..]).copied().collect();
        assert_eq!(data, packet[HEADERS..]);
    }

    #[test]
    fn a_partial_checksum_is_completed_and_a_complete_one_is_kept() {
        let partial = packet(99);
        let head = [NEEDS_CHECKSUM, 0, 0, 0, 0, 0, IP as u8, 0, TCP_FIELD as u8, 0];
        let (count, all) = read(head, &partial);
        assert_eq!((count, all.len()), (1, 1));
        assert_ne!(all[0], partial);
        assert!(holds(pseudo_of(&all[0]) + sum(&all[0][IP..])));
        assert_eq!(read([0; HEADER], &all[0]).1, all);
    }

    #[test]
    fn invalid_packets_are_passed_on_empty() {
        let packet = packet(3_000);
        for head in [
            [NEEDS_CHECKSUM, 0, 0, 0, 0, 0, 0xff, 0xff, 16, 0],
            [NEEDS_CHECKSUM, 0, 0, 0, 0, 0, 20, 0, 0xff, 0xff],
            // Empty segments, segments longer than the buffer, and a GSO type that was not negotiated.
            [NEEDS_CHECKSUM, TCP_V4, 0, 0, 0, 0, 20, 0, 16, 0],
            [NEEDS_CHECKSUM, TCP_V4, 0, 0, 0xff, 0x0a, 20, 0, 16, 0],
            [NEEDS_CHECKSUM, 3, 0, 0, 0x78, 5, 20, 0, 16, 0],
        ] {
            assert_eq!(read(head, &packet), (1, vec![Vec::new()]), "{head:?}");
        }
        let mut each = Vec::new();
        assert_eq!(packets(&mut [0; HEADER - 1], &mut [], &mut |one: &[u8]| each.push(one.len())), 1);
        assert_eq!(each, [0]);
    }
}
