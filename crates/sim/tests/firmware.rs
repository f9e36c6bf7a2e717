//! Aggregates built at transmission time.

mod common;

use common::{cell, flow, of, parse, run, station};
use stillair_model::types::{Instant, PpduKind, Seed, Sink, TraceEvent};
use stillair_sim::scenario::Attachment;
use stillair_sim::world::wire;

const QUIET: &str = "band = \"5 GHz\"\nwidth = \"20 MHz\"\nbeacon_interval = \"off\"";

/// Frames of each data PPDU to a station after 100 ms, in order.
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
    // Bursts of eight packets every 10 ms, on an idle channel.
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
fn ppdu_on_the_air_takes_no_more_frames() {
    // A PPDU of eight frames takes 0.8 ms; packets arriving meanwhile are in the next one. Two frames every
    // 0.5 ms are all delivered, and no PPDU has frames that arrived after its start: never more than arrive
    // during one exchange and its contention.
    let trickle = "rate = \"47.04 Mbit/s\"\nburst = 2\ngap = \"periodic\"\npayload = 1470";
    let found = sizes(FIRMWARE, trickle);
    let sent: u32 = found.iter().map(|&n| u32::from(n)).sum();
    assert!((3_500..3_700).contains(&sent), "{sent}");
    assert!(found.iter().all(|&n| n == 2), "each pair is away before the next comes: {found:?}");
}

/// A server behind an access point with 80 MHz, and stations. Both ends have the same scheme, and windows
/// like the ideal driver.
fn modern(scheme: &str, rate: &str, stations: usize) -> String {
    let keys = format!("scheme = {scheme}, block_ack_window = 64");
    let mut text =
        cell("3 s", "band = \"5 GHz\"\nwidth = \"80 MHz\"", &keys).replace("linux-4.6", "linux-6.6");
    for n in 0..stations {
        text += &station(&format!("s{n}"), n, &format!("rate = \"{rate}\", {keys}"))
            .replace("linux-4.4", "linux-6.6");
    }
    text
}

/// The same with a server on a wire behind the access point, so that no socket's memory limits the frames in
/// the firmware.
fn behind_a_server(scheme: &str, rate: &str, stations: usize) -> String {
    let wire = "forward = true\ninterface.eth0 = { link = \"lan\", address = \"10.0.0.1\" }";
    let server = "[link.lan]\nrate = \"10 Gbit/s\"\ndelay = \"1 ms\"\n[node.server]\nprofile = \"linux-6.6\"\n\
                  interface.eth0 = { link = \"lan\", address = \"10.0.0.2\" }\n";
    modern(scheme, rate, stations).replace("forward = true", wire) + server
}

/// One packet per MPDU, as in the aggregates of the drivers compared.
const MODERN: [&str; 3] = [
    "{ kind = \"ath10k\", amsdu_frames = 1 }",
    "{ kind = \"ath11k\", amsdu_frames = 1 }",
    "{ kind = \"mt76\", amsdu_frames = 1 }",
];
const RATES: [&str; 2] = ["vht80-mcs9-nss2-sgi", "he80-mcs11-nss2-gi0.8"];

/// Compared with a driver with a FIFO and with flow queues only, whose aggregates are built at transmission
/// time.
#[test]
fn tcp_is_as_fast_as_over_an_ideal_driver() {
    let goodput = |scheme: &str, rate: &str, from: &str, to: &str| {
        let text = modern(scheme, rate, 1) + &flow("tcp", from, to, "");
        run(&parse(&text, &[("warm_up", "1 s")]), 0).goodput_total_mbps
    };
    for rate in RATES {
        for (from, to) in [("ap", "s0"), ("s0", "ap")] {
            let ideal = goodput("{ kind = \"fq_codel\", firmware_aggregates = true }", rate, from, to);
            for scheme in MODERN {
                let found = goodput(scheme, rate, from, to);
                assert!((found / ideal - 1.0).abs() < 0.03, "{scheme} {rate} {from}: {found} for {ideal}");
            }
        }
    }
}

#[test]
fn stations_with_a_backlog_have_equal_airtime_and_full_aggregates() {
    for scheme in MODERN {
        let text = modern(scheme, RATES[0], 2) + &flow("tcp", "ap", "s0", "") + &flow("tcp", "ap", "s1", "");
        let report = run(&parse(&text, &[("warm_up", "1 s")]), 0);
        for name in ["s0", "s1"] {
            let one = of(&report, name);
            let share = one.airtime_share.expect("it has sent");
            assert!((share - 0.5).abs() < 0.01, "{scheme} {name}: {share}");
            let frames = one.mean_aggregate.expect("it was sent something");
            assert!(frames > 60.0, "{scheme} {name}: {frames}");
        }
    }
}

