//! Conditions for merging segments, as in Linux 6.12.

mod common;

use common::build::{ACK, Ip, Tcp, udp};
use common::check::merge_and_split;
use stillair_ip::gro::{Checksum, Gro, Merged};
use stillair_ip::parse::{TCP, UDP};
use stillair_ip::{Error, checksum, gso, parse};

const FIN: u8 = 0x01;
const PSH: u8 = 0x08;
const URG: u8 = 0x20;
const ECE: u8 = 0x40;
const CWR: u8 = 0x80;

fn segment(n: u32) -> (Ip, Tcp) {
    let tcp = Tcp {
        options: vec![1, 1, 8, 10, 0, 0, 0, 9, 0, 0, 0, 8],
        ..Tcp::new([1000, 80], 5 + n * 1000, vec![n as u8; 1000])
    };
    (Ip { id: 7 + n as u16, ..Ip::new("10.0.0.1", "10.0.0.2", TCP, vec![]) }, tcp)
}

fn over_v6(n: u32) -> (Ip, Tcp) {
    let (_, tcp) = segment(n);
    (Ip::new("2001:db8::1", "2001:db8::2", TCP, vec![]), tcp)
}

fn bytes((ip, tcp): (Ip, Tcp)) -> Vec<u8> {
    Ip { body: tcp.bytes(), ..ip }.bytes()
}

/// Number of segments in each packet passed up, in order.
fn counts(packets: &[Vec<u8>]) -> Vec<u16> {
    let outcome = merge_and_split(packets, 8).expect("right packets");
    assert_eq!(outcome.segments.len(), packets.len());
    outcome.packets.iter().map(|(_, segments)| *segments).collect()
}

type Change = fn(&mut Ip, &mut Tcp);

#[test]
fn segments_that_continue_a_packet() {
    // Change to the second of three segments, and resulting number of segments in each packet.
    let table: [(&str, Change, &[u16]); 22] = [
        ("nothing", |_, _| {}, &[3]),
        ("PSH ends a packet", |_, t| t.flags |= PSH, &[2, 1]),
        ("FIN ends a packet", |_, t| t.flags |= FIN, &[2, 1]),
        ("URG begins and ends none", |_, t| t.flags |= URG, &[1, 1, 1]),
        ("ECE is another flag", |_, t| t.flags |= ECE, &[1, 1, 1]),
        ("CWR never continues, but is continued", |_, t| t.flags |= CWR, &[1, 2]),
        ("a short one is the last", |_, t| t.data.truncate(999), &[2, 1]),
        ("a longer one begins anew", |_, t| t.data.push(0), &[1, 1, 1]),
        ("no data", |_, t| t.data.clear(), &[1, 1, 1]),
        ("another acknowledgement", |_, t| t.ack += 1, &[1, 1, 1]),
        ("another window", |_, t| t.window += 1, &[1, 1, 1]),
        ("another time stamp", |_, t| t.options[7] += 1, &[1, 1, 1]),
        ("fewer options", |_, t| t.options.truncate(0), &[1, 1, 1]),
        ("a gap", |_, t| t.seq += 1, &[1, 1, 1]),
        ("congestion experienced", |i, _| i.tos = 3, &[1, 1, 1]),
        ("another TTL", |i, _| i.ttl -= 1, &[1, 1, 1]),
        ("DF gone", |i, _| i.dont_fragment = false, &[1, 1, 1]),
        ("an identification left out; the next is the same", |i, _| i.id += 1, &[1, 2]),
        ("the same identification", |i, _| i.id -= 1, &[2, 1]),
        ("options of IP pass by", |i, _| i.options = vec![1; 4], &[1, 1, 1]),
        ("another port is another flow", |_, t| t.ports[0] += 1, &[1, 1, 1]),
        (
            "another host is another flow",
            |i, _| i.source = "10.0.0.3".parse().expect("an address"),
            &[1, 1, 1],
        ),
    ];
    for (what, change, expected) in table {
        let all: Vec<Vec<u8>> = (0..3)
            .map(|n| {
                let (mut ip, mut tcp) = segment(n);
                if n == 1 {
                    change(&mut ip, &mut tcp);
                }
                bytes((ip, tcp))
            })
            .collect();
        assert_eq!(counts(&all), expected, "{what}");
    }
}

