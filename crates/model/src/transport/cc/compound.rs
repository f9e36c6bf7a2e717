//! Compound TCP, as in Windows: the sum of Reno's window and a delay-based window.
//!
//! The window in use is the sum of both. While few segments are queued the delay window grows with the whole
//! one to the power of 3/4; when more are, it gives them back, and what is left is Reno.
// spec: draft-sridharan-tcpm-ctcp-02 - parts, laws and parameters.

use crate::transport::seq::after;

use super::reno::{MIN_SSTHRESH, cong_avoid_ai, slow_start};
use super::vegas::Rounds;
use super::{AckSample, CaState, CcEvent, CcSock, Controller};

/// Parameters, in segments unless stated otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CompoundParams {
    /// Growth per RTT: the window to the power of 3/4, shifted right by this.
    pub alpha_shift: u8,
    /// Reduction of the delay window per RTT and queued segment, once at least `gamma` segments are queued.
    pub eta: u32,
    /// Bounds of `gamma`, the adaptive number of queued segments at which the delay window shrinks.
    pub gamma: [u32; 2],
    /// Minimum total window at which the delay window grows.
    pub low_window: u32,
}

// spec: draft-sridharan-tcpm-ctcp-02 2, 3, 5 - alpha 1/8, k 3/4, beta 1/2, eta 1; gamma from 5 to 30;
// standard TCP up to 38 segments.
impl Default for CompoundParams {
    fn default() -> Self {
        Self { alpha_shift: 3, eta: 1, gamma: [5, 30], low_window: 38 }
    }
}

/// Fractional bits of the delay window.
const POINT: u32 = 8;

/// Compound TCP congestion control.
#[derive(Clone, Debug)]
pub struct Compound {
    params: CompoundParams,
    rounds: Rounds,
    /// Delay window in 1/256 segments. The rest of the congestion window is Reno's.
    dwnd: u32,
    /// Current threshold of queued segments, in 1/256.
    gamma: u32,
    /// Segments that Reno's window alone would have queued in the last round; `None` after a loss.
    diff_reno: Option<u32>,
}

impl Default for Compound {
    fn default() -> Self {
        Self::new(CompoundParams::default())
    }
}

impl Compound {
    /// Creates a controller with these parameters. The default is the draft's.
    pub fn new(params: CompoundParams) -> Self {
        let gamma = params.gamma[1] << POINT;
        Self { params, rounds: Rounds::default(), dwnd: 0, gamma, diff_reno: None }
    }

    /// Segments of `window` that wait in queues: what it is more than the path holds.
    // spec: draft-sridharan-tcpm-ctcp-02 3 - (window / base - window / rtt) * base.
    // deviation: the least round-trip time of the round in place of the smoothed one - as Linux's controllers
    // measure; both are far above the base where queues are long.
    fn queued(&self, window: u32) -> u32 {
        let Rounds { base_rtt, min_rtt, .. } = self.rounds;
        (u64::from(window) * u64::from(min_rtt - base_rtt) / u64::from(min_rtt)) as u32
    }

    /// What the delay window grows by in a round trip, in 1/256 segment.
    // spec: draft-sridharan-tcpm-ctcp-02 3 - alpha * w^k - 1, and never less than 0, as Reno's part adds
    // the one.
    // deviation: w is the whole window - equation 3 of the draft has the delay window, but its response
    // function (equation 8) follows from the whole one.
    fn growth(&self, window: u32) -> u32 {
        // window^(3/4) as the fourth root of the cube, with fractional bits.
        let cube = u128::from(window).pow(3) << (4 * POINT);
        let power = cube.isqrt().isqrt() as u32;
        (power >> self.params.alpha_shift).saturating_sub(1 << POINT)
    }

    /// Adjusts the delay window at the end of a round in congestion avoidance.
    fn decide(&mut self, sk: &mut CcSock) {
        let whole = sk.snd_cwnd;
        let loss = whole.saturating_sub(self.dwnd >> POINT).max(1);
        self.diff_reno = Some(self.queued(loss));
        let queued = self.queued(whole);
        self.dwnd = if queued << POINT < self.gamma {
            if whole >= self.params.low_window { self.dwnd + self.growth(whole) } else { self.dwnd }
        } else {
            self.dwnd.saturating_sub((self.params.eta * queued) << POINT)
        };
        sk.snd_cwnd = (loss + (self.dwnd >> POINT)).min(sk.snd_cwnd_clamp);
    }

