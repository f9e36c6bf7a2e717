//! Entry and exit of real packets in a session with external hosts: addresses of the modelled interfaces,
//! conversion of entering packets, ping replies of modelled hosts, and packet counters.

use std::net::IpAddr;

use serde::Serialize;
use stillair_ip::parse::PacketView;
use stillair_ip::{icmp, parse};
use stillair_model::types::{Addr, IfId, Ip, LONGEST_PACKET, linear_truesize};

use super::{Records, Session};
use crate::scenario::Scenario;
use crate::world::Entering;

/// Counters of real packets, by outcome.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct ExternalIoCounts {
    /// Packets that entered the model.
    pub entered: u64,
    /// Packets that left the model for an external host.
    pub left: u64,
    /// Packets without a destination in the scenario: broadcast, multicast, and addresses that no interface
    /// has. For guests, also frames other than IPv4 and IPv6, such as ARP.
    pub no_route: u64,
    /// Packets that cannot be parsed as IPv4 or IPv6, for example because they are truncated.
    pub malformed: u64,
    /// Packets longer than the model allows.
    pub too_long: u64,
    /// Pings answered on behalf of a modelled host.
    pub answered: u64,
    /// Packets for a modelled host that were not answered.
    pub unanswered: u64,
}

/// IPv4 and IPv6 addresses of a scenario's interfaces.
#[derive(Clone, Debug)]
pub struct Addresses(Vec<(IpAddr, Addr)>);

impl Addresses {
    /// Collects the addresses of a scenario. Interfaces are numbered in scenario order, as in its world.
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

    /// Returns the interface with this address, if any.
    pub fn find(&self, address: IpAddr) -> Option<Addr> {
        let at = self.0.binary_search_by_key(&address, |(of, _)| *of).ok()?;
        Some(self.0[at].1)
    }
}

/// Describes a parsed packet that enters at interface `at`, from the model address `src` to `dst`.
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

/// Answers pings to modelled hosts, which have no kernel of their own.
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
    /// Enters a reply if the packet, which has left at the interface of a modelled host, is a ping.
    /// [`Session::put_through`] must be called afterwards.
    pub fn reply<S: Records>(
        &mut self,
        session: &mut Session<'_, S>,
        addresses: &Addresses,
        counts: &mut ExternalIoCounts,
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
