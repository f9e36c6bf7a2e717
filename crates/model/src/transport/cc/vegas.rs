//! Vegas: keeps two to four segments queued, based on the difference between expected and actual rate.
// paper: vegas (Brakmo and Peterson 1995) - alpha, beta, gamma.

use crate::transport::seq::after;

use super::reno::{Reno, slow_start};
use super::{AckSample, CaState, CcEvent, CcSock, Controller};

/// Parameters in segments, named after those of the kernel module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VegasParams {
    /// The window grows while fewer segments are queued.
    pub alpha: u32,
    /// The window shrinks while more segments are queued.
    pub beta: u32,
    /// Slow start ends once more segments are queued.
    pub gamma: u32,
}

// linux: net/ipv4/tcp_vegas.c (6.1).
impl Default for VegasParams {
    fn default() -> Self {
        Self { alpha: 2, beta: 4, gamma: 1 }
    }
}

/// RTTs per round. Also used by YeAH and Compound TCP.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rounds {
    /// True in the Open state.
    pub(super) on: bool,
    /// Sequence number whose acknowledgement ends the round.
    pub(super) end_seq: u32,
    /// RTT samples in this round.
    pub(super) cnt_rtt: u16,
    /// Minimum RTT of this round and overall, in us.
    pub(super) min_rtt: u32,
    pub(super) base_rtt: u32,
}

/// Placeholder before the first RTT sample, in us.
const NONE: u32 = i32::MAX as u32;

impl Default for Rounds {
    fn default() -> Self {
        Self { on: false, end_seq: 0, cnt_rtt: 0, min_rtt: NONE, base_rtt: NONE }
    }
}

impl Rounds {
    // linux: net/ipv4/tcp_vegas.c tcp_vegas_init (6.1).
    pub(super) fn restart(&mut self, sk: &CcSock) {
        self.base_rtt = NONE;
        self.enable(sk);
    }

    // linux: net/ipv4/tcp_vegas.c vegas_enable (6.1) - keeps the overall minimum RTT.
    fn enable(&mut self, sk: &CcSock) {
        self.on = true;
        self.next(sk);
    }

    /// Starts the next round.
    pub(super) fn next(&mut self, sk: &CcSock) {
        self.end_seq = sk.snd_nxt;
        self.forget();
    }

    fn forget(&mut self) {
        self.cnt_rtt = 0;
        self.min_rtt = NONE;
    }

    // linux: net/ipv4/tcp_vegas.c tcp_vegas_pkts_acked (6.1) - adds 1 us so that an RTT is never 0.
    #[inline]
    pub(super) fn sample(&mut self, sample: &AckSample) {
        if sample.rtt_us >= 0 {
            let rtt = sample.rtt_us as u32 + 1;
            self.base_rtt = self.base_rtt.min(rtt);
            self.min_rtt = self.min_rtt.min(rtt);
            self.cnt_rtt = self.cnt_rtt.saturating_add(1);
        }
    }

    // linux: net/ipv4/tcp_vegas.c tcp_vegas_state (6.1).
    pub(super) fn state(&mut self, sk: &CcSock, new: CaState) {
        if new == CaState::Open {
            self.enable(sk);
        } else {
            self.on = false;
        }
    }

    // linux: net/ipv4/tcp_vegas.c tcp_vegas_cwnd_event (6.1) - discards RTTs measured before an idle period.
    pub(super) fn event(&mut self, sk: &CcSock, event: CcEvent) {
        if matches!(event, CcEvent::CwndRestart | CcEvent::TxStart) {
            self.restart(sk);
        }
    }
}

/// Vegas congestion control.
#[derive(Clone, Debug, Default)]
pub struct Vegas {
    params: VegasParams,
    rounds: Rounds,
}

impl Vegas {
    /// Creates a controller with these parameters. The default is the kernel module's.
    pub fn new(params: VegasParams) -> Self {
        Self { params, ..Self::default() }
    }

    /// Adjusts the window at the end of a round.
    // linux: net/ipv4/tcp_vegas.c tcp_vegas_cong_avoid (6.1).
    fn decide(&self, sk: &mut CcSock, acked: u32) {
        let (rtt, base) = (self.rounds.min_rtt, self.rounds.base_rtt);
        let cwnd = u64::from(sk.snd_cwnd);
        let target = (cwnd * u64::from(base) / u64::from(rtt)) as u32;
        let queued = (cwnd * u64::from(rtt - base) / u64::from(base)) as u32;
        if queued > self.params.gamma && sk.in_slow_start() {
            sk.snd_cwnd = sk.snd_cwnd.min(target + 1);
            sk.snd_ssthresh = sk.snd_ssthresh.min(sk.snd_cwnd);
        } else if sk.in_slow_start() {
            slow_start(sk, acked);
        } else if queued > self.params.beta {
            sk.snd_cwnd -= 1;
            sk.snd_ssthresh = sk.snd_ssthresh.min(sk.snd_cwnd);
        } else if queued < self.params.alpha {
            sk.snd_cwnd += 1;
        }
        sk.snd_cwnd = sk.snd_cwnd.max(2).min(sk.snd_cwnd_clamp);
        // linux: include/net/tcp.h tcp_current_ssthresh (6.1) - at least 3/4 of the window, except in CWR and
        // Recovery.
        if !matches!(sk.ca_state, CaState::Cwr | CaState::Recovery) {
            sk.snd_ssthresh = sk.snd_ssthresh.max((sk.snd_cwnd >> 1) + (sk.snd_cwnd >> 2));
        }
    }
}

