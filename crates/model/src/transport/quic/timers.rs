//! The loss timer: handshake, tail loss probes and retransmission timeouts, or the PTO of RFC 9002.
// spec: quic_sent_packet_manager.cc (Chromium 62); rfc9002 6.2.

use crate::types::{Duration, Instant};

use super::loss::Loss;
use super::rtt::QuicRtt;
use super::sent::SentPackets;

/// Parameters of the loss timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimerParams {
    /// Recovery scheme.
    pub repair: Repair,
    /// The peer's max_ack_delay, part of the probe timeout.
    pub max_ack_delay: Duration,
}

/// Reaction to missing ACKs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Repair {
    /// Retransmit the handshake after one and a half RTTs. For data, send this many tail loss probes, then
    /// use retransmission timeouts.
    TailLossProbes(u32),
    /// Probe timeouts (PTO, RFC 9002) for handshake and data.
    ProbeTimeout(ProbeTimeout),
}

/// Parameters of the probe timeout (PTO).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProbeTimeout {
    /// Factor of the mean deviation in the PTO.
    pub deviations: u64,
    /// Start the first PTO for data at the oldest packet in flight, but expire no earlier than one and a half
    /// RTTs after the newest. If false, start at the newest.
    pub from_oldest: bool,
    /// Skip a packet number before a probe, so that the gap triggers an immediate ACK.
    pub skips: bool,
    /// Persistent congestion: reduce the window to its minimum if all packets sent over three PTOs are lost.
    pub persistent: bool,
    /// A client that does not know whether the server may send keeps its PTO backoff on ACKs.
    pub doubles_while_held: bool,
}

impl ProbeTimeout {
    /// RFC 9002.
    // spec: rfc9002 6.2.1, 6.2.2.1, 7.6.
    pub const RFC9002: Self =
        Self { deviations: 4, from_oldest: false, skips: false, persistent: true, doubles_while_held: true };
    /// Google's QUIC with IETF versions.
    // quiche: quic_constants.h kPtoRttvarMultiplier; quic_sent_packet_manager.cc GetRetransmissionTime,
    // PostProcessNewlyAckedPackets; quic_connection.cc OnRetransmissionAlarm (f44fa9f) - skips a packet
    // number; never reports a timeout or persistent congestion to the window.
    pub const QUICHE: Self =
        Self { deviations: 2, from_oldest: true, skips: true, persistent: false, doubles_while_held: false };
}

/// Purpose of the timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Alarm {
    /// Retransmit all handshake data.
    Handshake,
    /// Check for losses by the time threshold.
    Loss,
    /// Send a probe packet to elicit an ACK.
    Probe,
    /// Retransmission timeout: retransmit the two oldest packets.
    Timeout,
}

/// Minimum handshake timeout.
const MIN_HANDSHAKE: Duration = Duration::from_millis(10);
/// Minimum tail loss probe timeout.
const MIN_PROBE: Duration = Duration::from_millis(10);
/// Minimum retransmission timeout, value before the first RTT sample, and maximum.
const RTO: (Duration, Duration, Duration) =
    (Duration::from_millis(200), Duration::from_millis(500), Duration::from_secs(60));
/// Maximum number of doublings.
const MAX_BACKOFF: u32 = 10;
/// Timer granularity in the PTO.
// spec: rfc9002 6.1.2 - recommends 1 ms.
const GRANULARITY: Duration = Duration::from_millis(1);

/// Number of expiries per purpose since the last ACK.
#[derive(Clone, Debug)]
pub struct QuicTimers {
    params: TimerParams,
    handshakes: u32,
    probes: u32,
    timeouts: u32,
}

impl QuicTimers {
    /// Creates the state in which no timer has expired.
    pub fn new(params: TimerParams) -> Self {
        Self { params, handshakes: 0, probes: 0, timeouts: 0 }
    }

    /// Returns the next expiry and its purpose.
    pub fn next(&self, sent: &SentPackets, loss: &Loss, rtt: &QuicRtt) -> Option<(Instant, Alarm)> {
        if sent.in_flight_packets() == 0 {
            return None;
        }
        let most = match self.params.repair {
            Repair::TailLossProbes(most) => most,
            Repair::ProbeTimeout(pto) => {
                let probe = || (self.next_probe(&pto, sent, rtt), Alarm::Probe);
                return Some(loss.timeout().map_or_else(probe, |at| (at, Alarm::Loss)));
            }
        };
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
        let tail = tail_delay(rtt, sent.in_flight_packets() > 1);
        if self.probes < most {
            return Some((last + tail, Alarm::Probe));
        }
        Some((last + self.retransmission_timeout(rtt).max(tail), Alarm::Timeout))
    }

