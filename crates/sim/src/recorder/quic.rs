//! Statistics of a QUIC connection: handshake and completion times, packets as in a capture at the sender,
//! and the sender's congestion window.

use core::ops::Range;

use serde::Serialize;
use stillair_model::transport::quic::Snapshot;
use stillair_model::types::{Addr, Duration, FlowId, Instant, LongPackets, QuicTrace};

/// Bin width of the histogram of gaps between datagrams.
const GAP_BIN: Duration = Duration::from_micros(10);
/// Number of bins. The last one holds all longer gaps.
const GAP_BINS: usize = 201;
/// Gaps below this value are counted separately.
// paper: bquic sec. IV-C.3.
const SHORT_GAP: Duration = Duration::from_micros(100);
/// Interval of the throughput samples.
// paper: bquic sec. IV-C.4.
const STEP: Duration = Duration::from_millis(50);

/// A flow, and the state of both ends of its connection, the data sender first.
pub type QuicEnds = (FlowId, [Option<Snapshot>; 2]);

/// Record of a connection.
#[derive(Clone, Debug)]
pub struct QuicRecord {
    /// Address of the data sender.
    sender: Addr,
    /// Measurement interval, and stop time of the flow.
    measured: Range<Instant>,
    stop: Instant,
    connected: Option<Instant>,
    done: Option<Instant>,
    /// Data-direction datagrams that the socket passed to IP in the counted time.
    handed_down: u64,
    /// Dropped datagrams of these.
    dropped: u64,
    /// Received datagrams of these, and bytes of UDP payload received in the counted time.
    received: [u64; 2],
    /// Datagrams received in the opposite direction.
    back: u64,
    last_sent: Option<Instant>,
    /// Oldest and newest counted packet, if the stack reports packet numbers.
    counted: Option<(u64, u64)>,
    gaps: Vec<u32>,
    short: u64,
    /// Bytes received per step, from the start of the counted time.
    steps: Vec<u64>,
    /// First exit from slow start: time and congestion window.
    exit: Option<(Instant, u64)>,
    slow_start: bool,
    lost: u64,
    /// Trace of every event, if requested.
    traces: Option<Box<QuicTraces>>,
}

/// Traces of a connection as columns. Times are in s from the start of the run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct QuicTraces {
    /// Data-direction datagrams as in a capture at the sender: time, packet number, UDP payload in bytes.
    sent_t_s: Vec<f64>,
    sent_number: Vec<u64>,
    sent_bytes: Vec<u32>,
    /// Datagrams received by the data sender.
    back_t_s: Vec<f64>,
    back_number: Vec<u64>,
    back_bytes: Vec<u32>,
    /// Newest packet that each acknowledges, or 0.
    back_acked: Vec<u64>,
    /// Packets with long headers, if reported by the stack: row of their datagram above, true if that is a
    /// received datagram, and each packet's qlog type, number and bytes. The rest of a datagram is its 1-RTT
    /// packet.
    long_row: Vec<usize>,
    long_back: Vec<bool>,
    long_type: Vec<&'static str>,
    long_number: Vec<u32>,
    long_bytes: Vec<u16>,
    /// Packets declared lost.
    lost_t_s: Vec<f64>,
    lost_number: Vec<u64>,
    /// State of the sender after each datagram that it has processed.
    t_s: Vec<f64>,
    cwnd_bytes: Vec<u64>,
    in_flight_bytes: Vec<u64>,
    srtt_ms: Vec<f64>,
    slow_start: Vec<bool>,
}

impl QuicTraces {
    fn long(&mut self, row: usize, back: bool, long: LongPackets) {
        for packet in long.iter() {
            self.long_row.push(row);
            self.long_back.push(back);
            self.long_type.push(packet.kind.name());
            self.long_number.push(packet.number);
            self.long_bytes.push(packet.len);
        }
    }
}

impl QuicRecord {
    /// Returns true if a datagram from `src` travels in the data direction.
    #[inline]
    pub fn sends_data(&self, src: Addr) -> bool {
        src == self.sender
    }

    /// Returns the address of the data sender.
    pub fn sender(&self) -> Addr {
        self.sender
    }

