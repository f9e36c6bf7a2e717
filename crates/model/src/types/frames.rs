//! Frames: each try of a PPDU as the trace reports it; and as a capture wants them, what a wire carried, and
//! a try with all that its bytes depend on.
//!
//! The latter cost nothing unless requested: the world makes them only for a [`Sink`](super::Sink) whose
//! `FRAMES` is true.

use alloc::boxed::Box;
use core::ops::Deref;

use super::ids::{ChannelId, DevId, PeerId, WireId};
use super::kind::PacketKind;
use super::packet::{Packet, Packets, Pkt};
use super::qos::Ac;
use super::tcp::TcpHeader;
use super::time::{Duration, Instant};
use super::units::Rate;

/// Kind of a PPDU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum PpduKind {
    /// A single data frame.
    Single,
    /// An A-MPDU.
    Aggregate,
    /// A Block Ack request.
    Bar,
    /// A management frame (ADDBA request or response), or a Null or PS-Poll frame for power save.
    Management,
    /// A beacon.
    Beacon,
    /// A group-addressed data frame.
    Group,
}

/// One try of a PPDU.
#[derive(Clone, Copy, Debug)]
pub struct PpduTry {
    /// The channel.
    pub channel: ChannelId,
    /// The sending device.
    pub dev: DevId,
    /// The receiver, as a peer number of the sender.
    pub peer: PeerId,
    /// The access category whose queue the PPDU came from.
    pub ac: Ac,
    /// Kind of the PPDU.
    pub kind: PpduKind,
    /// Start of the preamble.
    pub start: Instant,
    /// Duration of the PPDU, without gaps and acknowledgement.
    pub airtime: Duration,
    /// Data rate.
    pub rate: Rate,
    /// Number of frames in the PPDU.
    pub mpdus: u16,
    /// Number of frames received without error.
    pub received: u16,
    /// Number of this try, from 0.
    pub attempt: u8,
    /// The PPDU overlapped with another transmission.
    pub collided: bool,
    /// The sender received the acknowledgement.
    pub acknowledged: bool,
}

/// A rate as a stable number. See `wifi::phy::PhyRate` for the conversion.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct RateCode(pub u16);

/// References to the parts of a packet's headers.
#[derive(Clone, Copy, Debug)]
pub struct Headers<'a> {
    packet: &'a Packet,
    /// The TCP header, if there is one.
    pub tcp: Option<&'a TcpHeader>,
    /// The received bytes of an external host's packet, from the IP header on.
    pub bytes: Option<&'a [u8]>,
}

impl<'a> Headers<'a> {
    /// Headers of a packet that is stored elsewhere.
    #[inline]
    pub fn new(packet: &'a Packet, tcp: Option<&'a TcpHeader>, bytes: Option<&'a [u8]>) -> Self {
        Self { packet, tcp, bytes }
    }

    /// Headers of a packet in `packets`.
    #[inline]
    pub fn of(packets: &'a Packets, p: Pkt) -> Self {
        let packet = packets.get(p);
        Self {
            packet,
            tcp: (packet.kind == PacketKind::Tcp).then(|| packets.tcp(p)),
            bytes: (packet.kind == PacketKind::External).then(|| packets.bytes(p)),
        }
    }

    /// A copy of the headers that outlives the packet.
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

/// A packet on a wire. Its headers are assembled on request.
#[derive(Clone, Copy, Debug)]
pub struct WirePacket<'a> {
    packets: &'a Packets,
    p: Pkt,
}

impl<'a> WirePacket<'a> {
    /// The packet `p`.
    #[inline]
    pub fn new(packets: &'a Packets, p: Pkt) -> Self {
        Self { packets, p }
    }

    /// Kind of the packet.
    #[inline]
    pub fn kind(self) -> PacketKind {
        self.packets.get(self.p).kind
    }

    /// Headers of the packet.
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
    /// The headers.
    pub fn get(&self) -> Headers<'_> {
        Headers { packet: &self.packet, tcp: self.tcp.as_ref(), bytes: self.bytes.as_deref() }
    }
}

/// One data frame (MPDU) of a PPDU, at one try.
#[derive(Clone, Copy, Debug)]
pub struct MpduView {
    /// 802.11 sequence number.
    pub seq: u16,
    /// Length in bytes from the MAC header to the FCS.
    pub len: u16,
    /// The Retry bit: the frame was sent before.
    pub retry: bool,
    /// The frame was received without error at this try.
    pub whole: bool,
    /// The packet in the frame (the first one of an A-MSDU). `None` once the receiver has the packet, when
    /// the frame is sent again after a lost acknowledgement.
    pub packet: Option<Pkt>,
    /// Number of packets in the frame: more than one in an A-MSDU.
    pub msdus: u8,
}

