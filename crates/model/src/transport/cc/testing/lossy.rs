//! A path that loses single segments, for response functions. The bottleneck has a FIFO of one
//! bandwidth-delay product; nothing is reordered, and every segment is acknowledged. A loss is detected when
//! its ACK would have arrived, and the segment is retransmitted immediately.

use alloc::collections::VecDeque;

use super::super::{AckSample, CaState, Cc, CcEvent, CcSock, Controller, RateSample};
use super::{MSS, set_time, sock};
use crate::types::{RandomStream, Seed};

/// Path and loss pattern.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lossy {
    /// Bottleneck rate in bit/s of payload.
    pub(crate) rate: u64,
    /// RTT without queueing, in us.
    pub(crate) rtt_us: u64,
    /// Segments per loss.
    pub(crate) one_in: u32,
    /// Lose segments at random instead of periodically.
    pub(crate) random: bool,
}

struct Segment {
    sent_us: u64,
    acked_ns: u64,
    lost: bool,
    in_flight: u32,
    // Delivery rate state at transmission.
    delivered: u32,
    delivered_mstamp: u64,
    first_tx_mstamp: u64,
}

struct Sender {
    sk: CcSock,
    cc: Cc,
    path: Lossy,
    stream: RandomStream,
    flight: VecDeque<Segment>,
    /// Time at which the bottleneck becomes idle.
    free_ns: u64,
    /// Segments since the last loss.
    since: u32,
    first_tx_mstamp: u64,
    /// Start of recovery, and number of ACKs seen and still expected in it.
    began_us: u64,
    seen: u32,
    left: u32,
}

impl Lossy {
    /// Bandwidth-delay product in segments.
    pub(crate) fn holds(&self) -> u64 {
        self.rate * self.rtt_us / (8_000_000 * u64::from(MSS))
    }

    /// Mean rate of a greedy flow in kbit/s, over 20 losses (at least 100,000 segments) after a warm-up of
    /// half that.
    pub(crate) fn kbps(&self, cc: Cc) -> u64 {
        let before = (10 * u64::from(self.one_in)).max(50_000);
        let mut sender = Sender::new(cc, *self);
        (0..before).for_each(|_| sender.step());
        let from = (sender.sk.now_us, sender.sk.delivered);
        (0..2 * before).for_each(|_| sender.step());
        let bits = u64::from(sender.sk.delivered - from.1) * u64::from(MSS) * 8;
        bits * 1000 / (sender.sk.now_us - from.0)
    }
}

impl Sender {
    fn new(mut cc: Cc, path: Lossy) -> Self {
        let mut sk = sock();
        (sk.srtt_us, sk.min_rtt_us) = ((path.rtt_us as u32) << 3, path.rtt_us as u32);
        // Skip slow start. From this window, all controllers converge within ten losses.
        sk.snd_cwnd = (path.one_in / 20).clamp(10, path.holds() as u32);
        sk.snd_ssthresh = sk.snd_cwnd;
        cc.init(&mut sk);
        let (stream, flight) = (Seed { seed: 1, run: 0 }.stream("loss"), VecDeque::new());
        Self {
            sk,
            cc,
            path,
            stream,
            flight,
            free_ns: 0,
            since: 0,
            first_tx_mstamp: 0,
            began_us: 0,
            seen: 0,
            left: 0,
        }
    }

    /// Sends segments until the next ACK arrives, then processes the ACK.
    fn step(&mut self) {
        loop {
            let now = self.sk.clock_ns;
            let at = if self.sk.needs_pacing { self.sk.wstamp_ns.max(now) } else { now };
            let room = (self.flight.len() as u32) < self.sk.snd_cwnd;
            if !room || self.flight.front().is_some_and(|s| s.acked_ns <= at) {
                break;
            }
            self.send(at);
        }
        let segment = self.flight.pop_front().expect("a window of one at least");
        self.acked(&segment);
    }

    fn at(&mut self, ns: u64) {
        set_time(&mut self.sk, ns / 1_000);
        self.sk.clock_ns = ns;
    }

