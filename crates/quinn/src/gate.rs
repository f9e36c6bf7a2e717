//! The pacing gate: quinn cannot disable its pacer, but a controller can do so.
//!
//! After the handshake, [`Connection::poll_transmit`](quinn_proto::Connection::poll_transmit) for one
//! datagram asks the controller for its window at most twice: first to check that the datagram fits, then for
//! the pacer, which is inactive for windows above 2^32 bytes. With pacing off, the gate therefore returns
//! such a window to the second call. quinn does not guarantee this order: its version is pinned, more than
//! two calls end the run, and a test checks the trace with pacing off.
//!
//! While handshake keys exist, several encryption levels may ask in one call, and the gate changes no result.

#![allow(
    clippy::disallowed_types,
    reason = "quinn's trait names the standard library's instants; none is made here"
)]

use std::any::Any;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};
use stillair_model::types::{LongPacket, LongPackets};

use crate::clock::StdInstant;
use crate::ledger::Ledger;

/// A shared controller factory: quinn's own, this crate's, or yours.
pub type Factory = Arc<dyn ControllerFactory + Send + Sync>;

/// State shared between a stack and its controller and keys, which are owned by quinn. All run on one thread;
/// the trait bounds require the atomics and the lock.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// True while a datagram is polled and calls are counted.
    armed: AtomicBool,
    /// Calls of the window function since then.
    asked: AtomicU32,
    /// Number of the last packet sent, or [`NONE`].
    last_sent: AtomicU64,
    in_flight: AtomicU64,
    ledger: Mutex<Ledger>,
    /// Handshake packets in the datagram being built.
    long: Mutex<LongPackets>,
}

/// No packet sent yet.
const NONE: u64 = u64::MAX;

impl Watch {
    pub(crate) fn new() -> Self {
        Self { last_sent: AtomicU64::new(NONE), ..Self::default() }
    }

    /// Starts counting calls of the window function.
    pub(crate) fn arm(&self) {
        self.asked.store(0, Relaxed);
        self.armed.store(true, Relaxed);
    }

    /// Stops counting. Returns the number of calls.
    pub(crate) fn disarm(&self) -> u32 {
        self.armed.store(false, Relaxed);
        self.asked.load(Relaxed)
    }

    /// Number of the last packet sent.
    pub(crate) fn last_sent(&self) -> Option<u64> {
        Some(self.last_sent.load(Relaxed)).filter(|number| *number != NONE)
    }

    /// Fate of packets.
    pub(crate) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().expect("nothing panics while it holds the ledger")
    }

    /// Records an application-level packet that is about to be sent.
    pub(crate) fn on_written(&self, number: u64, bytes: u64, content: &[u8]) {
        self.last_sent.store(number, Relaxed);
        self.ledger().on_written(number, bytes, content);
    }

    /// Records a handshake packet that is about to be sent.
    pub(crate) fn on_long(&self, packet: LongPacket) {
        self.long.lock().expect("nothing panics while it holds them").push(packet);
    }

    /// Handshake packets since the last call.
    pub(crate) fn take_long(&self) -> LongPackets {
        core::mem::take(&mut *self.long.lock().expect("nothing panics while it holds them"))
    }

    /// Bytes in flight.
    pub(crate) fn in_flight(&self) -> u64 {
        self.in_flight.load(Relaxed)
    }
}

/// Factory of controllers behind a gate.
pub(crate) struct Gate {
    pub(crate) inner: Factory,
    pub(crate) pacing: bool,
    pub(crate) watch: Arc<Watch>,
}

impl ControllerFactory for Gate {
    fn build(self: Arc<Self>, now: StdInstant, current_mtu: u16) -> Box<dyn Controller> {
        let inner = self.inner.clone().build(now, current_mtu);
        Box::new(Gated { inner, pacing: self.pacing, watch: self.watch.clone() })
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate").field("pacing", &self.pacing).finish_non_exhaustive()
    }
}

struct Gated {
    inner: Box<dyn Controller>,
    pacing: bool,
    watch: Arc<Watch>,
}

impl Controller for Gated {
    fn on_sent(&mut self, now: StdInstant, bytes: u64, last_packet_number: u64) {
        self.watch.last_sent.store(last_packet_number, Relaxed);
        if self.watch.ledger().on_sent() {
            self.watch.in_flight.store(self.watch.in_flight() + bytes, Relaxed);
        }
        self.inner.on_sent(now, bytes, last_packet_number);
    }

    fn on_ack(
        &mut self,
        now: StdInstant,
        sent: StdInstant,
        bytes: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.inner.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(&mut self, now: StdInstant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.watch.in_flight.store(in_flight, Relaxed);
        self.inner.on_end_acks(now, in_flight, app_limited, largest);
    }

    fn on_congestion_event(&mut self, now: StdInstant, sent: StdInstant, persistent: bool, lost_bytes: u64) {
        self.watch.in_flight.store(self.watch.in_flight().saturating_sub(lost_bytes), Relaxed);
        self.watch.ledger().on_lost(lost_bytes);
        self.inner.on_congestion_event(now, sent, persistent, lost_bytes);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.inner.on_mtu_update(new_mtu);
    }

    fn window(&self) -> u64 {
        if self.watch.armed.load(Relaxed) {
            let asked = self.watch.asked.load(Relaxed) + 1;
            self.watch.asked.store(asked, Relaxed);
            if asked == 2 && !self.pacing {
                return u64::MAX;
            }
        }
        self.inner.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.inner.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self { inner: self.inner.clone_box(), pacing: self.pacing, watch: self.watch.clone() })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    // Callers look for the inner controller's type.
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self.inner.into_any()
    }
}
