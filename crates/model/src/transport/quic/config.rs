//! The parts of a model connection, each with its parameters.

use crate::vocabulary::Duration;

use super::ack_policy::AckParams;
use super::flow_control::FlowParams;
use super::handshake::HandshakeParams;
use super::loss::LossParams;
use super::pacer::PacerParams;
use super::timers::TimerParams;
use super::window::WindowParams;

/// What one end of a connection is like. Both ends of a connection have the same but for their windows of flow control.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QuicConfig {
    /// Bytes of UDP payload of a full packet.
    pub packet: u32,
    /// When acknowledgements are sent.
    pub ack: AckParams,
    /// Packets without anything to be acknowledged that are sent before one gets a frame that is; none: never.
    pub refresh: Option<u32>,
    /// How packets are spread, if they are.
    pub pacing: Option<PacerParams>,
    /// The congestion window.
    pub window: WindowParams,
    /// How losses are found.
    pub loss: LossParams,
    /// The timer that repairs what no acknowledgement does.
    pub timers: TimerParams,
    /// Round-trip time before the first sample.
    pub initial_rtt: Duration,
    /// The delay of an acknowledgement is taken off a sample even if less than the least round-trip time remains.
    pub ack_delay_below_min: bool,
    /// Windows of flow control of the client.
    pub client_flow: FlowParams,
    /// Windows of flow control of the server.
    pub server_flow: FlowParams,
    /// The handshake.
    pub handshake: HandshakeParams,
}
