use alloc::vec;
use alloc::vec::Vec;
use proptest::prelude::*;

use super::super::merge;
use super::*;
use crate::offload::gso;
use crate::types::{Duration, Instant, NewPacket, SockId};

const ACK: u8 = TcpFlags::ACK.0;
const PSH: u8 = ACK | TcpFlags::PSH.0;

/// A segment as it comes, all that can differ.
#[derive(Clone, Debug)]
struct Came {
    v6: bool,
    port: u8,
    seq: u32,
    payload: usize,
    flags: u8,
    id: u16,
    df: bool,
    ack: u8,
    stamp: u8,
    tos: u8,
    ttl: u8,
}

const PLAIN: Came = Came {
    v6: false,
    port: 1,
    seq: 0,
    payload: 1000,
    flags: ACK,
    id: 7,
    df: true,
    ack: 1,
    stamp: 1,
    tos: 0,
    ttl: 64,
};

impl Came {
    fn bytes(&self) -> Vec<u8> {
        let ip = if self.v6 { 40 } else { 20 };
        let mut bytes = vec![0; ip + 32 + self.payload];
        let total = bytes.len() as u16;
        if self.v6 {
            bytes[0] = 0x60;
            bytes[4..6].copy_from_slice(&(total - 40).to_be_bytes());
            bytes[6] = 6;
        } else {
            bytes[0] = 0x45;
            bytes[2..4].copy_from_slice(&total.to_be_bytes());
            bytes[4..6].copy_from_slice(&self.id.to_be_bytes());
            bytes[6] = if self.df { 0x40 } else { 0 };
            bytes[9] = 6;
        }
        let tcp = &mut bytes[ip..];
        tcp[1] = self.port;
        tcp[4..8].copy_from_slice(&self.seq.to_be_bytes());
        tcp[11] = self.ack;
        tcp[12] = 8 << 4;
        tcp[13] = self.flags;
        tcp[31] = self.stamp;
        tcp[32..].fill(self.seq as u8);
        bytes
    }

    fn packet(&self, packets: &mut Packets, number: u32) -> Pkt {
        let bytes = self.bytes();
        let new = NewPacket {
            kind: PacketKind::External,
            now: Instant::ZERO + Duration::from_nanos(number.into()),
            len: bytes.len() as u32,
            charge: SockId::NONE,
            seq: number,
            tos: self.tos,
            ..NewPacket::PLAIN
        };
        packets.create_external(new, self.ttl, &bytes)
    }
}

/// How many segments each packet of a batch has when it has been merged.
fn merged(came: &[Came]) -> Vec<u16> {
    let mut packets = Packets::new();
    let mut batch: Vec<Pkt> = (0..).zip(came).map(|(n, came)| came.packet(&mut packets, n)).collect();
    merge(&mut packets, &mut batch);
    batch.iter().map(|&p| packets.get(p).segs).collect()
}

/// The next segment of a flow.
fn next(of: &Came) -> Came {
    Came { seq: of.seq.wrapping_add(of.payload as u32), id: of.id.wrapping_add(1), ..of.clone() }
}

#[test]
fn a_segment_is_merged_unless_something_differs() {
    type Change = fn(&mut Came);
    let table: &[(&str, Change, bool)] = &[
        ("the next", |_| (), true),
        ("less data", |c| c.payload = 1, true),
        ("PSH", |c| c.flags = PSH, true),
        ("FIN", |c| c.flags = ACK | TcpFlags::FIN.0, true),
        ("the same identification and DF", |c| c.id -= 1, true),
        ("another identification", |c| c.id += 1, false),
        ("no DF", |c| c.df = false, false),
        ("more data", |c| c.payload = 1001, false),
        ("no data", |c| c.payload = 0, false),
        ("a gap", |c| c.seq += 1, false),
        ("another acknowledgement", |c| c.ack = 2, false),
        ("another time stamp", |c| c.stamp = 2, false),
        ("another port", |c| c.port = 2, false),
        ("a mark", |c| c.tos = 3, false),
        ("another TTL", |c| c.ttl = 63, false),
        ("CWR", |c| c.flags = ACK | TcpFlags::CWR.0, false),
        ("ECE", |c| c.flags = ACK | TcpFlags::ECE.0, false),
        ("the other version", |c| c.v6 = true, false),
    ];
    for &(what, change, merges) in table {
        let mut second = next(&PLAIN);
        change(&mut second);
        let want: &[u16] = if merges { &[2] } else { &[1, 1] };
        assert_eq!(merged(&[PLAIN, second]), want, "{what}");
    }
}

