//! Configuration of the modelled QUIC connection.

use crate::types::Duration;

use super::ack_policy::AckParams;
use super::flow_control::FlowParams;
use super::handshake::HandshakeParams;
use super::loss::LossParams;
use super::pacer::PacerParams;
use super::received::AckMemory;
use super::timers::TimerParams;
use super::window::WindowParams;

/// Configuration of one endpoint. Both endpoints share it, except for the flow-control windows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QuicConfig {
    /// UDP payload of a full packet, in bytes.
    pub packet: u32,
    /// ACK policy.
    pub ack: AckParams,
    /// How long received packet numbers are acknowledged.
    pub ack_memory: AckMemory,
    /// When an ACK-only packet gets an ack-eliciting frame.
    pub refresh: Refresh,
    /// Pacing, if enabled.
    pub pacing: Option<PacerParams>,
    /// Congestion window parameters.
    pub window: WindowParams,
    /// Loss detection.
    pub loss: LossParams,
    /// Loss timers: handshake timer, probes and timeouts.
    pub timers: TimerParams,
    /// RTT before the first sample.
    pub initial_rtt: Duration,
    /// Subtract the ACK delay from an RTT sample even if the result is below the minimum RTT.
    pub ack_delay_below_min: bool,
    /// Flow-control windows of the client.
    pub client_flow: FlowParams,
    /// Flow-control windows of the server.
    pub server_flow: FlowParams,
    /// Handshake parameters.
    pub handshake: HandshakeParams,
}

/// When an ACK-only packet gets an ack-eliciting frame, which reveals which ACKs arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refresh {
    /// After this many consecutive packets that are not ack-eliciting, with a MAX_DATA frame.
    Packets(u32),
    /// Once per RTT while there are gaps, with a PING frame.
    // spec: rfc9000 13.2.4.
    RoundTrip,
}
