//! Adapts a TCP congestion controller to a QUIC sender by mapping packets to TCP socket state.
//!
//! The window counts full-size packets. QUIC retransmits under new packet numbers, so no packet in flight is
//! SACKed, lost or retransmitted: `packets_out` is everything in flight. Sequence numbers count bytes:
//! `snd_una` is the number of bytes delivered, and `snd_nxt` adds the bytes in flight, so that a round ends
//! once the bytes in flight at its start are delivered.
//
// deviation: never undoes a reduction - QUIC has its own loss detection, and late packets are rare; has no
// CWR state - the model has no ECN; does not restart the window after an idle period - as in Chromium.

use alloc::collections::VecDeque;

use crate::transport::cc::reno::GrowthRules;
use crate::transport::cc::{
    AckSample, CaState, Cc, CcEvent, CcSock, Controller, INFINITE_SSTHRESH, RateSample,
};
use crate::types::{Instant, RandomStream};

use super::prr::QuicPrr;
use super::rtt::QuicRtt;
use super::window::{Counted, WindowParams};

/// A TCP congestion controller and its kernel parameters.
#[derive(Clone, Debug)]
pub struct TcpControl {
    /// Controller in its initial state.
    pub cc: Cc,
    /// CONFIG_HZ: ticks per second.
    pub hz: u32,
    /// How the window grows if one ACK covers several segments.
    pub growth: GrowthRules,
    /// Random stream of the controller.
    pub random: RandomStream,
}

/// State recorded when a packet was sent.
// linux: net/ipv4/tcp_rate.c tcp_rate_skb_sent (6.1).
#[derive(Clone, Copy, Debug)]
struct Mark {
    number: u64,
    sent_us: u64,
    first_tx_us: u64,
    delivered_us: u64,
    delivered: u32,
    /// Bytes in flight, including this packet.
    in_flight: u64,
    app_limited: bool,
}

/// Totals of the packets in flight.
#[derive(Clone, Copy, Debug)]
pub struct Flight {
    /// Number of packets.
    pub packets: u32,
    /// Number of bytes.
    pub bytes: u64,
    /// Packet number of the oldest tracked packet.
    pub least: u64,
}

/// A TCP congestion controller and its socket state.
#[derive(Debug)]
pub struct Driven {
    cc: Cc,
    sk: CcSock,
    /// True if the controller sets window and rate itself.
    controls: bool,
    prr: Option<QuicPrr>,
    least_cwnd: u32,
    marks: VecDeque<Mark>,
    /// Transmission time of the most recently delivered packet, in us.
    first_tx_us: u64,
    bytes_in_flight: u64,
    largest_sent: u64,
    largest_acked: u64,
    /// Newest packet sent before the last reduction. Losses up to this number do not reduce the window again.
    cutback: u64,
    /// True if the window limited the sender in this round, and the sequence number that ends the round.
    limited: bool,
    round_end: u32,
    begun: bool,
}

impl Driven {
    /// Creates the state before the first packet.
    pub fn new(params: WindowParams, packet: u32, control: TcpControl) -> Self {
        let packets = |bytes: u64| u32::try_from(bytes / u64::from(packet)).unwrap_or(u32::MAX).max(1);
        // Window parameters are in segments of `mss`, whatever the packet size.
        let segments = |bytes: u64| u32::try_from(bytes / u64::from(params.mss)).unwrap_or(u32::MAX);
        let init_cwnd = packets(params.initial);
        let sk = CcSock {
            snd_cwnd: init_cwnd,
            init_cwnd,
            snd_cwnd_clamp: packets(params.most).max(2),
            mss_cache: packet,
            hz: control.hz,
            growth: control.growth,
            pacing_rate: 0,
            app_limited: 0,
            ..CcSock::new(control.random)
        };
        Self {
            cc: control.cc,
            sk,
            controls: false,
            prr: params.prr.then(QuicPrr::default),
            least_cwnd: segments(params.least).max(1),
            marks: VecDeque::new(),
            first_tx_us: 0,
            bytes_in_flight: 0,
            largest_sent: 0,
            largest_acked: 0,
            cutback: 0,
            limited: false,
            round_end: 0,
            begun: false,
        }
    }

