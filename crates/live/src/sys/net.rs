//! Sockets and devices.

use std::io::IoSliceMut;
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use nix::net::if_::if_nametoindex;
use nix::sys::socket::sockopt::PeerCredentials;
use nix::sys::socket::{
    self as sockets, AddressFamily, MsgFlags, MultiHeaders, NetlinkAddr, SockFlag, SockProtocol, SockType,
    getsockopt, recv, recvmmsg,
};

use super::{SysError, check};

/// Opens a netlink socket, bound to an address chosen by the kernel.
pub fn netlink(protocol: SockProtocol, what: &str) -> Result<OwnedFd, SysError> {
    let flags = SockFlag::SOCK_CLOEXEC;
    let socket = sockets::socket(AddressFamily::Netlink, SockType::Raw, flags, protocol)
        .map_err(SysError::call(what))?;
    sockets::bind(socket.as_raw_fd(), &NetlinkAddr::new(0, 0)).map_err(SysError::call("netlink"))?;
    Ok(socket)
}

/// Sets an integer socket option. Returns false if the kernel refuses.
pub fn option(socket: &OwnedFd, level: i32, name: i32, value: i32) -> bool {
    let size = size_of::<i32>() as u32;
    // SAFETY: the pointer is to a live `i32`, the size is that of an `i32`, and the kernel only reads it.
    unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, (&raw const value).cast(), size) == 0 }
}

/// Sends a message. The error is the `errno` of the call.
pub fn send(socket: &OwnedFd, bytes: &[u8]) -> Result<(), i32> {
    let sent = sockets::send(socket.as_raw_fd(), bytes, MsgFlags::MSG_NOSIGNAL);
    sent.map(|_| ()).map_err(|errno| errno as i32)
}

/// Receives a message. Blocks unless the socket is non-blocking.
pub fn receive(socket: &OwnedFd, into: &mut [u8]) -> Option<usize> {
    recv(socket.as_raw_fd(), into, MsgFlags::empty()).ok()
}

/// Messages per receive call.
const BATCH: usize = 64;

/// Buffers for receiving several messages per call.
#[derive(Debug)]
pub struct Batch {
    buffers: Vec<u8>,
    room: usize,
    headers: MultiHeaders<()>,
    lengths: Vec<usize>,
}

impl Batch {
    /// Buffers for messages of `room` bytes.
    pub fn new(room: usize) -> Self {
        let headers = MultiHeaders::preallocate(BATCH, None);
        Self { buffers: vec![0; BATCH * room], room, headers, lengths: vec![0; BATCH] }
    }

    /// Receives the available messages without blocking. Returns their number.
    pub fn receive(&mut self, socket: &OwnedFd) -> usize {
        let mut rest = self.buffers.chunks_exact_mut(self.room);
        let mut slices: [_; BATCH] =
            core::array::from_fn(|_| [IoSliceMut::new(rest.next().unwrap_or_default())]);
        let flags = MsgFlags::MSG_DONTWAIT;
        let Ok(all) = recvmmsg(socket.as_raw_fd(), &mut self.headers, &mut slices, flags, None) else {
            return 0;
        };
        self.lengths.iter_mut().zip(all).map(|(len, message)| *len = message.bytes).count()
    }

    /// The message with index `n` among those received.
    pub fn message(&self, n: usize) -> &[u8] {
        &self.buffers[n * self.room..][..self.lengths[n].min(self.room)]
    }
}

/// A device request by name (`ifreq`).
#[repr(C)]
struct DeviceRequest {
    name: [u8; libc::IFNAMSIZ],
    data: [u8; 24],
}

impl DeviceRequest {
    fn new(name: &str) -> Self {
        let mut request = Self { name: [0; libc::IFNAMSIZ], data: [0; 24] };
        let len = name.len().min(libc::IFNAMSIZ - 1);
        request.name[..len].copy_from_slice(&name.as_bytes()[..len]);
        request
    }
}

/// Creates a TUN device on an open `/dev/net/tun`.
pub fn tun(file: &OwnedFd, name: &str, flags: u16) -> Result<(), SysError> {
    let mut request = DeviceRequest::new(name);
    request.data[..2].copy_from_slice(&flags.to_ne_bytes());
    // SAFETY: the request has the size and layout of an ifreq with flags, which contains no pointer, and it
    // outlives the call.
    check(unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF as _, &raw mut request) }, "TUNSETIFF")
}

