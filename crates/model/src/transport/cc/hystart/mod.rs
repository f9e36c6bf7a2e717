//! HyStart: leaves slow start before the queue overflows, when the acknowledgements of a round have come for
//! as long as half a round trip, or when delay has grown.
//!
//! The rules have changed with the kernels; [`HystartRules`] says which are meant.

#[cfg(test)]
mod tests;

use crate::transport::seq::after;

use super::CcSock;

/// Bit of `hystart_detect`: the length of the train of acknowledgements.
pub const ACK_TRAIN: u8 = 1;
/// Bit of `hystart_detect`: the increase of delay.
pub const DELAY: u8 = 2;
/// Samples of a round whose minimum is held against the minimum of all.
// linux: net/ipv4/tcp_cubic.c HYSTART_MIN_SAMPLES (6.1).
const MIN_SAMPLES: u8 = 8;
/// Bounds of the delay's increase that ends slow start, in us.
// linux: net/ipv4/tcp_cubic.c HYSTART_DELAY_MIN, HYSTART_DELAY_MAX (6.1).
const DELAY_THRESHOLD_US: (u32, u32) = (4_000, 16_000);

/// Parameters, by the names of the module `tcp_cubic`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HystartParams {
    /// HyStart is on.
    pub hystart: bool,
    /// Active criteria: [`ACK_TRAIN`], [`DELAY`] or both.
    pub hystart_detect: u8,
    /// HyStart does not end slow start at windows below this number of segments.
    pub hystart_low_window: u32,
    /// Acknowledgements further apart than this end the train, in us (`hystart_ack_delta` in ms before 5.6).
    pub hystart_ack_delta_us: u32,
    /// Rules that differ between kernels.
    pub rules: HystartRules,
}

/// HyStart rules that differ between kernels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HystartRules {
    /// When a round begins.
    pub round: RoundStart,
    /// Units of the clock and of delays.
    pub clock: DelayClock,
    /// The train may be a whole round trip long if the flow is paced, and longer by the time of four TSO
    /// packets (5.6 on).
    pub pacing_aware: bool,
    /// The minimum of the round takes in all its samples, not the first eight only (5.8 on, and earlier
    /// stable kernels).
    pub whole_round: bool,
}

/// When a round begins: always with the acknowledgement of the sequence number that was next at its last
/// beginning, but the check was made in different places.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RoundStart {
    /// With the growth of the window, thus only while the window limits the sender (before 5.16).
    CongAvoid,
    /// With any sample above `hystart_low_window` (5.16 to 6.13).
    // linux: 4e1fddc98d25 (5.16) - rounds no longer depend on the window being the limit.
    AboveLowWindow,
    /// With any sample (6.14, and 6.1 from 6.1.129 on).
    // linux: 25c1a9ca53db (6.14) - the low window no longer keeps rounds from beginning.
    AnySample,
}

/// Units of the clock and of delays.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DelayClock {
    /// Both in us (5.6 on).
    // linux: cff04e2da308 (5.6).
    Micros,
    /// The clock in ms, delays in eighths of a ms.
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
    /// Linux 6.14 and 6.1 from 6.1.129 on.
    pub const LINUX_6_1: Self = Self {
        round: RoundStart::AnySample,
        clock: DelayClock::Micros,
        pacing_aware: true,
        whole_round: true,
    };
    /// Linux 5.16.
    pub const LINUX_5_16: Self = Self { round: RoundStart::AboveLowWindow, ..Self::LINUX_6_1 };
    /// Linux 5.8, so 5.10 and 5.15 as first released; their later stable releases may have the newer rules.
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
    /// The instant `us`, in the clock's unit.
    #[inline]
    fn now(self, us: u64) -> u32 {
        match self {
            Self::Micros => us as u32,
            Self::Millis => (us / 1_000) as u32,
        }
    }
    /// A round-trip time in us, in the unit of delays.
    #[inline]
    pub fn delay(self, rtt_us: i64) -> u32 {
        match self {
            Self::Micros => rtt_us as u32,
            Self::Millis => ((rtt_us << 3) / 1_000) as u32,
        }
    }
    /// A delay in ticks, rounded up as `usecs_to_jiffies` and `msecs_to_jiffies` do.
    #[inline]
    pub fn ticks(self, delay: u32, hz: u32) -> u32 {
        match self {
            Self::Micros => (u64::from(delay) * u64::from(hz)).div_ceil(1_000_000) as u32,
            Self::Millis => (u64::from(delay >> 3) * u64::from(hz)).div_ceil(1_000) as u32,
        }
    }
    /// How much delay may grow over `delay_min`, in the unit of delays.
    // linux: net/ipv4/tcp_cubic.c HYSTART_DELAY_THRESH (6.1) - an eighth, within bounds.
    fn growth(self, delay_min: u32) -> u32 {
        let (low, high) = DELAY_THRESHOLD_US;
        match self {
            Self::Micros => (delay_min >> 3).clamp(low, high),
            Self::Millis => (delay_min >> 3).clamp(low / 125, high / 125),
        }
    }
}

/// State of HyStart.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hystart {
    /// Slow start was left.
    found: bool,
    /// Samples of this round, up to eight.
    sample_cnt: u8,
    /// When the round began, by the clock.
    round_start: u32,
    /// When the train's last acknowledgement came, by the clock.
    last_ack: u32,
    /// The round ends when this sequence number is acknowledged.
    end_seq: u32,
    /// Least delay of this round.
    curr_rtt: u32,
}

impl Hystart {
    /// A round begins.
    // linux: net/ipv4/tcp_cubic.c bictcp_hystart_reset (6.1).
    pub fn start_round(&mut self, params: &HystartParams, sk: &CcSock) {
        self.round_start = params.rules.clock.now(sk.now_us);
        self.last_ack = self.round_start;
        self.end_seq = sk.snd_nxt;
        self.curr_rtt = u32::MAX;
        self.sample_cnt = 0;
    }

    /// The window is about to grow in slow start with acknowledgement number `ack`.
    #[inline]
    pub fn on_cong_avoid(&mut self, params: &HystartParams, sk: &CcSock, ack: u32) {
        if params.hystart && params.rules.round == RoundStart::CongAvoid && after(ack, self.end_seq) {
            self.start_round(params, sk);
        }
    }

    /// A round trip took `delay`, the shortest so far `delay_min`. Sets the threshold if slow start should
    /// end.
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

    /// Whether acknowledgements have followed each other for so long that the path is full.
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
            // Halved from the eighths, so that odd milliseconds round as the kernel's do.
            (false, DelayClock::Millis) => delay_min >> 4,
            (false, DelayClock::Micros) => threshold >> 1,
        };
        now.wrapping_sub(self.round_start) as i32 > threshold as i32
    }
}

/// Time in us by which aggregation on the way may lengthen a train: four TSO packets at the pacing rate, at
/// most 1 ms.
// linux: net/ipv4/tcp_cubic.c hystart_ack_delay (6.1).
fn ack_delay(sk: &CcSock) -> u32 {
    let bytes = u64::from(sk.gso_max_size) * 4;
    (bytes * 1_000_000).checked_div(sk.pacing_rate).unwrap_or(0).min(1_000) as u32
}
