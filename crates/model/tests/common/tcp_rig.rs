//! A test rig for one TCP socket: captures its packets, ends its charges on request or immediately, and
//! provides a clock.

use std::collections::VecDeque;

use stillair_model::qdisc::Enqueue;
use stillair_model::transport::cc::Cc;
use stillair_model::transport::tcp::Outlet;
use stillair_model::transport::tcp::config::TcpConfig;
use stillair_model::transport::tcp::socket::Tcp;
use stillair_model::types::{Addr, Endpoint, FlowId, Instant, NewPacket, Seed, SockId, TcpHeader};

/// A packet sent by a socket.
#[derive(Clone, Debug)]
pub struct Sent {
    pub packet: NewPacket,
    pub segs: u16,
    pub ack: u32,
    pub header: TcpHeader,
}

/// Captures sent packets and their outstanding charges.
#[derive(Debug, Default)]
pub struct Wire {
    pub sent: VecDeque<Sent>,
    pub charges: VecDeque<u32>,
    /// Charges of refused packets, which always end.
    pub ended: Vec<u32>,
    /// Number of packets to refuse, and number to accept with a congestion signal, from now on.
    pub refuse: u32,
    pub congest: u32,
}

impl Outlet for Wire {
    fn send(&mut self, _: Instant, packet: NewPacket, segs: u16, ack: u32, header: &TcpHeader) -> Enqueue {
        let charged = packet.charge != SockId::NONE;
        if self.refuse > 0 {
            self.refuse -= 1;
            if charged {
                self.ended.push(packet.truesize);
            }
            return Enqueue::Dropped;
        }
        if charged {
            self.charges.push_back(packet.truesize);
        }
        self.sent.push_back(Sent { packet, segs, ack, header: *header });
        if self.congest > 0 {
            self.congest -= 1;
            return Enqueue::Congested;
        }
        Enqueue::Queued
    }
}

/// A socket of flow 0. The listening end has the second address.
pub fn socket(config: &TcpConfig, cc: &str, listens: bool) -> Tcp {
    let (src, dst) = if listens { (Addr(1), Addr(0)) } else { (Addr(0), Addr(1)) };
    let endpoint = Endpoint { flow: FlowId(0), flow_hash: 0x1234_5678, src, dst, tos: 0 };
    let (sock, peer) = if listens { (SockId(1), SockId(0)) } else { (SockId(0), SockId(1)) };
    let cc = Cc::by_name(cc).expect("a congestion control");
    let random = Seed { seed: 1, run: 0 }.stream(if listens { "tcp.listens" } else { "tcp.connects" });
    let mut tcp = Tcp::new(*config, cc, endpoint, sock, peer, random);
    if listens {
        tcp.listen();
    }
    tcp
}

/// Ends the charges of refused packets, and the `n` oldest other charges. Returns the number of the latter.
pub fn end_charges(now: Instant, tcp: &mut Tcp, wire: &mut Wire, n: usize) -> usize {
    let n = n.min(wire.charges.len());
    let mut ended: Vec<u32> = wire.charges.drain(..n).collect();
    ended.append(&mut wire.ended);
    let mut poll = false;
    for &truesize in &ended {
        poll |= tcp.sender.uncharge(now, truesize);
    }
    if poll {
        tcp.poll(now, wire);
    }
    ended.len()
}
