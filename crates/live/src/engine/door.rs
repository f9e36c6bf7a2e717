//! The doors of the model: packets from hosts enter, packets to hosts leave.

use stillair_ip::gro::{Checksum, FLOWS, Gro, IpPacket};
use stillair_ip::{icmp, parse};
use stillair_model::vocabulary::{Addr, IfId, Ip, LONGEST_PACKET, linear_truesize};
use stillair_sim::run::{Records, Session};
use stillair_sim::world::Entering;

use super::counts::Counts;
use super::hold::{Asks, FlowRates, Tokens};
use super::lateness::Lateness;
use crate::plan::Plan;
use crate::port::Port;
use crate::sys::clock;

/// The world with what is known of its hosts.
#[derive(Debug)]
pub struct Doors<'a, S> {
    pub session: Session<'a, S>,
    pub plan: &'a Plan,
    pub tokens: Tokens,
    pub flows: FlowRates,
    pub counts: Counts,
    /// By interface: the live host that has it.
    hosts: Vec<Option<usize>>,
    bytes: Vec<u8>,
    answer: Vec<u8>,
}

/// A live host's side of its door.
#[derive(Debug)]
pub struct Exit {
    port: Port,
    gro: Option<Gro>,
    /// Packets that are being merged, and when the model let go of them.
    merging: (u64, u64),
}

impl Exit {
    pub fn new(port: Port, gro: bool) -> Self {
        Self { port, gro: gro.then(|| Gro::new(FLOWS, Checksum::Pseudo)), merging: (0, 0) }
    }

    pub fn port(&mut self) -> &mut Port {
        &mut self.port
    }

    /// Gives the host what is being merged. `zero` is the clock at the beginning of the run.
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
        counts.left += u64::from(packet.segments);
    } else {
        counts.refused_by_host += u64::from(packet.segments);
    }
}

/// The rest of what is known of a packet that wants in.
enum Way {
    In { src: Addr, dst: Addr, tcp: bool },
    NoRoute,
}

impl<'a, S: Records> Doors<'a, S> {
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
            answer: vec![0; LONGEST_PACKET.max(icmp::LONGEST_ERROR)],
        }
    }

    fn way(&self, host: usize, view: &parse::PacketView) -> Way {
        let plan = self.plan;
        let ip = if view.destination.is_ipv6() { Ip::V6 } else { Ip::V4 };
        let elsewhere = self.session.elsewhere().of(ip);
        let src = plan.of_address(view.source).unwrap_or(elsewhere);
        let dst = match plan.of_address(view.destination) {
            Some(dst) => dst,
            // What a group gets, or all of a network, is for nobody here; nor is what the uplink itself sends beyond.
            None if view.destination.is_multicast() || !plan.elsewhere || plan.hosts[host].uplink => {
                return Way::NoRoute;
            }
            None if is_local(view.destination) => return Way::NoRoute,
            None => elsewhere,
        };
        Way::In { src, dst, tcp: view.protocol == parse::TCP }
    }

    /// A host has sent a packet; `id` is that of its queue, if it waits there. Whether it stays there, charged.
    pub fn enter(&mut self, host: usize, bytes: &[u8], id: Option<u32>, now: u64) -> bool {
        let view = match parse(bytes) {
            Ok(view) => view,
            Err(_) => {
                self.counts.malformed += 1;
                return false;
            }
        };
        let Way::In { src, dst, tcp } = self.way(host, &view) else {
            self.counts.no_route += 1;
            return false;
        };
        if view.length > LONGEST_PACKET {
            self.counts.too_long += 1;
            return false;
        }
        let of = &self.plan.hosts[host];
        let hash = view.flow_hash();
        let by = Asks { shift: of.pacing_shift, paces: of.paces };
        let holds = !tcp || by.shift >= 10 || self.flows.holds(host, hash, view.length, by, now);
        let token = id.filter(|_| holds).map(|id| self.tokens.take(host, id));
        let packet = Entering {
            at: of.at,
            bytes: &bytes[..view.length],
            src,
            dst,
            flow_hash: hash,
            tos: view.tos,
            ttl: view.ttl,
            truesize: linear_truesize(view.length as u32),
            token,
        };
        match self.session.enter(&packet) {
            // Of a packet that its queue refused the token ends at once.
            Ok(_) => {
                self.counts.entered += 1;
                token.is_some()
            }
            Err(_) => {
                self.counts.malformed += 1;
                token.into_iter().for_each(|token| {
                    self.tokens.give_back(token);
                });
                false
            }
        }
    }

    /// Gives hosts all that has left the model. `zero` is the clock at the beginning of the run.
    pub fn leave(&mut self, exits: &mut [Exit], late: &mut Lateness, zero: u64) {
        let mut bytes = core::mem::take(&mut self.bytes);
        let mut merging: Option<usize> = None;
        while let Some(left) = self.session.left(&mut bytes) {
            let Some(host) = self.hosts[left.at.index()] else {
                self.reply(left.at, &bytes);
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

    /// Answers for a modelled host.
    fn reply(&mut self, at: IfId, bytes: &[u8]) {
        let answered = parse(bytes).ok().and_then(|view| {
            let len = icmp::echo_reply(bytes, view.destination, &mut self.answer).ok()??;
            let answer = &self.answer[..len];
            let again = parse(answer).ok()?;
            let ip = if again.destination.is_ipv6() { Ip::V6 } else { Ip::V4 };
            let packet = Entering {
                at,
                bytes: answer,
                src: Addr(at.0).of(ip),
                dst: self.plan.of_address(again.destination).unwrap_or(self.session.elsewhere().of(ip)),
                flow_hash: again.flow_hash(),
                tos: again.tos,
                ttl: again.ttl,
                truesize: linear_truesize(len as u32),
                token: None,
            };
            self.session.enter(&packet).ok()
        });
        match answered {
            Some(_) => self.counts.answered += 1,
            None => self.counts.unanswered += 1,
        }
    }
}

/// Whether an address is of a host's own network alone: nobody passes it on.
fn is_local(address: core::net::IpAddr) -> bool {
    match address {
        core::net::IpAddr::V4(four) => four.is_broadcast(),
        core::net::IpAddr::V6(six) => six.is_unicast_link_local(),
    }
}
