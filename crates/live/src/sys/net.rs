//! Sockets and devices.

use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use super::{SysError, c, check};

/// Opens a socket with `SOCK_CLOEXEC`.
pub fn socket(family: i32, kind: i32, protocol: i32, what: &str) -> Result<OwnedFd, SysError> {
    // SAFETY: the file is owned from here on.
    unsafe {
        let fd = libc::socket(family, kind | libc::SOCK_CLOEXEC, protocol);
        Ok(OwnedFd::from_raw_fd(check(fd, what)?))
    }
}

/// Sets an integer socket option; false if the kernel refused.
pub fn option(fd: RawFd, level: i32, name: i32, value: i32) -> bool {
    let size = size_of::<i32>() as u32;
    // SAFETY: the value is of that size.
    unsafe { libc::setsockopt(fd, level, name, (&raw const value).cast(), size) == 0 }
}

/// Sends a message. The error is the `errno` of the call.
pub fn send(fd: RawFd, bytes: &[u8]) -> Result<(), i32> {
    // SAFETY: the bytes are of that length.
    let n = unsafe { libc::send(fd, bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL) };
    if n < 0 { Err(super::errno()) } else { Ok(()) }
}

/// Receives a message. Blocks unless the socket is non-blocking.
pub fn receive(fd: RawFd, into: &mut [u8]) -> Option<usize> {
    // SAFETY: the buffer is of that length.
    let n = unsafe { libc::recv(fd, into.as_mut_ptr().cast(), into.len(), 0) };
    usize::try_from(n).ok()
}

/// Buffers for receiving several messages at a time.
pub struct Batch {
    buffers: Vec<u8>,
    room: usize,
    parts: Vec<libc::iovec>,
    headers: Vec<libc::mmsghdr>,
}

impl core::fmt::Debug for Batch {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Batch").field("room", &self.room).finish_non_exhaustive()
    }
}

impl Batch {
    /// Buffers for `count` messages of `room` bytes.
    pub fn new(count: usize, room: usize) -> Self {
        let mut buffers = vec![0; count * room];
        let part = |of: &mut [u8]| libc::iovec { iov_base: of.as_mut_ptr().cast(), iov_len: room };
        let mut parts: Vec<_> = buffers.chunks_mut(room).map(part).collect();
        // SAFETY: all zeros are a message without address and control data.
        let mut headers: Vec<libc::mmsghdr> = (0..count).map(|_| unsafe { zeroed() }).collect();
        for (header, part) in headers.iter_mut().zip(&mut parts) {
            header.msg_hdr.msg_iov = part;
            header.msg_hdr.msg_iovlen = 1;
        }
        Self { buffers, room, parts, headers }
    }

    /// Receives the available messages without blocking. Returns the number of messages.
    pub fn receive(&mut self, fd: RawFd) -> usize {
        debug_assert_eq!(self.parts.len(), self.headers.len());
        let (all, count) = (self.headers.as_mut_ptr(), self.headers.len() as u32);
        // SAFETY: each header points to its part, and each part into the buffers; none of these lists has
        // moved since.
        let n = unsafe { libc::recvmmsg(fd, all, count, libc::MSG_DONTWAIT, core::ptr::null_mut()) };
        usize::try_from(n).unwrap_or(0)
    }

    /// The message with index `n` among those received.
    pub fn message(&self, n: usize) -> &[u8] {
        let len = (self.headers[n].msg_len as usize).min(self.room);
        &self.buffers[n * self.room..][..len]
    }
}

/// A request of a network device, by name.
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
    const TUNSETIFF: libc::c_ulong = 0x4004_54ca;
    let mut request = DeviceRequest::new(name);
    request.data[..2].copy_from_slice(&flags.to_ne_bytes());
    // SAFETY: the request is an ifreq.
    check(unsafe { libc::ioctl(file.as_raw_fd(), TUNSETIFF as _, &raw mut request) }, "TUNSETIFF").map(|_| ())
}

/// Lets a TUN device pass TCP packets of several segments and without checksums to its reader.
// linux: include/uapi/linux/if_tun.h TUNSETOFFLOAD, TUN_F_CSUM, TUN_F_TSO4, TUN_F_TSO6 (6.12).
pub fn tun_offload(file: &OwnedFd) -> Result<(), SysError> {
    const TUNSETOFFLOAD: libc::c_ulong = 0x4004_54d0;
    const CHECKSUM: libc::c_ulong = 1;
    const TCP_V4: libc::c_ulong = 2;
    const TCP_V6: libc::c_ulong = 4;
    // SAFETY: the argument is a number.
    let result = unsafe { libc::ioctl(file.as_raw_fd(), TUNSETOFFLOAD as _, CHECKSUM | TCP_V4 | TCP_V6) };
    check(result, "TUNSETOFFLOAD").map(|_| ())
}

