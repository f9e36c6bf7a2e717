//! The doors of a session whose outside hosts have real packets: who has which address, how a packet comes in, what is answered for modelled hosts,
//! and what became of all that came.

use std::net::IpAddr;

use serde::Serialize;
use stillair_ip::parse::PacketView;
use stillair_ip::{icmp, parse};
use stillair_model::vocabulary::{Addr, IfId, Ip, LONGEST_PACKET, linear_truesize};

use super::{Records, Session};
use crate::scenario::Scenario;
use crate::world::Entering;

/// Packets by what became of them at the doors of the model.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct DoorCounts {
    /// Went into the model.
    pub entered: u64,
    /// Came out of it, for a host.
    pub left: u64,
    /// Were for nobody in the scenario: broadcast, multicast, and addresses that no interface has.
    pub no_route: u64,
    /// Were no packets of IP, or cut short.
    pub malformed: u64,
    /// Were too long for the model.
    pub too_long: u64,
    /// Were answered for a modelled host: pings.
    pub answered: u64,
    /// Came to a modelled host that has no answer for them.
    pub unanswered: u64,
}

/// The interfaces of a scenario by their addresses of both versions.
#[derive(Clone, Debug)]
pub struct Addresses(Vec<(IpAddr, Addr)>);

impl Addresses {
    /// Those of a scenario, whose world numbers its interfaces in this order.
    pub fn new(scenario: &Scenario) -> Self {
        let interfaces = scenario.nodes.iter().flat_map(|node| &node.interfaces);
        let both = interfaces.enumerate().flat_map(|(n, interface)| {
            let addr = Addr::from_index(n);
            [(IpAddr::V4(interface.address), addr), (IpAddr::V6(interface.address6), addr.of(Ip::V6))]
        });
        let mut all: Vec<_> = both.collect();
        all.sort_unstable();
        Self(all)
    }

    /// The interface with an address, if one has it.
    pub fn find(&self, address: IpAddr) -> Option<Addr> {
        let at = self.0.binary_search_by_key(&address, |(of, _)| *of).ok()?;
        Some(self.0[at].1)
    }
}

/// A packet that was read, as it comes in at an interface between two addresses of the model.
pub fn entering<'a>(
    at: IfId,
    view: &PacketView,
    bytes: &'a [u8],
    [src, dst]: [Addr; 2],
    token: Option<u32>,
) -> Entering<'a> {
    Entering {
        at,
        bytes: &bytes[..view.length],
        src,
        dst,
        flow_hash: view.flow_hash(),
        tos: view.tos,
        ttl: view.ttl,
        truesize: linear_truesize(view.length as u32),
        token,
    }
}

/// Answers for modelled hosts, which have no kernel that would.
#[derive(Debug)]
pub struct Replier {
    answer: Vec<u8>,
}

impl Default for Replier {
    fn default() -> Self {
        Self { answer: vec![0; LONGEST_PACKET.max(icmp::LONGEST_ERROR)] }
    }
}

impl Replier {
    /// Answers a packet that has left at the interface of a modelled host, if it is a ping. [`Session::put_through`] is due then.
    pub fn reply<S: Records>(
        &mut self,
        session: &mut Session<'_, S>,
        addresses: &Addresses,
        counts: &mut DoorCounts,
        at: IfId,
        bytes: &[u8],
    ) {
        let answered = parse(bytes).ok().and_then(|view| {
            let len = icmp::echo_reply(bytes, view.destination, &mut self.answer).ok()??;
            let answer = &self.answer[..len];
            let again = parse(answer).ok()?;
            let ip = if again.destination.is_ipv6() { Ip::V6 } else { Ip::V4 };
            let elsewhere = session.elsewhere().of(ip);
            let ends = [Addr(at.0).of(ip), addresses.find(again.destination).unwrap_or(elsewhere)];
            session.enter(&entering(at, &again, answer, ends, None)).ok()
        });
        match answered {
            Some(_) => counts.answered += 1,
            None => counts.unanswered += 1,
        }
    }
}
