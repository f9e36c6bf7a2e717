//! Ports at a host's interface, which pass packets between the host and the engine.

mod packet;
mod queue;
mod tun;
mod vnet;

pub use packet::PacketPort;
pub use queue::{HeldPacket, Queue, Verdict};
pub use tun::Tun;

use std::os::fd::BorrowedFd;

use stillair_ip::gro::IpPacket;
use thiserror::Error;

use crate::sys::{self, SysError};

/// Errors of opening a port.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum PortError {
    /// The namespace already has a device with the port's name.
    #[error("found an existing device {name} in the namespace, expected no device of that name")]
    Exists {
        /// Name of the device.
        name: String,
    },
    /// The kernel lacks offload headers for packet sockets.
    #[error("AF_PACKET: the kernel does not support PACKET_VNET_HDR; set gro = false at the interface")]
    NoOffloadHeader,
    /// The kernel has no NFQUEUE.
    #[error("NFQUEUE: the kernel does not support it")]
    NoQueue,
    /// The kernel refused to set up NFQUEUE.
    #[error("NFQUEUE (CONFIG_NETFILTER_NETLINK_QUEUE): {}", sys::description(*errno))]
    QueueRefused {
        /// Error number (`errno`).
        errno: i32,
    },
    /// The kernel did not answer.
    #[error("NFQUEUE: the kernel did not respond")]
    NoAnswer,
    /// A system call failed.
    #[error(transparent)]
    Sys(#[from] SysError),
}

/// Maximum length in bytes of a packet that a host sends unsegmented.
pub const ROOM: usize = 2_300;

/// The device of a host.
#[derive(Debug)]
pub enum Port {
    /// A TUN device.
    Tun(Tun),
    /// A veth pair. The engine reads the other end with AF_PACKET.
    Packet(PacketPort),
}

impl Port {
    /// Device type as shown in results.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Tun(_) => "tun",
            Self::Packet(_) => "veth",
        }
    }

    /// The file descriptor to poll.
    pub fn fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tun(tun) => tun.fd(),
            Self::Packet(packet) => packet.fd(),
        }
    }

    /// Calls `each` for up to `most` packets that the host has sent, starting at the IP header. Returns the
    /// number of packets.
    pub fn receive(&mut self, most: usize, each: impl FnMut(&[u8])) -> usize {
        match self {
            Self::Tun(tun) => tun.receive(most, each),
            Self::Packet(packet) => packet.receive(most, each),
        }
    }

    /// Delivers a packet to the host. Returns false if the host does not accept the packet.
    pub fn give(&mut self, packet: &IpPacket<'_>) -> bool {
        match self {
            Self::Tun(tun) => tun.give(packet),
            Self::Packet(port) => port.give(packet),
        }
    }
}
