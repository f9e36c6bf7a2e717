//! A test of responsiveness under working conditions (RPM): adds connections until the goodput stops rising,
//! and measures probe times along the way.
//!
//! This is only the state machine. The owner of the connections reports transferred bytes and probe times,
//! and performs the actions.

use alloc::vec::Vec;

use crate::metrics::responsiveness::ProbeTimes;
use crate::types::{Duration, Instant, Probe};

/// Bytes of one foreign and one loaded probe together.
// spec: draft-ietf-ippm-responsiveness-09 Measuring Responsiveness - around 5000 bytes per foreign probe, at
// most 1000 per self probe.
const PAIR_BYTES: u64 = 5_000 + 1_000;

/// Direction of the load.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Load {
    /// No load: the path is idle.
    None,
    /// From the server to the client.
    Down,
    /// From the client to the server.
    Up,
    /// Both directions, each with its own connections.
    Both,
}

/// Parameters of a responsiveness test.
// spec: draft-ietf-ippm-responsiveness-09 Test Parameters - MAD, ID, SDT, INP, INC, MNP, MPS, PTC.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ResponsivenessParams {
    /// The loaded direction.
    pub load: Load,
    /// Interval between decisions (ID).
    pub interval: Duration,
    /// Length of the moving average in intervals (MAD).
    pub averaged: u32,
    /// Maximum standard deviation of a stable figure, in percent of the average (SDT).
    pub tolerance_percent: u32,
    /// Connections per direction: initial (INP), added per interval (INC), and maximum (MNP).
    pub connections: [u32; 3],
    /// Maximum number of probes per second, of both kinds together (MPS).
    pub probes_per_second: u32,
    /// Share of the capacity that probes may take, in percent (PTC).
    pub capacity_percent: u32,
    /// Start new connections with a TLS 1.3 handshake.
    pub tls: bool,
    /// `TCP_NOTSENT_LOWAT` of the test's sockets in bytes. `None`: the kernel's `net.ipv4.tcp_notsent_lowat`.
    pub notsent_lowat: Option<u32>,
}

/// Action requested by the test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResponsivenessAction {
    /// Open another load-generating connection in each loaded direction.
    AddLoad,
    /// Send a probe on a new connection.
    ProbeForeign,
    /// Send a probe on a load-generating connection.
    ProbeLoaded,
    /// End the test: close all connections.
    End,
}

/// Confidence of a figure.
// spec: draft-ietf-ippm-responsiveness-09 Confidence of Test-Results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Confidence {
    /// Fewer intervals than the moving average needs.
    Low,
    /// The figure did not become stable.
    Medium,
    /// The figure became stable.
    High,
}

impl Confidence {
    /// Name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// Result of a test.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ResponsivenessOutcome {
    /// Start of the test.
    pub began: Instant,
    /// End of the test. Only probes of the averaged intervals before this time count.
    pub until: Instant,
    /// Goodput of the test's connections in bit/s, averaged over the last complete intervals.
    pub goodput_bps: f64,
    /// Number of load-generating connections in each loaded direction.
    pub connections: u32,
    /// Confidence of the goodput.
    pub goodput: Confidence,
    /// Confidence of the responsiveness.
    pub responsiveness: Confidence,
    /// Number of probes not answered in time.
    pub unanswered: u32,
}

/// A figure that must become stable.
#[derive(Debug, Default)]
struct Settling {
    last: Vec<f64>,
    settled: bool,
}

impl Settling {
    /// Adds the figure of an interval.
    // spec: draft-ietf-ippm-responsiveness-09 Final Algorithm - stable once the standard deviation of the
    // past MAD values is less than SDT of the current one.
    fn add(&mut self, value: f64, params: &ResponsivenessParams) {
        let n = params.averaged as usize;
        self.last.push(value);
        let Some(from) = self.last.len().checked_sub(n) else { return };
        let last = &self.last[from..];
        let mean = last.iter().sum::<f64>() / n as f64;
        let variance = last.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n as f64;
        let most = value * f64::from(params.tolerance_percent) / 100.0;
        self.settled |= variance < most * most;
    }

    fn confidence(&self, averaged: u32) -> Confidence {
        match self.settled {
            true => Confidence::High,
            false if self.last.len() >= averaged as usize => Confidence::Medium,
            false => Confidence::Low,
        }
    }
}