    /// Creates the record of a flow that stops at `stop`, with the measurement interval `measured`. `traces`
    /// keeps every event.
    pub fn new(sender: Addr, measured: Range<Instant>, stop: Instant, traces: bool) -> Self {
        Self {
            sender,
            measured,
            stop,
            connected: None,
            done: None,
            handed_down: 0,
            dropped: 0,
            received: [0; 2],
            back: 0,
            last_sent: None,
            counted: None,
            gaps: vec![0; GAP_BINS],
            short: 0,
            steps: Vec::new(),
            exit: None,
            slow_start: true,
            lost: 0,
            traces: traces.then(Box::default),
        }
    }

    /// Reports whether `now` counts: within the transfer and the measurement interval.
    fn counts(&self, now: Instant) -> bool {
        self.connected.is_some() && self.done.is_none() && now < self.stop && self.measured.contains(&now)
    }

    /// Records a dropped datagram that was sent at `sent`.
    pub fn dropped(&mut self, sent: Instant, src: Addr) {
        let began = self.connected.is_some_and(|at| sent >= at);
        let ended = self.done.is_some_and(|at| sent >= at) || sent >= self.stop;
        self.dropped += u64::from(self.sends_data(src) && began && !ended && self.measured.contains(&sent));
    }

    /// Records an event.
    pub fn event(&mut self, now: Instant, what: QuicTrace) {
        match what {
            QuicTrace::HandedDown { number } if self.counts(now) => {
                self.handed_down += 1;
                // Packet numbers restart with the next connection, and all of its packets count.
                self.counted = match self.counted {
                    Some((oldest, newest)) if number >= newest => Some((oldest, number)),
                    Some(_) => Some((0, number)),
                    None => Some((number, number)),
                };
            }
            QuicTrace::HandedDown { .. } => {}
            QuicTrace::Sent { src, number, len, long } if src == self.sender => {
                self.sent(now, number, len, long);
            }
            QuicTrace::Sent { .. } => {}
            QuicTrace::Received { src, number, len, .. } if src == self.sender => {
                self.received(now, number, len);
            }
            QuicTrace::Received { number, len, long, acked, .. } => {
                self.back += 1;
                if let Some(t) = &mut self.traces {
                    t.long(t.back_t_s.len(), true, long);
                    t.back_t_s.push(now.secs_f64());
                    t.back_number.push(number);
                    t.back_bytes.push(len);
                    t.back_acked.push(acked);
                }
            }
            QuicTrace::Window { cwnd, in_flight, srtt, slow_start: told } => {
                let slow_start = told.unwrap_or(self.slow_start);
                if self.slow_start && !slow_start {
                    self.exit.get_or_insert((now, cwnd));
                }
                self.slow_start = slow_start;
                if let Some(t) = &mut self.traces {
                    t.t_s.push(now.secs_f64());
                    t.cwnd_bytes.push(cwnd);
                    t.in_flight_bytes.push(in_flight);
                    t.srtt_ms.push(srtt.micros_f64() / 1e3);
                    t.slow_start.push(told == Some(true));
                }
            }
            QuicTrace::Lost { number } => {
                self.lost += 1;
                if let Some(t) = &mut self.traces {
                    t.lost_t_s.push(now.secs_f64());
                    t.lost_number.push(number);
                }
            }
            QuicTrace::Established => {
                self.connected.get_or_insert(now);
            }
            QuicTrace::Done => {
                self.done.get_or_insert(now);
            }
        }
    }

    fn sent(&mut self, now: Instant, number: u64, len: u32, long: LongPackets) {
        if let Some(t) = &mut self.traces {
            t.long(t.sent_t_s.len(), false, long);
            t.sent_t_s.push(now.secs_f64());
            t.sent_number.push(number);
            t.sent_bytes.push(len);
        }
        if !self.counts(now) {
            return;
        }
        if let Some(last) = self.last_sent.replace(now) {
            let gap = now - last;
            self.short += u64::from(gap < SHORT_GAP);
            self.gaps[((gap / GAP_BIN) as usize).min(GAP_BINS - 1)] += 1;
        }
    }