    /// What may be queued follows what Reno's part had queued when a segment was lost.
    // spec: draft-sridharan-tcpm-ctcp-02 5 - a moving average of three quarters of it, weighted by lambda.
    // deviation: assumed - lambda is 0.8; the draft states no value.
    fn tune(&mut self) {
        if let Some(diff) = self.diff_reno.take() {
            let sample = (diff.min(1 << 16) << POINT) / 4 * 3;
            let [least, most] = self.params.gamma.map(|n| n << POINT);
            self.gamma = ((self.gamma + 4 * sample) / 5).clamp(least, most);
        }
    }
}

impl Controller for Compound {
    fn init(&mut self, sk: &mut CcSock) {
        *self = Self::new(self.params);
        self.rounds.restart(sk);
    }

    // spec: draft-sridharan-tcpm-ctcp-02 3.2 - halves the total window (beta) and Reno's window, which leaves
    // half of the delay window.
    fn ssthresh(&mut self, sk: &mut CcSock) -> u32 {
        self.tune();
        self.dwnd /= 2;
        (sk.snd_cwnd >> 1).max(MIN_SSTHRESH)
    }

    #[inline]
    fn cong_avoid(&mut self, sk: &mut CcSock, ack: u32, mut acked: u32) {
        let round = after(ack, self.rounds.end_seq);
        if sk.is_cwnd_limited {
            if sk.in_slow_start() {
                acked = slow_start(sk, acked);
            }
            if acked > 0 {
                // spec: draft-sridharan-tcpm-ctcp-02 3.2 - adds one segment per RTT of the total window.
                cong_avoid_ai(sk, sk.snd_cwnd, acked);
                // With only two samples, both may come from delayed ACKs.
                if round && self.rounds.cnt_rtt > 2 {
                    self.decide(sk);
                }
            }
        }
        if round {
            self.rounds.next(sk);
        }
    }

    // spec: draft-sridharan-tcpm-ctcp-02 3.2 - a timeout clears the delay window until slow start ends, and
    // restarts the RTT measurement.
    fn set_state(&mut self, sk: &mut CcSock, new: CaState) {
        if new == CaState::Loss {
            let fresh = Self::new(self.params);
            *self = fresh;
            self.rounds.base_rtt = if sk.srtt_us > 0 { sk.srtt_us >> 3 } else { self.rounds.base_rtt };
        }
    }

    // The measurement continues across idle periods.
    fn cwnd_event(&mut self, _sk: &mut CcSock, _event: CcEvent) {}

