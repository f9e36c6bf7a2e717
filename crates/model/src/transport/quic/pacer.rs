//! The pacer: spreads packets over the RTT.
// spec: congestion_control/pacing_sender.cc (Chromium 62); with `lumpy`, as of 2019 and later.
// paper: bquic sec. II-B.2.

use crate::types::{Duration, Instant};

use super::MSS;

/// Pacer parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacerParams {
    /// Number of unpaced packets at the start and on leaving quiescence.
    pub burst: u32,
    /// Release horizon: a packet due within this time is sent immediately.
    pub horizon: Duration,
    /// Pacing gain in slow start, in percent of one window per RTT.
    pub gain_slow_start: u32,
    /// Pacing gain outside slow start, in percent of one window per RTT.
    pub gain: u32,
    /// Number of packets sent back to back; 1 for even pacing.
    pub lumpy: u32,
}

impl PacerParams {
    /// Chromium 62.
    pub const CHROMIUM: Self =
        Self { burst: 10, horizon: Duration::from_millis(1), gain_slow_start: 200, gain: 125, lumpy: 1 };
}

/// Minimum window, in lumps, for sending packets back to back.
// spec: pacing_sender.cc (quiche, 2019) - a lump is at most a quarter of the window.
const LUMPS_IN_WINDOW: u64 = 4;
/// Minimum rate in bytes per second for sending packets back to back.
// quiche: pacing_sender.cc OnPacketSent (f44fa9f) - 1.2 Mbit/s of window per RTT, not of pacing rate.
const LUMPY_RATE: u64 = 150_000;

/// Pacer state.
#[derive(Clone, Debug)]
pub struct Pacer {
    params: PacerParams,
    tokens: u32,
    lump: u32,
    /// Ideal departure time of the next packet.
    ideal: Instant,
    /// True if the last packet was held back; a late timer may then be compensated.
    delayed: bool,
    last_delayed: Option<Instant>,
    /// True if the window still had room after the last packet.
    limited: bool,
    /// Time at which sending resumes. Until then no ack-eliciting packet is sent.
    alarm: Option<Instant>,
}

/// Sender state used by the pacer.
#[derive(Clone, Copy, Debug)]
pub struct PacerInput {
    /// Congestion window in bytes.
    pub cwnd: u64,
    /// Smoothed RTT.
    pub srtt: Duration,
    /// True in slow start.
    pub slow_start: bool,
    /// True in recovery.
    pub recovery: bool,
    /// Bytes in flight before the packet.
    pub in_flight: u64,
    /// Pacing rate in bytes per second, if the congestion controller sets one.
    pub rate: Option<u64>,
}

impl Pacer {
    /// Creates a pacer before the first packet.
    pub fn new(params: PacerParams) -> Self {
        Self {
            params,
            tokens: params.burst,
            lump: 0,
            ideal: Instant::ZERO,
            delayed: false,
            last_delayed: None,
            limited: false,
            alarm: None,
        }
    }

    /// Returns the pacing rate in bytes per second.
    pub fn rate(&self, pace: &PacerInput) -> u64 {
        if let Some(rate) = pace.rate {
            return rate;
        }
        let gain = if pace.slow_start { self.params.gain_slow_start } else { self.params.gain };
        window_rate(pace, gain)
    }

    /// Returns true if a packet may be sent now. If not, sets the timer.
    pub fn can_send(&mut self, now: Instant, in_flight: u64) -> bool {
        // spec: quic_connection.cc CanWrite (Chromium 62) - ACKs trigger no transmission while the send alarm
        // is set.
        if self.alarm.is_some() {
            return false;
        }
        if self.tokens > 0 || in_flight == 0 || (self.params.lumpy > 1 && self.lump > 0) {
            return true;
        }
        if self.ideal > now + self.params.horizon {
            self.delayed = true;
            self.alarm = Some(self.ideal);
            return false;
        }
        true
    }

