//! One endpoint of a modelled connection.
//!
//! `receive` parses datagrams and `transmit` builds them. This file holds their shared state, the timer, and
//! the implementation of [`Stack`].

mod receive;
mod transmit;

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::types::{Datagram, Duration, Instant, QuicFrame};

use super::ack_policy::AckPolicy;
use super::config::QuicConfig;
use super::control::Control;
use super::driven::{Flight, TcpControl};
use super::handshake::QuicHandshake;
use super::loss::Loss;
use super::pacer::{Pacer, PacerInput};
use super::received::Received;
use super::rtt::QuicRtt;
use super::sent::SentPackets;
use super::stack::{Connection, Read, Snapshot, Stack, StackEvent, StreamId};
use super::streams::Streams;
use super::timers::{Alarm, QuicTimers};
use super::window::Counted;

/// Role of an endpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QuicRole {
    /// The end that opens the connection.
    Client,
    /// The end that accepts the connection.
    Server,
}

/// One endpoint of the modelled connection.
#[derive(Debug)]
pub struct Quic {
    config: QuicConfig,
    handshake: QuicHandshake,
    streams: Streams,
    // Sender state.
    rtt: QuicRtt,
    sent: SentPackets,
    window: Control,
    pacer: Option<Pacer>,
    loss: Loss,
    timers: QuicTimers,
    /// Packets exempt from window and pacer: a probe, or the packets after a timeout.
    forced: u32,
    /// Number of the first packet sent after a retransmission timeout.
    after_timeout: u64,
    /// Newest packet covered by the last ACK.
    newly: u64,
    // Receiver state.
    received: Received,
    largest_time: Instant,
    acks: AckPolicy,
    /// Consecutive packets sent that are not ack-eliciting.
    bare: u32,
    bytes_received: u64,
    bytes_sent: u64,
    /// Frames to send other than STREAM and CRYPTO.
    control: VecDeque<QuicFrame>,
    closing: bool,
    closed: bool,
    counts: Counts,
    /// Report events through [`Stack::poll_event`].
    tells: bool,
    events: VecDeque<StackEvent>,
    // Buffers reused between calls.
    lost: Vec<u64>,
    landed: Vec<Counted>,
}

/// Counters reported in snapshots.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    sent: u64,
    lost: u64,
    spurious: u64,
    acks_sent: u64,
    acks_received: u64,
    timeouts: u64,
}

impl Quic {
    /// Creates an endpoint before the handshake. With `tells`, losses and the end of slow start are reported
    /// through [`Stack::poll_event`].
    pub fn new(config: QuicConfig, role: QuicRole, tells: bool) -> Self {
        Self::driven(config, role, tells, None)
    }

    /// Like [`Self::new`], with a TCP congestion controller if `control` is given.
    pub fn driven(config: QuicConfig, role: QuicRole, tells: bool, control: Option<TcpControl>) -> Self {
        let client = role == QuicRole::Client;
        let flows = [config.client_flow, config.server_flow];
        let [own, peer] = if client { flows } else { [flows[1], flows[0]] };
        Self {
            config,
            handshake: QuicHandshake::new(config.handshake, client),
            streams: Streams::new(own, peer),
            rtt: QuicRtt::new(config.initial_rtt),
            sent: SentPackets::default(),
            window: Control::new(config.window, config.packet, control),
            pacer: config.pacing.map(Pacer::new),
            loss: Loss::new(config.loss),
            timers: QuicTimers::new(config.timers),
            forced: 0,
            after_timeout: 0,
            newly: 0,
            received: Received::new(config.ack_memory),
            largest_time: Instant::ZERO,
            acks: AckPolicy::new(config.ack),
            bare: 0,
            bytes_received: 0,
            bytes_sent: 0,
            control: VecDeque::new(),
            closing: false,
            closed: false,
            counts: Counts::default(),
            tells,
            events: VecDeque::new(),
            lost: Vec::new(),
            landed: Vec::new(),
        }
    }

    fn tell(&mut self, event: StackEvent) {
        if self.tells {
            self.events.push_back(event);
        }
    }

    /// Inputs of the pacer.
    fn pace(&self) -> PacerInput {
        PacerInput {
            cwnd: self.window.cwnd(),
            srtt: self.rtt.smoothed_or_initial(),
            slow_start: self.window.in_slow_start(),
            recovery: self.window.in_recovery(),
            in_flight: self.sent.in_flight(),
            rate: self.window.rate(),
        }
    }