    #[inline]
    fn pkts_acked(&mut self, _sk: &mut CcSock, sample: &AckSample) {
        self.rounds.sample(sample);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Cc;
    use super::super::testing::{MSS, Path, sock};
    use super::*;

    #[test]
    fn grows_with_the_window_to_the_power_of_three_quarters() {
        let compound = Compound::default();
        // window, growth in 1/256 segments per RTT: window^0.75 / 8 - 1; 38^0.75 / 8 = 1.91
        let table =
            [(1, 0), (16, 0), (38, 233), (256, 7 << 8), (600, 3623), (4096, 63 << 8), (65_536, 511 << 8)];
        for (window, growth) in table {
            assert_eq!(compound.growth(window), growth, "{window}");
        }
    }

    #[test]
    fn a_round_decides() {
        // window, delay window, minimum RTT overall and in the round in us, samples; windows after
        let table = [
            // No queue: the delay window grows by 15 segments at 600. Reno adds none for two ACKed segments.
            (600, 100, 20_000, 20_000, 10, 614, 114),
            // 29 queued segments still allow growth; 30 shrink the delay window.
            (600, 100, 20_000, 21_016, 10, 614, 114),
            (600, 100, 20_000, 21_053, 10, 570, 70),
            // More segments queued than the delay window holds: Reno's window remains.
            (600, 100, 20_000, 40_000, 10, 500, 0),
            // No change with too few samples or a small window.
            (600, 100, 20_000, 20_000, 2, 600, 100),
            (37, 0, 20_000, 20_000, 10, 37, 0),
            (38, 0, 20_000, 20_000, 10, 38, 0),
        ];
        for (cwnd, dwnd, base, rtt, samples, after_cwnd, after_dwnd) in table {
            let (mut sk, mut compound) = (sock(), Compound::default());
            compound.init(&mut sk);
            (sk.snd_cwnd, sk.snd_ssthresh) = (cwnd, 30);
            // `sample` adds one us to every RTT.
            (compound.rounds.base_rtt, compound.dwnd) = (base, dwnd << POINT);
            for _ in 0..samples {
                compound.pkts_acked(&mut sk, &AckSample { pkts_acked: 2, rtt_us: rtt - 1, in_flight: 0 });
            }
            let ack = sk.snd_una + MSS;
            sk.snd_nxt += 50 * MSS;
            compound.cong_avoid(&mut sk, ack, 2);
            assert_eq!(
                (sk.snd_cwnd, compound.dwnd >> POINT),
                (after_cwnd, after_dwnd),
                "{cwnd} {dwnd} {rtt} {samples}"
            );
            assert_eq!((compound.rounds.end_seq, compound.rounds.cnt_rtt), (sk.snd_nxt, 0));
        }
    }

    #[test]
    fn a_loss_halves_both_windows_and_tunes_gamma() {
        // window, delay window, queued by Reno; threshold, delay window and gamma in 1/256 after
        let table = [
            (600, 100, None, 300, 50, 7680),
            // 30 / 5 + 4/5 * 3/4 * 20 = 18
            (600, 100, Some(20), 300, 50, 4608),
            (600, 101, Some(0), 300, 50, 1536),
            (3, 0, Some(1_000_000), 2, 0, 7680),
        ];
        for (cwnd, dwnd, diff, threshold, after, gamma) in table {
            let (mut sk, mut compound) = (sock(), Compound::default());
            sk.snd_cwnd = cwnd;
            (compound.dwnd, compound.diff_reno) = (dwnd << POINT, diff);
            assert_eq!(compound.ssthresh(&mut sk), threshold, "{cwnd} {diff:?}");
            assert_eq!(
                (compound.dwnd >> POINT, compound.gamma, compound.diff_reno),
                (after, gamma, None),
                "{diff:?}"
            );
        }
        // Two losses without a queue: gamma falls to its minimum.
        let (mut sk, mut compound) = (sock(), Compound::default());
        for gamma in [1536, 1280] {
            compound.diff_reno = Some(0);
            compound.ssthresh(&mut sk);
            assert_eq!(compound.gamma, gamma);
        }
    }

    #[test]
    fn a_timeout_keeps_only_the_current_rtt() {
        let (mut sk, mut compound) = (sock(), Compound::default());
        sk.srtt_us = 8 * 40_000;
        (compound.dwnd, compound.gamma, compound.rounds.base_rtt) = (77 << POINT, 1280, 20_000);
        compound.set_state(&mut sk, CaState::Recovery);
        assert_eq!(compound.dwnd, 77 << POINT);
        compound.set_state(&mut sk, CaState::Loss);
        assert_eq!((compound.dwnd, compound.gamma, compound.rounds.base_rtt), (0, 7680, 40_000));
    }

    #[test]
    fn fills_a_long_path_faster_than_reno_and_yields_to_queues() {
        let run = |name, path: Path| path.run(Cc::by_name(name).unwrap(), 2, 30, |_, _| ());
        let long = || Path { rate: 200_000_000, rtt_us: 80_000, limit: 400, delayed: true };
        let (compound, reno) = (run("compound", long()).delivered, run("reno", long()).delivered);
        assert!(100 * compound > 105 * reno, "{compound} {reno}");
        // With a queue longer than the bandwidth-delay product, the delay window plays no part.
        let short = || Path { rate: 50_000_000, rtt_us: 20_000, limit: 100, delayed: true };
        let (compound, reno) = (run("compound", short()).mean_cwnd(), run("reno", short()).mean_cwnd());
        assert!((compound - reno).abs() < 0.1 * reno, "{compound} {reno}");
    }
}
