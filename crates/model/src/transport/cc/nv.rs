//! New Vegas: compares the window with the round's maximum rate times the minimum RTT.
// linux: net/ipv4/tcp_nv.c (6.1) - the only description; there is no paper.

use crate::transport::seq::before;

use super::reno::{MIN_SSTHRESH, cong_avoid_ai, slow_start};
use super::{AckSample, CaState, CcSock, Controller, INFINITE_SSTHRESH};

/// Parameters, named after those of the kernel module without the prefix `nv_`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NvParams {
    /// Allowed number of queued segments.
    pub pad: u32,
    /// Width of the band below `pad` in which the window stays unchanged, in segments.
    pub pad_buffer: u32,
    /// Interval between resets of the minimum RTT, in seconds.
    pub reset_period: u32,
    /// Minimum window in segments.
    pub min_cwnd: u32,
    /// Fraction of the excess by which the window is reduced, in 1/128.
    pub cong_dec_mult: u32,
    /// Threshold after congestion, in eighths of the target window.
    pub ssthresh_factor: u32,
    /// Weight of a new RTT sample, in 1/256.
    pub rtt_factor: u32,
    /// Multiplicative decrease factor at a loss, in 1/1024.
    pub loss_dec_factor: u32,
    /// Congestion-free rounds after which growth slowed by timeouts speeds up again; 0 disables the slowdown.
    pub cwnd_growth_rate_neg: u32,
    /// Congestion-free rounds after which the window grows faster than Reno; 0: never.
    pub cwnd_growth_rate_pos: u32,
    /// Minimum samples before reducing the window.
    pub dec_eval_min_calls: u32,
    /// Minimum samples before increasing the window.
    pub inc_eval_min_calls: u32,
    /// Minimum samples before leaving slow start.
    pub ssthresh_eval_min_calls: u32,
    /// Rounds with too few samples after which growth stops.
    pub stop_rtt_cnt: u32,
    /// Minimum rounds before any decision.
    pub rtt_min_cnt: u32,
}

impl Default for NvParams {
    fn default() -> Self {
        Self {
            pad: 10,
            pad_buffer: 2,
            reset_period: 5,
            min_cwnd: 2,
            cong_dec_mult: 30 * 128 / 100,
            ssthresh_factor: 8,
            rtt_factor: 128,
            loss_dec_factor: 819,
            cwnd_growth_rate_neg: 8,
            cwnd_growth_rate_pos: 0,
            dec_eval_min_calls: 60,
            inc_eval_min_calls: 20,
            ssthresh_eval_min_calls: 30,
            stop_rtt_cnt: 10,
            rtt_min_cnt: 2,
        }
    }
}

/// One byte per us in the unit of rates, 100 bit/s.
const RATE: u64 = 80_000;
/// Minimum, step and upper bound of `small_cwnd`.
const MIN_CWND: u32 = 4;
const MIN_CWND_GROW: u32 = 2;
const TSO_CWND_BOUND: u32 = 80;

/// New Vegas congestion control.
#[derive(Clone, Debug, Default)]
pub struct Nv {
    params: NvParams,
    /// Time in ticks at which the minimum of the last period replaces the overall minimum RTT.
    min_rtt_reset: u32,
    /// Exponent of the growth rate. Negative values grow more slowly than Reno.
    growth: i32,
    allow_growth: bool,
    /// Set if state must be reset on return to Open.
    reset: bool,
    /// Samples and rounds since the last decision; samples are capped at 255.
    eval_calls: u32,
    rtt_cnt: u32,
    /// Window below which a round may produce only a single ACK.
    small_cwnd: u32,
    /// RTTs in us: average, minimum, and minimum of this period.
    last_rtt: u32,
    min_rtt: u32,
    min_rtt_new: u32,
    /// Maximum rate since the last decision.
    max_rate: u32,
    /// Sequence number whose acknowledgement ends the round.
    round_seq: u32,
    /// `snd_una` at the last sample.
    last_una: u32,
    /// Consecutive decisions without congestion.
    no_congestion: u32,
}

/// Result of evaluating the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    /// Too few samples, or a window within the tolerance band: keep collecting.
    Wait,
    /// A decision was made: restart the sample count.
    Decided,
}

