//! The E-model of ITU-T G.107 (06/2015): quality of a voice call from delay and loss.
//!
//! All parameters except one-way delay and packet loss have the recommendation's default values. Equation
//! numbers are those of the recommendation.

/// Basic signal-to-noise ratio Ro at the default parameters (7-2 to 7-7).
const RO: f64 = 94.768_8;
/// Simultaneous impairment Is at the default parameters (7-8 to 7-17), with the sidetone term for a delay
/// near zero.
const IS: f64 = 1.413_6;
/// Noise No in dBm0p at the default parameters (7-3).
const NO: f64 = -61.179_2;
/// Receive loudness rating in dB.
const RLR: f64 = 2.0;
/// Talker echo loudness rating in dB.
const TELR: f64 = 65.0;
/// Weighted echo path loss in dB.
const WEPL: f64 = 110.0;
/// Packet-loss robustness of G.711 without concealment, for which Ie = 0 and losses are random (BurstR = 1).
const BPL: f64 = 4.3;
/// Delay in ms below which a default user notices nothing (mT), with the default sensitivity sT = 1.
pub(super) const M_T: f64 = 100.0;

/// Transmission rating R for a one-way delay in ms and a loss ratio (0 to 1).
// spec: G.107 7-1 - R = Ro - Is - Id - Ie-eff + A, without the advantage factor A.
pub fn rating(delay_ms: f64, loss: f64) -> f64 {
    without_lateness(delay_ms) - lateness(delay_ms) - loss_impairment(loss, BPL)
}

/// Mean opinion score (MOS) for a one-way delay in ms and a loss ratio: 1 to 4.5 (0.99 at ratings just above
/// zero, from equation B-4).
// spec: G.107 B-4.
pub fn mos(delay_ms: f64, loss: f64) -> f64 {
    of_rating(rating(delay_ms, loss))
}

/// Mean opinion score of a rating.
pub(super) fn of_rating(r: f64) -> f64 {
    match r {
        r if r < 0.0 => 1.0,
        r if r > 100.0 => 4.5,
        r => 1.0 + 0.035 * r + 7e-6 * r * (r - 60.0) * (100.0 - r),
    }
}

/// Rating without loss and absolute delay: only noise, and talker and listener echo. The mean one-way delay
/// of the echo path is the absolute delay, the round trip is twice that.
// spec: G.107 7-19 to 7-26.
pub(super) fn without_lateness(t: f64) -> f64 {
    let terv =
        TELR - 40.0 * libm::log10((1.0 + t / 10.0) / (1.0 + t / 150.0)) + 6.0 * libm::exp(-0.3 * t * t);
    let gap = -1.5 * (NO - RLR) - (80.0 + 2.5 * (terv - 14.0));
    let talker = (gap / 2.0 + libm::sqrt(gap * gap / 4.0 + 100.0) - 1.0) * (1.0 - libm::exp(-t));
    let gap = RO - 10.5 * (WEPL + 7.0) * libm::pow(2.0 * t + 1.0, -0.25);
    let listener = gap / 2.0 + libm::sqrt(gap * gap / 4.0 + 169.0);
    RO - IS - talker - listener
}

/// Idd: impairment by absolute delay; zero up to mT.
// spec: G.107 7-27, 7-28.
fn lateness(t: f64) -> f64 {
    if t <= M_T {
        return 0.0;
    }
    let x = libm::log2(t / M_T);
    let root = |x: f64| libm::pow(1.0 + libm::pow(x, 6.0), 1.0 / 6.0);
    25.0 * (root(x) - 3.0 * root(x / 3.0) + 2.0)
}