/// State of a responsiveness test.
#[derive(Debug)]
pub struct Responsiveness {
    params: ResponsivenessParams,
    /// Scheduled start, and actual start.
    start: Instant,
    begun: Instant,
    stop: Instant,
    /// End of the current interval, and due time of the next probe. `None` before the start and after the
    /// end.
    next: Option<[Instant; 2]>,
    ended: Option<Instant>,
    connections: u32,
    /// Bytes of each completed interval, and of the current one.
    carried: Vec<u64>,
    carrying: u64,
    /// Probe pairs sent in the current interval, and whether the second probe of the last pair is due.
    pairs: u64,
    second: bool,
    /// Completion time of each probe, its kind, and its duration in ns.
    samples: Vec<(Instant, Probe, u64)>,
    sent: u32,
    answered: u32,
    goodput: Settling,
    responsiveness: Settling,
}

impl Responsiveness {
    /// Creates a test that starts at `start`, and ends when its figures are stable or at `stop`.
    pub fn new(params: ResponsivenessParams, start: Instant, stop: Instant) -> Self {
        Self {
            params,
            start,
            begun: start,
            stop,
            next: None,
            ended: None,
            connections: 0,
            carried: Vec::new(),
            carrying: 0,
            pairs: 0,
            second: false,
            samples: Vec::new(),
            sent: 0,
            answered: 0,
            goodput: Settling::default(),
            responsiveness: Settling::default(),
        }
    }

    /// Parameters of the test.
    pub const fn params(&self) -> &ResponsivenessParams {
        &self.params
    }

    /// When to call [`Responsiveness::on_timer`].
    pub fn next_timer(&self) -> Option<Instant> {
        match (self.ended, self.next) {
            (Some(_), _) => None,
            (None, None) => Some(self.start),
            (None, Some([interval, probe])) => Some(interval.min(probe).min(self.stop)),
        }
    }

    /// Handles the start of the test, the end of an interval, or a due probe. Calls `act` with each action in
    /// order.
    pub fn on_timer(&mut self, now: Instant, mut act: impl FnMut(ResponsivenessAction)) {
        let Some([interval, probe]) = self.next else {
            self.begun = now;
            self.next = Some([now + self.params.interval, now + self.gap()]);
            let [first, ..] = self.params.connections;
            return (0..first).for_each(|_| self.add_load(&mut act));
        };
        if now >= self.stop {
            return self.end(now, &mut act);
        }
        if now >= interval {
            self.next = Some([interval + self.params.interval, probe]);
            if self.interval_over(now) {
                return self.end(now, &mut act);
            }
            let [_, added, _] = self.params.connections;
            (0..added).for_each(|_| self.add_load(&mut act));
        }
        if now >= probe {
            self.next = self.next.map(|[interval, _]| [interval, probe + self.gap()]);
            self.probe(now, &mut act);
        }
    }

    fn gap(&self) -> Duration {
        Duration::from_nanos(1_000_000_000 / u64::from(self.params.probes_per_second))
    }

    fn add_load(&mut self, act: &mut impl FnMut(ResponsivenessAction)) {
        let [first, _, most] = self.params.connections;
        let most = if self.params.load == Load::None { first } else { most };
        if self.connections < most {
            self.connections += 1;
            act(ResponsivenessAction::AddLoad);
        }
    }

    /// Sends the next probe. The two kinds alternate, spread over the interval.
    // spec: draft-ietf-ippm-responsiveness-09 Measuring Responsiveness - equal numbers of both kinds,
    // interleaved, within PTC of the capacity. The draft equates 100 probes per second with 300 KB per
    // second, so MPS counts both kinds.
    // deviation: the capacity is estimated as the bytes of the previous interval, or in the first interval
    // the bytes so far; an idle path has no such limit.
    fn probe(&mut self, now: Instant, act: &mut impl FnMut(ResponsivenessAction)) {
        if self.second {
            self.second = false;
            self.sent += 1;
            return act(ResponsivenessAction::ProbeLoaded);
        }
        let [interval, _] = self.next.expect("it has begun");
        let left = interval.saturating_since(now).nanos();
        let length = self.params.interval.nanos();
        let so_far = (length - left.min(length)) as f64 / length as f64;
        let bytes = self.carried.last().map_or(self.carrying as f64, |bytes| *bytes as f64 * so_far);
        let budget = bytes * f64::from(self.params.capacity_percent) / 100.0;
        // At least one pair per interval, on any path, so that there is a result.
        let free = self.params.load == Load::None || self.pairs == 0;
        if free || ((self.pairs + 1) * PAIR_BYTES) as f64 <= budget {
            self.pairs += 1;
            self.second = true;
            self.sent += 1;
            act(ResponsivenessAction::ProbeForeign);
        }
    }

