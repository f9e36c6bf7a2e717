//! Scalable TCP: adds a fixed fraction of a segment per acknowledged segment, and removes 1/8 at a loss.
// paper: scalable-tcp (Kelly 2003) - a = 0.01, b = 0.125.

use super::reno::{GrowthRules, MIN_SSTHRESH, cong_avoid_ai, slow_start};
use super::{CcSock, Controller};

/// Acknowledged segments per window increment.
// linux: net/ipv4/tcp_scalable.c TCP_SCALABLE_AI_CNT (6.1).
pub(super) const AI_CNT: u32 = 100;
/// ACKs per window increment before 5.7, which counted ACKs instead of segments.
// linux: same (4.4).
const AI_ACKS: u32 = 50;
/// Multiplicative decrease, as a right shift of the window.
const MD_SHIFT: u32 = 3;

/// Scalable TCP congestion control. Stateless.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scalable;

impl Controller for Scalable {
    fn ssthresh(&mut self, sk: &mut CcSock) -> u32 {
        (sk.snd_cwnd - (sk.snd_cwnd >> MD_SHIFT)).max(MIN_SSTHRESH)
    }

    // linux: net/ipv4/tcp_scalable.c tcp_scalable_cong_avoid (6.1).
    #[inline]
    fn cong_avoid(&mut self, sk: &mut CcSock, _ack: u32, mut acked: u32) {
        if !sk.is_cwnd_limited {
            return;
        }
        let counts = sk.growth == GrowthRules::Linux5_7;
        if sk.in_slow_start() {
            acked = slow_start(sk, acked);
            if acked == 0 || !counts {
                return;
            }
        }
        let (most, acked) = if counts { (AI_CNT, acked) } else { (AI_ACKS, 1) };
        cong_avoid_ai(sk, sk.snd_cwnd.min(most), acked);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{avoid, sock};
    use super::*;

    #[test]
    fn reductions_and_growth() {
        // window, threshold after a loss
        for (cwnd, threshold) in [(800, 700), (100, 88), (8, 7), (7, 7), (2, 2), (1, 2)] {
            let mut sk = sock();
            sk.snd_cwnd = cwnd;
            assert_eq!(Scalable.ssthresh(&mut sk), threshold, "{cwnd}");
        }
        // window, acknowledged segments, window after: equals Reno below 100, then one segment per hundred
        for (cwnd, acked, after) in
            [(50, 50, 51), (50, 49, 50), (100, 100, 101), (500, 100, 501), (500, 500, 505)]
        {
            assert_eq!(avoid(&mut Scalable, cwnd, acked), after, "{cwnd}");
        }
    }
    // linux: net/ipv4/tcp_scalable.c tcp_scalable_cong_avoid (4.4, 2.6.23).
    #[test]
    fn fifty_acks_grow_a_segment_before_5_7() {
        // rules, ACKs for three segments each, window after from 500
        let table = [
            (GrowthRules::Linux5_7, 34, 501),
            (GrowthRules::Linux4_3, 49, 500),
            (GrowthRules::Linux4_3, 50, 501),
            (GrowthRules::Linux3_13, 50, 500),
            (GrowthRules::Linux3_13, 51, 501),
        ];
        for (growth, acks, after) in table {
            let mut sk = sock();
            (sk.growth, sk.snd_cwnd, sk.snd_ssthresh) = (growth, 500, 2);
            (0..acks).for_each(|_| Scalable.cong_avoid(&mut sk, 0, 3));
            assert_eq!(sk.snd_cwnd, after, "{growth:?} {acks}");
        }
    }
}
