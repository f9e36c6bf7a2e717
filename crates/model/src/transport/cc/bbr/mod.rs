//! BBR version 1: paces at the bottleneck bandwidth, keeps about two bandwidth-delay products in flight, and
//! ignores isolated losses.
//!
//! The path model has three parts: `windowed_max` filters the bandwidth, `aggregation` measures ACK
//! aggregation, and `longterm` detects policers. `phases` is the state machine; `window` derives the
//! congestion window and the pacing rate from the model.
// spec: draft-cardwell-iccrg-bbr-congestion-control-00 - the first version.

mod aggregation;
mod longterm;
mod phases;
#[cfg(test)]
mod tests;
mod window;

use super::windowed_max::WindowedMax;
use super::{CaState, CcEvent, CcSock, Controller, INFINITE_SSTHRESH, RateSample};
use crate::transport::seq::before;
use aggregation::AckAggregation;
use longterm::LongTerm;

/// Binary point of bandwidths, which are in segments per us.
// linux: net/ipv4/tcp_bbr.c BW_SCALE (6.1).
const BW_SCALE: u32 = 24;
/// A bandwidth of one segment per us.
const BW_UNIT: u64 = 1 << BW_SCALE;
/// Binary point of gains.
// linux: net/ipv4/tcp_bbr.c BBR_SCALE (6.1).
const SCALE: u32 = 8;
/// A gain of 1.
const UNIT: u32 = 1 << SCALE;

/// Number of phases in the gain cycle.
const CYCLE_LEN: u8 = 8;
/// Pacing gains of the cycle: probe, drain, then cruise.
// spec: draft-cardwell-iccrg-bbr-congestion-control-00 4.3.4.
const PACING_GAIN: [u32; CYCLE_LEN as usize] =
    [UNIT * 5 / 4, UNIT * 3 / 4, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT];
/// STARTUP gain: 2 / ln 2, the smallest that doubles the rate every round.
// spec: draft-cardwell-iccrg-bbr-congestion-control-00 4.3.2.
const HIGH_GAIN: u32 = UNIT * 2_885 / 1_000 + 1;
/// DRAIN gain: the inverse of the STARTUP gain.
const DRAIN_GAIN: u32 = UNIT * 1_000 / 2_885;
/// Window gain in PROBE_BW.
const CWND_GAIN: u32 = UNIT * 2;
/// Minimum window, and window during PROBE_RTT, in segments.
const MIN_CWND: u32 = 4;
/// Initial window in segments; bounds the growth at the start of a connection.
// linux: include/net/tcp.h TCP_INIT_CWND (6.1) - uses the constant, not the route's `initcwnd`.
const TCP_INIT_CWND: u32 = 10;

/// Parameters that differ between kernels or are compile-time constants in the kernel.
// linux: net/ipv4/tcp_bbr.c (6.1) - has no module parameters; fields are named after its constants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BbrParams {
    /// Length of the bandwidth filter in rounds.
    pub bw_rtts: u32,
    /// Length of the minimum RTT filter in seconds.
    pub min_rtt_win_sec: u32,
    /// Minimum duration of PROBE_RTT in ms.
    pub probe_rtt_mode_ms: u32,
    /// Percentage by which the pacing rate stays below the estimated bandwidth (since 4.20; 0 before).
    pub pacing_margin_percent: u32,
    /// Gain of the extra window for ACK aggregation, in 1/256 (since 5.1; 0 before: no extra window).
    pub extra_acked_gain: u32,
    /// The amount in flight is estimated for the departure time of the next packet (4.20 on), not for the
    /// current time.
    // linux: net/ipv4/tcp_bbr.c bbr_packets_in_net_at_edt (4.20; absent in 4.19).
    pub departure_times: bool,
    /// Pacing rate in bit/s below which TSO packets may have a single segment.
    pub min_tso_rate: u64,
}

impl Default for BbrParams {
    fn default() -> Self {
        Self {
            bw_rtts: CYCLE_LEN as u32 + 2,
            min_rtt_win_sec: 10,
            probe_rtt_mode_ms: 200,
            pacing_margin_percent: 1,
            extra_acked_gain: UNIT,
            departure_times: true,
            min_tso_rate: 1_200_000,
        }
    }
}

/// States of the state machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// Doubles the rate each round until the bandwidth stops growing.
    #[default]
    Startup,
    /// Drains the queue that Startup built.
    Drain,
    /// Cruises, and probes for more bandwidth in one of eight phases.
    ProbeBw,
    /// Drains the path to measure the minimum RTT.
    ProbeRtt,
}

