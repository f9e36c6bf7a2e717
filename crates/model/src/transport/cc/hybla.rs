//! Hybla: grows at the rate of a connection with an RTT of 25 ms, regardless of the actual RTT.
// paper: hybla (Caini and Firrincieli 2004) - rho = RTT / 25 ms; slow start adds 2^rho - 1, congestion
// avoidance rho^2 / W.

use super::reno::Reno;
use super::{CaState, CcSock, Controller};

/// Parameters, named after those of the kernel module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HyblaParams {
    /// Reference RTT in ms.
    pub rtt0: u32,
}

impl Default for HyblaParams {
    fn default() -> Self {
        Self { rtt0: 25 }
    }
}

/// Fixed-point unit of increments: 1/128 segment.
const UNIT: u32 = 128;
/// 2^(i/8) in 1/128.
// linux: net/ipv4/tcp_hybla.c hybla_fraction (6.1) - resolves the fractional exponent in eighths.
const FRACTION: [u32; 8] = {
    // Rounded down; 1170923762 is 2^(1/8) in 2^-30.
    let mut table = [0; 8];
    let (mut i, mut power) = (0, 1_u64 << 40);
    while i < 8 {
        table[i] = ((power * 128) >> 40) as u32;
        power = ((power >> 10) * 1_170_923_762) >> 20;
        i += 1;
    }
    table
};
/// Maximum exponent.
const MAX_EXPONENT: u32 = 16;

/// Hybla congestion control.
#[derive(Clone, Debug)]
pub struct Hybla {
    params: HyblaParams,
    /// True in Open; other states grow as Reno.
    enabled: bool,
    /// Fractional part of the window, in 1/128 segments.
    cents: u32,
    /// RTT divided by the reference RTT, in eighths, at least 1.
    rho_3ls: u32,
    /// Square of rho, in 1/128.
    rho2_7ls: u32,
    /// Minimum smoothed RTT in us, times 8.
    minrtt_us: u32,
}

impl Default for Hybla {
    fn default() -> Self {
        Self::new(HyblaParams::default())
    }
}

impl Hybla {
    /// Creates a controller with these parameters. The default is the kernel module's.
    pub fn new(params: HyblaParams) -> Self {
        Self { params, enabled: true, cents: 0, rho_3ls: 8, rho2_7ls: UNIT, minrtt_us: 0 }
    }

    // linux: net/ipv4/tcp_hybla.c hybla_recalc_param (6.1) - `srtt_us` is RTT times 8, so rho is in eighths.
    fn measure(&mut self, sk: &CcSock) {
        self.rho_3ls = (sk.srtt_us / (self.params.rtt0 * 1_000)).max(8);
        self.rho2_7ls = (self.rho_3ls * self.rho_3ls) << 1;
        self.minrtt_us = sk.srtt_us;
    }
}

impl Controller for Hybla {
    // linux: net/ipv4/tcp_hybla.c hybla_init (6.1) - sets the initial window to rho.
    fn init(&mut self, sk: &mut CcSock) {
        *self = Self::new(self.params);
        sk.snd_cwnd_clamp = 65_535;
        self.measure(sk);
        sk.snd_cwnd = self.rho_3ls >> 3;
    }

    fn ssthresh(&mut self, sk: &mut CcSock) -> u32 {
        Reno.ssthresh(sk)
    }

    fn set_state(&mut self, _sk: &mut CcSock, new: CaState) {
        self.enabled = new == CaState::Open;
    }

