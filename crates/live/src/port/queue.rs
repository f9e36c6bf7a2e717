//! Packets from a host through NFQUEUE. Packets arrive unsegmented, and each stays charged to its socket
//! until its verdict.
//!
//! The verdict is always drop, because the packet continues in the model. The kernel then frees the packet,
//! its charge ends, and TCP small queues send more, as after a device's TX completion.
//!
//! A datagram longer than the MTU arrives here before the kernel fragments it. The engine accepts it, and
//! its fragments arrive through the host's device.
// linux: net/ipv4/ip_output.c ip_output, ip_finish_output; net/ipv6/ip6_output.c (6.12) - run
// NF_INET_POST_ROUTING before fragmentation.
// linux: net/ipv4/tcp_output.c tcp_wfree, net/netfilter/nfnetlink_queue.c (6.18) - measured: such a drop
// changes no TCP counter.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use super::{PortError, ROOM};
use crate::netlink::outcome;
use crate::netlink::queue::{self, QueuedPacket};
use crate::plan::MTU;
use crate::sys::net::{self, Batch};
use nix::sys::socket::SockProtocol;

/// Maximum packets waiting for a verdict.
const MOST: u32 = 100_000;
/// Verdicts per message.
const VERDICTS: usize = 256;

/// Decision on a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The packet stays charged until it is released.
    Hold,
    /// The packet's charge ends immediately.
    Drop,
}

/// A packet that stays charged, by its number in the queue.
pub type HeldPacket = u32;

/// The queue of a network namespace.
#[derive(Debug)]
pub struct Queue {
    socket: OwnedFd,
    number: u16,
    batch: Batch,
    verdicts: Vec<u8>,
    count: usize,
}

impl Queue {
    /// Opens the queue with this number in this thread's network namespace.
    pub fn new(number: u16) -> Result<Self, PortError> {
        const NO_ENOBUFS: i32 = 5;
        let socket = net::netlink(SockProtocol::NetlinkNetFilter, "NFQUEUE")?;
        const BUFFER: i32 = 16 << 20;
        if !net::option(&socket, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, BUFFER) {
            net::option(&socket, libc::SOL_SOCKET, libc::SO_RCVBUF, BUFFER);
        }
        net::option(&socket, libc::SOL_NETLINK, NO_ENOBUFS, 1);
        for request in queue::configuration(number, MOST, ROOM as u32) {
            net::send(&socket, &request).map_err(|_| PortError::NoQueue)?;
            let mut answer = [0; 1024];
            let n = net::receive(&socket, &mut answer).unwrap_or(0);
            match outcome(&answer[..n]) {
                Some(0) => {}
                Some(errno) => return Err(PortError::QueueRefused { errno }),
                None => return Err(PortError::NoAnswer),
            }
        }
        Ok(Self { socket, number, batch: Batch::new(ROOM + 256), verdicts: Vec::new(), count: 0 })
    }

    /// The file descriptor to poll.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Calls `each` for up to `most` packets that the host has sent; `each` decides on the packet. Returns
    /// the number of packets.
    pub fn receive(&mut self, most: usize, mut each: impl FnMut(QueuedPacket<'_>) -> Verdict) -> usize {
        let mut count = 0;
        while count < most {
            let got = self.batch.receive(&self.socket);
            if got == 0 {
                break;
            }
            for n in 0..got {
                for packet in queue::packets(self.batch.message(n)) {
                    if packet.cut || packet.bytes.len() > MTU as usize {
                        queue::pass(&mut self.verdicts, self.number, packet.id);
                    } else if each(packet) == Verdict::Drop {
                        queue::drop(&mut self.verdicts, self.number, packet.id);
                    } else {
                        continue;
                    }
                    self.count += 1;
                }
            }
            count += got;
        }
        count
    }

    /// Ends the charge of a packet.
    pub fn release(&mut self, held: HeldPacket) {
        queue::drop(&mut self.verdicts, self.number, held);
        self.count += 1;
        if self.count >= VERDICTS {
            self.tell();
        }
    }

    /// Sends all verdicts since the last call to the kernel.
    pub fn tell(&mut self) {
        if self.count > 0 {
            // The kernel refuses a verdict only if the packet is gone with its namespace.
            let _ = net::send(&self.socket, &self.verdicts);
            self.verdicts.clear();
            self.count = 0;
        }
    }
}
