//! The ports at a host's interface: how its packets reach the engine, and how the engine's packets reach the host.

mod packet;
mod queue;
mod tun;
mod vnet;

pub use packet::PacketPort;
pub use queue::{HeldPacket, Queue, Verdict};
pub use tun::Tun;

use std::os::fd::RawFd;

use stillair_ip::gro::IpPacket;

/// Bytes of the longest packet that comes from a host in one piece.
pub const ROOM: usize = 2_300;

/// A device of a host.
#[derive(Debug)]
pub enum Port {
    /// A TUN device.
    Tun(Tun),
    /// One end of a pair of virtual Ethernet devices, the other end read by AF_PACKET.
    Packet(PacketPort),
}

impl Port {
    /// What it is called in results.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Tun(_) => "tun",
            Self::Packet(_) => "veth",
        }
    }

    /// The file to wait for.
    pub fn fd(&self) -> RawFd {
        match self {
            Self::Tun(tun) => tun.fd(),
            Self::Packet(packet) => packet.fd(),
        }
    }

    /// Hands on what the host has sent, from the IP header on, at most so many packets; how many there were.
    pub fn receive(&mut self, most: usize, each: impl FnMut(&[u8])) -> usize {
        match self {
            Self::Tun(tun) => tun.receive(most, each),
            Self::Packet(packet) => packet.receive(most, each),
        }
    }

    /// Gives the host a packet; false if it was not taken.
    pub fn give(&mut self, packet: &IpPacket<'_>) -> bool {
        match self {
            Self::Tun(tun) => tun.give(packet),
            Self::Packet(port) => port.give(packet),
        }
    }
}
