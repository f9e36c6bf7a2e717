//! Illinois: increases more and decreases less while the queueing delay is low.
// paper: illinois (Liu, Basar and Srikant 2006) - alpha and beta as functions of the average queueing delay.

use crate::transport::seq::after;

use super::reno::{MIN_SSTHRESH, slow_start};
use super::{AckSample, CaState, CcSock, Controller};

/// Fixed point of the increment alpha: 1/128.
const ALPHA_SHIFT: u32 = 7;
const ALPHA_SCALE: u32 = 1 << ALPHA_SHIFT;
const ALPHA_MIN: u32 = 3 * ALPHA_SCALE / 10;
const ALPHA_MAX: u32 = 10 * ALPHA_SCALE;
/// Fixed point of the decrease factor beta: 1/64.
const BETA_SHIFT: u32 = 6;
const BETA_MIN: u32 = (1 << BETA_SHIFT) / 8;
const BETA_MAX: u32 = (1 << BETA_SHIFT) / 2;
/// Cap on RTT samples in us, so that products fit 32 bits.
const RTT_MAX: u32 = u32::MAX / ALPHA_MAX;

/// Parameters, named after those of the kernel module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IllinoisParams {
    /// Minimum window in segments at which alpha and beta depend on the delay.
    pub win_thresh: u32,
    /// Rounds of low delay before alpha returns to its maximum.
    pub theta: u32,
}

// linux: net/ipv4/tcp_illinois.c (6.1).
impl Default for IllinoisParams {
    fn default() -> Self {
        Self { win_thresh: 15, theta: 5 }
    }
}

/// Illinois congestion control.
#[derive(Clone, Debug)]
pub struct Illinois {
    params: IllinoisParams,
    round: Round,
    /// Least and greatest round-trip time so far, in us.
    base_rtt: u32,
    max_rtt: u32,
    /// Increment per round trip in 1/128 segment.
    alpha: u32,
    /// Decrement per loss in 1/64 of the window.
    beta: u32,
    /// Segments covered by the last ACK.
    acked: u32,
    /// Rounds of low delay since the delay was last high; `None` if it has not been high.
    quiet_rounds: Option<u32>,
}

/// Round-trip times of one window of data.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    /// The round ends when this sequence number is acknowledged.
    end: u32,
    sum_us: u64,
    samples: u16,
}

impl Round {
    fn starting_at(end: u32) -> Self {
        Self { end, ..Self::default() }
    }

    /// Average round-trip time in us, rounded down; `None` without a sample.
    fn average(&self) -> Option<u32> {
        self.sum_us.checked_div(u64::from(self.samples)).map(|us| us as u32)
    }
}

/// Queueing delay in us: the average of a round, and the largest so far.
#[derive(Clone, Copy)]
struct Delay {
    average: u32,
    largest: u32,
}

impl Delay {
    /// Increment in 1/128 segment at a high delay; `None` if the delay is at most a hundredth of the largest.
    // paper: illinois - alpha = k1 / (k2 + delay), through the largest increment at a hundredth of the
    // largest delay and the least increment at the largest delay.
    fn increment(self) -> Option<u32> {
        let first = self.largest / 100;
        let (span, past) = (self.largest - first, self.average.checked_sub(first).filter(|us| *us > 0)?);
        let slope = past * (ALPHA_MAX - ALPHA_MIN) / ALPHA_MIN;
        Some(span * ALPHA_MAX / (span + slope))
    }

    /// Decrement in 1/64 of the window.
    // paper: illinois - an eighth up to a tenth of the largest delay, a half from eight tenths on, and a
    // line between.
    fn decrement(self) -> u32 {
        let (first, last) = (self.largest / 10, 8 * self.largest / 10);
        match self.average {
            us if us <= first => BETA_MIN,
            us if us < last => BETA_MIN + (BETA_MAX - BETA_MIN) * (us - first) / (last - first),
            _ => BETA_MAX,
        }
    }
}

impl Default for Illinois {
    fn default() -> Self {
        Self::new(IllinoisParams::default())
    }
}

