//! A connection for the tests of controllers.

mod lossy;
mod path;
mod sender;

pub(crate) use lossy::Lossy;
pub(crate) use path::Path;

use crate::vocabulary::Seed;

use super::{CaState, CcSock, Controller};

/// Bytes of data in every segment.
pub(crate) const MSS: u32 = 1448;

/// An idle connection that has just been established, of a kernel with 250 ticks a second.
pub(crate) fn sock() -> CcSock {
    CcSock {
        snd_cwnd: 10,
        snd_cwnd_cnt: 0,
        snd_cwnd_clamp: u32::MAX,
        snd_ssthresh: 0x7fff_ffff,
        prior_cwnd: 0,
        packets_out: 0,
        sacked_out: 0,
        lost_out: 0,
        retrans_out: 0,
        is_cwnd_limited: true,
        max_packets_out: 0,
        ca_state: CaState::Open,
        mss_cache: MSS,
        srtt_us: 0,
        min_rtt_us: u32::MAX,
        delivered: 0,
        delivered_ce: 0,
        lost: 0,
        app_limited: 0,
        delivered_mstamp: 0,
        snd_una: 1,
        snd_nxt: 1,
        unsent: 1 << 20,
        now_us: 0,
        jiffies: 0,
        hz: 250,
        lsndtime: 0,
        pacing_rate: 0,
        max_pacing_rate: u64::MAX,
        needs_pacing: false,
        pacing_shift: 10,
        gso_max_size: 65_536,
        wmem_alloc: 0,
        init_cwnd: 10,
        wstamp_ns: 0,
        clock_ns: 0,
        random: Seed { seed: 1, run: 0 }.stream("cc"),
    }
}

/// Moves the connection's clocks.
pub(crate) fn set_time(sk: &mut CcSock, us: u64) {
    sk.now_us = us;
    sk.clock_ns = us * 1_000;
    sk.jiffies = (us * u64::from(sk.hz) / 1_000_000) as u32;
}

/// The window that becomes of `cwnd` in congestion avoidance when `acked` segments are acknowledged one by one.
pub(crate) fn avoid(cc: &mut impl Controller, cwnd: u32, acked: u32) -> u32 {
    let mut sk = sock();
    (sk.snd_cwnd, sk.snd_ssthresh) = (cwnd, cwnd.min(2));
    for _ in 0..acked {
        cc.cong_avoid(&mut sk, 0, 1);
    }
    sk.snd_cwnd
}
