//! Writes the network's changes (ECN, DSCP, TTL) into the bytes of a packet, and updates its checksum.

use crate::checksum::update;
use crate::parse::{IpVersion, Malformed, version};

// spec: rfc3168 5 - the two ECN bits.
/// Not ECN-capable.
pub const NOT_ECT: u8 = 0b00;
/// ECN-capable, as used by L4S.
pub const ECT_1: u8 = 0b01;
/// ECN-capable.
pub const ECT_0: u8 = 0b10;
/// Congestion experienced.
pub const CE: u8 = 0b11;

/// Writes the TOS byte or traffic class.
///
/// # Errors
/// `Truncated` or `Version`; lengths are not checked.
// spec: rfc791 3.1, rfc8200 3 - IPv6 has no header checksum, and transport checksums do not cover the field.
pub fn tos(packet: &mut [u8], tos: u8) -> Result<(), Malformed> {
    match version(packet)? {
        IpVersion::V4 => word(packet, 0, [packet[0], tos]),
        IpVersion::V6 => {
            packet[0] = packet[0] & 0xf0 | tos >> 4;
            packet[1] = packet[1] & 0x0f | tos << 4;
        }
    }
    Ok(())
}

/// Writes the TTL or hop limit.
///
/// # Errors
/// `Truncated` or `Version`; lengths are not checked.
pub fn ttl(packet: &mut [u8], ttl: u8) -> Result<(), Malformed> {
    match version(packet)? {
        IpVersion::V4 => word(packet, 8, [ttl, packet[9]]),
        IpVersion::V6 => packet[7] = ttl,
    }
    Ok(())
}

/// Writes the two ECN bits and keeps the DSCP.
///
/// # Errors
/// `Truncated` or `Version`; lengths are not checked.
pub fn ecn(packet: &mut [u8], ecn: u8) -> Result<(), Malformed> {
    let old = read_tos(packet)?;
    tos(packet, old & !CE | ecn & CE)
}

/// Writes the six DSCP bits and keeps ECN.
///
/// # Errors
/// `Truncated` or `Version`; lengths are not checked.
// spec: rfc2474 3.
pub fn dscp(packet: &mut [u8], dscp: u8) -> Result<(), Malformed> {
    let old = read_tos(packet)?;
    tos(packet, dscp << 2 | old & CE)
}

fn read_tos(packet: &[u8]) -> Result<u8, Malformed> {
    Ok(match version(packet)? {
        IpVersion::V4 => packet[1],
        IpVersion::V6 => packet[0] << 4 | packet[1] >> 4,
    })
}

/// Writes a word of an IPv4 header and updates its checksum.
pub(crate) fn word(packet: &mut [u8], at: usize, new: [u8; 2]) {
    let old = u16::from_be_bytes([packet[at], packet[at + 1]]);
    let checksum = u16::from_be_bytes([packet[10], packet[11]]);
    let right = update(checksum, old, u16::from_be_bytes(new));
    packet[at..at + 2].copy_from_slice(&new);
    packet[10..12].copy_from_slice(&right.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checksum;

    /// A header without options and with a correct checksum.
    const HEADER: [u8; 20] = [
        0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0xb8, 0x61, 0xc0, 0xa8, 0x00, 0x01, 0xc0,
        0xa8, 0x00, 0xc7,
    ];

    #[test]
    fn fields_of_version_4() {
        let mut packet = HEADER;
        ttl(&mut packet, 63).expect("a header");
        assert_eq!(packet[8..12], [63, 0x11, 0xb9, 0x61]);
        dscp(&mut packet, 46).expect("a header");
        ecn(&mut packet, ECT_0).expect("a header");
        assert_eq!((packet[1], checksum::ipv4_header_holds(&packet)), (0xba, true));
        ecn(&mut packet, CE).expect("a header");
        dscp(&mut packet, 0).expect("a header");
        assert_eq!((packet[1], checksum::ipv4_header_holds(&packet)), (0x03, true));
        tos(&mut packet, 0).expect("a header");
        ttl(&mut packet, 64).expect("a header");
        assert_eq!(packet, HEADER);
    }

    #[test]
    fn a_wrong_checksum_stays_wrong() {
        let mut packet = HEADER;
        packet[11] ^= 1;
        ttl(&mut packet, 1).expect("a header");
        assert!(!checksum::ipv4_header_holds(&packet));
        ttl(&mut packet, 64).expect("a header");
        assert_eq!((packet[10], packet[11]), (0xb8, 0x60));
    }

    #[test]
    fn fields_of_version_6() {
        let mut packet = [0xff; 40];
        packet[0] = 0x6f;
        dscp(&mut packet, 0b10_1010).expect("a header");
        ecn(&mut packet, ECT_1).expect("a header");
        ttl(&mut packet, 7).expect("a header");
        // The flow label is unchanged.
        assert_eq!(packet[..8], [0x6a, 0x9f, 0xff, 0xff, 0xff, 0xff, 0xff, 7]);
        assert_eq!(packet[8..], [0xff; 32]);
    }

    #[test]
    fn other_bytes_are_left_unchanged() {
        for (mut bytes, why) in [
            (vec![], Malformed::Truncated { bytes: 0 }),
            (vec![0x45; 19], Malformed::Truncated { bytes: 19 }),
            (vec![0x60; 39], Malformed::Truncated { bytes: 39 }),
            (vec![0x55; 60], Malformed::Version(5)),
        ] {
            let before = bytes.clone();
            assert_eq!(tos(&mut bytes, 9), Err(why));
            assert_eq!(ttl(&mut bytes, 9), Err(why));
            assert_eq!(ecn(&mut bytes, 1), Err(why));
            assert_eq!(dscp(&mut bytes, 9), Err(why));
            assert_eq!(bytes, before);
        }
    }
}
