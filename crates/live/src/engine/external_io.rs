//! Packet exchange between hosts and the model.

use stillair_ip::gro::{Checksum, FLOWS, Gro, IpPacket};
use stillair_ip::parse;
use stillair_model::types::{Addr, Ip, LONGEST_PACKET};
use stillair_sim::run::{Records, Replier, Session, entering};

use super::counts::Counts;
use super::hold::{Asks, FlowRates, Tokens};
use super::lateness::Lateness;
use crate::plan::Plan;
use crate::port::Port;
use crate::sys::clock;

/// The world, with the state of its live hosts.
#[derive(Debug)]
pub struct ExternalIo<'a, S> {
    pub session: Session<'a, S>,
    pub plan: &'a Plan,
    pub tokens: Tokens,
    pub flows: FlowRates,
    pub counts: Counts,
    /// Live host per interface.
    hosts: Vec<Option<usize>>,
    bytes: Vec<u8>,
    replier: Replier,
}

/// The port of a live host to which packets are delivered.
#[derive(Debug)]
pub struct Exit {
    port: Port,
    gro: Option<Gro>,
    /// Packets in the merge buffer, and the time at which the model delivered them.
    merging: (u64, u64),
}

impl Exit {
    pub fn new(port: Port, gro: bool) -> Self {
        Self { port, gro: gro.then(|| Gro::new(FLOWS, Checksum::Pseudo)), merging: (0, 0) }
    }

    pub fn port(&mut self) -> &mut Port {
        &mut self.port
    }

    /// Writes the merge buffer to the host. `zero` is the clock's time at the start of the run.
    fn flush(&mut self, counts: &mut Counts, late: &mut Lateness, zero: u64) {
        let (count, since) = self.merging;
        if count == 0 {
            return;
        }
        let Self { port, gro, .. } = self;
        if let Some(gro) = gro {
            gro.flush(|packet| give(port, &packet, counts));
        }
        let by = (clock::now() - zero).saturating_sub(since);
        (0..count).for_each(|_| late.note(by));
        self.merging = (0, 0);
    }
}

fn give(port: &mut Port, packet: &IpPacket<'_>, counts: &mut Counts) {
    if port.give(packet) {
        counts.external.left += u64::from(packet.segments);
    } else {
        counts.refused_by_host += u64::from(packet.segments);
    }
}

/// Route of an entering packet.
enum Way {
    In { src: Addr, dst: Addr, tcp: bool },
    NoRoute,
}

impl<'a, S: Records> ExternalIo<'a, S> {
    pub fn new(session: Session<'a, S>, plan: &'a Plan) -> Self {
        let mut hosts = vec![None; session.elsewhere().index()];
        plan.hosts.iter().enumerate().for_each(|(n, host)| hosts[host.at.index()] = Some(n));
        Self {
            session,
            plan,
            tokens: Tokens::default(),
            flows: FlowRates::default(),
            counts: Counts::default(),
            hosts,
            bytes: Vec::with_capacity(LONGEST_PACKET),
            replier: Replier::default(),
        }
    }

    fn way(&self, host: usize, view: &parse::PacketView) -> Way {
        let plan = self.plan;
        let ip = if view.destination.is_ipv6() { Ip::V6 } else { Ip::V4 };
        let elsewhere = self.session.elsewhere().of(ip);
        let src = plan.addresses.find(view.source).unwrap_or(elsewhere);
        let dst = match plan.addresses.find(view.destination) {
            Some(dst) => dst,
            // Multicast and broadcast packets have no receiver here. Nor do packets from the uplink itself
            // to addresses outside the scenario.
            None if view.destination.is_multicast() || !plan.elsewhere || plan.hosts[host].uplink => {
                return Way::NoRoute;
            }
            None if is_local(view.destination) => return Way::NoRoute,
            None => elsewhere,
        };
        Way::In { src, dst, tcp: view.protocol == parse::TCP }
    }

    /// Enters a packet that a host has sent. `id` is the packet's number in its queue, if the packet is
    /// waiting there. Returns true if the packet stays in the queue, charged to its socket.
    pub fn enter(&mut self, host: usize, bytes: &[u8], id: Option<u32>, now: u64) -> bool {
        let view = match parse(bytes) {
            Ok(view) => view,
            Err(_) => {
                self.counts.external.malformed += 1;
                return false;
            }
        };
        let Way::In { src, dst, tcp } = self.way(host, &view) else {
            self.counts.external.no_route += 1;
            return false;
        };
        if view.length > LONGEST_PACKET {
            self.counts.external.too_long += 1;
            return false;
        }
        let of = &self.plan.hosts[host];
        let hash = view.flow_hash();
        let by = Asks { shift: of.pacing_shift, paces: of.paces };
        let holds = !tcp || by.shift >= 10 || self.flows.holds(host, hash, view.length, by, now);
        let token = id.filter(|_| holds).map(|id| self.tokens.take(host, id));
        match self.session.enter(&entering(of.at, &view, bytes, [src, dst], token)) {
            // If the queue refuses the packet, its token ends immediately.
            Ok(_) => {
                self.counts.external.entered += 1;
                token.is_some()
            }
            Err(_) => {
                self.counts.external.malformed += 1;
                token.into_iter().for_each(|token| {
                    self.tokens.give_back(token);
                });
                false
            }
        }
    }

    /// Delivers all packets that have left the model to their hosts. `zero` is the clock's time at the
    /// start of the run.
    pub fn leave(&mut self, exits: &mut [Exit], late: &mut Lateness, zero: u64) {
        let mut bytes = core::mem::take(&mut self.bytes);
        let mut merging: Option<usize> = None;
        while let Some(left) = self.session.left(&mut bytes) {
            let Some(host) = self.hosts[left.at.index()] else {
                let Self { session, plan, counts, replier, .. } = self;
                replier.reply(session, &plan.addresses, &mut counts.external, left.at, &bytes);
                continue;
            };
            if let Some(before) = merging.take_if(|of| *of != host || !left.together) {
                exits[before].flush(&mut self.counts, late, zero);
            }
            let since = left.since.nanos();
            let Exit { port, gro, merging: under_way } = &mut exits[host];
            match gro {
                Some(gro) => {
                    gro.take(&bytes, |packet| give(port, &packet, &mut self.counts));
                    *under_way = (under_way.0 + 1, since);
                    merging = Some(host);
                }
                None => {
                    give(port, &IpPacket { bytes: &bytes, segments: 1, merged: None }, &mut self.counts);
                    late.note((clock::now() - zero).saturating_sub(since));
                }
            }
        }
        if let Some(host) = merging {
            exits[host].flush(&mut self.counts, late, zero);
        }
        self.bytes = bytes;
    }
}

/// Returns true for addresses with link scope, which are not forwarded.
fn is_local(address: core::net::IpAddr) -> bool {
    match address {
        core::net::IpAddr::V4(four) => four.is_broadcast(),
        core::net::IpAddr::V6(six) => six.is_unicast_link_local(),
    }
}