impl Illinois {
    /// Creates a controller with these parameters. The default is the kernel module's.
    pub fn new(params: IllinoisParams) -> Self {
        Self {
            params,
            round: Round::default(),
            base_rtt: i32::MAX as u32,
            max_rtt: 0,
            alpha: ALPHA_MAX,
            beta: BETA_MAX,
            acked: 0,
            quiet_rounds: None,
        }
    }

    /// Increment for the round's delay. Low delay raises it to its maximum, after a high delay only once it
    /// has been low for `theta` rounds.
    // linux: net/ipv4/tcp_illinois.c (6.1) - high delay does not restart the count of rounds.
    fn increment(&mut self, delay: Delay) -> u32 {
        match (delay.increment(), &mut self.quiet_rounds) {
            (Some(alpha), quiet) => {
                quiet.get_or_insert(0);
                alpha
            }
            (None, Some(rounds)) if *rounds + 1 < self.params.theta => {
                *rounds += 1;
                self.alpha
            }
            (None, quiet) => {
                *quiet = None;
                ALPHA_MAX
            }
        }
    }

    /// Decides increment and decrement at the end of a round, and starts the next one.
    // linux: net/ipv4/tcp_illinois.c (6.1) - Reno's below `win_thresh` segments.
    fn finish_round(&mut self, sk: &CcSock) {
        if sk.snd_cwnd < self.params.win_thresh {
            self.as_reno();
        } else if let Some(average) = self.round.average() {
            let delay = Delay { average: average - self.base_rtt, largest: self.max_rtt - self.base_rtt };
            (self.alpha, self.beta) = (self.increment(delay), delay.decrement());
        }
        self.round = Round::starting_at(sk.snd_nxt);
    }

    fn as_reno(&mut self) {
        (self.alpha, self.beta) = (ALPHA_SCALE, BETA_MAX);
    }

    /// Adds `alpha` segments per window of acknowledged ones.
    // linux: net/ipv4/tcp_illinois.c (6.1) - the count restarts with each whole segment, which rounds growth
    // down; further acknowledgements without a sample count as one segment.
    fn grow(&mut self, sk: &mut CcSock) {
        sk.snd_cwnd_cnt += core::mem::replace(&mut self.acked, 1);
        let earned = ((sk.snd_cwnd_cnt * self.alpha) >> ALPHA_SHIFT) / sk.snd_cwnd;
        if earned > 0 {
            sk.snd_cwnd_cnt = 0;
            sk.snd_cwnd = (sk.snd_cwnd + earned).min(sk.snd_cwnd_clamp);
        }
    }
}

impl Controller for Illinois {
    fn init(&mut self, sk: &mut CcSock) {
        *self = Self::new(self.params);
        self.round = Round::starting_at(sk.snd_nxt);
    }

    fn ssthresh(&mut self, sk: &mut CcSock) -> u32 {
        (sk.snd_cwnd - ((sk.snd_cwnd * self.beta) >> BETA_SHIFT)).max(MIN_SSTHRESH)
    }

    #[inline]
    fn cong_avoid(&mut self, sk: &mut CcSock, ack: u32, acked: u32) {
        if after(ack, self.round.end) {
            self.finish_round(sk);
        }
        match (sk.is_cwnd_limited, sk.in_slow_start()) {
            (false, _) => {}
            (true, true) => {
                slow_start(sk, acked);
            }
            (true, false) => self.grow(sk),
        }
    }

    fn set_state(&mut self, sk: &mut CcSock, new: CaState) {
        if new == CaState::Loss {
            self.as_reno();
            self.quiet_rounds = None;
            self.round = Round::starting_at(sk.snd_nxt);
        }
    }

