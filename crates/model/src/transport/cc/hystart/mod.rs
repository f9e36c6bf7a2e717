//! HyStart: leaves slow start before the queue overflows, when the ACK train of a round spans half an RTT or
//! when the delay has increased.
//!
//! The rules changed between kernels; see [`HystartRules`].

#[cfg(test)]
mod tests;

use crate::transport::seq::after;

use super::CcSock;

/// Bit of `hystart_detect`: ACK train length.
pub const ACK_TRAIN: u8 = 1;
/// Bit of `hystart_detect`: delay increase.
pub const DELAY: u8 = 2;
/// Samples per round whose minimum is compared with the overall minimum.
// linux: net/ipv4/tcp_cubic.c HYSTART_MIN_SAMPLES (6.1).
const MIN_SAMPLES: u8 = 8;
/// Bounds of the delay increase that ends slow start, in us.
// linux: net/ipv4/tcp_cubic.c HYSTART_DELAY_MIN, HYSTART_DELAY_MAX (6.1).
const DELAY_THRESHOLD_US: (u32, u32) = (4_000, 16_000);

/// Parameters, named after those of the kernel module `tcp_cubic`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HystartParams {
    /// Enable HyStart.
    pub hystart: bool,
    /// Active criteria: [`ACK_TRAIN`], [`DELAY`] or both.
    pub hystart_detect: u8,
    /// Minimum window in segments at which HyStart may end slow start.
    pub hystart_low_window: u32,
    /// Maximum gap between the ACKs of a train, in us (`hystart_ack_delta` in ms before 5.6).
    pub hystart_ack_delta_us: u32,
    /// Rules that differ between kernels.
    pub rules: HystartRules,
}

/// HyStart rules that differ between kernels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HystartRules {
    /// Condition for starting a round.
    pub round: RoundStart,
    /// Units of the clock and of delays.
    pub clock: DelayClock,
    /// Allow trains of a full RTT for paced flows, extended by the duration of four TSO packets (since 5.6).
    pub pacing_aware: bool,
    /// Take the round's minimum over all samples instead of the first eight (since 5.8 and some earlier
    /// stable kernels).
    pub whole_round: bool,
}

/// Condition for starting a round. All variants require an ACK of the sequence number that was next at the
/// start of the previous round; they differ in where the kernel checks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RoundStart {
    /// In `cong_avoid`, and thus only while the window limits the sender (before 5.16).
    CongAvoid,
    /// At any sample above `hystart_low_window` (5.16 to 6.13).
    // linux: 4e1fddc98d25 (5.16) - starts rounds regardless of whether the window is the limit.
    AboveLowWindow,
    /// At any sample (6.14, and 6.1 since 6.1.129).
    // linux: 25c1a9ca53db (6.14) - starts rounds below the low window too.
    AnySample,
}

/// Units of the clock and of delays.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DelayClock {
    /// Both in us (since 5.6).
    // linux: cff04e2da308 (5.6).
    Micros,
    /// Clock in ms, delays in eighths of a ms.
    Millis,
}

// linux: net/ipv4/tcp_cubic.c (6.1.192).
impl Default for HystartParams {
    fn default() -> Self {
        Self {
            hystart: true,
            hystart_detect: ACK_TRAIN | DELAY,
            hystart_low_window: 16,
            hystart_ack_delta_us: 2_000,
            rules: HystartRules::LINUX_6_1,
        }
    }
}

impl HystartRules {
    /// Linux 6.14, and 6.1 since 6.1.129.
    pub const LINUX_6_1: Self = Self {
        round: RoundStart::AnySample,
        clock: DelayClock::Micros,
        pacing_aware: true,
        whole_round: true,
    };
    /// Linux 5.16.
    pub const LINUX_5_16: Self = Self { round: RoundStart::AboveLowWindow, ..Self::LINUX_6_1 };
    /// Linux 5.8, and thus 5.10 and 5.15 as first released; later stable releases may have newer rules.
    pub const LINUX_5_8: Self = Self { round: RoundStart::CongAvoid, ..Self::LINUX_6_1 };
    /// Linux 2.6.29 to 5.5.
    pub const LINUX_4: Self = Self {
        round: RoundStart::CongAvoid,
        clock: DelayClock::Millis,
        pacing_aware: false,
        whole_round: false,
    };
}