    fn received(&mut self, now: Instant, number: u64, len: u32) {
        // Datagrams in flight at the start were sent before it; those in flight at the end are not lost.
        let counts = self.counts(now);
        let counted = |(oldest, newest)| number >= oldest && (counts || number <= newest);
        self.received[0] += u64::from(self.counted.is_some_and(counted));
        if !counts {
            return;
        }
        self.received[1] += u64::from(len);
        let since = self.connected.map_or(self.measured.start, |at| at.max(self.measured.start));
        let step = ((now - since) / STEP) as usize;
        if self.steps.len() <= step {
            self.steps.resize(step + 1, 0);
        }
        self.steps[step] += u64::from(len);
    }

    /// Returns the summary. `ends` is the state of both ends at the `end` of the run, the data sender first.
    pub fn summary(&self, end: Instant, ends: [Option<Snapshot>; 2], stream_bytes: u64) -> QuicSummary {
        let until = self.done.unwrap_or(end).min(self.stop).min(end);
        let time = self.connected.map(|since| until.saturating_since(since));
        let Range { start, end: last } = self.measured;
        let measured = self.connected.map(|since| until.min(last).saturating_since(since.max(start)));
        let seconds = measured.map(Duration::secs_f64).filter(|s| *s > 0.0);
        let mbps = |bytes: u64| seconds.map(|s| bytes as f64 * 8.0 / 1e6 / s);
        let gaps: u64 = self.gaps.iter().map(|&n| u64::from(n)).sum();
        // The last step may be incomplete.
        let whole = &self.steps[..self.steps.len().saturating_sub(1)];
        let rates: Vec<f64> = whole.iter().map(|&b| b as f64 * 8.0 / 1e6 / STEP.secs_f64()).collect();
        let n = rates.len() as f64;
        let mean = (n > 0.0).then(|| rates.iter().sum::<f64>() / n);
        let sd = mean
            .filter(|_| n > 1.0)
            .map(|m| (rates.iter().map(|r| (r - m) * (r - m)).sum::<f64>() / (n - 1.0)).sqrt());
        let since = |at: Instant| self.connected.map(|c| at.saturating_since(c).secs_f64());
        let [sender, receiver] = ends;
        // A network may duplicate datagrams and drop one of the two.
        let missing = self.handed_down.saturating_sub(self.received[0]);
        let lost = self.dropped.min(missing);
        QuicSummary {
            done: self.done.is_some(),
            established_s: self.connected.map(Instant::secs_f64),
            transfer_s: time.map(Duration::secs_f64),
            measured_s: measured.map(Duration::secs_f64),
            throughput_mbps: mbps(self.received[1]),
            goodput_mbps: mbps(stream_bytes),
            datagrams: self.handed_down,
            datagrams_received: self.received[0],
            datagrams_back: self.back,
            datagrams_under_way: missing - lost,
            loss_percent: (self.handed_down > 0).then(|| 100.0 * lost as f64 / self.handed_down as f64),
            declared_lost: self.lost,
            spurious: sender.and_then(|s| s.spurious),
            timeouts: sender.and_then(|s| s.timeouts),
            acks_sent: receiver.and_then(|s| s.acks_sent),
            min_rtt_ms: sender.and_then(|s| s.min_rtt).map(|d| d.micros_f64() / 1e3),
            srtt_ms: sender.and_then(|s| s.srtt).map(|d| d.micros_f64() / 1e3),
            slow_start_exit_s: self.exit.and_then(|(at, _)| since(at)),
            slow_start_exit_cwnd_bytes: self.exit.map(|(_, cwnd)| cwnd),
            cwnd_bytes: sender.map(|s| s.cwnd),
            gaps_below_100us_percent: (gaps > 0).then(|| 100.0 * self.short as f64 / gaps as f64),
            gaps: self.gaps.clone(),
            throughput_50ms_mbps: rates,
            throughput_50ms_mean_mbps: mean,
            throughput_50ms_sd_mbps: sd,
            traces: self.traces.clone(),
        }
    }
}

