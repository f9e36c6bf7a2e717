//! The Internet checksum: full computation, and incremental updates.

use core::net::IpAddr;

/// Offset of the checksum in a UDP header.
pub const UDP_FIELD: usize = 6;
/// Offset of the checksum in a TCP header.
pub const TCP_FIELD: usize = 16;
/// Offset of the checksum in an ICMP or ICMPv6 message.
pub const ICMP_FIELD: usize = 2;

/// One's complement sum of bytes, not folded. A trailing odd byte counts as the upper half of a word. Sums of
/// pieces may be added if each piece except the last has an even number of bytes.
// spec: rfc1071 2(A) 2(C) - 32-bit words give the same sum, because 65,536 and 1 are congruent.
#[must_use]
#[inline]
pub fn sum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<4>();
    let all: u64 = words.iter().map(|&w| u64::from(u32::from_be_bytes(w))).sum();
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    all + u64::from(u32::from_be_bytes(last))
}

/// Folds a sum to 16 bits.
// spec: rfc1071 4.1.
#[must_use]
#[inline]
pub const fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// The checksum for a sum.
#[must_use]
#[inline]
pub const fn finish(sum: u64) -> u16 {
    !fold(sum)
}

/// Returns true if a sum that includes the checksum is valid.
#[must_use]
pub const fn holds(sum: u64) -> bool {
    fold(sum) == 0xffff
}

/// Updates a checksum after one covered word has changed.
// spec: rfc1624 3 - the third equation. That of RFC 1141 gives 0xffff where the full sum gives 0, and does
// not verify.
// deviation: an unchanged word leaves the checksum unchanged - the equation would turn 0xffff into 0.
#[must_use]
pub const fn update(checksum: u16, old: u16, new: u16) -> u16 {
    if old == new {
        return checksum;
    }
    finish(!checksum as u64 + !old as u64 + new as u64)
}

/// The checksum of an IPv4 header with its options. The current value of the field is ignored.
// spec: rfc791 3.1.
#[must_use]
pub fn ipv4_header(header: &[u8]) -> u16 {
    without(header, 10, 0)
}

/// Returns true if the checksum of an IPv4 header is correct.
#[must_use]
pub fn ipv4_header_holds(header: &[u8]) -> bool {
    holds(sum(header))
}

/// Sum of the pseudo-header: addresses, protocol, and length of transport header and payload.
// spec: rfc9293 3.1, rfc768 - over IPv4. spec: rfc8200 8.1 - over IPv6, where length and protocol have 32
// bits. The upper halves are zero, so the sum is the same.
#[must_use]
#[inline]
pub fn pseudo(source: IpAddr, destination: IpAddr, protocol: u8, length: usize) -> u64 {
    let address = |a| match a {
        IpAddr::V4(a) => sum(&a.octets()),
        IpAddr::V6(a) => sum(&a.octets()),
    };
    address(source) + address(destination) + u64::from(protocol) + length as u64
}

/// The checksum of a TCP segment or an ICMPv6 message. The current value of the field at offset `field` is
/// ignored.
#[must_use]
pub fn transport(pseudo: u64, bytes: &[u8], field: usize) -> u16 {
    without(bytes, field, pseudo)
}

/// The checksum of a UDP datagram. The current value of the field is ignored.
// spec: rfc768 - a checksum of zero is sent as all ones, because zero means no checksum.
#[must_use]
pub fn udp(pseudo: u64, bytes: &[u8]) -> u16 {
    match without(bytes, UDP_FIELD, pseudo) {
        0 => 0xffff,
        other => other,
    }
}

/// The checksum of an ICMP message. The current value of the field is ignored.
// spec: rfc792 - no pseudo-header.
#[must_use]
pub fn icmp(bytes: &[u8]) -> u16 {
    without(bytes, ICMP_FIELD, 0)
}

/// The checksum with its own field, at an even offset, counted as zero. Bytes too short for the field are
/// summed as they are.
fn without(bytes: &[u8], field: usize, more: u64) -> u16 {
    let own = bytes.get(field..field + 2).map_or(0, |b| u16::from_be_bytes([b[0], b[1]]));
    // Adding the complement of a word removes the word from the sum.
    finish(more + sum(bytes) + u64::from(!own))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn worked_examples() {
        // spec: rfc1071 3.
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(fold(sum(&bytes)), 0xddf2);
        assert_eq!(fold(sum(&bytes[..7])), fold(0x2_ddf0 - 0xf7));
        // spec: rfc1624 4 - checksum, old word and new word; the equation of RFC 1141 gives ffff.
        assert_eq!(update(0xdd2f, 0x5555, 0x3285), 0x0000);
        // The reverse change works from a checksum of zero too.
        assert_eq!(update(0x0000, 0x3285, 0x5555), 0xdd2f);
        // An unchanged word keeps the checksum, even in the other form of zero.
        assert_eq!([update(0xffff, 7, 7), update(0, 7, 7)], [0xffff, 0]);
    }

    #[test]
    fn a_header_and_a_datagram() {
        // The words without the checksum sum to 2479c, folded 479e.
        let header = [
            0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0xb8, 0x61, 0xc0, 0xa8, 0x00, 0x01,
            0xc0, 0xa8, 0x00, 0xc7,
        ];
        assert_eq!((ipv4_header(&header), ipv4_header_holds(&header)), (0xb861, true));
        let sums = [0x0000_u16, 0xffff].map(|word| {
            let [a, b] = word.to_be_bytes();
            // Everything else is zero: all zeros give a checksum of ones, and all ones would give zero.
            udp(0, &[0, 0, 0, 0, 0, 0, 0, 0, a, b])
        });
        assert_eq!(sums, [0xffff, 0xffff]);
    }

    proptest! {
        #[test]
        fn an_update_equals_a_full_computation(mut words in prop::collection::vec(any::<u16>(), 2..40), at: prop::sample::Index, new: u16) {
            // No protocol has a header of all zeros.
            words[0] |= 0x4000;
            let bytes = |words: &[u16]| words.iter().flat_map(|w| w.to_be_bytes()).collect::<Vec<u8>>();
            let before = finish(sum(&bytes(&words)));
            let at = 1 + at.index(words.len() - 1);
            let old = core::mem::replace(&mut words[at], new);
            prop_assert_eq!(update(before, old, new), finish(sum(&bytes(&words))));
        }

        #[test]
        fn sums_of_even_pieces_add_up(bytes in prop::collection::vec(any::<u8>(), 0..100), at: prop::sample::Index) {
            let at = at.index(bytes.len() + 1) & !1;
            prop_assert_eq!(fold(sum(&bytes)), fold(sum(&bytes[..at]) + sum(&bytes[at..])));
        }
    }
}
