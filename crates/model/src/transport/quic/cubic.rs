//! CUBIC in bytes, for one sender that behaves as several connections.
// spec: congestion_control/cubic_bytes.cc (Chromium 62). The cubic itself is the one of TCP's controller.

use crate::transport::cc::cubic::{CUBE_SHIFT, MAX_OFFSET, time_to_rise};
use crate::vocabulary::{Duration, Instant};

use super::MSS;

/// The constant C of the cubic, times 1024.
const SCALE: u64 = 410;
/// What one connection leaves of the window after a loss, in thousandths.
const BETA: u64 = 700;
/// What is left of the remembered maximum if it was not reached again, in thousandths.
const BETA_LAST_MAX: u64 = 850;
/// While the window stays the same, one computation in this time is enough.
const INTERVAL: Duration = Duration::from_millis(30);

/// The cubic law of one sender.
#[derive(Clone, Copy, Debug)]
pub struct CubicBytes {
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
    /// A sender that behaves as so many connections.
    pub fn new(connections: u64) -> Self {
        Self {
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

    /// What is left of the window after a loss, in thousandths: of several connections one alone loses.
    pub fn beta(&self) -> u64 {
        ((self.connections - 1) * 1000 + BETA) / self.connections
    }

    /// How much so many Reno connections add for so many bytes acknowledged of their window.
    // spec: cubic_bytes.cc Alpha - 3 N^2 (1 - beta) / (1 + beta) segments a round trip.
    fn reno_adds(&self, acked: u64) -> u64 {
        let (n, beta) = (self.connections, self.beta());
        acked * u64::from(MSS) * 3 * n * n * (1000 - beta) / (1000 + beta) / self.reno.max(1)
    }

    /// A timeout: all is forgotten.
    pub fn reset(&mut self) {
        *self = Self::new(self.connections);
    }

    /// The window did not limit the sender: the curve stands still.
    pub fn on_application_limited(&mut self) {
        self.epoch = None;
    }

    /// The window after a loss.
    // deviation: products are exact here, where Chromium rounds to a float's 24 bits - by a byte at most.
    pub fn after_loss(&mut self, cwnd: u64) -> u64 {
        self.last_max = if cwnd < self.last_max { cwnd * BETA_LAST_MAX / 1000 } else { cwnd };
        self.epoch = None;
        cwnd * self.beta() / 1000
    }

    /// The cubic at a time in 2^-10 s since the epoch.
    // spec: cubic_bytes.cc CongestionWindowAfterAck (Chromium 62) - whole segments, as the option that refines them is off, and
    // what is shifted is negative after the origin, as the one that mends this is off too: it is rounded away from zero there.
    fn on_the_curve(&self, elapsed: u64) -> u64 {
        let offset = elapsed.abs_diff(self.k).min(MAX_OFFSET);
        let height = SCALE * offset * offset * offset;
        if elapsed > self.k {
            self.origin + height.div_ceil(1 << CUBE_SHIFT) * u64::from(MSS)
        } else {
            self.origin.saturating_sub((height >> CUBE_SHIFT) * u64::from(MSS))
        }
    }

    /// The window after so many bytes more were acknowledged.
    pub fn after_ack(&mut self, acked: u64, cwnd: u64, min_rtt: Duration, now: Instant) -> u64 {
        self.acked += acked;
        if self.last_cwnd == cwnd && now - self.last_update <= INTERVAL {
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

    const M: u64 = MSS as u64;

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(n)
    }

    /// beta is 0.85 for two connections and alpha 0.973 segments a round trip.
    #[test]
    fn two_connections() {
        let mut two = CubicBytes::new(2);
        assert_eq!((CubicBytes::new(1).beta(), two.beta(), CubicBytes::new(5).beta()), (700, 850, 940));
        two.reno = 1_000 * M;
        assert_eq!(two.reno_adds(1_000 * M), 1_420, "0.973 of 1460");
        let mut one = CubicBytes::new(1);
        one.reno = 1_000 * M;
        assert_eq!(one.reno_adds(1_000 * M), 772, "0.529 of 1460");
    }

    #[test]
    fn losses_and_the_remembered_maximum() {
        let mut c = CubicBytes::new(2);
        assert_eq!((c.after_loss(100 * M), c.last_max), (85 * M, 100 * M));
        // The second loss comes before the old maximum is reached: room is made for others.
        assert_eq!((c.after_loss(90 * M), c.last_max), (90 * M * 850 / 1000, 90 * M * 850 / 1000));
    }

    /// The window in segments by the second after a loss at 1000, with a round trip of 10 ms. As cubic of RFC 9438 from 850:
    /// K = cbrt(150 / 0.4) = 7.2 s.
    #[test]
    fn the_curve_after_a_loss() {
        let mut c = CubicBytes::new(2);
        let mut cwnd = c.after_loss(1_000 * M);
        let mut seen = Vec::new();
        for round in 0..1_000_u64 {
            let now = 10 * round;
            if now % 1_000 == 0 {
                seen.push(cwnd / M);
            }
            // An acknowledgement for two packets, twenty a round: enough that the law is never short of them.
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
        let mut c = CubicBytes::new(2);
        let mut cwnd = c.after_loss(1_000 * M);
        let mut seen = Vec::new();
        for step in 0..1_200_u64 {
            if step % 200 == 0 {
                seen.push(cwnd / M);
            }
            cwnd = c.after_ack(cwnd / 20, cwnd, Duration::from_millis(200), ms(10 * step));
        }
        let cubic = |t: f64| (1000.0 - 0.4 * (7.21 - (t + 0.2)).powi(3)) as u64;
        let law: Vec<u64> = (0..6).map(|n| cubic(2.0 * f64::from(n))).collect();
        assert!(seen[1..].iter().zip(&law[1..]).all(|(a, b)| a.abs_diff(*b) <= 12), "{seen:?} {law:?}");
    }

    /// Around the origin in whole segments: rounded down before it, up after it, so that the first one comes at once.
    #[test]
    fn convex_growth_is_rounded_up() {
        let c = CubicBytes { origin: 100 * M, k: 5_000, ..CubicBytes::new(2) };
        // A height of one segment takes 1389 / 1024 s, cbrt(1 / 0.4), of two 1751, of ten 2993.
        let segments = [2_006, 3_249, 3_610, 4_999, 5_000, 5_001, 6_389, 6_390, 6_750, 6_751, 7_993, 7_994]
            .map(|elapsed| c.on_the_curve(elapsed) / M);
        assert_eq!(segments, [90, 98, 99, 100, 100, 101, 101, 102, 102, 103, 110, 111]);
        // 410 * 8192^3 / 2^40 is 205, and nothing is left to be rounded.
        assert_eq!(c.on_the_curve(5_000 + 8_192), 305 * M);
    }

    #[test]
    fn an_unchanged_window_is_looked_at_every_30_ms() {
        let mut c = CubicBytes::new(2);
        let first = c.after_ack(M, 100 * M, Duration::from_millis(10), ms(100));
        assert_eq!(c.after_ack(M, 100 * M, Duration::from_millis(10), ms(130)), first);
        assert_eq!(c.acked, M);
        c.after_ack(M, 100 * M, Duration::from_millis(10), ms(131));
        assert_eq!(c.acked, 0);
    }
}
