//! The pacing gate: quinn has no switch for its pacer, but a controller can act as one.
//!
//! Once the handshake is over, [`Connection::poll_transmit`](quinn_proto::Connection::poll_transmit) for one
//! datagram asks the controller for its window at most twice: first to see whether the datagram fits the
//! window, then for the pacer, which stands aside where the window is above 2^32 bytes. So with pacing off,
//! the gate answers the second question with such a window. quinn does not guarantee that order: its version
//! is pinned, more than two questions end the run, and a test checks the trace with pacing off.
//!
//! While handshake keys exist, several levels may ask in one call, and the gate changes no answer.

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

/// What a stack shares with its controller and its keys, which live inside the library. All are used by one
/// thread: atomics and the lock are what the library's bounds ask for.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// A datagram is being polled for, and questions are to be counted.
    armed: AtomicBool,
    /// Questions since then.
    asked: AtomicU32,
    /// Number of the packet that was sent last; none before the first.
    last_sent: AtomicU64,
    in_flight: AtomicU64,
    ledger: Mutex<Ledger>,
    /// Packets of the handshake in the datagram that is being made.
    long: Mutex<LongPackets>,
}

/// No packet yet.
const NONE: u64 = u64::MAX;

impl Watch {
    pub(crate) fn new() -> Self {
        Self { last_sent: AtomicU64::new(NONE), ..Self::default() }
    }

    /// Questions are counted from now on.
    pub(crate) fn arm(&self) {
        self.asked.store(0, Relaxed);
        self.armed.store(true, Relaxed);
    }

    /// Questions are no longer counted; how many there were.
    pub(crate) fn disarm(&self) -> u32 {
        self.armed.store(false, Relaxed);
        self.asked.load(Relaxed)
    }

    /// The packet that was sent last.
    pub(crate) fn last_sent(&self) -> Option<u64> {
        Some(self.last_sent.load(Relaxed)).filter(|number| *number != NONE)
    }

    /// What has become of packets.
    pub(crate) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().expect("nothing panics while it holds the ledger")
    }

    /// A packet of the application's level is about to be sent.
    pub(crate) fn on_written(&self, number: u64, bytes: u64, content: &[u8]) {
        self.last_sent.store(number, Relaxed);
        self.ledger().on_written(number, bytes, content);
    }

    /// A packet of the handshake is about to be sent.
    pub(crate) fn on_long(&self, packet: LongPacket) {
        self.long.lock().expect("nothing panics while it holds them").push(packet);
    }

    /// The packets of the handshake since the last time.
    pub(crate) fn take_long(&self) -> LongPackets {
        core::mem::take(&mut *self.long.lock().expect("nothing panics while it holds them"))
    }

    /// Bytes in flight.
    pub(crate) fn in_flight(&self) -> u64 {
        self.in_flight.load(Relaxed)
    }
}

/// Builds controllers behind a gate.
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

    // What is looked for is the controller behind the gate.
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self.inner.into_any()
    }
}
