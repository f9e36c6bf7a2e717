//! Messages byte by byte, and cases without a message.

mod common;

use std::net::IpAddr;

use common::build::{Ip, Tcp, echo, udp};
use stillair_ip::icmp::{self, LONGEST_ERROR, Problem, Unreachable};
use stillair_ip::parse::{ICMP, ICMPV6, TCP, UDP};
use stillair_ip::{Error, checksum};

const V4: [&str; 2] = ["192.0.2.1", "198.51.100.2"];
const V6: [&str; 2] = ["2001:db8::1", "2001:db8::2"];

fn own(text: &str) -> IpAddr {
    text.parse().expect("an address")
}

fn reply(request: &[u8], from: &str) -> Result<Option<Vec<u8>>, Error> {
    let mut out = [0xee; 2048];
    icmp::echo_reply(request, own(from), &mut out).map(|n| n.map(|n| out[..n].to_vec()))
}

fn error(problem: Problem, packet: &[u8], from: &str) -> Result<Option<Vec<u8>>, Error> {
    let mut out = [0xee; LONGEST_ERROR];
    icmp::error(problem, packet, own(from), &mut out).map(|n| n.map(|n| out[..n].to_vec()))
}

#[test]
fn a_ping_is_answered() {
    let request = Ip { tos: 0xba, ttl: 3, ..Ip::new(V4[0], V4[1], ICMP, echo(8, b"abcde")) }.bytes();
    let answer = Ip { tos: 0xba, id: 0, ..Ip::new(V4[1], V4[0], ICMP, echo(0, b"abcde")) }.bytes();
    assert_eq!(reply(&request, V4[1]), Ok(Some(answer)));
    let request = Ip { tos: 0xba, ttl: 3, ..Ip::new(V6[0], V6[1], ICMPV6, echo(128, b"abcde")) }.bytes();
    let answer = Ip { tos: 0xba, ..Ip::new(V6[1], V6[0], ICMPV6, echo(129, b"abcde")) }.bytes();
    assert_eq!(reply(&request, V6[1]), Ok(Some(answer)));
    // A request to an IPv6 multicast address is answered from the node's own address, one to an IPv4
    // multicast address is not.
    let request = Ip::new(V6[0], "ff02::1", ICMPV6, echo(128, b"")).bytes();
    let answer = Ip::new("2001:db8::9", V6[0], ICMPV6, echo(129, b"")).bytes();
    assert_eq!(reply(&request, "2001:db8::9"), Ok(Some(answer)));
}

#[test]
fn other_packets_are_not_answered() {
    let ping = |from, to| Ip::new(from, to, ICMP, echo(8, b"abc"));
    let fragment = ping(V4[0], V4[1]).with(&echo(8, b"abc"), [0x20, 0]);
    let mut damaged = ping(V4[0], V4[1]).bytes();
    damaged[30] ^= 1;
    let cases = [
        Ip::new(V4[0], V4[1], ICMP, echo(0, b"abc")).bytes(),
        Ip::new(V4[0], V4[1], ICMP, echo(8, b"")[..7].to_vec()).bytes(),
        Ip::new(V4[0], V4[1], UDP, udp([8, 8], b"abc")).bytes(),
        ping(V4[0], "224.0.0.1").bytes(),
        ping(V4[0], "255.255.255.255").bytes(),
        ping("0.0.0.0", V4[1]).bytes(),
        fragment,
        damaged,
    ];
    for packet in &cases {
        assert_eq!(reply(packet, V4[1]), Ok(None), "{packet:02x?}");
    }
    let request = ping(V4[0], V4[1]).bytes();
    assert_eq!(reply(&request, V6[1]), Err(Error::Version));
    assert_eq!(icmp::echo_reply(&request, own(V4[1]), &mut [0; 30]), Err(Error::Room { needed: 31 }));
}

