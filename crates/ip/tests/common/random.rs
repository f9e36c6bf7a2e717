//! Random packets, intact and damaged.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use stillair_ip::parse::{ICMP, ICMPV6, TCP, UDP};

use super::build::{ACK, Ip, Tcp, echo, udp};

const HOSTS: [[&str; 2]; 4] = [
    ["10.0.0.1", "10.0.0.2"],
    ["2001:db8::1", "2001:db8::2"],
    ["192.0.2.1", "239.1.2.3"],
    ["fe80::1", "ff02::1"],
];

/// An IP header around a body. `protocols` are the body's protocol over IPv4 and over IPv6.
fn ip(hosts: &'static [[&'static str; 2]], protocols: [u8; 2], body: Vec<u8>) -> impl Strategy<Value = Ip> {
    let fields = (any::<u8>(), any::<u8>(), any::<u16>(), any::<bool>());
    let options = prop_oneof![3 => Just(0_usize), 1 => 0..10_usize];
    let extension = (select(vec![0_u8, 43, 44, 51, 60]), 0..3_u8);
    let extensions = prop_oneof![3 => Just(vec![]), 1 => prop::collection::vec(extension, 1..4)];
    (select(hosts), fields, options, extensions).prop_map(move |(hosts, fields, options, extensions)| {
        let v4 = !hosts[0].contains(':');
        let mut ip = Ip::new(hosts[0], hosts[1], protocols[usize::from(!v4)], body.clone());
        (ip.tos, ip.ttl, ip.id, ip.dont_fragment) = fields;
        // No-operation options. An authentication header has at least twelve bytes and counts in four-byte
        // words minus two; an atomic fragment header has eight bytes.
        ip.options = vec![1; options * 4];
        ip.extensions = extensions
            .iter()
            .map(|&(kind, n)| {
                let (n, bytes) = match kind {
                    44 => (0, 8),
                    51 => (n + 1, (usize::from(n) + 3) * 4),
                    _ => (n, (usize::from(n) + 1) * 8),
                };
                let mut header = vec![0; bytes];
                header[1] = n;
                (kind, header)
            })
            .collect();
        ip
    })
}

/// A packet of any kind.
pub fn packet() -> impl Strategy<Value = Vec<u8>> {
    let data = prop::collection::vec(any::<u8>(), 0..700);
    let ports = [any::<u16>(), any::<u16>()];
    let pings = ["8", "0", "128", "129"];
    (0..3_u8, data, ports, any::<u8>(), select(pings.to_vec()), any::<bool>())
        .prop_flat_map(|(kind, data, ports, flags, ping, strange)| {
            let (protocols, body) = match kind {
                0 => ([TCP; 2], Tcp { flags, ..Tcp::new(ports, 5, data) }.bytes()),
                1 => ([UDP; 2], udp(ports, &data)),
                _ => ([ICMP, ICMPV6], echo(if strange { flags } else { ping.parse().unwrap_or(8) }, &data)),
            };
            ip(&HOSTS, protocols, body)
        })
        .prop_map(|ip| ip.bytes())
}

/// Change between two segments of a stream.
#[derive(Clone, Copy, Debug)]
enum Step {
    Full,
    Short(u16),
    Flags(u8),
    Tos(u8),
    Ttl(u8),
    Id(u16),
    Window(u16),
    Acknowledged(u32),
    Option(u8),
    Gap(u32),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        20 => Just(Step::Full),
        1 => (0..1449_u16).prop_map(Step::Short),
        1 => any::<u8>().prop_map(Step::Flags),
        1 => any::<u8>().prop_map(Step::Tos),
        1 => any::<u8>().prop_map(Step::Ttl),
        1 => any::<u16>().prop_map(Step::Id),
        1 => any::<u16>().prop_map(Step::Window),
        1 => any::<u32>().prop_map(Step::Acknowledged),
        1 => any::<u8>().prop_map(Step::Option),
        1 => any::<u32>().prop_map(Step::Gap),
    ]
}

