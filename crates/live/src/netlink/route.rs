//! Devices, addresses and routes of a network namespace, through `rtnetlink`.

use std::net::IpAddr;
use std::os::fd::{AsRawFd, OwnedFd};

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE, NLM_F_REQUEST, NetlinkMessage,
};
use netlink_packet_route::address::{AddressAttribute, AddressHeaderFlags, AddressMessage};
use netlink_packet_route::link::{
    InfoData, InfoKind, InfoVeth, LinkAttribute, LinkFlags, LinkInfo, LinkMessage,
};
use netlink_packet_route::route::{
    RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage as Request};
use nix::sys::socket::SockProtocol;
use thiserror::Error;

use super::outcome;
use crate::sys::{self, SysError, net};

/// Errors of changing a device, an address or a route.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum RouteError {
    /// The kernel refused the request.
    #[error("{what}: {}", sys::description(*errno))]
    Refused {
        /// The requested change.
        what: String,
        /// Error number (`errno`).
        errno: i32,
    },
    /// The kernel did not answer.
    #[error("{what}: the kernel did not respond")]
    NoAnswer {
        /// The requested change.
        what: String,
    },
    /// A system call failed.
    #[error(transparent)]
    Sys(#[from] SysError),
}

/// An rtnetlink socket, in the network namespace in which it was opened.
#[derive(Debug)]
pub struct Rtnetlink(OwnedFd);

impl Rtnetlink {
    /// Opens a socket in this thread's network namespace.
    pub fn open() -> Result<Self, SysError> {
        net::netlink(SockProtocol::NetlinkRoute, "rtnetlink").map(Self)
    }

    fn ask(&self, request: Request, flags: u16, what: &str) -> Result<(), RouteError> {
        let mut message = NetlinkMessage::from(request);
        message.header.flags = NLM_F_REQUEST | NLM_F_ACK | flags;
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        let refused = |errno| RouteError::Refused { what: what.to_owned(), errno };
        net::send(&self.0, &bytes).map_err(refused)?;
        let mut answer = [0; 4096];
        let n = net::receive(&self.0, &mut answer).unwrap_or(0);
        match outcome(&answer[..n]) {
            Some(0) => Ok(()),
            Some(errno) => Err(refused(errno)),
            None => Err(RouteError::NoAnswer { what: what.to_owned() }),
        }
    }

    /// Sets flags of a device and, if not zero, its MTU and queue length.
    pub fn set(&self, device: u32, flags: LinkFlags, mtu: u32, queue: u32) -> Result<(), RouteError> {
        let mut link = LinkMessage::default();
        (link.header.index, link.header.flags, link.header.change_mask) = (device, flags, flags);
        if mtu > 0 {
            link.attributes.push(LinkAttribute::Mtu(mtu));
        }
        if queue > 0 {
            link.attributes.push(LinkAttribute::TxQueueLen(queue));
        }
        self.ask(Request::NewLink(link), 0, "device")
    }

    /// Creates a veth pair: one device here with this address, the other in an open network namespace.
    pub fn pair(&self, here: &str, own: [u8; 6], there: &str, namespace: &OwnedFd) -> Result<(), RouteError> {
        let (mut link, mut peer) = (LinkMessage::default(), LinkMessage::default());
        peer.attributes =
            vec![LinkAttribute::IfName(there.to_owned()), LinkAttribute::NetNsFd(namespace.as_raw_fd())];
        link.attributes = vec![
            LinkAttribute::IfName(here.to_owned()),
            LinkAttribute::Address(own.to_vec()),
            LinkAttribute::LinkInfo(vec![
                LinkInfo::Kind(InfoKind::Veth),
                LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(peer))),
            ]),
        ];
        self.ask(Request::NewLink(link), NLM_F_CREATE | NLM_F_EXCL, "veth")
    }

    /// Adds an address to a device, as a host address without a network.
    pub fn address(&self, device: u32, address: IpAddr) -> Result<(), RouteError> {
        self.network(device, address, bits(address))
    }

    /// Adds an address to a device, with a network prefix of `bits` bits.
    pub fn network(&self, device: u32, address: IpAddr, bits: u8) -> Result<(), RouteError> {
        let mut message = AddressMessage::default();
        message.header.family = family(address);
        message.header.prefix_len = bits;
        message.header.index = device;
        if address.is_ipv6() {
            message.header.flags = AddressHeaderFlags::Nodad;
        }
        message.attributes = vec![AddressAttribute::Local(address), AddressAttribute::Address(address)];
        let what = format!("address {address}");
        self.ask(Request::NewAddress(message), NLM_F_CREATE | NLM_F_REPLACE, &what)
    }

    /// Sets the default route of a device through a gateway.
    pub fn gateway(&self, device: u32, by: IpAddr) -> Result<(), RouteError> {
        let mut message = unicast(by, RouteScope::Universe);
        message.attributes = vec![RouteAttribute::Oif(device), RouteAttribute::Gateway(by.into())];
        let what = format!("default route by {by}");
        self.ask(Request::NewRoute(message), NLM_F_CREATE | NLM_F_REPLACE, &what)
    }

    /// Adds a route to `to`, or, if `to` is `None`, the default route for the IP version of `address`. The
    /// route uses a device with the source address `address`, and the congestion control if one is given.
    pub fn route(
        &self,
        device: u32,
        to: Option<IpAddr>,
        address: IpAddr,
        control: Option<&str>,
    ) -> Result<(), RouteError> {
        let scope = if address.is_ipv4() { RouteScope::Link } else { RouteScope::Universe };
        let mut message = unicast(address, scope);
        message.attributes = vec![RouteAttribute::Oif(device), RouteAttribute::PrefSource(address.into())];
        if let Some(to) = to {
            message.header.destination_prefix_length = bits(to);
            message.attributes.push(RouteAttribute::Destination(to.into()));
        }
        if let Some(control) = control {
            let metrics = vec![RouteMetric::CcAlgo(control.to_owned())];
            message.attributes.push(RouteAttribute::Metrics(metrics));
        }
        let what = control.map_or_else(String::new, |name| format!(" with congestion control {name}"));
        let name = to.map_or_else(|| "default route".to_owned(), |to| format!("route to {to}"));
        // An existing route to a single address is not ours to replace.
        let flags = NLM_F_CREATE | if to.is_some() { NLM_F_EXCL } else { NLM_F_REPLACE };
        self.ask(Request::NewRoute(message), flags, &format!("{name}{what}"))
    }
}

/// A unicast route in the main table, as added by `ip route add`.
fn unicast(of: IpAddr, scope: RouteScope) -> RouteMessage {
    let mut message = RouteMessage::default();
    message.header.address_family = family(of);
    message.header.table = RouteHeader::RT_TABLE_MAIN;
    message.header.protocol = RouteProtocol::Boot;
    message.header.scope = scope;
    message.header.kind = RouteType::Unicast;
    message
}

fn family(address: IpAddr) -> AddressFamily {
    if address.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 }
}

/// Prefix length of a single address.
fn bits(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}
