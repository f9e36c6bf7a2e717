//! quinn as the stack of a flow, as a scenario describes it. It is described here and not by the stack's own settings so that
//! a program without it reads the same scenarios.

#[cfg(feature = "quinn")]
use std::fmt;
#[cfg(feature = "quinn")]
use std::sync::Arc;

use stillair_model::vocabulary::Duration;
#[cfg(feature = "quinn")]
use stillair_quinn::Factory;

/// Which stack both ends of a flow have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum QuicStack {
    /// The model.
    Model,
    /// quinn-proto, if the program has it.
    Quinn(QuinnOptions),
}

/// What both ends are like.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QuinnOptions {
    /// Their congestion control.
    pub congestion_control: QuinnControl,
    /// One that a program brings instead: no file can name it.
    #[cfg(feature = "quinn")]
    pub custom: Option<QuinnFactory>,
    /// Initial window in bytes; none means what the control has by itself.
    pub initial_window: Option<u64>,
    /// Packets are spread over the round trip.
    pub pacing: bool,
    /// What the sender of data asks of the receiver.
    pub ack_frequency: Option<AckFrequency>,
    /// Bytes of UDP payload of a full packet; none means that it is looked for by probes.
    pub packet: Option<u16>,
    /// What is let be sent on a stream ahead of the reader, in bytes; none means quinn's own.
    pub stream_window: Option<u32>,
    /// The same on the connection; none means no limit, quinn's own.
    pub connection_window: Option<u32>,
    /// Streams that a client may have open.
    pub streams: u32,
    /// What protects packets.
    pub crypto: Crypto,
    /// The server's part of the handshake after its hello, in bytes.
    pub certificates: u32,
}

/// A congestion control of quinn's, or the model's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QuinnControl {
    /// CUBIC.
    Cubic,
    /// NewReno.
    NewReno,
    /// BBR.
    Bbr,
    /// The model's window, as the flow's parts have it.
    Model,
}

impl QuinnControl {
    /// All, with their names.
    pub const ALL: [(&str, Self); 4] =
        [("cubic", Self::Cubic), ("newreno", Self::NewReno), ("bbr", Self::Bbr), ("model", Self::Model)];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, control)| *control == self).expect("all have names").0
    }
}

/// How often the receiver is asked to acknowledge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AckFrequency {
    /// Packets that one acknowledgement is for.
    pub every: u32,
    /// Longest delay of an acknowledgement; none means the receiver's own.
    pub max_delay: Option<Duration>,
    /// Packets out of order that are acknowledged at once; 0 means none.
    pub reordering: u32,
}

/// What protects packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Crypto {
    /// Nothing, in packets of the same sizes.
    Null,
    /// TLS 1.3, if the program has it.
    Tls,
}

/// What makes the congestion controllers of a program's own. Two are the same if they share the factory.
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
