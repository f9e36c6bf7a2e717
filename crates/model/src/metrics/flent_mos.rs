//! The mean opinion score of Flent 0.15 to 1.2 (September 2016 to July 2018), which differs from the E-model.
//!
//! Scores published in those years use this formula. Without loss and up to a delay of 100 ms both agree.

use super::emodel::{M_T, loss_impairment, of_rating, without_lateness};

/// Packet-loss robustness: the minimum, instead of 4.3 for G.711 without concealment.
// paper: ending-the-anomaly sec. 4.2.1 - scores by Flent, which used 1 until version 2.1 (a8deecd).
const BPL: f64 = 1.0;

/// Mean opinion score for a one-way delay in ms (including jitter) and a loss ratio (0 to 1).
// deviation: includes talker echo below 1 ms, which Flent omits - it changes the score by less than 0.01.
pub fn mos(delay_ms: f64, loss: f64) -> f64 {
    of_rating(without_lateness(delay_ms) - lateness(delay_ms) - loss_impairment(loss, BPL))
}

/// Impairment by absolute delay: jumps to 62.5 beyond 100 ms, where the E-model starts at zero.
// paper: ending-the-anomaly sec. 4.2.1 - scores by Flent, which until version 1.3 (faa60f5) divided the
// second term of G.107 7-27 by six instead of taking its sixth root.
fn lateness(t: f64) -> f64 {
    if t <= M_T {
        return 0.0;
    }
    let x = libm::log2(t / M_T);
    let sixth = |x: f64| libm::pow(x, 6.0);
    25.0 * (libm::pow(1.0 + sixth(x), 1.0 / 6.0) - 3.0 * (1.0 + sixth(x / 3.0)) / 6.0 + 2.0)
}

#[cfg(test)]
mod tests {
    use super::super::emodel;
    use super::*;

    #[test]
    fn is_the_e_model_up_to_100_ms_without_loss() {
        for t in [1.0, 5.0, 50.0, 99.9, 100.0] {
            assert_eq!(mos(t, 0.0), emodel::mos(t, 0.0), "{t}");
        }
    }

    /// Scores computed by Flent 1.0 for these values, to three digits.
    #[test]
    fn the_curve() {
        for (delay, loss, score) in [
            (99.0, 0.0, 4.355),
            (101.0, 0.0, 1.534),
            (150.0, 0.0, 1.491),
            (200.0, 0.0, 1.357),
            (250.0, 0.0, 1.162),
            (300.0, 0.0, 1.037),
            (400.0, 0.0, 1.0),
            (9.4, 1.0 / 1500.0, 4.257),
            (9.4, 2.0 / 1500.0, 4.086),
            (54.4, 2.0 / 1500.0, 4.042),
        ] {
            let found = mos(delay, loss);
            assert!((found - score).abs() < 6e-4, "{delay} ms, {loss}: {found}");
        }
    }

    // A loss equal to the robustness costs half of the range.
    #[test]
    fn one_per_cent_takes_half_of_what_loss_can_take() {
        assert_eq!(loss_impairment(0.01, BPL), 47.5);
    }
}