impl Nv {
    /// Creates a controller with these parameters. The default is the kernel module's.
    pub fn new(params: NvParams) -> Self {
        Self { params, ..Self::default() }
    }

    // linux: net/ipv4/tcp_nv.c tcpnv_reset (6.1).
    fn begin(&mut self, sk: &CcSock) {
        self.reset = false;
        (self.no_congestion, self.rtt_cnt, self.eval_calls) = (0, 0, 0);
        (self.last_rtt, self.max_rate) = (0, 0);
        self.round_seq = sk.snd_una;
        self.last_una = sk.snd_una;
    }

    /// Adds an RTT sample and returns the average.
    fn average(&mut self, rtt: u32) -> u32 {
        let weight = self.params.rtt_factor;
        if weight == 0 {
            return rtt;
        }
        let average = if self.last_rtt > 0 {
            ((u64::from(rtt) * u64::from(weight) + u64::from(self.last_rtt) * u64::from(256 - weight)) / 256)
                as u32
        } else {
            self.min_rtt = rtt << 1;
            rtt
        };
        self.last_rtt = average;
        average
    }

    /// Renews the minimum RTT after a period of random length, so that it covers one or two periods.
    fn renew_min_rtt(&mut self, sk: &mut CcSock) {
        if (sk.jiffies.wrapping_sub(self.min_rtt_reset) as i32) < 0 {
            return;
        }
        self.min_rtt = self.min_rtt_new;
        self.min_rtt_new = u32::MAX;
        let chance = sk.random.below(256);
        let ticks = (self.params.reset_period * (384 + chance) * sk.hz) >> 9;
        self.min_rtt_reset = sk.jiffies.wrapping_add(ticks);
        self.small_cwnd = (self.small_cwnd / 2).max(MIN_CWND);
    }

    /// Compares the window with the target at the end of a round.
    fn decide(&mut self, sk: &mut CcSock) -> Verdict {
        let p = self.params;
        let by_rate = u64::from(self.max_rate) * u64::from(self.min_rtt) / (RATE * u64::from(sk.mss_cache));
        let most = by_rate as u32 + p.pad;
        if sk.snd_cwnd > most {
            if self.rtt_cnt < p.rtt_min_cnt {
                return Verdict::Wait;
            }
            if sk.snd_ssthresh == INFINITE_SSTHRESH {
                if self.eval_calls < p.ssthresh_eval_min_calls {
                    return Verdict::Wait;
                }
            } else if self.eval_calls < p.dec_eval_min_calls {
                if self.rtt_cnt > p.stop_rtt_cnt {
                    self.allow_growth = false;
                }
                return Verdict::Wait;
            }
            self.allow_growth = false;
            sk.snd_ssthresh = (p.ssthresh_factor * most) >> 3;
            let excess = sk.snd_cwnd - most;
            if excess > 2 {
                sk.snd_cwnd -= ((excess * p.cong_dec_mult) >> 7).max(2);
            } else if p.cong_dec_mult > 0 {
                sk.snd_cwnd = most;
            }
            self.growth = self.growth.min(0);
            self.no_congestion = 0;
        } else if sk.snd_cwnd <= most.saturating_sub(p.pad_buffer) {
            if self.eval_calls < p.inc_eval_min_calls {
                return Verdict::Wait;
            }
            self.allow_growth = true;
            self.no_congestion += 1;
            let after = if self.growth < 0 { p.cwnd_growth_rate_neg } else { p.cwnd_growth_rate_pos };
            if after > 0 && self.no_congestion > after {
                self.growth += 1;
                self.no_congestion = 0;
            }
        } else {
            // Within the tolerance band, keep the samples for the next evaluation.
            return Verdict::Wait;
        }
        Verdict::Decided
    }
}

impl Controller for Nv {
    // linux: net/ipv4/tcp_nv.c tcpnv_init (6.1). Not modelled: the base RTT set by a BPF program.
    fn init(&mut self, sk: &mut CcSock) {
        *self = Self::new(self.params);
        self.begin(sk);
        self.allow_growth = true;
        self.min_rtt_reset = sk.jiffies.wrapping_add(2 * sk.hz);
        (self.min_rtt, self.min_rtt_new) = (u32::MAX, u32::MAX);
        self.small_cwnd = MIN_CWND;
    }