/// Segments of one TCP stream: mostly full and in order, with occasional changes that end a packet.
fn stream(port: u16) -> impl Strategy<Value = Vec<Vec<u8>>> {
    let ids = select(vec![0_u16, 1]);
    (
        select(HOSTS[..2].to_vec()),
        1..1449_usize,
        any::<u32>(),
        any::<u16>(),
        ids,
        prop::collection::vec(step(), 1..60),
    )
        .prop_map(move |(hosts, mss, seq, id, counts, steps)| {
            let mut tcp = Tcp::new([port, 80], seq, Vec::new());
            tcp.options = vec![1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 1];
            let mut ip = Ip::new(hosts[0], hosts[1], TCP, Vec::new());
            ip.id = id;
            let mut out = Vec::new();
            for step in steps {
                let (mut size, mut flags) = (mss, ACK);
                match step {
                    Step::Full => {}
                    Step::Short(n) => size = usize::from(n),
                    Step::Flags(f) => flags = f,
                    Step::Tos(tos) => ip.tos = tos,
                    Step::Ttl(ttl) => ip.ttl = ttl,
                    Step::Id(id) => ip.id = id,
                    Step::Window(window) => tcp.window = window,
                    Step::Acknowledged(ack) => tcp.ack = ack,
                    Step::Option(byte) => tcp.options[7] = byte,
                    Step::Gap(n) => tcp.seq = tcp.seq.wrapping_add(n),
                }
                tcp.data = (0..size).map(|n| (n as u32).wrapping_mul(tcp.seq | 1) as u8).collect();
                let body = Tcp { flags, ..tcp.clone() }.bytes();
                out.push(Ip { body, ..ip.clone() }.bytes());
                tcp.seq = tcp.seq.wrapping_add(size as u32);
                ip.id = ip.id.wrapping_add(counts);
            }
            out
        })
}

/// Interleaved streams, each in order.
pub fn streams() -> impl Strategy<Value = Vec<Vec<u8>>> {
    (stream(1000), stream(1001), stream(1002), prop::collection::vec(0..3_usize, 0..180)).prop_map(
        |(a, b, c, turns)| {
            let mut streams = [a, b, c].map(Vec::into_iter);
            let mut out: Vec<Vec<u8>> = turns.into_iter().filter_map(|n| streams[n].next()).collect();
            out.extend(streams.into_iter().flatten());
            out
        },
    )
}

/// Damage to the bytes of a packet.
#[derive(Clone, Debug)]
pub enum Damage {
    Set(Index, u8),
    /// A bit of the headers.
    Flip(usize),
    Cut(Index),
    Append(Vec<u8>),
}

/// Packets, some of them damaged.
pub fn damaged() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let damage = prop_oneof![
        (any::<Index>(), any::<u8>()).prop_map(|(i, b)| Damage::Set(i, b)),
        (0..480_usize).prop_map(Damage::Flip),
        any::<Index>().prop_map(Damage::Cut),
        prop::collection::vec(any::<u8>(), 1..30).prop_map(Damage::Append),
    ];
    let packets = prop_oneof![streams(), prop::collection::vec(packet(), 1..8)];
    (packets, prop::collection::vec((any::<Index>(), damage), 0..6)).prop_map(|(mut packets, all)| {
        for (which, damage) in all {
            let n = which.index(packets.len());
            packets[n] = apply(packets[n].clone(), &damage);
        }
        packets
    })
}

fn apply(mut packet: Vec<u8>, damage: &Damage) -> Vec<u8> {
    let len = packet.len();
    match damage {
        Damage::Set(i, b) if len > 0 => packet[i.index(len)] = *b,
        Damage::Flip(bit) if bit / 8 < len => packet[bit / 8] ^= 1 << (bit % 8),
        Damage::Cut(i) => packet.truncate(i.index(len + 1)),
        Damage::Append(more) => packet.extend(more),
        Damage::Set(..) | Damage::Flip(_) => {}
    }
    packet
}
