//! Runs the model in virtual time: event queue, world, scenarios and recorder.
//!
//! # Where to start
//!
//! | for | type |
//! |---|---|
//! | a network, read from TOML and checked | [`scenario::Scenario`], by [`scenario::parse`] |
//! | one run and its figures | [`api::run_once`], a [`recorder::RunSummary`] |
//! | many runs, as JSON | [`api::run`] of an [`api::Request`] |
//! | a run step by step, with its sockets and series | [`run::Session`] |
//! | a world that packets from outside enter and leave | [`world::World`], by [`world::wire`] |
//! | every event as it happens | [`stillair_model::types::Sink`], with a [`recorder::Recorder`] in it |
//! | frames as bytes | [`api::capture`] |
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
//! An error has the place, what was found, and what is expected:
//!
//! ```
//! let error = stillair_sim::scenario::parse("duration = \"5 minutes\"", "link.toml", &[]).unwrap_err();
//! assert!(error.to_string().starts_with("link.toml:1: "), "{error}");
//! ```
//!
//! # Packets from outside
//!
//! A node with `host = "external"` has no sockets. A driver owns time, puts packets in, and takes out packets
//! that arrive.
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
//!     let next = world.next_event().expect("it is under way");
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
