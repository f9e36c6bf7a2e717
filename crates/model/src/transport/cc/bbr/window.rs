//! Derives the congestion window and the pacing rate from the path model.

use super::super::{CaState, CcSock, RateSample};
use super::aggregation::EXTRA_ACKED_MAX_US;
use super::{BW_SCALE, BW_UNIT, Bbr, HIGH_GAIN, MIN_CWND, Mode, SCALE, TCP_INIT_CWND, UNIT};

/// Maximum payload of a TSO packet in bytes, excluding header room.
// linux: net/ipv4/tcp_bbr.c bbr_tso_segs_goal (6.1) - GSO_LEGACY_MAX_SIZE - 1 - MAX_TCP_HEADER, with the
// header size of a kernel built with tunnels and 802.11.
const TSO_BYTES: u64 = 65_536 - 1 - 320;
/// Maximum number of segments in a TSO packet.
const TSO_SEGS: u64 = 0x7f;

impl Bbr {
    /// Returns `gain` times `bw` in bytes per second, less the pacing margin.
    // linux: net/ipv4/tcp_bbr.c bbr_rate_bytes_per_sec (6.1).
    fn pacing_rate(&self, sk: &CcSock, bw: u32, gain: u32) -> u64 {
        let rate = (u64::from(bw) * u64::from(sk.mss_cache) * u64::from(gain)) >> SCALE;
        let percent = u64::from(100 - self.params.pacing_margin_percent);
        ((rate * (10_000 * percent)) >> BW_SCALE).min(sk.max_pacing_rate)
    }

    /// Sets the rate before the first bandwidth sample: the window per RTT, or per 1 ms if unknown.
    // linux: net/ipv4/tcp_bbr.c bbr_init_pacing_rate_from_rtt (6.1).
    pub(super) fn init_pacing_rate(&mut self, sk: &mut CcSock) {
        let rtt_us = if sk.srtt_us != 0 {
            self.has_seen_rtt = true;
            (sk.srtt_us >> 3).max(1)
        } else {
            1_000
        };
        let bw = (u64::from(sk.snd_cwnd) * BW_UNIT / u64::from(rtt_us)) as u32;
        sk.pacing_rate = self.pacing_rate(sk, bw, HIGH_GAIN);
    }

    // linux: net/ipv4/tcp_bbr.c bbr_set_pacing_rate (6.1) - never lowers the rate before the pipe is full.
    pub(super) fn set_pacing_rate(&mut self, sk: &mut CcSock, bw: u32, gain: u32) {
        let rate = self.pacing_rate(sk, bw, gain);
        if !self.has_seen_rtt && sk.srtt_us != 0 {
            self.init_pacing_rate(sk);
        }
        if self.full_bw_reached || rate > sk.pacing_rate {
            sk.pacing_rate = rate;
        }
    }

    /// Returns `gain` times the bandwidth-delay product, in segments, rounded up.
    // linux: net/ipv4/tcp_bbr.c bbr_bdp (6.1).
    pub(super) fn bdp(&self, bw: u32, gain: u32) -> u32 {
        if self.min_rtt_us == u32::MAX {
            return TCP_INIT_CWND;
        }
        let product = u64::from(bw) * u64::from(self.min_rtt_us);
        ((product * u64::from(gain)) >> SCALE).div_ceil(BW_UNIT) as u32
    }

    /// Returns the number of segments per TSO packet at the current pacing rate.
    // linux: net/ipv4/tcp_bbr.c bbr_tso_segs_goal (6.1).
    pub(super) fn tso_segs_goal(&self, sk: &CcSock) -> u32 {
        use super::super::Controller;
        let bytes = (sk.pacing_rate >> sk.pacing_shift).min(TSO_BYTES);
        let least = u64::from(self.min_tso_segs(sk, 0));
        (bytes / u64::from(sk.mss_cache)).max(least).min(TSO_SEGS) as u32
    }

    /// Adds an allowance for packets held by TSO, GRO and delayed ACKs.
    // linux: net/ipv4/tcp_bbr.c bbr_quantization_budget (6.1).
    fn with_quantization(&self, sk: &CcSock, segments: u32) -> u32 {
        let even = (segments + 3 * self.tso_segs_goal(sk) + 1) & !1;
        let probes = self.mode == Mode::ProbeBw && self.cycle_idx == 0;
        even + if probes { 2 } else { 0 }
    }

    /// Returns the target number of segments in flight for `gain`.
    // linux: net/ipv4/tcp_bbr.c bbr_inflight (6.1).
    pub(super) fn inflight(&self, sk: &CcSock, bw: u32, gain: u32) -> u32 {
        self.with_quantization(sk, self.bdp(bw, gain))
    }

