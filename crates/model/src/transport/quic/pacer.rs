//! The pacer: spreads packets over the round trip.
// spec: congestion_control/pacing_sender.cc (Chromium 62); with `lumpy`, as of 2019 and later.
// paper: bquic sec. II-B.2.

use crate::types::{Duration, Instant};

use super::MSS;

/// Parameters of the pacer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacerParams {
    /// Number of unpaced packets at the beginning, and when the connection leaves quiescence.
    pub burst: u32,
    /// A packet whose time is at most this far ahead is sent at once.
    pub horizon: Duration,
    /// Pacing gain in slow start, in percent of one window per round trip.
    pub gain_slow_start: u32,
    /// Pacing gain outside slow start, in percent of one window per round trip.
    pub gain: u32,
    /// Number of packets sent together, if more than one.
    pub lumpy: u32,
}

impl PacerParams {
    /// Parameters of Chromium.
    pub const CHROMIUM: Self =
        Self { burst: 10, horizon: Duration::from_millis(1), gain_slow_start: 200, gain: 125, lumpy: 1 };
}

/// Least window, in lumps, that lets packets be sent together.
// spec: pacing_sender.cc (quiche, 2019) - a lump is a quarter of the window at most.
const LUMPS_IN_WINDOW: u64 = 4;
/// Below this rate packets are not sent together.
// quiche: pacing_sender.cc OnPacketSent (f44fa9f) - 1.2 Mbit/s of window per round trip, not of pacing; here
// in bytes a second.
const LUMPY_RATE: u64 = 150_000;

/// State of the pacer.
#[derive(Clone, Debug)]
pub struct Pacer {
    params: PacerParams,
    tokens: u32,
    lump: u32,
    /// When the next packet should leave.
    ideal: Instant,
    /// The last one was held back, and a late alarm may be made up for.
    delayed: bool,
    last_delayed: Option<Instant>,
    /// The window would have allowed another one after the last.
    limited: bool,
    /// When sending goes on; until then nothing is sent that has to be acknowledged.
    alarm: Option<Instant>,
}

/// Sender state that the pacer uses.
#[derive(Clone, Copy, Debug)]
pub struct PacerInput {
    /// Congestion window in bytes.
    pub cwnd: u64,
    /// Smoothed round-trip time.
    pub srtt: Duration,
    /// The sender is in slow start.
    pub slow_start: bool,
    /// The sender is in recovery.
    pub recovery: bool,
    /// Bytes in flight before the packet.
    pub in_flight: u64,
    /// Pacing rate in bytes per second, if the congestion control sets it.
    pub rate: Option<u64>,
}

impl Pacer {
    /// A pacer that has sent nothing.
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

    /// Pacing rate in bytes per second.
    pub fn rate(&self, pace: &PacerInput) -> u64 {
        if let Some(rate) = pace.rate {
            return rate;
        }
        let gain = if pace.slow_start { self.params.gain_slow_start } else { self.params.gain };
        window_rate(pace, gain)
    }

    /// Whether a packet may be sent now. If not, sets the alarm.
    pub fn can_send(&mut self, now: Instant, in_flight: u64) -> bool {
        // spec: quic_connection.cc CanWrite (Chromium 62) - an acknowledgement does not send while the send
        // alarm is set.
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

    /// An ack-eliciting packet was sent.
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

    // spec: pacing_sender.cc OnPacketSent (Chromium 62) - time lost by a late alarm is made up for, unless
    // there was nothing to send.
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

    /// Losses were detected: bursts end.
    pub fn on_lost(&mut self) {
        self.tokens = 0;
    }

    /// The alarm may be due.
    pub fn on_timer(&mut self, now: Instant) {
        if self.alarm.is_some_and(|at| at <= now) {
            self.alarm = None;
        }
    }

    /// When sending may continue.
    pub fn next_timer(&self) -> Option<Instant> {
        self.alarm
    }

    /// The congestion window forbids sending: cancels the alarm.
    // spec: quic_connection.cc CanWrite (Chromium 62) - the alarm is cancelled when the window is full.
    pub fn cancel(&mut self) {
        self.alarm = None;
    }
}

/// So many percent of the window in a round trip, in bytes a second.
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

    /// A window of 50 packets of 1350 bytes and a round trip of 10 ms: 13.5 MB/s x 1.25 is one packet in 160
    /// us.
    const PACE: PacerInput = PacerInput {
        cwnd: 67_500,
        srtt: Duration::from_millis(10),
        slow_start: false,
        recovery: false,
        rate: None,
        in_flight: 13_500,
    };

    /// When a sender that always has data sends, in us; the alarm comes at the next whole `grain` us.
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

    /// Within a horizon of 1 ms seven packets leave together, then one whenever the first of them is due.
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
    fn a_late_alarm_is_made_up_for() {
        let strict = PacerParams { horizon: Duration::ZERO, ..PacerParams::CHROMIUM };
        let sent = times(strict, 1_000, 200);
        // Over 24 ms as many as one in 160 us.
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
    fn losses_end_the_burst_and_quiescence_gives_another() {
        let mut pacer = Pacer::new(PacerParams { horizon: Duration::ZERO, ..PacerParams::CHROMIUM });
        pacer.on_lost();
        pacer.on_sent(us(0), 1350, &PACE);
        assert!(!pacer.can_send(us(0), PACE.in_flight));
        assert_eq!(pacer.next_timer(), Some(us(160)));
        // While it is set nobody sends, though the packet would be due.
        assert!(!pacer.can_send(us(170), PACE.in_flight));
        pacer.on_timer(us(170));
        assert!(pacer.can_send(us(170), 0));
        pacer.on_sent(us(170), 1350, &PacerInput { in_flight: 0, ..PACE });
        assert!((0..9).all(|_| {
            let can = pacer.can_send(us(170), PACE.in_flight);
            pacer.on_sent(us(170), 1350, &PACE);
            can
        }));
        // In recovery leaving quiescence gives none.
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
