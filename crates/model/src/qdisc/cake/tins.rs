//! Mapping of packets to tins, and the shares of the tins.

use super::params::{CakeParams, Tins};
use crate::aqm::cobalt::CobaltParams;
use crate::types::{Duration, Rate};

/// Size of a full packet with its Ethernet header, in bytes.
// linux: include/net/pkt_sched.h psched_mtu (6.1).
pub(super) const MTU: u32 = 1514;

pub(super) const MAX_TINS: usize = 8;

pub(super) type Table = [u8; 64];

const CS: [u8; 8] = [0, 8, 16, 24, 32, 40, 48, 56];
const LE: u8 = 1;
/// The TOS bits (RFC 791) for low delay and high throughput.
const TOS_DELAY: u8 = 4;
const TOS_THROUGHPUT: u8 = 2;
const AF1: [u8; 3] = [10, 12, 14];
const AF2: [u8; 3] = [18, 20, 22];
const AF3: [u8; 3] = [26, 28, 30];
const AF4: [u8; 3] = [34, 36, 38];
const VA: u8 = 44;
const EF: u8 = 46;

const fn put(mut table: Table, tin: u8, points: &[u8]) -> Table {
    let mut n = 0;
    while n < points.len() {
        table[points[n] as usize] = tin;
        n += 1;
    }
    table
}

// linux: net/sched/sch_cake.c diffserv3 (6.1) - unlisted code points are best effort.
const DIFFSERV3: Table = {
    let bulk = put([0; 64], 1, &[LE, CS[1]]);
    put(bulk, 2, &[TOS_DELAY, VA, EF, CS[6], CS[7]])
};

// linux: net/sched/sch_cake.c diffserv4 (6.1).
const DIFFSERV4: Table = {
    let mut t = put([0; 64], 1, &[LE, CS[1]]);
    t = put(t, 2, &[TOS_DELAY, CS[2], CS[3]]);
    t = put(put(put(t, 2, &AF2), 2, &AF3), 2, &AF4);
    put(t, 3, &[CS[4], CS[5], VA, EF, CS[6], CS[7]])
};

// linux: net/sched/sch_cake.c diffserv8 (6.1).
const DIFFSERV8: Table = {
    let mut t = put([2; 64], 0, &[LE]);
    t = put(put(t, 1, &[CS[1], TOS_THROUGHPUT]), 1, &AF1);
    t = put(put(put(t, 3, &[CS[3]]), 3, &AF3), 3, &AF4);
    t = put(put(t, 4, &[TOS_DELAY]), 4, &AF2);
    t = put(t, 5, &[CS[2]]);
    t = put(t, 6, &[CS[4], CS[5], VA, EF]);
    put(t, 7, &[CS[6], CS[7]])
};

const PRECEDENCE: Table = {
    let mut table = [0; 64];
    let mut point = 0;
    while point < 64 {
        table[point] = (point >> 3) as u8;
        point += 1;
    }
    table
};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Share {
    /// Rate in bytes per second up to which the tin has priority; zero without a shaper.
    pub threshold: u64,
    /// Quantum in bytes, used without a shaper.
    pub quantum: i32,
}

impl Tins {
    /// Number of tins.
    pub const fn count(self) -> usize {
        match self {
            Self::Besteffort => 1,
            Self::Diffserv3 => 3,
            Self::Diffserv4 => 4,
            Self::Diffserv8 | Self::Precedence => MAX_TINS,
        }
    }