    fn bytes(&self, packets: u32) -> u64 {
        u64::from(packets) * u64::from(self.sk.mss_cache)
    }

    /// Returns the congestion window in bytes.
    pub fn cwnd(&self) -> u64 {
        self.bytes(self.sk.snd_cwnd)
    }

    /// Returns the slow-start threshold in bytes, or `None` before the first reduction.
    pub fn ssthresh(&self) -> Option<u64> {
        (self.sk.snd_ssthresh < INFINITE_SSTHRESH).then(|| self.bytes(self.sk.snd_ssthresh))
    }

    /// Returns true if the window is below the slow-start threshold.
    pub fn in_slow_start(&self) -> bool {
        self.sk.in_slow_start()
    }

    /// Returns true in recovery.
    pub fn in_recovery(&self) -> bool {
        self.sk.ca_state >= CaState::Recovery
    }

    /// Returns the pacing rate in bytes per second, if the controller sets one.
    pub fn rate(&self) -> Option<u64> {
        (self.sk.needs_pacing && self.sk.pacing_rate > 0).then_some(self.sk.pacing_rate)
    }

    /// Returns true if the window allows another packet with `bytes` bytes and `packets` packets in flight.
    pub fn can_send(&self, bytes: u64, packets: u32) -> bool {
        match &self.prr {
            Some(prr) if self.sk.ca_state == CaState::Recovery && !self.controls => {
                prr.can_send(self.cwnd(), bytes, self.bytes(self.sk.snd_ssthresh))
            }
            _ => packets < self.sk.snd_cwnd,
        }
    }

    fn touch(&mut self, now: Instant) {
        let sk = &mut self.sk;
        sk.clock_ns = now.nanos();
        sk.wstamp_ns = sk.wstamp_ns.max(sk.clock_ns);
        sk.now_us = now.nanos() / 1_000;
        sk.jiffies = (u128::from(now.nanos()) * u128::from(sk.hz) / 1_000_000_000) as u32;
    }

    /// Called when a packet that counts as in flight was sent.
    pub fn on_sent(&mut self, now: Instant, number: u64, bytes: u64) {
        self.touch(now);
        if !self.begun {
            // There is no RTT yet, as in TCP when no handshake segment was timed.
            self.begun = true;
            self.cc.init(&mut self.sk);
        }
        if self.sk.packets_out == 0 {
            self.first_tx_us = self.sk.now_us;
            self.sk.delivered_mstamp = self.sk.now_us;
            self.cc.cwnd_event(&mut self.sk, CcEvent::TxStart);
        }
        let sk = &mut self.sk;
        sk.lsndtime = sk.jiffies;
        sk.packets_out += 1;
        self.bytes_in_flight += bytes;
        sk.snd_nxt = sk.snd_una.wrapping_add(self.bytes_in_flight as u32);
        self.marks.push_back(Mark {
            number,
            sent_us: sk.now_us,
            first_tx_us: self.first_tx_us,
            delivered_us: sk.delivered_mstamp,
            delivered: sk.delivered,
            in_flight: self.bytes_in_flight,
            app_limited: sk.app_limited != 0,
        });
        self.largest_sent = number;
        if let Some(prr) = &mut self.prr {
            prr.on_sent(bytes);
        }
        self.validate();
    }

    /// Updates whether the window limits the sender. Once set, the flag holds for the rest of the round.
    // linux: net/ipv4/tcp_output.c tcp_cwnd_validate (6.1).
    fn validate(&mut self) {
        let sk = &mut self.sk;
        let limited = sk.packets_out >= sk.snd_cwnd;
        let is_over = (sk.snd_una.wrapping_sub(self.round_end) as i32) >= 0;
        if is_over || limited || (!self.limited && sk.packets_out > sk.max_packets_out) {
            self.limited = limited;
            sk.max_packets_out = sk.packets_out;
            self.round_end = sk.snd_nxt;
        }
    }

