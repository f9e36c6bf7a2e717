//! Bianchi's model of a saturated DCF: throughput of `n` stations that always have a frame to send.
//!
//! An independent reference for channel contention, based only on the paper. Floating point is acceptable,
//! because a run does not use this code.

#![allow(dead_code, reason = "each test that includes this file uses a part of it")]

/// Durations of the three possible events in a slot, in any unit of time.
#[derive(Clone, Copy, Debug)]
pub struct SlotDurations {
    /// An idle slot.
    pub slot: f64,
    /// A successful exchange, with its acknowledgement and the following gap.
    pub success: f64,
    /// A collision, with the following gap.
    pub collision: f64,
    /// Duration of the payload in a successful exchange, which counts as throughput.
    pub payload: f64,
}

/// Results of the model.
#[derive(Clone, Copy, Debug)]
pub struct Saturation {
    /// Probability that a station transmits in a slot.
    pub tau: f64,
    /// Probability that a transmission collides.
    pub p: f64,
    /// Fraction of time in which payload is received.
    pub throughput: f64,
}

/// Solves the model for `n` saturated stations with `stages` doublings of the initial window `window`.
///
/// `window` is the number of possible values of the first backoff: CWmin + 1 in the standard's terms.
pub fn saturation(n: u32, window: u32, stages: u32, durations: SlotDurations) -> Saturation {
    assert!(n > 0 && window > 0);
    // p is the only root of tau(p(tau)) = tau; the right-hand side decreases in tau, so bisection finds it.
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

/// Probability that a transmission collides.
// paper: bianchi-2000 eq. 9 - at least one of the other n - 1 stations transmits too.
pub fn collision(tau: f64, n: u32) -> f64 {
    1.0 - (1.0 - tau).powi(n as i32 - 1)
}

/// Probability that a station transmits in a slot, for a collision probability `p`.
// paper: bianchi-2000 eq. 7 - with the quotient of (1 - (2p)^m) and (1 - 2p) written as a sum, so that p =
// 1/2 is not a special case.
pub fn transmission(p: f64, window: u32, stages: u32) -> f64 {
    let w = f64::from(window);
    let sum: f64 = (0..stages).map(|i| (2.0 * p).powi(i as i32)).sum();
    2.0 / (1.0 + w + p * w * sum)
}

/// Fraction of time in which payload is received, if each of `n` stations transmits with probability `tau`.
// paper: bianchi-2000 eq. 10, 11 and 13 - probabilities and durations of successes, collisions and idle
// slots.
pub fn throughput(tau: f64, n: u32, d: SlotDurations) -> f64 {
    let idle = (1.0 - tau).powi(n as i32);
    let success = f64::from(n) * tau * (1.0 - tau).powi(n as i32 - 1);
    let collision = 1.0 - idle - success;
    success * d.payload / (idle * d.slot + success * d.success + collision * d.collision)
}
