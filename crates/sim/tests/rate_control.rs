//! Rate control in a world: what it finds, what its probes look like, and that all drains.

mod common;

use common::{cell, flow, parse, station};
use stillair_model::vocabulary::{Instant, PpduKind, Seed, Sink, Trace};
use stillair_sim::api::run_once;
use stillair_sim::world::wire;

const CHANNEL: &str = "band = \"5 GHz\"\nwidth = \"20 MHz\"\nbeacon_interval = \"off\"";

fn flooded(path: &str, seconds: u32) -> String {
    // The default buffer of a socket holds four aggregates and would leave gaps.
    let buffer = "profile = \"linux-4.6\"\nsysctl.\"net.core.wmem_default\" = 2000000";
    cell(&format!("{seconds} s"), CHANNEL, "scheme = \"airtime\"").replace("profile = \"linux-4.6\"", buffer)
        + &station("s", 0, path)
        + &flow("udp", "ap", "s", "rate = \"150 Mbit/s\"\nburst = 8\npayload = 1470")
}

/// Frames of data PPDUs that the access point sent, by kind.
#[derive(Default)]
struct Seen {
    alone: u64,
    aggregates: u64,
    frames: u64,
}

impl Sink for Seen {
    fn event(&mut self, _: Instant, what: &Trace) {
        let Trace::Ppdu(t) = what else { return };
        match t.kind {
            PpduKind::Single => self.alone += 1,
            PpduKind::Aggregate => {
                self.aggregates += 1;
                self.frames += u64::from(t.mpdus);
            }
            _ => {}
        }
    }
}

#[test]
fn a_link_without_errors_ends_at_the_fastest_rate() {
    for kernel in ["linux-4.6", "linux-6.18"] {
        let text = flooded("rate = \"minstrel_ht\"", 4)
            .replace("profile = \"linux-4.6\"", &format!("profile = \"{kernel}\""));
        let summary = run_once(&parse(&text, &[]), Seed { seed: 1, run: 0 }).expect("accounts close");
        let rows = &summary.rc_stats["ap.wlan0 to s.wlan0"];
        let best: Vec<_> = rows.iter().filter(|r| r.best.contains(['A', 'P'])).map(|r| &r.rate[..]).collect();
        assert_eq!(best, ["ht20-mcs7-sgi", "ht20-mcs15-sgi"], "{kernel}");
        // The end of the chain holds aggregates of 23 frames (see `AggregateLimits`); 32 would be sent at MCS 15 alone.
        let mean = summary.stations["s"].mean_aggregate.expect("it was sent something");
        assert!((20.5..23.5).contains(&mean), "{kernel}: {mean}");
        // 90 % of a fixed rate with the same chain, MCS 15 to 7.
        let fixed = flooded("rate = \"ht20-mcs15-sgi\", retry_chain = [\"mcs15\", \"mcs7\"]", 4);
        let fixed = run_once(&parse(&fixed, &[]), Seed { seed: 1, run: 0 }).expect("accounts close");
        let share = summary.goodput_total_mbps / fixed.goodput_total_mbps;
        assert!((0.9..1.01).contains(&share), "{kernel}: {share}");
    }
}

/// Goodput of a path in Mbit/s.
fn goodput(path: &str, seconds: u32) -> f64 {
    run_once(&parse(&flooded(path, seconds), &[]), Seed { seed: 1, run: 0 })
        .expect("accounts close")
        .goodput_total_mbps
}

#[test]
fn by_noise_it_comes_near_the_best_fixed_rate() {
    // Ratios in the slopes of some rates and between them.
    for snr in [8, 14, 20, 27, 33] {
        let fixed = |mcs: u32| goodput(&format!("rate = \"ht20-mcs{mcs}-sgi\", snr = \"{snr} dB\""), 2);
        let best = (0..16).map(fixed).fold(0.0, f64::max);
        let found = goodput(&format!("rate = \"minstrel_ht\", snr = \"{snr} dB\""), 6);
        assert!(found > 0.8 * best, "{snr} dB: {found} of {best}");
    }
}

#[test]
fn a_probe_goes_alone() {
    let text = flooded("rate = \"minstrel_ht\"", 4);
    let mut world = wire(&parse(&text, &[]), Seed { seed: 1, run: 0 }, |_| Seen::default()).world;
    world.run_until(Instant::from_nanos(4_000_000_000));
    let seen = &world.trace;
    // With a queue that never empties nothing but a probe is sent alone, beside the first frames.
    assert!((20..200).contains(&seen.alone), "{} alone, {} aggregates", seen.alone, seen.aggregates);
    assert!(seen.frames / seen.aggregates >= 21, "{} frames in {}", seen.frames, seen.aggregates);
}
