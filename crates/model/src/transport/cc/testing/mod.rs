//! A connection for controller tests.

mod lossy;
mod path;
mod sender;

pub(crate) use lossy::Lossy;
pub(crate) use path::Path;

use crate::types::Seed;

use super::{CcSock, Controller};

/// Payload bytes per segment.
pub(crate) const MSS: u32 = 1448;

/// A newly established idle connection, on a kernel with 250 ticks per second.
pub(crate) fn sock() -> CcSock {
    CcSock {
        is_cwnd_limited: true,
        mss_cache: MSS,
        app_limited: 0,
        snd_una: 1,
        snd_nxt: 1,
        unsent: 1 << 20,
        pacing_rate: 0,
        ..CcSock::new(Seed { seed: 1, run: 0 }.stream("cc"))
    }
}

pub(crate) fn set_time(sk: &mut CcSock, us: u64) {
    sk.now_us = us;
    sk.clock_ns = us * 1_000;
    sk.jiffies = (us * u64::from(sk.hz) / 1_000_000) as u32;
}

/// Window after `acked` segments were acknowledged one by one in congestion avoidance, starting at `cwnd`.
pub(crate) fn avoid(cc: &mut impl Controller, cwnd: u32, acked: u32) -> u32 {
    let mut sk = sock();
    (sk.snd_cwnd, sk.snd_ssthresh) = (cwnd, cwnd.min(2));
    for _ in 0..acked {
        cc.cong_avoid(&mut sk, 0, 1);
    }
    sk.snd_cwnd
}
