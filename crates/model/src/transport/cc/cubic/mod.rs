//! CUBIC: the window is a cubic function of the time since the last reduction.
//!
//! [`Curve`] is the law alone, in integers: it knows neither sockets nor TCP. [`Cubic`] is the controller
//! around it, with [`Hystart`] to leave slow start.
// spec: rfc9438 4 - window growth, Reno-friendly region, fast convergence.

#[cfg(test)]
mod tests;

use super::hystart::{DelayClock, Hystart, HystartParams};
use super::reno::{GrowthRules, MIN_SSTHRESH, cong_avoid_ai, slow_start};
use super::{AckSample, CaState, CcEvent, CcSock, Controller};

/// Unit of `beta`: fractions of the window are multiples of 1/1024.
// linux: net/ipv4/tcp_cubic.c BICTCP_BETA_SCALE (6.1).
pub const BETA_SCALE: u32 = 1024;
/// Time is counted in 2^-`HZ_SHIFT` s.
// linux: net/ipv4/tcp_cubic.c BICTCP_HZ (6.1).
const HZ_SHIFT: u32 = 10;
/// The cube of that time, and the ten bits by which `bic_scale` is a fraction.
pub const CUBE_SHIFT: u32 = 10 + 3 * HZ_SHIFT;
/// Segments per acknowledgement are counted in 2^-`RATIO_SHIFT`, 2 of them at first and 32 at most.
// linux: net/ipv4/tcp_cubic.c ACK_RATIO_SHIFT, ACK_RATIO_LIMIT (3.10).
const RATIO_SHIFT: u32 = 4;
const FIRST_RATIO: u32 = 2 << RATIO_SHIFT;
const MOST_RATIO: u32 = 32 << RATIO_SHIFT;
/// Longest time from the origin that is told apart, in 2^-10 s: 256 s, or seven million segments.
// deviation: Linux lets the cube overflow 64 bits - that would be reached after ten minutes without a loss.
pub const MAX_OFFSET: u64 = 1 << 18;

/// Parameters, by the names of the kernel module (`/sys/module/tcp_cubic/parameters`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CubicParams {
    /// Release bandwidth faster when the window at a loss is below that of the loss before.
    pub fast_convergence: bool,
    /// Factor for the window after a loss, in 1/1024.
    pub beta: u32,
    /// Initial threshold in segments if HyStart is off; 0: none.
    pub initial_ssthresh: u32,
    /// The constant C in 1/1024 segments/s^3 times 0.1: 41 is 0.4.
    pub bic_scale: u32,
    /// Grow at least as fast as Reno would.
    pub tcp_friendliness: bool,
    /// HyStart: how slow start ends before a loss.
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

/// The cubic function, with the state of the last reduction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Curve {
    /// Acknowledged segments for one more segment of window.
    cnt: u32,
    /// Window before the last reduction, or less by fast convergence.
    last_max_cwnd: u32,
    /// Window and instant in ticks of the last computation.
    last: (u32, u32),
    /// Where the curve is flat, in segments.
    origin: u32,
    /// Time from the start of the epoch to there, in 2^-10 s.
    k: u32,
    /// Start of the epoch in ticks, if growth has begun since the last reduction.
    epoch_start: Option<u32>,
    /// Segments acknowledged that have not yet grown `tcp_cwnd`.
    ack_cnt: u32,
    /// Window that Reno would have, in segments.
    tcp_cwnd: u32,
}

/// Connection state that the cubic function uses.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// Window in segments.
    pub cwnd: u32,
    /// Number of segments just acknowledged.
    pub acked: u32,
    /// Current time in ticks.
    pub jiffies: u32,
    /// CONFIG_HZ: ticks per second.
    pub hz: u32,
    /// Minimum round-trip time in ticks: the curve is read one round trip ahead.
    pub delay_min: u32,
    /// Segments that an acknowledgement covers on average, in 1/16, where not those but acknowledgements
    /// count; 0: segments do.
    pub per_ack: u32,
}

