//! A Wi-Fi path inside the tests of a transport: in virtual time, without I/O, the same packets for the same seed.
//!
//! A [`Link`] takes datagrams of UDP from its endpoints and gives them back when they arrive. Between lie stations, an access point, their
//! queues and the air of a [`Path`]: a preset, a scenario of one's own as text, or one that is built in Rust. Other stations and their traffic,
//! queueing disciplines, rates and losses are those of the scenario.
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
//! let seen = link.finish()?; // accounts close, or it is an error
//! assert_eq!(seen.hosts["client"].from.packets, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Time
//!
//! Time is an argument: what has passed since the link began. Who drives the link calls [`Link::poll`] with the time of the next timer of their
//! own; the link goes on until then, or until a packet arrives before, and never past it. So the answer to a packet can be sent at the very
//! instant at which the packet came. A time before the link's own is an error, as is one after the end of the scenario.
//!
//! When the link begins, the scenario's `warm_up` has passed: other traffic is under way. It is run when the link is used first.
//!
//! # A test of a transport
//!
//! ```text
//! loop {
//!     for each datagram that the stack wants to send:  link.send(now, from.to(to), bytes, mark)?
//!     match link.poll(the stack's next timer)? {
//!         Poll::Packet(packet) => now = packet.at, and the stack takes in link.payload() with packet.ecn
//!         Poll::Writable(endpoint) => that endpoint may send again
//!         Poll::Wait(_) => now = the timer, and the stack handles it
//!     }
//! }
//! ```
//!
//! Adapters for quinn, noq, s2n-quic, str0m and ngtcp2 do so (`adapters/` of the repository).
//!
//! # What the sending host tells
//!
//! [`Link::send`] says what the first queue did with a packet. [`Link::with_back_pressure`] makes an endpoint a socket with limited memory, which
//! refuses more until packets have left its host: by its send buffer, or by a limit such as TCP small queues'.
//!
//! # Presets
//!
//! [`presets`] lists them. Each file says where its numbers come from and what it must not be used for ([`Preset::sources`],
//! [`Preset::not_for`]). A preset has the endpoints `client` and `server`, and the modelled hosts `rival` and `rival-server` beside them, between
//! which a scenario may add traffic.

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

/// What a scenario is built of, in Rust.
pub mod build {
    pub use stillair_model::vocabulary::{Duration, Rate};
    pub use stillair_model::wifi::phy::{Band, PhyRate, Width};
    pub use stillair_sim::scenario::Scheme;
    pub use stillair_sim::scenario::builder::{
        ChannelBuilder, FlowBuilder, InterfaceBuilder, LinkBuilder, NodeBuilder, ScenarioBuilder, Setting,
    };
}

/// What was seen of a link as JSON, in the form of a run's result.
///
/// # Errors
/// It cannot be written.
pub fn to_json(seen: &Statistics) -> Result<String, LinkError> {
    serde_json::to_string(seen).map_err(|e| LinkError::Run(format!("cannot write the result: {e}")))
}
