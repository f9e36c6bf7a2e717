//! The state machine: STARTUP, DRAIN, PROBE_BW with its gain cycle, and PROBE_RTT.

use super::super::{CcSock, RateSample};
use super::*;

/// Growth per round, in 1/256, that keeps STARTUP going.
const FULL_BW_THRESH: u32 = UNIT * 5 / 4;
/// Rounds without that growth after which STARTUP ends.
const FULL_BW_CNT: u8 = 3;
/// Number of phases at which the cycle may start: all except the drain phase.
const CYCLE_RAND: u32 = 7;

impl Bbr {
    /// Advances the gain cycle if the current phase is over.
    // linux: net/ipv4/tcp_bbr.c bbr_update_cycle_phase (6.1).
    pub(super) fn update_cycle_phase(&mut self, sk: &CcSock, rs: &RateSample) {
        if self.mode == Mode::ProbeBw && self.phase_is_over(sk, rs) {
            self.advance_cycle_phase(sk);
        }
    }

    // linux: net/ipv4/tcp_bbr.c bbr_is_next_cycle_phase (6.1) - probes until the pipe is full or a segment is
    // lost, drains at most until the queue is gone; every other phase lasts one minimum RTT.
    fn phase_is_over(&self, sk: &CcSock, rs: &RateSample) -> bool {
        let full_length = sk.delivered_mstamp.saturating_sub(self.cycle_mstamp) > u64::from(self.min_rtt_us);
        if self.pacing_gain == UNIT {
            return full_length;
        }
        let inflight = self.in_net_at_departure(sk, rs.prior_in_flight);
        let bw = self.bw.get();
        if self.pacing_gain > UNIT {
            full_length && (rs.losses > 0 || inflight >= self.inflight(sk, bw, self.pacing_gain))
        } else {
            full_length || inflight <= self.inflight(sk, bw, UNIT)
        }
    }

    fn advance_cycle_phase(&mut self, sk: &CcSock) {
        self.cycle_idx = (self.cycle_idx + 1) % CYCLE_LEN;
        self.cycle_mstamp = sk.delivered_mstamp;
    }

    /// Enters the gain cycle at a random phase except draining, so that flows do not probe in step.
    // linux: net/ipv4/tcp_bbr.c bbr_reset_probe_bw_mode (6.1).
    pub(super) fn enter_probe_bw(&mut self, sk: &mut CcSock) {
        self.mode = Mode::ProbeBw;
        self.cycle_idx = CYCLE_LEN - 1 - sk.random.below(CYCLE_RAND) as u8;
        self.advance_cycle_phase(sk);
    }

    /// Detects that STARTUP has reached the bottleneck bandwidth.
    // linux: net/ipv4/tcp_bbr.c bbr_check_full_bw_reached (6.1).
    pub(super) fn check_full_bw_reached(&mut self, rs: &RateSample) {
        if self.full_bw_reached || !self.round_start || rs.is_app_limited {
            return;
        }
        let enough = ((u64::from(self.full_bw) * u64::from(FULL_BW_THRESH)) >> SCALE) as u32;
        if self.bw.get() >= enough {
            self.full_bw = self.bw.get();
            self.full_bw_cnt = 0;
        } else {
            self.full_bw_cnt += 1;
            self.full_bw_reached = self.full_bw_cnt >= FULL_BW_CNT;
        }
    }

    // linux: net/ipv4/tcp_bbr.c bbr_check_drain (6.1).
    pub(super) fn check_drain(&mut self, sk: &mut CcSock) {
        if self.mode == Mode::Startup && self.full_bw_reached {
            self.mode = Mode::Drain;
            sk.snd_ssthresh = self.inflight(sk, self.bw.get(), UNIT);
        }
        if self.mode == Mode::Drain
            && self.in_net_at_departure(sk, sk.in_flight()) <= self.inflight(sk, self.bw.get(), UNIT)
        {
            self.enter_probe_bw(sk);
        }
    }

    /// Updates the minimum RTT, and enters or leaves PROBE_RTT if the minimum has expired.
    // linux: net/ipv4/tcp_bbr.c bbr_update_min_rtt (6.1).
    pub(super) fn update_min_rtt(&mut self, sk: &mut CcSock, rs: &RateSample) {
        let window = self.params.min_rtt_win_sec * sk.hz;
        let expired = is_after(sk.jiffies, self.min_rtt_stamp.wrapping_add(window));
        if rs.rtt_us >= 0 && (rs.rtt_us < i64::from(self.min_rtt_us) || (expired && !rs.is_ack_delayed)) {
            self.min_rtt_us = rs.rtt_us as u32;
            self.min_rtt_stamp = sk.jiffies;
        }
        if expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_cwnd(sk);
            self.probe_rtt_done_stamp = None;
        }
        if self.mode == Mode::ProbeRtt {
            // Samples taken with the reduced window count as application-limited.
            sk.app_limited = sk.delivered.wrapping_add(sk.in_flight()).max(1);
            if self.probe_rtt_done_stamp.is_some() {
                self.probe_rtt_round_done |= self.round_start;
                if self.probe_rtt_round_done {
                    self.check_probe_rtt_done(sk);
                }
            } else if sk.in_flight() <= MIN_CWND {
                let ticks = (self.params.probe_rtt_mode_ms * sk.hz).div_ceil(1_000);
                self.probe_rtt_done_stamp = Some(sk.jiffies.wrapping_add(ticks));
                self.probe_rtt_round_done = false;
                self.next_rtt_delivered = sk.delivered;
            }
        }
        if rs.delivered > 0 {
            self.idle_restart = false;
        }
    }

    // linux: net/ipv4/tcp_bbr.c bbr_check_probe_rtt_done (6.1).
    pub(super) fn check_probe_rtt_done(&mut self, sk: &mut CcSock) {
        if !self.probe_rtt_done_stamp.is_some_and(|done| is_after(sk.jiffies, done)) {
            return;
        }
        self.min_rtt_stamp = sk.jiffies;
        sk.snd_cwnd = sk.snd_cwnd.max(self.prior_cwnd);
        if self.full_bw_reached {
            self.enter_probe_bw(sk);
        } else {
            self.mode = Mode::Startup;
        }
    }

    // linux: net/ipv4/tcp_bbr.c bbr_update_gains (6.1).
    pub(super) fn update_gains(&mut self) {
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBw if self.longterm.in_use().is_some() => (UNIT, CWND_GAIN),
            Mode::ProbeBw => (PACING_GAIN[usize::from(self.cycle_idx)], CWND_GAIN),
            Mode::ProbeRtt => (UNIT, UNIT),
        };
    }
}

/// Returns true if tick `a` follows tick `b`.
fn is_after(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}