#[test]
fn types_and_codes() {
    let four = Ip { tos: 0xbb, ..Ip::new(V4[0], V4[1], UDP, udp([1, 2], b"data")) }.bytes();
    let six = Ip { tos: 0xbb, ..Ip::new(V6[0], V6[1], UDP, udp([1, 2], b"data")) }.bytes();
    let table = [
        (Problem::TimeExceeded, [11, 0, 0, 0, 0, 0], [3, 0, 0, 0, 0, 0]),
        (Problem::Unreachable(Unreachable::NoRoute), [3, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0]),
        (Problem::Unreachable(Unreachable::Host), [3, 1, 0, 0, 0, 0], [1, 3, 0, 0, 0, 0]),
        (Problem::Unreachable(Unreachable::Port), [3, 3, 0, 0, 0, 0], [1, 4, 0, 0, 0, 0]),
        (Problem::Unreachable(Unreachable::Prohibited), [3, 13, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0]),
        (Problem::TooBig { mtu: 1400 }, [3, 4, 0, 0, 5, 0x78], [2, 0, 0, 0, 5, 0x78]),
        (Problem::TooBig { mtu: 70_000 }, [3, 4, 0, 0, 0xff, 0xff], [2, 0, 0, 1, 0x11, 0x70]),
    ];
    let message = |m: [u8; 6], quote: &[u8]| [&[m[0], m[1], 0, 0, m[2], m[3], m[4], m[5]], quote].concat();
    for (problem, over_v4, over_v6) in table {
        // Precedence 6, and TOS bits 1 to 4, as in Linux.
        let said = Ip { tos: 0xda, id: 0, ..Ip::new("192.0.2.9", V4[0], ICMP, message(over_v4, &four)) };
        assert_eq!(error(problem, &four, "192.0.2.9"), Ok(Some(said.bytes())), "{problem:?}");
        let said = Ip::new("2001:db8::9", V6[0], ICMPV6, message(over_v6, &six));
        assert_eq!(error(problem, &six, "2001:db8::9"), Ok(Some(said.bytes())), "{problem:?}");
    }
    assert_eq!(error(Problem::TimeExceeded, &four, V6[1]), Err(Error::Version));
    let room = icmp::error(Problem::TimeExceeded, &four, own(V4[1]), &mut [0; 59]);
    assert_eq!(room, Err(Error::Room { needed: 60 }));
}

#[test]
fn quotes_are_cut() {
    for (hosts, total, before) in [(V4, 576, 28), (V6, 1280, 48)] {
        let mut packet = Ip::new(hosts[0], hosts[1], TCP, Tcp::new([1, 2], 3, vec![9; 1400]).bytes()).bytes();
        let said = error(Problem::TimeExceeded, &packet, hosts[1]).expect("a packet").expect("an error");
        assert_eq!((said.len(), &said[before..]), (total, &packet[..total - before]));
        // Padding is not quoted.
        let short = Ip::new(hosts[0], hosts[1], UDP, udp([1, 2], b"")).bytes();
        packet = [short.clone(), vec![0; 9]].concat();
        let said = error(Problem::TimeExceeded, &packet, hosts[1]).expect("a packet").expect("an error");
        assert_eq!(said[before..], short);
        assert!(before == 48 || checksum::holds(checksum::sum(&said[20..])));
    }
}

#[test]
fn packets_without_an_error() {
    let udp = || udp([1, 2], b"data");
    let four = |from, to| Ip::new(from, to, UDP, udp());
    let icmp = |kind| Ip::new(V4[0], V4[1], ICMP, echo(kind, b"")).bytes();
    let icmp6 = |kind| Ip::new(V6[0], V6[1], ICMPV6, echo(kind, b"")).bytes();
    let (ttl, big) = (Problem::TimeExceeded, Problem::TooBig { mtu: 1400 });
    let table = [
        ("a packet", ttl, four(V4[0], V4[1]).bytes(), true),
        ("an echo request", ttl, icmp(8), true),
        ("a query for a time", ttl, icmp(13), true),
        ("an error", ttl, icmp(11), false),
        ("an unknown type", ttl, icmp(40), false),
        ("no type at all", ttl, Ip::new(V4[0], V4[1], ICMP, vec![]).bytes(), false),
        ("the first fragment", ttl, four(V4[0], V4[1]).with(&udp(), [0x20, 0]), true),
        ("a later fragment", ttl, four(V4[0], V4[1]).with(&udp(), [0, 1]), false),
        ("to a group", ttl, four(V4[0], "224.0.0.251").bytes(), false),
        ("to all", ttl, four(V4[0], "255.255.255.255").bytes(), false),
        ("from nobody", ttl, four("0.0.0.0", V4[1]).bytes(), false),
        ("from a loop", ttl, four("127.0.0.1", V4[1]).bytes(), false),
        ("from a group", ttl, four("239.0.0.1", V4[1]).bytes(), false),
        ("too big", big, four(V4[0], V4[1]).bytes(), true),
        ("too big, may be cut", big, Ip { dont_fragment: false, ..four(V4[0], V4[1]) }.bytes(), false),
        ("6: an echo request", ttl, icmp6(128), true),
        ("6: an error", ttl, icmp6(1), false),
        ("6: a redirect", ttl, icmp6(137), false),
        ("6: to a group", ttl, Ip::new(V6[0], "ff02::fb", UDP, udp()).bytes(), false),
        ("6: too big, to a group", big, Ip::new(V6[0], "ff02::fb", UDP, udp()).bytes(), true),
        ("6: from nobody", ttl, Ip::new("::", V6[1], UDP, udp()).bytes(), false),
        ("6: from a group", ttl, Ip::new("ff02::1", V6[1], UDP, udp()).bytes(), false),
    ];
    for (what, problem, packet, due) in table {
        let from = if packet[0] >> 4 == 4 { "192.0.2.9" } else { "2001:db8::9" };
        let said = error(problem, &packet, from).expect("a packet");
        assert_eq!(said.is_some(), due, "{what}");
    }
}
