//! VoIP call quality: delay, jitter, loss, and mean opinion score (MOS).

use serde::Serialize;
use stillair_model::app::Due;
use stillair_model::metrics::{emodel, flent_mos};
use stillair_model::types::{Duration, Instant};

use super::Delays;
use super::datagrams::Fates;

/// Worst score that a listener can give.
// spec: itu-t p.800.1 - from 1 to 5; the E-model's curve ends at 4.5.
const WORST: f64 = 1.0;

/// One-way delay in ms beyond which packets not yet received count as lost, for a call without a delay of its
/// own.
// spec: itu-t g.114 (05/2003) 4 - no network should exceed 400 ms one way.
const TOO_LATE_MS: f64 = 400.0;

/// Record of a call's packets that were due in the measurement interval.
#[derive(Clone, Debug, Default)]
pub struct VoipRecord {
    packets: u64,
    /// Packets whose number is more than one above that of the previously received packet.
    gaps: u64,
    delay: Duration,
    /// Sum of the differences between successive delays, and their number.
    jitter: (Duration, u64),
    /// Number and delay of the last packet received.
    last: Option<(u32, Duration)>,
    /// Delays of the packets received.
    delays: Delays,
}

/// Summary of a call. Covers the packets due in the measurement interval.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct VoipSummary {
    /// Packets due.
    pub due: u64,
    /// Packets received by the end of the run.
    pub packets: u64,
    /// Packets dropped in the network or skipped by the sender.
    pub lost: u64,
    /// Lost packets that the sender skipped because its socket was full.
    pub skipped: u64,
    /// Packets neither received nor lost at the end of the run.
    pub under_way: u64,
    /// Gaps in the received sequence numbers, whatever their length.
    pub gaps: u64,
    /// Loss rate: lost packets divided by those due, 0 to 1. Late packets are not included.
    pub loss: f64,
    /// Packets too late for the playout delay, divided by those due, 0 to 1.
    pub late: f64,
    /// Playout delay of the de-jitter buffer in ms, counted from a packet's due time: the fixed delay with
    /// the best rating.
    pub playout_ms: Option<f64>,
    /// Mean one-way delay of the received packets, in ms.
    pub delay_ms: Option<f64>,
    /// Jitter in ms: mean difference between the delays of successive packets.
    pub jitter_ms: Option<f64>,
    /// Mean opinion score by the E-model, after the de-jitter buffer.
    pub mos: f64,
    /// Mean opinion score by the formula of Flent 0.15 to 1.2.
    pub mos_flent_1_2: f64,
}

/// Ages of the packets in flight at the end of the run: the age of the youngest in ms, one interval more for
/// each further packet.
#[derive(Clone, Copy, Debug, Default)]
struct Ages {
    packets: u64,
    youngest_ms: f64,
    interval_ms: f64,
}

impl Ages {
    /// Computes the ages, assuming that the packets due last are in flight.
    // deviation: a packet dropped after one still in flight counts as older.
    fn new(packets: u64, due: &Due, end: Instant) -> Self {
        let ms = |d: Duration| d.micros_f64() / 1e3;
        due.last.map_or(Self::default(), |(last, interval)| Self {
            packets,
            youngest_ms: ms(end.saturating_since(last)),
            interval_ms: ms(interval),
        })
    }

    /// Returns the number of packets of at most this age.
    fn within(self, ms: f64) -> u64 {
        if self.packets == 0 || ms < self.youngest_ms {
            return 0;
        }
        self.packets.min(((ms - self.youngest_ms) / self.interval_ms) as u64 + 1)
    }
}

impl VoipRecord {
    /// Records a received packet. Duplicates are not passed to this function.
    pub fn arrived(&mut self, seq: u32, delay: Duration) {
        self.packets += 1;
        self.delay += delay;
        self.delays.add(delay);
        if let Some((last, before)) = self.last {
            self.gaps += u64::from(seq > last + 1);
            self.jitter.0 += delay.max(before) - delay.min(before);
            self.jitter.1 += 1;
        }
        self.last = Some((seq, delay));
    }

