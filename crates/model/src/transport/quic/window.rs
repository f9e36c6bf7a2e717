//! Congestion window: slow start and its exit, congestion avoidance, and reductions.
// spec: congestion_control/tcp_cubic_sender_base.cc, tcp_cubic_sender_bytes.cc (Chromium 62); rfc9002 7
// (`Growth::Rfc9002`).

use crate::types::{Duration, Instant};

use super::MSS;
use super::cubic::{CubicBytes, CubicRules};
use super::hystart::HybridSlowStart;
use super::prr::QuicPrr;
use super::rtt::QuicRtt;

/// Algorithm for congestion avoidance and for the reduction after a loss.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Growth {
    /// CUBIC in bytes.
    Cubic,
    /// Reno as in Chromium, counting packets.
    Reno,
    /// NewReno of RFC 9002: halves after a loss, and grows by the acknowledged bytes in slow start.
    Rfc9002,
}

/// Parameters of the congestion window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WindowParams {
    /// Growth algorithm.
    pub growth: Growth,
    /// CUBIC variant, if `growth` is CUBIC.
    pub cubic: CubicRules,
    /// Number of emulated connections.
    pub connections: u32,
    /// Segment size for the window in bytes. In Chromium this differs from the packet size.
    pub mss: u32,
    /// Initial window in bytes.
    pub initial: u64,
    /// Minimum window in bytes.
    pub least: u64,
    /// Maximum window in bytes.
    pub most: u64,
    /// Hybrid slow start: leave slow start when the delay increases.
    pub hystart: bool,
    /// Proportional rate reduction (PRR) during recovery.
    pub prr: bool,
}

/// Unused window, in bytes, up to which the window still counts as the limit.
const MAX_BURST: u64 = 3 * MSS as u64;

/// A packet that was acknowledged or lost.
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    /// Packet number.
    pub number: u64,
    /// Length in bytes.
    pub bytes: u64,
}

/// Congestion window of a sender.
#[derive(Clone, Debug)]
pub struct Window {
    params: WindowParams,
    cwnd: u64,
    ssthresh: u64,
    cubic: CubicBytes,
    hystart: HybridSlowStart,
    prr: QuicPrr,
    largest_sent: u64,
    largest_acked: u64,
    /// Newest packet sent before the last reduction. Losses up to this number do not reduce the window again.
    cutback: u64,
    /// Packets (Chromium) or bytes (RFC 9002) acknowledged since Reno last grew the window.
    counted: u64,
    /// Set when delay ended slow start, until reported.
    exited: bool,
}

impl Window {
    /// Creates a window before the first packet.
    pub fn new(params: WindowParams) -> Self {
        Self {
            params,
            cwnd: params.initial,
            ssthresh: u64::MAX,
            cubic: CubicBytes::new(u64::from(params.connections), params.cubic),
            hystart: HybridSlowStart::default(),
            prr: QuicPrr::default(),
            largest_sent: 0,
            largest_acked: 0,
            cutback: 0,
            counted: 0,
            exited: false,
        }
    }

    /// Returns the congestion window in bytes.
    pub fn cwnd(&self) -> u64 {
        self.cwnd
    }

    /// Returns the slow-start threshold in bytes, or `None` before the first reduction.
    pub fn ssthresh(&self) -> Option<u64> {
        (self.ssthresh != u64::MAX).then_some(self.ssthresh)
    }

    /// Returns true if the window is below the slow-start threshold.
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Returns true in recovery.
    pub fn in_recovery(&self) -> bool {
        self.largest_acked <= self.cutback && self.largest_acked != 0
    }

    /// Returns true if the window allows another packet with `in_flight` bytes in flight.
    pub fn can_send(&self, in_flight: u64) -> bool {
        if self.params.prr && self.in_recovery() {
            return self.prr.can_send(self.cwnd, in_flight, self.ssthresh);
        }
        self.cwnd > in_flight
    }

    /// Called when a packet that counts as in flight was sent.
    pub fn on_sent(&mut self, number: u64, bytes: u64) {
        if self.in_recovery() {
            self.prr.on_sent(bytes);
        }
        self.largest_sent = number;
        self.hystart.on_sent(number);
    }

