//! A simulated Wi-Fi path for testing transport protocols: in virtual time, without I/O, and with the same
//! packets for the same seed.
//!
//! A [`Link`] accepts UDP datagrams from its endpoints and returns them when they arrive. The network
//! between the endpoints is a [`Path`]: a preset, your own scenario as text, or a scenario built in Rust. The
//! scenario defines stations, access points, other traffic, qdiscs, rates and losses.
//!
//! ```
//! use std::time::Duration;
//! use stillair_link::{Link, Mark, Poll};
//!
//! let mut link = Link::preset("home-80211ac-far", 1)?; // the path and a seed
//! let (client, server) = (link.endpoint("client")?, link.endpoint("server")?);
//! link.send(Duration::from_millis(5), client.to(server), b"hello", Mark::ECT_0)?;
//! let Poll::Packet(packet) = link.poll(Duration::from_secs(1))? else { panic!("it was lost") };
//! assert_eq!((packet.to, link.payload()), (server, &b"hello"[..]));
//! assert!(packet.delay() > Duration::from_millis(1) && packet.delay() < Duration::from_millis(100));
//! let seen = link.finish()?; // an error if the accounting does not balance
//! assert_eq!(seen.hosts["client"].from.packets, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Time
//!
//! Time is an argument: the duration since the start of the link. Call [`Link::poll`] with the time of your
//! stack's next timer. The link advances to that time, or to an earlier packet arrival, and never further, so
//! an answer can be sent at the exact arrival time. A time before the link's own, or after the end of the
//! scenario, is an error.
//!
//! The link starts after the scenario's `warm_up`, so other traffic is already running. The warm-up is
//! simulated when the link is first used.
//!
//! # Testing a transport
//!
//! ```text
//! loop {
//!     for each datagram that the stack wants to send:  link.send(now, from.to(to), bytes, mark)?
//!     match link.poll(the stack's next timer)? {
//!         Poll::Packet(packet) => now = packet.at, pass link.payload() and packet.ecn to the stack
//!         Poll::Writable(endpoint) => the endpoint may send again
//!         Poll::Wait(_) => now = the timer, let the stack handle it
//!     }
//! }
//! ```
//!
//! The adapters for quinn, noq, s2n-quic, str0m and ngtcp2 work this way (`adapters/` in the repository).
//!
//! # Feedback from the sending host
//!
//! [`Link::send`] returns what the first queue did with a packet. [`Link::with_back_pressure`] gives an
//! endpoint one socket with limited memory, such as a send buffer or the limit of TCP small queues. A full
//! socket refuses datagrams until packets have left its host.
//!
//! # Presets
//!
//! [`presets`] lists them. Each preset file states the sources of its numbers and its unsupported uses
//! ([`Preset::sources`], [`Preset::not_for`]). A preset has the endpoints `client` and `server`, and the
//! modelled hosts `rival` and `rival-server`, between which a scenario may add traffic.

pub mod budget;
mod datagram;
mod error;
mod header;
mod link;
mod path;
mod pressure;
mod session;

pub use datagram::{Endpoint, Mark, Packet, Payload, Poll, Sent, Way};
pub use error::{LinkError, SendError, TimeError};
pub use link::Link;
pub use path::Path;
pub use pressure::BackPressure;
pub use stillair_model::qdisc::Enqueue;
pub use stillair_sim::recorder::{
    HostSummary, HostTraffic, RunSummary as Statistics, SojournReport, SojournTimes,
};
pub use stillair_sim::scenario::paths::{Preset, presets};

/// Types to build a scenario in Rust.
pub mod build {
    pub use stillair_model::types::{Duration, Rate};
    pub use stillair_model::wifi::phy::{Band, PhyRate, Width};
    pub use stillair_sim::scenario::Scheme;
    pub use stillair_sim::scenario::builder::{
        ChannelBuilder, FlowBuilder, InterfaceBuilder, LinkBuilder, NodeBuilder, ScenarioBuilder, Setting,
    };
}

/// Formats a link's statistics as JSON, in the format of a run's result.
///
/// # Errors
/// The statistics cannot be written as JSON.
pub fn to_json(seen: &Statistics) -> Result<String, LinkError> {
    serde_json::to_string(seen).map_err(|e| LinkError::Run(format!("cannot write the result: {e}")))
}