    /// Called when an ack-eliciting packet was sent.
    pub fn on_sent(&mut self, now: Instant, bytes: u64, pace: &PacerInput) {
        if pace.in_flight == 0 && !pace.recovery {
            self.tokens = self.params.burst.min((pace.cwnd / u64::from(MSS)) as u32);
        }
        if self.tokens > 0 {
            self.tokens -= 1;
            (self.delayed, self.last_delayed, self.ideal) = (false, None, Instant::ZERO);
            self.limited = false;
            return;
        }
        let rate = self.rate(pace).max(1);
        let delay = Duration::from_nanos((u128::from(bytes) * 1_000_000_000 / u128::from(rate)) as u64);
        if self.params.lumpy > 1 {
            self.by_lumps(now, bytes, delay, pace);
        } else {
            self.one_by_one(now, delay);
        }
    }

    // spec: pacing_sender.cc OnPacketSent (Chromium 62) - compensates for a late alarm unless idle.
    fn one_by_one(&mut self, now: Instant, delay: Duration) {
        if self.delayed {
            self.ideal += delay;
            let idle = self.last_delayed.is_some_and(|last| now > last + delay);
            if self.ideal <= now && !idle {
                self.last_delayed = Some(now);
            } else {
                (self.delayed, self.last_delayed) = (false, None);
            }
        } else {
            self.ideal = self.ideal.max(now) + delay;
        }
    }

    // spec: pacing_sender.cc OnPacketSent (quiche, 2019 and later).
    fn by_lumps(&mut self, now: Instant, bytes: u64, delay: Duration, pace: &PacerInput) {
        if !self.limited || self.lump == 0 {
            let most = pace.cwnd / (LUMPS_IN_WINDOW * u64::from(MSS));
            self.lump = self.params.lumpy.min(most.max(1) as u32);
            if window_rate(pace, 100) < LUMPY_RATE || pace.in_flight + bytes >= pace.cwnd {
                self.lump = 1;
            }
        }
        self.lump -= 1;
        self.ideal = if self.limited { self.ideal } else { self.ideal.max(now) } + delay;
        self.limited = pace.in_flight + bytes < pace.cwnd;
    }

    /// Ends bursts when losses are detected.
    pub fn on_lost(&mut self) {
        self.tokens = 0;
    }

    /// Clears the timer if it has expired.
    pub fn on_timer(&mut self, now: Instant) {
        if self.alarm.is_some_and(|at| at <= now) {
            self.alarm = None;
        }
    }

    /// Returns the time at which sending may resume.
    pub fn next_timer(&self) -> Option<Instant> {
        self.alarm
    }

    /// Cancels the timer because the congestion window is full.
    // spec: quic_connection.cc CanWrite (Chromium 62) - cancels the alarm when the window is full.
    pub fn cancel(&mut self) {
        self.alarm = None;
    }
}

