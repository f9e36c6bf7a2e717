//! PIE (RFC 8033): drops or marks at enqueue with a probability that a controller derives from the queueing
//! delay.
//!
//! Every `tupdate` the probability changes in proportion to the distance of the delay from its target, and to
//! the change of the delay; steps are smaller while the probability is small. The integer arithmetic is the
//! kernel's: probabilities are fractions of 2^56, times are in units of 64 ns.

mod as_aqm;

pub use as_aqm::PieAqm;

use crate::types::{Duration, Instant};

/// Probability 1.
// linux: include/net/pie.h MAX_PROB (6.1).
pub const MAX_PROB: u64 = u64::MAX >> 8;

/// Bytes per measurement of the drain rate, and backlog needed to start one.
// linux: include/net/pie.h QUEUE_THRESHOLD (6.1); spec: rfc8033 5.2 DQ_THRESHOLD - 2^14.
const QUEUE_THRESHOLD: u64 = 16_384;

/// Time units per second.
// linux: include/net/pkt_sched.h PSCHED_TICKS_PER_SEC (6.1) - one unit is 2^6 ns.
const TICKS_PER_SEC: u64 = 15_625_000;

const fn ticks(ns: u64) -> u64 {
    ns >> 6
}

/// Burst allowance after an idle time.
// linux: include/net/pie.h pie_vars_init (6.1); spec: rfc8033 5.1 MAX_BURST - 150 ms.
const BURST: u64 = ticks(150_000_000);

/// Parameters, by their tc names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PieParams {
    /// Target delay.
    pub target: Duration,
    /// Weight of the distance from the target, in sixteenths.
    pub alpha: u32,
    /// Weight of the change of the delay, in sixteenths.
    pub beta: u32,
    /// Mark ECN-capable packets while the probability is at most 10 %.
    pub ecn: bool,
    /// Scale the probability with the packet's size.
    pub bytemode: bool,
    /// Estimate the delay from queue length and drain rate instead of from sojourn times.
    pub dq_rate_estimator: bool,
    /// Size of a full packet of the device in bytes. Nothing is dropped while the backlog is below two of
    /// them.
    pub mtu: u32,
}

impl Default for PieParams {
    // linux: include/net/pie.h pie_params_init (6.1).
    fn default() -> Self {
        Self {
            target: Duration::from_millis(15),
            alpha: 2,
            beta: 20,
            ecn: false,
            bytemode: false,
            dq_rate_estimator: false,
            mtu: 1514,
        }
    }
}

/// State of PIE for one queue.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PieState {
    qdelay: u64,
    qdelay_old: u64,
    burst_time: u64,
    dq_tstamp: Option<u64>,
    prob: u64,
    accu_prob: u64,
    /// Bytes dequeued since the measurement started. `None` if no measurement is running.
    dq_count: Option<u64>,
    /// Bytes per 256 time units; 0 before the first measurement.
    avg_dq_rate: u64,
}

impl Default for PieState {
    fn default() -> Self {
        Self {
            qdelay: 0,
            qdelay_old: 0,
            burst_time: BURST,
            dq_tstamp: None,
            prob: 0,
            accu_prob: 0,
            dq_count: None,
            avg_dq_rate: 0,
        }
    }
}

impl PieState {
    /// The drop probability, as a fraction of [`MAX_PROB`].
    pub const fn prob(&self) -> u64 {
        self.prob
    }

    /// The last computed delay.
    pub const fn qdelay(&self) -> Duration {
        Duration::from_nanos(self.qdelay << 6)
    }

    /// The measured drain rate in bytes per second; 0 before the first measurement.
    pub const fn drain_rate(&self) -> u64 {
        (self.avg_dq_rate * TICKS_PER_SEC) >> 8
    }

    /// Returns true if arriving packets may be marked instead of dropped.
    // linux: net/sched/sch_pie.c pie_qdisc_enqueue (6.1); spec: rfc8033 5.1 mark_ecnth - 10 %.
    pub const fn marks(&self) -> bool {
        self.prob <= MAX_PROB / 10
    }

    /// Records that a packet was dropped, for any reason.
    pub const fn dropped(&mut self) {
        self.accu_prob = 0;
    }

    /// Returns true if an arriving packet of `len` bytes must be dropped or marked, with `backlog` bytes
    /// queued. `draw` returns 64 random bits.
    // linux: net/sched/sch_pie.c pie_drop_early (6.1); spec: rfc8033 4.1, 5.4 - accumulates the probability
    // over admitted packets: never drops while the sum is below 0.85, always drops from 8.5 on.
    #[inline]
    pub fn drop_early(
        &mut self,
        params: &PieParams,
        backlog: u64,
        len: u32,
        draw: impl FnOnce() -> u64,
    ) -> bool {
        if self.burst_time > 0
            || (self.qdelay < ticks(params.target.nanos()) / 2 && self.prob < MAX_PROB / 5)
            || backlog < 2 * u64::from(params.mtu)
        {
            return false;
        }
        let prob = if params.bytemode && len <= params.mtu {
            u64::from(len) * (self.prob / u64::from(params.mtu))
        } else {
            self.prob
        };
        self.accu_prob = if prob == 0 { 0 } else { self.accu_prob.wrapping_add(prob) };
        if self.accu_prob < MAX_PROB / 100 * 85 {
            return false;
        }
        if self.accu_prob >= MAX_PROB / 2 * 17 {
            return true;
        }
        let hit = draw() >> 8 < prob;
        if hit {
            self.accu_prob = 0;
        }
        hit
    }

