//! Idle time on the air after a PPDU: after a collision, and within a TXOP.

mod common;

use common::{cell, flow, parse, station};
use stillair_model::types::{Duration, Instant, PpduKind, Seed, Sink, TraceEvent};
use stillair_sim::scenario::Scenario;
use stillair_sim::world;

/// Shortest time from the end of a PPDU to the start of the next, after collisions and after acknowledged
/// aggregates.
#[derive(Default)]
struct Gaps {
    /// End and start of the last PPDU, true if it collided, and its kind.
    last: Option<(Instant, Instant, bool, PpduKind)>,
    collided: Option<Duration>,
    answered: Option<Duration>,
}

impl Sink for Gaps {
    fn event(&mut self, _: Instant, what: &TraceEvent) {
        let TraceEvent::Ppdu(t) = what else { return };
        let end = t.start + t.airtime;
        let mut until = end;
        if let Some((last_end, start, collided, kind)) = self.last {
            if start == t.start {
                // They overlap: the longest one counts.
                until = end.max(last_end);
            } else {
                let gap = t.start - last_end;
                let shortest = match (collided, kind) {
                    (true, _) => &mut self.collided,
                    (false, PpduKind::Aggregate) => &mut self.answered,
                    (false, _) => return self.last = Some((until, t.start, t.collided, t.kind)),
                };
                *shortest = Some(shortest.map_or(gap, |s| s.min(gap)));
            }
        }
        self.last = Some((until, t.start, t.collided, t.kind));
    }
}

fn gaps(text: &str) -> Gaps {
    let scenario: Scenario = parse(text, &[]);
    let mut wired = world::wire(&scenario, Seed { seed: 1, run: 0 }, |_| Gaps::default());
    let end = Instant::ZERO + scenario.duration;
    wired.world.run_until(end);
    wired.world.close(end).expect("accounts close");
    wired.world.into_trace()
}

const RATE: &str = "rate = \"ht40-mcs7-sgi\"";
const QUIET: &str = "band = \"2.4 GHz\"\nwidth = \"40 MHz\"\nbeacon_interval = \"off\"";

#[test]
fn senders_wait_for_the_response_and_listeners_longer() {
    // SIFS 10 us and three slots of 9 us, with a backoff of 0; before that, a slot and 20 us, or the duration
    // of an ACK at 1 Mbit/s.
    for (listeners, quiet) in [(0, 37 + 29), (1, 37 + 314)] {
        let busy = |from: &str, to: &str| {
            flow("udp", from, to, "rate = \"40 Mbit/s\"\npayload = 1472\nburst = 8").repeat(2)
        };
        let text = cell("4 s", QUIET, "scheme = \"fifo\"")
            + &station("s", 0, RATE)
            + &(0..listeners).map(|n| station("silent", n + 1, RATE)).collect::<String>()
            + &busy("s", "ap")
            + &busy("ap", "s");
        assert_eq!(gaps(&text).collided, Some(Duration::from_micros(quiet)), "{listeners}");
    }
}

#[test]
fn txop_continues_with_frames_in_the_hardware() {
    // Video: SIFS and a Block Ack of 38 us, then SIFS if a second aggregate was ready, plus two slots if the
    // hardware holds only one.
    for (scheme, gap) in [("fifo", 10 + 38 + 10), ("ath9k_htc", 10 + 38 + 10 + 2 * 9)] {
        let text = cell("1 s", QUIET, "scheme = \"fifo\"")
            + &station("s", 0, &format!("{RATE}, scheme = \"{scheme}\""))
            + &flow("udp", "s", "ap", "rate = \"20 Mbit/s\"\npayload = 200\nburst = 32\ndscp = \"CS5\"")
                .repeat(4);
        assert_eq!(gaps(&text).answered, Some(Duration::from_micros(gap)), "{scheme}");
    }
}
