//! External hosts: entry and exit of their packets, with bytes.

use core::ops::Range;
use std::collections::VecDeque;

use stillair_ip::parse::{self, TCP, UDP};
use stillair_model::offload::gso;
use stillair_model::qdisc::Enqueue;
use stillair_model::types::{
    Addr, BytesId, Ctx, FlowId, IfId, Instant, LONGEST_PACKET, NewPacket, NodeId, PacketKind, Pkt, Sink,
    SockId, write_back,
};

use super::{Hosts, LowerLayers};
use crate::recorder::{HostFlows, Payload};
use crate::world::external_io::{Entering, Left, Refused};
use crate::world::state::SimState;

/// Maximum length in bytes of a packet of several segments, each with its own headers.
// linux: include/linux/netdevice.h GSO_LEGACY_MAX_SIZE (6.12), net/ipv4/sysctl_net_ipv4.c tcp_min_snd_mss
// (6.12) - 65,536 bytes with one header; each segment carries at least 36 bytes.
const LARGEST_WHOLE: usize = 1 << 18;
/// Minimum length in bytes of a segment: an IPv4 header.
const LEAST_SEGMENT: usize = 20;

/// A packet waiting for the driver.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    /// The packet; `together` is set when the driver reads it.
    left: Left,
    bytes: BytesId,
}

/// All external hosts.
#[derive(Debug)]
pub(in crate::world) struct External {
    /// Maps host pairs to flow numbers.
    flows: HostFlows,
    /// Number among the external hosts, by node. `None` for modelled hosts.
    numbers: Vec<Option<u32>>,
    /// Node of each interface. The address of interface n is n.
    nodes: Vec<NodeId>,
    /// Node of the interface with the default route.
    uplink: Option<NodeId>,
    /// Packets entered per host number. All modelled hosts share the last entry.
    entered: Vec<u32>,
    left: VecDeque<Waiting>,
    /// Interface and time of reception of the packet that the driver read last.
    last: Option<(IfId, Instant)>,
    /// True for each token from entry until the driver has read its end.
    held: Vec<bool>,
    measured: Range<Instant>,
    payload: Payload,
}

/// Returns the payload of an IP packet over TCP or UDP, in bytes; 0 for other protocols and malformed
/// packets.
fn payload(packet: &[u8]) -> u64 {
    let Ok(view) = parse::parse(packet) else { return 0 };
    let offset = |at: usize| packet.get(view.header + at).map_or(0, |&b| usize::from(b >> 4) * 4);
    let header = match view.protocol {
        TCP | UDP if view.is_later_fragment() => 0,
        TCP => offset(12),
        UDP => 8,
        _ => return 0,
    };
    view.length.saturating_sub(view.header + header) as u64
}

impl External {
    /// Creates the external hosts, without packets.
    pub(in crate::world) fn new(
        flows: HostFlows,
        numbers: Vec<Option<u32>>,
        nodes: Vec<NodeId>,
        uplink: Option<NodeId>,
        measured: Range<Instant>,
    ) -> Self {
        let hosts = numbers.iter().flatten().count();
        let payload = Payload { by_host: vec![0; hosts], total: 0 };
        Self {
            flows,
            numbers,
            nodes,
            uplink,
            entered: vec![0; hosts + 1],
            left: VecDeque::new(),
            last: None,
            held: Vec::new(),
            measured,
            payload,
        }
    }

    /// Returns the address that represents all addresses outside the scenario: one past the interfaces.
    pub(in crate::world) fn elsewhere(&self) -> Addr {
        Addr::from_index(self.nodes.len())
    }

    fn node_of(&self, addr: Addr) -> Option<NodeId> {
        self.nodes.get(addr.index()).copied().or(self.uplink)
    }

    fn number(&self, node: Option<NodeId>) -> Option<u32> {
        self.numbers[node?.index()]
    }

    /// Returns the flow of packets entering at a node for an address.
    fn flow(&self, from: NodeId, dst: Addr) -> FlowId {
        self.flows.flow(self.number(Some(from)), self.number(self.node_of(dst)))
    }

    /// Checks a packet whose segments have `full` bytes. Returns the node that it enters.
    fn check(&self, e: &Entering<'_>, full: usize) -> Result<NodeId, Refused> {
        let node = *self.nodes.get(e.at.index()).ok_or(Refused::Interface(e.at))?;
        if e.bytes.is_empty() || full > LONGEST_PACKET || e.bytes.len() > LARGEST_WHOLE {
            return Err(Refused::Length(e.bytes.len()));
        }
        if e.bytes.len() > full && full < LEAST_SEGMENT {
            return Err(Refused::Length(full));
        }
        if let Some(addr) = [e.src, e.dst].into_iter().find(|addr| addr.index() > self.elsewhere().index()) {
            return Err(Refused::Address(addr));
        }
        match e.token {
            Some(token) if token >= SockId::MAX_TOKENS || self.held.get(token as usize) == Some(&true) => {
                Err(Refused::Token(token))
            }
            _ => Ok(node),
        }
    }

    /// Marks a token as pending.
    fn hold(&mut self, token: u32) {
        let at = token as usize;
        if self.held.len() <= at {
            self.held.resize(at + 1, false);
        }
        self.held[at] = true;
    }

    /// Queues a packet for the driver. A packet of several segments is split first.
    fn leave<S: Sink>(&mut self, core: &mut SimState<S>, at: IfId, p: Pkt) {
        if core.packets.get(p).segs > 1 {
            let now = core.now;
            return gso::split_by(now, p, &mut core.ctx(), |ctx, segment| {
                self.leave_one(ctx, (now, at), segment)
            });
        }
        let now = core.now;
        self.leave_one(&mut core.ctx(), (now, at), p);
    }