    /// Returns the summary of a call in a run that ends at `end`. `None` if none of its packets has an
    /// outcome yet.
    ///
    /// The E-model score assumes a de-jitter buffer with the best fixed playout delay: the delay is the same
    /// for each packet, and later packets count as lost. The score by Flent's formula uses the mean delay
    /// plus twice the mean jitter. A call without received packets has the lowest scores.
    // spec: itu-t g.107 7.4, 7.5 - Ta is the mouth-to-ear delay, Ppl the loss after the de-jitter buffer.
    // deviation: excludes the packetisation time of 20 ms and the codec's own delay.
    // paper: ending-the-anomaly sec. 4.2.1 - E-model from delay, jitter and loss; the sum is that of Flent,
    // the tool used. Until November 2017 (version 1.2, d4dd745), Flent took as loss the number of gaps
    // divided by the number of received packets.
    pub(super) fn summary(&self, fates: Fates, sent: &Due, end: Instant) -> Option<VoipSummary> {
        let Fates { due, received: packets, lost, under_way } = fates;
        let ages = Ages::new(under_way, sent, end);
        let loss = fates.loss()?;
        let mut summary = VoipSummary {
            due,
            packets,
            lost,
            skipped: sent.unsent,
            under_way,
            gaps: self.gaps,
            loss,
            late: 0.0,
            playout_ms: None,
            delay_ms: None,
            jitter_ms: None,
            mos: WORST,
            mos_flent_1_2: WORST,
        };
        if packets == 0 {
            let late = under_way - ages.within(TOO_LATE_MS);
            summary.late = late as f64 / due as f64;
            return (lost + late > 0).then_some(summary);
        }
        let mean = |sum: Duration, n: u64| sum.micros_f64() / 1e3 / n.max(1) as f64;
        let (delay, jitter) = (mean(self.delay, self.packets), mean(self.jitter.0, self.jitter.1));
        let missing = |playout: f64, in_time: u64| {
            // Packets in flight that may still be in time are excluded.
            let known = due - ages.within(playout);
            (known.saturating_sub(in_time)) as f64 / known.max(1) as f64
        };
        let rated = self.delays.bounds().map(|(playout, in_time)| {
            let missing = missing(playout, in_time);
            (emodel::rating(playout, missing), playout, missing, in_time)
        });
        // If two playout delays have the same rating, the shorter one is used.
        let best = rated.reduce(|best, one| if one.0 > best.0 { one } else { best });
        if let Some((_, playout, missing, in_time)) = best {
            let late = packets.saturating_sub(in_time) + under_way - ages.within(playout);
            (summary.playout_ms, summary.late) = (Some(playout), late as f64 / due as f64);
            summary.mos = emodel::mos(playout, missing);
        }
        summary.mos_flent_1_2 = flent_mos::mos(delay + 2.0 * jitter, self.gaps as f64 / self.packets as f64);
        (summary.delay_ms, summary.jitter_ms) = (Some(delay), Some(jitter));
        Some(summary)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const INTERVAL: Duration = Duration::from_millis(20);

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(n)
    }

    /// A call of `due` packets, the first due at zero. `received` holds number and delay in ms; `dropped`
    /// packets are lost in the network, `skipped` at the sender. The run ends `rest` ms after the last packet
    /// was due.
    fn call(
        due: u64,
        packets: &[(u32, u64)],
        (dropped, skipped): (u64, u64),
        rest: u64,
    ) -> Option<VoipSummary> {
        let mut record = VoipRecord::default();
        packets.iter().for_each(|&(seq, ms)| record.arrived(seq, Duration::from_millis(ms)));
        let last = ms(20 * due.saturating_sub(1));
        let sent = Due { datagrams: due, unsent: skipped, last: Some((last, INTERVAL)) };
        let (received, lost) = (packets.len() as u64, dropped + skipped);
        let fates = Fates { due, received, lost, under_way: due - received - lost };
        record.summary(fates, &sent, last + Duration::from_millis(rest))
    }

    #[test]
    fn delay_jitter_loss_and_gaps() {
        for (packets, due, gaps, delay, jitter) in [
            (&[(7, 10)][..], 1, 0, 10.0, 0.0),
            (&[(7, 10), (8, 14), (9, 12)], 3, 0, 12.0, 3.0),
            (&[(7, 10), (10, 10)], 4, 1, 10.0, 0.0),
            // A late packet is not lost, but leaves gaps before and after it.
            (&[(7, 10), (10, 10), (8, 50), (11, 10)], 5, 2, 20.0, 80.0 / 3.0),
        ] {
            let n = packets.len() as u64;
            let s = call(due, packets, (due - n, 0), 0).expect("a call");
            assert_eq!((s.packets, s.lost, s.loss), (n, due - n, (due - n) as f64 / due as f64));
            assert_eq!(s.gaps, gaps);
            assert_eq!(s.mos_flent_1_2, flent_mos::mos(delay + 2.0 * jitter, gaps as f64 / n as f64));
            let near = |is: Option<f64>, right: f64| is.is_some_and(|is| (is - right).abs() < 1e-9);
            assert!(near(s.delay_ms, delay) && near(s.jitter_ms, jitter), "{s:?}");
        }
        assert_eq!(call(0, &[], (0, 0), 1000), None);
    }

