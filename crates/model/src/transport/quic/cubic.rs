//! CUBIC in bytes, for one sender that emulates several connections.
// spec: congestion_control/cubic_bytes.cc (Chromium 62). The cubic itself is the one of TCP's controller.
// quiche: congestion_control/cubic_bytes.cc (f44fa9f) - `CubicRules::QUICHE`.

use crate::transport::cc::cubic::{CUBE_SHIFT, MAX_OFFSET, time_to_rise};
use crate::types::{Duration, Instant};

use super::MSS;

/// The constant C of the cubic, times 1024.
const SCALE: u64 = 410;
/// What one connection leaves of the window after a loss, in thousandths.
const BETA: u64 = 700;
/// What is left of the remembered maximum if it was not reached again, in thousandths.
const BETA_LAST_MAX: u64 = 850;

/// Changes to CUBIC since Chromium of 2017.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CubicRules {
    /// Minimum time between two computations while the window does not change.
    pub interval: Option<Duration>,
    /// The cubic function is in bytes. Otherwise it is in whole segments.
    pub bytes: bool,
    /// After a loss, the reduction of the remembered maximum accounts for several emulated connections of
    /// which one has lost. A window that is one segment below the maximum counts as having reached it.
    pub mild: bool,
}

impl CubicRules {
    /// Chromium 62. What changed later was an option there.
    // spec: cubic_bytes.cc (Chromium 62) - MaxCubicTimeInterval is 30 ms; whole segments.
    pub const CHROMIUM: Self = Self { interval: Some(Duration::from_millis(30)), bytes: false, mild: false };
    /// Today's QUICHE.
    pub const QUICHE: Self = Self { interval: None, bytes: true, mild: true };
}

/// CUBIC state of one sender.
#[derive(Clone, Copy, Debug)]
pub struct CubicBytes {
    rules: CubicRules,
    /// Connections that it behaves as.
    connections: u64,
    epoch: Option<Instant>,
    last_update: Instant,
    last_cwnd: u64,
    last_max: u64,
    acked: u64,
    /// Window that as many Reno connections would have.
    reno: u64,
    origin: u64,
    /// Time from the epoch to the origin in 2^-10 s.
    k: u64,
    last_target: u64,
}

impl CubicBytes {
    /// A sender that emulates `connections` connections.
    pub fn new(connections: u64, rules: CubicRules) -> Self {
        Self {
            rules,
            connections,
            epoch: None,
            last_update: Instant::ZERO,
            last_cwnd: 0,
            last_max: 0,
            acked: 0,
            reno: 0,
            origin: 0,
            k: 0,
            last_target: 0,
        }
    }

    /// Factor for the window after a loss, in thousandths. Of the emulated connections, only one loses.
    pub fn beta(&self) -> u64 {
        self.of_several(BETA)
    }

    /// What one connection of several leaves, where alone it would leave this, in thousandths.
    fn of_several(&self, alone: u64) -> u64 {
        ((self.connections - 1) * 1000 + alone) / self.connections
    }

    /// How much so many Reno connections add for so many bytes acknowledged of their window.
    // spec: cubic_bytes.cc Alpha - 3 N^2 (1 - beta) / (1 + beta) segments a round trip.
    fn reno_adds(&self, acked: u64) -> u64 {
        let (n, beta) = (self.connections, self.beta());
        acked * u64::from(MSS) * 3 * n * n * (1000 - beta) / (1000 + beta) / self.reno.max(1)
    }

    /// A timeout: all state is reset.
    pub fn reset(&mut self) {
        *self = Self::new(self.connections, self.rules);
    }

    /// The sender was application-limited: the cubic function does not advance.
    pub fn on_application_limited(&mut self) {
        self.epoch = None;
    }

    /// Window after a loss, in bytes.
    // deviation: products are exact here, where Chromium rounds to a float's 24 bits - by a byte at most.
    pub fn after_loss(&mut self, cwnd: u64) -> u64 {
        let (beta, short) = match self.rules.mild {
            true => (self.of_several(BETA_LAST_MAX), u64::from(MSS)),
            false => (BETA_LAST_MAX, 0),
        };
        self.last_max = if cwnd + short < self.last_max { cwnd * beta / 1000 } else { cwnd };
        self.epoch = None;
        cwnd * self.beta() / 1000
    }

