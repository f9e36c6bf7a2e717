//! Quality of a VoIP call: delay, jitter, loss, and mean opinion score (MOS).

use serde::Serialize;
use stillair_model::metrics::{emodel, flent_mos};
use stillair_model::vocabulary::Duration;

/// The worst score that a listener can give.
// spec: itu-t p.800.1 - from 1 to 5; the E-model's curve ends at 4.5.
const WORST: f64 = 1.0;

/// The record of a call after the warm-up.
#[derive(Clone, Debug, Default)]
pub struct VoipRecord {
    packets: u64,
    /// Packets that were sent between the first and the last that came, and did not come.
    lost: u64,
    /// Packets with a number more than one above that of the packet that came before them.
    gaps: u64,
    delay: Duration,
    /// Sum of the differences of successive delays, and how many.
    jitter: (Duration, u64),
    /// The highest number so far, and the delay of the packet that came last.
    last: Option<(u32, Duration)>,
    /// The number of the packet that came last.
    latest: u32,
}

/// The summary of a call.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct VoipSummary {
    /// Packets received.
    pub packets: u64,
    /// Packets lost, counted by gaps in the sequence numbers received. If no packet was received, the packets that were dropped.
    pub lost: u64,
    /// Number of gaps in the sequence numbers received, whatever their length.
    pub gaps: u64,
    /// Loss rate, 0 to 1.
    pub loss: f64,
    /// Mean one-way delay in ms of the packets received.
    pub delay_ms: Option<f64>,
    /// Jitter in ms: the mean difference between the delays of successive packets.
    pub jitter_ms: Option<f64>,
    /// Mean opinion score by the E-model.
    pub mos: f64,
    /// Mean opinion score by the formula of Flent 0.15 to 1.2.
    pub mos_flent_1_2: f64,
}

impl VoipRecord {
    /// Records a received packet.
    pub fn arrived(&mut self, seq: u32, delay: Duration) {
        // A copy that a network made is nothing new.
        if self.last.is_some_and(|(last, _)| seq == last) {
            return;
        }
        self.packets += 1;
        self.delay += delay;
        if let Some((last, before)) = self.last {
            self.gaps += u64::from(seq > self.latest + 1);
            self.jitter.0 += delay.max(before) - delay.min(before);
            self.jitter.1 += 1;
            if seq > last {
                self.lost += u64::from(seq - last - 1);
            } else {
                // It was counted as lost when the one behind it came.
                self.lost = self.lost.saturating_sub(1);
            }
        }
        self.latest = seq;
        self.last = Some((self.last.map_or(seq, |(last, _)| last.max(seq)), delay));
    }

    /// The summary of the call, of which `dropped` packets were dropped. `None` if no packet was received and none was dropped.
    ///
    /// The delay used for the score is the mean delay plus twice the mean jitter, which stands for a jitter buffer. A call without received packets
    /// has the lowest score.
    // paper: ending-the-anomaly sec. 4.2.1 - E-model from delay, jitter and loss; the sum is Flent's, its tool. Until November 2017
    // (version 1.2, d4dd745) Flent took for the loss how many gaps there were, over the packets that came.
    pub fn summary(&self, dropped: u64) -> Option<VoipSummary> {
        let Self { packets, gaps, .. } = *self;
        if packets == 0 {
            let (mos, mos_flent_1_2) = (WORST, WORST);
            let (delay_ms, jitter_ms, lost, loss) = (None, None, dropped, 1.0);
            let none = VoipSummary { packets, lost, gaps, loss, delay_ms, jitter_ms, mos, mos_flent_1_2 };
            return (dropped > 0).then_some(none);
        }
        let mean = |sum: Duration, n: u64| sum.micros_f64() / 1e3 / n.max(1) as f64;
        let (delay, jitter) = (mean(self.delay, packets), mean(self.jitter.0, self.jitter.1));
        let loss = self.lost as f64 / (packets + self.lost) as f64;
        let with_buffer = delay + 2.0 * jitter;
        let mos = emodel::mos(with_buffer, loss);
        let mos_flent_1_2 = flent_mos::mos(with_buffer, gaps as f64 / packets as f64);
        let (delay_ms, jitter_ms, lost) = (Some(delay), Some(jitter), self.lost);
        Some(VoipSummary { packets, lost, gaps, loss, delay_ms, jitter_ms, mos, mos_flent_1_2 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(packets: &[(u32, u64)]) -> Option<VoipSummary> {
        let mut record = VoipRecord::default();
        packets.iter().for_each(|&(seq, ms)| record.arrived(seq, Duration::from_millis(ms)));
        record.summary(0)
    }

    #[test]
    fn delay_jitter_and_loss() {
        for (packets, lost, gaps, delay, jitter) in [
            (&[(7, 10)][..], 0, 0, 10.0, 0.0),
            (&[(7, 10), (8, 14), (9, 12)], 0, 0, 12.0, 3.0),
            // What was sent before the first that came is nothing to this call.
            (&[(7, 10), (10, 10)], 2, 1, 10.0, 0.0),
            (&[(7, 10), (7, 30), (8, 10)], 0, 0, 10.0, 0.0),
            // One that came late was not lost; before and behind it there is a gap.
            (&[(7, 10), (10, 10), (8, 50), (11, 10)], 1, 2, 20.0, 80.0 / 3.0),
        ] {
            let s = call(packets).expect("a call");
            let copies = packets.windows(2).filter(|pair| pair[0].0 == pair[1].0).count();
            let n = (packets.len() - copies) as f64;
            assert_eq!((s.packets, s.lost, s.loss), (n as u64, lost, lost as f64 / (n + lost as f64)));
            assert_eq!(s.gaps, gaps);
            assert_eq!(s.mos_flent_1_2, flent_mos::mos(delay + 2.0 * jitter, gaps as f64 / n));
            let near = |is: Option<f64>, right: f64| is.is_some_and(|is| (is - right).abs() < 1e-9);
            assert!(near(s.delay_ms, delay) && near(s.jitter_ms, jitter), "{s:?}");
            assert_eq!(s.mos, emodel::mos(delay + 2.0 * jitter, s.loss));
        }
        assert_eq!(call(&[]), None);
    }

    #[test]
    fn a_call_of_which_nothing_comes() {
        let s = VoipRecord::default().summary(7).expect("packets were dropped");
        assert_eq!((s.packets, s.lost, s.loss, s.delay_ms, s.jitter_ms), (0, 7, 1.0, None, None));
        assert_eq!((s.mos, s.mos_flent_1_2), (1.0, 1.0));
    }
}