/// Disables a feature of a device, by its ethtool command.
pub fn ethtool_off(name: &str, command: u32) -> Result<(), SysError> {
    const SIOCETHTOOL: libc::c_ulong = 0x8946;
    let socket = socket(libc::AF_INET, libc::SOCK_DGRAM, 0, "socket")?;
    let mut value = [command, 0];
    let mut request = DeviceRequest::new(name);
    let address = (&raw mut value) as usize;
    request.data[..size_of::<usize>()].copy_from_slice(&address.to_ne_bytes());
    // SAFETY: the request is an ifreq, and its pointer is to an ethtool_value that outlives the call.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL as _, &raw mut request) };
    check(result, "SIOCETHTOOL").map(|_| ())
}

/// Whether a TCP or UDP socket of this thread's network namespace listens at a port.
// linux: net/ipv4/tcp_ipv4.c get_openreq4 and others (6.12) - the second field of a line is the address with
// its port, the fourth the state.
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
    let name_c = c(name);
    // SAFETY: the name ends with a zero.
    match unsafe { libc::if_nametoindex(name_c.as_ptr()) } {
        0 => Err(SysError::NoDevice { name: name.to_owned() }),
        n => Ok(n),
    }
}

/// Whether an open file is a network namespace.
// linux: include/uapi/linux/nsfs.h NS_GET_NSTYPE (6.12).
pub fn is_namespace(fd: RawFd) -> bool {
    const NS_GET_NSTYPE: libc::c_ulong = 0xb703;
    // SAFETY: the request has no argument.
    unsafe { libc::ioctl(fd, NS_GET_NSTYPE as _) == libc::CLONE_NEWNET }
}

/// Opens a packet socket for all packets of a device, with Ethernet headers.
pub fn packet_socket(device: u32) -> Result<OwnedFd, SysError> {
    const ALL: u16 = 3;
    let socket = socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_NONBLOCK, 0, "AF_PACKET")?;
    let address = link_address(device, ALL, [0; 6]);
    let size = size_of::<libc::sockaddr_ll>() as u32;
    // SAFETY: the address is of that size.
    let result = unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), size) };
    check(result, "AF_PACKET")?;
    Ok(socket)
}

fn link_address(device: u32, protocol: u16, to: [u8; 6]) -> libc::sockaddr_ll {
    // SAFETY: all zeros are an address.
    let mut address: libc::sockaddr_ll = unsafe { zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = protocol.to_be();
    address.sll_ifindex = device as i32;
    address.sll_halen = 6;
    address.sll_addr[..6].copy_from_slice(&to);
    address
}

/// Binds a netlink socket to an address chosen by the kernel.
pub fn bind_netlink(socket: &OwnedFd) -> Result<(), SysError> {
    // SAFETY: all zeros but the family are an address, and it is of that size.
    unsafe {
        let mut address: libc::sockaddr_nl = zeroed();
        address.nl_family = libc::AF_NETLINK as u16;
        let size = size_of::<libc::sockaddr_nl>() as u32;
        check(libc::bind(socket.as_raw_fd(), (&raw const address).cast(), size), "netlink").map(|_| ())
    }
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
pub fn peer(fd: RawFd) -> Option<Peer> {
    let mut credentials = libc::ucred { pid: 0, uid: u32::MAX, gid: 0 };
    let mut size = size_of::<libc::ucred>() as u32;
    let into = (&raw mut credentials).cast();
    // SAFETY: there is room for credentials of that size.
    let result = unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, libc::SO_PEERCRED, into, &raw mut size) };
    (result == 0).then_some(Peer { pid: credentials.pid as u32, user: credentials.uid })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_listens_is_seen_and_who_is_connected_is_not() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let client = std::net::TcpStream::connect(("127.0.0.1", port)).expect("a connection");
        let own = client.local_addr().expect("an address").port();
        assert!(listens(port) && !listens(own));
        let udp = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
        assert!(listens(udp.local_addr().expect("an address").port()));
    }
}