    /// Records the departure of a packet of `len` bytes that was queued at `came`; `backlog` bytes remain.
    // linux: net/sched/sch_pie.c pie_process_dequeue (6.1); spec: rfc8033 4.3, 5.2.
    #[inline]
    pub fn dequeued(&mut self, params: &PieParams, now: Instant, came: Instant, backlog: u64, len: u32) {
        let now = ticks((now - Instant::ZERO).nanos());
        let taken = if params.dq_rate_estimator {
            self.measure(now, backlog, len)
        } else {
            let waited = now - ticks((came - Instant::ZERO).nanos());
            self.qdelay = if backlog > 0 { waited } else { 0 };
            now - self.dq_tstamp.replace(now).unwrap_or(now)
        };
        self.burst_time = self.burst_time.saturating_sub(taken);
    }

    /// Counts bytes for the drain rate. Returns the duration of a measurement that just ended, or 0.
    fn measure(&mut self, now: u64, backlog: u64, len: u32) -> u64 {
        if backlog >= QUEUE_THRESHOLD && self.dq_count.is_none() {
            (self.dq_tstamp, self.dq_count) = (Some(now), Some(0));
        }
        let Some(count) = &mut self.dq_count else { return 0 };
        *count += u64::from(len);
        let taken = now - self.dq_tstamp.unwrap_or(now);
        if *count < QUEUE_THRESHOLD || taken == 0 {
            return 0;
        }
        let rate = (*count << 8) / taken;
        self.avg_dq_rate = match self.avg_dq_rate {
            0 => rate,
            avg => avg - (avg >> 3) + (rate >> 3),
        };
        if backlog < QUEUE_THRESHOLD {
            self.dq_count = None;
        } else {
            (self.dq_tstamp, self.dq_count) = (Some(now), Some(0));
        }
        taken
    }

    /// Updates the drop probability while `backlog` bytes are queued. Call this every `tupdate`.
    // linux: net/sched/sch_pie.c pie_calculate_probability (6.1); spec: rfc8033 4.2, 5.5.
    pub fn update(&mut self, params: &PieParams, backlog: u64) {
        if params.dq_rate_estimator {
            self.qdelay_old = self.qdelay;
            self.qdelay = (backlog << 8).checked_div(self.avg_dq_rate).unwrap_or(0);
        }
        let (qdelay, old) = (self.qdelay, self.qdelay_old);
        // A delay of zero with packets queued means that no delay was measured.
        let mut decays = qdelay > 0 || backlog == 0;
        let target = ticks(params.target.nanos());
        let before = self.prob;
        let mut delta = self.delta(params, qdelay as i64 - target as i64, qdelay as i64 - old as i64);
        // Steps of at most 2 % from a probability of 10 % on; 2 % more if the delay exceeds 250 ms.
        if delta > (MAX_PROB / 50) as i64 && before >= MAX_PROB / 10 {
            delta = (MAX_PROB / 100 * 2) as i64;
        }
        if qdelay > ticks(250_000_000) {
            delta += (MAX_PROB / 50) as i64;
        }
        self.prob = before.wrapping_add_signed(delta);
        if delta > 0 && self.prob < before {
            self.prob = MAX_PROB;
            decays = false;
        } else if delta <= 0 && self.prob > before {
            self.prob = 0;
        }
        if qdelay == 0 && old == 0 && decays {
            self.prob -= self.prob / 64;
        }
        let low = target / 2;
        let measured = !params.dq_rate_estimator || self.avg_dq_rate > 0;
        if qdelay < low && old < low && self.prob == 0 && measured {
            let Self { qdelay, qdelay_old, prob, .. } = *self;
            *self = Self { qdelay, qdelay_old, prob, ..Self::default() };
        }
        if !params.dq_rate_estimator {
            self.qdelay_old = qdelay;
        }
    }

    /// Change of the probability, for the delay's distance from its target and its change.
    // linux: net/sched/sch_pie.c pie_calculate_probability (6.1); spec: rfc8033 5.1, 5.5 - halves the weights
    // below 0.1, and divides them by four again at each further power of ten, from 0.01 down.
    fn delta(&self, params: &PieParams, off: i64, change: i64) -> i64 {
        let weight = |w: u32| (u64::from(w) * (MAX_PROB / TICKS_PER_SEC)) >> 4;
        let (mut alpha, mut beta) = (weight(params.alpha), weight(params.beta));
        if self.prob < MAX_PROB / 10 {
            (alpha, beta) = (alpha >> 1, beta >> 1);
            let mut power = 100;
            while power <= 1_000_000 && self.prob < MAX_PROB / power {
                (alpha, beta) = (alpha >> 2, beta >> 2);
                power *= 10;
            }
        }
        (alpha as i64).wrapping_mul(off).wrapping_add((beta as i64).wrapping_mul(change))
    }
}

#[cfg(test)]
mod tests;