    /// Called when the sender has nothing to send. With room in the window, rate samples become
    /// application-limited.
    // linux: net/ipv4/tcp_rate.c tcp_rate_check_app_limited (6.1).
    pub fn on_idle(&mut self) {
        let sk = &mut self.sk;
        if sk.packets_out < sk.snd_cwnd {
            sk.app_limited = sk.delivered.wrapping_add(sk.packets_out).max(1);
        }
    }

    /// Processes an ACK or an expired loss timer: packets acknowledged (`landed`) and `lost`, and the flight
    /// `after` it. `rtt` is set for a new RTT sample; `prior` bytes were in flight before.
    // linux: net/ipv4/tcp_input.c tcp_ack (6.1) - acknowledged data, then losses, then window and rate.
    pub fn on_event(
        &mut self,
        now: Instant,
        rtt: Option<&QuicRtt>,
        landed: &[Counted],
        lost: &[u64],
        after: Flight,
        prior: u64,
    ) {
        self.touch(now);
        let us = |time: crate::types::Duration| time.nanos() / 1_000;
        let rtt_us = rtt.map_or(-1, |rtt| us(rtt.latest) as i64);
        if let Some(rtt) = rtt {
            self.sk.srtt_us = (us(rtt.smoothed) as u32).max(1) << 3;
            self.sk.min_rtt_us = us(rtt.min) as u32;
        }
        let prior_in_flight = self.sk.packets_out;
        if !landed.is_empty() {
            self.cc.in_ack_event(&mut self.sk, false);
        }
        let mut rs = RateSample {
            delivered: -1,
            interval_us: -1,
            rtt_us,
            losses: lost.len() as i32,
            acked_sacked: landed.len() as u32,
            prior_in_flight,
            ..RateSample::default()
        };
        let newest = self.deliver(landed, after);
        if let Some(mark) = newest {
            self.sample(&mut rs, &mark);
            let in_flight = u32::try_from(mark.in_flight).unwrap_or(u32::MAX);
            let sample = AckSample { pkts_acked: landed.len() as u32, rtt_us, in_flight };
            self.cc.pkts_acked(&mut self.sk, &sample);
        }
        self.repair(lost, prior);
        self.control(&rs);
    }

    /// Counts delivered packets. Returns the state recorded when the newest of them was sent.
    fn deliver(&mut self, landed: &[Counted], after: Flight) -> Option<Mark> {
        let mut newest = None;
        for packet in landed {
            self.largest_acked = self.largest_acked.max(packet.number);
            let at = self.marks.partition_point(|mark| mark.number < packet.number);
            newest = self.marks.get(at).filter(|mark| mark.number == packet.number).copied().or(newest);
            if let Some(prr) = &mut self.prr {
                prr.on_acked(packet.bytes);
            }
        }
        while self.marks.front().is_some_and(|mark| mark.number < after.least) {
            self.marks.pop_front();
        }
        let sk = &mut self.sk;
        sk.delivered = sk.delivered.wrapping_add(landed.len() as u32);
        let bytes: u64 = landed.iter().map(|packet| packet.bytes).sum();
        sk.snd_una = sk.snd_una.wrapping_add(bytes as u32);
        (sk.packets_out, self.bytes_in_flight) = (after.packets, after.bytes);
        sk.snd_nxt = sk.snd_una.wrapping_add(after.bytes as u32);
        newest
    }

    /// Takes a delivery rate sample over the time since the newest delivered packet was sent.
    // linux: net/ipv4/tcp_rate.c tcp_rate_skb_delivered, tcp_rate_gen (6.1) - uses the longer of send and ACK
    // interval; an interval below the minimum RTT invalidates the sample.
    fn sample(&mut self, rs: &mut RateSample, mark: &Mark) {
        let sk = &mut self.sk;
        if sk.app_limited != 0 && (sk.delivered.wrapping_sub(sk.app_limited) as i32) > 0 {
            sk.app_limited = 0;
        }
        sk.delivered_mstamp = sk.now_us;
        self.first_tx_us = mark.sent_us;
        rs.prior_delivered = mark.delivered;
        rs.is_app_limited = mark.app_limited;
        rs.delivered = sk.delivered.wrapping_sub(mark.delivered) as i32;
        let snd_us = mark.sent_us.saturating_sub(mark.first_tx_us);
        let ack_us = sk.now_us.saturating_sub(mark.delivered_us);
        (rs.snd_interval_us, rs.rcv_interval_us) = (snd_us as u32, ack_us as u32);
        rs.interval_us = snd_us.max(ack_us) as i64;
        if rs.interval_us < i64::from(sk.min_rtt_us) {
            rs.interval_us = -1;
        }
    }

