//! A TUN device: packets are read and written with one system call each. Packets of several segments are
//! split here.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::fcntl::OFlag;
use stillair_ip::gro::IpPacket;

use super::{PortError, ROOM, vnet};
use crate::sys::{SysError, files, net};

/// Maximum length in bytes of a packet of several segments, with its header.
const SEVERAL: usize = vnet::HEADER + (1 << 16);

/// A TUN device.
#[derive(Debug)]
pub struct Tun {
    file: OwnedFd,
    buffer: Vec<u8>,
    /// Buffer for one segment of the packet just read.
    segment: Vec<u8>,
    /// True if packets are preceded by a `virtio_net_hdr`.
    has_header: bool,
}

impl Tun {
    /// Checks that TUN devices can be opened here. The error gives the reason if not.
    pub fn available() -> Result<(), SysError> {
        files::open("/dev/net/tun", OFlag::O_RDWR).map(|_| ())
    }

    /// Creates a device in this thread's network namespace. With `merges`, packets for the host may have
    /// several segments. With `splits`, packets from the host may have several segments, and the host's
    /// kernel leaves their checksums to the device.
    pub fn new(name: &str, merges: bool, splits: bool) -> Result<Self, PortError> {
        // linux: include/uapi/linux/if_tun.h IFF_TUN, IFF_NO_PI, IFF_VNET_HDR, IFF_TUN_EXCL (6.12).
        const TUN: u16 = 1;
        const NO_INFORMATION: u16 = 0x1000;
        const VNET_HEADER: u16 = 0x4000;
        // An existing device of that name is not ours to use.
        const NEW: u16 = 0x8000;
        let file = files::open("/dev/net/tun", OFlag::O_RDWR | OFlag::O_NONBLOCK)?;
        if net::index(name).is_ok() {
            return Err(PortError::Exists { name: name.to_owned() });
        }
        let has_header = merges || splits;
        net::tun(&file, name, TUN | NO_INFORMATION | NEW | if has_header { VNET_HEADER } else { 0 })?;
        if splits {
            net::tun_offload(&file)?;
        }
        let room = if splits { SEVERAL } else { ROOM };
        Ok(Self { file, buffer: vec![0; room], segment: vec![0; ROOM], has_header })
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    pub(super) fn receive(&mut self, most: usize, mut each: impl FnMut(&[u8])) -> usize {
        let Self { file, buffer, segment, has_header } = self;
        let mut count = 0;
        while count < most
            && let Some(n) = files::read(&*file, buffer)
        {
            count += if *has_header {
                vnet::packets(&mut buffer[..n], segment, &mut each)
            } else {
                each(&buffer[..n]);
                1
            };
        }
        count
    }

    pub(super) fn give(&mut self, packet: &IpPacket<'_>) -> bool {
        if self.has_header {
            files::write_two(&self.file, &vnet::header(packet), packet.bytes)
        } else {
            files::write(&self.file, packet.bytes)
        }
    }
}