    /// Called when an ACK gave an RTT sample.
    pub fn on_rtt(&mut self, rtt: &QuicRtt) {
        let packets = self.cwnd / u64::from(self.params.mss);
        if self.params.hystart
            && self.in_slow_start()
            && self.hystart.should_exit(rtt.latest, rtt.min, packets)
        {
            self.ssthresh = self.cwnd;
            self.exited = true;
        }
    }

    /// Returns true if increased delay has ended slow start since the last call.
    pub fn took_exit(&mut self) -> bool {
        core::mem::take(&mut self.exited)
    }

    /// Processes a lost packet. `in_flight` bytes were in flight before the ACK that revealed the loss.
    pub fn on_lost(&mut self, packet: Counted, in_flight: u64) {
        if packet.number <= self.cutback {
            return;
        }
        self.prr.on_lost(in_flight);
        let n = u64::from(self.params.connections);
        let left = match self.params.growth {
            Growth::Cubic => self.cubic.after_loss(self.cwnd),
            // spec: tcp_cubic_sender_base.cc RenoBeta - 0.7 for one connection of N.
            Growth::Reno => self.cwnd * ((n - 1) * 1000 + 700) / n / 1000,
            Growth::Rfc9002 => self.cwnd / 2,
        };
        self.cwnd = left.max(self.params.least);
        self.ssthresh = self.cwnd;
        self.cutback = self.largest_sent;
        self.counted = 0;
    }

    /// Processes an acknowledged packet. `in_flight` bytes were in flight before the ACK.
    pub fn on_acked(&mut self, packet: Counted, in_flight: u64, min_rtt: Duration, now: Instant) {
        self.largest_acked = self.largest_acked.max(packet.number);
        if self.in_recovery() {
            self.prr.on_acked(packet.bytes);
            return;
        }
        self.grow(packet.bytes, in_flight, min_rtt, now);
        if self.in_slow_start() {
            self.hystart.on_acked(packet.number);
        }
    }

    fn grow(&mut self, acked: u64, in_flight: u64, min_rtt: Duration, now: Instant) {
        if !self.is_the_limit(in_flight) {
            self.cubic.on_application_limited();
            return;
        }
        if self.cwnd >= self.params.most {
            return;
        }
        let mss = u64::from(self.params.mss);
        let slow_start = self.in_slow_start();
        let grown = match self.params.growth {
            Growth::Rfc9002 if slow_start => self.cwnd + acked,
            _ if slow_start => self.cwnd + mss,
            Growth::Cubic => self.cubic.after_ack(acked, self.cwnd, min_rtt, now),
            Growth::Reno => {
                self.counted += 1;
                if self.counted * u64::from(self.params.connections) < self.cwnd / mss {
                    return;
                }
                self.counted = 0;
                self.cwnd + mss
            }
            // spec: rfc9002 7.3.3 - one datagram per acknowledged window.
            Growth::Rfc9002 => {
                self.counted += acked;
                if self.counted < self.cwnd {
                    return;
                }
                self.counted -= self.cwnd;
                self.cwnd + mss
            }
        };
        self.cwnd = grown.min(self.params.most);
    }

    /// Returns true if the window limits the sender.
    fn is_the_limit(&self, in_flight: u64) -> bool {
        in_flight >= self.cwnd
            || (self.in_slow_start() && in_flight > self.cwnd / 2)
            || self.cwnd - in_flight <= MAX_BURST
    }

    /// Called on a retransmission timeout that was not spurious.
    pub fn on_timeout(&mut self) {
        self.cutback = 0;
        self.hystart.restart();
        self.cubic.reset();
        self.counted = 0;
        self.ssthresh = (self.cwnd / 2).max(self.params.least);
        self.cwnd = self.params.least;
    }

