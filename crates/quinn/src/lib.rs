//! A real QUIC stack in virtual time: `quinn-proto` behind the model's trait
//! [`Stack`](stillair_model::transport::quic::Stack).
//!
//! [`QuinnStack`] is one end of one connection: quinn's endpoint and connection. Time is an argument, and the
//! random values that quinn would request from the operating system come from a given random stream. The same
//! stream, with the same datagrams at the same times, produces the same datagrams, byte for byte.
//!
//! # Differences from quinn on a socket
//!
//! The protocol is unchanged: packets, frames, loss detection, timers, flow control, pacing and congestion
//! control are quinn's. The clock, the random numbers and, by default, the cryptography are replaced
//! ([`SimNull`]: a handshake and packets of the same sizes without encryption, for simulation only). With the
//! feature `tls`, `QuinnParts::with_tls` uses rustls. Datagrams are sent one by one, without segmentation
//! offload. Replies of an endpoint without a connection (version negotiation, stateless resets) are not sent.
//!
//! # Your own congestion controller
//!
//! Implement quinn's [`Controller`](quinn_proto::congestion::Controller) and
//! [`ControllerFactory`](quinn_proto::congestion::ControllerFactory), as for quinn on a socket, and set it as
//! the factory in the [`QuinnParts`] of an end:
//!
//! ```ignore
//! let mut parts = Settings::QUINN.parts();
//! parts.controller = Arc::new(MyFactory::default());
//! let server = QuinnStack::new(Role::Server, parts, &mut seed.stream("server"));
//! ```
//!
//! `QuinnParts` also accepts any of quinn's transport options. The example `own_controller` runs a
//! user-defined controller over a bottleneck.
//!
//! A controller must take the time from its arguments. It must not count calls of its window function,
//! because their number differs between versions of quinn.

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
