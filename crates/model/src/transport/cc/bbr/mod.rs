//! BBR, version 1: paces at the bottleneck's bandwidth, keeps about two bandwidth-delay products in flight,
//! takes no notice of single losses.
//!
//! The path's model is in parts: `longterm` finds policers, `aggregation` how much acknowledgements come in
//! lumps, `windowed_max` the bandwidth. `phases` is the state machine, `window` what follows from the model:
//! window and pacing rate.
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

/// Bandwidths are in segments a us, times 2^24.
// linux: net/ipv4/tcp_bbr.c BW_SCALE (6.1).
const BW_SCALE: u32 = 24;
/// Unit of bandwidths.
const BW_UNIT: u64 = 1 << BW_SCALE;
/// Gains are in 1/256.
// linux: net/ipv4/tcp_bbr.c BBR_SCALE (6.1).
const SCALE: u32 = 8;
/// A gain of 1.
const UNIT: u32 = 1 << SCALE;

/// Phases of the gain cycle.
const CYCLE_LEN: u8 = 8;
/// Pacing gains of the cycle: probe, drain, cruise.
// spec: draft-cardwell-iccrg-bbr-congestion-control-00 4.3.4.
const PACING_GAIN: [u32; CYCLE_LEN as usize] =
    [UNIT * 5 / 4, UNIT * 3 / 4, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT];
/// Gain of STARTUP: 2 / ln 2, the least that doubles the rate each round.
// spec: draft-cardwell-iccrg-bbr-congestion-control-00 4.3.2.
const HIGH_GAIN: u32 = UNIT * 2_885 / 1_000 + 1;
/// Gain of DRAIN: its inverse.
const DRAIN_GAIN: u32 = UNIT * 1_000 / 2_885;
/// Gain of the window in PROBE_BW.
const CWND_GAIN: u32 = UNIT * 2;
/// Window that is kept whatever the model says, and that of PROBE_RTT, in segments.
const MIN_CWND: u32 = 4;
/// Initial window, by which the first growth is bounded, in segments.
// linux: include/net/tcp.h TCP_INIT_CWND (6.1) - the constant, not the route's setting.
const TCP_INIT_CWND: u32 = 10;

/// Parameters that differ between kernels, or that kernels fix at build time.
// linux: net/ipv4/tcp_bbr.c (6.1) - the module has no parameters in sysfs; names are those of its constants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BbrParams {
    /// Length of the bandwidth filter, in rounds.
    pub bw_rtts: u32,
    /// Length of the minimum RTT filter, in seconds.
    pub min_rtt_win_sec: u32,
    /// Minimum duration of PROBE_RTT in ms.
    pub probe_rtt_mode_ms: u32,
    /// Pacing margin: how far the pacing rate stays below the bandwidth, in percent (4.20 on; 0 before).
    pub pacing_margin_percent: u32,
    /// Gain of the extra window for aggregated acknowledgements, in 1/256 (5.1 on; 0 before: no extra
    /// window).
    pub extra_acked_gain: u32,
    /// The amount in flight is estimated for the departure time of the next packet (4.20 on), not for the
    /// current time.
    // linux: net/ipv4/tcp_bbr.c bbr_packets_in_net_at_edt (4.20; absent in 4.19).
    pub departure_times: bool,
    /// Pacing rate in bit/s below which a TSO packet may be one segment.
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

/// Phases of the state machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// Doubles the rate each round until the bandwidth stops growing.
    #[default]
    Startup,
    /// Drains the queue that Startup has built.
    Drain,
    /// Cruises, probing for more bandwidth each eighth phase.
    ProbeBw,
    /// Empties the path to measure the round-trip time.
    ProbeRtt,
}

/// BBR.
#[derive(Clone, Debug, Default)]
pub struct Bbr {
    params: BbrParams,
    mode: Mode,
    /// Congestion state at the acknowledgement before.
    prev_ca_state: CaState,
    /// In the first round of recovery: what leaves is what was delivered.
    packet_conservation: bool,
    /// Sends again after an idle time that the application caused.
    idle_restart: bool,
    /// The pacing rate rests on a measured round-trip time.
    has_seen_rtt: bool,
    /// This acknowledgement begins a round.
    round_start: bool,
    /// Rounds so far.
    rtt_cnt: u32,
    /// Value of `delivered` at which the next round begins.
    next_rtt_delivered: u32,
    /// Bandwidth: maximum over the last rounds.
    bw: WindowedMax,
    longterm: LongTerm,
    aggregation: AckAggregation,
    /// Minimum round-trip time in us, and when it was seen in ticks.
    min_rtt_us: u32,
    min_rtt_stamp: u32,
    /// When PROBE_RTT may end, in ticks, once few enough segments are in flight.
    probe_rtt_done_stamp: Option<u32>,
    /// A round has passed with so few.
    probe_rtt_round_done: bool,
    /// Window before recovery or PROBE_RTT.
    prior_cwnd: u32,
    /// Bandwidth that STARTUP's growth is held against, and rounds without enough of it.
    full_bw: u32,
    full_bw_cnt: u8,
    full_bw_reached: bool,
    /// Phase of the gain cycle, and when it began in us.
    cycle_idx: u8,
    cycle_mstamp: u64,
    pacing_gain: u32,
    cwnd_gain: u32,
}

impl Bbr {
    /// With parameters other than Linux 6.1's.
    pub fn new(params: BbrParams) -> Self {
        Self { params, ..Self::default() }
    }
    /// The current phase.
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

    /// Bandwidth that the sender goes by: the maximum, or a policer's rate.
    #[inline]
    fn bw(&self) -> u32 {
        self.longterm.in_use().unwrap_or(self.bw.get())
    }

    /// Takes the sample into the model of the path and lets the state machine act.
    // linux: net/ipv4/tcp_bbr.c bbr_update_model (6.1) - the order decides.
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

    // linux: net/ipv4/tcp_bbr.c bbr_ssthresh (6.1) - a threshold is of no use here; the window is kept for
    // later.
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

    // linux: net/ipv4/tcp_bbr.c bbr_set_state (6.1) - a timeout counts as a loss in a round of its own.
    fn set_state(&mut self, sk: &mut CcSock, new: CaState) {
        if new == CaState::Loss {
            self.prev_ca_state = CaState::Loss;
            self.full_bw = 0;
            self.round_start = true;
            self.sample_longterm(sk, &RateSample { losses: 1, ..RateSample::default() });
        }
    }

    // linux: net/ipv4/tcp_bbr.c bbr_cwnd_event (6.1) - after an idle time the rate is the bandwidth, no
    // probe.
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

    // linux: net/ipv4/tcp_bbr.c bbr_undo_cwnd (6.1) - what looked like a full pipe or a policer may have been
    // reordering.
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
