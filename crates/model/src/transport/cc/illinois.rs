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
    /// Sum of RTT samples of this round in us, and their number.
    sum_rtt: u64,
    cnt_rtt: u16,
    /// Minimum and maximum RTT in us.
    base_rtt: u32,
    max_rtt: u32,
    /// Sequence number whose acknowledgement ends the round.
    end_seq: u32,
    alpha: u32,
    beta: u32,
    /// Segments covered by the last ACK.
    acked: u32,
    /// True if the delay has exceeded 1 % of its maximum.
    rtt_above: bool,
    /// Rounds with low delay since then.
    rtt_low: u32,
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
            sum_rtt: 0,
            cnt_rtt: 0,
            base_rtt: i32::MAX as u32,
            max_rtt: 0,
            end_seq: 0,
            alpha: ALPHA_MAX,
            beta: BETA_MAX,
            acked: 0,
            rtt_above: false,
            rtt_low: 0,
        }
    }

    // linux: net/ipv4/tcp_illinois.c rtt_reset (6.1).
    fn start_round(&mut self, sk: &CcSock) {
        self.end_seq = sk.snd_nxt;
        self.cnt_rtt = 0;
        self.sum_rtt = 0;
    }

    /// Returns alpha for an average queueing delay `da` and a maximum `dm`, in us.
    // linux: net/ipv4/tcp_illinois.c alpha (6.1).
    fn alpha(&mut self, mut da: u32, mut dm: u32) -> u32 {
        let low = dm / 100;
        if da <= low {
            if !self.rtt_above {
                return ALPHA_MAX;
            }
            // Require several rounds of low delay, since one may be chance.
            self.rtt_low += 1;
            if self.rtt_low < self.params.theta {
                return self.alpha;
            }
            self.rtt_low = 0;
            self.rtt_above = false;
            return ALPHA_MAX;
        }
        self.rtt_above = true;
        (dm, da) = (dm - low, da - low);
        dm * ALPHA_MAX / (dm + da * (ALPHA_MAX - ALPHA_MIN) / ALPHA_MIN)
    }

    // linux: net/ipv4/tcp_illinois.c update_params (6.1).
    fn update(&mut self, sk: &CcSock) {
        if sk.snd_cwnd < self.params.win_thresh {
            (self.alpha, self.beta) = (ALPHA_SCALE, BETA_MAX);
        } else if self.cnt_rtt > 0 {
            let dm = self.max_rtt - self.base_rtt;
            let average = (self.sum_rtt / u64::from(self.cnt_rtt)) as u32;
            let da = average - self.base_rtt;
            self.alpha = self.alpha(da, dm);
            self.beta = beta(da, dm);
        }
        self.start_round(sk);
    }
}

/// Returns beta for an average queueing delay `da` and a maximum `dm`, in us.
// linux: net/ipv4/tcp_illinois.c beta (6.1) - 1/8 up to 10 % of the maximum, 1/2 from 80 %, else linear.
fn beta(da: u32, dm: u32) -> u32 {
    let (d2, d3) = (dm / 10, 8 * dm / 10);
    if da <= d2 {
        BETA_MIN
    } else if da >= d3 || d3 <= d2 {
        BETA_MAX
    } else {
        (BETA_MIN * d3 - BETA_MAX * d2 + (BETA_MAX - BETA_MIN) * da) / (d3 - d2)
    }
}

impl Controller for Illinois {
    fn init(&mut self, sk: &mut CcSock) {
        *self = Self::new(self.params);
        self.start_round(sk);
    }

    fn ssthresh(&mut self, sk: &mut CcSock) -> u32 {
        (sk.snd_cwnd - ((sk.snd_cwnd * self.beta) >> BETA_SHIFT)).max(MIN_SSTHRESH)
    }

    // linux: net/ipv4/tcp_illinois.c tcp_illinois_cong_avoid (6.1).
    #[inline]
    fn cong_avoid(&mut self, sk: &mut CcSock, ack: u32, acked: u32) {
        if after(ack, self.end_seq) {
            self.update(sk);
        }
        if !sk.is_cwnd_limited {
            return;
        }
        if sk.in_slow_start() {
            slow_start(sk, acked);
            return;
        }
        sk.snd_cwnd_cnt += self.acked;
        self.acked = 1;
        let delta = (sk.snd_cwnd_cnt * self.alpha) >> ALPHA_SHIFT;
        if delta >= sk.snd_cwnd {
            sk.snd_cwnd = (sk.snd_cwnd + delta / sk.snd_cwnd).min(sk.snd_cwnd_clamp);
            sk.snd_cwnd_cnt = 0;
        }
    }

    fn set_state(&mut self, sk: &mut CcSock, new: CaState) {
        if new == CaState::Loss {
            (self.alpha, self.beta) = (ALPHA_SCALE, BETA_MAX);
            (self.rtt_low, self.rtt_above) = (0, false);
            self.start_round(sk);
        }
    }

    // linux: net/ipv4/tcp_illinois.c tcp_illinois_acked (6.1).
    #[inline]
    fn pkts_acked(&mut self, _sk: &mut CcSock, sample: &AckSample) {
        self.acked = sample.pkts_acked;
        if sample.rtt_us < 0 {
            return;
        }
        let rtt = sample.rtt_us.min(i64::from(RTT_MAX)) as u32;
        self.base_rtt = self.base_rtt.min(rtt);
        self.max_rtt = self.max_rtt.max(rtt);
        self.cnt_rtt += 1;
        self.sum_rtt += u64::from(rtt);
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
            assert_eq!((illinois.alpha(da, 100_000), beta(da, 100_000)), (alpha, b), "{da}");
            let x = (f64::from(da) - 1_000.0).max(0.0) / 99_000.0;
            let exact = 1280.0 / (1.0 + x * (1280.0 - 38.4) / 38.4);
            assert!((f64::from(alpha) - exact).abs() <= 0.03 * exact, "{da}: {exact}");
        }
    }

    #[test]
    fn the_largest_increment_comes_back_after_five_quiet_rounds() {
        let mut illinois = Illinois::default();
        illinois.alpha = illinois.alpha(100_000, 100_000);
        let rounds = [(); 6].map(|()| {
            illinois.alpha = illinois.alpha(0, 100_000);
            illinois.alpha
        });
        assert_eq!(rounds, [38, 38, 38, 38, 1280, 1280]);
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
        illinois.update(&sk);
        assert_eq!((illinois.alpha, illinois.beta), (128, 32));
        illinois.pkts_acked(&mut sk, &AckSample { pkts_acked: 1, rtt_us: 1_000, in_flight: 0 });
        sk.snd_cwnd = 15;
        illinois.update(&sk);
        assert_eq!((illinois.alpha, illinois.beta), (1280, 8));
        illinois.set_state(&mut sk, CaState::Loss);
        assert_eq!((illinois.alpha, illinois.beta), (128, 32));
    }
}