    // spec: rfc9002 6.2.1 - runs from the newest handshake packet while one is outstanding, since data has no
    // timer before the handshake is confirmed.
    // quiche: quic_sent_packet_manager.cc GetRetransmissionTime (f44fa9f) - `from_oldest`.
    fn next_probe(&self, pto: &ProbeTimeout, sent: &SentPackets, rtt: &QuicRtt) -> Instant {
        if sent.has_crypto() {
            return sent.last_crypto() + self.handshake_probe_timeout(rtt);
        }
        let timeout = self.probe_timeout(rtt);
        let last = sent.last_in_flight();
        if pto.from_oldest && self.probes == 0 {
            return (sent.oldest_in_flight() + timeout).max(last + rtt.smoothed_or_initial() * 3 / 2);
        }
        last + timeout
    }

    // spec: quic_sent_packet_manager.cc GetCryptoRetransmissionDelay (Chromium 62).
    fn handshake_delay(&self, rtt: &QuicRtt) -> Duration {
        let delay = (rtt.smoothed_or_initial() * 3 / 2).max(MIN_HANDSHAKE);
        delay * (1 << self.handshakes.min(MAX_BACKOFF))
    }

    // spec: quic_sent_packet_manager.cc GetRetransmissionDelay (Chromium 62).
    fn retransmission_timeout(&self, rtt: &QuicRtt) -> Duration {
        let first = if rtt.smoothed == Duration::ZERO { RTO.1 } else { rtt.smoothed + rtt.deviation * 4 };
        (first.max(RTO.0) * (1 << self.timeouts.min(MAX_BACKOFF))).min(RTO.2)
    }

    /// Probe timeout for data.
    fn probe_timeout(&self, rtt: &QuicRtt) -> Duration {
        (self.interval(rtt) + self.params.max_ack_delay) * self.backoff()
    }

    /// Returns the probe timeout of the handshake, which excludes max_ack_delay.
    pub fn handshake_probe_timeout(&self, rtt: &QuicRtt) -> Duration {
        self.interval(rtt) * self.backoff()
    }

    fn backoff(&self) -> u64 {
        1 << self.probes.min(MAX_BACKOFF)
    }

    /// Probe timeout without max_ack_delay and backoff.
    // spec: rfc9002 6.2.1, 6.2.2 - initially three times the initial RTT, since the deviation is half of it.
    // quiche: quic_sent_packet_manager.cc GetProbeTimeoutDelay (f44fa9f) - the same, regardless of the
    // deviation factor.
    fn interval(&self, rtt: &QuicRtt) -> Duration {
        if rtt.smoothed == Duration::ZERO {
            return rtt.initial * 3;
        }
        rtt.smoothed + (rtt.deviation * self.pto().map_or(0, |pto| pto.deviations)).max(GRANULARITY)
    }

    /// Returns the PTO parameters, if PTOs are used.
    pub fn pto(&self) -> Option<ProbeTimeout> {
        match self.params.repair {
            Repair::ProbeTimeout(pto) => Some(pto),
            Repair::TailLossProbes(_) => None,
        }
    }

    /// Returns the persistent congestion duration.
    // spec: rfc9002 7.6.1 - three PTOs without backoff.
    pub fn persistent(&self, rtt: &QuicRtt) -> Duration {
        (self.interval(rtt) + self.params.max_ack_delay) * 3
    }

    /// Called when the timer has expired.
    pub fn fired(&mut self, alarm: Alarm) {
        match alarm {
            Alarm::Handshake => self.handshakes += 1,
            Alarm::Probe => self.probes += 1,
            Alarm::Timeout => self.timeouts += 1,
            Alarm::Loss => {}
        }
    }

    /// Returns the number of retransmission timeouts since the last ACK.
    pub fn timeouts(&self) -> u32 {
        self.timeouts
    }

    /// Called when a packet was acknowledged.
    pub fn reset(&mut self) {
        (self.handshakes, self.probes, self.timeouts) = (0, 0, 0);
    }
}