    fn leave_one<S: Sink>(&mut self, ctx: &mut Ctx<'_, S>, (now, at): (Instant, IfId), p: Pkt) {
        let hot = ctx.packets.get(p);
        let (src, sent, number) = (hot.src, hot.t_sent, hot.seq);
        let left = Left { at, since: now, src, sent, number, tos: hot.tos, ttl: hot.ttl, together: false };
        let flow = hot.flow;
        let bytes = ctx.packets.take_bytes(p);
        if self.measured.contains(&now) {
            let bytes = payload(ctx.packets.taken(bytes));
            self.payload.total += bytes;
            for host in self.flows.ends(flow).into_iter().flatten().flatten() {
                self.payload.by_host[host] += bytes;
            }
        }
        self.left.push_back(Waiting { left, bytes });
        ctx.deliver(now, p);
    }

    /// Returns the number of packets waiting for the driver.
    pub(in crate::world) fn waiting(&self) -> usize {
        self.left.len()
    }

    /// Returns the payload delivered during the measurement interval.
    pub(in crate::world) fn payload(&self) -> &Payload {
        &self.payload
    }

    /// Returns the pending state of each token.
    pub(in crate::world) fn tokens(&self) -> &[bool] {
        &self.held
    }
}

impl Hosts {
    /// Enters a packet at an interface of its host. Each of its segments has `full` bytes; the last may be
    /// shorter.
    pub(in crate::world) fn enter<S: Sink>(
        &mut self,
        below: &mut LowerLayers<'_, S>,
        e: &Entering<'_>,
        full: usize,
    ) -> Result<Enqueue, Refused> {
        let external = &mut self.external;
        let node = external.check(e, full)?;
        if let Some(token) = e.token {
            external.hold(token);
        }
        let flow = external.flow(node, e.dst);
        let from = external.number(Some(node)).map_or(external.entered.len() - 1, |n| n as usize);
        // Numbers start at 1, as in datagram flows.
        external.entered[from] = external.entered[from].wrapping_add(1);
        let seq = external.entered[from];
        let new = NewPacket {
            now: below.core.now,
            flow,
            flow_hash: e.flow_hash,
            len: e.bytes.len() as u32,
            truesize: e.truesize,
            charge: e.token.map_or(SockId::NONE, SockId::external),
            seq,
            src: e.src,
            dst: e.dst,
            tos: e.tos,
            kind: PacketKind::External,
        };
        let packets = &mut below.core.packets;
        let p = if e.bytes.len() > full {
            packets.create_segments(new, e.ttl, e.bytes, full)
        } else {
            packets.create_external(new, e.ttl, e.bytes)
        };
        Ok(below.network.enter(below.core, below.air, e.at, p))
    }

    /// Receives a packet at an interface of an external host.
    pub(super) fn comes_out<S: Sink>(&mut self, core: &mut SimState<S>, at: IfId, p: Pkt) {
        self.external.leave(core, at, p);
    }

    /// Passes a packet with bytes for a modelled host to the driver, which may reply.
    #[cold]
    pub(super) fn bytes_for_a_model<S: Sink>(&mut self, core: &mut SimState<S>, p: Pkt) {
        // Addresses are numbered like their interfaces.
        let at = IfId::from_index(core.packets.get(p).dst.index());
        self.external.leave(core, at, p);
    }

    /// Returns the next packet that has left the model, and replaces the content of `bytes` with it.
    pub(in crate::world) fn left<S>(&mut self, core: &mut SimState<S>, bytes: &mut Vec<u8>) -> Option<Left> {
        let external = &mut self.external;
        let Waiting { left, bytes: kept } = external.left.pop_front()?;
        bytes.clear();
        bytes.extend_from_slice(core.packets.taken(kept));
        core.packets.release(kept);
        write_back(bytes, left.tos, left.ttl);
        let batch = Some((left.at, left.since));
        let together = core::mem::replace(&mut external.last, batch) == batch;
        Some(Left { together, ..left })
    }

    /// Returns the next token whose charge has ended.
    pub(in crate::world) fn ended<S>(&mut self, core: &mut SimState<S>) -> Option<u32> {
        let token = core.packets.pop_ended()?;
        self.external.held[token as usize] = false;
        Some(token)
    }

    pub(in crate::world) fn external(&self) -> &External {
        &self.external
    }
}

#[cfg(test)]
mod tests {
    use super::payload;

    /// An IPv4 packet of `len` bytes, whose transport header starts with `transport`.
    fn packet(len: u16, protocol: u8, fragment: u16, transport: &[u8]) -> Vec<u8> {
        let [high, low] = len.to_be_bytes();
        let [offset, rest] = fragment.to_be_bytes();
        let mut bytes =
            vec![0x45, 0, high, low, 0, 0, offset, rest, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        bytes.extend_from_slice(transport);
        bytes.resize(len.into(), 0);
        bytes
    }

    #[test]
    fn payload_follows_the_headers() {
        // TCP with 12 bytes of options.
        let tcp = [0, 80, 0, 81, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x10];
        let udp = [0, 80, 0, 81, 0, 80, 0, 0];
        let icmp = [8, 0, 0, 0];
        for (bytes, right) in [
            (packet(1_500, 6, 0, &tcp), 1_500 - 20 - 32),
            (packet(100, 17, 0, &udp), 100 - 28),
            (packet(52, 6, 0, &tcp), 0),
            (packet(84, 1, 0, &icmp), 0),
            // A non-first fragment has no UDP header.
            (packet(100, 17, 185, &[]), 80),
            (vec![0x45, 0], 0),
        ] {
            assert_eq!(payload(&bytes), right, "{bytes:?}");
        }
    }
}
