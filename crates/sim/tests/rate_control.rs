//! Rate control in a world: the rates it finds, its probes, and that all packets drain.

mod common;

use common::{cell, flow, parse, station};
use stillair_model::types::{Instant, PpduKind, Seed, Sink, TraceEvent};
use stillair_sim::api::run_once;
use stillair_sim::world::wire;

const CHANNEL: &str = "band = \"5 GHz\"\nwidth = \"20 MHz\"\nbeacon_interval = \"off\"";

fn flooded(path: &str, seconds: u32) -> String {
    // The default socket buffer holds four aggregates and would leave gaps.
    let buffer = "profile = \"linux-4.6\"\nsysctl.\"net.core.wmem_default\" = 2000000";
    cell(&format!("{seconds} s"), CHANNEL, "scheme = \"airtime\"").replace("profile = \"linux-4.6\"", buffer)
        + &station("s", 0, path)
        + &flow("udp", "ap", "s", "rate = \"150 Mbit/s\"\nburst = 8\npayload = 1470")
}

/// Frames of data PPDUs sent by the access point, by kind.
#[derive(Default)]
struct Seen {
    alone: u64,
    aggregates: u64,
    frames: u64,
}

impl Sink for Seen {
    fn event(&mut self, _: Instant, what: &TraceEvent) {
        let TraceEvent::Ppdu(t) = what else { return };
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
        // The end of the chain limits aggregates to 23 frames (see `AggregateLimits`); with only MCS 15, they
        // would have 32.
        let mean = summary.stations["s"].mean_aggregate.expect("it was sent something");
        assert!((20.5..23.5).contains(&mean), "{kernel}: {mean}");
        // 90 % of a fixed rate with the same chain, MCS 15 to 7.
        let fixed = flooded("rate = \"ht20-mcs15-sgi\", retry_chain = [\"mcs15\", \"mcs7\"]", 4);
        let fixed = run_once(&parse(&fixed, &[]), Seed { seed: 1, run: 0 }).expect("accounts close");
        let share = summary.goodput_total_mbps / fixed.goodput_total_mbps;
        assert!((0.9..1.01).contains(&share), "{kernel}: {share}");
    }
}

/// Returns the goodput of a path in Mbit/s.
fn goodput(path: &str, seconds: u32) -> f64 {
    run_once(&parse(&flooded(path, seconds), &[]), Seed { seed: 1, run: 0 })
        .expect("accounts close")
        .goodput_total_mbps
}

#[test]
fn with_noise_it_is_close_to_the_best_fixed_rate() {
    // SNRs in the slopes of some rates and between them.
    for snr in [8, 14, 20, 27, 33] {
        let fixed = |mcs: u32| goodput(&format!("rate = \"ht20-mcs{mcs}-sgi\", snr = \"{snr} dB\""), 2);
        let best = (0..16).map(fixed).fold(0.0, f64::max);
        let found = goodput(&format!("rate = \"minstrel_ht\", snr = \"{snr} dB\""), 6);
        assert!(found > 0.8 * best, "{snr} dB: {found} of {best}");
    }
}

#[test]
fn with_configured_errors_it_finds_the_best_rate() {
    // Two streams never work, and with one stream only MCS 0 to 4: an error table unlike any from noise.
    let rates = |mcs: std::ops::Range<u32>| mcs.map(|n| format!("\"mcs{n}\"")).collect::<Vec<_>>().join(", ");
    let table = format!(
        "error_rate = [{{ rates = [{}], probability = 0.02, bytes = 1538 }}, {{ rates = [{}], probability = 1 }}]",
        rates(0..5),
        rates(5..16)
    );
    for kernel in ["linux-4.6", "linux-6.18"] {
        let text = flooded(&format!("rate = \"minstrel_ht\", {table}"), 4)
            .replace("profile = \"linux-4.6\"", &format!("profile = \"{kernel}\""));
        let summary = run_once(&parse(&text, &[]), Seed { seed: 1, run: 0 }).expect("accounts close");
        let rows = &summary.rc_stats["ap.wlan0 to s.wlan0"];
        let best: Vec<_> = rows.iter().filter(|r| r.best.contains('A')).map(|r| &r.rate[..]).collect();
        assert_eq!(best, ["ht20-mcs4-sgi"], "{kernel}");
    }
}

#[test]
fn probe_is_a_single_frame() {
    let text = flooded("rate = \"minstrel_ht\"", 4);
    let mut world = wire(&parse(&text, &[]), Seed { seed: 1, run: 0 }, |_| Seen::default()).world;
    world.run_until(Instant::from_nanos(4_000_000_000));
    let seen = &world.trace();
    // With a queue that never empties, only probes are sent as single frames, after the first frames.
    assert!((20..200).contains(&seen.alone), "{} alone, {} aggregates", seen.alone, seen.aggregates);
    assert!(seen.frames / seen.aggregates >= 21, "{} frames in {}", seen.frames, seen.aggregates);
}