    /// The cubic at a time in 2^-10 s since the epoch.
    fn on_the_curve(&self, elapsed: u64) -> u64 {
        let offset = elapsed.abs_diff(self.k).min(MAX_OFFSET);
        let height = SCALE * offset * offset * offset;
        if self.rules.bytes {
            let delta = ((u128::from(height) * u128::from(MSS)) >> CUBE_SHIFT) as u64;
            return if elapsed > self.k { self.origin + delta } else { self.origin.saturating_sub(delta) };
        }
        // spec: cubic_bytes.cc CongestionWindowAfterAck (Chromium 62) - the offset is negative after the
        // origin and so is its cube, as quic_fix_cubic_convex_mode is off. The shift rounds it down, away
        // from the origin: each segment comes as its first part does.
        if elapsed > self.k {
            return self.origin + height.div_ceil(1 << CUBE_SHIFT) * u64::from(MSS);
        }
        self.origin.saturating_sub((height >> CUBE_SHIFT) * u64::from(MSS))
    }

    /// Window after `acked` more bytes were acknowledged, in bytes.
    pub fn after_ack(&mut self, acked: u64, cwnd: u64, min_rtt: Duration, now: Instant) -> u64 {
        self.acked += acked;
        if self.last_cwnd == cwnd && self.rules.interval.is_some_and(|most| now - self.last_update <= most) {
            return self.last_target.max(self.reno);
        }
        (self.last_cwnd, self.last_update) = (cwnd, now);
        let epoch = *self.epoch.get_or_insert_with(|| {
            (self.acked, self.reno) = (acked, cwnd);
            (self.k, self.origin) = match self.last_max.checked_sub(cwnd) {
                Some(below @ 1..) => (u64::from(time_to_rise(SCALE, u64::from(MSS), below)), self.last_max),
                _ => (0, cwnd),
            };
            now
        });
        let elapsed = (((now + min_rtt - epoch).nanos() / 1_000) << 10) / 1_000_000;
        let target = self.on_the_curve(elapsed);
        // Never more than half of what was acknowledged.
        let target = target.min(cwnd + self.acked / 2);
        self.reno += self.reno_adds(self.acked);
        self.acked = 0;
        self.last_target = target;
        target.max(self.reno)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const M: u64 = MSS as u64;

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(n)
    }

    /// beta is 0.85 for two connections and alpha 0.973 segments a round trip.
    #[test]
    fn two_connections() {
        let mut two = CubicBytes::new(2, CubicRules::CHROMIUM);
        assert_eq!(
            (
                CubicBytes::new(1, CubicRules::CHROMIUM).beta(),
                two.beta(),
                CubicBytes::new(5, CubicRules::CHROMIUM).beta()
            ),
            (700, 850, 940)
        );
        two.reno = 1_000 * M;
        assert_eq!(two.reno_adds(1_000 * M), 1_420, "0.973 of 1460");
        let mut one = CubicBytes::new(1, CubicRules::CHROMIUM);
        one.reno = 1_000 * M;
        assert_eq!(one.reno_adds(1_000 * M), 772, "0.529 of 1460");
    }

    #[test]
    fn losses_and_the_remembered_maximum() {
        let mut c = CubicBytes::new(2, CubicRules::CHROMIUM);
        assert_eq!((c.after_loss(100 * M), c.last_max), (85 * M, 100 * M));
        // The second loss comes before the old maximum is reached: room is made for others.
        assert_eq!((c.after_loss(90 * M), c.last_max), (90 * M * 850 / 1000, 90 * M * 850 / 1000));
    }

    // quiche: cubic_bytes.cc CongestionWindowAfterPacketLoss (f44fa9f) - 0.925 for two, if a segment more
    // than short of it.
    #[test]
    fn todays_losses_and_the_remembered_maximum() {
        let after = |cwnd: u64| {
            let mut c = CubicBytes { last_max: 100 * M, ..CubicBytes::new(2, CubicRules::QUICHE) };
            (c.after_loss(cwnd), c.last_max)
        };
        assert_eq!(after(99 * M), (99 * M * 850 / 1000, 99 * M));
        assert_eq!(after(99 * M - 1), ((99 * M - 1) * 850 / 1000, (99 * M - 1) * 925 / 1000));
    }