    /// Adds bytes carried by the load-generating connections.
    #[inline]
    pub fn carried(&mut self, bytes: u64) {
        self.carrying += bytes;
    }

    /// Records a probe that took `took`.
    pub fn probed(&mut self, now: Instant, probe: Probe, took: Duration) {
        if self.ended.is_none() {
            self.samples.push((now, probe, took.nanos()));
            self.answered += u32::from(matches!(probe, Probe::Foreign | Probe::Loaded));
        }
    }

    /// Ends an interval. Returns true if the test is over.
    fn interval_over(&mut self, now: Instant) -> bool {
        self.carried.push(core::mem::take(&mut self.carrying));
        self.pairs = 0;
        let params = self.params;
        if params.load == Load::None {
            self.goodput.settled = true;
        }
        if self.goodput.settled {
            // `None` until a probe of each kind has completed.
            if let Some(rpm) = self.times(self.since(now)).rpm() {
                self.responsiveness.add(rpm, &params);
            }
        } else {
            let from = self.carried.len().saturating_sub(params.averaged as usize);
            // Intervals before the first count as zero.
            let average = self.carried[from..].iter().sum::<u64>() as f64 / f64::from(params.averaged);
            self.goodput.add(average, &params);
        }
        self.responsiveness.settled
    }

    /// Start of the intervals averaged at `now`.
    fn since(&self, now: Instant) -> Instant {
        let length = self.params.interval * u64::from(self.params.averaged);
        self.begun + now.saturating_since(self.begun).saturating_sub(length)
    }

    /// Durations of the probes completed after `since`.
    fn times(&self, since: Instant) -> ProbeTimes {
        let kept = self.samples.iter().filter(|(at, ..)| *at > since);
        ProbeTimes::new(kept.map(|(_, probe, ns)| (*probe, *ns)))
    }

    fn end(&mut self, now: Instant, act: &mut impl FnMut(ResponsivenessAction)) {
        self.ended = Some(now);
        act(ResponsivenessAction::End);
    }

