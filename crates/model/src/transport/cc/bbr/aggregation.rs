//! How far acknowledgements run ahead of the bandwidth, as those of aggregated Wi-Fi frames do: that much
//! more may be in flight.
// linux: net/ipv4/tcp_bbr.c bbr_update_ack_aggregation (5.1).

use super::super::{CcSock, RateSample};
use super::BW_SCALE;

/// Rounds of each half of the window over which the maximum is kept.
const WIN_RTTS: u8 = 5;
/// Longest time, in us, whose data may be added to the window.
pub(super) const EXTRA_ACKED_MAX_US: u64 = 100_000;
/// Segments acknowledged in an epoch after which another begins, and most that are counted.
const EPOCH_RESET: u32 = 1 << 20;

/// State of the measurement.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AckAggregation {
    /// Excess in segments: maximum of this and of the last half-window.
    extra_acked: [u32; 2],
    half: usize,
    /// Rounds in this half-window.
    win_rtts: u8,
    /// Beginning of the epoch in us, segments acknowledged since.
    epoch_mstamp: u64,
    epoch_acked: u32,
}

impl AckAggregation {
    /// Forgets all.
    pub(super) fn restart(&mut self, sk: &CcSock) {
        *self = Self::default();
        self.restart_epoch(sk);
    }

    /// An epoch begins.
    pub(super) fn restart_epoch(&mut self, sk: &CcSock) {
        self.epoch_mstamp = sk.now_us;
        self.epoch_acked = 0;
    }

    /// Segments that acknowledgements ran ahead at most.
    #[inline]
    pub(super) fn extra_acked(&self) -> u32 {
        self.extra_acked[0].max(self.extra_acked[1])
    }

    /// Takes in a sample.
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
        // Below the bandwidth's line there is no excess: measure from here on.
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