    fn ssthresh(&mut self, sk: &mut CcSock) -> u32 {
        ((sk.snd_cwnd * self.params.loss_dec_factor) >> 10).max(MIN_SSTHRESH)
    }

    // linux: net/ipv4/tcp_nv.c tcpnv_cong_avoid (6.1).
    #[inline]
    fn cong_avoid(&mut self, sk: &mut CcSock, _ack: u32, mut acked: u32) {
        if !sk.is_cwnd_limited || !self.allow_growth {
            return;
        }
        if sk.in_slow_start() {
            acked = slow_start(sk, acked);
            if acked == 0 {
                return;
            }
        }
        let w =
            if self.growth < 0 { sk.snd_cwnd << -self.growth } else { (sk.snd_cwnd >> self.growth).max(4) };
        cong_avoid_ai(sk, w, acked);
    }

    // linux: net/ipv4/tcp_nv.c tcpnv_state (6.1).
    fn set_state(&mut self, sk: &mut CcSock, new: CaState) {
        if new == CaState::Open && self.reset {
            self.begin(sk);
        } else if matches!(new, CaState::Loss | CaState::Cwr | CaState::Recovery) {
            self.reset = true;
            self.allow_growth = false;
            if new == CaState::Loss {
                self.growth = self.growth.min(0);
                if self.params.cwnd_growth_rate_neg > 0 && self.growth > -8 {
                    self.growth -= 1;
                }
            }
        }
    }

