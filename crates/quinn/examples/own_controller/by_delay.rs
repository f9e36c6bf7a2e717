//! A user-defined congestion controller with a delay-based window: it grows while its queue is short, and
//! shrinks in proportion to the excess delay. The code also works with quinn on a socket.

#![allow(
    clippy::disallowed_types,
    reason = "quinn's trait names the standard library's instants; none is made here"
)]

use std::any::Any;
use std::sync::Arc;

use stillair_quinn::clock::{StdDuration, StdInstant};
use stillair_quinn::quinn_proto::RttEstimator;
use stillair_quinn::quinn_proto::congestion::{Controller, ControllerFactory};

/// Target queueing delay.
const TARGET: StdDuration = StdDuration::from_millis(5);

/// Creates controllers with a given initial window.
#[derive(Debug)]
pub struct ByDelayFactory {
    /// Initial window in bytes.
    pub first: u64,
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
    /// Time of the last window reduction, at most one per round trip.
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
            // Doubles the window per round trip until the first reduction, then adds one packet per round
            // trip.
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
