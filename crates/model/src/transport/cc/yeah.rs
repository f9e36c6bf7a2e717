//! YeAH: behaves like Scalable TCP while queues are short; while they are long, like Reno, and drains them.
// paper: yeah (Baiocchi, Castellani and Vacirca 2007) - fast and slow mode, precautionary decongestion.

use crate::transport::seq::after;

use super::reno::{GrowthRules, MIN_SSTHRESH, cong_avoid_ai, slow_start};
use super::scalable::AI_CNT;
use super::vegas::Rounds;
use super::{AckSample, CaState, CcEvent, CcSock, Controller};

// linux: net/ipv4/tcp_yeah.c (6.1) - constants of the paper.
/// Allowed number of queued segments.
const ALPHA: u32 = 80;
/// Divisor of the queue for precautionary decongestion.
const GAMMA: u32 = 1;
/// Minimum reduction at a loss, as a right shift of the window.
const DELTA: u32 = 3;
/// Maximum reduction by precautionary decongestion, as a right shift of the window.
const EPSILON: u32 = 1;
/// A queueing delay above the minimum RTT divided by this counts as long.
const PHY: u32 = 8;
/// Rounds in Reno mode after which competing Reno flows are assumed.
const RHO: u32 = 16;
/// Rounds of short queues after which they are assumed to be gone.
const ZETA: u32 = 50;

/// YeAH congestion control.
#[derive(Clone, Debug, Default)]
pub struct Yeah {
    rounds: Rounds,
    /// Segments queued in the last round.
    last_queue: u32,
    /// Rounds in Reno mode; 0 in fast mode.
    doing_reno: u32,
    /// Estimated window of a competing Reno flow.
    reno_count: u32,
    /// Rounds of short queues.
    fast_count: u32,
    /// Segments covered by the ACK, for kernels that count only here (before 5.7).
    pkts_acked: u32,
}

impl Yeah {
    /// Congestion avoidance before 5.7: counts segments in fast mode, and ACKs in Reno mode.
    // linux: net/ipv4/tcp_yeah.c tcp_yeah_cong_avoid (3.10, 4.4).
    fn old_growth(&mut self, sk: &mut CcSock) {
        if self.doing_reno > 0 {
            return cong_avoid_ai(sk, sk.snd_cwnd, 1);
        }
        sk.snd_cwnd_cnt += core::mem::replace(&mut self.pkts_acked, 1);
        if sk.snd_cwnd_cnt > sk.snd_cwnd.min(AI_CNT) {
            sk.snd_cwnd = (sk.snd_cwnd + 1).min(sk.snd_cwnd_clamp);
            sk.snd_cwnd_cnt = 0;
        }
    }

    /// Adjusts window and mode at the end of a round.
    // linux: net/ipv4/tcp_yeah.c tcp_yeah_cong_avoid (6.1).
    fn decide(&mut self, sk: &mut CcSock) {
        let (rtt, base) = (self.rounds.min_rtt, self.rounds.base_rtt);
        let queue = (u64::from(sk.snd_cwnd) * u64::from(rtt - base) / u64::from(rtt)) as u32;
        if queue > ALPHA || rtt - base > base / PHY {
            if queue > ALPHA && sk.snd_cwnd > self.reno_count {
                let reduction = (queue / GAMMA).min(sk.snd_cwnd >> EPSILON);
                sk.snd_cwnd = (sk.snd_cwnd - reduction).max(self.reno_count);
                sk.snd_ssthresh = sk.snd_cwnd;
            }
            self.reno_count =
                if self.reno_count <= 2 { (sk.snd_cwnd >> 1).max(2) } else { self.reno_count + 1 };
            self.doing_reno = (self.doing_reno + 1).min(0xff_ffff);
        } else {
            self.fast_count += 1;
            if self.fast_count > ZETA {
                (self.reno_count, self.fast_count) = (2, 0);
            }
            self.doing_reno = 0;
        }
        self.last_queue = queue;
    }
}

impl Controller for Yeah {
    // linux: net/ipv4/tcp_yeah.c tcp_yeah_init (6.1).
    fn init(&mut self, sk: &mut CcSock) {
        *self = Self { reno_count: 2, ..Self::default() };
        self.rounds.restart(sk);
        sk.snd_cwnd_clamp = sk.snd_cwnd_clamp.min(u32::MAX / 128);
    }

    // linux: net/ipv4/tcp_yeah.c tcp_yeah_ssthresh (6.1) - subtracts the queue unless Reno flows compete.
    fn ssthresh(&mut self, sk: &mut CcSock) -> u32 {
        let half = (sk.snd_cwnd >> 1).max(2);
        let reduction =
            if self.doing_reno < RHO { self.last_queue.min(half).max(sk.snd_cwnd >> DELTA) } else { half };
        self.fast_count = 0;
        self.reno_count = (self.reno_count >> 1).max(2);
        sk.snd_cwnd.saturating_sub(reduction).max(MIN_SSTHRESH)
    }

    #[inline]
    fn cong_avoid(&mut self, sk: &mut CcSock, ack: u32, mut acked: u32) {
        if !sk.is_cwnd_limited {
            return;
        }
        let counts = sk.growth == GrowthRules::Linux5_7;
        if sk.in_slow_start() {
            acked = slow_start(sk, acked);
            if !counts {
                acked = 0;
            }
        } else if !counts {
            self.old_growth(sk);
            acked = 0;
        }
        if acked > 0 {
            let w = if self.doing_reno == 0 { sk.snd_cwnd.min(AI_CNT) } else { sk.snd_cwnd };
            cong_avoid_ai(sk, w, acked);
        }
        if after(ack, self.rounds.end_seq) {
            if self.rounds.cnt_rtt > 2 {
                self.decide(sk);
            }
            self.rounds.next(sk);
        }
    }

