//! Aggregates that are made when they are sent.

mod common;

use common::{cell, flow, parse, station};
use stillair_model::vocabulary::{Instant, PpduKind, Seed, Sink, TraceEvent};
use stillair_sim::world::wire;

const QUIET: &str = "band = \"5 GHz\"\nwidth = \"20 MHz\"\nbeacon_interval = \"off\"";

/// Frames of each data PPDU of a station after 100 ms, in their order.
#[derive(Default)]
struct Sizes(Vec<u16>);

impl Sink for Sizes {
    fn event(&mut self, now: Instant, what: &TraceEvent) {
        if let TraceEvent::Ppdu(t) = what
            && matches!(t.kind, PpduKind::Single | PpduKind::Aggregate)
            && now > Instant::from_nanos(100_000_000)
        {
            self.0.push(t.mpdus);
        }
    }
}

fn sizes(scheme: &str, flow_to_ap: &str) -> Vec<u16> {
    let text = cell("1 s", QUIET, "scheme = \"fifo\"")
        + &station("s", 0, &format!("rate = \"ht20-mcs15-sgi\", scheme = {scheme}"))
        + &flow("udp", "s", "ap", flow_to_ap);
    let mut world = wire(&parse(&text, &[]), Seed { seed: 1, run: 0 }, |_| Sizes::default()).world;
    world.run_until(Instant::from_nanos(1_000_000_000));
    core::mem::take(&mut world.trace_mut().0)
}

const FIRMWARE: &str = "{ kind = \"fifo\", firmware_aggregates = true }";

#[test]
fn a_burst_is_one_aggregate() {
    // Eight packets at once, every 10 ms, on an air that nobody else wants.
    let bursts = "rate = \"9.408 Mbit/s\"\nburst = 8\ngap = \"periodic\"\npayload = 1470";
    let made_before = sizes("\"fifo\"", bursts);
    assert!(
        made_before.len() > 200 && made_before.chunks(3).all(|three| three == [1, 1, 6]),
        "{made_before:?}"
    );
    let made_then = sizes(FIRMWARE, bursts);
    assert!(made_then.len() > 80 && made_then.iter().all(|&n| n == 8), "{made_then:?}");
}

#[test]
fn what_is_on_the_air_is_closed() {
    // A PPDU of eight frames takes 0.8 ms: what comes meanwhile is in the next. Two frames every 0.5 ms are all delivered, and
    // no PPDU has a frame that was not there when it began: never more than come in the time of one exchange and its wait.
    let trickle = "rate = \"47.04 Mbit/s\"\nburst = 2\ngap = \"periodic\"\npayload = 1470";
    let found = sizes(FIRMWARE, trickle);
    let sent: u32 = found.iter().map(|&n| u32::from(n)).sum();
    assert!((3_500..3_700).contains(&sent), "{sent}");
    assert!(found.iter().all(|&n| n == 2), "each pair is away before the next comes: {found:?}");
}
