//! A-MSDUs built by firmware: their benefit, and the cost of losing one.

mod common;

use std::collections::BTreeMap;

use common::{cell, flow, of, parse, run, station};
use stillair_model::types::{FrameView, Instant, Seed, Sink, TraceEvent};
use stillair_sim::world::wire;

/// An access point with a station on a channel of 80 MHz, both with these schemes, and a flow that saturates
/// it.
fn flooded(scheme: &str, station_scheme: &str, rate: &str, more: &str) -> String {
    let buffer = "profile = \"linux-6.6\"\nsysctl.\"net.core.wmem_default\" = 8000000";
    let channel = "band = \"5 GHz\"\nwidth = \"80 MHz\"\nbeacon_interval = \"off\"";
    cell("1 s", channel, &format!("scheme = {scheme}")).replace("profile = \"linux-4.6\"", buffer)
        + &station("s", 0, &format!("rate = \"{rate}\", scheme = {station_scheme}{more}"))
        + &flow("udp", "ap", "s", "rate = \"1500 Mbit/s\"\nburst = 64\npayload = 1470")
}

/// A datagram of 1,470 bytes is 1,520 bytes in an A-MSDU, without padding, and n of them are an MPDU of 30 +
/// 1,520 n bytes. A PPDU holds a window of these, 64 or (HE) 256, or as many as fit in 5,484 us. Plus SIFS
/// 16, Block Ack 32 or 40, AIFS 43 and backoff 67.5 us.
#[test]
fn goodput_follows_the_length_of_the_exchange() {
    const VHT: &str = "vht80-mcs9-nss2-sgi";
    const HE: &str = "he80-mcs11-nss2-gi0.8";
    // Bits and duration of a symbol, preamble, and granularity of the PPDU duration, in ns.
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

/// For each frame of the access point with several packets: the packets, and for each try whether it was
/// received.
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
fn frames_lost_together_are_retransmitted_together() {
    let text = flooded("\"ath10k\"", "\"ath10k\"", "vht80-mcs9-nss2-sgi", ", error_rate = 0.2");
    let mut world = wire(&parse(&text, &[]), Seed { seed: 1, run: 0 }, |_| Tries::default()).world;
    world.run_until(Instant::from_nanos(300_000_000));
    let tries = core::mem::take(&mut world.trace_mut().0);
    assert!(tries.len() > 1_000, "{}", tries.len());
    // Each packet is in a single A-MSDU, whatever the number of tries. Datagrams are numbered as sent.
    let mut seen: Vec<u32> = tries.keys().flatten().copied().collect();
    let packets = seen.len();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), packets);
    assert!(tries.keys().all(|inside| inside.windows(2).all(|two| two[0] + 1 == two[1])), "in order");
    // Failed frames are retried until received.
    let again = tries.values().filter(|tries| tries.len() > 1).count();
    assert!((0.15..0.25).contains(&(again as f64 / tries.len() as f64)), "{again} of {}", tries.len());
    assert!(tries.values().all(|tries| tries.iter().rev().skip(1).all(|whole| !whole)));
}

