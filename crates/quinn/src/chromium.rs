//! The model's congestion window behind quinn's controller trait: Cubic for several connections, hybrid slow
//! start, and proportional rate reduction.

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

/// A controller factory with windows of the model.
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

/// Packets before the newest acknowledged one that may still be acknowledged; older ones were
/// acknowledgements themselves, or are lost.
const MEMORY: u64 = 4_096;

/// A controller with a window of the model. quinn reports less than Chromium's window uses:
///
/// - A packet has only the number of its datagram, counted over all encryption levels.
/// - quinn reports what an acknowledgement lost after what it acknowledged; Chromium sees losses first.
/// - Acknowledgement delays are not reported, so round-trip samples include them.
// deviation: these three - quinn's trait has nothing else.
#[derive(Clone, Debug)]
struct Adapter {
    params: WindowParams,
    window: Window,
    rtt: QuicRtt,
    mtu: u64,
    /// Number of the newest datagram, from 1 on.
    number: u64,
    /// As quinn said with the last acknowledgement, and what was sent and lost since.
    in_flight: u64,
    /// Datagrams that may be acknowledged: number, time, and whether it is still awaited.
    sent: VecDeque<(u64, Instant, bool)>,
    /// What the acknowledgement that is being read acknowledges.
    acked: Vec<Counted>,
    /// When the newest of these was sent.
    newest: Option<Instant>,
}

impl Adapter {
    /// The first datagram of a time that is still awaited.
    fn find(&mut self, sent: Instant) -> u64 {
        let from = self.sent.partition_point(|(_, at, _)| *at < sent);
        let same = self.sent.range_mut(from..).take_while(|(_, at, _)| *at == sent);
        for (number, _, awaited) in same {
            if core::mem::take(awaited) {
                return *number;
            }
        }
        // Not remembered: something old.
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
        // The newest one that was lost; those before it are acknowledged or lost too.
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

    // quinn compares what is in flight, and the next datagram, with the window. While losses are repaired, it
    // is reduction in proportion that decides: the answer leaves room for that datagram or for none.
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
        // As quinn's own controls say that there is none yet: a control without thresholds says nothing.
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