    // linux: net/ipv4/tcp_hybla.c hybla_cong_avoid (6.1) - counts ACKs, not acknowledged segments.
    #[inline]
    fn cong_avoid(&mut self, sk: &mut CcSock, ack: u32, acked: u32) {
        if sk.srtt_us < self.minrtt_us {
            self.measure(sk);
        }
        if !sk.is_cwnd_limited {
            return;
        }
        if !self.enabled {
            return Reno.cong_avoid(sk, ack, acked);
        }
        // linux: same - slow start ends at the threshold even with the 3.13 rules.
        let slow_start = sk.snd_cwnd < sk.snd_ssthresh;
        let increment = if slow_start {
            let rho = self.rho_3ls >> 3;
            (FRACTION[(self.rho_3ls & 7) as usize] << rho.min(MAX_EXPONENT)) - UNIT
        } else {
            let increment = self.rho2_7ls / sk.snd_cwnd;
            sk.snd_cwnd_cnt += u32::from(increment < UNIT);
            increment
        };
        let odd = increment % UNIT;
        sk.snd_cwnd += increment / UNIT;
        self.cents += odd;
        while self.cents >= UNIT {
            sk.snd_cwnd += 1;
            self.cents -= UNIT;
            sk.snd_cwnd_cnt = 0;
        }
        // The increment is below 1/128: add at least one segment per window of ACKs.
        if increment == 0 && odd == 0 && sk.snd_cwnd_cnt >= sk.snd_cwnd {
            sk.snd_cwnd += 1;
            sk.snd_cwnd_cnt = 0;
        }
        if slow_start {
            sk.snd_cwnd = sk.snd_cwnd.min(sk.snd_ssthresh);
        }
        sk.snd_cwnd = sk.snd_cwnd.min(sk.snd_cwnd_clamp);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::sock;
    use super::*;

    fn connection(rtt_us: u32) -> (Hybla, CcSock) {
        let mut sk = sock();
        sk.srtt_us = rtt_us << 3;
        let mut hybla = Hybla::default();
        hybla.init(&mut sk);
        (hybla, sk)
    }

    #[test]
    fn fractions_are_roots_of_two() {
        for (i, f) in FRACTION.into_iter().enumerate() {
            assert_eq!(f, (128.0 * libm::pow(2.0, i as f64 / 8.0)) as u32, "{i}");
        }
    }

    #[test]
    fn growth_follows_the_round_trip_time() {
        // RTT in ms; initial window; windows after 1, 2 and 3 ACKs in slow start; growth (about rho^2) over
        // 400 ACKs in congestion avoidance from a window of 400
        let table = [
            (10, 1, [2, 3, 4], 1),
            (25, 1, [2, 3, 4], 1),
            (50, 2, [5, 8, 11], 3),
            (75, 3, [10, 17, 24], 6),
            (100, 4, [19, 34, 49], 15),
        ];
        for (ms, first, slow, more) in table {
            let (mut hybla, mut sk) = connection(ms * 1_000);
            assert_eq!(sk.snd_cwnd, first, "{ms}");
            let windows = [(); 3].map(|()| {
                hybla.cong_avoid(&mut sk, 0, 2);
                sk.snd_cwnd
            });
            assert_eq!(windows, slow, "{ms}");
            (sk.snd_cwnd, sk.snd_ssthresh) = (400, 100);
            for _ in 0..400 {
                hybla.cong_avoid(&mut sk, 0, 1);
            }
            let grown = sk.snd_cwnd - 400;
            assert!(grown.abs_diff(more) <= 1 && grown <= (ms * ms).div_ceil(625), "{ms}: {grown}");
        }
    }

    #[test]
    fn is_reno_outside_open() {
        let (mut hybla, mut sk) = connection(100_000);
        (sk.snd_cwnd, sk.snd_ssthresh) = (20, 10);
        hybla.set_state(&mut sk, CaState::Disorder);
        hybla.cong_avoid(&mut sk, 0, 20);
        assert_eq!(sk.snd_cwnd, 21);
        hybla.set_state(&mut sk, CaState::Open);
        hybla.cong_avoid(&mut sk, 0, 20);
        assert_eq!(sk.snd_cwnd, 21);
        for _ in 0..20 {
            hybla.cong_avoid(&mut sk, 0, 1);
        }
        assert!((33..=36).contains(&sk.snd_cwnd), "{}", sk.snd_cwnd);
    }
}
