//! What is sent: flows, and which of Flent's tests they are of.

use stillair_model::app::{GateParams, Page, ResponsivenessParams, VideoParams};
use stillair_model::vocabulary::{Duration, Ip, Rate};

use super::{CongestionControl, FlowEnd, QuicFlow};

/// Traffic from one end to some others.
#[derive(Clone, PartialEq, Debug)]
pub struct Flow {
    /// Name, given or made of kind and number.
    pub name: String,
    /// Sender.
    pub from: FlowEnd,
    /// Receivers, each with its own stream of packets.
    pub to: Vec<FlowEnd>,
    /// Version of IP of its packets, and of those that answer them.
    pub ip: Ip,
    /// The IP header's type-of-service byte: DSCP times four.
    pub tos: u8,
    /// When it starts.
    pub start: Duration,
    /// Most by which each receiver's stream starts later, by chance.
    pub start_spread: Duration,
    /// When it stops; none means the end of the run.
    pub stop: Option<Duration>,
    /// What it is.
    pub kind: FlowKind,
    /// All receivers get the same packets, which are sent to a group.
    pub multicast: bool,
    /// What Flent calls its series, if it is of a test.
    pub series: Option<String>,
    /// The number of its `[[flow]]` table, if it is of one; a table of several senders is several flows.
    pub table: Option<usize>,
}

/// One of Flent's tests, whose flows are among those of the scenario.
#[derive(Clone, PartialEq, Debug)]
pub struct FlentTest {
    /// Its name.
    pub name: String,
    /// The host that runs it.
    pub from: FlowEnd,
    /// The host that it measures against.
    pub to: FlowEnd,
    /// How long its load lasts.
    pub length: Duration,
    /// Pings alone, before the load and after it.
    pub delay: Duration,
    /// Its flows, where their number is a setting.
    pub streams: Option<u32>,
}

/// Kinds of traffic.
#[derive(Clone, PartialEq, Debug)]
pub enum FlowKind {
    /// UDP datagrams at a given mean rate.
    Udp {
        /// Payload bits per second to each of the receivers, in their order.
        rates: Vec<Rate>,
        /// Bytes of payload in a datagram.
        payload: u32,
        /// Datagrams sent back to back.
        burst: u32,
        /// Time between bursts.
        gap: Gap,
    },
    /// ICMP echo.
    Ping {
        /// Time between requests.
        interval: Duration,
        /// Bytes of payload.
        payload: u32,
    },
    /// A greedy TCP sender.
    Tcp {
        /// Its congestion control.
        congestion_control: CongestionControl,
        /// Bytes that it sends before it closes; none means as many as it can.
        bytes: Option<u64>,
        /// Bytes that its application writes at once.
        write_size: u32,
        /// When its application has something to write; none means always.
        gate: Option<GateParams>,
    },
    /// The picture of a video call in one direction.
    Video(VideoParams),
    /// A telephone call in one direction.
    Voip {
        /// Time between packets.
        interval: Duration,
    },
    /// A client that loads a page over and over; the flow's receiver serves it.
    Web {
        /// The page.
        page: Page,
        /// Least time from the beginning of a load to that of the next.
        interval: Duration,
    },
    /// A client that measures responsiveness under working conditions against the flow's receiver.
    Responsiveness(ResponsivenessParams),
    /// A transfer or a page over QUIC.
    Quic(Box<QuicFlow>),
    /// UDP datagrams that a server at the receiver sends back.
    UdpPing {
        /// Time between requests.
        interval: Duration,
        /// Bytes of payload.
        payload: u32,
    },
}

/// How the times between bursts are distributed around the mean that rate, payload and burst give.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gap {
    /// Exponential: a Poisson process of bursts.
    Exponential,
    /// Uniform between two fractions of the mean, in millionths; they lie evenly around 1,000,000.
    Uniform {
        /// Shortest.
        low: u32,
        /// Longest.
        high: u32,
    },
    /// Always the mean.
    Periodic,
}