    #[test]
    fn the_playout_delay_with_the_best_rating() {
        let with = |late: u32, delay: u64| {
            (1..=1000).map(move |seq| (seq, if seq <= late { delay } else { 10 })).collect::<Vec<_>>()
        };
        for (late, delay, waits, mos) in [
            // A delay of 60 ms is better than losing 10 %; 5 s of delay is not worth 1 %.
            (100, 60, true, 4.37),
            (10, 5_000, false, 3.82),
            // 8.3 % delayed by up to 5 s: the call is bad with any buffer.
            (83, 5_000, false, 1.6),
        ] {
            let s = call(1000, &with(late, delay), (0, 0), 10_000).expect("a call");
            let playout = s.playout_ms.expect("a playout delay");
            assert!((playout / if waits { delay as f64 } else { 10.0 } - 1.0).abs() < 0.02, "{s:?}");
            assert_eq!((s.late, s.loss), (if waits { 0.0 } else { f64::from(late) / 1000.0 }, 0.0));
            assert!((s.mos - mos).abs() < 0.06, "{s:?}");
        }
    }

    #[test]
    fn missing_packets_are_lost_late_or_unknown() {
        let half: Vec<_> = (1..=500).map(|seq| (seq, 10)).collect();
        // Lost in the network, skipped, or queued until the end: the same score.
        for (dropped, skipped, late) in [(500, 0, 0.0), (100, 400, 0.0), (0, 0, 0.5)] {
            let s = call(1000, &half, (dropped, skipped), 1_000).expect("a call");
            assert_eq!(
                (s.lost, s.skipped, s.under_way),
                (dropped + skipped, skipped, 500 - dropped - skipped)
            );
            assert_eq!((s.loss, s.late), ((dropped + skipped) as f64 / 1000.0, late));
            assert!(s.mos < 1.05, "{s:?}");
        }
        // The last packet is 5 ms old at the end, less than the delay of all others.
        let most: Vec<_> = (1..=999).map(|seq| (seq, 10)).collect();
        let s = call(1000, &most, (0, 0), 5).expect("a call");
        assert_eq!((s.loss, s.late, s.under_way), (0.0, 0.0, 1));
        assert!(s.mos > 4.4, "{s:?}");
    }

    #[test]
    fn call_without_received_packets() {
        let s = call(7, &[], (7, 0), 0).expect("packets were dropped");
        assert_eq!(
            (s.packets, s.lost, s.loss, s.late, s.delay_ms, s.jitter_ms),
            (0, 7, 1.0, 0.0, None, None)
        );
        assert_eq!((s.mos, s.mos_flent_1_2, s.playout_ms), (1.0, 1.0, None));
        // Packets aged 0, 20, ..., 980 ms are queued at the end, 29 of them for more than 400 ms.
        let s = call(50, &[], (0, 0), 0).expect("packets wait");
        assert_eq!((s.loss, s.late, s.mos), (0.0, 29.0 / 50.0, 1.0));
        assert_eq!(call(5, &[], (0, 0), 0), None);
    }

    proptest! {
        /// More loss or more delay never improves the score, and no fixed buffer beats the chosen one.
        #[test]
        fn chosen_buffer_is_the_best(delays in prop::collection::vec(0_u64..3_000, 1..60), lost in 0_u64..30) {
            let packets: Vec<_> = (1..).zip(delays.iter().copied()).collect();
            let due = packets.len() as u64 + lost;
            let s = call(due, &packets, (lost, 0), 5_000).expect("a call");
            for &(_, delay) in &packets {
                let in_time = delays.iter().filter(|other| **other <= delay).count() as u64;
                let by_hand = emodel::mos(delay as f64, (due - in_time) as f64 / due as f64);
                // Buckets are 1/64 of their octave wide.
                prop_assert!(s.mos >= by_hand - 0.05, "{} {by_hand}", s.mos);
            }
            if lost > 0 {
                let fewer = call(due - 1, &packets, (lost - 1, 0), 5_000).expect("a call");
                // Ratings just above zero map to a score slightly below the minimum.
                prop_assert!(fewer.mos >= s.mos - 0.02);
            }
            let slower: Vec<_> = packets.iter().map(|(seq, delay)| (*seq, 2 * delay + 1)).collect();
            prop_assert!(call(due, &slower, (lost, 0), 10_000).expect("a call").mos <= s.mos + 0.05);
        }
    }
}
