//! A congestion controller of one's own, over a bottleneck, beside quinn's:
//!
//! ```text
//! cargo run --release -p stillair-quinn --example own_controller
//! ```
//!
//! The controller is a window that follows the delay: it grows while the queue that it makes is short, and shrinks in
//! proportion when it is not. It is written as for quinn on a socket; nothing in it knows of virtual time.

#![allow(
    clippy::disallowed_types,
    reason = "quinn's trait names the standard library's instants; none is made here"
)]

#[path = "../tests/quinn/bench.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod bench;

use std::any::Any;
use std::sync::Arc;

use stillair_model::transport::quic::Role;
use stillair_model::vocabulary::Seed;
use stillair_quinn::clock::{StdDuration, StdInstant};
use stillair_quinn::quinn_proto::RttEstimator;
use stillair_quinn::quinn_proto::congestion::{Controller, ControllerFactory};
use stillair_quinn::{Factory, QuinnStack, Settings};

/// Delay that the controller lets its queue have.
const TARGET: StdDuration = StdDuration::from_millis(5);

/// Makes controllers with a first window.
#[derive(Debug)]
struct ByDelayFactory {
    first: u64,
}

impl ControllerFactory for ByDelayFactory {
    fn build(self: Arc<Self>, _: StdInstant, mtu: u16) -> Box<dyn Controller> {
        Box::new(ByDelay { first: self.first, window: self.first, mtu: mtu.into(), cut: None })
    }
}

#[derive(Clone, Debug)]
struct ByDelay {
    first: u64,
    window: u64,
    mtu: u64,
    /// When the window was last made smaller: once a round trip is enough.
    cut: Option<StdInstant>,
}

impl ByDelay {
    fn cut(&mut self, now: StdInstant, sent: StdInstant, part: u64) {
        if self.cut.is_none_or(|cut| cut < sent) {
            self.cut = Some(now);
            self.window = (self.window - self.window / part).max(2 * self.mtu);
        }
    }
}

impl Controller for ByDelay {
    fn on_ack(
        &mut self,
        now: StdInstant,
        sent: StdInstant,
        bytes: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        if rtt.get() > rtt.min() + TARGET {
            self.cut(now, sent, 8);
        } else if !app_limited {
            // Twice the window in a round trip until the delay has been seen once, one packet after that.
            self.window += if self.cut.is_none() { bytes } else { self.mtu * bytes / self.window };
        }
    }

    fn on_congestion_event(&mut self, now: StdInstant, sent: StdInstant, _: bool, _: u64) {
        self.cut(now, sent, 2);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.mtu = new_mtu.into();
    }

    fn window(&self) -> u64 {
        self.window
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.first
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

fn main() {
    for (name, own) in
        [("quinn's cubic", None), ("by delay", Some(Arc::new(ByDelayFactory { first: 14_520 })))]
    {
        let mut ends = [(Role::Client, "client"), (Role::Server, "server")].map(|(role, name)| {
            let mut parts = Settings::QUINN.parts();
            if let Some(own) = &own {
                parts.controller = own.clone() as Factory;
            }
            QuinnStack::new(role, parts, &mut Seed { seed: 1, run: 0 }.stream(name))
        });
        let seen = bench::download(&mut ends, 10_000_000, 1, [bench::Fifo::PLAIN; 2], 1);
        let server = &seen.snapshots[1];
        println!(
            "{name}: {}.{} Mbit/s, {} packets lost, smoothed round-trip time at the end {:?}",
            seen.kbps() / 1_000,
            seen.kbps() % 1_000 / 100,
            server.lost,
            server.srtt.unwrap_or_default()
        );
    }
}
