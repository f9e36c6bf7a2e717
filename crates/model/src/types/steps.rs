//! A packet's steps from layer to layer, and the use of each channel, for sinks that follow packets.
//!
//! Steps cost nothing unless requested: the world reports them only to a [`Sink`](super::Sink) whose `STEPS`
//! is true.

use super::ids::{ChannelId, DevId, IfId, PeerId, RadioId, SockId};
use super::packet::Pkt;
use super::time::{Duration, Instant};

/// Use of a channel over an interval.
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
    /// Begin and end of the transmission on the line after a modem's buffer, if there is one.
    pub line: Option<(Instant, Instant)>,
    /// The last bit arrives.
    pub arrives: Instant,
}

/// Reason why data waits in a TCP socket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SocketWait {
    /// Waits for the pacing timer.
    Pacing,
    /// The congestion window is full.
    Window,
    /// The receive window is full.
    PeerWindow,
    /// TCP small queues: too many of the socket's bytes are in the queues below.
    SmallQueues,
    /// Other reasons: Nagle's algorithm, or TSO deferral until the packet is larger.
    Deferral,
}

/// Reason why a device sends no frame of a TID although the peer is awake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TidWait {
    /// A Block Ack session is being negotiated.
    Session,
    /// The Block Ack window is full: its first frame is not acknowledged yet.
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
    /// Airtime in excess of the first rate of the retry chain; zero at that rate or a faster one.
    pub slow: Duration,
    /// Packets that the receiver did not have before, each with true if this try delivered it.
    pub packets: &'a [(Pkt, bool)],
}

/// A step of a packet, or of something that delays packets.
#[derive(Clone, Copy, Debug)]
pub enum Step<'a> {
    /// A TCP socket has acted.
    Socket {
        /// The socket.
        sock: SockId,
        /// Sequence number after the last written byte.
        written: u32,
        /// Reason why data is unsent. `None` if all data was sent.
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
        /// Earliest departure time of the packet, if the qdisc honours departure times.
        paced: Option<Instant>,
    },
    /// The qdisc of a transmit queue has packets and releases none until `until`, unless another such step
    /// comes first.
    Held {
        /// The interface.
        at: IfId,
        /// Number of the transmit queue.
        queue: u8,
        /// The qdisc paces each flow separately.
        paces: bool,
        /// End of the wait. `None`: the qdisc holds nothing back.
        until: Option<Instant>,
    },
    /// Another packet inherits this packet's steps so far: a segment, a copy, or a reply.
    Copied {
        /// The original packet, which may have been freed.
        from: Pkt,
        /// The other packet.
        to: Pkt,
    },
    /// The rate or delay of a wire changes. Reported wire use after this instant is void; a `Wired` step
    /// follows for each packet whose bits have not all left.
    WireChanged {
        /// The interface of the sending device.
        from: IfId,
    },
    /// A wired device has accepted a packet for transmission, or the packet's times have changed.
    Wired {
        /// The packet.
        p: Pkt,
        /// The interface of the device.
        from: IfId,
        /// Times of the packet's passage.
        times: WireTimes,
    },
    /// A Wi-Fi device has accepted a packet.
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
    /// The hardware has returned a packet unsent.
    GivenBack {
        /// The packet.
        p: Pkt,
    },
    /// A device starts or stops holding back frames for a peer, because one of the two sleeps or is on
    /// another channel.
    Sleeps {
        /// The device.
        dev: DevId,
        /// Its peer.
        peer: PeerId,
        /// True if frames are held back from now on.
        held: bool,
    },
    /// A device starts or stops withholding the frames of a TID. Repeated steps with the same reason have no
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
    /// Use of a channel since its previous `Used` step.
    Used {
        /// The channel.
        channel: ChannelId,
        /// End of the interval. Ignored unless later than the previous end.
        until: Instant,
        /// The use.
        what: ChannelUse,
        /// If the exchange serves packets: the sending device and its peer.
        whose: Option<(DevId, PeerId)>,
        /// Packets of the exchange that the receiver does not have yet.
        packets: &'a [(Pkt, bool)],
    },
    /// The exchange of a PPDU is over.
    Tried(TryStep<'a>),
    /// All frames before the packet's frame have arrived or were given up.
    InOrder {
        /// The packet.
        p: Pkt,
    },
    /// The network stack of a host has received a packet.
    Up {
        /// The packet.
        p: Pkt,
    },
    /// The application's host has received the packet, which ends here.
    Delivered {
        /// The packet.
        p: Pkt,
    },
}
