//! A path that loses single segments, for response functions: a bottleneck with a FIFO of one bandwidth-delay
//! product, no reordering, each segment acknowledged by itself. What is lost is known when its
//! acknowledgement would have come, and sent again at once.

use alloc::collections::VecDeque;

use super::super::{AckSample, CaState, Cc, CcEvent, CcSock, Controller, RateSample};
use super::{MSS, set_time, sock};
use crate::types::{RandomStream, Seed};

/// The path, and how it loses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lossy {
    /// Bottleneck in bit/s, of the segments' data alone.
    pub(crate) rate: u64,
    /// Round-trip time of the empty path in us.
    pub(crate) rtt_us: u64,
    /// One segment in so many is lost.
    pub(crate) one_in: u32,
    /// By chance; otherwise always after as many others.
    pub(crate) random: bool,
}

struct Segment {
    sent_us: u64,
    acked_ns: u64,
    lost: bool,
    in_flight: u32,
    // The delivery rate's memory of the moment when it was sent.
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
    /// When the bottleneck is free.
    free_ns: u64,
    /// Segments since the last one that was lost.
    since: u32,
    first_tx_mstamp: u64,
    /// When recovery began, how many acknowledgements it has seen, and how many it has yet to see.
    began_us: u64,
    seen: u32,
    left: u32,
}

impl Lossy {
    /// Segments that a round trip holds, at the rate of the bottleneck.
    pub(crate) fn holds(&self) -> u64 {
        self.rate * self.rtt_us / (8_000_000 * u64::from(MSS))
    }

    /// Mean rate in kbit/s of a greedy flow, over twenty losses (100,000 segments at least) after ten others
    /// (50,000).
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
        // No slow start, but a window from which the least and the most aggressive come to their own within
        // ten losses.
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

    /// Sends what may be sent up to the next acknowledgement, and takes that in.
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
                // The window falls in proportion to what is acknowledged.
                let prior = sk.prior_cwnd.max(1);
                let cut = u64::from(prior.saturating_sub(sk.snd_ssthresh));
                let cut = cut * u64::from(prior.saturating_sub(self.seen));
                sk.snd_cwnd = sk.snd_ssthresh + (cut / u64::from(prior)) as u32;
            }
        }
    }

    /// Enters recovery at a loss, and leaves it when all is repaired that was sent before: a window after the
    /// last of these losses.
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
