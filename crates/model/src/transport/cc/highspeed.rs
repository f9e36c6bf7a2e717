//! HighSpeed TCP: larger windows grow faster and shrink less.
// spec: rfc3649 5, appendix B - windows at which each increment applies, and their decrease factors.

use super::reno::{MIN_SSTHRESH, slow_start};
use super::{CcSock, Controller};

/// Largest window in segments for each increment, starting at 1.
const UP_TO: [u32; 73] = [
    38, 118, 221, 347, 495, 663, 851, 1058, 1284, 1529, 1793, 2076, 2378, 2699, 3039, 3399, 3778, 4177, 4596,
    5036, 5497, 5979, 6483, 7009, 7558, 8130, 8726, 9346, 9991, 10661, 11358, 12082, 12834, 13614, 14424,
    15265, 16137, 17042, 17981, 18955, 19965, 21013, 22101, 23230, 24402, 25618, 26881, 28193, 29557, 30975,
    32450, 33986, 35586, 37253, 38992, 40808, 42707, 44694, 46776, 48961, 51258, 53677, 56230, 58932, 61799,
    64851, 68113, 71617, 75401, 79517, 84035, 89053, 94717,
];

/// Decrease at a loss for each row, in 1/256 of the window.
const DECREASE: [u32; 73] = [
    128, 112, 104, 98, 93, 89, 86, 83, 81, 78, 76, 74, 72, 71, 69, 68, 66, 65, 64, 62, 61, 60, 59, 58, 57,
    56, 55, 54, 53, 52, 52, 51, 50, 49, 48, 48, 47, 46, 45, 45, 44, 43, 43, 42, 41, 41, 40, 39, 39, 38, 38,
    37, 36, 36, 35, 35, 34, 33, 33, 32, 32, 31, 30, 30, 29, 28, 28, 27, 26, 26, 25, 24, 24,
];

/// HighSpeed TCP congestion control.
#[derive(Clone, Copy, Debug, Default)]
pub struct HighSpeed {
    /// Row of the tables. The increment is `row + 1`.
    row: usize,
}

impl Controller for HighSpeed {
    // linux: net/ipv4/tcp_highspeed.c hstcp_init (6.1) - clamps the window so that products fit 32 bits.
    fn init(&mut self, sk: &mut CcSock) {
        self.row = 0;
        sk.snd_cwnd_clamp = sk.snd_cwnd_clamp.min(u32::MAX / 128);
    }

    fn ssthresh(&mut self, sk: &mut CcSock) -> u32 {
        (sk.snd_cwnd - ((sk.snd_cwnd * DECREASE[self.row]) >> 8)).max(MIN_SSTHRESH)
    }

    // linux: net/ipv4/tcp_highspeed.c hstcp_cong_avoid (6.1) - counts ACKs, not acknowledged segments.
    #[inline]
    fn cong_avoid(&mut self, sk: &mut CcSock, _ack: u32, acked: u32) {
        if !sk.is_cwnd_limited {
            return;
        }
        if sk.in_slow_start() {
            slow_start(sk, acked);
            return;
        }
        while sk.snd_cwnd > UP_TO[self.row] && self.row + 1 < UP_TO.len() {
            self.row += 1;
        }
        while self.row > 0 && sk.snd_cwnd <= UP_TO[self.row - 1] {
            self.row -= 1;
        }
        sk.snd_cwnd_cnt += self.row as u32 + 1;
        if sk.snd_cwnd_cnt >= sk.snd_cwnd {
            sk.snd_cwnd_cnt -= sk.snd_cwnd;
            sk.snd_cwnd = (sk.snd_cwnd + 1).min(sk.snd_cwnd_clamp);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{avoid, sock};
    use super::*;

    /// Decrease factor at window `w`.
    fn b(w: f64) -> f64 {
        0.5 - 0.4 * (libm::log(w) - libm::log(38.0)) / (libm::log(83_000.0) - libm::log(38.0))
    }

    #[test]
    fn tables_match_the_formulas() {
        // spec: rfc3649 5 - b(w) is log-linear between (38, 0.5) and (83000, 0.1), p(w) = 0.078 / w^1.2, and
        // a(w) = 2 w^2 p(w) b(w) / (2 - b(w)).
        for (row, (&w, &decrease)) in UP_TO.iter().zip(&DECREASE).enumerate() {
            let w = f64::from(w);
            assert!((f64::from(decrease) - 256.0 * b(w)).abs() <= 1.0, "{w}: {decrease} {}", 256.0 * b(w));
            let a = 2.0 * 0.078 * libm::pow(w, 0.8) * b(w) / (2.0 - b(w));
            // The next increment applies just above the row's window.
            assert!(row == 0 || (a - (row as f64 + 1.0)).abs() <= 0.02 * a, "{w}: {row} {a}");
        }
        assert!(UP_TO.is_sorted() && DECREASE.is_sorted_by(|x, y| x >= y));
    }

    #[test]
    fn windows() {
        // window, acknowledgements, window after, threshold after a loss
        let table = [
            (38, 38, 39, 20),
            (100, 100, 101, 57),
            (1_000, 1_000, 1_007, 681),
            (10_000, 10_000, 10_029, 7_992),
            (100_000, 10_000, 100_007, 90_632),
        ];
        for (cwnd, acked, after, threshold) in table {
            let mut hs = HighSpeed::default();
            assert_eq!(avoid(&mut hs, cwnd, acked), after, "{cwnd}");
            let mut sk = sock();
            sk.snd_cwnd = after;
            assert_eq!(hs.ssthresh(&mut sk), threshold, "{cwnd}");
        }
    }

    #[test]
    fn rows_go_back_too() {
        let mut hs = HighSpeed::default();
        avoid(&mut hs, 1_000, 1);
        assert_eq!(hs.row, 7);
        avoid(&mut hs, 118, 1);
        assert_eq!(hs.row, 1);
        avoid(&mut hs, 38, 1);
        assert_eq!(hs.row, 0);
    }
}