    #[inline]
    fn pkts_acked(&mut self, _sk: &mut CcSock, sample: &AckSample) {
        self.acked = sample.pkts_acked;
        let Ok(us) = u64::try_from(sample.rtt_us) else { return };
        let us = us.min(u64::from(RTT_MAX));
        self.round.sum_us += us;
        self.round.samples += 1;
        self.base_rtt = self.base_rtt.min(us as u32);
        self.max_rtt = self.max_rtt.max(us as u32);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::sock;
    use super::*;

    #[test]
    fn gains_by_delay() {
        // Average queueing delay in us with a maximum of 100 ms, alpha in 1/128, beta in 1/64. The paper's
        // alpha is k1 / (k2 + da) through (1 ms, 10) and (100 ms, 0.3); beta is linear from 1/8 at 10 ms to
        // 1/2 at 80 ms.
        let table = [
            (0, 1280, 8),
            (1_000, 1280, 8),
            (2_000, 962, 8),
            (10_000, 322, 8),
            (20_000, 176, 11),
            (45_000, 82, 20),
            (80_000, 47, 32),
            (100_000, 38, 32),
        ];
        for (da, alpha, b) in table {
            let mut illinois = Illinois::default();
            let delay = Delay { average: da, largest: 100_000 };
            assert_eq!((illinois.increment(delay), delay.decrement()), (alpha, b), "{da}");
            let x = (f64::from(da) - 1_000.0).max(0.0) / 99_000.0;
            let exact = 1280.0 / (1.0 + x * (1280.0 - 38.4) / 38.4);
            assert!((f64::from(alpha) - exact).abs() <= 0.03 * exact, "{da}: {exact}");
        }
    }

    #[test]
    fn the_largest_increment_comes_back_after_five_quiet_rounds() {
        let mut illinois = Illinois::default();
        let delay = |average| Delay { average, largest: 100_000 };
        illinois.alpha = illinois.increment(delay(100_000));
        let rounds = [(); 6].map(|()| {
            illinois.alpha = illinois.increment(delay(0));
            illinois.alpha
        });
        assert_eq!(rounds, [38, 38, 38, 38, 1280, 1280]);
    }

    #[test]
    fn decrements_of_short_delays() {
        // average and largest delay in us, decrement in 1/64
        let table = [((0, 0), 8), ((0, 1), 8), ((1, 1), 32), ((1, 9), 11), ((6, 9), 28), ((7, 9), 32)];
        for ((average, largest), beta) in table {
            assert_eq!(Delay { average, largest }.decrement(), beta, "{average} of {largest}");
        }
    }

    #[test]
    fn windows() {
        // The count restarts at each whole segment, which loses a fraction of the increment.
        // alpha in 1/128, window before and after a window of ACKs for two segments each
        for (alpha, cwnd, after) in [(1280, 100, 108), (128, 100, 101), (64, 100, 100), (38, 40, 40)] {
            let mut sk = sock();
            (sk.snd_cwnd, sk.snd_ssthresh) = (cwnd, cwnd);
            let mut illinois = Illinois { alpha, ..Illinois::default() };
            for _ in 0..cwnd / 2 {
                illinois.pkts_acked(&mut sk, &AckSample { pkts_acked: 2, rtt_us: -1, in_flight: 0 });
                illinois.cong_avoid(&mut sk, 0, 2);
            }
            assert_eq!(sk.snd_cwnd, after, "{alpha}");
        }
        // beta in 1/64, window, threshold
        for (beta, cwnd, threshold) in [(8, 100, 88), (32, 100, 50), (32, 2, 2)] {
            let mut sk = sock();
            sk.snd_cwnd = cwnd;
            assert_eq!(Illinois { beta, ..Illinois::default() }.ssthresh(&mut sk), threshold);
        }
    }

    #[test]
    fn small_windows_and_timeouts_are_renos() {
        let mut sk = sock();
        let mut illinois = Illinois::default();
        illinois.init(&mut sk);
        illinois.pkts_acked(&mut sk, &AckSample { pkts_acked: 1, rtt_us: 1_000, in_flight: 0 });
        sk.snd_cwnd = 14;
        illinois.finish_round(&sk);
        assert_eq!((illinois.alpha, illinois.beta), (128, 32));
        illinois.pkts_acked(&mut sk, &AckSample { pkts_acked: 1, rtt_us: 1_000, in_flight: 0 });
        sk.snd_cwnd = 15;
        illinois.finish_round(&sk);
        assert_eq!((illinois.alpha, illinois.beta), (1280, 8));
        illinois.set_state(&mut sk, CaState::Loss);
        assert_eq!((illinois.alpha, illinois.beta), (128, 32));
    }
}
