//! RTT estimation (smoothed RTT, variation, minimum) and the retransmission timeout.

/// Windowed minimum from three samples.
// linux: lib/win_minmax.c minmax_running_min (6.1) - after K. Nichols: best sample, and second and third best
// in later parts of the window.
#[derive(Clone, Copy, Debug)]
pub(super) struct WindowedMin {
    /// (tick, value), smallest first.
    best: [(u32, u32); 3],
}

impl WindowedMin {
    pub const fn new(tick: u32) -> Self {
        Self { best: [(tick, u32::MAX); 3] }
    }
    /// Adds a sample and returns the minimum over the last `window` ticks.
    #[inline]
    pub fn update(&mut self, window: u32, tick: u32, value: u32) -> u32 {
        let new = (tick, value);
        let b = &mut self.best;
        if value <= b[0].1 || tick.wrapping_sub(b[2].0) > window {
            *b = [new; 3];
            return value;
        }
        if value <= b[1].1 {
            (b[1], b[2]) = (new, new);
        } else if value <= b[2].1 {
            b[2] = new;
        }
        let age = tick.wrapping_sub(b[0].0);
        if age > window {
            // The best has left the window, and possibly the second as well.
            *b = [b[1], b[2], new];
            if tick.wrapping_sub(b[0].0) > window {
                *b = [b[1], b[2], new];
            }
        } else if b[1].0 == b[0].0 && age > window / 4 {
            (b[1], b[2]) = (new, new);
        } else if b[2].0 == b[1].0 && age > window / 2 {
            b[2] = new;
        }
        b[0].1
    }
}

/// RTT state besides the smoothed RTT.
#[derive(Clone, Debug)]
pub(super) struct TcpRtt {
    /// Mean deviation times 4. Like the fields below, in us or, for kernels that measure in ticks, in ticks.
    pub mdev: u32,
    /// Maximum of `mdev` in the current round trip.
    mdev_max: u32,
    /// Amount that the timeout adds to the smoothed RTT.
    pub rttvar: u32,
    /// Sequence number whose acknowledgement ends the round trip.
    rtt_seq: u32,
    /// Minimum over the kernel's window.
    pub min: WindowedMin,
    /// Retransmission timeout in ticks, including backoff.
    pub rto: u32,
    /// Number of backoffs.
    pub backoff: u32,
}

impl TcpRtt {
    /// Creates the state before the first sample. `rto` is in ticks, `fallback` is the variation.
    pub fn new(rto: u32, tick: u32, fallback: u32) -> Self {
        Self {
            mdev: fallback,
            mdev_max: fallback,
            rttvar: fallback,
            rtt_seq: 0,
            min: WindowedMin::new(tick),
            rto,
            backoff: 0,
        }
    }

    /// Sets the initial timeout from an expected RTT of `rtt8_us` / 8.
    // linux: net/ipv4/tcp_metrics.c tcp_init_metrics (4.4).
    pub fn expect(&mut self, rtt8_us: u32, rto_min: u32, hz: u32) {
        let ticks = rtt8_us / (8 * 1_000_000 / hz);
        self.rto = ticks + (2 * ticks).max(rto_min);
    }

    /// Processes a sample and returns the new smoothed RTT times 8. `srtt8` is its previous value. All times
    /// have the same unit.
    // spec: rfc6298 2 - gains of 1/8 and 1/4.
    // linux: net/ipv4/tcp_input.c tcp_rtt_estimator (6.1) - reduces the gain to 1/8 for a sample below the
    // mean by more than the deviation; the variation is the maximum deviation of a round trip, at least
    // rto_min, grows immediately, and shrinks by 1/4 of the difference once per round trip.
    pub fn sample(&mut self, srtt8: u32, rtt: u32, rto_min: u32, snd_una: u32, snd_nxt: u32) -> u32 {
        if srtt8 == 0 {
            self.mdev = rtt << 1;
            self.rttvar = self.mdev.max(rto_min);
            self.mdev_max = self.rttvar;
            self.rtt_seq = snd_nxt;
            return (rtt << 3).max(1);
        }
        let error = i64::from(rtt) - i64::from(srtt8 >> 3);
        let srtt8 = (i64::from(srtt8) + error) as u32;
        let excess = error.abs() - i64::from(self.mdev >> 2);
        let step = if error < 0 && excess > 0 { excess >> 3 } else { excess };
        self.mdev = (i64::from(self.mdev) + step) as u32;
        if self.mdev > self.mdev_max {
            self.mdev_max = self.mdev;
            self.rttvar = self.rttvar.max(self.mdev_max);
        }
        if crate::transport::seq::after(snd_una, self.rtt_seq) {
            if self.mdev_max < self.rttvar {
                self.rttvar -= (self.rttvar - self.mdev_max) >> 2;
            }
            self.rtt_seq = snd_nxt;
            self.mdev_max = rto_min;
        }
        srtt8.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimator_by_hand() {
        let mut r = TcpRtt::new(750, 0, 0);
        // rtt, una, nxt | 8 x srtt, 4 x mdev, rttvar (rto_min 200 ms)
        let table: [(u32, u32, u32, u32, u32, u32); 7] = [
            (100_000, 0, 10, 800_000, 200_000, 200_000),
            // error 20,000 below the deviation of 50,000: mdev4 += 20,000 - 50,000
            (120_000, 5, 20, 820_000, 170_000, 200_000),
            // error 97,500; mdev4 += 97,500 - 42,500
            (200_000, 8, 20, 917_500, 225_000, 225_000),
            // a new round starts after this sample; error -64,687 (114,687 before); excess 8,437 / 8
            (50_000, 11, 30, 852_813, 226_054, 226_054),
            // error -6,601; excess negative: mdev4 += 6,601 - 56,513
            (100_000, 12, 30, 846_212, 176_142, 226_054),
            // error -5,776; mdev4 += 5,776 - 44,035
            (100_000, 25, 30, 840_436, 137_883, 226_054),
            // error -5,054; the round ends: rttvar falls by a quarter of the excess over 200,000
            (100_000, 31, 40, 835_382, 108_467, 219_541),
        ];
        let mut srtt8 = 0;
        for (rtt, una, nxt, s, mdev, var) in table {
            srtt8 = r.sample(srtt8, rtt, 200_000, una, nxt);
            assert_eq!((srtt8, r.mdev, r.rttvar), (s, mdev, var), "after {rtt} at {una}");
        }
    }

    #[test]
    fn minimum_forgets_after_its_window() {
        let mut m = WindowedMin::new(0);
        // tick, value, minimum over 100 ticks
        let table = [
            (0, 50, 50),
            (10, 60, 50),
            (30, 55, 50),
            (60, 70, 50),
            (100, 80, 50),
            (101, 90, 55),
            (131, 95, 70),
        ];
        for (tick, value, min) in table {
            assert_eq!(m.update(100, tick, value), min, "at {tick}");
        }
        assert_eq!(m.update(100, 140, 10), 10);
        assert_eq!(m.update(100, 150, 20), 10);
    }
}