    // linux: net/ipv4/tcp_nv.c tcpnv_acked (6.1).
    #[inline]
    fn pkts_acked(&mut self, sk: &mut CcSock, sample: &AckSample) {
        if sample.rtt_us < 0 || !matches!(sk.ca_state, CaState::Open | CaState::Disorder) {
            return;
        }
        let bytes_acked = sk.snd_una.wrapping_sub(self.last_una);
        self.last_una = sk.snd_una;
        if sample.in_flight == 0 {
            return;
        }
        let rtt = self.average(sample.rtt_us as u32);
        let rate = (u64::from(sample.in_flight) * RATE / u64::from(rtt.max(1))) as u32;
        self.max_rate = self.max_rate.max(rate);
        self.eval_calls = (self.eval_calls + 1).min(255);
        self.min_rtt = self.min_rtt.min(rtt);
        self.min_rtt_new = self.min_rtt_new.min(rtt);
        self.renew_min_rtt(sk);
        if !before(self.round_seq, sk.snd_una) {
            return;
        }
        self.round_seq = sk.snd_nxt;
        self.rtt_cnt = (self.rtt_cnt + 1).min(255);
        // A single ACK per round carries no information: let the window grow until there are more.
        if self.eval_calls == 1
            && bytes_acked >= (self.small_cwnd - 1) * sk.mss_cache
            && self.small_cwnd <= TSO_CWND_BOUND
        {
            self.small_cwnd = (self.small_cwnd + MIN_CWND_GROW).min(TSO_CWND_BOUND + 1);
            self.round_seq = sk.snd_nxt.wrapping_add(self.small_cwnd * sk.mss_cache);
            self.eval_calls = 0;
            self.allow_growth = true;
            return;
        }
        if self.decide(sk) == Verdict::Decided {
            (self.eval_calls, self.rtt_cnt, self.max_rate) = (0, 0, 0);
            sk.snd_cwnd = sk.snd_cwnd.max(self.params.min_cwnd);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{MSS, avoid, set_time, sock};
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn decisions() {
        // The maximum rate is 50 segments per minimum RTT of 20 ms, so the target is 60.
        let max_rate = (u64::from(50 * MSS) * RATE / 20_000) as u32 + 1;
        // window, threshold, rounds, samples; window, threshold, growth allowed, decided
        let inf = INFINITE_SSTHRESH;
        let table = [
            (58, inf, 1, 20, 58, inf, true, true),
            (58, inf, 1, 19, 58, inf, false, false),
            // Within the tolerance band nothing changes.
            (59, inf, 1, 0, 59, inf, false, false),
            (60, inf, 1, 0, 60, inf, false, false),
            // Leaving slow start.
            (100, inf, 1, 200, 100, inf, false, false),
            (100, inf, 2, 29, 100, inf, false, false),
            (100, inf, 2, 30, 89, 60, false, true),
            // After slow start, more samples are required.
            (100, 60, 2, 59, 100, 60, false, false),
            (100, 60, 2, 60, 89, 60, false, true),
            (65, 60, 2, 60, 63, 60, false, true),
            (62, 60, 2, 60, 60, 60, false, true),
        ];
        for (cwnd, threshold, rtt_cnt, eval_calls, cwnd_after, threshold_after, allowed, decided) in table {
            let mut sk = sock();
            (sk.snd_cwnd, sk.snd_ssthresh) = (cwnd, threshold);
            let mut nv = Nv { rtt_cnt, eval_calls, max_rate, min_rtt: 20_000, ..Nv::default() };
            let verdict = nv.decide(&mut sk);
            assert_eq!(
                (sk.snd_cwnd, sk.snd_ssthresh, nv.allow_growth, verdict == Verdict::Decided),
                (cwnd_after, threshold_after, allowed, decided),
                "{cwnd} {rtt_cnt} {eval_calls}"
            );
        }
    }

    #[test]
    fn growth_by_its_exponent() {
        // exponent, window, window after as many acknowledged segments
        for (growth, cwnd, after) in [(0, 100, 101), (-1, 100, 100), (1, 100, 102), (8, 100, 125)] {
            let mut nv = Nv { growth, allow_growth: true, ..Nv::default() };
            assert_eq!(avoid(&mut nv, cwnd, 100), after, "{growth}");
            nv.allow_growth = false;
            assert_eq!(avoid(&mut nv, cwnd, 100), cwnd);
        }
    }

    #[test]
    fn losses() {
        let mut sk = sock();
        let mut nv = Nv::default();
        nv.init(&mut sk);
        sk.snd_cwnd = 100;
        assert_eq!(nv.ssthresh(&mut sk), 79);
        nv.max_rate = 7;
        nv.set_state(&mut sk, CaState::Recovery);
        assert_eq!((nv.allow_growth, nv.growth), (false, 0));
        nv.set_state(&mut sk, CaState::Open);
        assert_eq!((nv.max_rate, nv.reset), (0, false));
        for growth in [-1, -2, -3, -4, -5, -6, -7, -8, -8] {
            nv.set_state(&mut sk, CaState::Loss);
            assert_eq!(nv.growth, growth);
        }
    }

    #[test]
    fn minimum_rtt_is_renewed() {
        let mut sk = sock();
        let mut nv = Nv::default();
        nv.init(&mut sk);
        nv.pkts_acked(&mut sk, &AckSample { pkts_acked: 1, rtt_us: 20_000, in_flight: MSS });
        let sample = AckSample { pkts_acked: 1, rtt_us: 60_000, in_flight: MSS };
        let mut renewed = Vec::new();
        for ms in 1..20_000 {
            set_time(&mut sk, ms * 1_000);
            let before = nv.min_rtt_reset;
            nv.pkts_acked(&mut sk, &sample);
            if nv.min_rtt_reset != before {
                renewed.push((ms, nv.min_rtt));
            }
        }
        // The first reset is after 2 s, with the minimum so far; later ones follow every 3.75 to 6.24 s.
        assert_eq!(renewed[0], (2_000, 20_000));
        assert!(renewed.len() >= 3 && renewed[1..].iter().all(|r| r.1 >= 59_990), "{renewed:?}");
        for pair in renewed.windows(2) {
            assert!((3_740..=6_250).contains(&(pair[1].0 - pair[0].0)), "{renewed:?}");
        }
    }

    #[test]
    fn one_acknowledgement_a_round_lets_the_window_grow() {
        let mut sk = sock();
        let mut nv = Nv::default();
        nv.init(&mut sk);
        nv.allow_growth = false;
        sk.snd_una += 4 * MSS;
        sk.snd_nxt = sk.snd_una;
        nv.pkts_acked(&mut sk, &AckSample { pkts_acked: 4, rtt_us: 1_000, in_flight: 4 * MSS });
        assert_eq!((nv.allow_growth, nv.small_cwnd, nv.eval_calls), (true, 6, 0));
        assert_eq!(nv.round_seq, sk.snd_nxt + 6 * MSS);
    }
}