// spec: quic_sent_packet_manager.cc GetTailLossProbeDelay (Chromium 62) - a single packet may be waiting for
// a delayed ACK, so add half the minimum timeout.
fn tail_delay(rtt: &QuicRtt, several: bool) -> Duration {
    let srtt = rtt.smoothed_or_initial();
    if several { (srtt * 2).max(MIN_PROBE) } else { (srtt * 2).max(srtt * 3 / 2 + RTO.0 / 2) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::quic::loss::LossParams;
    use crate::types::QuicFrame;
    use alloc::vec;
    use alloc::vec::Vec;

    const fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    const RTT: QuicRtt = QuicRtt {
        latest: ms(8),
        smoothed: ms(8),
        previous: ms(8),
        deviation: ms(1),
        min: ms(8),
        ..QuicRtt::INITIAL
    };

    fn next(timers: &QuicTimers, rtt: &QuicRtt, frames: &[QuicFrame]) -> Option<(u64, Alarm)> {
        let mut sent = SentPackets::default();
        frames.iter().for_each(|f| sent.push(Instant::ZERO, 100, vec![*f], true, 0));
        let loss = Loss::new(LossParams::CHROMIUM);
        timers.next(&sent, &loss, rtt).map(|(at, alarm)| (at.nanos() / 1_000_000, alarm))
    }

    const CHROMIUM: TimerParams = TimerParams { repair: Repair::TailLossProbes(2), max_ack_delay: ms(25) };

    #[test]
    fn two_probes_then_timeouts_that_double() {
        let mut timers = QuicTimers::new(CHROMIUM);
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
        // A single packet may be waiting for a delayed ACK.
        assert_eq!(next(&timers, &RTT, &two[..1]), Some((112, Probe)));
        assert_eq!(next(&timers, &RTT, &[]), None);
        assert_eq!(next(&timers, &QuicRtt::INITIAL, &two), Some((200, Probe)));
    }

    #[test]
    fn handshake_is_retransmitted_after_one_and_a_half_rtts() {
        let mut timers = QuicTimers::new(CHROMIUM);
        let hello = [QuicFrame::Crypto { step: 0, offset: 0, len: 1000, of: 1000 }];
        let mut at = [0; 3].map(|_| {
            let next = next(&timers, &QuicRtt::INITIAL, &hello);
            timers.fired(Alarm::Handshake);
            next
        });
        assert_eq!(at, [150, 300, 600].map(|at| Some((at, Alarm::Handshake))));
        timers.reset();
        at[0] = next(&timers, &RTT, &hello);
        assert_eq!(at[0], Some((12, Alarm::Handshake)));
    }

    fn by_probes(pto: ProbeTimeout) -> QuicTimers {
        QuicTimers::new(TimerParams { repair: Repair::ProbeTimeout(pto), max_ack_delay: ms(25) })
    }

    /// Delays of three consecutive probes, in ms.
    fn three(pto: ProbeTimeout, rtt: &QuicRtt, frames: &[QuicFrame]) -> [u64; 3] {
        let mut timers = by_probes(pto);
        [0; 3].map(|_| {
            let (at, alarm) = next(&timers, rtt, frames).expect("a timer");
            assert_eq!(alarm, Alarm::Probe);
            timers.fired(alarm);
            at
        })
    }

    // spec: rfc9002 6.2.1 - srtt + max(4 rttvar, 1 ms) + max_ack_delay; without max_ack_delay for the
    // handshake; 333 ms before the first sample give 999 ms.
    // quiche: quic_sent_packet_manager.cc GetProbeTimeoutDelay (f44fa9f) - two deviations; 100 ms give 300
    // ms.
    #[test]
    fn the_probe_timeout() {
        let (rfc, quiche) = (ProbeTimeout::RFC9002, ProbeTimeout::QUICHE);
        let one = [QuicFrame::Ping];
        assert_eq!(three(rfc, &RTT, &one), [37, 74, 148]);
        assert_eq!(three(quiche, &RTT, &one), [35, 70, 140]);
        let hello = [QuicFrame::Crypto { step: 0, offset: 0, len: 280, of: 280 }];
        assert_eq!(three(rfc, &QuicRtt::new(ms(333)), &hello), [999, 1_998, 3_996]);
        assert_eq!(three(quiche, &QuicRtt::INITIAL, &hello), [300, 600, 1_200]);
        assert_eq!(three(rfc, &RTT, &hello), [12, 24, 48]);
        assert_eq!(three(quiche, &RTT, &hello), [10, 20, 40]);
        assert_eq!(by_probes(rfc).persistent(&RTT), ms(111));
    }

    /// Packets at 0 and `newest`: the first probe runs from the oldest, but at least one and a half RTTs from
    /// the newest; later probes run from the newest.
    #[test]
    fn the_first_probe_may_run_from_the_oldest_packet() {
        let at = |pto, newest: u64, fired: u32| {
            let mut sent = SentPackets::default();
            for at in [0, newest] {
                sent.push(Instant::ZERO + ms(at), 100, vec![QuicFrame::Ping], true, 0);
            }
            let mut timers = by_probes(pto);
            (0..fired).for_each(|_| timers.fired(Alarm::Probe));
            let next = timers.next(&sent, &Loss::new(LossParams::CHROMIUM), &RTT);
            next.expect("a timer").0.nanos() / 1_000_000
        };
        let (rfc, quiche) = (ProbeTimeout::RFC9002, ProbeTimeout::QUICHE);
        assert_eq!([0, 20, 30].map(|newest| at(rfc, newest, 0)), [37, 57, 67]);
        assert_eq!([0, 20, 30].map(|newest| at(quiche, newest, 0)), [35, 35, 42]);
        assert_eq!([0, 20, 30].map(|newest| at(quiche, newest, 1)), [70, 90, 100]);
    }
}