/// Purpose of a PPDU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ContentView {
    /// Data frames.
    Data {
        /// Whether the frames are in an A-MPDU.
        aggregate: bool,
    },
    /// A Block Ack request.
    Bar {
        /// New left edge of the receiver's window.
        start: u16,
    },
    /// An ADDBA request, which asks for a Block Ack session.
    AddbaRequest {
        /// First sequence number of the session.
        start: u16,
        /// Window size that is requested, in frames.
        frames: u16,
    },
    /// An ADDBA response.
    AddbaResponse {
        /// Window size that is granted, in frames.
        frames: u16,
    },
    /// A beacon.
    Beacon,
    /// A Null frame.
    Null {
        /// The Power Management bit: the sender sleeps.
        pm: bool,
    },
    /// A QoS Null frame.
    QosNull {
        /// The EOSP bit: end of the service period.
        eosp: bool,
    },
    /// A PS-Poll.
    PsPoll,
    /// A group-addressed data frame.
    Group,
}

/// Power-save bits of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PowerView {
    /// The Power Management bit: the sender sleeps.
    pub pm: bool,
    /// The More Data bit: more frames are buffered for the receiver.
    pub more: bool,
    /// The EOSP bit: end of the service period.
    pub eosp: bool,
}

/// TIM element of a beacon.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimView<'a> {
    /// DTIM count: beacons until the next DTIM.
    pub count: u32,
    /// DTIM period, in beacons.
    pub period: u32,
    /// Group-addressed frames follow the beacon.
    pub group: bool,
    /// The partial virtual bitmap, after the number of its first byte.
    pub bitmap: (usize, &'a [u8]),
}

/// The ACK or Block Ack after a PPDU with at least one frame received without errors.
#[derive(Clone, Copy, Debug)]
pub struct AckView {
    /// Start of the preamble.
    pub start: Instant,
    /// Duration.
    pub airtime: Duration,
    /// Rate.
    pub rate: RateCode,
    /// The response is a Block Ack, not an ACK.
    pub block: bool,
    /// Bitmap, lowest bit of the first word first: bit n means that frame n of the PPDU was received, at this
    /// try or before.
    pub frames: [u64; 4],
    /// The sender of the PPDU received the response.
    pub heard: bool,
}

/// One try of a PPDU, with its response.
#[derive(Clone, Copy, Debug)]
pub struct PpduView<'a> {
    /// The try, as in the trace.
    pub tried: PpduTry,
    /// The receiving device. `None` for a beacon or a group-addressed frame.
    pub to: Option<DevId>,
    /// Rate of the PPDU.
    pub rate: RateCode,
    /// Length of the PSDU in bytes.
    pub bytes: u32,
    /// TID.
    pub tid: u8,
    /// Purpose of the PPDU.
    pub content: ContentView,
    /// A Block Ack for this PPDU has a bitmap of 256 frames, not of 64.
    pub wide: bool,
    /// The data frames.
    pub mpdus: &'a [MpduView],
    /// The slab that holds the packets of the frames.
    pub packets: &'a Packets,
    /// For a PPDU without data frames: its frame was received without error.
    pub whole: bool,
    /// The response, if there was one.
    pub answer: Option<AckView>,
    /// RTS/CTS or CTS-to-self before the PPDU.
    pub guard: Option<RtsCtsView>,
    /// Power-save bits of the frames.
    pub power: PowerView,
    /// TIM element of a beacon, if stations may sleep.
    pub tim: Option<TimView<'a>>,
}

/// RTS and CTS before a PPDU, or CTS-to-self.
#[derive(Clone, Copy, Debug)]
pub struct RtsCtsView {
    /// Rate of the RTS and CTS.
    pub rate: RateCode,
    /// Start of the CTS's preamble.
    pub cts: Instant,
    /// Start of the RTS's preamble. `None` for CTS-to-self.
    pub rts: Option<Instant>,
    /// The RTS was answered, or there was no RTS. Otherwise the PPDU was not sent.
    pub answered: bool,
}

/// An item of a packet capture.
#[derive(Clone, Copy, Debug)]
pub enum FrameView<'a> {
    /// A try of a PPDU and its response, reported at the end of the exchange.
    Air(&'a PpduView<'a>),
    /// A packet has reached the end of a wire.
    Wire(WireId, WirePacket<'a>),
    /// A packet was handed to the sending device of a wire, before TSO splits it.
    Sent(WireId, WirePacket<'a>),
    /// A packet was received at the end of a wire, after GRO.
    Received(WireId, WirePacket<'a>),
}
