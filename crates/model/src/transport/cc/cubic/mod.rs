//! CUBIC: the window is a cubic function of the time since the last reduction.
//!
//! [`Curve`] is the integer arithmetic of the cubic function, independent of TCP. [`Cubic`] is the controller
//! built on it, with [`Hystart`] to leave slow start.
// spec: rfc9438 4 - window growth, Reno-friendly region, fast convergence.

#[cfg(test)]
mod tests;

use super::hystart::{DelayClock, Hystart, HystartParams};
use super::reno::{GrowthRules, MIN_SSTHRESH, cong_avoid_ai, slow_start};
use super::{AckSample, CaState, CcEvent, CcSock, Controller};

/// Unit of `beta`: window fractions are in 1/1024.
// linux: net/ipv4/tcp_cubic.c BICTCP_BETA_SCALE (6.1).
pub const BETA_SCALE: u32 = 1024;
/// Unit of time: 2^-`HZ_SHIFT` s.
// linux: net/ipv4/tcp_cubic.c BICTCP_HZ (6.1).
const HZ_SHIFT: u32 = 10;
/// Fractional bits of the cube of a time, plus the ten of `bic_scale`.
pub const CUBE_SHIFT: u32 = 10 + 3 * HZ_SHIFT;
/// Fractional bits of the average number of segments per ACK, its initial value (2) and its maximum (32).
// linux: net/ipv4/tcp_cubic.c ACK_RATIO_SHIFT, ACK_RATIO_LIMIT (3.10).
const RATIO_SHIFT: u32 = 4;
const FIRST_RATIO: u32 = 2 << RATIO_SHIFT;
const MOST_RATIO: u32 = 32 << RATIO_SHIFT;
/// Maximum time from the origin, in 2^-10 s: 256 s, or seven million segments.
// deviation: clamps the time instead of letting the cube overflow 64 bits as Linux does - the overflow takes
// ten minutes without a loss.
pub const MAX_OFFSET: u64 = 1 << 18;

/// Parameters, named after those of the kernel module (`/sys/module/tcp_cubic/parameters`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CubicParams {
    /// Release bandwidth faster if the window at a loss is below that at the previous loss.
    pub fast_convergence: bool,
    /// Multiplicative decrease factor, in 1/1024.
    pub beta: u32,
    /// Initial slow-start threshold in segments if HyStart is off; 0 for none.
    pub initial_ssthresh: u32,
    /// The constant C, in 1/1024 segments/s^3 times 0.1: 41 is 0.4.
    pub bic_scale: u32,
    /// Grow at least as fast as Reno.
    pub tcp_friendliness: bool,
    /// HyStart parameters.
    pub hystart: HystartParams,
}

// linux: net/ipv4/tcp_cubic.c (6.1) - the module's defaults.
impl Default for CubicParams {
    fn default() -> Self {
        Self {
            fast_convergence: true,
            beta: 717,
            initial_ssthresh: 0,
            bic_scale: 41,
            tcp_friendliness: true,
            hystart: HystartParams::default(),
        }
    }
}

/// The cubic function and its state since the last reduction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Curve {
    /// Acknowledged segments per window increment.
    cnt: u32,
    /// Window before the last reduction, lowered by fast convergence.
    last_max_cwnd: u32,
    /// Window and time in ticks of the last computation.
    last: (u32, u32),
    /// Window at the plateau, in segments.
    origin: u32,
    /// Time from the start of the epoch to the plateau, in 2^-10 s.
    k: u32,
    /// Start of the epoch in ticks; `None` if the window has not grown since the last reduction.
    epoch_start: Option<u32>,
    /// Acknowledged segments not yet added to `tcp_cwnd`.
    ack_cnt: u32,
    /// Estimated window of a Reno flow, in segments.
    tcp_cwnd: u32,
}

/// Connection state used by the cubic function.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// Congestion window in segments.
    pub cwnd: u32,
    /// Newly acknowledged segments.
    pub acked: u32,
    /// Current time in ticks.
    pub jiffies: u32,
    /// CONFIG_HZ: ticks per second.
    pub hz: u32,
    /// Minimum RTT in ticks. The curve is evaluated one RTT ahead.
    pub delay_min: u32,
    /// Average segments per ACK in 1/16 if growth counts ACKs; 0 if growth counts segments.
    pub per_ack: u32,
}

impl Curve {
    /// Returns the number of acknowledged segments per window increment.
    // linux: net/ipv4/tcp_cubic.c bictcp_update (6.1).
    pub fn update(&mut self, params: &CubicParams, at: Moment) -> u32 {
        self.ack_cnt += at.acked;
        let since = at.jiffies.wrapping_sub(self.last.1) as i32;
        // linux: same - recomputes at most every 1/32 s while the window is unchanged.
        if self.last.0 == at.cwnd && since <= (at.hz / 32) as i32 {
            return self.cnt;
        }
        // linux: same - recomputes only the Reno estimate within a tick, or everything if ACKs count.
        if self.epoch_start.is_none() || since != 0 || at.per_ack > 0 {
            self.last = (at.cwnd, at.jiffies);
            self.cnt = self.by_time(params, at);
        }
        if params.tcp_friendliness {
            self.cnt = self.cnt.min(self.as_reno(params, at.cwnd));
        }
        self.cnt = match (self.cnt << RATIO_SHIFT).checked_div(at.per_ack) {
            // linux: net/ipv4/tcp_cubic.c bictcp_update (3.10).
            Some(acks) => acks.max(1),
            // linux: same - grows by at most one segment per two acknowledged segments.
            None => self.cnt.max(2),
        };
        self.cnt
    }

