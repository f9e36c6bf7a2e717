//! Reno: additive increase and halving. Most other controllers also use its two growth functions.

use super::{CcSock, Controller};

/// Minimum slow-start threshold in segments.
// linux: net/ipv4/tcp_cong.c tcp_reno_ssthresh (6.1).
pub const MIN_SSTHRESH: u32 = 2;

/// How the window grows if one ACK covers several segments.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum GrowthRules {
    /// Congestion avoidance counts ACKs instead of segments and grows one ACK later. Slow start continues at
    /// the threshold and ends one segment above it (3.13 to 3.19).
    // linux: net/ipv4/tcp_cong.c tcp_slow_start (3.18), tcp_cong_avoid_ai (3.10, and to 3.19); commits
    // 9f9843a751d0, 814d488c6126.
    Linux3_13,
    /// An ACK counts for the segments it covers, except in Scalable TCP and YeAH (4.3 to 5.6; 4.0 to 4.2
    /// differ only at the threshold).
    // linux: net/ipv4/tcp_cong.c tcp_slow_start, tcp_cong_avoid_ai (4.4); commit 76174004a0f1.
    Linux4_3,
    /// An ACK always counts for the segments it covers (since 5.7).
    // linux: net/ipv4/tcp_scalable.c, tcp_yeah.c (6.1) - changed by patches of March 2020.
    #[default]
    Linux5_7,
}

/// Reno (RFC 5681). Stateless.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reno;

/// Slow start: grows the window by one segment per acknowledged segment, up to the threshold. Returns the
/// number of acknowledged segments left for congestion avoidance.
// linux: net/ipv4/tcp_cong.c tcp_slow_start (6.1).
// spec: rfc3465 2.2 - appropriate byte counting, without the limit L.
#[inline]
pub fn slow_start(sk: &mut CcSock, acked: u32) -> u32 {
    if sk.growth == GrowthRules::Linux3_13 {
        let cwnd = (sk.snd_cwnd + acked).min(sk.snd_ssthresh.saturating_add(1));
        sk.snd_cwnd = cwnd.min(sk.snd_cwnd_clamp);
        return 0;
    }
    let cwnd = (sk.snd_cwnd + acked).min(sk.snd_ssthresh);
    let left = acked - (cwnd - sk.snd_cwnd);
    sk.snd_cwnd = cwnd.min(sk.snd_cwnd_clamp);
    left
}

/// Congestion avoidance: grows the window by one segment per `w` acknowledged segments.
// linux: net/ipv4/tcp_cong.c tcp_cong_avoid_ai (6.1) - if `w` has fallen, spends saved credit first.
#[inline]
pub fn cong_avoid_ai(sk: &mut CcSock, w: u32, acked: u32) {
    if sk.growth == GrowthRules::Linux3_13 {
        if sk.snd_cwnd_cnt < w {
            sk.snd_cwnd_cnt += 1;
        } else {
            sk.snd_cwnd_cnt = 0;
            sk.snd_cwnd = (sk.snd_cwnd + 1).min(sk.snd_cwnd_clamp);
        }
        return;
    }
    if sk.snd_cwnd_cnt >= w {
        sk.snd_cwnd_cnt = 0;
        sk.snd_cwnd += 1;
    }
    sk.snd_cwnd_cnt += acked;
    if sk.snd_cwnd_cnt >= w {
        let delta = sk.snd_cwnd_cnt / w;
        sk.snd_cwnd_cnt -= delta * w;
        sk.snd_cwnd += delta;
    }
    sk.snd_cwnd = sk.snd_cwnd.min(sk.snd_cwnd_clamp);
}

impl Controller for Reno {
    fn ssthresh(&mut self, sk: &mut CcSock) -> u32 {
        (sk.snd_cwnd >> 1).max(MIN_SSTHRESH)
    }