    /// Returns how many of `inflight_now` segments will still be in flight at the next departure.
    // linux: net/ipv4/tcp_bbr.c bbr_packets_in_net_at_edt (6.1); bbr_is_next_cycle_phase, bbr_check_drain
    // (4.19) do not adjust.
    pub(super) fn in_net_at_departure(&self, sk: &CcSock, inflight_now: u32) -> u32 {
        if !self.params.departure_times {
            return inflight_now;
        }
        let us = sk.wstamp_ns.saturating_sub(sk.clock_ns) / 1_000;
        let delivered = (u64::from(self.bw()) * us) >> BW_SCALE;
        let more = if self.pacing_gain > UNIT { self.tso_segs_goal(sk) } else { 0 };
        u64::from(inflight_now + more).saturating_sub(delivered) as u32
    }

    /// Returns the extra window for aggregated ACKs, in segments.
    // linux: net/ipv4/tcp_bbr.c bbr_ack_aggregation_cwnd (6.1).
    fn aggregation_cwnd(&self) -> u32 {
        if self.params.extra_acked_gain == 0 || !self.full_bw_reached {
            return 0;
        }
        let most = (u64::from(self.bw()) * EXTRA_ACKED_MAX_US) >> BW_SCALE;
        let extra = u64::from(self.params.extra_acked_gain) * u64::from(self.aggregation.extra_acked());
        (extra >> SCALE).min(most) as u32
    }

    /// Saves the window before recovery or PROBE_RTT. Keeps the largest if one follows the other.
    // linux: net/ipv4/tcp_bbr.c bbr_save_cwnd (6.1).
    pub(super) fn save_cwnd(&mut self, sk: &CcSock) {
        self.prior_cwnd = if self.prev_ca_state < CaState::Recovery && self.mode != Mode::ProbeRtt {
            sk.snd_cwnd
        } else {
            self.prior_cwnd.max(sk.snd_cwnd)
        };
    }

    /// Sets the window for an acknowledgement.
    // spec: draft-cardwell-iccrg-bbr-congestion-control-00 4.2.3 - modulating cwnd in recovery, the core
    // adjustment, and the bound of PROBE_RTT.
    // linux: net/ipv4/tcp_bbr.c bbr_set_cwnd (6.1) - without a delivery only the bounds apply.
    pub(super) fn set_cwnd(&mut self, sk: &mut CcSock, rs: &RateSample, bw: u32) {
        if rs.acked_sacked > 0 {
            let cwnd = self.in_recovery(sk, rs);
            sk.snd_cwnd = if self.packet_conservation {
                cwnd.max(sk.in_flight() + rs.acked_sacked)
            } else {
                self.towards_target(sk, cwnd, rs.acked_sacked, bw).max(MIN_CWND)
            };
        }
        let most = if self.mode == Mode::ProbeRtt { MIN_CWND } else { u32::MAX };
        sk.snd_cwnd = sk.snd_cwnd.min(most).min(sk.snd_cwnd_clamp);
    }

    /// Moves `cwnd` by what was delivered towards the window that the model asks for. Until the pipe is full,
    /// and for the first segments, it may exceed that window.
    // spec: draft-cardwell-iccrg-bbr-congestion-control-00 4.2.3.
    fn towards_target(&self, sk: &CcSock, cwnd: u32, delivered: u32, bw: u32) -> u32 {
        let target = self.with_quantization(sk, self.bdp(bw, self.cwnd_gain) + self.aggregation_cwnd());
        let grown = cwnd + delivered;
        match self.full_bw_reached {
            true => grown.min(target),
            false if cwnd >= target && sk.delivered >= TCP_INIT_CWND => cwnd,
            false => grown,
        }
    }

    /// Window that loss recovery leaves. Lost segments are not replaced. In its first round recovery sends as
    /// much as is delivered, and its end restores the window before it.
    // spec: draft-cardwell-iccrg-bbr-congestion-control-00 4.2.3.4.
    // linux: net/ipv4/tcp_bbr.c (6.1) - a timeout counts as recovery, without packet conservation.
    fn in_recovery(&mut self, sk: &CcSock, rs: &RateSample) -> u32 {
        let last = core::mem::replace(&mut self.prev_ca_state, sk.ca_state);
        let reduced = match u32::try_from(rs.losses) {
            Ok(lost) if lost > 0 => sk.snd_cwnd.saturating_sub(lost).max(1),
            _ => sk.snd_cwnd,
        };
        let (was, is) = (last >= CaState::Recovery, sk.ca_state >= CaState::Recovery);
        match (last, sk.ca_state) {
            (CaState::Recovery, CaState::Recovery) => reduced,
            (_, CaState::Recovery) => {
                (self.packet_conservation, self.next_rtt_delivered) = (true, sk.delivered);
                sk.in_flight() + rs.acked_sacked
            }
            _ if was && !is => {
                self.packet_conservation = false;
                reduced.max(self.prior_cwnd)
            }
            _ => reduced,
        }
    }
}
