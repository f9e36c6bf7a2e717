//! QUIC: the trait that stacks implement, and a model of Chromium's.
//!
//! A [`Stack`] is one end of a connection. The world hands it datagrams and the time, takes datagrams from
//! it, and reads and writes its streams; a real library in virtual time is used in the same way as the model.
//!
//! The model, [`Quic`], is made of parts that know little of each other, each with its parameters in
//! [`QuicConfig`]: when acknowledgements are sent ([`ack_policy`]), how packets are spread ([`pacer`]), the
//! congestion window ([`window`], with [`cubic`], [`hystart`] and [`prr`], or a congestion control of TCP's,
//! [`TcpControl`]), how losses are found ([`loss`]) and what the timer repairs ([`timers`]), flow control and
//! streams. [`Preset`] names sets of parameters.

pub mod ack_policy;
pub mod config;
mod connection;
mod control;
pub mod cubic;
mod driven;
pub mod flow_control;
pub mod handshake;
pub mod host;
pub mod hystart;
pub mod loss;
pub mod pacer;
pub mod presets;
pub mod prr;
pub mod received;
pub mod rtt;
pub mod sent;
mod sizes;
mod stack;
pub mod streams;
#[cfg(test)]
mod tests;
pub mod timers;
pub mod window;

pub use config::QuicConfig;
pub use connection::{Quic, QuicRole};
pub use driven::TcpControl;
pub use host::{Engine, HostCost};
pub use presets::Preset;
pub use stack::{Connection, Read, Snapshot, Stack, StackEvent, StreamId};

/// What Chromium's congestion control counts as a segment, in bytes, whatever the size of packets.
// spec: quic_constants.h kDefaultTCPMSS (Chromium 62).
pub const MSS: u32 = 1_460;