    pub(super) const fn table(self) -> &'static Table {
        match self {
            Self::Besteffort => &[0; 64],
            Self::Precedence => &PRECEDENCE,
            Self::Diffserv3 => &DIFFSERV3,
            Self::Diffserv4 => &DIFFSERV4,
            Self::Diffserv8 => &DIFFSERV8,
        }
    }

    /// Tins in display order: bulk before best effort.
    // linux: net/sched/sch_cake.c bulk_order, normal_order (6.1).
    pub(super) const fn order(self) -> &'static [usize] {
        match self {
            Self::Besteffort => &[0],
            Self::Diffserv3 => &[1, 0, 2],
            Self::Diffserv4 => &[1, 0, 2, 3],
            Self::Diffserv8 | Self::Precedence => &[0, 1, 2, 3, 4, 5, 6, 7],
        }
    }

    /// Name of tin `n` in tc's table.
    // linux: iproute2 tc/q_cake.c cake_print_xstats (6.1) - names three and four tins, and numbers others.
    pub(super) const fn name_of(self, n: usize) -> &'static str {
        const NUMBERED: [&str; MAX_TINS] =
            ["Tin 0", "Tin 1", "Tin 2", "Tin 3", "Tin 4", "Tin 5", "Tin 6", "Tin 7"];
        match self {
            Self::Diffserv3 => ["Best Effort", "Bulk", "Voice"][n],
            Self::Diffserv4 => ["Best Effort", "Bulk", "Video", "Voice"][n],
            Self::Besteffort | Self::Diffserv8 | Self::Precedence => NUMBERED[n],
        }
    }

    /// Share of tin `n` at `rate` bytes per second.
    // linux: net/sched/sch_cake.c cake_config_diffserv3 and similar (6.1) - a sixteenth for bulk, a quarter
    // for voice, half for video; each of eight tins gets seven eighths of the previous one, rounded down at
    // each step.
    pub(super) fn share(self, n: usize, rate: u64) -> Share {
        let halves = |by: u32| Share { threshold: rate >> by, quantum: 1024 >> by };
        match self {
            Self::Besteffort => Share { threshold: rate, quantum: 65_535 },
            Self::Diffserv3 => halves([0, 4, 2][n]),
            Self::Diffserv4 => halves([0, 4, 1, 2][n]),
            Self::Diffserv8 | Self::Precedence => {
                let eighths = |of: u64| (0..n).fold(of, |left, _| (left * 7) >> 3);
                Share { threshold: eighths(rate), quantum: eighths(256).max(1) as i32 }
            }
        }
    }
}

/// Transmission time of bytes: a multiplication and a shift.
// linux: net/sched/sch_cake.c cake_set_rate (6.1) - 34 significant bits, at least 64 bytes per second; zero
// without a rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Pace {
    mult: u64,
    shift: u32,
}

impl Pace {
    pub(super) fn new(rate: u64) -> Self {
        if rate == 0 {
            return Self { mult: 0, shift: 0 };
        }
        let mut pace = Self { mult: (1_000_000_000 << 34) / rate.max(64), shift: 34 };
        while pace.mult >> 34 != 0 {
            pace.mult >>= 1;
            pace.shift -= 1;
        }
        pace
    }

    #[inline]
    pub(super) fn time(self, bytes: u32) -> Duration {
        Duration::from_nanos((u64::from(bytes) * self.mult) >> self.shift)
    }
}

/// Quantum of a flow at a tin's rate.
// linux: net/sched/sch_cake.c cake_set_rate (6.1) - bytes sent in a quarter of a millisecond, from 300 bytes
// to a full packet.
pub(super) fn flow_quantum(threshold: u64) -> u32 {
    if threshold == 0 { MTU } else { (threshold >> 12).clamp(300, u64::from(MTU)) as u32 }
}

/// COBALT parameters of a tin's queues.
// linux: net/sched/sch_cake.c cake_set_rate (6.1) - allows at least one and a half full packets at the tin's
// rate.
pub(super) fn aqm(params: &CakeParams, pace: Pace) -> CobaltParams {
    let mtu_time = pace.time(MTU);
    let target = Duration::from_nanos(mtu_time.nanos() * 3 / 2).max(params.target);
    let interval = (params.rtt + target).saturating_sub(params.target).max(target * 2);
    CobaltParams { interval, target, mtu_time, p_inc: 1 << 24, p_dec: 1 << 20 }
}

/// Memory limit in bytes of truesize.
// linux: net/sched/sch_cake.c cake_reconfigure (6.1) - the configured limit, or else what the rate sends in
// four intervals, from 4 MiB to 10240 full packets.
pub(super) fn memory_limit(params: &CakeParams) -> u64 {
    const PACKETS: u64 = 10_240;
    let most = PACKETS * u64::from(MTU);
    match (params.memlimit, params.bandwidth) {
        (Some(limit), _) => u64::from(limit),
        (None, None) => most,
        (None, Some(rate)) => {
            let bytes = u128::from(bytes_a_second(rate)) * u128::from(params.rtt.nanos() / 1000) / 250_000;
            u64::try_from(bytes).unwrap_or(u64::MAX).clamp(4 << 20, most)
        }
    }
}

/// Converts a rate into the kernel's unit, bytes per second.
pub(super) const fn bytes_a_second(rate: Rate) -> u64 {
    rate.bps() / 8
}
