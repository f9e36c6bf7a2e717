//! Runs the model in virtual time: event queue, world, scenarios and recorder.
//!
//! # Where to start
//!
//! | task | type |
//! |---|---|
//! | read and check a network from TOML | [`scenario::Scenario`], from [`scenario::parse`] |
//! | run once and get the results | [`api::run_once`], which returns a [`recorder::RunSummary`] |
//! | run many times, with results as JSON | [`api::run`] with an [`api::Request`] |
//! | run step by step, with access to sockets and series | [`run::Session`] |
//! | exchange packets with external hosts | [`world::World`], from [`world::wire`] |
//! | observe every event | [`stillair_model::types::Sink`], containing a [`recorder::Recorder`] |
//! | capture frames as bytes | [`api::capture`] |
//!
//! # A run
//!
//! ```
//! use stillair_model::types::Seed;
//! use stillair_sim::{api, scenario};
//!
//! let text = r#"
//!     name = "a link"
//!     duration = "1 s"
//!     [link.lan]
//!     rate = "10 Mbit/s"
//!     delay = "5 ms"
//!     [node.server]
//!     profile = "linux-6.12"
//!     interface.eth0 = { link = "lan", address = "10.0.0.1", qdisc = "fq_codel" }
//!     [node.client]
//!     profile = "linux-6.12"
//!     interface.eth0 = { link = "lan", address = "10.0.0.2" }
//!     [[flow]]
//!     kind = "ping"
//!     from = "client"
//!     to = "server"
//!     interval = "100 ms"
//! "#;
//! let scenario = scenario::parse(text, "link.toml", &[])?;
//! let summary = api::run_once(&scenario, Seed { seed: 1, run: 0 })?;
//! let ping = summary.pings.values().next().expect("a ping");
//! let median_ms = ping.median_ms.expect("some pings come back");
//! assert!(median_ms > 10.0 && median_ms < 10.3, "{median_ms}");
//! assert_eq!((ping.lost, ping.loss), (0, Some(0.0)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Errors
//!
//! An error names the location, the value found, and the expected value:
//!
//! ```
//! let error = stillair_sim::scenario::parse("duration = \"5 minutes\"", "link.toml", &[]).unwrap_err();
//! assert!(error.to_string().starts_with("link.toml:1: "), "{error}");
//! ```
//!
//! # External packets
//!
//! A node with `host = "external"` has no sockets. A driver controls the time, enters packets, and reads the
//! packets that arrive.
//!
//! ```
//! use stillair_model::types::{Addr, Duration, IfId, Instant, Seed, linear_truesize};
//! use stillair_sim::world::{Entering, wire};
//!
//! let text = r#"
//!     name = "external"
//!     duration = "1 s"
//!     link.lan = { rate = "10 Mbit/s", delay = "5 ms" }
//!     node.a = { profile = "linux-6.12", host = "external", interface.eth0 = { link = "lan", address = "10.0.0.1" } }
//!     node.b = { profile = "linux-6.12", host = "external", interface.eth0 = { link = "lan", address = "10.0.0.2" } }
//! "#;
//! let scenario = stillair_sim::scenario::parse(text, "external.toml", &[])?;
//! let mut world = wire(&scenario, Seed { seed: 1, run: 0 }, |recorder| recorder).world;
//!
//! // 28 bytes of UDP over IPv4, in a network that numbers its interfaces in the order of the file.
//! let mut bytes = [0_u8; 28];
//! bytes[0] = 0x45;
//! bytes[3] = 28;
//! bytes[8] = 64;
//! let (src, dst) = (Addr(0), Addr(1));
//! let truesize = linear_truesize(28);
//! let packet = Entering { at: IfId(0), bytes: &bytes, src, dst, flow_hash: 0, tos: 0, ttl: 64, truesize, token: Some(7) };
//! world.advance(Instant::ZERO + Duration::from_millis(10));
//! world.enter(&packet)?;
//! world.put_through();
//!
//! let mut out = Vec::new();
//! while world.left(&mut out).is_none() {
//!     let next = world.next_event().expect("a packet in flight");
//!     world.advance(next);
//!     world.put_through();
//! }
//! assert_eq!(out.len(), 28);
//! assert_eq!(world.ended(), Some(7));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod api;
#[cfg(feature = "threads")]
pub mod batch;
pub mod capture;
pub mod engine;
pub mod recorder;
pub mod run;
pub mod scenario;
pub mod trace_file;
pub mod world;

pub use scenario::parts;
