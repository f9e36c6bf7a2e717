//! A minimal sender for controllers: scoreboard, loss detection by later deliveries, proportional rate
//! reduction, delivery rate samples and pacing. No timeouts: test paths neither reorder nor lose tails.

use alloc::collections::VecDeque;

use super::super::{AckSample, CaState, Cc, CcEvent, CcSock, Controller, RateSample};
use super::{MSS, set_time, sock};

struct Segment {
    sent_us: u64,
    /// Transmission order.
    order: u64,
    sacked: bool,
    lost: bool,
    /// True while a retransmission is in flight.
    retrans: bool,
    /// True if ever retransmitted.
    ever: bool,
    // Delivery rate state at transmission.
    delivered: u32,
    delivered_mstamp: u64,
    first_tx_mstamp: u64,
    app_limited: bool,
    in_flight: u32,
}

pub(crate) struct Sender {
    pub(crate) sk: CcSock,
    pub(crate) cc: Cc,
    pub(crate) retransmissions: u64,
    segments: VecDeque<Segment>,
    una: u64,
    order: u64,
    /// Newest transmission delivered so far.
    newest: u64,
    first_tx_mstamp: u64,
    high_seq: u64,
    prr_delivered: u32,
    prr_out: u32,
    recovery_cwnd: u32,
}

impl Sender {
    pub(crate) fn new(mut cc: Cc, rtt_us: u64) -> Self {
        let mut sk = sock();
        sk.srtt_us = (rtt_us as u32) << 3;
        sk.min_rtt_us = rtt_us as u32;
        cc.init(&mut sk);
        Self {
            sk,
            cc,
            retransmissions: 0,
            segments: VecDeque::new(),
            una: 0,
            order: 0,
            newest: 0,
            first_tx_mstamp: 0,
            high_seq: 0,
            prr_delivered: 0,
            prr_out: 0,
            recovery_cwnd: 0,
        }
    }

    /// Returns the next departure time if pacing holds a segment back.
    pub(crate) fn paced_until(&self, now: u64) -> Option<u64> {
        (self.sk.in_flight() < self.sk.snd_cwnd && self.sk.wstamp_ns > now).then_some(self.sk.wstamp_ns)
    }

    /// Sends the next segment if window and pacing allow it, and returns its number.
    pub(crate) fn next(&mut self, now: u64) -> Option<u64> {
        let sk = &mut self.sk;
        if sk.in_flight() >= sk.snd_cwnd || (sk.needs_pacing && sk.wstamp_ns > now) {
            return None;
        }
        set_time(sk, now / 1_000);
        if sk.packets_out == 0 {
            self.cc.cwnd_event(sk, CcEvent::TxStart);
            self.first_tx_mstamp = sk.now_us;
            sk.delivered_mstamp = sk.now_us;
        }
        sk.lsndtime = sk.jiffies;
        if sk.needs_pacing {
            // linux: net/ipv4/tcp_output.c tcp_update_skb_after_send (6.1) - excludes headers.
            sk.wstamp_ns = sk.wstamp_ns.max(now) + u64::from(MSS) * 1_000_000_000 / sk.pacing_rate;
        }
        self.order += 1;
        self.prr_out += 1;
        let again = self.segments.iter().position(|s| s.lost && !s.retrans);
        let index = again.unwrap_or(self.segments.len());
        if again.is_none() {
            sk.packets_out += 1;
            sk.snd_nxt = sk.snd_nxt.wrapping_add(MSS);
        } else {
            sk.retrans_out += 1;
            self.retransmissions += 1;
        }
        let segment = Segment {
            sent_us: sk.now_us,
            order: self.order,
            sacked: false,
            lost: again.is_some(),
            retrans: again.is_some(),
            ever: again.is_some(),
            delivered: sk.delivered,
            delivered_mstamp: sk.delivered_mstamp,
            first_tx_mstamp: self.first_tx_mstamp,
            app_limited: sk.app_limited != 0,
            in_flight: (index as u32 + 1) * MSS,
        };
        match again {
            Some(i) => self.segments[i] = segment,
            None => self.segments.push_back(segment),
        }
        Some(self.una + index as u64)
    }

