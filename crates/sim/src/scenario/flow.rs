//! Traffic: flows, and the Flent test that they belong to.

use stillair_model::app::{GateParams, Page, ResponsivenessParams, VideoParams, WhenFull};
use stillair_model::types::{Duration, Ip, Rate};

use super::{CongestionControl, FlowEnd, QuicFlow};

/// Traffic from one end to one or more others.
#[derive(Clone, PartialEq, Debug)]
pub struct Flow {
    /// Name: as given, or derived from kind and number.
    pub name: String,
    /// Sender.
    pub from: FlowEnd,
    /// Receivers; each gets its own stream of packets.
    pub to: Vec<FlowEnd>,
    /// IP version of the packets and of the replies.
    pub ip: Ip,
    /// Type-of-service byte (TOS) of the IP header: DSCP times four.
    pub tos: u8,
    /// Start time.
    pub start: Duration,
    /// Upper bound of the random delay that each receiver's stream adds to the start.
    pub start_spread: Duration,
    /// Stop time; `None` means the end of the run.
    pub stop: Option<Duration>,
    /// Kind of traffic.
    pub kind: FlowKind,
    /// True if all receivers get the same packets, sent to a multicast group.
    pub multicast: bool,
    /// Name of the flow's data series in Flent, if the flow is part of a test.
    pub series: Option<String>,
    /// Index of the flow's `[[flow]]` table, if any. A table with several senders becomes several flows.
    pub table: Option<usize>,
}

/// A Flent test, whose flows are among those of the scenario.
#[derive(Clone, PartialEq, Debug)]
pub struct FlentTest {
    /// Name of the test.
    pub name: String,
    /// The host that runs the test.
    pub from: FlowEnd,
    /// The host that it measures against.
    pub to: FlowEnd,
    /// Duration of the load.
    pub length: Duration,
    /// Time before and after the load in which only pings run.
    pub delay: Duration,
    /// Number of flows, for tests in which it is a setting.
    pub streams: Option<u32>,
}

/// Kinds of traffic.
#[derive(Clone, PartialEq, Debug)]
pub enum FlowKind {
    /// UDP datagrams with a given mean rate.
    Udp {
        /// Payload rate to each receiver, in their order.
        rates: Vec<Rate>,
        /// Payload of a datagram in bytes.
        payload: u32,
        /// Number of datagrams sent back to back.
        burst: u32,
        /// Time between bursts.
        gap: Gap,
        /// Behaviour of the source when its send buffer is full.
        when_full: WhenFull,
    },
    /// A ping over ICMP echo.
    Ping {
        /// Time between requests.
        interval: Duration,
        /// Payload of a request in bytes.
        payload: u32,
    },
    /// A TCP transfer.
    Tcp {
        /// Congestion control.
        congestion_control: CongestionControl,
        /// Bytes to send before the connection is closed; `None` means unlimited.
        bytes: Option<u64>,
        /// Bytes per write of the application.
        write_size: u32,
        /// Times at which the application has data to write; `None` means always.
        gate: Option<GateParams>,
    },
    /// The video stream of a video call in one direction.
    Video(VideoParams),
    /// A VoIP call in one direction.
    Voip {
        /// Time between packets.
        interval: Duration,
    },
    /// A client that loads a page repeatedly from the flow's receiver.
    Web {
        /// The page.
        page: Page,
        /// Minimum time between the starts of two loads.
        interval: Duration,
    },
    /// A client that measures responsiveness under working conditions against the flow's receiver.
    Responsiveness(ResponsivenessParams),
    /// A transfer or page loads over QUIC.
    Quic(Box<QuicFlow>),
    /// A ping over UDP: a server at the receiver echoes the datagrams.
    UdpPing {
        /// Time between requests.
        interval: Duration,
        /// Payload of a request in bytes.
        payload: u32,
    },
}

/// Distribution of the times between bursts. Rate, payload and burst give the mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gap {
    /// Exponential: a Poisson process of bursts.
    Exponential,
    /// Uniform between two multiples of the mean, in millionths, symmetric around 1,000,000.
    Uniform {
        /// Shortest time.
        low: u32,
        /// Longest time.
        high: u32,
    },
    /// Constant: always the mean.
    Periodic,
}