#[test]
fn rate_control_gets_feedback_on_ppdus_that_end_a_frame() {
    // Nothing is ever received. While all frames are retried, rate control gets no feedback; when some are
    // given up, it gets feedback on those PPDUs.
    let attempts = |limit: u32| {
        let text = flooded("rate = \"minstrel_ht\", error_rate = 1.0", 1)
            .replace("scheme = \"airtime\"", &format!("scheme = \"airtime\", retry_limit = {limit}"));
        let summary = run_once(&parse(&text, &[]), Seed { seed: 1, run: 0 }).expect("accounts close");
        let tries: u64 = summary.rc_stats["ap.wlan0 to s.wlan0"].iter().map(|r| r.attempts + r.att).sum();
        let broken = summary.losses["ap.wlan0 to s.wlan0"].mpdus_broken;
        assert!(broken > 300, "{broken}");
        tries
    };
    // Frames sent before the session opens are given up immediately.
    let singles = attempts(255);
    assert!(singles < 60, "{singles}: no other frame ends on the air");
    let told = attempts(30);
    assert!(told > singles + 50, "{told}");
}

#[test]
fn stations_without_ht_have_minstrel() {
    // 802.11a at 5 GHz: the best fixed rate, and CoDel relaxed according to the expected throughput.
    for (snr, best) in [(30, "ofdm-54"), (15, "ofdm-24")] {
        let text = flooded(&format!("rate = \"minstrel\", snr = \"{snr} dB\""), 4);
        let summary = run_once(&parse(&text, &[]), Seed { seed: 1, run: 0 }).expect("accounts close");
        let rows = &summary.rc_stats["ap.wlan0 to s.wlan0"];
        let found: Vec<_> = rows.iter().filter(|r| r.best.contains('A')).map(|r| &r.rate[..]).collect();
        assert_eq!((found, rows.len()), (vec![best], 8));
        let fixed = goodput(&format!("rate = \"{best}\", snr = \"{snr} dB\""), 2);
        assert!(summary.goodput_total_mbps > 0.85 * fixed, "{} of {fixed}", summary.goodput_total_mbps);
    }
    // 802.11b and g at 2.4 GHz: the presence of 802.11b requires protection.
    let low = |path: &str| {
        flooded(path, 3).replace("band = \"5 GHz\"", "band = \"2.4 GHz\"").replace("ofdm-6", "dsss-1")
    };
    let text = low("rate = { kind = \"minstrel\", standard = \"802.11b\" }");
    let summary = run_once(&parse(&text, &[]), Seed { seed: 1, run: 0 }).expect("accounts close");
    let rows = &summary.rc_stats["ap.wlan0 to s.wlan0"];
    assert_eq!(rows.iter().map(|r| r.mode).collect::<Vec<_>>(), ["CCK"; 4]);
    assert!(rows[3].best.contains('A'), "{rows:?}");
    let scenario = parse(&low("rate = \"minstrel\""), &[]);
    let summary = run_once(&scenario, Seed { seed: 1, run: 0 }).expect("accounts close");
    assert_eq!(summary.rc_stats["s.wlan0 to ap.wlan0"].len(), 12);
    assert!(scenario.channels[0].protection.is_none() && parse(&text, &[]).channels[0].protection.is_some());
}

#[test]
fn station_may_have_its_own_uplink_rates() {
    // Frames lost downstream and upstream, and the links with rate control.
    let both = |path: &str| {
        let text = flooded(path, 2)
            + &flow("udp", "s", "ap", "rate = \"150 Mbit/s\"\npayload = 1470\nname = \"up\"");
        let summary = run_once(&parse(&text, &[]), Seed { seed: 1, run: 0 }).expect("accounts close");
        let broken = ["ap.wlan0 to s.wlan0", "s.wlan0 to ap.wlan0"]
            .map(|link| summary.losses.get(link).map_or(0, |l| l.mpdus_broken));
        (broken, summary.rc_stats.keys().cloned().collect::<Vec<_>>())
    };
    // MCS 0 is always lost and MCS 15 never: losses show the rate in use.
    let lost =
        "error_rate = [{ rates = \"mcs0\", probability = 1.0 }, { rates = \"mcs15\", probability = 0.0 }]";
    for (down, up) in [(0, 15), (15, 0)] {
        let path = format!("rate = \"ht20-mcs{down}-sgi\", uplink_rate = \"ht20-mcs{up}-sgi\", {lost}");
        let (broken, controlled) = both(&path);
        assert_eq!(broken.map(|n| n > 0), [down, up].map(|mcs| mcs == 0), "{down} {up}");
        assert!(controlled.is_empty());
    }
    let controlled = |path: &str| both(path).1;
    assert_eq!(
        controlled("rate = \"ht20-mcs3-sgi\", uplink_rate = \"minstrel_ht\""),
        ["s.wlan0 to ap.wlan0"]
    );
    assert_eq!(
        controlled("rate = \"minstrel_ht\", uplink_rate = \"ht20-mcs3-sgi\""),
        ["ap.wlan0 to s.wlan0"]
    );
    assert_eq!(controlled("rate = \"minstrel_ht\"").len(), 2);
}