#[test]
fn segments_that_continue_a_packet_over_ipv6() {
    let extensions = vec![(0, vec![0; 8]), (43, vec![0; 8]), (60, vec![0; 8])];
    let table: [(&str, Change, &[u16]); 6] = [
        ("nothing", |_, _| {}, &[3]),
        ("another traffic class", |i, _| i.tos = 1, &[1, 1, 1]),
        ("another hop limit", |i, _| i.ttl = 1, &[1, 1, 1]),
        // Another flow: the third segment does not continue the first, and ends it.
        ("an option", |i, _| i.extensions[0].1[7] = 1, &[1, 1, 1]),
        ("fewer extension headers", |i, _| drop(i.extensions.pop()), &[1, 1, 1]),
        ("a fragment header is not walked over", |i, _| i.extensions[0] = (44, vec![0; 8]), &[1, 1, 1]),
    ];
    for (what, change, expected) in table {
        let all: Vec<Vec<u8>> = (0..3)
            .map(|n| {
                let (mut ip, mut tcp) = over_v6(n);
                ip.extensions = extensions.clone();
                if n == 1 {
                    change(&mut ip, &mut tcp);
                }
                bytes((ip, tcp))
            })
            .collect();
        assert_eq!(counts(&all), expected, "{what}");
    }
}

#[test]
fn damaged_packets_pass_by_and_padded_ones_stay_single() {
    let all: Vec<Vec<u8>> = (0..3).map(|n| bytes(segment(n))).collect();
    let with = |change: fn(&mut Vec<u8>)| {
        let mut all = all.clone();
        change(&mut all[1]);
        let outcome = merge_and_split(&all, 8).expect("right packets");
        let at = outcome.packets.iter().position(|(packet, _)| *packet == all[1]);
        (at, outcome.packets.len())
    };
    // Passed up before the first segment, which is held; or after it.
    assert_eq!(with(|p| p[60] ^= 1), (Some(0), 3), "payload");
    assert_eq!(with(|p| p[10] ^= 1), (Some(0), 3), "header checksum");
    assert_eq!(with(|p| drop(p.splice(1052.., [0; 6]))), (Some(1), 3), "padding");
    assert_eq!(counts(&[Ip::new("10.0.0.1", "10.0.0.2", UDP, udp([1, 2], b"x")).bytes(), vec![1]]), [1, 1]);
}

#[test]
fn headers_of_a_merged_packet() {
    for (segment, transport) in [(segment as fn(u32) -> (Ip, Tcp), 20), (over_v6, 40)] {
        let (mut first, mut last) = (segment(0), segment(2));
        first.1.flags |= CWR;
        last.1.flags |= PSH | FIN;
        last.1.data.truncate(33);
        let mut gro = Gro::new(1, Checksum::Whole);
        let mut partial = Gro::new(1, Checksum::Pseudo);
        for packet in [first.clone(), segment(1)] {
            gro.take(&bytes(packet.clone()), |_| panic!("it is held"));
            partial.take(&bytes(packet), |_| panic!("it is held"));
        }
        let mut seen = 0;
        gro.take(&bytes(last.clone()), |packet| {
            seen += 1;
            let merged = Merged { gso_size: 1000, transport, payload: transport + 32, fixed_id: false };
            assert_eq!((packet.segments, packet.merged), (3, Some(merged)));
            let mut whole = first.clone();
            whole.1.flags = ACK | CWR | PSH | FIN;
            whole.1.data = [vec![0; 1000], vec![1; 1000], vec![2; 33]].concat();
            assert_eq!(packet.bytes, bytes(whole));
        });
        partial.take(&bytes(last), |packet| {
            seen += 1;
            let view = parse(packet.bytes).expect("a packet");
            let pseudo = checksum::pseudo(view.source, view.destination, TCP, view.length - transport);
            assert_eq!(packet.bytes[transport + 16..][..2], checksum::fold(pseudo).to_be_bytes());
        });
        assert_eq!(seen, 2);
    }
}