    /// Returns the result. For a running test, the result if the test ended now. `None` before the start.
    pub fn outcome(&self, now: Instant) -> Option<(ResponsivenessOutcome, ProbeTimes)> {
        self.next?;
        let until = self.ended.unwrap_or(now);
        let whole = &self.carried[self.carried.len().saturating_sub(self.params.averaged as usize)..];
        let (bytes, time) = match whole.len() as u64 {
            // Stopped within its first interval.
            0 => (self.carrying, until.saturating_since(self.begun)),
            n => (whole.iter().sum(), self.params.interval * n),
        };
        let outcome = ResponsivenessOutcome {
            began: self.begun,
            until,
            goodput_bps: bytes as f64 * 8.0 / time.secs_f64().max(1e-9),
            connections: self.connections,
            goodput: self.goodput.confidence(self.params.averaged),
            responsiveness: self.responsiveness.confidence(self.params.averaged),
            unanswered: self.sent - self.answered,
        };
        Some((outcome, self.times(self.since(until))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ResponsivenessAction::{AddLoad, End, ProbeForeign, ProbeLoaded};

    const PARAMS: ResponsivenessParams = ResponsivenessParams {
        load: Load::Down,
        interval: Duration::from_secs(1),
        averaged: 4,
        tolerance_percent: 5,
        connections: [1, 1, 16],
        probes_per_second: 100,
        capacity_percent: 5,
        tls: true,
        notsent_lowat: None,
    };

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(n)
    }

    /// Runs a test on a path that carries `bytes` per 10 ms. `rtt` returns the round-trip time in ms for a
    /// number of connections; probes take exactly that long.
    fn run(
        params: ResponsivenessParams,
        bytes: u64,
        rtt: impl Fn(u32) -> u64,
    ) -> (Responsiveness, Vec<(u64, ResponsivenessAction)>) {
        let mut test = Responsiveness::new(params, ms(500), ms(60_500));
        let mut log = Vec::new();
        while let Some(at) = test.next_timer() {
            let mut actions = Vec::new();
            test.on_timer(at, |action| actions.push(action));
            let took = Duration::from_millis(rtt(test.connections));
            for action in &actions {
                match action {
                    ProbeForeign => {
                        [Probe::Tcp, Probe::Tls, Probe::Http]
                            .iter()
                            .for_each(|part| test.probed(at, *part, took));
                        test.probed(at, Probe::Foreign, took * 3);
                    }
                    ProbeLoaded => test.probed(at, Probe::Loaded, took),
                    AddLoad | End => {}
                }
            }
            test.carried(bytes);
            log.extend(actions.into_iter().map(|action| (at.nanos() / 1_000_000, action)));
        }
        (test, log)
    }

    // The average of four intervals grows from a quarter to the full rate; four such averages are equal after
    // the seventh interval. The next four intervals have the same responsiveness: the test is over after
    // eleven.
    #[test]
    fn a_steady_path_settles_after_eleven_intervals() {
        let (test, log) = run(PARAMS, 125_000, |_| 20);
        assert_eq!(log.last(), Some(&(11_500, End)));
        let adds: Vec<u64> = log.iter().filter(|(_, a)| *a == AddLoad).map(|(at, _)| *at).collect();
        assert_eq!(adds, (0..11).map(|n| 500 + 1_000 * n).collect::<Vec<_>>());
        let (outcome, times) = test.outcome(ms(60_500)).expect("it has begun");
        assert_eq!((outcome.goodput, outcome.responsiveness), (Confidence::High, Confidence::High));
        assert_eq!((outcome.connections, outcome.unanswered, outcome.until), (11, 0, ms(11_500)));
        assert!((outcome.goodput_bps - 100e6).abs() < 1.1e6, "{}", outcome.goodput_bps);
        assert!((times.rpm().expect("there are probes") - 3_000.0).abs() < 1e-6);
        // 100 per second, half of them of each kind, in the last four intervals.
        assert!((198..=201).contains(&times.of(Probe::Loaded).len()), "{}", times.of(Probe::Loaded).len());
    }

    // 5 % of 1.2 Mbit/s are 7,500 bytes per second: one pair of probes.
    #[test]
    fn probes_stay_within_their_share() {
        let (_, log) = run(PARAMS, 1_500, |_| 20);
        let pairs = log.iter().filter(|(at, a)| *a == ProbeForeign && (2_500..8_500).contains(at)).count();
        assert_eq!(pairs, 6);
        let kinds: Vec<_> = log.iter().filter(|(_, a)| matches!(a, ProbeForeign | ProbeLoaded)).collect();
        assert!(
            kinds
                .chunks(2)
                .all(|pair| pair[0].1 == ProbeForeign && (pair.len() == 1 || pair[1].1 == ProbeLoaded))
        );
    }

    #[test]
    fn goodput_that_grows_with_connections_is_not_stable() {
        let params = ResponsivenessParams { connections: [1, 1, 6], ..PARAMS };
        let (test, log) = run(params, 125_000, |connections| 20 * u64::from(connections));
        assert_eq!(log.iter().filter(|(_, a)| *a == AddLoad).count(), 6);
        let (outcome, times) = test.outcome(ms(60_500)).expect("it has begun");
        assert_eq!(outcome.responsiveness, Confidence::High);
        assert!((times.rpm().expect("there are probes") - 500.0).abs() < 1e-6);
    }

    #[test]
    fn a_test_stopped_early_reports_its_confidence() {
        let mut test = Responsiveness::new(PARAMS, ms(0), ms(2_200));
        assert_eq!(test.outcome(ms(0)), None);
        while let Some(at) = test.next_timer() {
            test.on_timer(at, |_| ());
            test.carried(1_000);
        }
        let (outcome, times) = test.outcome(ms(9_000)).expect("it has begun");
        assert_eq!((outcome.goodput, outcome.responsiveness), (Confidence::Low, Confidence::Low));
        assert_eq!((outcome.until, times.rpm()), (ms(2_200), None));
        assert!(outcome.unanswered > 0);
        // A path that carries nothing has a mean of zero, which is not stable.
        let (idle, _) = run(PARAMS, 0, |_| 20);
        assert_eq!(idle.outcome(ms(60_500)).map(|(o, _)| o.goodput), Some(Confidence::Medium));
    }

    #[test]
    fn an_idle_path_adds_no_connections() {
        let (test, log) = run(ResponsivenessParams { load: Load::None, ..PARAMS }, 0, |_| 5);
        assert_eq!(log.iter().filter(|(_, a)| *a == AddLoad).count(), 1);
        assert_eq!(log.last(), Some(&(4_500, End)));
        let (outcome, times) = test.outcome(ms(60_500)).expect("it has begun");
        assert_eq!(outcome.connections, 1);
        assert!((times.rpm().expect("there are probes") - 12_000.0).abs() < 1e-6);
    }
}