    /// Detects losses and queues their content for retransmission.
    fn detect_losses(&mut self, now: Instant) {
        self.lost.clear();
        // spec: rfc9002 A.10 - compares with the largest packet ever acknowledged; Chromium 62 uses the
        // largest one of the last ACK.
        // quiche: congestion_control/uber_loss_algorithm.cc DetectLosses (f44fa9f) - as the RFC.
        let newest = if self.config.loss.time { self.sent.largest_observed() } else { self.newly };
        self.loss.detect(&self.sent, now, &self.rtt, newest, &mut self.lost);
        self.counts.lost += self.lost.len() as u64;
        for i in 0..self.lost.len() {
            let number = self.lost[i];
            if self.config.loss.adaptive {
                self.sent.remember_lost(number);
            }
            self.sent.send_again(number);
            self.tell(StackEvent::Lost { number });
        }
    }

    /// Reports acknowledged and lost packets to window and pacer. `in_flight` bytes were in flight before.
    fn congestion_event(&mut self, now: Instant, in_flight: u64, rtt_updated: bool) {
        if !self.lost.is_empty()
            && let Some(pacer) = &mut self.pacer
        {
            pacer.on_lost();
        }
        let persistent = self.is_persistent();
        let window = match &mut self.window {
            Control::Window(window) => window,
            Control::Driven(driven) => {
                for &number in &self.lost {
                    self.sent.land(number);
                }
                let (sent, rtt) = (&self.sent, rtt_updated.then_some(&self.rtt));
                let after = Flight {
                    packets: sent.in_flight_packets(),
                    bytes: sent.in_flight(),
                    least: sent.least(),
                };
                let was = driven.in_slow_start();
                driven.on_event(now, rtt, &self.landed, &self.lost, after, in_flight);
                let exited = was && !driven.in_slow_start() && self.lost.is_empty();
                if persistent {
                    driven.on_timeout();
                }
                if exited {
                    self.tell(StackEvent::SlowStartExit);
                }
                return;
            }
        };
        if rtt_updated {
            window.on_rtt(&self.rtt);
        }
        for &number in &self.lost {
            let bytes = self.sent.land(number).map_or(0, u64::from);
            window.on_lost(Counted { number, bytes }, in_flight);
        }
        if persistent {
            window.on_persistent_congestion();
        }
        for &packet in &self.landed {
            window.on_acked(packet, in_flight, self.rtt.min, now);
        }
        if window.took_exit() {
            self.tell(StackEvent::SlowStartExit);
        }
    }

    /// Returns true if the losses establish persistent congestion as in RFC 9002.
    // deviation: requires that one ACK reveals the losses and that their packet numbers are contiguous.
    fn is_persistent(&self) -> bool {
        if !self.timers.pto().is_some_and(|pto| pto.persistent) || self.rtt.smoothed == Duration::ZERO {
            return false;
        }
        let (Some(&first), Some(&last)) = (self.lost.first(), self.lost.last()) else { return false };
        let time = |number| self.sent.get(number).map_or(Instant::ZERO, |sent| sent.time);
        last - first + 1 == self.lost.len() as u64
            && time(last).saturating_since(time(first)) > self.timers.persistent(&self.rtt)
    }

    /// Returns the next expiry of the loss timer and its purpose.
    fn repair(&self) -> Option<(Instant, Alarm)> {
        // spec: rfc9002 6.2.2.1 - a client probes even with nothing in flight until it knows that the server
        // may send; if the client's ACKs are lost, the server stays blocked and has no timer.
        // deviation: the client knows this once it has the server's complete message; packets it sends after
        // that are in flight until acknowledged. The timer runs from the newest packet of either side instead
        // of the last time it was set.
        let held = || {
            let since = self.largest_time.max(self.sent.last_in_flight());
            (since + self.timers.handshake_probe_timeout(&self.rtt), Alarm::Probe)
        };
        let next = self.timers.next(&self.sent, &self.loss, &self.rtt);
        next.or_else(|| self.handshake.may_hold_up().then(held))
    }

    fn fire(&mut self, now: Instant, alarm: Alarm) {
        self.timers.fired(alarm);
        match alarm {
            Alarm::Loss => {
                let in_flight = self.sent.in_flight();
                self.detect_losses(now);
                self.landed.clear();
                self.congestion_event(now, in_flight, false);
            }
            Alarm::Handshake => {
                self.again(usize::MAX, |sent| sent.crypto);
                self.forced = self.forced.max(1);
            }
            Alarm::Probe => {
                self.forced = 1;
                if let Some(pto) = self.timers.pto() {
                    self.counts.timeouts += 1;
                    if pto.skips {
                        self.sent.skip(now);
                    }
                    // spec: rfc9002 6.2.4 - probes carry data of the packet number space whose timer expired:
                    // handshake data while any is outstanding.
                    self.again(1, |sent| sent.crypto);
                }
                if !self.has_content() {
                    self.again(1, |_| true);
                }
                if !self.has_content() {
                    // A client that probes only to unblock the server.
                    self.control.push_back(QuicFrame::Ping);
                }
            }
            // spec: quic_sent_packet_manager.cc RetransmitRtoPackets (Chromium 62) - sends two packets; the
            // window shrinks once the next ACK shows that the timeout was not spurious.
            Alarm::Timeout => {
                self.counts.timeouts += 1;
                if self.timers.timeouts() == 1 {
                    self.after_timeout = self.sent.next_number();
                }
                self.forced = 2;
                self.again(2, |_| true);
            }
        }
    }

