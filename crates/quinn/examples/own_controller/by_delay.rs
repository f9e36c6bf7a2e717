//! A congestion controller of one's own: a window that follows the delay. It grows while the queue that it
//! makes is short, and shrinks in proportion when it is not. It is written as for quinn on a socket; nothing
//! in it knows of virtual time.

#![allow(
    clippy::disallowed_types,
    reason = "quinn's trait names the standard library's instants; none is made here"
)]

use std::any::Any;
use std::sync::Arc;

use stillair_quinn::clock::{StdDuration, StdInstant};
use stillair_quinn::quinn_proto::RttEstimator;
use stillair_quinn::quinn_proto::congestion::{Controller, ControllerFactory};

/// Delay that the controller lets its queue have.
const TARGET: StdDuration = StdDuration::from_millis(5);

/// Makes controllers with a first window in bytes.
#[derive(Debug)]
pub struct ByDelayFactory {
    /// The first window.
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