#[test]
fn a_packet_stays_below_64_kib() {
    // 20 + 32 bytes of headers, and 65 segments of 1,000 bytes; with the 66th it would be 66,052.
    let all: Vec<Vec<u8>> = (0..70).map(|n| bytes(segment(n))).collect();
    assert_eq!(counts(&all), [65, 5]);
    // The payload sum is correct across odd lengths.
    let odd: Vec<Vec<u8>> = (0..9)
        .map(|n| {
            let (ip, tcp) = segment(n);
            bytes((ip, Tcp { seq: 5 + n * 333, data: vec![n as u8 + 1; 333], ..tcp }))
        })
        .collect();
    assert_eq!(counts(&odd), [9]);
}

#[test]
fn with_too_many_flows_the_oldest_is_passed_up() {
    let flow = |port: u16, n: u32| {
        let (ip, tcp) = segment(n);
        bytes((ip, Tcp { ports: [port, 80], ..tcp }))
    };
    let all = [flow(1, 0), flow(2, 0), flow(3, 0), flow(2, 1), flow(1, 1)];
    let ports = |flows| -> Vec<(u16, u16)> {
        let outcome = merge_and_split(&all, flows).expect("right packets");
        let port = |p: &[u8]| parse(p).expect("a packet").ports.expect("ports").source;
        outcome.packets.iter().map(|(packet, segments)| (port(packet), *segments)).collect()
    };
    assert_eq!(ports(3), [(1, 2), (2, 2), (3, 1)]);
    assert_eq!(ports(2), [(1, 1), (2, 2), (3, 1), (1, 1)]);
    assert_eq!(ports(0), [(1, 1), (2, 1), (3, 1), (2, 1), (1, 1)]);
}

#[test]
fn split_as_a_device_does() {
    let (ip, tcp) = segment(0);
    let tcp = Tcp { flags: ACK | CWR | PSH | FIN, seq: u32::MAX - 999, data: vec![3; 2100], ..tcp };
    let whole = bytes((Ip { id: u16::MAX, ..ip }, tcp));
    for (fixed, ids) in [(false, [u16::MAX, 0, 1]), (true, [u16::MAX; 3])] {
        let mut seen = Vec::new();
        let split = gso::split(&whole, 1000, fixed, &mut [0; 1052], |p| {
            let word = |at: usize| u16::from_be_bytes([p[at], p[at + 1]]);
            assert!(checksum::ipv4_header_holds(&p[..20]));
            seen.push((p.len(), word(4), u32::from(word(24)) << 16 | u32::from(word(26)), p[33]));
        });
        assert_eq!(split, Ok(3));
        let expected = [
            (1052, ids[0], u32::MAX - 999, ACK | CWR),
            (1052, ids[1], 0, ACK),
            (152, ids[2], 1000, ACK | PSH | FIN),
        ];
        assert_eq!(seen, expected);
    }
    let split =
        |packet: &[u8], size, room: usize| gso::split(packet, size, false, &mut vec![0; room], |_| {});
    assert_eq!(split(&whole, 1000, 1051), Err(Error::Room { needed: 1052 }));
    assert_eq!(split(&whole, 0, 1052), Err(Error::NoSize));
    assert_eq!(split(&whole, 2100, 0), Ok(1));
    let other = Ip::new("10.0.0.1", "10.0.0.2", UDP, udp([1, 2], &[0; 100])).bytes();
    assert_eq!(split(&other, 10, 100), Err(Error::NotTcp));
}
