//! An AQM algorithm: the chance that a packet is marked, or dropped if it cannot be, rises with the time that
//! it has waited.

use stillair_cli::model::aqm::algorithm::{AqmAlgorithm, Seen, Verdict};
use stillair_cli::model::types::{Duration, RandomStream};

/// The AQM of one queue.
#[derive(Debug)]
pub struct Ramp {
    /// No packet that has waited for less is marked.
    low: Duration,
    /// Each that has waited for more is.
    high: Duration,
    random: RandomStream,
    marked: u64,
}

impl Ramp {
    pub fn new(low: Duration, high: Duration, random: RandomStream) -> Self {
        Self { low, high, random, marked: 0 }
    }

    /// The chance of a packet that has waited so long.
    fn chance(&self, waited: Duration) -> f64 {
        let above = waited.saturating_sub(self.low).nanos() as f64;
        let range = self.high.saturating_sub(self.low).nanos().max(1) as f64;
        (above / range).min(1.0)
    }
}

impl AqmAlgorithm for Ramp {
    fn leaves(&mut self, seen: &Seen) -> Verdict {
        let chance = self.chance(seen.sojourn);
        // The last packet of a queue is what its sender learns of the queue's end by.
        if seen.queued_packets == 0 || chance == 0.0 || !self.random.chance(chance) {
            return Verdict::Pass;
        }
        self.marked += 1;
        Verdict::Mark
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![("marked", self.marked)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stillair_cli::model::types::Seed;

    #[test]
    fn the_chance_rises_between_low_and_high() {
        let ms = Duration::from_millis;
        let ramp = Ramp::new(ms(5), ms(25), Seed { seed: 1, run: 0 }.stream("ramp"));
        assert_eq!([0, 5, 10, 15, 25, 99].map(|n| ramp.chance(ms(n))), [0.0, 0.0, 0.25, 0.5, 1.0, 1.0]);
    }
}