/// Ie-eff: impairment by packet loss for a codec with this robustness.
// spec: G.107 7-29.
pub(super) fn loss_impairment(loss: f64, robustness: f64) -> f64 {
    let per_cent = 100.0 * loss;
    95.0 * per_cent / (per_cent + robustness)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64, within: f64) {
        assert!((found - expected).abs() <= within, "{found} is not {expected}");
    }

    /// Recomputes the constants from the default parameters of table 2.
    #[test]
    fn constants_are_those_of_the_default_parameters() {
        let [slr, ds, nc, nfor, ps, pr, lstr, stmr, qdu]: [f64; 9] =
            [8.0, 3.0, -70.0, -64.0, 35.0, 35.0, 18.0, 15.0, 1.0];
        let db = |x: f64| 10.0 * x.log10();
        let lin = |x: f64| 10f64.powf(x / 10.0);
        let olr = slr + RLR;
        let nos = ps - slr - ds - 100.0 + 0.004 * (ps - olr - ds - 14.0).powi(2);
        let pre = pr + db(1.0 + lin(10.0 - lstr));
        let nor = RLR - 121.0 + pre + 0.008 * (pre - 35.0).powi(2);
        let no = db(lin(nc) + lin(nos) + lin(nor) + lin(nfor + RLR));
        near(no, NO, 1e-3);
        let ro = 15.0 - 1.5 * (slr + no);
        near(ro, RO, 1e-3);
        let xolr = olr + 0.2 * (64.0 + no - RLR);
        let iolr = 20.0 * ((1.0 + (xolr / 8.0).powi(8)).powf(1.0 / 8.0) - xolr / 8.0);
        // Without delay. Any delay removes the second term, less than a millionth of the first.
        let stmro = -db(lin(-stmr) + lin(-TELR));
        let ist = 12.0 * (1.0 + ((stmro - 13.0) / 6.0).powi(8)).powf(1.0 / 8.0)
            - 28.0 * (1.0 + ((stmro + 1.0) / 19.4).powi(35)).powf(1.0 / 35.0)
            - 13.0 * (1.0 + ((stmro - 3.0) / 33.0).powi(13)).powf(1.0 / 13.0)
            + 29.0;
        let q = 37.0 - 15.0 * qdu.log10();
        let g = 1.07 + 0.258 * q + 0.0602 * q * q;
        let (y, z) = ((ro - 100.0) / 15.0 + 46.0 / 8.4 - g / 9.0, 46.0 / 30.0 - g / 40.0);
        let iq = 15.0 * (1.0 + 10f64.powf(y) + 10f64.powf(z)).log10();
        near(iolr + ist + iq, IS, 1e-3);
    }

    // spec: G.107 clause 7.8 - with all parameters at their defaults the rating is 93.2; table B.1 - scores
    // of ratings.
    #[test]
    fn published_points() {
        near(rating(0.0, 0.0), 93.2, 0.05);
        for (r, score) in [(90.0, 4.34), (80.0, 4.03), (70.0, 3.60), (60.0, 3.10), (50.0, 2.58)] {
            // Printed in steps of 0.01; the score for 80 is slightly above the equation.
            near(of_rating(r), score, 0.007);
        }
        assert_eq!((of_rating(-1.0), of_rating(101.0), of_rating(100.0)), (1.0, 4.5, 4.5));
    }

    // spec: G.113 appendix I - at a loss equal to Bpl, Ie-eff is half of its range.
    #[test]
    fn loss_at_its_robustness_takes_half() {
        near(loss_impairment(BPL / 100.0, BPL), 95.0 / 2.0, 1e-9);
        assert_eq!(loss_impairment(0.0, BPL), 0.0);
    }

    /// Scores of Flent's figure, to three digits.
    #[test]
    fn the_curve() {
        for (delay, loss, score) in [
            (0.0, 0.0, 4.409),
            (5.0, 0.0, 4.406),
            (20.0, 0.0, 4.396),
            (50.0, 0.0, 4.380),
            (100.0, 0.0, 4.355),
            (200.0, 0.0, 4.223),
            (300.0, 0.0, 3.719),
            (500.0, 0.0, 2.828),
            (5.0, 0.01, 3.827),
            (50.0, 0.05, 2.097),
        ] {
            near(mos(delay, loss), score, 6e-4);
        }
    }

    proptest::proptest! {
        #[test]
        fn more_delay_or_loss_never_helps(delay in 0.0..3_000.0f64, loss in 0.0..1.0f64, more in 0.001..200.0f64) {
            let r = rating(delay, loss);
            proptest::prop_assert!(rating(delay, loss + more / 200.0) <= r);
            proptest::prop_assert!(rating(delay + more, loss) <= r + 1e-9);
            // Between ratings of 0 and 6.5 the polynomial is slightly below the minimum score.
            proptest::prop_assert!((0.98..=4.5).contains(&mos(delay, loss)));
        }
    }
}
