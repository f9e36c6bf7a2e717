//! Configuration of a model connection, by part.

use crate::types::Duration;

use super::ack_policy::AckParams;
use super::flow_control::FlowParams;
use super::handshake::HandshakeParams;
use super::loss::LossParams;
use super::pacer::PacerParams;
use super::received::AckMemory;
use super::timers::TimerParams;
use super::window::WindowParams;

/// Configuration of one end of a connection. Both ends have the same, except for the flow-control windows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QuicConfig {
    /// UDP payload of a full packet, in bytes.
    pub packet: u32,
    /// When acknowledgements are sent.
    pub ack: AckParams,
    /// How long received packet numbers are acknowledged.
    pub ack_memory: AckMemory,
    /// When a packet that only acknowledges gets an ack-eliciting frame.
    pub refresh: Refresh,
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
    /// The acknowledgement delay is subtracted from an RTT sample even if the result is below the minimum
    /// round-trip time.
    pub ack_delay_below_min: bool,
    /// Flow-control windows of the client.
    pub client_flow: FlowParams,
    /// Flow-control windows of the server.
    pub server_flow: FlowParams,
    /// The handshake.
    pub handshake: HandshakeParams,
}

/// When a packet that only acknowledges gets an ack-eliciting frame, so that its sender learns which
/// acknowledgements have arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refresh {
    /// After this many packets that are not ack-eliciting: the connection's flow-control limit.
    Packets(u32),
    /// Once per round trip while there are gaps: PING.
    // spec: rfc9000 13.2.4.
    RoundTrip,
}