    /// Returns the increment interval of the cubic function, without the Reno-friendly region.
    fn by_time(&mut self, params: &CubicParams, at: Moment) -> u32 {
        let scale = u64::from(params.bic_scale) * 10;
        let start = *self.epoch_start.get_or_insert_with(|| {
            self.ack_cnt = at.acked;
            self.tcp_cwnd = at.cwnd;
            (self.k, self.origin) = match self.last_max_cwnd.checked_sub(at.cwnd) {
                // spec: rfc9438 4.2 - K = cbrt((Wmax - cwnd) / C).
                Some(below @ 1..) => (time_to_rise(scale, 1, u64::from(below)), self.last_max_cwnd),
                _ => (0, at.cwnd),
            };
            at.jiffies
        });
        let ticks = (at.jiffies.wrapping_sub(start) as i32).max(0) as u64 + u64::from(at.delay_min);
        let t = (ticks << HZ_SHIFT) / u64::from(at.hz);
        let k = u64::from(self.k);
        // spec: rfc9438 4.2 - W(t) = C (t - K)^3 + Wmax.
        let delta = height(scale, t.abs_diff(k)) as u32;
        let target =
            if t < k { self.origin.saturating_sub(delta) } else { self.origin.saturating_add(delta) };
        let cnt = if target > at.cwnd { at.cwnd / (target - at.cwnd) } else { 100 * at.cwnd };
        // linux: net/ipv4/tcp_cubic.c bictcp_update (6.1) - grows at least 5 % per RTT before the first loss.
        if self.last_max_cwnd == 0 { cnt.min(20) } else { cnt }
    }

    /// Returns the increment interval of Reno, which grows by 3 (1 - beta) / (1 + beta) per RTT.
    // spec: rfc9438 4.3 - Reno-friendly region.
    fn as_reno(&mut self, params: &CubicParams, cwnd: u32) -> u32 {
        let beta_scale = 8 * (BETA_SCALE + params.beta) / 3 / (BETA_SCALE - params.beta);
        let per_segment = ((cwnd * beta_scale) >> 3).max(1);
        // linux: net/ipv4/tcp_cubic.c bictcp_update (6.1) - steps only if the count exceeds it.
        if self.ack_cnt > per_segment {
            let steps = (self.ack_cnt - 1) / per_segment;
            self.ack_cnt -= steps * per_segment;
            self.tcp_cwnd += steps;
        }
        if self.tcp_cwnd > cwnd { cwnd / (self.tcp_cwnd - cwnd) } else { u32::MAX }
    }

    /// Returns the slow-start threshold after a reduction from `cwnd`, and ends the epoch.
    // linux: net/ipv4/tcp_cubic.c cubictcp_recalc_ssthresh (6.1).
    // spec: rfc9438 4.6, 4.7 - multiplicative decrease, fast convergence.
    pub fn reduce(&mut self, params: &CubicParams, cwnd: u32) -> u32 {
        self.epoch_start = None;
        self.last_max_cwnd = if params.fast_convergence && cwnd < self.last_max_cwnd {
            cwnd * (BETA_SCALE + params.beta) / (2 * BETA_SCALE)
        } else {
            cwnd
        };
        (cwnd * params.beta / BETA_SCALE).max(MIN_SSTHRESH)
    }

    /// Shifts the epoch by the idle time since `last_sent` when transmission restarts.
    // linux: net/ipv4/tcp_cubic.c cubictcp_cwnd_event (6.1).
    pub fn resume(&mut self, jiffies: u32, last_sent: u32) {
        if let Some(start) = &mut self.epoch_start {
            let idle = jiffies.wrapping_sub(last_sent) as i32;
            if idle > 0 {
                let moved = start.wrapping_add(idle as u32);
                *start = if (moved.wrapping_sub(jiffies) as i32) > 0 { jiffies } else { moved };
            }
        }
    }

    /// Returns true if the epoch started less than `ticks` ago.
    fn is_young(&self, jiffies: u32, ticks: u32) -> bool {
        self.epoch_start.is_some_and(|start| (jiffies.wrapping_sub(start) as i32) < ticks as i32)
    }
}

/// Distance from the plateau in segments, `offset` (in 2^-10 s) before or after it. `scale` is C times 1024.
pub fn height(scale: u64, offset: u64) -> u64 {
    let offset = offset.min(MAX_OFFSET);
    (scale * offset * offset * offset) >> CUBE_SHIFT
}

