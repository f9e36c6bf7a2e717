//! Configuration of a model connection, by part.

use crate::vocabulary::Duration;

use super::ack_policy::AckParams;
use super::flow_control::FlowParams;
use super::handshake::HandshakeParams;
use super::loss::LossParams;
use super::pacer::PacerParams;
use super::timers::TimerParams;
use super::window::WindowParams;

/// Configuration of one end of a connection. Both ends have the same, except for the flow-control windows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QuicConfig {
    /// UDP payload of a full packet, in bytes.
    pub packet: u32,
    /// When acknowledgements are sent.
    pub ack: AckParams,
    /// Number of packets that are not ack-eliciting after which an ack-eliciting frame is added. `None`: never.
    pub refresh: Option<u32>,
    /// Pacing, if enabled.
    pub pacing: Option<PacerParams>,
    /// The congestion window.
    pub window: WindowParams,
    /// Loss detection.
    pub loss: LossParams,
    /// Loss timers: handshake timer, probes and timeouts.
    pub timers: TimerParams,
    /// Round-trip time before the first sample.
    pub initial_rtt: Duration,
    /// The acknowledgement delay is subtracted from an RTT sample even if the result is below the minimum round-trip time.
    pub ack_delay_below_min: bool,
    /// Flow-control windows of the client.
    pub client_flow: FlowParams,
    /// Flow-control windows of the server.
    pub server_flow: FlowParams,
    /// The handshake.
    pub handshake: HandshakeParams,
}