    /// The window in segments by the second after a loss at 1000, with a round trip of 10 ms. As cubic of RFC
    /// 9438 from 850: K = cbrt(150 / 0.4) = 7.2 s.
    #[test]
    fn the_curve_after_a_loss() {
        let mut c = CubicBytes::new(2, CubicRules::CHROMIUM);
        let mut cwnd = c.after_loss(1_000 * M);
        let mut seen = Vec::new();
        for round in 0..1_000_u64 {
            let now = 10 * round;
            if now % 1_000 == 0 {
                seen.push(cwnd / M);
            }
            // An acknowledgement for two packets, twenty a round: enough that the control is never short of
            // them.
            for part in 0..20 {
                let now = Instant::from_nanos(now * 1_000_000 + part * 500_000);
                cwnd = c.after_ack(cwnd / 20, cwnd, Duration::from_millis(10), now);
            }
        }
        // Reno's two connections, 0.973 a round trip, win here.
        assert_eq!(seen[0], 850);
        let reno: Vec<u64> = (0..10).map(|s| 850 + 97 * s).collect();
        assert!(seen.iter().zip(&reno).all(|(a, b)| a.abs_diff(*b) <= 3), "{seen:?} {reno:?}");
        // With a round trip of 200 ms the cubic does.
        let mut c = CubicBytes::new(2, CubicRules::CHROMIUM);
        let mut cwnd = c.after_loss(1_000 * M);
        let mut seen = Vec::new();
        for step in 0..1_200_u64 {
            if step % 200 == 0 {
                seen.push(cwnd / M);
            }
            cwnd = c.after_ack(cwnd / 20, cwnd, Duration::from_millis(200), ms(10 * step));
        }
        let cubic = |t: f64| (1000.0 - 0.4 * (7.21 - (t + 0.2)).powi(3)) as u64;
        let control: Vec<u64> = (0..6).map(|n| cubic(2.0 * f64::from(n))).collect();
        assert!(
            seen[1..].iter().zip(&control[1..]).all(|(a, b)| a.abs_diff(*b) <= 12),
            "{seen:?} {control:?}"
        );
    }

    /// In whole segments, rounded up on both sides of the origin.
    #[test]
    fn the_curve_is_in_segments_or_in_bytes() {
        let c = CubicBytes { origin: 100 * M, k: 5_000, ..CubicBytes::new(2, CubicRules::CHROMIUM) };
        // A height of one segment takes 1389 / 1024 s, cbrt(1 / 0.4), of two 1751, of ten 2993.
        let segments = [2_006, 3_249, 3_610, 4_999, 5_000, 5_001, 6_389, 6_390, 6_750, 6_751, 7_993, 7_994]
            .map(|elapsed| c.on_the_curve(elapsed) / M);
        assert_eq!(segments, [90, 98, 99, 100, 100, 101, 101, 102, 102, 103, 110, 111]);
        // Today's is in bytes: the first of them after 123 / 1024 s, half a segment after 1103.
        let now = CubicBytes { rules: CubicRules::QUICHE, ..c };
        let bytes =
            [3_610, 4_878, 5_000, 5_001, 5_122, 5_123, 6_103, 6_390].map(|at| now.on_the_curve(at) as i64);
        assert_eq!(bytes.map(|at| at - 100 * M as i64), [-1_462, 0, 0, 0, 0, 1, 730, 1_462]);
        // 410 * 8192^3 / 2^40 is 205, and nothing is left to be rounded.
        assert_eq!(c.on_the_curve(5_000 + 8_192), 305 * M);
    }

    #[test]
    fn an_unchanged_window_is_looked_at_every_30_ms() {
        let mut c = CubicBytes::new(2, CubicRules::CHROMIUM);
        let first = c.after_ack(M, 100 * M, Duration::from_millis(10), ms(100));
        assert_eq!(c.after_ack(M, 100 * M, Duration::from_millis(10), ms(130)), first);
        assert_eq!(c.acked, M);
        c.after_ack(M, 100 * M, Duration::from_millis(10), ms(131));
        assert_eq!(c.acked, 0);
        // Today's is looked at with every acknowledgement.
        let mut c = CubicBytes::new(2, CubicRules::QUICHE);
        c.after_ack(M, 100 * M, Duration::from_millis(10), ms(100));
        c.after_ack(M, 100 * M, Duration::from_millis(10), ms(100));
        assert_eq!(c.acked, 0);
    }
}