/// Allows a TUN device to pass TCP packets with several segments and incomplete checksums to its reader.
// linux: include/uapi/linux/if_tun.h TUNSETOFFLOAD, TUN_F_CSUM, TUN_F_TSO4, TUN_F_TSO6 (6.12).
pub fn tun_offload(file: &OwnedFd) -> Result<(), SysError> {
    const OFFLOADS: libc::c_uint = libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6;
    // SAFETY: the argument of this request is a number, so the kernel accesses no memory of this process.
    let result =
        unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETOFFLOAD as _, libc::c_ulong::from(OFFLOADS)) };
    check(result, "TUNSETOFFLOAD")
}

/// Disables a device feature by its ethtool command.
pub fn ethtool_off(name: &str, command: u32) -> Result<(), SysError> {
    const SIOCETHTOOL: libc::c_ulong = 0x8946;
    let socket = sockets::socket(AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)
        .map_err(SysError::call("socket"))?;
    let mut value = [command, 0];
    let mut request = DeviceRequest::new(name);
    let address = (&raw mut value).expose_provenance();
    request.data[..size_of::<usize>()].copy_from_slice(&address.to_ne_bytes());
    // SAFETY: the request has the size and layout of an ifreq with a pointer, which is to an ethtool_value
    // (command and number). Both outlive the call, and the kernel writes the number only.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL as _, &raw mut request) };
    check(result, "SIOCETHTOOL")
}

/// Returns true if a TCP or UDP socket in this thread's network namespace listens on a port.
// linux: net/ipv4/tcp_ipv4.c get_openreq4 and others (6.12) - the second field of a line has address and
// port, the fourth the state.
pub fn listens(port: u16) -> bool {
    const LISTENS: &str = "0A";
    ["tcp", "tcp6", "udp", "udp6"].iter().any(|of| {
        let text = std::fs::read_to_string(format!("/proc/thread-self/net/{of}")).unwrap_or_default();
        let one = |line: &str| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let at = fields.get(1).and_then(|own| own.rsplit_once(':'));
            at.is_some_and(|(_, own)| u16::from_str_radix(own, 16) == Ok(port))
                && (of.starts_with("udp") || fields.get(3) == Some(&LISTENS))
        };
        text.lines().skip(1).any(one)
    })
}

/// Index of a device in this network namespace.
pub fn index(name: &str) -> Result<u32, SysError> {
    if_nametoindex(name).map_err(|_| SysError::NoDevice { name: name.to_owned() })
}

/// Returns true if an open file is a network namespace.
// linux: include/uapi/linux/nsfs.h NS_GET_NSTYPE (6.12).
pub fn is_namespace(file: &OwnedFd) -> bool {
    // SAFETY: the request has no argument, so the kernel accesses no memory of this process.
    unsafe { libc::ioctl(file.as_raw_fd(), libc::NS_GET_NSTYPE as _) == libc::CLONE_NEWNET }
}

/// Opens a packet socket for all packets of a device, with Ethernet headers.
pub fn packet_socket(device: u32) -> Result<OwnedFd, SysError> {
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let socket = sockets::socket(AddressFamily::Packet, SockType::Raw, flags, None)
        .map_err(SysError::call("AF_PACKET"))?;
    let address = libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as u16,
        sll_protocol: (libc::ETH_P_ALL as u16).to_be(),
        sll_ifindex: device as i32,
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 6,
        sll_addr: [0; 8],
    };
    let size = size_of::<libc::sockaddr_ll>() as u32;
    // SAFETY: the pointer is to an initialised sockaddr_ll of this size, which outlives the call and which
    // the kernel only reads.
    let result = unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), size) };
    check(result, "AF_PACKET")?;
    Ok(socket)
}

/// Credentials of the peer of a Unix socket; for a listening socket, of the process that called `listen`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Peer {
    /// Process ID, in this PID namespace.
    pub pid: u32,
    /// User ID.
    pub user: u32,
}

/// Credentials of the peer of a Unix socket.
pub fn peer(socket: &impl AsFd) -> Option<Peer> {
    let credentials = getsockopt(socket, PeerCredentials).ok()?;
    Some(Peer { pid: credentials.pid() as u32, user: credentials.uid() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listening_sockets_are_found() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let client = std::net::TcpStream::connect(("127.0.0.1", port)).expect("a connection");
        let own = client.local_addr().expect("an address").port();
        assert!(listens(port) && !listens(own));
        let udp = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
        assert!(listens(udp.local_addr().expect("an address").port()));
    }
}