/// An 802.11n and an 802.11ax station, both with a download: airtime of the slow one.
#[test]
fn stations_of_two_generations_share_the_air_where_the_mac_does() {
    let slow = |scheme: &str| {
        let mut text = behind_a_server(scheme, RATES[1], 2);
        text += &(flow("tcp", "server", "s0", "") + &flow("tcp", "server", "s1", ""));
        let at = text.find(RATES[1]).expect("a rate");
        text.replace_range(at..at + RATES[1].len(), "ht20-mcs7-sgi");
        let scenario = parse(&text, &[("warm_up", "1 s"), ("duration", "6 s")]);
        let told = scenario.notes().iter().any(|note| note.contains("chooses among stations"));
        let report = run(&scenario, 0);
        (of(&report, "s0").airtime_share.expect("it has sent"), told)
    };
    for joined in [1, 8] {
        let (fair, told) = slow(&format!("{{ kind = \"mt76\", vow_atf = true, amsdu_frames = {joined} }}"));
        assert!((fair - 0.5).abs() < 0.03 && !told, "{joined}: {fair}");
    }
    // Round-robin with one aggregate each: 12 frames in 2.3 ms against 64 in 0.9 ms, or against up to 320 in
    // 3.3 ms with five packets per A-MSDU.
    for (joined, share) in [(1, 0.70..0.80), (8, 0.45..0.60)] {
        let (in_turn, told) = slow(&format!("{{ kind = \"mt76\", amsdu_frames = {joined} }}"));
        assert!(share.contains(&in_turn) && told, "{joined}: {in_turn}");
    }
}

/// A ping during four downloads waits for the frames in the firmware: 12 ms with airtime queue limits, which
/// assume 12 us for a frame that takes 15 us in an aggregate, plus about 5 ms from CoDel above. Without
/// limits, it waits for all that the firmware holds: 4,096 frames of 14 us, because four of them form an
/// A-MSDU.
#[test]
fn without_airtime_queue_limits_the_firmware_is_the_queue() {
    let median = |scheme: &str| {
        let mut text = behind_a_server(scheme, RATES[0], 1);
        text += &flow("ping", "server", "s0", "interval = \"10 ms\"");
        (0..4).for_each(|_| text += &flow("tcp", "server", "s0", ""));
        let report = run(&parse(&text, &[("duration", "6 s"), ("warm_up", "3 s")]), 0);
        let ping = report.pings.values().next().expect("a ping");
        ping.median_ms.expect("some pings come back")
    };
    let (limited, unlimited) = (median("\"mt76\""), median("\"ath11k\""));
    assert!((10.0..30.0).contains(&limited), "{limited}");
    assert!((45.0..75.0).contains(&unlimited), "{unlimited}");
}

#[test]
fn wide_channels_default_to_a_contemporary_driver() {
    let scheme = |profile: &str, width: &str, more: &str| {
        let text = cell("1 s", &format!("band = \"5 GHz\"\nwidth = \"{width}\""), more)
            .replace("linux-4.6", profile)
            .replace(", }", " }");
        let Attachment::Wifi(wifi) = &parse(&text, &[]).nodes[0].interfaces[0].medium else { unreachable!() };
        wifi.scheme.name()
    };
    assert_eq!(scheme("linux-6.6", "80 MHz", ""), "mt76");
    assert_eq!(scheme("linux-4.19", "160 MHz", ""), "ath10k");
    assert_eq!(scheme("linux-6.6", "40 MHz", ""), "mac80211");
    assert_eq!(scheme("linux-6.6", "80 MHz", "scheme = \"fifo\""), "fifo");
}

/// Undocumented firmware properties are assumed, with a note for each.
#[test]
fn assumptions_have_notes() {
    let notes = |scheme: &str, rate: &str| {
        parse(&modern(scheme, RATES[0], 1).replace(&format!("rate = \"{}\"", RATES[0]), rate), &[]).notes()
    };
    let fixed = "rate = \"vht80-mcs9-nss2-sgi\"";
    for (scheme, first, second) in [
        ("\"mt76\"", "when the firmware of mt76 reports", "when the firmware of mt76 joins"),
        ("\"ath10k\"", "when the firmware of ath10k reports", "when the firmware of ath10k joins"),
        (
            "\"ath11k\"",
            "how many frames the firmware of ath11k keeps",
            "how many packets the firmware of ath11k joins",
        ),
    ] {
        let said = notes(scheme, fixed);
        // One for each of the two nodes.
        for words in [first, second] {
            assert_eq!(
                said.iter().filter(|note| note.contains(words)).count(),
                2,
                "{scheme}, {words}: {said:?}"
            );
        }
    }
    let told = "{ kind = \"mt76\", report_delay = \"1 ms\", amsdu_frames = 1 }";
    assert_eq!(notes(told, fixed), Vec::<String>::new());
}
