//! The header before a packet that tells of segments merged in it.

use stillair_ip::gro::IpPacket;

/// Length of `virtio_net_hdr`.
pub const HEADER: usize = 10;

/// That of a packet.
// spec: virtio 1.2 5.1.6 - flags, kind of segments, length of headers, size of segments, where the checksum begins and where it is put; all
// little-endian.
// linux: include/linux/virtio_net.h virtio_net_hdr_to_skb (6.12).
// deviation: a legacy header is in the machine's order, which is little-endian on all that we run on.
pub fn header(packet: &IpPacket<'_>) -> [u8; HEADER] {
    const NEEDS_CHECKSUM: u8 = 1;
    const TCP_V4: u8 = 1;
    const TCP_V6: u8 = 4;
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
