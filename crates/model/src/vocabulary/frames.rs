//! Frames: each try of a PPDU as the trace reports it; and as a capture wants them, what a wire carried, and a try with
//! all that its bytes depend on.
//!
//! The latter cost nothing unless requested: the world makes them only for a [`Sink`](super::Sink) whose `FRAMES` is true.

use alloc::boxed::Box;
use core::ops::Deref;

use super::ids::{ChannelId, DevId, PeerId, WireId};
use super::kind::PacketKind;
use super::packet::{Packet, Packets, Pkt};
use super::qos::Ac;
use super::tcp::TcpHeader;
use super::time::{Duration, Instant};
use super::units::Rate;

/// What a PPDU carried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum PpduKind {
    /// A single data frame.
    Single,
    /// An A-MPDU.
    Aggregate,
    /// A Block Ack request.
    Bar,
    /// A management frame: ADDBA request or response; a null frame or a PS-Poll, which have to do with power save.
    Management,
    /// A beacon.
    Beacon,
    /// A data frame to a group.
    Group,
}

/// One try of a PPDU as the air saw it.
#[derive(Clone, Copy, Debug)]
pub struct PpduTry {
    /// Where it was sent.
    pub channel: ChannelId,
    /// Who sent it.
    pub dev: DevId,
    /// To which of the sender's peers.
    pub peer: PeerId,
    /// From which queue.
    pub ac: Ac,
    /// What it carried.
    pub kind: PpduKind,
    /// When its preamble began.
    pub start: Instant,
    /// Time of the PPDU alone, without gaps and acknowledgement.
    pub airtime: Duration,
    /// Data rate of this try.
    pub rate: Rate,
    /// Frames in it.
    pub mpdus: u16,
    /// Frames that reached the receiver whole.
    pub received: u16,
    /// Number of this try, from 0.
    pub attempt: u8,
    /// It overlapped with another transmission.
    pub collided: bool,
    /// Its sender got the acknowledgement.
    pub acknowledged: bool,
}

/// A rate as a stable number: `wifi::phy::PhyRate` gives it and reads it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct RateCode(pub u16);

/// What a packet's headers are made of, where it lies.
#[derive(Clone, Copy, Debug)]
pub struct Headers<'a> {
    packet: &'a Packet,
    /// The rest of a TCP header.
    pub tcp: Option<&'a TcpHeader>,
    /// The packet of an outside host from the IP header on, as it came in.
    pub bytes: Option<&'a [u8]>,
}

impl<'a> Headers<'a> {
    /// Those of a packet that is kept elsewhere.
    #[inline]
    pub fn new(packet: &'a Packet, tcp: Option<&'a TcpHeader>, bytes: Option<&'a [u8]>) -> Self {
        Self { packet, tcp, bytes }
    }

    /// Those of a packet.
    #[inline]
    pub fn of(packets: &'a Packets, p: Pkt) -> Self {
        let packet = packets.get(p);
        Self {
            packet,
            tcp: (packet.kind == PacketKind::Tcp).then(|| packets.tcp(p)),
            bytes: (packet.kind == PacketKind::Outside).then(|| packets.bytes(p)),
        }
    }

    /// A copy that outlives the packet.
    pub fn keep(self) -> KeptHeaders {
        KeptHeaders { packet: self.packet.clone(), tcp: self.tcp.copied(), bytes: self.bytes.map(Box::from) }
    }
}

impl Deref for Headers<'_> {
    type Target = Packet;
    #[inline]
    fn deref(&self) -> &Packet {
        self.packet
    }
}

/// A packet at a wire, and where it lies: its headers are put together for those who ask.
#[derive(Clone, Copy, Debug)]
pub struct WirePacket<'a> {
    packets: &'a Packets,
    p: Pkt,
}

impl<'a> WirePacket<'a> {
    /// This one.
    #[inline]
    pub fn new(packets: &'a Packets, p: Pkt) -> Self {
        Self { packets, p }
    }

    /// What it carries.
    #[inline]
    pub fn kind(self) -> PacketKind {
        self.packets.get(self.p).kind
    }

    /// Its headers.
    #[inline]
    pub fn headers(self) -> Headers<'a> {
        Headers::of(self.packets, self.p)
    }
}

/// A packet's headers, copied.
#[derive(Clone, Debug)]
pub struct KeptHeaders {
    packet: Packet,
    tcp: Option<TcpHeader>,
    bytes: Option<Box<[u8]>>,
}

impl KeptHeaders {
    /// As they were.
    pub fn get(&self) -> Headers<'_> {
        Headers { packet: &self.packet, tcp: self.tcp.as_ref(), bytes: self.bytes.as_deref() }
    }
}