/// Time in 2^-10 s to rise by `below` units to the plateau, with `units` units per segment.
pub fn time_to_rise(scale: u64, units: u64, below: u64) -> u32 {
    cube_root((1 << CUBE_SHIFT) / scale / units * below)
}

/// Returns the integer cube root, rounded down.
// deviation: computes an exact root; Linux's table-based root is up to 0.15 % off here - an exact root needs
// no table, and K is computed once per epoch.
pub fn cube_root(a: u64) -> u32 {
    let mut root = 0_u64;
    for bit in (0..22).rev() {
        let tried = root | 1 << bit;
        if tried.checked_pow(3).is_some_and(|cube| cube <= a) {
            root = tried;
        }
    }
    root as u32
}

/// CUBIC as implemented in Linux.
#[derive(Clone, Debug, Default)]
pub struct Cubic {
    params: CubicParams,
    curve: Curve,
    hystart: Hystart,
    /// Minimum RTT in the units of [`DelayClock`]; 0 before the first measurement.
    delay_min: u32,
    /// Average segments per ACK, in 1/16 (before 4.0).
    delayed_ack: u32,
}

impl Cubic {
    /// Creates a controller with these parameters. The default is the kernel module's.
    pub fn new(params: CubicParams) -> Self {
        Self { params, delayed_ack: FIRST_RATIO, ..Self::default() }
    }
}

impl Controller for Cubic {
    // linux: net/ipv4/tcp_cubic.c cubictcp_init (6.1).
    fn init(&mut self, sk: &mut CcSock) {
        *self = Self::new(self.params);
        if self.params.hystart.hystart {
            self.hystart.start_round(&self.params.hystart, sk);
        } else if self.params.initial_ssthresh != 0 {
            sk.snd_ssthresh = self.params.initial_ssthresh;
        }
    }

    fn ssthresh(&mut self, sk: &mut CcSock) -> u32 {
        self.curve.reduce(&self.params, sk.snd_cwnd)
    }

    // linux: net/ipv4/tcp_cubic.c cubictcp_cong_avoid (6.1).
    #[inline]
    fn cong_avoid(&mut self, sk: &mut CcSock, ack: u32, mut acked: u32) {
        if !sk.is_cwnd_limited {
            return;
        }
        if sk.in_slow_start() {
            self.hystart.on_cong_avoid(&self.params.hystart, sk, ack);
            acked = slow_start(sk, acked);
            if acked == 0 {
                return;
            }
        }
        // linux: net/ipv4/tcp_cubic.c bictcp_update (3.10) - before 4.0 (9cd981dcf174), counts ACKs and
        // scales by the average number of segments per ACK.
        let (acked, per_ack) = match sk.growth {
            GrowthRules::Linux3_13 => (1, self.delayed_ack),
            GrowthRules::Linux4_3 | GrowthRules::Linux5_7 => (acked, 0),
        };
        let at = Moment {
            cwnd: sk.snd_cwnd,
            acked,
            per_ack,
            jiffies: sk.jiffies,
            hz: sk.hz,
            delay_min: self.params.hystart.rules.clock.ticks(self.delay_min, sk.hz),
        };
        let cnt = self.curve.update(&self.params, at);
        cong_avoid_ai(sk, cnt, acked);
    }

    // linux: net/ipv4/tcp_cubic.c cubictcp_state (6.1) - a timeout resets all state, even the minimum delay.
    fn set_state(&mut self, sk: &mut CcSock, new: CaState) {
        if new == CaState::Loss {
            *self = Self::new(self.params);
            self.hystart.start_round(&self.params.hystart, sk);
        }
    }

    fn cwnd_event(&mut self, sk: &mut CcSock, event: CcEvent) {
        if event == CcEvent::TxStart {
            self.curve.resume(sk.jiffies, sk.lsndtime);
        }
    }

    // linux: net/ipv4/tcp_cubic.c cubictcp_acked (6.1) - ignores delays in the first second of an epoch,
    // while the queue is still draining.
    #[inline]
    fn pkts_acked(&mut self, sk: &mut CcSock, sample: &AckSample) {
        // linux: net/ipv4/tcp_cubic.c bictcp_acked (3.10).
        if sk.growth == GrowthRules::Linux3_13 && sample.pkts_acked > 0 && sk.ca_state == CaState::Open {
            let ratio = self.delayed_ack - (self.delayed_ack >> RATIO_SHIFT) + sample.pkts_acked;
            self.delayed_ack = ratio.min(MOST_RATIO);
        }
        if sample.rtt_us < 0 || self.curve.is_young(sk.jiffies, sk.hz) {
            return;
        }
        let clock: DelayClock = self.params.hystart.rules.clock;
        let delay = clock.delay(sample.rtt_us).max(1);
        if self.delay_min == 0 || self.delay_min > delay {
            self.delay_min = delay;
        }
        if self.params.hystart.hystart && sk.in_slow_start() {
            self.hystart.update(&self.params.hystart, sk, delay, self.delay_min);
        }
    }
}