    /// Queues the content of the oldest `most` matching packets in flight for retransmission.
    fn again(&mut self, most: usize, which: impl Fn(&super::sent::SentPacket) -> bool) {
        self.lost.clear();
        let all = self.sent.iter().filter(|(_, s)| s.in_flight && !s.frames.is_empty() && which(s));
        self.lost.extend(all.take(most).map(|(number, _)| number));
        for &number in &self.lost {
            self.sent.send_again(number);
        }
        self.lost.clear();
    }
}

impl Stack for Quic {
    fn connect(&mut self, _: Instant) {
        self.handshake.begin();
    }

    fn on_datagram(&mut self, now: Instant, datagram: &mut Datagram) {
        self.receive(now, datagram);
    }

    fn on_timer(&mut self, now: Instant) {
        if self.closed {
            return;
        }
        self.acks.on_timer(now);
        if let Some(pacer) = &mut self.pacer {
            pacer.on_timer(now);
        }
        if self.forced == 0
            && let Some((at, alarm)) = self.repair()
            && at <= now
        {
            self.fire(now, alarm);
        }
    }

    fn poll_transmit(&mut self, now: Instant, out: &mut Datagram) -> bool {
        self.transmit(now, out)
    }

    fn next_timer(&self) -> Option<Instant> {
        if self.closed {
            return None;
        }
        let repair = match self.forced {
            0 => self.repair().map(|(at, _)| at),
            _ => None,
        };
        let pacer = self.pacer.as_ref().and_then(Pacer::next_timer);
        [repair, pacer, self.acks.next_timer()].into_iter().flatten().min()
    }

    fn connection(&self) -> Connection {
        match (self.closed || self.closing, self.handshake.is_ready()) {
            (true, _) => Connection::Closed,
            (false, true) => Connection::Established,
            (false, false) => Connection::Handshake,
        }
    }

    fn open(&mut self) -> Option<StreamId> {
        (self.connection() == Connection::Established).then(|| StreamId(self.streams.open().into()))
    }

    fn write(&mut self, _: Instant, stream: StreamId, bytes: u64) -> u64 {
        self.streams.write(stream.0 as u32, bytes);
        bytes
    }

    fn finish(&mut self, _: Instant, stream: StreamId) {
        self.streams.finish(stream.0 as u32);
    }

    fn next_readable(&mut self) -> Option<StreamId> {
        self.streams.next_readable().map(|id| StreamId(id.into()))
    }

    fn read(&mut self, now: Instant, stream: StreamId) -> Read {
        let id = stream.0 as u32;
        let (read, limits) = self.streams.read(id, now, self.rtt.smoothed);
        let frames = [(Some(id), limits.stream), (None, limits.connection)];
        let frames =
            frames.into_iter().filter_map(|(id, limit)| Some(QuicFrame::Window { id, limit: limit? }));
        self.control.extend(frames);
        read
    }

    fn close(&mut self, _: Instant) {
        self.closing = true;
    }

    fn snapshot(&self, _: Instant) -> Snapshot {
        let measured = |time| (self.rtt.smoothed != Duration::ZERO).then_some(time);
        Snapshot {
            cwnd: self.window.cwnd(),
            ssthresh: self.window.ssthresh(),
            slow_start: Some(self.window.in_slow_start()),
            in_flight: Some(self.sent.in_flight()),
            srtt: measured(self.rtt.smoothed),
            min_rtt: measured(self.rtt.min),
            latest_rtt: measured(self.rtt.latest),
            pacing: self.pacer.as_ref().map(|pacer| pacer.rate(&self.pace())),
            sent: self.counts.sent,
            lost: self.counts.lost,
            spurious: Some(self.counts.spurious),
            acks_sent: Some(self.counts.acks_sent),
            acks_received: Some(self.counts.acks_received),
            timeouts: Some(self.counts.timeouts),
        }
    }

    fn poll_event(&mut self) -> Option<StackEvent> {
        self.events.pop_front()
    }

    fn last_sent(&self) -> Option<u64> {
        Some(self.sent.next_number() - 1)
    }
}