/// BBR congestion control.
#[derive(Clone, Debug, Default)]
pub struct Bbr {
    params: BbrParams,
    mode: Mode,
    /// Congestion state at the previous ACK.
    prev_ca_state: CaState,
    /// Set in the first round of recovery, which sends one segment per delivered segment.
    packet_conservation: bool,
    /// Set when transmission restarts after an application-limited idle period.
    idle_restart: bool,
    /// True once the pacing rate is based on a measured RTT.
    has_seen_rtt: bool,
    /// True if this ACK starts a round.
    round_start: bool,
    /// Number of rounds so far.
    rtt_cnt: u32,
    /// Value of `delivered` at which the next round starts.
    next_rtt_delivered: u32,
    /// Bandwidth: windowed maximum over the last rounds.
    bw: WindowedMax,
    longterm: LongTerm,
    aggregation: AckAggregation,
    /// Minimum RTT in us, and the time it was measured in ticks.
    min_rtt_us: u32,
    min_rtt_stamp: u32,
    /// Earliest end of PROBE_RTT in ticks; set once few enough segments are in flight.
    probe_rtt_done_stamp: Option<u32>,
    /// True once a full round has passed with the reduced window.
    probe_rtt_round_done: bool,
    /// Window before recovery or PROBE_RTT.
    prior_cwnd: u32,
    /// Bandwidth baseline for the STARTUP exit, and rounds without enough growth over it.
    full_bw: u32,
    full_bw_cnt: u8,
    full_bw_reached: bool,
    /// Phase of the gain cycle, and its start in us.
    cycle_idx: u8,
    cycle_mstamp: u64,
    pacing_gain: u32,
    cwnd_gain: u32,
}

impl Bbr {
    /// Creates a controller with these parameters. The default is Linux 6.1.
    pub fn new(params: BbrParams) -> Self {
        Self { params, ..Self::default() }
    }
    /// Returns the current state.
    pub fn mode(&self) -> Mode {
        self.mode
    }
    /// Bandwidth estimate in bytes per second. `ss` prints it as `bw`, in bit/s.
    // linux: net/ipv4/tcp_bbr.c bbr_get_info (6.1).
    pub fn bandwidth(&self, sk: &CcSock) -> u64 {
        (u64::from(self.bw()) * u64::from(sk.mss_cache) * 1_000_000) >> BW_SCALE
    }
    /// Minimum round-trip time in us; `u32::MAX` before the first measurement.
    pub fn min_rtt_us(&self) -> u32 {
        self.min_rtt_us
    }
    /// Pacing gain and window gain, in 1/256.
    pub fn gains(&self) -> (u32, u32) {
        (self.pacing_gain, self.cwnd_gain)
    }

    /// Bandwidth in use: the policer rate if one was detected, else the filtered maximum.
    #[inline]
    fn bw(&self) -> u32 {
        self.longterm.in_use().unwrap_or(self.bw.get())
    }

    /// Updates the path model and runs the state machine.
    // linux: net/ipv4/tcp_bbr.c bbr_update_model (6.1) - the order of the steps matters.
    fn update_model(&mut self, sk: &mut CcSock, rs: &RateSample) {
        self.update_bw(sk, rs);
        if self.params.extra_acked_gain != 0 && rs.delivered >= 0 && rs.interval_us > 0 && rs.acked_sacked > 0
        {
            self.aggregation.update(sk, rs, self.round_start, self.bw());
        }
        self.update_cycle_phase(sk, rs);
        self.check_full_bw_reached(rs);
        self.check_drain(sk);
        self.update_min_rtt(sk, rs);
        self.update_gains();
    }

    /// Takes a rate sample: counts rounds and filters the bandwidth.
    // linux: net/ipv4/tcp_bbr.c bbr_update_bw (6.1) - the long-term sampler sees the round first.
    fn update_bw(&mut self, sk: &mut CcSock, rs: &RateSample) {
        let is_valid = rs.delivered >= 0 && rs.interval_us > 0;
        self.round_start = is_valid && self.ends_round(rs);
        if self.round_start {
            self.start_round(sk);
        }
        if is_valid {
            self.sample_longterm(sk, rs);
            self.filter_bandwidth(rs);
        }
    }

    /// Returns true if the sampled packet was sent after the current round began.
    // spec: draft-cardwell-iccrg-bbr-congestion-control-00 4.1.1.3 - counting packet-timed round trips.
    fn ends_round(&self, rs: &RateSample) -> bool {
        !before(rs.prior_delivered, self.next_rtt_delivered)
    }

