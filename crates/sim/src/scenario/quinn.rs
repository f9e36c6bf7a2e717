//! quinn as the stack of a flow. The options are separate from quinn's own types, so that a program built
//! without quinn can read the same scenarios.

#[cfg(feature = "quinn")]
use std::fmt;
#[cfg(feature = "quinn")]
use std::sync::Arc;

use stillair_model::types::Duration;
#[cfg(feature = "quinn")]
use stillair_quinn::Factory;

/// The stack of both ends of a QUIC flow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum QuicStack {
    /// The model.
    Model,
    /// quinn-proto, if the program has it.
    Quinn(QuinnOptions),
}

/// Options of both ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QuinnOptions {
    /// Congestion control.
    pub congestion_control: QuinnControl,
    /// A congestion control supplied by the program, which a scenario file cannot name; replaces
    /// `congestion_control`.
    #[cfg(feature = "quinn")]
    pub custom: Option<QuinnFactory>,
    /// Initial congestion window in bytes; `None` means the default of the congestion control.
    pub initial_window: Option<u64>,
    /// True if packets are paced.
    pub pacing: bool,
    /// ACK frequency that the sender of the data requests from the receiver (draft-ietf-quic-ack-frequency).
    pub ack_frequency: Option<AckFrequency>,
    /// UDP payload of a full packet in bytes; `None` means that path MTU discovery finds it.
    pub packet: Option<u16>,
    /// Flow-control window of a stream in bytes; `None` means quinn's default.
    pub stream_window: Option<u32>,
    /// Flow-control window of the connection in bytes; `None` means no limit, which is quinn's default.
    pub connection_window: Option<u32>,
    /// Maximum number of concurrent streams of a client.
    pub streams: u32,
    /// Packet protection.
    pub crypto: Crypto,
    /// Size in bytes of the server's handshake messages after the ServerHello.
    pub certificates: u32,
}

/// A congestion control of quinn, or that of the QUIC model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QuinnControl {
    /// CUBIC.
    Cubic,
    /// NewReno.
    NewReno,
    /// BBR.
    Bbr,
    /// The congestion control of the QUIC model, with the flow's configuration.
    Model,
}

/// ACK frequency requested from the receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AckFrequency {
    /// Packets per acknowledgement.
    pub every: u32,
    /// Maximum acknowledgement delay; `None` means the receiver's default.
    pub max_delay: Option<Duration>,
    /// Reordering threshold in packets for an immediate acknowledgement; 0 disables it.
    pub reordering: u32,
}

/// Packet protection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Crypto {
    /// No protection; packets have the same sizes as with TLS.
    Null,
    /// TLS 1.3, if the program is built with it.
    Tls,
}

/// A factory of program-supplied congestion controllers. Two values are equal if they share the factory.
#[cfg(feature = "quinn")]
#[derive(Clone)]
pub struct QuinnFactory(pub Factory);

#[cfg(feature = "quinn")]
impl PartialEq for QuinnFactory {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

#[cfg(feature = "quinn")]
impl Eq for QuinnFactory {}

#[cfg(feature = "quinn")]
impl fmt::Debug for QuinnFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("QuinnFactory").finish_non_exhaustive()
    }
}