    // linux: net/ipv4/tcp_cong.c tcp_reno_cong_avoid (6.1) - grows only while the window limits the sender.
    #[inline]
    fn cong_avoid(&mut self, sk: &mut CcSock, _ack: u32, mut acked: u32) {
        if !sk.is_cwnd_limited {
            return;
        }
        if sk.in_slow_start() {
            acked = slow_start(sk, acked);
            if acked == 0 {
                return;
            }
        }
        cong_avoid_ai(sk, sk.snd_cwnd, acked);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::sock;
    use super::*;

    #[test]
    fn grows_by_one_a_round_trip_and_halves() {
        let mut sk = sock();
        (sk.snd_cwnd, sk.snd_ssthresh) = (20, 20);
        for round in 1..=30 {
            // One window of ACKs, two segments each.
            let window = sk.snd_cwnd;
            for i in 0..window.div_ceil(2) {
                Reno.cong_avoid(&mut sk, 0, 2.min(window - 2 * i));
            }
            assert_eq!(sk.snd_cwnd, 20 + round);
        }
        // window, threshold
        for (cwnd, threshold) in [(50, 25), (51, 25), (4, 2), (3, 2), (1, 2)] {
            sk.snd_cwnd = cwnd;
            assert_eq!(Reno.ssthresh(&mut sk), threshold, "{cwnd}");
        }
    }

    #[test]
    fn slow_start_returns_segments_beyond_the_threshold() {
        // window, threshold, clamp, acknowledged, window after, segments left over
        let table = [
            (10, 100, u32::MAX, 2, 12, 0),
            (10, 13, u32::MAX, 5, 13, 2),
            (10, 13, 12, 5, 12, 2),
            (13, 13, u32::MAX, 5, 13, 5),
        ];
        for (cwnd, threshold, clamp, acked, after, left) in table {
            let mut sk = sock();
            (sk.snd_cwnd, sk.snd_ssthresh, sk.snd_cwnd_clamp) = (cwnd, threshold, clamp);
            assert_eq!((slow_start(&mut sk, acked), sk.snd_cwnd), (left, after));
        }
    }

    #[test]
    fn saved_credit_is_spent_first() {
        // saved credit, segments needed, acknowledged, window after (from 10), credit after
        let table =
            [(0, 10, 9, 10, 9), (9, 10, 1, 11, 0), (9, 10, 12, 12, 1), (9, 4, 1, 11, 1), (9, 4, 9, 13, 1)];
        for (cnt, w, acked, after, left) in table {
            let mut sk = sock();
            (sk.snd_cwnd, sk.snd_cwnd_cnt) = (10, cnt);
            cong_avoid_ai(&mut sk, w, acked);
            assert_eq!((sk.snd_cwnd, sk.snd_cwnd_cnt), (after, left), "{cnt} {w} {acked}");
        }
    }

    // linux: net/ipv4/tcp_cong.c tcp_slow_start (3.18), tcp_cong_avoid_ai (3.10).
    #[test]
    fn acks_count_instead_of_segments_before_4_0() {
        let old = |cwnd, threshold| {
            let mut sk = sock();
            (sk.growth, sk.snd_cwnd, sk.snd_ssthresh) = (GrowthRules::Linux3_13, cwnd, threshold);
            sk
        };
        // window, threshold, ACKs for two segments each, window after; one ACK more than the window per
        // increment
        let table = [
            (10, 5, 10, 10),
            (10, 5, 11, 11),
            (10, 5, 22, 11),
            (10, 5, 23, 12),
            // slow start, including at the threshold; then congestion avoidance
            (10, 20, 2, 14),
            (10, 13, 2, 14),
            (13, 13, 1, 14),
            (13, 13, 16, 15),
        ];
        for (cwnd, threshold, acks, after) in table {
            let mut sk = old(cwnd, threshold);
            (0..acks).for_each(|_| Reno.cong_avoid(&mut sk, 0, 2));
            assert_eq!(sk.snd_cwnd, after, "{cwnd} {threshold} {acks}");
        }
    }

    #[test]
    fn nothing_grows_when_the_window_is_not_the_limit() {
        let mut sk = sock();
        sk.is_cwnd_limited = false;
        Reno.cong_avoid(&mut sk, 0, 100);
        assert_eq!((sk.snd_cwnd, sk.snd_cwnd_cnt), (10, 0));
    }
}