/// The receiver passes up all packets of a frame or none. Without errors no packet is missing; with errors as
/// many are missing as were dropped.
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
fn ath9k_station_accepts_no_amsdu_in_a_session() {
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
fn byte_limit_without_amsdus_is_rejected() {
    let scheme = "{ kind = \"mt76\", amsdu_frames = 1, amsdu_bytes = 7991 }";
    let text = flooded(scheme, "\"mt76\"", "he80-mcs11-nss2-gi0.8", "");
    let said = stillair_sim::scenario::parse(&text, "test.toml", &[]).expect_err("a mistake").to_string();
    assert!(said.contains("amsdu_bytes: found 7991, which has no effect with amsdu_frames = 1"), "{said}");
}

/// Flows of the packets of each frame with several packets, and the number of frames with a single packet.
#[derive(Default)]
struct Inside(Vec<Vec<usize>>, u32);

impl Sink for Inside {
    const FRAMES: bool = true;
    fn event(&mut self, _: Instant, _: &TraceEvent) {}
    fn frame(&mut self, _: Instant, what: &FrameView<'_>) {
        let FrameView::Air(view) = what else { return };
        for mpdu in view.mpdus {
            match mpdu.packet {
                Some(first) if mpdu.msdus > 1 => {
                    self.0.push(view.packets.amsdu(first).map(|p| view.packets.get(p).flow.index()).collect())
                }
                _ => self.1 += 1,
            }
        }
    }
}

#[test]
fn mac80211_merges_packets_of_a_flow_and_firmware_any() {
    // Two flows from a server behind the access point to one station: their packets alternate in the
    // firmware's queue, and mac80211 has merged them by twos and threes before. 3,895 bytes hold two packets,
    // and 7,991 bytes hold five, of which a device with three buffers uses three.
    let of = |scheme: &str, station: &str| {
        let lan = "forward = true\ninterface.eth0 = { link = \"lan\", address = \"10.0.0.1\" }";
        let text = flooded(scheme, station, "vht80-mcs9-nss2-sgi", "").replace("forward = true", lan);
        let (cell, _) = text.split_once("[[flow]]").expect("its flow");
        let server = "[link.lan]\nrate = \"10 Gbit/s\"\ndelay = \"1 ms\"\n[node.server]\nprofile = \"linux-6.6\"\n\
                      interface.eth0 = { link = \"lan\", address = \"10.0.0.2\" }\n";
        let flows = flow("udp", "server", "s", "rate = \"600 Mbit/s\"\npayload = 1470").repeat(2);
        let mut world =
            wire(&parse(&(cell.to_owned() + server + &flows), &[]), Seed { seed: 1, run: 0 }, |_| {
                Inside::default()
            })
            .world;
        world.run_until(Instant::from_nanos(200_000_000));
        let Inside(inside, _) = core::mem::take(world.trace_mut());
        assert!(inside.len() > 500, "{scheme}: {}", inside.len());
        let mixed = inside.iter().filter(|flows| flows.iter().any(|flow| *flow != flows[0])).count();
        (inside.iter().map(Vec::len).max(), mixed)
    };
    let host = "{ kind = \"mt76\", amsdu_by = \"mac80211\", amsdu_frames = 3 }";
    assert_eq!(of(host, "\"mt76\""), (Some(3), 0));
    assert_eq!(of(host, "\"fifo\""), (Some(2), 0));
    let (most, mixed) = of("\"mt76\"", "\"mt76\"");
    assert!(most == Some(5) && mixed > 500, "{most:?} {mixed}");
    // MT7921 accepts 11,454 bytes, seven packets. MT7915 sends at most 7,991 bytes, MT7916 as much as is
    // accepted.
    let station = "\"mt76\", device = \"mt7921\"";
    assert_eq!(of("\"mt76\", device = \"mt7915\"", station).0, Some(5));
    assert_eq!(of("\"mt76\", device = \"mt7916\"", station).0, Some(7));
}

#[test]
fn device_sets_scheme_and_numbers_and_explicit_keys_take_precedence() {
    let read = |device: &str| {
        let text = flooded("\"mt76\"", "\"mt76\"", "vht80-mcs9-nss2-sgi", "");
        let scenario = parse(&text.replacen("scheme = \"mt76\"", device, 1), &[]);
        (scenario.resolved(), scenario.notes())
    };
    let (resolved, notes) = read("device = \"mt7615\"");
    for part in
        ["\"device\":\"mt7615\"", "\"scheme\":\"mt76\"", "\"frames\":4032", "\"amsdu_by\":\"mac80211\""]
    {
        assert!(resolved.replace([' ', '\n'], "").contains(part), "{part}: {resolved}");
    }
    let told = "node.ap.interface.wlan0.device: not known: report_delay of mt7615; 0 us is assumed, of 0 us to 1000 us";
    assert!(notes.iter().any(|note| note == told), "{notes:?}");
    let (resolved, _) =
        read("device = \"mt7615\", scheme = { kind = \"mt76\", frames = 100, amsdu_frames = 2 }");
    let resolved = resolved.replace([' ', '\n'], "");
    assert!(resolved.contains("\"frames\":100") && resolved.contains("\"report_frames\":127"), "{resolved}");
    let (_, notes) = read("device = \"mt7615\", scheme = \"fq_mac\"");
    assert!(notes.iter().any(|note| note.contains("fq_mac in place of mt76, which mt7615 has")), "{notes:?}");
    // The station uses two streams.
    let (_, notes) = read("device = \"qca9880\"");
    assert!(!notes.iter().any(|note| note.contains("streams")), "{notes:?}");
    let text = flooded("\"mt76\"", "\"mt76\", device = \"mt7921\"", "vht80-mcs9-nss3-sgi", "");
    let notes = parse(&text, &[]).notes();
    assert!(
        notes.iter().any(|note| note.contains("mt7921 has 2 streams, and its links have rates of 3")),
        "{notes:?}"
    );
    let text = flooded("\"mt76\", device = \"mt7615\"", "\"mt76\"", "he80-mcs9-nss2-gi0.8", "");
    let notes = parse(&text, &[]).notes();
    assert!(
        notes.iter().any(|note| note.contains("mt7615 has no rates of 802.11ax, and its links have some")),
        "{notes:?}"
    );
    // Board options do not change the result; the time at which the firmware aggregates does.
    let (_, notes) = read("device = \"ipq8074\"");
    assert!(!notes.iter().any(|note| note.contains("not known: streams")), "{notes:?}");
    assert!(notes.iter().any(|note| note.contains("not known: amsdu_frames of ipq8074")), "{notes:?}");
    let (_, notes) = read("device = \"qca9880\"");
    assert!(notes.iter().any(|note| note.contains("when the firmware of ath10k joins packets")), "{notes:?}");
}