    fn send(&mut self, ns: u64) {
        self.at(ns);
        let sk = &mut self.sk;
        if self.flight.is_empty() {
            self.cc.cwnd_event(sk, CcEvent::TxStart);
            (self.first_tx_mstamp, sk.delivered_mstamp) = (sk.now_us, sk.now_us);
        }
        sk.lsndtime = sk.jiffies;
        if sk.needs_pacing {
            sk.wstamp_ns = ns + u64::from(MSS) * 1_000_000_000 / sk.pacing_rate;
        }
        let service = u64::from(MSS) * 8 * 1_000_000_000 / self.path.rate;
        self.since += 1;
        let chance = if self.path.random {
            self.stream.below(self.path.one_in) == 0
        } else {
            self.since >= self.path.one_in
        };
        let full = self.free_ns.saturating_sub(ns) / service >= self.path.holds();
        if chance {
            self.since = 0;
        }
        if !full {
            self.free_ns = self.free_ns.max(ns) + service;
        }
        self.flight.push_back(Segment {
            sent_us: sk.now_us,
            acked_ns: self.free_ns.max(ns) + self.path.rtt_us * 1_000,
            lost: chance || full,
            in_flight: (self.flight.len() as u32 + 1) * MSS,
            delivered: sk.delivered,
            delivered_mstamp: sk.delivered_mstamp,
            first_tx_mstamp: self.first_tx_mstamp,
        });
        sk.packets_out = self.flight.len() as u32;
        sk.max_packets_out = sk.packets_out;
        sk.snd_nxt = sk.snd_nxt.wrapping_add(MSS);
    }

    fn acked(&mut self, s: &Segment) {
        self.at(s.acked_ns);
        let sk = &mut self.sk;
        let mut rs = RateSample {
            delivered: -1,
            interval_us: -1,
            rtt_us: -1,
            prior_in_flight: sk.packets_out,
            ..Default::default()
        };
        sk.packets_out -= 1;
        sk.snd_una = sk.snd_una.wrapping_add(MSS);
        if s.lost {
            (sk.lost, rs.losses) = (sk.lost + 1, 1);
        } else {
            sk.delivered += 1;
            let (sent, came) = (s.sent_us - s.first_tx_mstamp, sk.now_us - s.delivered_mstamp);
            (self.first_tx_mstamp, sk.delivered_mstamp) = (s.sent_us, sk.now_us);
            rs.prior_delivered = s.delivered;
            rs.interval_us = sent.max(came) as i64;
            rs.delivered = sk.delivered.wrapping_sub(s.delivered) as i32;
            (rs.acked_sacked, rs.rtt_us) = (1, (sk.now_us - s.sent_us) as i64);
            sk.min_rtt_us = sk.min_rtt_us.min(rs.rtt_us as u32);
            sk.srtt_us = sk.srtt_us - (sk.srtt_us >> 3) + rs.rtt_us as u32;
            self.cc.in_ack_event(sk, false);
            self.cc.pkts_acked(sk, &AckSample { pkts_acked: 1, rtt_us: rs.rtt_us, in_flight: s.in_flight });
        }
        self.recovery(s);
        let sk = &mut self.sk;
        if !self.cc.cong_control(sk, &rs) {
            if sk.ca_state == CaState::Open && !s.lost {
                let una = sk.snd_una;
                self.cc.cong_avoid(sk, una, 1);
            } else if sk.ca_state == CaState::Recovery {
                // Reduce the window in proportion to the acknowledged segments.
                let prior = sk.prior_cwnd.max(1);
                let cut = u64::from(prior.saturating_sub(sk.snd_ssthresh));
                let cut = cut * u64::from(prior.saturating_sub(self.seen));
                sk.snd_cwnd = sk.snd_ssthresh + (cut / u64::from(prior)) as u32;
            }
        }
    }

    /// Enters recovery at a loss. Leaves it a window after the last loss among segments sent before.
    fn recovery(&mut self, s: &Segment) {
        let sk = &mut self.sk;
        self.seen += 1;
        match sk.ca_state {
            CaState::Open if s.lost => {
                (self.began_us, self.seen) = (sk.now_us, 0);
                sk.prior_cwnd = sk.snd_cwnd;
                sk.snd_cwnd_cnt = 0;
                self.left = sk.packets_out + 1;
                sk.snd_ssthresh = self.cc.ssthresh(sk);
                self.cc.set_state(sk, CaState::Recovery);
                sk.ca_state = CaState::Recovery;
            }
            CaState::Recovery if s.lost && s.sent_us <= self.began_us => self.left = sk.packets_out + 1,
            CaState::Recovery if self.left <= 1 => {
                self.cc.set_state(sk, CaState::Open);
                sk.ca_state = CaState::Open;
                if !matches!(self.cc, Cc::Bbr(_)) {
                    sk.snd_cwnd = sk.snd_ssthresh;
                }
                self.cc.cwnd_event(sk, CcEvent::CompleteCwr);
            }
            _ => self.left = self.left.saturating_sub(1),
        }
    }
}
