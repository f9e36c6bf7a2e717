//! Estimates how far ACK aggregation, for example in Wi-Fi frames, runs ahead of the bandwidth. BBR allows
//! that much extra data in flight.
// linux: net/ipv4/tcp_bbr.c bbr_update_ack_aggregation (5.1).

use super::super::{CcSock, RateSample};
use super::BW_SCALE;

/// Rounds in each half of the maximum filter.
const WIN_RTTS: u8 = 5;
/// Upper bound of the extra window, as time in us at the estimated bandwidth.
pub(super) const EXTRA_ACKED_MAX_US: u64 = 100_000;
/// Acknowledged segments after which a new epoch starts. Also caps the count.
const EPOCH_RESET: u32 = 1 << 20;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AckAggregation {
    /// Maximum excess per half-window, in segments.
    extra_acked: [u32; 2],
    half: usize,
    /// Rounds elapsed in the current half-window.
    win_rtts: u8,
    /// Start of the epoch in us, and segments acknowledged since.
    epoch_mstamp: u64,
    epoch_acked: u32,
}

impl AckAggregation {
    pub(super) fn restart(&mut self, sk: &CcSock) {
        *self = Self::default();
        self.restart_epoch(sk);
    }

    pub(super) fn restart_epoch(&mut self, sk: &CcSock) {
        self.epoch_mstamp = sk.now_us;
        self.epoch_acked = 0;
    }

    /// Maximum excess over both half-windows, in segments.
    #[inline]
    pub(super) fn extra_acked(&self) -> u32 {
        self.extra_acked[0].max(self.extra_acked[1])
    }

    pub(super) fn update(&mut self, sk: &CcSock, rs: &RateSample, round_start: bool, bw: u32) {
        if round_start {
            self.win_rtts += 1;
            if self.win_rtts >= WIN_RTTS {
                self.win_rtts = 0;
                self.half ^= 1;
                self.extra_acked[self.half] = 0;
            }
        }
        let epoch_us = sk.delivered_mstamp.saturating_sub(self.epoch_mstamp);
        let mut expected = ((u64::from(bw) * epoch_us) >> BW_SCALE) as u32;
        // ACKs fell behind the estimated bandwidth: start a new epoch.
        if self.epoch_acked <= expected || self.epoch_acked + rs.acked_sacked >= EPOCH_RESET {
            self.epoch_acked = 0;
            self.epoch_mstamp = sk.delivered_mstamp;
            expected = 0;
        }
        self.epoch_acked = (self.epoch_acked + rs.acked_sacked).min(EPOCH_RESET - 1);
        let extra = (self.epoch_acked - expected).min(sk.snd_cwnd);
        let most = &mut self.extra_acked[self.half];
        *most = extra.max(*most);
    }
}