    fn set_state(&mut self, sk: &mut CcSock, new: CaState) {
        self.rounds.state(sk, new);
    }

    fn cwnd_event(&mut self, sk: &mut CcSock, event: CcEvent) {
        self.rounds.event(sk, event);
    }

    #[inline]
    fn pkts_acked(&mut self, sk: &mut CcSock, sample: &AckSample) {
        if sk.ca_state == CaState::Open {
            self.pkts_acked = sample.pkts_acked;
        }
        self.rounds.sample(sample);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{avoid, sock};
    use super::*;

    #[test]
    fn rounds_choose_the_mode() {
        // window, minimum RTT overall and in the round in us, Reno's window, rounds in Reno mode before;
        // window, Reno's window, rounds in Reno mode, queue after
        let table = [
            // Short queue: fast mode.
            (500, 20_000, 20_100, 2, 0, 500, 2, 0, 2),
            (500, 20_000, 22_500, 30, 7, 500, 30, 0, 55),
            // Delay above 1/8 of the minimum RTT: Reno mode, no reduction.
            (500, 20_000, 22_600, 2, 0, 500, 250, 1, 57),
            (500, 20_000, 22_600, 250, 1, 500, 251, 2, 57),
            // More than 80 segments queued: reduced by at most half, and not below Reno's window.
            (1_000, 20_000, 22_000, 2, 0, 910, 455, 1, 90),
            (1_000, 20_000, 80_000, 2, 0, 500, 250, 1, 750),
            (1_000, 20_000, 22_000, 950, 3, 950, 951, 4, 90),
            (1_000, 20_000, 22_000, 1_000, 3, 1_000, 1_001, 4, 90),
        ];
        for (cwnd, base, rtt, reno, mode, cwnd_after, reno_after, mode_after, queue) in table {
            let mut sk = sock();
            sk.snd_cwnd = cwnd;
            let mut yeah = Yeah { reno_count: reno, doing_reno: mode, ..Yeah::default() };
            (yeah.rounds.base_rtt, yeah.rounds.min_rtt) = (base, rtt);
            yeah.decide(&mut sk);
            assert_eq!(
                (sk.snd_cwnd, yeah.reno_count, yeah.doing_reno, yeah.last_queue),
                (cwnd_after, reno_after, mode_after, queue),
                "{cwnd} {rtt}"
            );
        }
    }

    #[test]
    fn reno_flows_are_forgotten_after_fifty_rounds_of_short_queues() {
        let mut sk = sock();
        let mut yeah = Yeah { reno_count: 40, ..Yeah::default() };
        (yeah.rounds.base_rtt, yeah.rounds.min_rtt) = (20_000, 20_000);
        let forgotten = (1..100).find(|_| {
            yeah.decide(&mut sk);
            yeah.reno_count == 2
        });
        assert_eq!(forgotten, Some(51));
    }

    #[test]
    fn reductions() {
        // window, segments queued, rounds in Reno mode, threshold
        let table = [
            (400, 0, 0, 350),
            (400, 70, 0, 330),
            (400, 300, 0, 200),
            (400, 70, 15, 330),
            (400, 70, 16, 200),
            (2, 0, 16, 2),
        ];
        for (cwnd, last_queue, doing_reno, threshold) in table {
            let mut sk = sock();
            sk.snd_cwnd = cwnd;
            let mut yeah = Yeah { last_queue, doing_reno, reno_count: 9, fast_count: 7, ..Yeah::default() };
            assert_eq!(yeah.ssthresh(&mut sk), threshold, "{cwnd} {last_queue} {doing_reno}");
            assert_eq!((yeah.reno_count, yeah.fast_count), (4, 0));
        }
    }

    #[test]
    fn growth() {
        // rounds in Reno mode, window, window after 500 acknowledged segments
        for (doing_reno, cwnd, after) in [(0, 500, 505), (1, 500, 501), (0, 50, 59)] {
            // No round ends, since the acknowledged sequence number is the first.
            assert_eq!(avoid(&mut Yeah { doing_reno, ..Yeah::default() }, cwnd, 500), after, "{cwnd}");
        }
    }
    // linux: net/ipv4/tcp_yeah.c tcp_yeah_cong_avoid (4.4).
    #[test]
    fn reno_mode_counts_acks_before_5_7() {
        // rules, rounds in Reno mode, ACKs for two segments each, window after from 200
        let table = [
            (GrowthRules::Linux5_7, 0, 50, 201),
            (GrowthRules::Linux5_7, 1, 100, 201),
            (GrowthRules::Linux4_3, 0, 50, 200),
            (GrowthRules::Linux4_3, 0, 51, 201),
            (GrowthRules::Linux4_3, 1, 199, 200),
            (GrowthRules::Linux4_3, 1, 200, 201),
        ];
        for (growth, doing_reno, acks, after) in table {
            let mut sk = sock();
            (sk.growth, sk.snd_cwnd, sk.snd_ssthresh) = (growth, 200, 2);
            let mut yeah = Yeah { doing_reno, ..Yeah::default() };
            for _ in 0..acks {
                yeah.pkts_acked(&mut sk, &AckSample { pkts_acked: 2, rtt_us: -1, in_flight: 0 });
                yeah.cong_avoid(&mut sk, 0, 2);
            }
            assert_eq!(sk.snd_cwnd, after, "{growth:?} {doing_reno} {acks}");
        }
    }
}
