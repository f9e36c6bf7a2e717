//! A packet's steps from layer to layer, and what each channel was used for, as a reader wants them that
//! follows packets.
//!
//! They cost nothing unless requested: the world reports them only to a [`Sink`](super::Sink) whose `STEPS`
//! is true.

use super::ids::{ChannelId, DevId, IfId, PeerId, RadioId, SockId};
use super::packet::Pkt;
use super::time::{Duration, Instant};

/// Use of a channel over a stretch of time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChannelUse {
    /// Idle: no station had a frame to send.
    Idle,
    /// Idle although a station had a frame to send: interframe spaces and backoff.
    Wanted,
    /// An exchange that serves packets. With hidden stations: an exchange whose result is not known yet.
    Serves,
    /// The part of such an exchange beyond the time that the first rate of its retry chain would have taken.
    Slow,
    /// An exchange that is not acknowledged, or a collision.
    Failed,
    /// Beacons, management and control frames, with their acknowledgements.
    Management,
    /// A neighbouring network.
    Neighbour,
    /// Interference that is not Wi-Fi.
    Noise,
}

/// Times of a frame's passage from a wired device to the device at the far end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WireTimes {
    /// The first bit leaves the device.
    pub begins: Instant,
    /// The last bit has left the device.
    pub sent: Instant,
    /// The same for the line after a modem's buffer, if there is one.
    pub line: Option<(Instant, Instant)>,
    /// The last bit arrives.
    pub arrives: Instant,
}

/// Why data waits in a TCP socket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SocketWait {
    /// The pacing timer.
    Pacing,
    /// The congestion window.
    Window,
    /// The receive window.
    PeerWindow,
    /// TCP small queues: too many of the socket's bytes are in the queues below.
    SmallQueues,
    /// Other reasons: Nagle's algorithm, or a packet that waits to become larger.
    Deferral,
}

/// Why a device sends no frame of a TID, although the peer is awake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TidWait {
    /// A Block Ack session is being negotiated.
    Session,
    /// The Block Ack window is full. The frame at its start is not acknowledged yet.
    Window,
}

/// One try of a PPDU, reported at the end of its exchange.
#[derive(Clone, Copy, Debug)]
pub struct TryStep<'a> {
    /// The channel.
    pub channel: ChannelId,
    /// The sending device.
    pub dev: DevId,
    /// The receiver, as a peer number of the sender.
    pub peer: PeerId,
    /// The sending radio and its queue: one per access category, and one for beacons and group-addressed
    /// frames.
    pub queue: (RadioId, usize),
    /// Start of the exchange: RTS, CTS-to-self or preamble.
    pub begun: Instant,
    /// Airtime beyond what the first rate of the retry chain would have taken. Zero at that rate or a faster
    /// one.
    pub slow: Duration,
    /// The packets that the receiver did not have, each with whether it was received now.
    pub packets: &'a [(Pkt, bool)],
}

/// A step of a packet, or of something that packets wait for.
#[derive(Clone, Copy, Debug)]
pub enum Step<'a> {
    /// A TCP socket has acted.
    Socket {
        /// The socket.
        sock: SockId,
        /// Sequence number after the last written byte.
        written: u32,
        /// Why data is unsent. `None` if all data was sent.
        waits: Option<SocketWait>,
    },
    /// A packet has entered a transmit queue of an interface.
    Queued {
        /// The packet.
        p: Pkt,
        /// The interface.
        at: IfId,
        /// Number of the transmit queue.
        queue: u8,
        /// Departure time before which the packet may not leave, if the qdisc honours departure times.
        paced: Option<Instant>,
    },
    /// The qdisc of a transmit queue has packets and releases none until an instant, unless another such step
    /// comes first. `None`: the qdisc holds nothing back.
    Held {
        /// The interface.
        at: IfId,
        /// Number of the transmit queue.
        queue: u8,
        /// The qdisc paces each flow separately.
        paces: bool,
        /// The end of the wait.
        until: Option<Instant>,
    },
    /// Another packet inherits this packet's steps so far: a segment, a copy, or a reply.
    Copied {
        /// The original packet, which may have been freed.
        from: Pkt,
        /// The other packet.
        to: Pkt,
    },
    /// The rate or delay of a wire changes. All that was reported of its use after this instant is void; a
    /// `Wired` step follows for each packet whose bits have not all left.
    WireChanged {
        /// The interface of the sending device.
        from: IfId,
    },
    /// A wired device has taken a packet, and will send it; or its times have changed.
    Wired {
        /// The packet.
        p: Pkt,
        /// The interface of the device.
        from: IfId,
        /// Times of the packet's passage.
        times: WireTimes,
    },
    /// A Wi-Fi device has taken a packet.
    Pushed {
        /// The packet.
        p: Pkt,
        /// The device.
        dev: DevId,
    },
    /// A packet was put into a PPDU in the hardware.
    InHardware {
        /// The packet.
        p: Pkt,
    },
    /// The hardware has given a packet back unsent.
    GivenBack {
        /// The packet.
        p: Pkt,
    },
    /// A device begins or ceases to hold back frames for a peer, because one of them sleeps or is on another
    /// channel.
    Sleeps {
        /// The device.
        dev: DevId,
        /// Its peer.
        peer: PeerId,
        /// Whether frames are held back from now on.
        held: bool,
    },
    /// A device begins or ceases to withhold the frames of a TID. Repeated steps with the same reason have no
    /// effect.
    Withheld {
        /// The device.
        dev: DevId,
        /// Its peer.
        peer: PeerId,
        /// The TID.
        tid: u8,
        /// The reason. `None`: the TID's frames may be sent.
        why: Option<TidWait>,
    },
    /// Use of a channel since its last such step.
    Used {
        /// The channel.
        channel: ChannelId,
        /// End of the stretch. Ignored if it is not after the end of the last one.
        until: Instant,
        /// The use.
        what: ChannelUse,
        /// If the exchange serves packets: the sending device and its peer.
        whose: Option<(DevId, PeerId)>,
        /// The packets of the exchange that the receiver does not have.
        packets: &'a [(Pkt, bool)],
    },
    /// The exchange of a PPDU is over.
    Tried(TryStep<'a>),
    /// No frame before that of the packet is missing.
    InOrder {
        /// The packet.
        p: Pkt,
    },
    /// The network stack of a host has received a packet.
    Up {
        /// The packet.
        p: Pkt,
    },
    /// The application's host has received the packet, whose life ends.
    Delivered {
        /// The packet.
        p: Pkt,
    },
}