    /// Called on persistent congestion.
    // spec: rfc9002 7.6.2 - reduces the window to its minimum.
    pub fn on_persistent_congestion(&mut self) {
        self.cwnd = self.params.least;
        self.cutback = self.largest_sent;
        self.largest_acked = 0;
        self.counted = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::quic::presets::Preset;
    use alloc::vec::Vec;

    const M: u64 = MSS as u64;

    fn window(growth: Growth) -> Window {
        Window::new(WindowParams { growth, ..Preset::Chromium39.config().window })
    }

    /// Sends and acknowledges full windows of 1350-byte packets. Returns the windows in segments.
    fn rounds(w: &mut Window, n: usize) -> Vec<u64> {
        let (mut number, mut now) = (w.largest_sent, Instant::from_nanos(1_000_000_000));
        let mut seen = Vec::new();
        for _ in 0..n {
            let packets = w.cwnd() / 1350;
            (0..packets).for_each(|i| w.on_sent(number + 1 + i, 1350));
            for i in 0..packets {
                let acked = Counted { number: number + 1 + i, bytes: 1350 };
                w.on_acked(acked, w.cwnd(), Duration::from_millis(10), now);
            }
            number += packets;
            now += Duration::from_millis(10);
            seen.push(w.cwnd() / M);
        }
        seen
    }

    #[test]
    fn slow_start_adds_a_segment_for_each_packet() {
        // 32 x 1460 bytes are 34 packets of 1350.
        assert_eq!(rounds(&mut window(Growth::Cubic), 4), [66, 137, 285, 593]);
        assert_eq!(rounds(&mut window(Growth::Rfc9002), 3), [63, 126, 252]);
    }

    #[test]
    fn a_loss_cuts_once_for_a_flight() {
        for (growth, left) in [(Growth::Cubic, 85), (Growth::Reno, 85), (Growth::Rfc9002, 50)] {
            let mut w = window(growth);
            w.cwnd = 100 * M;
            (1..=100).for_each(|n| w.on_sent(n, 1350));
            let now = Instant::from_nanos(5);
            w.on_acked(Counted { number: 4, bytes: 1350 }, 10, Duration::ZERO, now);
            w.on_lost(Counted { number: 1, bytes: 1350 }, 100 * M);
            w.on_lost(Counted { number: 2, bytes: 1350 }, 100 * M);
            w.on_lost(Counted { number: 100, bytes: 1350 }, 100 * M);
            assert_eq!((w.cwnd() / M, w.ssthresh(), w.in_recovery()), (left, Some(w.cwnd()), true));
            assert!(!w.in_slow_start());
            w.on_sent(101, 1350);
            w.on_acked(Counted { number: 101, bytes: 1350 }, 10, Duration::ZERO, now);
            assert!(!w.in_recovery());
            w.on_lost(Counted { number: 101, bytes: 1350 }, 100 * M);
            assert!(w.cwnd() < left * M);
        }
    }

    #[test]
    fn reno_and_rfc9002_growth() {
        let after = |growth| {
            let mut w = window(growth);
            (w.cwnd, w.ssthresh) = (100 * M, 100 * M);
            rounds(&mut w, 4)
        };
        // Chromium emulates two connections; RFC 9002 adds one segment per RTT.
        assert_eq!(after(Growth::Reno), [102, 104, 106, 108]);
        assert_eq!(after(Growth::Rfc9002), [100, 101, 102, 103]);
    }

    #[test]
    fn a_window_that_is_not_used_does_not_grow() {
        let mut w = window(Growth::Cubic);
        let acked = |n| Counted { number: n, bytes: 1350 };
        let now = Instant::from_nanos(5);
        w.on_acked(acked(1), w.cwnd() / 2, Duration::ZERO, now);
        assert_eq!(w.cwnd(), 32 * M);
        w.on_acked(acked(2), w.cwnd() / 2 + 1, Duration::ZERO, now);
        assert_eq!(w.cwnd(), 33 * M);
    }

    #[test]
    fn delay_ends_slow_start_and_a_timeout_restarts_it() {
        let mut w = window(Growth::Cubic);
        let ms = Duration::from_millis;
        let rtt = QuicRtt { latest: ms(20), min: ms(8), ..QuicRtt::default() };
        (0..7).for_each(|_| w.on_rtt(&rtt));
        assert!(w.in_slow_start());
        w.on_rtt(&rtt);
        assert_eq!((w.in_slow_start(), w.cwnd(), w.took_exit(), w.took_exit()), (false, 32 * M, true, false));
        w.on_timeout();
        assert_eq!((w.cwnd(), w.ssthresh(), w.in_slow_start()), (2 * M, Some(16 * M), true));
    }
}