    /// Starts a round, which ends the packet conservation of the one before.
    fn start_round(&mut self, sk: &CcSock) {
        self.packet_conservation = false;
        self.next_rtt_delivered = sk.delivered;
        self.rtt_cnt += 1;
    }

    /// Adds the sample's rate to the maximum filter. A sample that the application limited counts only if it
    /// is not below the maximum.
    // spec: draft-cardwell-iccrg-bbr-congestion-control-00 4.1.1 - BtlBw.
    fn filter_bandwidth(&mut self, rs: &RateSample) {
        let bw = (rs.delivered as u64 * BW_UNIT / rs.interval_us as u64) as u32;
        if bw >= self.bw.get() || !rs.is_app_limited {
            self.bw.update(self.params.bw_rtts, self.rtt_cnt, bw);
        }
    }

    fn sample_longterm(&mut self, sk: &mut CcSock, rs: &RateSample) {
        let in_cycle = self.mode == Mode::ProbeBw;
        match self.longterm.sample(sk, rs, self.round_start, in_cycle) {
            longterm::Change::None => {}
            longterm::Change::Policed => self.pacing_gain = UNIT,
            longterm::Change::ProbeAgain => self.enter_probe_bw(sk),
        }
    }
}

impl Controller for Bbr {
    // linux: net/ipv4/tcp_bbr.c bbr_init (6.1).
    fn init(&mut self, sk: &mut CcSock) {
        *self = Self::new(self.params);
        sk.snd_ssthresh = INFINITE_SSTHRESH;
        self.next_rtt_delivered = sk.delivered;
        self.min_rtt_us = sk.min_rtt_us;
        self.min_rtt_stamp = sk.jiffies;
        self.longterm.reset(sk);
        self.aggregation.restart(sk);
        self.update_gains();
        self.init_pacing_rate(sk);
        sk.needs_pacing = true;
    }

    // linux: net/ipv4/tcp_bbr.c bbr_ssthresh (6.1) - leaves the threshold unchanged and saves the window.
    fn ssthresh(&mut self, sk: &mut CcSock) -> u32 {
        self.save_cwnd(sk);
        sk.snd_ssthresh
    }

    fn cong_avoid(&mut self, _sk: &mut CcSock, _ack: u32, _acked: u32) {}

    // linux: net/ipv4/tcp_bbr.c bbr_main (6.1).
    #[inline]
    fn cong_control(&mut self, sk: &mut CcSock, rs: &RateSample) -> bool {
        self.update_model(sk, rs);
        let bw = self.bw();
        self.set_pacing_rate(sk, bw, self.pacing_gain);
        self.set_cwnd(sk, rs, bw);
        true
    }

    // linux: net/ipv4/tcp_bbr.c bbr_set_state (6.1) - treats a timeout as a loss at the start of a round.
    fn set_state(&mut self, sk: &mut CcSock, new: CaState) {
        if new == CaState::Loss {
            self.prev_ca_state = CaState::Loss;
            self.full_bw = 0;
            self.round_start = true;
            self.sample_longterm(sk, &RateSample { losses: 1, ..RateSample::default() });
        }
    }

    // linux: net/ipv4/tcp_bbr.c bbr_cwnd_event (6.1) - after an idle period, paces at the bandwidth without
    // probing.
    fn cwnd_event(&mut self, sk: &mut CcSock, event: CcEvent) {
        if event != CcEvent::TxStart || sk.app_limited == 0 {
            return;
        }
        self.idle_restart = true;
        self.aggregation.restart_epoch(sk);
        match self.mode {
            Mode::ProbeBw => self.set_pacing_rate(sk, self.bw(), UNIT),
            Mode::ProbeRtt => self.check_probe_rtt_done(sk),
            Mode::Startup | Mode::Drain => {}
        }
    }

    // linux: net/ipv4/tcp_bbr.c bbr_undo_cwnd (6.1) - resets full-pipe and policer detection, which
    // reordering may have triggered.
    fn undo_cwnd(&mut self, sk: &mut CcSock) -> u32 {
        self.full_bw = 0;
        self.full_bw_cnt = 0;
        self.longterm.reset(sk);
        sk.snd_cwnd
    }

    // linux: net/ipv4/tcp_bbr.c bbr_sndbuf_expand (6.1).
    fn sndbuf_expand(&self) -> u32 {
        3
    }

    // linux: net/ipv4/tcp_bbr.c bbr_min_tso_segs (6.1).
    fn min_tso_segs(&self, sk: &CcSock, _default: u32) -> u32 {
        if sk.pacing_rate < self.params.min_tso_rate >> 3 { 1 } else { 2 }
    }
}
