//! Devices, addresses and routes of a network namespace, by `rtnetlink`.

use std::net::IpAddr;
use std::os::fd::{AsRawFd, OwnedFd};

use thiserror::Error;

use super::message::{ACK, Messages, REQUEST, attribute, outcome};
use crate::sys::{self, SysError, net};

/// Why the kernel did not change a device, an address or a route.
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
    #[error("{what}: the kernel gave no answer")]
    NoAnswer {
        /// The requested change.
        what: String,
    },
    /// A system call failed.
    #[error(transparent)]
    Sys(#[from] SysError),
}

// linux: include/uapi/linux/rtnetlink.h, if_link.h, if_addr.h (6.12) - the numbers of all these.
const NEW_LINK: u16 = 16;
const NEW_ADDRESS: u16 = 20;
const NEW_ROUTE: u16 = 24;
const CREATE: u16 = 0x400;
const REPLACE: u16 = 0x100;
const EXCLUSIVE: u16 = 0x200;
const NESTED: u16 = 0x8000;
const MAIN: u8 = 254;
const BOOT: u8 = 3;
const UNICAST: u8 = 1;

/// An rtnetlink socket, in the network namespace in which it was opened.
#[derive(Debug)]
pub struct Rtnetlink(OwnedFd);

impl Rtnetlink {
    /// Opens a socket in this thread's network namespace.
    pub fn open() -> Result<Self, RouteError> {
        let socket = net::socket(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_ROUTE, "rtnetlink")?;
        net::bind_netlink(&socket)?;
        Ok(Self(socket))
    }

    fn ask(&self, request: &Messages, what: &str) -> Result<(), RouteError> {
        net::send(self.0.as_raw_fd(), request.bytes())
            .map_err(|errno| RouteError::Refused { what: what.to_owned(), errno })?;
        let mut answer = [0; 4096];
        let n = net::receive(self.0.as_raw_fd(), &mut answer).unwrap_or(0);
        match outcome(&answer[..n]) {
            Some(0) => Ok(()),
            Some(errno) => Err(RouteError::Refused { what: what.to_owned(), errno }),
            None => Err(RouteError::NoAnswer { what: what.to_owned() }),
        }
    }

    /// Sets the flags of a device (`IFF_UP` and others) and, if not zero, its MTU and queue length.
    pub fn set(&self, device: u32, flags: u32, mtu: u32, queue: u32) -> Result<(), RouteError> {
        let mut request = Messages::default();
        request.begin(NEW_LINK, REQUEST | ACK, &link(device, flags));
        for (kind, value) in [(4, mtu), (13, queue)] {
            if value > 0 {
                request.with(kind, &value.to_ne_bytes());
            }
        }
        self.ask(&request, "device")
    }

    /// Creates a veth pair: one device here with this address, the other in the namespace of an open file.
    pub fn pair(&self, here: &str, own: [u8; 6], there: &str, namespace: &OwnedFd) -> Result<(), RouteError> {
        const NAME: u16 = 3;
        const LINKINFO: u16 = 18;
        const NAMESPACE: u16 = 28;
        let zero = |name: &str| [name.as_bytes(), &[0]].concat();
        let mut peer = link(0, 0).to_vec();
        attribute(&mut peer, NAME, &zero(there));
        attribute(&mut peer, NAMESPACE, &namespace.as_raw_fd().to_ne_bytes());
        let (mut data, mut info) = (Vec::new(), Vec::new());
        attribute(&mut data, 1, &peer);
        attribute(&mut info, 1, b"veth\0");
        attribute(&mut info, NESTED | 2, &data);
        let mut request = Messages::default();
        let flags = REQUEST | ACK | CREATE | EXCLUSIVE;
        request
            .begin(NEW_LINK, flags, &link(0, 0))
            .with(NAME, &zero(here))
            .with(1, &own)
            .with(NESTED | LINKINFO, &info);
        self.ask(&request, "veth")
    }

    /// Adds an address to a device, as a host address without a network.
    pub fn address(&self, device: u32, address: IpAddr) -> Result<(), RouteError> {
        self.network(device, address, if address.is_ipv6() { 128 } else { 32 })
    }

    /// Adds an address to a device, with a network prefix of `bits` bits.
    pub fn network(&self, device: u32, address: IpAddr, bits: u8) -> Result<(), RouteError> {
        const NO_DETECTION: u8 = 2;
        let (family, bytes) = parts(address);
        let flags = if family == libc::AF_INET6 as u8 { NO_DETECTION } else { 0 };
        let mut fixed = vec![family, bits, flags, 0];
        fixed.extend(device.to_ne_bytes());
        let mut request = Messages::default();
        request.begin(NEW_ADDRESS, REQUEST | ACK | CREATE | REPLACE, &fixed).with(2, &bytes).with(1, &bytes);
        self.ask(&request, &format!("address {address}"))
    }

    /// Sets the default route of a device through a gateway.
    pub fn gateway(&self, device: u32, by: IpAddr) -> Result<(), RouteError> {
        let (family, bytes) = parts(by);
        let fixed = [family, 0, 0, 0, MAIN, BOOT, 0, UNICAST, 0, 0, 0, 0];
        let mut request = Messages::default();
        request.begin(NEW_ROUTE, REQUEST | ACK | CREATE | REPLACE, &fixed);
        request.with(4, &device.to_ne_bytes()).with(5, &bytes);
        self.ask(&request, &format!("default route by {by}"))
    }

    /// Adds a route to an address, or without one the default route of the IP version of `address`, through a
    /// device with the source address `address`. Its connections use a congestion control if one is given.
    pub fn route(
        &self,
        device: u32,
        to: Option<IpAddr>,
        address: IpAddr,
        control: Option<&str>,
    ) -> Result<(), RouteError> {
        const LINK: u8 = 253;
        let (family, bytes) = parts(address);
        let scope = if family == libc::AF_INET as u8 { LINK } else { 0 };
        let bits = to.map_or(0, |to| parts(to).1.len() as u8 * 8);
        let fixed = [family, bits, 0, 0, MAIN, BOOT, scope, UNICAST, 0, 0, 0, 0];
        let mut request = Messages::default();
        // A route to one address that is there already is somebody's.
        let flags = REQUEST | ACK | CREATE | if to.is_some() { EXCLUSIVE } else { REPLACE };
        request.begin(NEW_ROUTE, flags, &fixed);
        request.with(4, &device.to_ne_bytes()).with(7, &bytes);
        if let Some(to) = to {
            request.with(1, &parts(to).1);
        }
        if let Some(control) = control {
            let mut metrics = Vec::new();
            attribute(&mut metrics, 16, &[control.as_bytes(), &[0]].concat());
            request.with(NESTED | 8, &metrics);
        }
        let what = control.map_or_else(String::new, |name| format!(" with congestion control {name}"));
        let name = to.map_or_else(|| "default route".to_owned(), |to| format!("route to {to}"));
        self.ask(&request, &format!("{name}{what}"))
    }
}

fn link(device: u32, flags: u32) -> [u8; 16] {
    let mut fixed = [0; 16];
    fixed[4..8].copy_from_slice(&device.to_ne_bytes());
    fixed[8..12].copy_from_slice(&flags.to_ne_bytes());
    fixed[12..].copy_from_slice(&flags.to_ne_bytes());
    fixed
}

fn parts(address: IpAddr) -> (u8, Vec<u8>) {
    match address {
        IpAddr::V4(a) => (libc::AF_INET as u8, a.octets().to_vec()),
        IpAddr::V6(a) => (libc::AF_INET6 as u8, a.octets().to_vec()),
    }
}