impl Curve {
    /// Number of acknowledged segments for which the window grows by one segment.
    // linux: net/ipv4/tcp_cubic.c bictcp_update (6.1).
    pub fn update(&mut self, params: &CubicParams, at: Moment) -> u32 {
        self.ack_cnt += at.acked;
        let since = at.jiffies.wrapping_sub(self.last.1) as i32;
        // linux: same - while the window stays the same, one computation in 1/32 s is enough.
        if self.last.0 == at.cwnd && since <= (at.hz / 32) as i32 {
            return self.cnt;
        }
        // linux: same - within one tick only the Reno part is looked at again; everything where
        // acknowledgements count.
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
            // linux: same - never more than one segment for two.
            None => self.cnt.max(2),
        };
        self.cnt
    }

    /// What the cubic function alone says.
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
        // linux: net/ipv4/tcp_cubic.c bictcp_update (6.1) - before the first loss growth is at least 5 % a
        // round trip.
        if self.last_max_cwnd == 0 { cnt.min(20) } else { cnt }
    }

    /// What is needed to follow Reno's window, which grows by 3 (1 - beta) / (1 + beta) a round trip.
    // spec: rfc9438 4.3 - Reno-friendly region.
    fn as_reno(&mut self, params: &CubicParams, cwnd: u32) -> u32 {
        let beta_scale = 8 * (BETA_SCALE + params.beta) / 3 / (BETA_SCALE - params.beta);
        let per_segment = ((cwnd * beta_scale) >> 3).max(1);
        // linux: net/ipv4/tcp_cubic.c bictcp_update (6.1) - a step is taken when there is more than enough
        // for it.
        if self.ack_cnt > per_segment {
            let steps = (self.ack_cnt - 1) / per_segment;
            self.ack_cnt -= steps * per_segment;
            self.tcp_cwnd += steps;
        }
        if self.tcp_cwnd > cwnd { cwnd / (self.tcp_cwnd - cwnd) } else { u32::MAX }
    }

    /// Slow-start threshold after a reduction from a window of `cwnd`. Ends the epoch.
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

    /// Data is sent again after an idle time: the epoch is shifted by the time since `last_sent`.
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

    /// Whether growth began less than `ticks` ago.
    fn is_young(&self, jiffies: u32, ticks: u32) -> bool {
        self.epoch_start.is_some_and(|start| (jiffies.wrapping_sub(start) as i32) < ticks as i32)
    }
}

/// How far the cubic is from where it is flat, in segments, so long before or after (in 2^-10 s); `scale` is
/// C times 1024.
pub fn height(scale: u64, offset: u64) -> u64 {
    let offset = offset.min(MAX_OFFSET);
    (scale * offset * offset * offset) >> CUBE_SHIFT
}

/// How long before its flat part the cubic is `below` units lower, in 2^-10 s, where a segment is so many
/// units.
pub fn time_to_rise(scale: u64, units: u64, below: u64) -> u32 {
    cube_root((1 << CUBE_SHIFT) / scale / units * below)
}

/// Integer cube root, rounded down.
// deviation: Linux's root starts from a table and is up to 0.15 % off here - an exact one needs no table, and
// K is found once an epoch.
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

/// CUBIC as Linux has it.
#[derive(Clone, Debug, Default)]
pub struct Cubic {
    params: CubicParams,
    curve: Curve,
    hystart: Hystart,
    /// Minimum round-trip time in the units of the kernel's clock for it; 0 before the first measurement.
    delay_min: u32,
    /// Segments that an acknowledgement covers, in 1/16 (before 4.0).
    delayed_ack: u32,
}

impl Cubic {
    /// With parameters other than the module's defaults.
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
        // linux: net/ipv4/tcp_cubic.c bictcp_update (3.10) - before 4.0 (9cd981dcf174) what an
        // acknowledgement covers counts only on average.
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

    // linux: net/ipv4/tcp_cubic.c cubictcp_state (6.1) - a timeout forgets everything, the minimum delay too.
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

    // linux: net/ipv4/tcp_cubic.c cubictcp_acked (6.1) - delays of the first second of an epoch are not
    // trusted: the queue is still draining.
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