#[test]
fn what_ends_a_packet_is_the_last_in_it() {
    let train = |change: fn(&mut Came), at: usize| {
        let mut came = vec![PLAIN];
        (1..6).for_each(|n| came.push(next(&came[n - 1])));
        change(&mut came[at]);
        merged(&came)
    };
    assert_eq!(train(|_| (), 0), [6]);
    assert_eq!(train(|c| c.flags = PSH, 2), [3, 3]);
    assert_eq!(train(|c| c.flags = PSH, 0), [1, 5]);
    assert_eq!(train(|c| c.flags = ACK | TcpFlags::SYN.0, 0), [1, 5]);
    // Two flows, one after the other.
    let other = |c: &Came| Came { port: 2, ..c.clone() };
    let (a, b) = (PLAIN, next(&PLAIN));
    assert_eq!(merged(&[a.clone(), other(&a), b.clone(), other(&b)]), [2, 2]);
}

#[test]
fn an_identification_that_counts_up_needs_no_df() {
    let first = Came { df: false, ..PLAIN };
    let second = next(&first);
    let third = next(&second);
    assert_eq!(merged(&[first.clone(), second.clone(), third]), [3]);
    assert_eq!(merged(&[first, Came { id: 7, ..second }]), [1, 1]);
}

#[test]
fn a_copy_and_its_original_grow_apart() {
    let mut packets = Packets::new();
    let first = PLAIN.packet(&mut packets, 0);
    let copy = packets.duplicate(first);
    let (a, b) = (next(&PLAIN).packet(&mut packets, 1), next(&PLAIN).packet(&mut packets, 2));
    let (mut one, mut other) = (vec![first, a], vec![copy, b]);
    merge(&mut packets, &mut one);
    merge(&mut packets, &mut other);
    // Nothing is put behind bytes that two packets hold.
    assert_eq!((one.len(), other.len()), (2, 2));
}

proptest! {
    /// Whatever is merged has, split again, the bytes that came, in the order of each flow, each with its
    /// packet's number and time.
    #[test]
    fn whatever_is_merged_keeps_its_segments(
        steps in prop::collection::vec((0u8..3, 0usize..12, any::<bool>()), 1..150),
    ) {
        let mut flows = [1, 2, 3].map(|port| Came { port, v6: port == 3, ..PLAIN });
        let mut packets = Packets::new();
        let (mut batch, mut came) = (Vec::new(), Vec::new());
        for (number, (flow, odd, pushes)) in (0..).zip(steps) {
            let flow = &mut flows[usize::from(flow)];
            let mut this = flow.clone();
            match odd {
                0 => this.payload = 10,
                1 => this.payload = 1400,
                2 => this.ack += 1,
                3 => this.seq += 5,
                _ => {}
            }
            this.flags = if pushes && odd > 8 { PSH } else { ACK };
            *flow = next(&this);
            batch.push(this.packet(&mut packets, number));
            came.push((this.port, this.bytes(), number));
        }
        let before = came.len();
        merge(&mut packets, &mut batch);
        prop_assert_eq!(packets.held_bytes().0, before as u64);
        prop_assert_eq!(packets.held_bytes().1, before as u64);
        let mut left = Vec::new();
        for p in batch {
            let whole = packets.get(p);
            prop_assert_eq!(whole.truesize, 2304 * u32::from(whole.segs));
            gso::split(&mut packets, p, |packets, p| {
                let bytes = packets.bytes(p).to_vec();
                let port = bytes[if bytes[0] == 0x60 { 41 } else { 21 }];
                let hot = packets.get(p);
                assert_eq!((hot.segs, hot.len as usize), (1, bytes.len()));
                assert_eq!(hot.t_sent, Instant::ZERO + Duration::from_nanos(hot.seq.into()));
                left.push((port, bytes, hot.seq));
                packets.free(p, crate::types::Fate::Delivered);
            });
        }
        // The order of a flow is kept, and flows are told apart by their ports.
        left.sort_by_key(|&(port, _, number)| (port, number));
        came.sort_by_key(|&(port, _, number)| (port, number));
        prop_assert_eq!(left, came);
        prop_assert_eq!((packets.held_bytes(), packets.live()), ((0, 0), 0));
    }
}
