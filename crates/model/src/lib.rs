//! The Wi-Fi path as pure algorithms: no clock, no I/O, no event queue, no `std`.
//!
//! Every component takes the time as an argument, acts on the world through a context ([`types::Ctx`]) and
//! returns the time of its next call. Folders are in stack order; `docs/architecture.md` follows a packet
//! through them.
//!
//! # Where to start
//!
//! | for | type |
//! |---|---|
//! | time | [`types::Instant`], [`types::Duration`]: whole nanoseconds |
//! | random numbers | [`types::Seed`] and its [`types::RandomStream`]s, one per component |
//! | packets | [`types::Packets`] owns them; [`types::Pkt`] is a handle |
//! | a `tc` queueing discipline | [`qdisc::Qdisc`], created from a [`qdisc::QdiscConfig`] |
//! | CoDel, PIE, COBALT | [`aqm`] |
//! | a congestion control | [`transport::cc::Controller`], and [`transport::cc::Cc`] for the twelve built-in ones |
//! | a TCP socket | [`transport::tcp::socket::Tcp`] |
//! | a QUIC connection | [`transport::quic::Stack`] |
//! | a wired device and its link | [`wire::Wire`] |
//! | a Wi-Fi device | [`wifi::dev::WifiDev`]; [`wifi::driver`] queues and schedules, [`wifi::rate`] selects rates |
//! | the air | [`wifi::air::medium::Medium`]; [`wifi::phy`] has rates, durations and errors |
//!
//! # A queue
//!
//! ```
//! use stillair_model::qdisc::fq_codel::FqCodelParams;
//! use stillair_model::qdisc::{Enqueue, Qdisc, QdiscConfig};
//! use stillair_model::types::{Ctx, Fate, Instant, NewPacket, NoSink, Packets, PlaceId, Seed};
//!
//! let mut stream = Seed { seed: 1, run: 0 }.stream("example");
//! let config = QdiscConfig::FqCodel(FqCodelParams::default());
//! let mut queue = Qdisc::new(&config, PlaceId(0), &mut stream).expect("a qdisc other than noqueue");
//!
//! let (mut packets, mut trace, now) = (Packets::new(), NoSink, Instant::ZERO);
//! let p = packets.create(NewPacket { now, len: 1500, ..NewPacket::PLAIN });
//! let mut ctx = Ctx { packets: &mut packets, trace: &mut trace };
//! assert_eq!(queue.enqueue(now, p, &mut ctx), Enqueue::Queued);
//! assert_eq!(queue.backlog(), (1, 1514)); // with the Ethernet header, as tc counts
//!
//! let p = queue.dequeue(now, &mut ctx).expect("fq_codel holds nothing back");
//! packets.free(p, Fate::Delivered);
//! ```
//!
//! # The duration of a PPDU
//!
//! ```
//! use stillair_model::types::Duration;
//! use stillair_model::wifi::phy::{PhyRate, ppdu_duration_without_extension};
//!
//! let rate = PhyRate::parse("ht20-mcs15-lgi")?;
//! // Two streams: 40 us of preamble, then 24 symbols of 4 us with 520 bits each.
//! assert_eq!(ppdu_duration_without_extension(rate, 1538), Duration::from_micros(136));
//! # Ok::<(), String>(())
//! ```

#![no_std]

extern crate alloc;
#[cfg(any(test, feature = "check"))]
extern crate std;

pub mod app;
pub mod aqm;
#[cfg(any(test, feature = "check"))]
pub mod conformance;
pub mod metrics;
pub mod node;
pub mod offload;
pub mod qdisc;
pub mod sched;
pub mod transport;
pub mod types;
pub mod wifi;
pub mod wire;
