//! Reno: additive increase, halving; its two steps serve most other controllers too.

use super::{CcSock, Controller};

/// Least threshold in segments.
// linux: net/ipv4/tcp_cong.c tcp_reno_ssthresh (6.1).
pub const MIN_SSTHRESH: u32 = 2;

/// Reno (RFC 5681). It has no state of its own.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reno;

/// Slow start: one segment for each that was acknowledged, up to the threshold. Returns what is left for congestion
/// avoidance.
// linux: net/ipv4/tcp_cong.c tcp_slow_start (6.1).
// spec: rfc3465 2.2 - appropriate byte counting, without its limit, as Linux has it.
#[inline]
pub fn slow_start(sk: &mut CcSock, acked: u32) -> u32 {
    let cwnd = (sk.snd_cwnd + acked).min(sk.snd_ssthresh);
    let left = acked - (cwnd - sk.snd_cwnd);
    sk.snd_cwnd = cwnd.min(sk.snd_cwnd_clamp);
    left
}

/// Congestion avoidance: one segment for every `w` that were acknowledged.
// linux: net/ipv4/tcp_cong.c tcp_cong_avoid_ai (6.1) - credit that was saved up is spent first when `w` has fallen.
#[inline]
pub fn cong_avoid_ai(sk: &mut CcSock, w: u32, acked: u32) {
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

    // linux: net/ipv4/tcp_cong.c tcp_reno_cong_avoid (6.1) - only while the window is what limits the sender.
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