/// One data frame of a PPDU, at one try.
#[derive(Clone, Copy, Debug)]
pub struct MpduView {
    /// 802.11 sequence number.
    pub seq: u16,
    /// Bytes from the MAC header to the frame check sequence.
    pub len: u16,
    /// It has been sent before.
    pub retry: bool,
    /// It reached its receiver whole at this try.
    pub whole: bool,
    /// The packet in it, of an A-MSDU the first; none once the receiver has it, when the frame is sent again after a lost
    /// acknowledgement.
    pub packet: Option<Pkt>,
    /// Packets in it: more than one in an A-MSDU.
    pub msdus: u8,
}

/// What a PPDU is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ContentView {
    /// Data frames.
    Data {
        /// In an A-MPDU.
        aggregate: bool,
    },
    /// A Block Ack request.
    Bar {
        /// The left edge that the receiver's window is moved to.
        start: u16,
    },
    /// A request to open a Block Ack session.
    AddbaRequest {
        /// First sequence number of the session.
        start: u16,
        /// Frames of the window that is asked for.
        frames: u16,
    },
    /// The answer to such a request.
    AddbaResponse {
        /// Frames of the window that is granted.
        frames: u16,
    },
    /// A beacon.
    Beacon,
    /// A null frame.
    Null {
        /// Its sender sleeps.
        pm: bool,
    },
    /// A QoS null frame.
    QosNull {
        /// It ends a service period.
        eosp: bool,
    },
    /// A PS-Poll.
    PsPoll,
    /// A data frame to a group.
    Group,
}

/// What a frame says of power save.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PowerView {
    /// Its sender sleeps.
    pub pm: bool,
    /// More frames wait for its receiver.
    pub more: bool,
    /// It ends a service period.
    pub eosp: bool,
}

/// What a beacon says of stations that sleep.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimView<'a> {
    /// Beacons until the next DTIM.
    pub count: u32,
    /// Every so many beacons is one.
    pub period: u32,
    /// Frames to a group follow.
    pub group: bool,
    /// Number of the first byte of the bitmap that is sent, and that part.
    pub bitmap: (usize, &'a [u8]),
}

/// The ACK or Block Ack after a PPDU with at least one frame received without errors.
#[derive(Clone, Copy, Debug)]
pub struct AckView {
    /// When its preamble begins.
    pub start: Instant,
    /// How long it lasts.
    pub airtime: Duration,
    /// Its rate.
    pub rate: RateCode,
    /// It is a Block Ack, not an ACK.
    pub block: bool,
    /// Bit n of these words, the lowest first: it says that frame n of the PPDU has been received, now or before.
    pub frames: [u64; 4],
    /// It reached the sender of the PPDU.
    pub heard: bool,
}

/// One try of a PPDU as the air saw it, with the answer to it.
#[derive(Clone, Copy, Debug)]
pub struct PpduView<'a> {
    /// The try, as every reader of the trace sees it.
    pub tried: PpduTry,
    /// The device it is for; none for a beacon and for a frame to a group.
    pub to: Option<DevId>,
    /// Its rate.
    pub rate: RateCode,
    /// Length of the PSDU in bytes.
    pub bytes: u32,
    /// TID.
    pub tid: u8,
    /// What it is for.
    pub content: ContentView,
    /// A Block Ack that answers it has a bitmap of 256 frames, not of 64.
    pub wide: bool,
    /// Its data frames.
    pub mpdus: &'a [MpduView],
    /// Where their packets are.
    pub packets: &'a Packets,
    /// The frame of a PPDU without data frames came whole.
    pub whole: bool,
    /// The answer, if there was one.
    pub answer: Option<AckView>,
    /// What went before it.
    pub guard: Option<RtsCtsView>,
    /// What its frames say of power save.
    pub power: PowerView,
    /// What a beacon says of stations that sleep, where any may.
    pub tim: Option<TimView<'a>>,
}

/// RTS and CTS before a PPDU, or a CTS of its sender to itself.
#[derive(Clone, Copy, Debug)]
pub struct RtsCtsView {
    /// Rate of both.
    pub rate: RateCode,
    /// When the preamble of the CTS begins.
    pub cts: Instant,
    /// When that of the RTS begins; none if the CTS is the sender's own.
    pub rts: Option<Instant>,
    /// The RTS was answered, or there was none; otherwise nothing followed, the PPDU neither.
    pub answered: bool,
}

/// Something that a capture would hold.
#[derive(Clone, Copy, Debug)]
pub enum FrameView<'a> {
    /// A try of a PPDU and its answer; reported when the exchange is over.
    Air(&'a PpduView<'a>),
    /// A packet has reached the end of a wire.
    Wire(WireId, WirePacket<'a>),
    /// A packet is handed to the device that feeds a wire, before that splits it.
    Sent(WireId, WirePacket<'a>),
    /// A packet has come in at the end of a wire, after those that came with it were merged into it.
    Received(WireId, WirePacket<'a>),
}
