//! A real QUIC stack in virtual time: `quinn-proto` behind the model's trait [`Stack`](stillair_model::transport::quic::Stack).
//!
//! [`QuinnStack`] is one end of one connection: quinn's endpoint and connection, with time as an argument and with everything
//! that quinn would draw from the operating system made from a given stream of random numbers. The same stream and the same
//! datagrams at the same times make the same datagrams, byte for byte.
//!
//! # What differs from quinn on a socket
//!
//! Nothing in the protocol: packets, frames, loss detection, timers, flow control, pacing and congestion control are quinn's.
//! What is replaced are the clock, the random numbers, and by default the cryptography ([`SimNull`]: a handshake and packets
//! of the same sizes without any encryption; never to be shipped). With the feature `tls`, `Parts::with_tls` puts rustls there.
//! Datagrams are sent one by one, without segmentation offload. Replies of an endpoint without a connection (version
//! negotiation, stateless resets) are not sent.
//!
//! # A congestion controller of one's own
//!
//! Implement quinn's [`Controller`](quinn_proto::congestion::Controller) and
//! [`ControllerFactory`](quinn_proto::congestion::ControllerFactory), as for quinn on a socket, and put the factory into the
//! [`QuinnParts`] of an end:
//!
//! ```ignore
//! let mut parts = Settings::QUINN.parts();
//! parts.controller = Arc::new(MyFactory::default());
//! let server = QuinnStack::new(Role::Server, parts, &mut seed.stream("server"));
//! ```
//!
//! `Parts` also takes any of quinn's transport options. The example `own_controller` runs one over a bottleneck.
//!
//! A controller has to take its time from its arguments; and it must not count how often its window is asked for, since
//! that differs between versions.

mod chromium;
pub mod clock;
mod content;
mod gate;
mod identity;
mod ledger;
mod settings;
mod sim_null;
mod stack;
mod tap;
#[cfg(feature = "tls")]
mod tls;

pub use quinn_proto;

pub use chromium::Chromium;
pub use gate::Factory;
pub use settings::{AckFrequency, Congestion, QuinnParts, Settings};
pub use sim_null::SimNull;
pub use stack::QuinnStack;
