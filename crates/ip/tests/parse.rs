//! Headers as in the RFCs, field by field, and all kinds of malformed packets.

mod common;

use common::build::{Ip, Tcp, udp};
use stillair_ip::parse;
use stillair_ip::parse::{Fragment, Malformed, Ports, TCP, UDP};

fn four(body: Vec<u8>) -> Ip {
    Ip { tos: 0xb9, ttl: 7, id: 0x1234, ..Ip::new("192.0.2.1", "198.51.100.2", UDP, body) }
}

fn six(body: Vec<u8>) -> Ip {
    Ip { tos: 0xb9, ttl: 7, ..Ip::new("2001:db8::1", "2001:db8::2", UDP, body) }
}

fn ports(source: u16, destination: u16) -> Option<Ports> {
    Some(Ports { source, destination })
}

#[test]
fn fields() {
    let body = udp([1000, 53], b"question");
    let with_options = Ip { options: vec![1; 12], ..four(body.clone()) };
    let with_headers = Ip { extensions: vec![(0, vec![0; 8]), (60, vec![0; 8])], ..six(body.clone()) };
    for (ip, header) in [(four(body.clone()), 20), (with_options, 32), (six(body), 40), (with_headers, 56)] {
        let mut bytes = ip.bytes();
        let length = bytes.len();
        bytes.extend([0; 9]);
        let view = parse(&bytes).expect("a packet");
        assert_eq!((view.source, view.destination), (ip.source, ip.destination));
        assert_eq!((view.tos, view.ttl, view.protocol), (0xb9, 7, UDP));
        assert_eq!((view.length, view.header), (length, header));
        assert_eq!((view.dont_fragment, view.fragment, view.ports), (true, None, ports(1000, 53)));
    }
}

#[test]
fn ports_of_tcp_and_of_truncated_headers() {
    let tcp = Tcp::new([49_155, 443], 1, vec![]).bytes();
    for (cut, expected) in [(20, ports(49_155, 443)), (4, ports(49_155, 443)), (3, None), (0, None)] {
        let bytes = Ip { protocol: TCP, ..four(tcp[..cut].to_vec()) }.bytes();
        assert_eq!(parse(&bytes).expect("a packet").ports, expected, "{cut} bytes");
    }
}

#[test]
fn fragments() {
    // Flags and offset in units of eight bytes: more fragments, DF, and the last fragment.
    let body = udp([1000, 53], &[7; 24]);
    let ip = Ip { dont_fragment: false, ..four(body.clone()) };
    for (part, offset, more, expected) in [
        ([0x20, 0x00], 0, true, ports(1000, 53)),
        ([0x20, 0xb9], 1480, true, None),
        ([0x1f, 0xff], 65_528, false, None),
    ] {
        let view = parse(&ip.with(&body, part)).expect("a packet");
        assert_eq!(view.fragment, Some(Fragment { identification: 0x1234, offset, more }));
        assert_eq!((view.dont_fragment, view.ports, view.is_later_fragment()), (false, expected, offset > 0));
    }
    // A fragment header after an options header, and another options header after it, which only the first
    // fragment contains.
    for (part, fragment, expected) in [
        ([0, 1], Some((0, true)), (UDP, 64, ports(1000, 53))),
        ([0x05, 0xc9], Some((1480, true)), (60, 56, None)),
        ([0x05, 0xc8], Some((1480, false)), (60, 56, None)),
        // An atomic fragment.
        ([0, 0], None, (UDP, 64, ports(1000, 53))),
    ] {
        let fragment_header = vec![0, 0, part[0], part[1], 0xde, 0xad, 0xbe, 0xef];
        let extensions = vec![(0, vec![0; 8]), (44, fragment_header), (60, vec![0; 8])];
        let view = parse(&Ip { extensions, ..six(body.clone()) }.bytes()).expect("a packet");
        let identification = 0xdead_beef;
        assert_eq!(view.fragment, fragment.map(|(offset, more)| Fragment { identification, offset, more }));
        assert_eq!((view.protocol, view.header, view.ports), expected);
    }
}

#[test]
fn malformed_packets() {
    let four = four(udp([1, 2], &[0; 4])).bytes();
    let six =
        Ip { extensions: vec![(43, vec![0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])], ..six(vec![]) }
            .bytes();
    let changed = |packet: &[u8], at: usize, to: u8| {
        let mut packet = packet.to_vec();
        packet[at] = to;
        packet
    };
    let table = [
        (vec![], "0 bytes are no IP header"),
        (four[..19].to_vec(), "19 bytes are no IP header"),
        (six[..39].to_vec(), "39 bytes are no IP header"),
        (changed(&four, 0, 0x05), "IP version 0, where 4 and 6 are known"),
        (changed(&four, 0, 0xf5), "IP version 15, where 4 and 6 are known"),
        (changed(&four, 0, 0x44), "an IPv4 header of 16 bytes in a packet of 32"),
        (changed(&four, 0, 0x49), "an IPv4 header of 36 bytes in a packet of 32"),
        (changed(&four, 3, 19), "an IPv4 header of 20 bytes in a packet of 19"),
        (changed(&four, 3, 33), "an IP packet of 33 bytes in a buffer of 32"),
        (changed(&six, 5, 17), "an IP packet of 57 bytes in a buffer of 56"),
        (changed(&six, 41, 2), "the extension header at byte 40 goes beyond an IPv6 packet of 56 bytes"),
        (changed(&six, 5, 7), "the extension header at byte 40 goes beyond an IPv6 packet of 47 bytes"),
        // An extension header beyond the end.
        (changed(&six, 40, 60), "the extension header at byte 56 goes beyond an IPv6 packet of 56 bytes"),
        // A jumbogram.
        (
            changed(&changed(&six, 5, 0), 6, 0),
            "the extension header at byte 40 goes beyond an IPv6 packet of 40 bytes",
        ),
    ];
    for (bytes, why) in table {
        assert_eq!(parse(&bytes).map_err(|e| e.to_string()), Err(why.to_owned()));
    }
    assert_eq!(parse(&[0x45; 3]), Err(Malformed::Truncated { bytes: 3 }));
}