impl Controller for Vegas {
    fn init(&mut self, sk: &mut CcSock) {
        *self = Self::new(self.params);
        self.rounds.restart(sk);
    }

    fn ssthresh(&mut self, sk: &mut CcSock) -> u32 {
        Reno.ssthresh(sk)
    }

    #[inline]
    fn cong_avoid(&mut self, sk: &mut CcSock, ack: u32, acked: u32) {
        if !self.rounds.on {
            return Reno.cong_avoid(sk, ack, acked);
        }
        if after(ack, self.rounds.end_seq) {
            self.rounds.end_seq = sk.snd_nxt;
            // With only two samples, both may come from delayed ACKs.
            if self.rounds.cnt_rtt <= 2 {
                Reno.cong_avoid(sk, ack, acked);
            } else {
                self.decide(sk, acked);
            }
            self.rounds.forget();
        } else if sk.in_slow_start() {
            slow_start(sk, acked);
        }
    }

    fn set_state(&mut self, sk: &mut CcSock, new: CaState) {
        self.rounds.state(sk, new);
    }

    fn cwnd_event(&mut self, sk: &mut CcSock, event: CcEvent) {
        self.rounds.event(sk, event);
    }

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
    fn a_round_decides() {
        // window, threshold, minimum RTT overall and in the round in us, samples; window, threshold after
        let table = [
            // Fewer than two segments queued, two to four, more.
            (50, 30, 20_000, 20_000, 10, 51, 37),
            (50, 30, 20_000, 20_799, 10, 51, 37),
            (50, 30, 20_000, 20_800, 10, 50, 37),
            (50, 30, 20_000, 21_900, 10, 50, 37),
            (50, 30, 20_000, 22_000, 10, 49, 36),
            // Slow start continues, then falls back to the bandwidth-delay product.
            (50, 99, 20_000, 20_700, 10, 52, 99),
            (50, 99, 20_000, 25_000, 10, 41, 41),
            // Too few samples: Reno.
            (50, 30, 20_000, 25_000, 2, 50, 30),
        ];
        for (cwnd, threshold, base, rtt, samples, after_cwnd, after_threshold) in table {
            let mut sk = sock();
            let mut vegas = Vegas::default();
            vegas.init(&mut sk);
            (sk.snd_cwnd, sk.snd_ssthresh) = (cwnd, threshold);
            // `sample` adds one us to every RTT.
            vegas.rounds.base_rtt = base;
            for _ in 0..samples {
                vegas.pkts_acked(&mut sk, &AckSample { pkts_acked: 2, rtt_us: rtt - 1, in_flight: 0 });
            }
            let ack = sk.snd_una + MSS;
            sk.snd_nxt += 50 * MSS;
            vegas.cong_avoid(&mut sk, ack, 2);
            assert_eq!((sk.snd_cwnd, sk.snd_ssthresh), (after_cwnd, after_threshold), "{cwnd} {rtt}");
            assert_eq!((vegas.rounds.end_seq, vegas.rounds.cnt_rtt), (sk.snd_nxt, 0));
        }
    }

    #[test]
    fn a_loss_takes_half() {
        for (cwnd, threshold) in [(1, 2), (2, 2), (5, 2), (50, 25), (51, 25)] {
            let mut sk = sock();
            sk.snd_cwnd = cwnd;
            assert_eq!(Vegas::default().ssthresh(&mut sk), threshold, "{cwnd}");
        }
    }

    #[test]
    fn keeps_a_few_segments_queued() {
        let path = Path { rate: 50_000_000, rtt_us: 20_000, limit: 100, delayed: true };
        let run = |seconds| path.run(Cc::by_name("vegas").unwrap(), 2, seconds, |_, _| ());
        let (start, run) = (run(3), run(20));
        // The bandwidth-delay product is 83 segments.
        assert!((84.0..=90.0).contains(&run.mean_cwnd()), "{}", run.mean_cwnd());
        // Slow start overshoots, since the delay of a round is known only after the next has doubled the
        // window. No losses follow.
        assert_eq!(run.retransmissions, start.retransmissions);
    }

    #[test]
    fn is_off_outside_open() {
        let mut sk = sock();
        let mut vegas = Vegas::default();
        vegas.init(&mut sk);
        vegas.pkts_acked(&mut sk, &AckSample { pkts_acked: 1, rtt_us: 9_999, in_flight: 0 });
        vegas.set_state(&mut sk, CaState::Disorder);
        assert!(!vegas.rounds.on);
        vegas.set_state(&mut sk, CaState::Open);
        assert_eq!((vegas.rounds.on, vegas.rounds.base_rtt, vegas.rounds.min_rtt), (true, 10_000, NONE));
        vegas.cwnd_event(&mut sk, CcEvent::TxStart);
        assert_eq!(vegas.rounds.base_rtt, NONE);
    }
}
