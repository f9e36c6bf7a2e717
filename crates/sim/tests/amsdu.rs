//! A-MSDUs that firmware makes: what they are worth, and what a lost one costs.

mod common;

use std::collections::BTreeMap;

use common::{cell, flow, of, parse, run, station};
use stillair_model::vocabulary::{FrameView, Instant, Seed, Sink, TraceEvent};
use stillair_sim::world::wire;

/// An access point with a station on a channel of 80 MHz, both with this scheme, and a flow that fills it.
fn flooded(scheme: &str, station_scheme: &str, rate: &str, more: &str) -> String {
    let buffer = "profile = \"linux-6.6\"\nsysctl.\"net.core.wmem_default\" = 8000000";
    let channel = "band = \"5 GHz\"\nwidth = \"80 MHz\"\nbeacon_interval = \"off\"";
    cell("1 s", channel, &format!("scheme = {scheme}")).replace("profile = \"linux-4.6\"", buffer)
        + &station("s", 0, &format!("rate = \"{rate}\", scheme = {station_scheme}{more}"))
        + &flow("udp", "ap", "s", "rate = \"1500 Mbit/s\"\nburst = 64\npayload = 1470")
}

/// A datagram of 1,470 bytes is 1,520 in an A-MSDU, without padding; n of them are an MPDU of 30 + 1,520 n. A PPDU has a window of those, 64
/// or in HE 256, or what 5,484 us hold. Beside it SIFS 16, Block Ack 32 or 40, AIFS 43 and a back-off of 67.5 us.
#[test]
fn goodput_follows_the_length_of_the_exchange() {
    const VHT: &str = "vht80-mcs9-nss2-sgi";
    const HE: &str = "he80-mcs11-nss2-gi0.8";
    // By rate: bits and time of a symbol, the preamble, and what a PPDU lasts a multiple of, in ns.
    let ideal = |rate: &str, n: u64| {
        let (bits, symbol, preamble, grid) =
            if rate == VHT { (3_120, 3_600, 44_000, 4_000) } else { (16_333, 13_600, 50_400, 100) };
        let mpdu = if n == 1 { 1_536 } else { 30 + 1_520 * n };
        let psdu = |frames: u64| (frames - 1) * (4 + mpdu).next_multiple_of(4) + 4 + mpdu;
        let took =
            |frames| preamble + ((8 * psdu(frames) + 28).div_ceil(bits) * symbol).next_multiple_of(grid);
        let (window, around) = if rate == VHT { (64, 158_500) } else { (256, 166_500) };
        let frames = (1..=window).rfind(|&frames| took(frames) <= 5_484_000).expect("one frame fits");
        let mbps = (frames * n * 1_470 * 8 * 1_000) as f64 / (took(frames) + around) as f64;
        (frames as f64, mbps)
    };
    #[rustfmt::skip]
    let table = [
        // scheme                                     station     rate packets
        ("{ kind = \"ath10k\", amsdu_frames = 1 }",  "\"ath10k\"", VHT, 1),
        ("\"ath10k\"",                               "\"ath10k\"", VHT, 3),
        ("\"ath10k\"",                               "\"fifo\"",   VHT, 2), // 3,895 bytes
        ("{ kind = \"mt76\", amsdu_frames = 1 }",    "\"mt76\"",   HE,  1),
        ("\"mt76\"",                                 "\"mt76\"",   HE,  5), // 7,991 bytes
        ("{ kind = \"mt76\", amsdu_bytes = 4000 }",  "\"mt76\"",   HE,  2),
        ("\"ath11k\"",                               "\"ath11k\"", HE,  4),
    ];
    for (scheme, station, rate, packets) in table {
        let text = flooded(scheme, station, rate, "");
        let report = run(&parse(&text, &[("warm_up", "200 ms")]), 0);
        let found = report.goodput_total_mbps;
        let (frames, want) = ideal(rate, packets);
        assert!((found / want - 1.0).abs() < 0.01, "{scheme} {station}: {found} for {want}");
        let mean = of(&report, "s").mean_aggregate.expect("it was sent something");
        assert!(mean > 0.97 * frames, "{scheme} {station}: {mean} frames of {frames}");
    }
}

