//! The model's congestion window behind quinn's controller trait: CUBIC that emulates several connections,
//! hybrid slow start, and proportional rate reduction.

#![allow(
    clippy::disallowed_types,
    reason = "quinn's trait names the standard library's instants; none is made here"
)]

use std::any::Any;
use std::collections::VecDeque;
use std::sync::Arc;

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};
use stillair_model::transport::quic::rtt::QuicRtt;
use stillair_model::transport::quic::window::{Counted, Window, WindowParams};
use stillair_model::types::{Duration, Instant};

use crate::clock::{StdInstant, from_std};

/// Factory of controllers with a window of the model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Chromium(pub WindowParams);

impl ControllerFactory for Chromium {
    fn build(self: Arc<Self>, _: StdInstant, mtu: u16) -> Box<dyn Controller> {
        Box::new(Adapter {
            params: self.0,
            window: Window::new(self.0),
            rtt: QuicRtt::INITIAL,
            mtu: mtu.into(),
            number: 0,
            in_flight: 0,
            sent: VecDeque::new(),
            acked: Vec::new(),
            newest: None,
        })
    }
}

/// Distance in packets from the newest acknowledged one, beyond which older packets are forgotten: they were
/// pure acknowledgements, or are lost.
const MEMORY: u64 = 4_096;

/// A controller with a window of the model. quinn reports less than Chromium's window uses:
///
/// - A packet has only the number of its datagram, counted over all encryption levels.
/// - quinn reports acknowledged packets before the packets lost with the same acknowledgement; Chromium
///   processes losses first.
/// - Acknowledgement delays are not reported, so round-trip samples include them.
// deviation: the three points above - quinn's trait does not provide more.
#[derive(Clone, Debug)]
struct Adapter {
    params: WindowParams,
    window: Window,
    rtt: QuicRtt,
    mtu: u64,
    /// Number of the newest datagram, starting at 1.
    number: u64,
    /// Bytes in flight: quinn's value at the last acknowledgement, plus bytes sent and minus bytes lost
    /// since.
    in_flight: u64,
    /// Datagrams that may be acknowledged: number, send time, and whether the acknowledgement is outstanding.
    sent: VecDeque<(u64, Instant, bool)>,
    /// Packets acknowledged by the acknowledgement being processed.
    acked: Vec<Counted>,
    /// Send time of the newest of them.
    newest: Option<Instant>,
}

impl Adapter {
    /// Finds the first outstanding datagram with this send time. Returns its number.
    fn find(&mut self, sent: Instant) -> u64 {
        let from = self.sent.partition_point(|(_, at, _)| *at < sent);
        let same = self.sent.range_mut(from..).take_while(|(_, at, _)| *at == sent);
        for (number, _, awaited) in same {
            if core::mem::take(awaited) {
                return *number;
            }
        }
        // No longer stored: an old datagram.
        self.sent.front().map_or(self.number, |(number, ..)| *number)
    }

    fn forget(&mut self, newest: u64) {
        while let Some((number, _, awaited)) = self.sent.front()
            && (!awaited || number + MEMORY < newest)
        {
            self.sent.pop_front();
        }
    }
}

impl Controller for Adapter {
    fn on_sent(&mut self, now: StdInstant, bytes: u64, _: u64) {
        self.number += 1;
        self.sent.push_back((self.number, from_std(now), true));
        self.in_flight += bytes;
        self.window.on_sent(self.number, bytes);
    }

    fn on_ack(&mut self, _: StdInstant, sent: StdInstant, bytes: u64, _: bool, _: &RttEstimator) {
        let sent = from_std(sent);
        let number = self.find(sent);
        self.acked.push(Counted { number, bytes });
        self.newest = self.newest.max(Some(sent));
    }

    fn on_end_acks(&mut self, now: StdInstant, in_flight: u64, _: bool, _: Option<u64>) {
        let now = from_std(now);
        let before = in_flight + self.acked.iter().map(|packet| packet.bytes).sum::<u64>();
        self.in_flight = in_flight;
        let Some(sent) = self.newest.take() else { return };
        self.rtt.update(now.saturating_since(sent), Duration::ZERO, false);
        self.window.on_rtt(&self.rtt);
        let mut newest = 0;
        for i in 0..self.acked.len() {
            self.window.on_acked(self.acked[i], before, self.rtt.min, now);
            newest = newest.max(self.acked[i].number);
        }
        self.acked.clear();
        self.forget(newest);
    }

    fn on_congestion_event(&mut self, _: StdInstant, sent: StdInstant, persistent: bool, lost_bytes: u64) {
        let sent = from_std(sent);
        // The newest lost datagram; all before it are acknowledged or lost too.
        let until = self.sent.partition_point(|(_, at, _)| *at <= sent);
        let number = until.checked_sub(1).map_or(0, |last| self.sent[last].0);
        self.window.on_lost(Counted { number, bytes: lost_bytes }, self.in_flight);
        self.in_flight = self.in_flight.saturating_sub(lost_bytes);
        if persistent {
            self.window.on_persistent_congestion();
        }
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.mtu = new_mtu.into();
    }

    // quinn compares bytes in flight plus the next datagram with the window. During loss recovery,
    // proportional rate reduction decides: the returned window has room for that datagram, or for none.
    fn window(&self) -> u64 {
        if self.params.prr && self.window.in_recovery() {
            let room = if self.window.can_send(self.in_flight) { 2 * self.mtu + 1 } else { 0 };
            return self.in_flight + room;
        }
        self.window.cwnd()
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.window.cwnd();
        // u64::MAX means that no threshold is set yet, as in quinn's own controllers; a controller without
        // thresholds reports `None`.
        metrics.ssthresh = Some(self.window.ssthresh().unwrap_or(u64::MAX));
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.params.initial
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
