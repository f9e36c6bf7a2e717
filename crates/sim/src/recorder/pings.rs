//! Ping requests: sent, answered and lost, and round-trip times.

use serde::Serialize;

use super::latencies::Latencies;

/// Counters of the requests that a ping sent in the measurement interval.
#[derive(Clone, Copy, Debug, Default)]
pub struct PingRecord {
    sent: u64,
    /// First sequence number, and one past the last.
    numbers: [u32; 2],
    /// Replies to these requests, whenever they arrive.
    received: u64,
    /// Sequence number of the last reply.
    last: Option<u32>,
    /// Dropped requests and replies.
    dropped: u64,
}

impl PingRecord {
    /// Records a request sent in the measurement interval.
    pub fn asked(&mut self, seq: u32) {
        if self.sent == 0 {
            self.numbers[0] = seq;
        }
        self.numbers[1] = seq + 1;
        self.sent += 1;
    }

    /// Returns the number of requests.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Records a reply. Ignores a duplicate of the last reply.
    #[inline]
    pub fn answered(&mut self, seq: u32) {
        // Duplicates made by a network do not count.
        if self.is_of_them(seq) && self.last != Some(seq) {
            self.received += 1;
            self.last = Some(seq);
        }
    }

    /// Records a dropped request or reply.
    #[inline]
    pub fn dropped(&mut self, seq: u32) {
        self.dropped += u64::from(self.is_of_them(seq));
    }

    fn is_of_them(&self, seq: u32) -> bool {
        (self.numbers[0]..self.numbers[1]).contains(&seq)
    }
}

/// Summary of one ping over ICMP or UDP. Percentiles, mean and maximum cover the replies received in the
/// measurement interval.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct PingSummary {
    /// Requests sent in the measurement interval.
    pub sent: u64,
    /// Requests answered before the end of the run.
    pub received: u64,
    /// Requests that were dropped, or whose replies were dropped.
    pub lost: u64,
    /// Loss rate: lost requests divided by answered and lost ones, 0 to 1. Requests in flight at the end of
    /// the run do not count.
    pub loss: Option<f64>,
    /// Replies received in the measurement interval.
    pub replies: u64,
    /// Median round-trip time in ms.
    pub median_ms: Option<f64>,
    /// 95th percentile of the round-trip time in ms.
    pub p95_ms: Option<f64>,
    /// 99th percentile of the round-trip time in ms.
    pub p99_ms: Option<f64>,
    /// Mean round-trip time in ms.
    pub mean_ms: Option<f64>,
    /// Maximum round-trip time in ms.
    pub longest_ms: Option<f64>,
}

impl PingSummary {
    /// Creates the summary of a ping with these round-trip times.
    pub(super) fn new(record: &PingRecord, times: &[Latencies]) -> Self {
        let RoundTrips { replies, median_ms, p95_ms, p99_ms, mean_ms, longest_ms } =
            RoundTrips::of(times.iter());
        let &PingRecord { sent, received, dropped, .. } = record;
        // A duplicate that arrives after another reply counts twice, because replies are not tracked
        // individually.
        let received = received.min(sent);
        // The dropped packet may be a duplicate of one that arrived.
        let lost = dropped.min(sent - received);
        let known = received + lost;
        let loss = (known > 0).then(|| lost as f64 / known as f64);
        Self { sent, received, lost, loss, replies, median_ms, p95_ms, p99_ms, mean_ms, longest_ms }
    }
}

/// Round-trip times of one or several pings, in ms.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoundTrips {
    pub(super) replies: u64,
    pub(super) median_ms: Option<f64>,
    pub(super) p95_ms: Option<f64>,
    pub(super) p99_ms: Option<f64>,
    pub(super) mean_ms: Option<f64>,
    pub(super) longest_ms: Option<f64>,
}

impl RoundTrips {
    pub(super) fn of<'a>(times: impl Iterator<Item = &'a Latencies>) -> Self {
        let mut rtts = Latencies::default();
        times.for_each(|times| rtts.extend(times));
        let quantiles = rtts.quantiles_ns([0.5, 0.95, 0.99, 1.0]);
        let [median_ms, p95_ms, p99_ms, longest_ms] =
            quantiles.map_or([None; 4], |all| all.map(|ns| Some(ns / 1e6)));
        let mean_ms = rtts.mean_ns().map(|ns| ns / 1e6);
        Self { replies: rtts.count(), median_ms, p95_ms, p99_ms, mean_ms, longest_ms }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sent_answered_lost_and_in_flight() {
        let mut record = PingRecord::default();
        // Number 3 was sent before the measurement interval; neither its reply nor its loss counts.
        record.answered(3);
        record.dropped(3);
        (4..10).for_each(|seq| record.asked(seq));
        record.answered(4);
        record.answered(4);
        record.dropped(4);
        record.dropped(5);
        record.answered(7);
        record.dropped(9);
        record.answered(10);
        let s = PingSummary::new(&record, &[]);
        // The drop of a duplicate of number 4 is indistinguishable from the loss of number 6, which is in
        // flight like number 8.
        assert_eq!((s.sent, s.received, s.lost, s.loss), (6, 2, 3, Some(0.6)));
        assert_eq!((s.replies, s.median_ms, s.mean_ms), (0, None, None));
        // Duplicates overtaking other replies: the number of answered requests does not exceed those sent.
        let mut record = PingRecord::default();
        (0..2).for_each(|seq| record.asked(seq));
        [0, 1, 0].into_iter().for_each(|seq| record.answered(seq));
        let s = PingSummary::new(&record, &[]);
        assert_eq!((s.sent, s.received, s.lost), (2, 2, 0));
        let none = PingSummary::new(&PingRecord::default(), &[]);
        assert_eq!((none.sent, none.lost, none.loss), (0, 0, None));
    }
}
