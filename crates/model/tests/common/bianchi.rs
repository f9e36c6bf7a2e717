//! Bianchi's model of a saturated DCF: what `n` stations that always have a frame to send get from one
//! channel.
//!
//! An outside yardstick for the contention of the air; its source is the paper alone. Floating point is at
//! home here: nothing of it enters a run.

#![allow(dead_code, reason = "each test that includes this file uses a part of it")]

/// Lengths of the three things that can happen in a slot, in any one unit of time.
#[derive(Clone, Copy, Debug)]
pub struct SlotDurations {
    /// An idle slot.
    pub slot: f64,
    /// A successful exchange, with its acknowledgement and the gap after it.
    pub success: f64,
    /// A collision, with the gap after it.
    pub collision: f64,
    /// Payload within a successful exchange: its length is what counts as throughput.
    pub payload: f64,
}

/// What the model says.
#[derive(Clone, Copy, Debug)]
pub struct Saturation {
    /// Probability that a station transmits in a slot.
    pub tau: f64,
    /// Probability that a transmission collides.
    pub p: f64,
    /// Share of the time in which payload is received.
    pub throughput: f64,
}

/// Saturated `n` stations with windows of `window`, twice that, and so on for `stages` doublings.
///
/// `window` counts the values that a first back-off can have: CWmin + 1 in the standard's terms.
pub fn saturation(n: u32, window: u32, stages: u32, durations: SlotDurations) -> Saturation {
    assert!(n > 0 && window > 0);
    // p is found as the one root of tau(p(tau)) = tau; the right side falls in tau, so bisection finds it.
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if transmission(collision(middle, n), window, stages) > middle {
            low = middle;
        } else {
            high = middle;
        }
    }
    let tau = 0.5 * (low + high);
    let p = collision(tau, n);
    Saturation { tau, p, throughput: throughput(tau, n, durations) }
}

/// Probability that a transmission meets another one.
// paper: bianchi-2000 eq. 9 - at least one of the other n - 1 transmits too.
pub fn collision(tau: f64, n: u32) -> f64 {
    1.0 - (1.0 - tau).powi(n as i32 - 1)
}

/// Probability that a station transmits in a slot, given the probability of a collision.
// paper: bianchi-2000 eq. 7 - here with the quotient of (1 - (2p)^m) and (1 - 2p) written as the sum it is,
// so that p = 1/2 needs no case of its own.
pub fn transmission(p: f64, window: u32, stages: u32) -> f64 {
    let w = f64::from(window);
    let sum: f64 = (0..stages).map(|i| (2.0 * p).powi(i as i32)).sum();
    2.0 / (1.0 + w + p * w * sum)
}

/// Share of the time in which payload is received, when each of `n` stations transmits with probability
/// `tau`.
// paper: bianchi-2000 eq. 10, 11 and 13 - successes, collisions and idle slots by probability and length.
pub fn throughput(tau: f64, n: u32, d: SlotDurations) -> f64 {
    let idle = (1.0 - tau).powi(n as i32);
    let success = f64::from(n) * tau * (1.0 - tau).powi(n as i32 - 1);
    let collision = 1.0 - idle - success;
    success * d.payload / (idle * d.slot + success * d.success + collision * d.collision)
}
