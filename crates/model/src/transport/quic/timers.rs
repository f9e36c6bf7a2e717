//! The timer that repairs what no acknowledgement repairs: handshake, tail-loss probes, retransmission timeouts; or the
//! probe timeout of RFC 9002.
// spec: quic_sent_packet_manager.cc (Chromium 62); rfc9002 6.2.

use crate::vocabulary::{Duration, Instant};

use super::loss::Loss;
use super::rtt::Rtt;
use super::sent::SentPackets;

/// How long a sender waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimerParams {
    /// Tail-loss probes before a retransmission timeout; the probe timeout instead of both if none.
    pub probes: Option<u32>,
    /// The longest delay of an acknowledgement that the other end says it makes; part of the probe timeout.
    pub max_ack_delay: Duration,
}

/// What the timer stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Alarm {
    /// The handshake is sent again.
    Handshake,
    /// Losses are looked for again.
    Loss,
    /// A packet is sent to provoke an acknowledgement.
    Probe,
    /// All is thought lost.
    Timeout,
}

/// Least timeout of the handshake.
const MIN_HANDSHAKE: Duration = Duration::from_millis(10);
/// Least timeout of a probe.
const MIN_PROBE: Duration = Duration::from_millis(10);
/// Least retransmission timeout, and the one before the first sample of the round-trip time; the longest.
const RTO: (Duration, Duration, Duration) =
    (Duration::from_millis(200), Duration::from_millis(500), Duration::from_secs(60));
/// Most doublings.
const MAX_BACKOFF: u32 = 10;
/// Granularity of the probe timeout.
// spec: rfc9002 6.1.2 - 1 ms is recommended.
const GRANULARITY: Duration = Duration::from_millis(1);

/// How often each has fired since something was acknowledged.
#[derive(Clone, Debug)]
pub struct Timers {
    params: TimerParams,
    handshakes: u32,
    probes: u32,
    timeouts: u32,
}

impl Timers {
    /// Nothing has fired.
    pub fn new(params: TimerParams) -> Self {
        Self { params, handshakes: 0, probes: 0, timeouts: 0 }
    }

    /// When the timer fires and what it stands for.
    pub fn next(&self, sent: &SentPackets, loss: &Loss, rtt: &Rtt) -> Option<(Instant, Alarm)> {
        if sent.in_flight_packets() == 0 {
            return None;
        }
        if sent.has_crypto() {
            return Some((sent.last_crypto() + self.handshake_delay(rtt), Alarm::Handshake));
        }
        if let Some(at) = loss.timeout() {
            return Some((at, Alarm::Loss));
        }
        if !sent.has_frames() {
            return None;
        }
        let last = sent.last_in_flight();
        match self.params.probes {
            None => Some((last + self.probe_timeout(rtt), Alarm::Probe)),
            Some(most) if self.probes < most => {
                Some((last + tail_delay(rtt, sent.in_flight_packets() > 1), Alarm::Probe))
            }
            Some(_) => {
                let tail = tail_delay(rtt, sent.in_flight_packets() > 1);
                Some((last + self.retransmission_timeout(rtt).max(tail), Alarm::Timeout))
            }
        }
    }

    // spec: quic_sent_packet_manager.cc GetCryptoRetransmissionDelay (Chromium 62).
    fn handshake_delay(&self, rtt: &Rtt) -> Duration {
        let delay = (rtt.smoothed_or_initial() * 3 / 2).max(MIN_HANDSHAKE);
        delay * (1 << self.handshakes.min(MAX_BACKOFF))
    }

    // spec: quic_sent_packet_manager.cc GetRetransmissionDelay (Chromium 62).
    fn retransmission_timeout(&self, rtt: &Rtt) -> Duration {
        let first = if rtt.smoothed == Duration::ZERO { RTO.1 } else { rtt.smoothed + rtt.deviation * 4 };
        (first.max(RTO.0) * (1 << self.timeouts.min(MAX_BACKOFF))).min(RTO.2)
    }

    /// How long a probe waits.
    // spec: rfc9002 6.2.1.
    pub fn probe_timeout(&self, rtt: &Rtt) -> Duration {
        let deviation = if rtt.smoothed == Duration::ZERO {
            rtt.smoothed_or_initial() * 2
        } else {
            (rtt.deviation * 4).max(GRANULARITY)
        };
        (rtt.smoothed_or_initial() + deviation + self.params.max_ack_delay)
            * (1 << self.probes.min(MAX_BACKOFF))
    }