    /// Processes an ACK: everything below `cumulative` was received, most recently the segments `fresh`.
    pub(crate) fn on_ack(&mut self, now: u64, cumulative: u64, fresh: &[u64]) {
        let sk = &mut self.sk;
        set_time(sk, now / 1_000);
        let prior_in_flight = sk.in_flight();
        let prior_delivered = sk.delivered;
        let mut rs =
            RateSample { delivered: -1, interval_us: -1, rtt_us: -1, prior_in_flight, ..Default::default() };
        let mut newest: Option<&Segment> = None;
        // Update the scoreboard.
        for &n in fresh.iter().filter(|&&n| n >= self.una) {
            let segment = &mut self.segments[(n - self.una) as usize];
            if segment.sacked {
                continue;
            }
            segment.sacked = true;
            sk.sacked_out += 1;
            sk.delivered += 1;
            if segment.lost {
                segment.lost = false;
                sk.lost_out -= 1;
            }
            if segment.retrans {
                segment.retrans = false;
                sk.retrans_out -= 1;
            }
            self.newest = self.newest.max(segment.order);
        }
        for &n in fresh.iter().filter(|&&n| n >= self.una) {
            let segment = &self.segments[(n - self.una) as usize];
            newest = newest.filter(|s| s.order > segment.order).or(Some(segment));
        }
        if let Some(s) = newest {
            let snd = s.sent_us - s.first_tx_mstamp;
            let ack = sk.now_us - s.delivered_mstamp;
            rs.prior_delivered = s.delivered;
            rs.is_app_limited = s.app_limited;
            rs.is_retrans = s.ever;
            self.first_tx_mstamp = s.sent_us;
            sk.delivered_mstamp = sk.now_us;
            rs.interval_us = snd.max(ack) as i64;
            rs.delivered = sk.delivered.wrapping_sub(s.delivered) as i32;
            if rs.interval_us < i64::from(sk.min_rtt_us) {
                (rs.interval_us, rs.delivered) = (-1, -1);
            }
        }
        if sk.app_limited != 0 && sk.delivered > sk.app_limited {
            sk.app_limited = 0;
        }
        rs.acked_sacked = sk.delivered - prior_delivered;
        // Cumulative ACK: RTTs of the first and the last segment.
        let (mut pkts_acked, mut last_in_flight, mut first_rtt, mut retransmitted) = (0, 0, None, false);
        while self.una < cumulative {
            let Some(s) = self.segments.pop_front() else { break };
            self.una += 1;
            pkts_acked += 1;
            sk.packets_out -= 1;
            sk.sacked_out -= 1;
            retransmitted |= s.ever;
            if fresh.contains(&(self.una - 1)) && !retransmitted {
                let rtt = sk.now_us - s.sent_us;
                first_rtt.get_or_insert(rtt);
                rs.rtt_us = rtt as i64;
                last_in_flight = s.in_flight;
            }
        }
        sk.snd_una = sk.snd_una.wrapping_add(pkts_acked * MSS);
        self.cc.in_ack_event(sk, false);
        if let Some(rtt) = first_rtt {
            let rtt = rtt as u32;
            sk.min_rtt_us = sk.min_rtt_us.min(rtt);
            sk.srtt_us = sk.srtt_us - (sk.srtt_us >> 3) + rtt;
        }
        if pkts_acked > 0 {
            let sample = AckSample { pkts_acked, rtt_us: rs.rtt_us, in_flight: last_in_flight };
            self.cc.pkts_acked(sk, &sample);
        }
        // Three deliveries above a hole start recovery, in which segments sent before a delivered one are
        // lost.
        if sk.sacked_out >= 3 || sk.ca_state == CaState::Recovery {
            for s in self.segments.iter_mut().filter(|s| !s.sacked && s.order < self.newest) {
                if s.retrans {
                    s.retrans = false;
                    sk.retrans_out -= 1;
                    rs.losses += 1;
                } else if !s.lost {
                    s.lost = true;
                    sk.lost_out += 1;
                    rs.losses += 1;
                }
            }
        }
        sk.lost += rs.losses as u32;
        if sk.ca_state == CaState::Recovery && self.una >= self.high_seq {
            self.cc.set_state(sk, CaState::Open);
            sk.ca_state = CaState::Open;
            if !matches!(self.cc, Cc::Bbr(_)) {
                sk.snd_cwnd = sk.snd_ssthresh;
            }
            self.cc.cwnd_event(sk, CcEvent::CompleteCwr);
        }
        if sk.ca_state == CaState::Open && sk.lost_out > 0 {
            self.high_seq = self.una + u64::from(sk.packets_out);
            self.recovery_cwnd = sk.snd_cwnd;
            (self.prr_delivered, self.prr_out) = (0, 0);
            sk.prior_cwnd = sk.snd_cwnd;
            sk.snd_cwnd_cnt = 0;
            sk.snd_ssthresh = self.cc.ssthresh(sk);
            self.cc.set_state(sk, CaState::Recovery);
            sk.ca_state = CaState::Recovery;
        }
        if self.cc.cong_control(sk, &rs) {
            return;
        }
        sk.pacing_rate =
            1_200_000 * u64::from(sk.snd_cwnd) * u64::from(MSS) / u64::from(sk.srtt_us >> 3).max(1);
        if sk.ca_state == CaState::Recovery {
            self.reduce(rs.acked_sacked);
        } else if pkts_acked > 0 {
            let una = sk.snd_una;
            self.cc.cong_avoid(sk, una, rs.acked_sacked);
        }
    }

    // spec: rfc6937 3.1 - proportional rate reduction, slow-start bound.
    fn reduce(&mut self, acked: u32) {
        let sk = &mut self.sk;
        self.prr_delivered += acked;
        let in_flight = sk.in_flight();
        let out = if in_flight > sk.snd_ssthresh {
            let share = u64::from(sk.snd_ssthresh) * u64::from(self.prr_delivered);
            (share.div_ceil(u64::from(self.recovery_cwnd)) as u32).saturating_sub(self.prr_out)
        } else {
            let room = sk.snd_ssthresh - in_flight;
            room.min(self.prr_delivered.saturating_sub(self.prr_out).max(acked) + 1)
        };
        let out = if self.prr_out == 0 { out.max(1) } else { out };
        sk.snd_cwnd = in_flight + out;
    }
}
