//! Compares the packets of a datagram, parsed from its bytes, with the stack's report.

use stillair_model::types::{Datagram, PacketType};
use stillair_quinn::Settings;

use super::bench::{Fifo, Seen, download};
use super::ends;

/// Type and length of each packet in a datagram.
// spec: rfc9000 17.2 - a long header has form, type and version, both connection IDs with their lengths, in
// an Initial a token with its length (17.2.2), and the length of the rest. 17.3.1 - a packet with a short
// header extends to the end of the datagram.
fn packets(mut bytes: &[u8]) -> Vec<(PacketType, u32)> {
    let mut all = Vec::new();
    while let Some(&first) = bytes.first() {
        let mut at = bytes.len();
        let kind = if first & 0x80 == 0 {
            PacketType::OneRtt
        } else {
            let kind = [PacketType::Initial, PacketType::ZeroRtt, PacketType::Handshake, PacketType::Retry]
                [usize::from(first >> 4 & 3)];
            at = 5;
            at += 1 + usize::from(bytes[at]);
            at += 1 + usize::from(bytes[at]);
            if kind == PacketType::Initial {
                let token = varint(bytes, &mut at);
                at += token;
            }
            let len = varint(bytes, &mut at);
            at += len;
            kind
        };
        all.push((kind, at as u32));
        bytes = &bytes[at..];
    }
    all
}

// spec: rfc9000 16.
fn varint(bytes: &[u8], at: &mut usize) -> usize {
    let len = 1 << (bytes[*at] >> 6);
    let value = bytes[*at..*at + len].iter().fold(0, |n, byte| n << 8 | usize::from(*byte));
    *at += len;
    value & ((1 << (8 * len - 2)) - 1)
}

/// The packets in a datagram as reported by the stack.
fn told(datagram: &Datagram) -> Vec<(PacketType, u32)> {
    let long = datagram.long.iter().map(|packet| (packet.kind, packet.len.into()));
    let rest = datagram.len - datagram.long.bytes();
    long.chain((rest > 0).then_some((PacketType::OneRtt, rest))).collect()
}

/// Type, number and length of each packet in the datagrams of each end until the client can send data.
#[test]
fn packets_of_a_handshake() {
    let seen = download(&mut ends(Settings::QUINN, 1), 10_000, 1, [Fifo::PLAIN; 2], 1);
    let listed = seen.handshake.each_ref().map(|all| {
        let each = all.iter().map(|datagram| {
            let long = datagram.long.iter().map(|p| format!("{} {} {}", p.kind.name(), p.number, p.len));
            let rest = datagram.len - datagram.long.bytes();
            long.chain((rest > 0).then(|| format!("1RTT {rest}"))).collect::<Vec<_>>().join(", ")
        });
        each.collect::<Vec<_>>()
    });
    assert_eq!(
        listed,
        [
            ["initial 0 1200", "initial 1 51, handshake 0 1149", "handshake 1 50", "handshake 2 50"],
            [
                "initial 0 145, handshake 0 1055",
                "handshake 1 1200",
                "handshake 2 1200",
                "handshake 3 738, 1RTT 138"
            ],
        ]
    );
    agree(&seen);
}

/// Checks that the stack's report matches the bytes of each handshake datagram.
pub fn agree(seen: &Seen) {
    for datagram in seen.handshake.iter().flatten() {
        assert_eq!(told(datagram), packets(&datagram.bytes), "{:?}", datagram.long);
    }
}
