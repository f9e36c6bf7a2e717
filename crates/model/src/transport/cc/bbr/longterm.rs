//! Detects token-bucket policers. Two consecutive intervals with high loss and the same delivery rate give
//! the policed rate, even if bursts are faster.
// linux: net/ipv4/tcp_bbr.c bbr_lt_bw_sampling (6.1).

use super::super::{CcSock, RateSample};
use super::{BW_SCALE, BW_UNIT, SCALE, UNIT};

/// Minimum length of an interval, in rounds.
const INTERVAL_MIN_RTTS: u32 = 4;
/// Minimum loss ratio of an interval: lost per delivered segments, in 1/256.
const LOSS_THRESH: u64 = 50;
/// Two rates match if they differ by at most 1/8 (in 1/256) ...
const BW_RATIO: u64 = UNIT as u64 / 8;
/// ... or by at most this many bytes per second.
const BW_DIFF: u64 = 4_000 / 8;
/// Rounds for which a detected policer rate is used.
const MAX_RTTS: u32 = 48;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Change {
    None,
    /// A policer was detected: stop probing.
    Policed,
    /// The policer rate has expired: probe again.
    ProbeAgain,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LongTerm {
    is_sampling: bool,
    use_bw: bool,
    /// Rate of the previous interval, or the policer rate; 0 if unknown.
    bw: u32,
    /// Rounds in this interval, or since the policer was detected.
    rtt_cnt: u32,
    /// Start of the interval: time in ms, and segments delivered and lost by then.
    last_stamp: u32,
    last_delivered: u32,
    last_lost: u32,
}

impl LongTerm {
    /// Returns the policer rate in use, if any.
    #[inline]
    pub(super) fn in_use(&self) -> Option<u32> {
        self.use_bw.then_some(self.bw)
    }

    pub(super) fn reset(&mut self, sk: &CcSock) {
        *self = Self::default();
        self.start_interval(sk);
    }

    fn start_interval(&mut self, sk: &CcSock) {
        self.last_stamp = (sk.delivered_mstamp / 1_000) as u32;
        self.last_delivered = sk.delivered;
        self.last_lost = sk.lost;
        self.rtt_cnt = 0;
    }

    /// Processes a rate sample. `in_cycle` is true in PROBE_BW.
    pub(super) fn sample(
        &mut self,
        sk: &CcSock,
        rs: &RateSample,
        round_start: bool,
        in_cycle: bool,
    ) -> Change {
        if self.use_bw {
            if in_cycle && round_start {
                self.rtt_cnt += 1;
                if self.rtt_cnt >= MAX_RTTS {
                    self.reset(sk);
                    return Change::ProbeAgain;
                }
            }
            return Change::None;
        }
        // A policer drops once its bucket is empty, so sampling starts at the first loss.
        if !self.is_sampling {
            if rs.losses == 0 {
                return Change::None;
            }
            self.start_interval(sk);
            self.is_sampling = true;
        }
        if rs.is_app_limited {
            self.reset(sk);
            return Change::None;
        }
        self.rtt_cnt += u32::from(round_start);
        if self.rtt_cnt < INTERVAL_MIN_RTTS {
            return Change::None;
        }
        if self.rtt_cnt > 4 * INTERVAL_MIN_RTTS {
            self.reset(sk);
            return Change::None;
        }
        // Intervals start and end with a loss, so that they cover whole fill cycles of the bucket.
        if rs.losses == 0 {
            return Change::None;
        }
        let lost = u64::from(sk.lost.wrapping_sub(self.last_lost));
        let delivered = u64::from(sk.delivered.wrapping_sub(self.last_delivered));
        if delivered == 0 || lost << SCALE < LOSS_THRESH * delivered {
            return Change::None;
        }
        let ms = ((sk.delivered_mstamp / 1_000) as u32).wrapping_sub(self.last_stamp);
        if (ms as i32) < 1 {
            return Change::None;
        }
        if ms >= u32::MAX / 1_000 {
            self.reset(sk);
            return Change::None;
        }
        self.end_interval(sk, (delivered * BW_UNIT / (u64::from(ms) * 1_000)) as u32)
    }

    // linux: net/ipv4/tcp_bbr.c bbr_lt_bw_interval_done (6.1).
    fn end_interval(&mut self, sk: &CcSock, bw: u32) -> Change {
        if self.bw != 0 {
            let diff = u64::from(bw.abs_diff(self.bw));
            let bytes = (diff * u64::from(sk.mss_cache) * 990_000) >> BW_SCALE;
            if diff * u64::from(UNIT) <= BW_RATIO * u64::from(self.bw) || bytes <= BW_DIFF {
                self.bw = ((u64::from(bw) + u64::from(self.bw)) >> 1) as u32;
                self.use_bw = true;
                self.rtt_cnt = 0;
                return Change::Policed;
            }
        }
        self.bw = bw;
        self.start_interval(sk);
        Change::None
    }
}