impl DelayClock {
    /// Converts a time in us to the clock's unit.
    #[inline]
    fn now(self, us: u64) -> u32 {
        match self {
            Self::Micros => us as u32,
            Self::Millis => (us / 1_000) as u32,
        }
    }
    /// Converts an RTT in us to the unit of delays.
    #[inline]
    pub fn delay(self, rtt_us: i64) -> u32 {
        match self {
            Self::Micros => rtt_us as u32,
            Self::Millis => ((rtt_us << 3) / 1_000) as u32,
        }
    }
    /// Converts a delay to ticks, rounding up as `usecs_to_jiffies` and `msecs_to_jiffies` do.
    #[inline]
    pub fn ticks(self, delay: u32, hz: u32) -> u32 {
        match self {
            Self::Micros => (u64::from(delay) * u64::from(hz)).div_ceil(1_000_000) as u32,
            Self::Millis => (u64::from(delay >> 3) * u64::from(hz)).div_ceil(1_000) as u32,
        }
    }
    /// Allowed increase over `delay_min`, in the unit of delays.
    // linux: net/ipv4/tcp_cubic.c HYSTART_DELAY_THRESH (6.1) - an eighth, within bounds.
    fn growth(self, delay_min: u32) -> u32 {
        let (low, high) = DELAY_THRESHOLD_US;
        match self {
            Self::Micros => (delay_min >> 3).clamp(low, high),
            Self::Millis => (delay_min >> 3).clamp(low / 125, high / 125),
        }
    }
}

/// HyStart state.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hystart {
    /// True once slow start has ended.
    found: bool,
    /// Samples in this round, up to eight.
    sample_cnt: u8,
    /// Start of the round, in clock units.
    round_start: u32,
    /// Time of the last ACK in the train, in clock units.
    last_ack: u32,
    /// Sequence number whose acknowledgement ends the round.
    end_seq: u32,
    /// Minimum delay of this round.
    curr_rtt: u32,
}

impl Hystart {
    /// Starts a round.
    // linux: net/ipv4/tcp_cubic.c bictcp_hystart_reset (6.1).
    pub fn start_round(&mut self, params: &HystartParams, sk: &CcSock) {
        self.round_start = params.rules.clock.now(sk.now_us);
        self.last_ack = self.round_start;
        self.end_seq = sk.snd_nxt;
        self.curr_rtt = u32::MAX;
        self.sample_cnt = 0;
    }

    /// Called before the window grows in slow start, with acknowledgement number `ack`.
    #[inline]
    pub fn on_cong_avoid(&mut self, params: &HystartParams, sk: &CcSock, ack: u32) {
        if params.hystart && params.rules.round == RoundStart::CongAvoid && after(ack, self.end_seq) {
            self.start_round(params, sk);
        }
    }

    /// Processes a delay sample. `delay_min` is the minimum so far. Sets the threshold if slow start ends.
    // linux: net/ipv4/tcp_cubic.c hystart_update (6.1).
    #[inline]
    pub fn update(&mut self, params: &HystartParams, sk: &mut CcSock, delay: u32, delay_min: u32) {
        if self.found {
            return;
        }
        let rules = params.rules;
        let low = sk.snd_cwnd < params.hystart_low_window;
        let begins = match rules.round {
            RoundStart::CongAvoid => false,
            RoundStart::AboveLowWindow => !low,
            RoundStart::AnySample => true,
        };
        if begins && after(sk.snd_una, self.end_seq) {
            self.start_round(params, sk);
        }
        if low {
            return;
        }
        if params.hystart_detect & ACK_TRAIN != 0 && self.train_is_long(params, sk, delay_min) {
            self.found = true;
        }
        if params.hystart_detect & DELAY != 0 {
            let counted = self.sample_cnt < MIN_SAMPLES;
            if counted || rules.whole_round {
                self.curr_rtt = self.curr_rtt.min(delay);
            }
            if counted {
                self.sample_cnt += 1;
            } else if self.curr_rtt > delay_min + rules.clock.growth(delay_min) {
                self.found = true;
            }
        }
        if self.found {
            sk.snd_ssthresh = sk.snd_cwnd;
        }
    }

    /// Returns true if the ACK train is long enough to have filled the path.
    fn train_is_long(&mut self, params: &HystartParams, sk: &CcSock, delay_min: u32) -> bool {
        let clock = params.rules.clock;
        let now = clock.now(sk.now_us);
        let (delta, threshold) = match clock {
            DelayClock::Micros => (params.hystart_ack_delta_us, delay_min),
            DelayClock::Millis => (params.hystart_ack_delta_us / 1_000, delay_min >> 3),
        };
        if now.wrapping_sub(self.last_ack) as i32 > delta as i32 {
            return false;
        }
        self.last_ack = now;
        let threshold = match (params.rules.pacing_aware, clock) {
            (true, _) if sk.needs_pacing => threshold + ack_delay(sk),
            (true, _) => (threshold + ack_delay(sk)) >> 1,
            // Halve the value in eighths, so that odd milliseconds round as in the kernel.
            (false, DelayClock::Millis) => delay_min >> 4,
            (false, DelayClock::Micros) => threshold >> 1,
        };
        now.wrapping_sub(self.round_start) as i32 > threshold as i32
    }
}

/// Allowance for aggregation in us: the duration of four TSO packets at the pacing rate, at most 1 ms.
// linux: net/ipv4/tcp_cubic.c hystart_ack_delay (6.1).
fn ack_delay(sk: &CcSock) -> u32 {
    let bytes = u64::from(sk.gso_max_size) * 4;
    (bytes * 1_000_000).checked_div(sk.pacing_rate).unwrap_or(0).min(1_000) as u32
}