    /// Leaves recovery if it is over, and starts a reduction for losses in a flight without one.
    // spec: rfc9002 7.3.2 - recovery ends when a packet sent during recovery is acknowledged.
    // linux: net/ipv4/tcp_input.c tcp_fastretrans_alert, tcp_enter_recovery, tcp_end_cwnd_reduction (6.1).
    fn repair(&mut self, lost: &[u64], prior: u64) {
        if self.in_recovery() && self.largest_acked > self.cutback {
            self.end_recovery();
        }
        self.sk.lost = self.sk.lost.wrapping_add(lost.len() as u32);
        if lost.iter().all(|&number| number <= self.cutback) {
            return;
        }
        if self.in_recovery() {
            self.end_recovery();
        }
        self.reduce();
        self.state(CaState::Recovery);
        if let Some(prr) = &mut self.prr {
            prr.on_lost(prior);
        }
    }

    fn reduce(&mut self) {
        self.cutback = self.largest_sent;
        self.sk.prior_cwnd = self.sk.snd_cwnd;
        self.sk.snd_cwnd_cnt = 0;
        self.sk.snd_ssthresh = self.cc.ssthresh(&mut self.sk);
    }

    fn end_recovery(&mut self) {
        if self.sk.ca_state == CaState::Recovery && !self.controls {
            self.cc.cwnd_event(&mut self.sk, CcEvent::CompleteCwr);
        }
        self.state(CaState::Open);
    }

    fn state(&mut self, new: CaState) {
        if self.sk.ca_state != new {
            self.cc.set_state(&mut self.sk, new);
            self.sk.ca_state = new;
        }
    }

    /// Updates window and pacing rate.
    // linux: net/ipv4/tcp_input.c tcp_cong_control, tcp_update_pacing_rate (6.1).
    // deviation: sets the window to the threshold immediately; if proportional rate reduction is on, it
    // limits transmission as for the built-in window.
    fn control(&mut self, rs: &RateSample) {
        self.controls = self.cc.cong_control(&mut self.sk, rs);
        if self.controls {
            return;
        }
        if self.sk.ca_state == CaState::Recovery {
            self.sk.snd_cwnd = self.sk.snd_ssthresh.max(self.least_cwnd);
        } else if rs.acked_sacked > 0 {
            let sk = &mut self.sk;
            sk.is_cwnd_limited =
                self.limited || (sk.in_slow_start() && sk.snd_cwnd < sk.max_packets_out.saturating_mul(2));
            let una = sk.snd_una;
            self.cc.cong_avoid(sk, una, rs.acked_sacked);
        }
        let sk = &mut self.sk;
        if sk.srtt_us > 0 {
            let percent = if sk.snd_cwnd < sk.snd_ssthresh / 2 { 200 } else { 120 };
            let window = u64::from(sk.mss_cache) * u64::from(sk.snd_cwnd.max(sk.packets_out));
            sk.pacing_rate = window * percent * 80_000 / u64::from(sk.srtt_us);
        }
    }

    /// Called on a retransmission timeout that was not spurious, or on persistent congestion.
    // linux: net/ipv4/tcp_input.c tcp_enter_loss (6.1).
    // spec: rfc9002 7.6.2 - reduces the window to its minimum; Linux reduces it to one segment more than is
    // in flight.
    pub fn on_timeout(&mut self) {
        // Do not reduce the threshold twice for the same flight.
        if self.sk.ca_state <= CaState::Disorder || self.largest_acked > self.cutback {
            self.reduce();
            self.cc.cwnd_event(&mut self.sk, CcEvent::Loss);
        }
        self.cutback = self.largest_sent;
        self.sk.snd_cwnd = self.least_cwnd;
        self.sk.snd_cwnd_cnt = 0;
        self.state(CaState::Loss);
    }
}