    /// All packets sent over this long, and lost, are a persistent congestion.
    // spec: rfc9002 7.6.1 - three probe timeouts without backoff.
    pub fn persistent(&self, rtt: &Rtt) -> Duration {
        (rtt.smoothed + (rtt.deviation * 4).max(GRANULARITY) + self.params.max_ack_delay) * 3
    }

    /// It has fired.
    pub fn fired(&mut self, alarm: Alarm) {
        match alarm {
            Alarm::Handshake => self.handshakes += 1,
            Alarm::Probe => self.probes += 1,
            Alarm::Timeout => self.timeouts += 1,
            Alarm::Loss => {}
        }
    }

    /// Timeouts since something was acknowledged.
    pub fn timeouts(&self) -> u32 {
        self.timeouts
    }

    /// Something was acknowledged.
    pub fn reset(&mut self) {
        (self.handshakes, self.probes, self.timeouts) = (0, 0, 0);
    }
}

// spec: quic_sent_packet_manager.cc GetTailLossProbeDelay (Chromium 62) - a packet alone may wait for a delayed
// acknowledgement, half the least timeout.
fn tail_delay(rtt: &Rtt, several: bool) -> Duration {
    let srtt = rtt.smoothed_or_initial();
    if several { (srtt * 2).max(MIN_PROBE) } else { (srtt * 2).max(srtt * 3 / 2 + RTO.0 / 2) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::quic::loss::LossParams;
    use crate::vocabulary::QuicFrame;

    const fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    const RTT: Rtt =
        Rtt { latest: ms(8), smoothed: ms(8), previous: ms(8), deviation: ms(1), min: ms(8), ..Rtt::INITIAL };

    fn next(timers: &Timers, rtt: &Rtt, frames: &[QuicFrame]) -> Option<(u64, Alarm)> {
        let mut sent = SentPackets::default();
        frames.iter().for_each(|f| sent.push(Instant::ZERO, 100, vec![*f], true));
        let loss = Loss::new(LossParams::CHROMIUM);
        timers.next(&sent, &loss, rtt).map(|(at, alarm)| (at.nanos() / 1_000_000, alarm))
    }

    const CHROMIUM: TimerParams = TimerParams { probes: Some(2), max_ack_delay: ms(25) };

    #[test]
    fn two_probes_then_timeouts_that_double() {
        let mut timers = Timers::new(CHROMIUM);
        let two = [QuicFrame::Ping; 2];
        let mut seen = Vec::new();
        for _ in 0..5 {
            let (at, alarm) = next(&timers, &RTT, &two).expect("a timer");
            seen.push((at, alarm));
            timers.fired(alarm);
        }
        use Alarm::{Probe, Timeout};
        assert_eq!(seen, [(16, Probe), (16, Probe), (200, Timeout), (400, Timeout), (800, Timeout)]);
        timers.reset();
        // One alone may wait for a delayed acknowledgement.
        assert_eq!(next(&timers, &RTT, &two[..1]), Some((112, Probe)));
        assert_eq!(next(&timers, &RTT, &[]), None);
        assert_eq!(next(&timers, &Rtt::INITIAL, &two), Some((200, Probe)));
    }

    #[test]
    fn the_handshake_is_sent_again_after_one_and_a_half_round_trips() {
        let mut timers = Timers::new(CHROMIUM);
        let hello = [QuicFrame::Crypto { step: 0, offset: 0, len: 1000, of: 1000 }];
        let mut at = [0; 3].map(|_| {
            let next = next(&timers, &Rtt::INITIAL, &hello);
            timers.fired(Alarm::Handshake);
            next
        });
        assert_eq!(at, [150, 300, 600].map(|at| Some((at, Alarm::Handshake))));
        timers.reset();
        at[0] = next(&timers, &RTT, &hello);
        assert_eq!(at[0], Some((12, Alarm::Handshake)));
    }

    // spec: rfc9002 6.2.1 - srtt + max(4 rttvar, 1 ms) + max_ack_delay; 333 ms before the first sample make 999 ms.
    #[test]
    fn the_probe_timeout_of_the_rfc() {
        let mut timers = Timers::new(TimerParams { probes: None, max_ack_delay: ms(25) });
        let one = [QuicFrame::Ping];
        assert_eq!(next(&timers, &RTT, &one), Some((37, Alarm::Probe)));
        timers.fired(Alarm::Probe);
        assert_eq!(next(&timers, &RTT, &one), Some((74, Alarm::Probe)));
        assert_eq!(timers.persistent(&RTT), ms(111));
    }
}