/// Returns `percent` of the window per RTT, in bytes per second.
fn window_rate(pace: &PacerInput, percent: u32) -> u64 {
    let rtt = u128::from(pace.srtt.nanos().max(1));
    (u128::from(pace.cwnd) * u128::from(percent) * 10_000_000 / rtt) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn us(n: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(n)
    }

    /// A window of 50 packets of 1350 bytes and an RTT of 10 ms: 13.5 MB/s x 1.25 is one packet every 160 us.
    const PACE: PacerInput = PacerInput {
        cwnd: 67_500,
        srtt: Duration::from_millis(10),
        slow_start: false,
        recovery: false,
        rate: None,
        in_flight: 13_500,
    };

    /// Departure times of a backlogged sender in us. Timers fire at multiples of `grain` us.
    fn times(params: PacerParams, grain: u64, n: usize) -> Vec<u64> {
        let (mut pacer, mut now, mut sent) = (Pacer::new(params), 0, Vec::new());
        let first = PacerInput { in_flight: 0, ..PACE };
        while sent.len() < n {
            pacer.on_timer(us(now));
            let pace = if sent.is_empty() { &first } else { &PACE };
            if pacer.can_send(us(now), pace.in_flight) {
                pacer.on_sent(us(now), 1350, pace);
                sent.push(now);
            } else {
                let at = pacer.next_timer().expect("held back").nanos() / 1_000;
                now = at.div_ceil(grain) * grain;
            }
        }
        sent
    }

    fn gaps(times: &[u64]) -> Vec<u64> {
        times.windows(2).map(|w| w[1] - w[0]).collect()
    }

    #[test]
    fn a_burst_of_ten_then_one_packet_at_a_time() {
        let strict = PacerParams { horizon: Duration::ZERO, ..PacerParams::CHROMIUM };
        let gaps = gaps(&times(strict, 1, 16));
        assert_eq!(gaps[..10], [0; 10], "ten without pacing, and the next is measured from now");
        assert_eq!(gaps[10..], [160; 5]);
    }

    /// With a horizon of 1 ms seven packets leave together, then one whenever the first of them is due.
    #[test]
    fn the_horizon_sends_early() {
        let source = gaps(&times(PacerParams::CHROMIUM, 1, 40));
        let together = source[10..].iter().filter(|&&gap| gap < 100).count();
        assert_eq!((together, source[10..].len()), (25, 29));
        let strict = PacerParams { horizon: Duration::ZERO, ..PacerParams::CHROMIUM };
        let strict = gaps(&times(strict, 1, 40));
        assert_eq!(strict[10..].iter().filter(|&&gap| gap < 100).count(), 0);
    }

    #[test]
    fn late_timers_are_compensated() {
        let strict = PacerParams { horizon: Duration::ZERO, ..PacerParams::CHROMIUM };
        let sent = times(strict, 1_000, 200);
        // On average one packet per 160 us over 24 ms.
        let rate = sent.iter().filter(|&&at| (1_000..25_000).contains(&at)).count();
        assert!((145..=155).contains(&rate), "{rate}");
    }

    #[test]
    fn lumps_of_two() {
        let lumpy = PacerParams { lumpy: 2, horizon: Duration::ZERO, ..PacerParams::CHROMIUM };
        let gaps = gaps(&times(lumpy, 1, 21));
        let pairs: Vec<u64> = gaps[12..].to_vec();
        assert_eq!(pairs.iter().filter(|&&gap| gap == 0).count(), 4, "{pairs:?}");
        assert_eq!(pairs.iter().sum::<u64>() / pairs.len() as u64 / 10, 160 / 10);
    }

    #[test]
    fn losses_end_a_burst_and_quiescence_starts_another() {
        let mut pacer = Pacer::new(PacerParams { horizon: Duration::ZERO, ..PacerParams::CHROMIUM });
        pacer.on_lost();
        pacer.on_sent(us(0), 1350, &PACE);
        assert!(!pacer.can_send(us(0), PACE.in_flight));
        assert_eq!(pacer.next_timer(), Some(us(160)));
        // While the timer is set nothing is sent, even if the packet is due.
        assert!(!pacer.can_send(us(170), PACE.in_flight));
        pacer.on_timer(us(170));
        assert!(pacer.can_send(us(170), 0));
        pacer.on_sent(us(170), 1350, &PacerInput { in_flight: 0, ..PACE });
        assert!((0..9).all(|_| {
            let can = pacer.can_send(us(170), PACE.in_flight);
            pacer.on_sent(us(170), 1350, &PACE);
            can
        }));
        // Leaving quiescence in recovery allows no burst.
        let recovery = PacerInput { in_flight: 0, recovery: true, ..PACE };
        let mut pacer = Pacer::new(PacerParams { horizon: Duration::ZERO, ..PacerParams::CHROMIUM });
        pacer.on_lost();
        pacer.on_sent(us(0), 1350, &recovery);
        assert!(!pacer.can_send(us(0), PACE.in_flight));
    }

    #[test]
    fn the_rate_is_twice_the_window_in_slow_start() {
        let pacer = Pacer::new(PacerParams::CHROMIUM);
        assert_eq!(pacer.rate(&PACE), 8_437_500);
        assert_eq!(pacer.rate(&PacerInput { slow_start: true, ..PACE }), 13_500_000);
    }
}
