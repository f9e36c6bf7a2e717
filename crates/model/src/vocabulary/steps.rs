//! A packet's steps from layer to layer, and what each channel was used for, as a reader wants them that follows packets.
//!
//! They cost nothing unless requested: the world reports them only to a [`Sink`](super::Sink) whose `STEPS` is true.

use super::ids::{ChannelId, DevId, IfId, PeerId, RadioId, SockId};
use super::packet::Pkt;
use super::time::{Duration, Instant};

/// What a channel was used for over a stretch of time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChannelUse {
    /// Idle: no station had a frame to send.
    Idle,
    /// Idle although a station had a frame to send: interframe spaces and backoff.
    Wanted,
    /// An exchange that serves packets; with hidden stations, one whose outcome is not known yet.
    Serves,
    /// The same, beyond the time that the first rate of its chain would have taken.
    Slow,
    /// An exchange that is not acknowledged, or several at once.
    Failed,
    /// Beacons, management and control frames with their acknowledgements.
    Management,
    /// A neighbouring network.
    Neighbour,
    /// Interference that is not Wi-Fi.
    Noise,
}

/// When a frame passes each place between a wired device and the one at its far end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WireTimes {
    /// Its first bit leaves the device.
    pub begins: Instant,
    /// Its last bit has left the device.
    pub sent: Instant,
    /// The same of the line behind a modem's buffer, if there is one.
    pub line: Option<(Instant, Instant)>,
    /// Its last bit is there.
    pub arrives: Instant,
}

/// What keeps data in a TCP socket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SocketWait {
    /// The pacing timer.
    Pacing,
    /// The congestion window.
    Window,
    /// The receiver's window.
    PeerWindow,
    /// Too much of the socket is below (TCP small queues).
    SmallQueues,
    /// Anything else: Nagle, a packet that waits to become larger.
    Deferral,
}

/// One try of a PPDU, when its exchange is over.
#[derive(Clone, Copy, Debug)]
pub struct TryStep<'a> {
    /// Where it was sent.
    pub channel: ChannelId,
    /// Who sends it.
    pub dev: DevId,
    /// To which of the sender's peers.
    pub peer: PeerId,
    /// With which radio, and from which of its queues: one for each category, and one for beacons and groups.
    pub queue: (RadioId, usize),
    /// When the exchange began: with RTS, CTS-to-self or preamble.
    pub begun: Instant,
    /// Time on the air beyond what the first rate of its chain would have taken; zero at that rate or a faster one.
    pub slow: Duration,
    /// The packets that the receiver did not have, each with whether it has come whole now.
    pub packets: &'a [(Pkt, bool)],
}

/// A step of a packet, or of what packets wait for.
#[derive(Clone, Copy, Debug)]
pub enum Step<'a> {
    /// A TCP socket has acted.
    Socket {
        /// The socket.
        sock: SockId,
        /// Sequence number behind the last byte that was written to it.
        written: u32,
        /// What keeps there what has not been sent; none if all has.
        waits: Option<SocketWait>,
    },
    /// A packet has come to a transmit queue of an interface.
    Queued {
        /// The packet.
        p: Pkt,
        /// The interface.
        at: IfId,
        /// Number of the queue there.
        queue: u8,
        /// It may not leave before that, if the discipline heeds departure times.
        paced: Option<Instant>,
    },
    /// The discipline of a transmit queue has packets and gives none until an instant, unless another such step comes before; none: it
    /// holds nothing back.
    Held {
        /// The interface.
        at: IfId,
        /// Number of the queue there.
        queue: u8,
        /// It paces each flow by itself.
        paces: bool,
        /// Until when.
        until: Option<Instant>,
    },
    /// Another packet has had the steps of this one so far: its segments, its copies, its answer.
    Copied {
        /// The packet that has had them, which may be gone.
        from: Pkt,
        /// The other one.
        to: Pkt,
    },
    /// A wired device has got a packet, and will send it.
    Wired {
        /// The packet.
        p: Pkt,
        /// The interface of the device.
        from: IfId,
        /// When it passes where.
        times: WireTimes,
    },
    /// A Wi-Fi device has got a packet.
    Pushed {
        /// The packet.
        p: Pkt,
        /// The device.
        dev: DevId,
    },
    /// A packet has been put into a PPDU that is with the hardware.
    InHardware {
        /// The packet.
        p: Pkt,
    },
    /// The hardware has given a packet back that it had not sent.
    GivenBack {
        /// The packet.
        p: Pkt,
    },
    /// A device holds back what is for a peer, as one of both sleeps or is on another channel; or no longer.
    Sleeps {
        /// The device.
        dev: DevId,
        /// Its peer.
        peer: PeerId,
        /// It holds back from now on.
        held: bool,
    },
    /// What a channel was used for since the last such step of it.
    Used {
        /// The channel.
        channel: ChannelId,
        /// Until when; what is not after the last step's is nothing.
        until: Instant,
        /// What for.
        what: ChannelUse,
        /// Whose exchange it was, if it served packets: a device and a peer of it.
        whose: Option<(DevId, PeerId)>,
        /// The packets of it that the receiver does not have.
        packets: &'a [(Pkt, bool)],
    },
    /// The exchange of a PPDU is over.
    Tried(TryStep<'a>),
    /// No frame is missing before that of a packet.
    InOrder {
        /// The packet.
        p: Pkt,
    },
    /// The stack of a host has got a packet.
    Up {
        /// The packet.
        p: Pkt,
    },
    /// An application's host has it, and it ends.
    Delivered {
        /// The packet.
        p: Pkt,
    },
}
