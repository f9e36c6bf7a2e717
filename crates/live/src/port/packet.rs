//! A veth pair, used where TUN devices cannot be opened. The host has one end; the engine reads the other
//! with AF_PACKET.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use stillair_ip::gro::IpPacket;

use super::{PortError, ROOM, vnet};
use crate::sys::files;
use crate::sys::net::{self, Batch};

const ETHERNET: usize = 14;
const IPV4: [u8; 2] = [0x08, 0x00];
const IPV6: [u8; 2] = [0x86, 0xdd];
const PACKET_VNET_HDR: i32 = 15;
const PACKET_IGNORE_OUTGOING: i32 = 23;

/// The engine's end of a veth pair.
#[derive(Debug)]
pub struct PacketPort {
    socket: OwnedFd,
    batch: Batch,
    header: [u8; vnet::HEADER + ETHERNET],
    merges: bool,
}

impl PacketPort {
    /// Opens the device with this number. `to` is the MAC address of the host's end.
    pub fn new(device: u32, to: [u8; 6], merges: bool) -> Result<Self, PortError> {
        let socket = net::packet_socket(device)?;
        if merges && !net::option(&socket, libc::SOL_PACKET, PACKET_VNET_HDR, 1) {
            return Err(PortError::NoOffloadHeader);
        }
        // Do not receive our own packets.
        net::option(&socket, libc::SOL_PACKET, PACKET_IGNORE_OUTGOING, 1);
        net::option(&socket, libc::SOL_SOCKET, libc::SO_RCVBUF, 4 << 20);
        let mut header = [0; vnet::HEADER + ETHERNET];
        header[vnet::HEADER..][..6].copy_from_slice(&to);
        // A locally administered address.
        header[vnet::HEADER + 6] = 0x02;
        Ok(Self { socket, batch: Batch::new(ROOM), header, merges })
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    pub(super) fn receive(&mut self, most: usize, mut each: impl FnMut(&[u8])) -> usize {
        let before = if self.merges { vnet::HEADER } else { 0 };
        let mut count = 0;
        while count < most {
            let got = self.batch.receive(&self.socket);
            if got == 0 {
                break;
            }
            for n in 0..got {
                let frame = self.batch.message(n).get(before..).unwrap_or_default();
                // Everything else is not IP. ARP is not needed: the devices have NOARP set.
                let is_ip = frame.len() > ETHERNET && matches!([frame[12], frame[13]], IPV4 | IPV6);
                each(if is_ip { &frame[ETHERNET..] } else { &[] });
            }
            count += got;
        }
        count
    }

    pub(super) fn give(&mut self, packet: &IpPacket<'_>) -> bool {
        let kind = if packet.bytes[0] >> 4 == 6 { IPV6 } else { IPV4 };
        self.header[vnet::HEADER + 12..].copy_from_slice(&kind);
        let before = if self.merges {
            let mut header = vnet::header(packet);
            if packet.merged.is_some() {
                // The offsets count from the Ethernet header.
                for at in [2, 6] {
                    let old = u16::from_ne_bytes([header[at], header[at + 1]]);
                    header[at..at + 2].copy_from_slice(&(old + ETHERNET as u16).to_ne_bytes());
                }
            }
            self.header[..vnet::HEADER].copy_from_slice(&header);
            &self.header[..]
        } else {
            &self.header[vnet::HEADER..]
        };
        files::write_two(&self.socket, before, packet.bytes)
    }
}
