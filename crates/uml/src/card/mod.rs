//! A guest's network card: the device side of vhost-user, with memory and rings.
//!
//! ```text
//! memory    bounds-checked access to the guest's memory
//! ring      buffers offered by the guest and returned to it
//! message   vhost-user messages
//! header    offload header of a packet
//! ```

pub mod header;
pub mod memory;
pub mod message;
pub mod ring;
#[cfg(test)]
mod tests;

use std::os::fd::{AsFd, BorrowedFd};

use stillair_sim::scenario::{Offload, RxBuffers};
use thiserror::Error;

use crate::sys::Socket;
use header::{ChecksumError, HEADER, TxHeader};
use memory::{GuestMemory, MemoryError, OutOfBounds, Region};
use message::{Message, MessageError, request};
use ring::{Part, Ring, RingError};

/// A mistake of a guest's driver, or a failure of its connection.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum CardError {
    /// The card has no such ring.
    #[error("ring {ring} of a card that has two")]
    NoRing {
        /// Number of the ring.
        ring: usize,
    },
    /// The driver accepted features that were not offered.
    #[error("found features {wanted:#x}, expected a subset of {offered:#x}")]
    Features {
        /// Feature bits of the driver.
        wanted: u64,
        /// Feature bits of the card.
        offered: u64,
    },
    /// The driver lacks protocol features that virtual time needs.
    #[error(
        "found protocol features {wanted:#x}, expected {PROTOCOL:#x}: this kernel does not support a card in virtual time"
    )]
    ProtocolFeatures {
        /// Protocol feature bits of the driver.
        wanted: u64,
    },
    /// The socket for the card's requests was not passed.
    #[error("requests of the card without a file")]
    NoFile,
    /// The driver wants notifications by eventfd.
    #[error("found notification by eventfd, expected in-band notifications, which virtual time requires")]
    Notification,
    /// The request is unknown.
    #[error("found unknown request {request}")]
    Request {
        /// Number of the request.
        request: u32,
    },
    /// The driver has set up no socket for the card's requests.
    #[error("the card has no socket for requests to its guest")]
    NoRequests,
    /// The driver refused an interrupt.
    #[error("the guest did not accept an interrupt")]
    Interrupt,
    /// A packet from the guest is too long.
    #[error("a packet of more than {LONGEST} bytes")]
    Long,
    /// A packet from the guest is shorter than its offload header.
    #[error("a packet of {len} bytes with its header")]
    Short {
        /// Length of the packet in bytes, with its header.
        len: usize,
    },
    /// A receive buffer is shorter than the frame.
    #[error("a frame of {len} bytes in a buffer that is shorter")]
    Buffer {
        /// Length of the frame in bytes.
        len: usize,
    },
    /// The offload header of a packet is wrong.
    #[error(transparent)]
    Checksum(#[from] ChecksumError),
    /// A message is malformed, or the connection failed.
    #[error(transparent)]
    Message(#[from] MessageError),
    /// A ring is malformed.
    #[error(transparent)]
    Ring(#[from] RingError),
    /// The guest's memory cannot be used.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// A buffer is outside the guest's memory.
    #[error(transparent)]
    OutOfBounds(#[from] OutOfBounds),
}

/// Index of the receive ring: packets for the guest.
pub const RX: usize = 0;
/// Index of the transmit ring: packets from the guest.
pub const TX: usize = 1;

/// Feature bits of virtio-net and virtio.
// spec: virtio 1.2 5.1.3, 6.
#[expect(missing_docs, reason = "names of the standard")]
pub mod feature {
    pub const CSUM: u64 = 1 << 0;
    pub const GUEST_CSUM: u64 = 1 << 1;
    pub const MAC: u64 = 1 << 5;
    pub const HOST_TSO4: u64 = 1 << 11;
    pub const MRG_RXBUF: u64 = 1 << 15;
    pub const PROTOCOL_FEATURES: u64 = 1 << 30;
    pub const VERSION_1: u64 = 1 << 32;
}

/// Protocol features that a card in virtual time requires: acknowledged requests, requests from the card,
/// configuration space, and in-band notifications, which preserve the order of events.
// linux: arch/um/drivers/vhost_user.h VHOST_USER_SUPPORTED_PROTOCOL_F (6.12).
const PROTOCOL: u64 = 1 << 3 | 1 << 5 | 1 << 9 | 1 << 14;

/// Length of an Ethernet header in bytes.
pub const ETHERNET: usize = 14;
/// Maximum length in bytes of a packet from a guest, with its headers.
const LONGEST: usize = HEADER + ETHERNET + 65_536;

/// A message from a guest to its card.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Heard {
    /// A setup request, which has been answered.
    Setup,
    /// A kick: buffers are available in this ring. The guest waits for [`Card::answer`].
    Kick(usize),
    /// The guest closed the connection.
    Gone,
}

/// A packet from a guest: the number of its buffer, its offload header, and the frame.
pub type SentFrame<'a> = (u16, TxHeader, &'a [u8]);

/// A guest's network card.
#[derive(Debug)]
pub struct Card {
    socket: Socket,
    requests: Option<Socket>,
    offered: u64,
    features: u64,
    configuration: [u8; 12],
    memory: GuestMemory,
    rings: [Ring; 2],
    message: Message,
    parts: Vec<Part>,
    packet: Vec<u8>,
}

/// Features offered by a card.
pub fn features(offload: Offload, rx_buffers: RxBuffers) -> u64 {
    use feature::*;
    let of = match offload {
        Offload::None => 0,
        Offload::Gso => CSUM | GUEST_CSUM,
        Offload::Tso => CSUM | GUEST_CSUM | HOST_TSO4,
    };
    let buffers = match rx_buffers {
        RxBuffers::Small => 0,
        RxBuffers::Mergeable => MRG_RXBUF,
    };
    VERSION_1 | PROTOCOL_FEATURES | MAC | of | buffers
}

impl Card {
    /// Creates a card on a connection, which offers these features.
    pub fn new(socket: Socket, offered: u64, address: [u8; 6]) -> Self {
        let mut configuration = [0; 12];
        configuration[..6].copy_from_slice(&address);
        Self {
            socket,
            requests: None,
            offered,
            features: 0,
            configuration,
            memory: GuestMemory::default(),
            rings: [Ring::default(), Ring::default()],
            message: Message::default(),
            parts: Vec::new(),
            packet: Vec::with_capacity(LONGEST),
        }
    }

    /// The file descriptor of the guest's requests.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// The file descriptor of the guest's answers, once the guest has set it up.
    pub fn answers(&self) -> Option<BorrowedFd<'_>> {
        self.requests.as_ref().map(Socket::as_fd)
    }

    /// Receives the guest's next request. All requests except a kick are answered here.
    pub fn hear(&mut self) -> Result<Heard, CardError> {
        let mut message = core::mem::take(&mut self.message);
        let heard = match message.receive(&self.socket) {
            Ok(true) => self.act(&mut message),
            Ok(false) => Ok(Heard::Gone),
            Err(why) => Err(why.into()),
        };
        self.message = message;
        heard
    }

    fn act(&mut self, message: &mut Message) -> Result<Heard, CardError> {
        let index = |message: &Message| match message.u32(0)? as usize {
            n @ (RX | TX) => Ok(n),
            ring => Err(CardError::NoRing { ring }),
        };
        let word = |value: u64| value.to_le_bytes();
        match message.request {
            request::GET_FEATURES => self.say(message.request, &word(self.offered)),
            request::GET_PROTOCOL_FEATURES => self.say(message.request, &word(PROTOCOL)),
            request::GET_CONFIG => {
                // Offset, size and flags, then the data.
                let (offset, size) = (message.u32(0)? as usize, message.u32(4)? as usize);
                let mut answer = message.payload.clone();
                for (n, byte) in answer.iter_mut().skip(12).take(size).enumerate() {
                    *byte = self.configuration.get(offset + n).copied().unwrap_or(0);
                }
                self.say(message.request, &answer)
            }
            request::VRING_KICK => index(message).map(Heard::Kick),
            other => {
                match other {
                    request::SET_FEATURES => {
                        let wanted = message.u64(0)?;
                        if wanted & !self.offered != 0 {
                            return Err(CardError::Features { wanted, offered: self.offered });
                        }
                        self.features = wanted;
                    }
                    request::SET_PROTOCOL_FEATURES => {
                        let wanted = message.u64(0)?;
                        if wanted != PROTOCOL {
                            return Err(CardError::ProtocolFeatures { wanted });
                        }
                    }
                    request::SET_MEM_TABLE => self.remember(message)?,
                    request::SET_VRING_NUM => self.rings[index(message)?].resize(message.u32(4)?)?,
                    request::SET_VRING_BASE => self.rings[index(message)?].begin(message.u32(4)?),
                    request::SET_VRING_ADDR => {
                        let (descriptors, used, available) =
                            (message.u64(8)?, message.u64(16)?, message.u64(24)?);
                        self.rings[index(message)?].locate(descriptors, available, used);
                    }
                    request::SET_VRING_ENABLE => {
                        let n = index(message)?;
                        // Receive buffers are fetched when a packet arrives.
                        self.rings[n].listen(&self.memory, n == TX)?;
                    }
                    request::SET_SLAVE_REQ_FD => {
                        let file = message.files.pop().ok_or(CardError::NoFile)?;
                        self.requests = Some(Socket::from(file));
                    }
                    request::SET_OWNER | request::SET_CONFIG => {}
                    request::SET_VRING_KICK | request::SET_VRING_CALL => {
                        return Err(CardError::Notification);
                    }
                    request => return Err(CardError::Request { request }),
                }
                if message.wants_reply { self.say(message.request, &word(0)) } else { Ok(Heard::Setup) }
            }
        }
    }

    fn say(&self, request: u32, payload: &[u8]) -> Result<Heard, CardError> {
        let is_there = message::reply(&self.socket, request, payload)?;
        Ok(if is_there { Heard::Setup } else { Heard::Gone })
    }

    fn remember(&mut self, message: &mut Message) -> Result<(), CardError> {
        const REGION: usize = 32;
        let region = |n: usize| {
            let at = 8 + n * REGION;
            Ok(Region {
                address: message.u64(at)?,
                size: message.u64(at + 8)?,
                offset: message.u64(at + 24)?,
            })
        };
        let regions =
            (0..message.u32(0)?.min(8) as usize).map(region).collect::<Result<Vec<_>, CardError>>()?;
        self.memory = GuestMemory::new(&regions, &message.files)?;
        Ok(())
    }

    /// Acknowledges a kick, so that the guest continues.
    pub fn answer(&self) -> Result<(), CardError> {
        message::reply(&self.socket, request::VRING_KICK, &0_u64.to_le_bytes())?;
        Ok(())
    }

    /// Notifies the guest that buffers of a ring have been returned. The guest replies at [`Card::answers`];
    /// [`Card::answered`] reads the reply.
    pub fn call(&self, ring: usize) -> Result<(), CardError> {
        let Some(requests) = &self.requests else {
            return Err(CardError::NoRequests);
        };
        let mut payload = [0; 8];
        payload[..4].copy_from_slice(&(ring as u32).to_le_bytes());
        message::ask(requests, request::CALL, &payload)?;
        Ok(())
    }

    /// Receives the guest's answer to a call. Returns false if the guest has closed the connection.
    pub fn answered(&self) -> Result<bool, CardError> {
        let Some(requests) = &self.requests else { return Ok(false) };
        let mut answer = Message::default();
        if !answer.receive(requests)? {
            return Ok(false);
        }
        match answer.u64(0)? {
            0 => Ok(true),
            _ => Err(CardError::Interrupt),
        }
    }

    /// The next packet from the guest, starting at the Ethernet header. The card owns its buffer until
    /// [`Card::sent`].
    pub fn take(&mut self) -> Result<Option<SentFrame<'_>>, CardError> {
        let Some(head) = self.rings[TX].take(&self.memory, &mut self.parts)? else { return Ok(None) };
        self.packet.clear();
        for part in self.parts.iter().filter(|part| !part.writes) {
            let (from, len) = (self.packet.len(), part.len as usize);
            if from + len > LONGEST {
                return Err(CardError::Long);
            }
            self.packet.resize(from + len, 0);
            self.memory.read(part.address, &mut self.packet[from..])?;
        }
        let len = self.packet.len();
        let Some((header, frame)) = self.packet.split_first_chunk_mut::<HEADER>() else {
            return Err(CardError::Short { len });
        };
        let header = TxHeader::read(header);
        if header.needs_checksum {
            header.complete(frame)?;
        }
        Ok(Some((head, header, frame)))
    }

    /// Returns the buffer of a guest's packet that has been sent or lost.
    pub fn sent(&mut self, head: u16) -> Result<(), CardError> {
        Ok(self.rings[TX].give(&self.memory, head, 0)?)
    }

    /// Delivers a frame to the guest. Returns false if the guest has no buffer for the frame.
    pub fn receive(&mut self, frame: &[u8]) -> Result<bool, CardError> {
        let ring = &mut self.rings[RX];
        let Some(head) = ring.take(&self.memory, &mut self.parts)? else { return Ok(false) };
        let header = header::received(self.features & feature::GUEST_CSUM != 0);
        let mut left: &[u8] = frame;
        let mut before: &[u8] = &header;
        for part in self.parts.iter().filter(|part| part.writes) {
            let (mut at, mut room) = (part.address, part.len as usize);
            for piece in [&mut before, &mut left] {
                let (now, rest) = piece.split_at(piece.len().min(room));
                self.memory.write(at, now)?;
                (at, room, *piece) = (at + now.len() as u64, room - now.len(), rest);
            }
        }
        if !left.is_empty() {
            return Err(CardError::Buffer { len: frame.len() });
        }
        ring.give(&self.memory, head, (HEADER + frame.len()) as u32)?;
        Ok(true)
    }

    /// Makes returned buffers of a ring visible to the guest. Returns true if the guest wants an interrupt.
    pub fn publish(&self, ring: usize) -> Result<bool, CardError> {
        Ok(self.rings[ring].publish(&self.memory)?)
    }

    /// Sets if the guest kicks when it adds receive buffers.
    pub fn wait_for_room(&self, waits: bool) -> Result<(), CardError> {
        Ok(self.rings[RX].listen(&self.memory, waits)?)
    }

    /// Features accepted by the guest.
    pub fn taken(&self) -> u64 {
        self.features
    }
}
