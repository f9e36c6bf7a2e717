//! QUIC: the trait for stacks, and a model of Chromium's stack.
//!
//! A [`Stack`] is one endpoint of a connection. The simulator passes datagrams and the time to it, takes
//! datagrams from it, and reads and writes its streams. Real libraries in virtual time use the same interface
//! as the model.
//!
//! The model, [`Quic`], consists of loosely coupled parts whose parameters are in [`QuicConfig`]: ACK policy
//! ([`ack_policy`]), pacing ([`pacer`]), the congestion window ([`window`], with [`cubic`], [`hystart`] and
//! [`prr`], or a TCP congestion controller, [`TcpControl`]), loss detection ([`loss`]), timers ([`timers`]),
//! flow control and streams. [`Preset`] names sets of parameters.

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

/// Segment size of Chromium's congestion control in bytes, independent of the packet size.
// spec: quic_constants.h kDefaultTCPMSS (Chromium 62).
pub const MSS: u32 = 1_460;