/// Summary of one QUIC flow. If the flow has several connections, per-connection values are those of the
/// first.
#[derive(Clone, Debug, Serialize)]
pub struct QuicSummary {
    /// True if all requested data was received before the end of the run.
    pub done: bool,
    /// Time in s from the start of the run until data could be sent.
    pub established_s: Option<f64>,
    /// Time in s from then to the end of the transfer, to the flow's `stop`, or to the end of the run. Covers
    /// the whole transfer, not just the measurement interval.
    pub transfer_s: Option<f64>,
    /// Part of that time within the measurement interval, in s. Throughput, goodput, datagrams, loss and gaps
    /// cover this part.
    pub measured_s: Option<f64>,
    /// UDP payload received in the measured part, in Mbit/s.
    pub throughput_mbps: Option<f64>,
    /// Stream data read by the receiver in the measured part, in Mbit/s.
    pub goodput_mbps: Option<f64>,
    /// Data-direction datagrams that the sender's socket passed to the host in the measured part.
    pub datagrams: u64,
    /// Received datagrams of these.
    pub datagrams_received: u64,
    /// Datagrams of these neither received nor dropped at the end of the run.
    pub datagrams_under_way: u64,
    /// Datagrams in the opposite direction, over the whole run.
    pub datagrams_back: u64,
    /// Loss rate of the data-direction datagrams in %. Includes drops by the sender's own qdisc, but not
    /// datagrams in flight at the end.
    pub loss_percent: Option<f64>,
    /// Packets that the sender declared lost, over the whole run. The next three values also cover the whole
    /// run.
    pub declared_lost: u64,
    /// Packets declared lost and acknowledged later (spurious losses).
    pub spurious: Option<u64>,
    /// Timeouts of the sender.
    pub timeouts: Option<u64>,
    /// ACK frames that the receiver sent.
    pub acks_sent: Option<u64>,
    /// Minimum round-trip time at the sender in ms.
    pub min_rtt_ms: Option<f64>,
    /// Smoothed round-trip time at the sender at the end of the run, in ms.
    pub srtt_ms: Option<f64>,
    /// End of slow start, in s from the time at which data could be sent. `None` if not reported by the
    /// stack.
    pub slow_start_exit_s: Option<f64>,
    /// Congestion window at the end of slow start, in bytes.
    pub slow_start_exit_cwnd_bytes: Option<u64>,
    /// Congestion window at the end of the run, in bytes.
    pub cwnd_bytes: Option<u64>,
    /// Share of gaps below 100 us between datagrams in a capture at the sender, in %.
    pub gaps_below_100us_percent: Option<f64>,
    /// Histogram of these gaps in bins of 10 us; the last bin holds all gaps of 2 ms and more.
    pub gaps: Vec<u32>,
    /// UDP payload received in each complete step of 50 ms of the measured part, in Mbit/s.
    pub throughput_50ms_mbps: Vec<f64>,
    /// Mean of `throughput_50ms_mbps`, in Mbit/s.
    pub throughput_50ms_mean_mbps: Option<f64>,
    /// Sample standard deviation of `throughput_50ms_mbps`, in Mbit/s.
    pub throughput_50ms_sd_mbps: Option<f64>,
    /// Traces, if requested by the scenario.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traces: Option<Box<QuicTraces>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_and_throughput_cover_only_the_transfer() {
        let ms = |n| Instant::ZERO + Duration::from_millis(n);
        let us = |n| Instant::ZERO + Duration::from_micros(n);
        let (server, client) = (Addr(1), Addr(2));
        let mut r = QuicRecord::new(server, ms(0)..Instant::NEVER, Instant::NEVER, false);
        let long = LongPackets::default();
        let sent = |src, number| QuicTrace::Sent { src, number, len: 1_000, long };
        let down = |number| QuicTrace::HandedDown { number };
        let got = |src, number| QuicTrace::Received { src, number, len: 1_000, long, acked: 0 };
        // The handshake does not count.
        r.event(ms(1), down(1));
        r.event(ms(1), sent(server, 1));
        r.event(ms(2), got(server, 1));
        r.event(ms(10), QuicTrace::Established);
        for (at, number) in [(10_500, 2), (10_599, 3), (10_700, 4), (13_000, 5)] {
            r.event(us(at), down(number));
            r.event(us(at), sent(server, number));
        }
        // The sender's queue drops one. A datagram sent during the handshake and one in the opposite
        // direction do not count.
        r.event(ms(14), down(6));
        for (sent, src) in [(14, server), (1, server), (14, client)] {
            r.dropped(ms(sent), src);
        }
        r.event(ms(11), sent(client, 9));
        r.event(ms(12), got(client, 9));
        for (at, number) in [(20, 2), (70, 3), (70, 4)] {
            r.event(ms(at), got(server, number));
        }
        let window =
            |slow_start| QuicTrace::Window { cwnd: 7, in_flight: 1, srtt: Duration::ZERO, slow_start };
        for (at, slow_start) in [(30, None), (35, Some(true)), (40, Some(false)), (45, None)] {
            r.event(ms(at), window(slow_start));
        }
        r.event(ms(130), QuicTrace::Done);
        r.event(ms(140), down(7));
        r.event(ms(140), sent(server, 7));
        // One in flight at the end, and one sent after it.
        r.event(ms(141), got(server, 5));
        r.event(ms(142), got(server, 7));
        let s = r.summary(ms(500), [None; 2], 3_000);
        assert_eq!((s.done, s.established_s, s.transfer_s), (true, Some(0.01), Some(0.12)));
        assert_eq!((s.throughput_mbps, s.goodput_mbps), (Some(0.2), Some(0.2)));
        assert_eq!(
            (s.datagrams, s.datagrams_received, s.datagrams_under_way, s.datagrams_back, s.loss_percent),
            (5, 4, 0, 1, Some(20.0))
        );
        assert_eq!((s.gaps[9], s.gaps[10], s.gaps[200]), (1, 1, 1));
        assert!((s.gaps_below_100us_percent.expect("gaps") - 100.0 / 3.0).abs() < 1e-9);
        assert_eq!((s.slow_start_exit_s, s.slow_start_exit_cwnd_bytes), (Some(0.03), Some(7)));
        // Two steps, the second incomplete.
        assert_eq!(s.throughput_50ms_mbps, [0.16]);
    }
    /// A transfer from 10 ms on: 10 datagrams of 1,000 bytes per ms, each in flight for 5 ms, recorded until
    /// 100 ms.
    fn steady(measured: Range<u64>, stop: u64) -> QuicSummary {
        let ms = |n| Instant::ZERO + Duration::from_millis(n);
        let us = |n| Instant::ZERO + Duration::from_micros(n);
        let server = Addr(1);
        let mut r = QuicRecord::new(server, ms(measured.start)..ms(measured.end), ms(stop), false);
        r.event(ms(10), QuicTrace::Established);
        for n in 0..900 {
            let (at, long) = (10_000 + 100 * n, LongPackets::default());
            if at < stop * 1_000 {
                r.event(us(at), QuicTrace::HandedDown { number: n });
                r.event(us(at), QuicTrace::Sent { src: server, number: n, len: 1_000, long });
            }
            if let Some(number) = n.checked_sub(50).filter(|number| 10_000 + 100 * number < stop * 1_000) {
                r.event(us(at), QuicTrace::Received { src: server, number, len: 1_000, long, acked: 0 });
            }
        }
        r.summary(ms(100), [None; 2], 0)
    }

    /// Rates cover the measured part of the transfer. Datagrams in flight at its start or end are not lost.
    #[test]
    fn warm_up_cool_down_and_stop() {
        for (measured, stop, transfer_s, measured_s, mbps, datagrams, received) in [
            // The whole transfer: nothing arrives in the first 5 ms, and 50 datagrams are in flight at the
            // end.
            (0..200, 200, 0.09, 0.09, 8.5 / 9.0 * 80.0, 900, 850),
            (50..200, 200, 0.09, 0.05, 80.0, 500, 450),
            (50..80, 200, 0.09, 0.03, 80.0, 300, 300),
            (20..200, 60, 0.05, 0.04, 80.0, 400, 400),
            (0..200, 60, 0.05, 0.05, 72.0, 500, 500),
        ] {
            let s = steady(measured.clone(), stop);
            let near = |found: Option<f64>, right: f64| (found.expect("a number") - right).abs() < 1e-9;
            assert!(near(s.transfer_s, transfer_s) && near(s.measured_s, measured_s), "{measured:?}: {s:?}");
            assert!(near(s.throughput_mbps, mbps), "{measured:?}, {stop}: {:?}", s.throughput_mbps);
            assert_eq!((s.datagrams, s.datagrams_received), (datagrams, received), "{measured:?}, {stop}");
            assert_eq!((s.datagrams_under_way, s.loss_percent), (datagrams - received, Some(0.0)));
        }
        // A transfer that ended before the interval, or has not started, has no rate.
        let s = steady(95..200, 60);
        assert_eq!((s.measured_s, s.throughput_mbps, s.loss_percent), (Some(0.0), None, None));
    }
}