/// Of each frame of the access point with several packets: what was in it at each try that had packets, and how it came.
#[derive(Default)]
struct Tries(BTreeMap<Vec<u32>, Vec<bool>>);

impl Sink for Tries {
    const FRAMES: bool = true;
    fn event(&mut self, _: Instant, _: &TraceEvent) {}
    fn frame(&mut self, _: Instant, what: &FrameView<'_>) {
        let FrameView::Air(view) = what else { return };
        for mpdu in view.mpdus.iter().filter(|mpdu| mpdu.msdus > 1) {
            let Some(first) = mpdu.packet else { continue };
            let inside: Vec<u32> = view.packets.amsdu(first).map(|p| view.packets.get(p).seq).collect();
            assert_eq!(inside.len(), usize::from(mpdu.msdus));
            self.0.entry(inside).or_default().push(mpdu.whole);
        }
    }
}

#[test]
fn what_is_lost_together_comes_again_together() {
    let text = flooded("\"ath10k\"", "\"ath10k\"", "vht80-mcs9-nss2-sgi", ", error_rate = 0.2");
    let mut world = wire(&parse(&text, &[]), Seed { seed: 1, run: 0 }, |_| Tries::default()).world;
    world.run_until(Instant::from_nanos(300_000_000));
    let tries = core::mem::take(&mut world.trace_mut().0);
    assert!(tries.len() > 1_000, "{}", tries.len());
    // Each packet is in one A-MSDU only, whatever the number of tries; datagrams are numbered as they are sent.
    let mut seen: Vec<u32> = tries.keys().flatten().copied().collect();
    let packets = seen.len();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), packets);
    assert!(tries.keys().all(|inside| inside.windows(2).all(|two| two[0] + 1 == two[1])), "in order");
    // All that failed is tried until it comes.
    let again = tries.values().filter(|tries| tries.len() > 1).count();
    assert!((0.15..0.25).contains(&(again as f64 / tries.len() as f64)), "{again} of {}", tries.len());
    assert!(tries.values().all(|tries| tries.iter().rev().skip(1).all(|whole| !whole)));
}

/// The receiver hands up all packets of a frame, or none: without errors none is missing, with errors as many are as were dropped.
#[test]
fn accounts_close_with_losses() {
    for (scheme, retries) in [("\"ath10k\"", 1), ("\"mt76\"", 0), ("\"ath11k\"", 2)] {
        let text =
            flooded(scheme, scheme, "he80-mcs11-nss2-gi0.8", ", error_rate = 0.5, ack_error_rate = 0.2")
                .replace("role = \"ap\"", &format!("role = \"ap\", retry_limit = {retries}"));
        let mut world = wire(&parse(&text, &[]), Seed { seed: 1, run: 0 }, |_| Tries::default()).world;
        for ms in [50, 111, 300] {
            let end = Instant::from_nanos(ms * 1_000_000);
            world.run_until(end);
            assert_eq!(world.close(end), Ok(()), "{scheme} at {ms} ms");
        }
        assert!(world.books().packet_account().0.dropped_total() > 100, "{scheme}");
    }
}

#[test]
fn a_station_with_ath9k_takes_none_in_a_session() {
    let frames = |station: &str| {
        let text = flooded("\"mt76\"", station, "ht40-mcs15-sgi", "");
        let mut world = wire(&parse(&text, &[]), Seed { seed: 1, run: 0 }, |_| Tries::default()).world;
        world.run_until(Instant::from_nanos(100_000_000));
        let tries = core::mem::take(&mut world.trace_mut().0);
        tries.keys().map(Vec::len).max()
    };
    assert_eq!((frames("\"mt76\""), frames("\"fq_mac\"")), (Some(2), None));
}

#[test]
fn a_limit_of_bytes_where_nothing_is_joined_is_refused() {
    let scheme = "{ kind = \"mt76\", amsdu_frames = 1, amsdu_bytes = 7991 }";
    let text = flooded(scheme, "\"mt76\"", "he80-mcs11-nss2-gi0.8", "");
    let said = stillair_sim::scenario::parse(&text, "test.toml", &[]).expect_err("a mistake").to_string();
    assert!(said.contains("amsdu_bytes: found 7991, which has no effect with amsdu_frames = 1"), "{said}");
}
