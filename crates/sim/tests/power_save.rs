//! Power save: delay of packets to a sleeping station, handling of buffered packets, and the effects of a
//! scan.

mod common;

use common::{cell, flow, parse, run, station, watched};
use stillair_model::types::{ContentView, Duration, FrameView, Instant, Seed, Sink, TraceEvent};
use stillair_sim::recorder::RunSummary;
use stillair_sim::world::wire;

const CHANNEL: &str = "band = \"5 GHz\"\nwidth = \"20 MHz\"";
const RATE: &str = "rate = \"ht20-mcs7-sgi\"";

/// An access point with this scheme that pings a station with these keys, at times that drift through the
/// beacon interval.
fn pinged(scheme: &str, ap: &str, keys: &str, interval: &str) -> String {
    cell("60 s", CHANNEL, &format!("scheme = \"{scheme}\"{ap}"))
        + &station("s", 0, &format!("{RATE}{keys}"))
        + &flow("ping", "ap", "s", &format!("interval = \"{interval}\""))
}

fn rtt(report: &RunSummary) -> (f64, f64, u64) {
    let ping = report.pings.values().next().expect("there are pings");
    let came = "some pings come back";
    (ping.mean_ms.expect(came), ping.p95_ms.expect(came), ping.replies)
}

fn dropped(report: &RunSummary) -> u64 {
    report.drops.iter().map(|d| d.packets).sum()
}

/// A packet arriving at a random time waits half an interval on average, and 95 % of one at the 95th
/// percentile; then follow the beacon, a null frame, and the exchange of the packet.
#[test]
fn a_ping_waits_for_the_beacon() {
    const EXCHANGE: f64 = 0.9;
    #[rustfmt::skip]
    let table = [
        // power_save                                       DTIM period, beacon intervals per beacon received
        ("\"mac80211\"",                                             3, 1),
        ("{ kind = \"mac80211\", listen_interval = 3 }",             1, 3),
        ("{ kind = \"mac80211\", listen_interval = \"dtim\" }",      2, 2),
        ("\"iwlwifi\"",                                              1, 1),
        ("\"ath10k\"",                                               3, 3),
        ("\"static\"",                                               2, 1),
    ];
    for scheme in ["fifo", "fq_mac", "mac80211", "mt76"] {
        for (power_save, dtim, beacons) in table {
            let ap = format!(", dtim_period = {dtim}");
            let text = pinged(scheme, &ap, &format!(", power_save = {power_save}"), "731.3 ms");
            let report = run(&parse(&text, &[]), 0);
            let ((mean, p95, replies), interval) = (rtt(&report), 102.4 * f64::from(beacons));
            let what = format!("{scheme} {power_save}: mean {mean}, p95 {p95}, {replies}");
            assert!((80..=83).contains(&replies), "{what}");
            assert!((mean - EXCHANGE - interval / 2.0).abs() < 0.06 * interval, "{what}");
            assert!((p95 - EXCHANGE - interval * 0.95).abs() < 0.05 * interval, "{what}");
            assert_eq!(dropped(&report), 0, "{what}");
        }
    }
}

/// A station that is pinged more often than its timeout never falls asleep.
#[test]
fn busy_station_stays_awake() {
    let text = pinged("mac80211", "", ", power_save = \"mac80211\"", "90 ms");
    let report = run(&parse(&text, &[("warm_up", "1 s")]), 0);
    let (mean, ..) = rtt(&report);
    assert!(mean < 1.0, "{mean}");
    assert!(report.power["s.wlan0"].sleeps <= 1);
}

/// The station is awake for the timeout and a little more per ping, and sleeps for the rest of the time.
#[test]
fn station_sleeps_the_rest_of_the_time() {
    let text = pinged("mac80211", "", ", power_save = \"mac80211\"", "1 s");
    let power = run(&parse(&text, &[]), 0).power["s.wlan0"];
    assert!((59..=61).contains(&power.sleeps), "{power:?}");
    assert!((power.dozing_s / (60.0 - 0.1 * power.sleeps as f64) - 1.0).abs() < 0.02, "{power:?}");
}

/// Each preset falls asleep after its driver's timeout.
#[test]
fn presets_sleep_after_their_own_time() {
    for (kind, timeout) in [
        ("mac80211", 0.1),
        ("iwlwifi", 0.1),
        ("ath10k", 0.102),
        ("brcmfmac", 2.0),
        ("mwifiex", 1.0),
        ("qcacld", 0.2),
        ("phone", 0.2),
    ] {
        let text = pinged("mac80211", "", &format!(", power_save = \"{kind}\""), "5 s");
        let power = run(&parse(&text, &[]), 0).power["s.wlan0"];
        assert!((11..=13).contains(&power.sleeps), "{kind}: {power:?}");
        let asleep = 60.0 - timeout * power.sleeps as f64;
        assert!((power.dozing_s - asleep).abs() < timeout + 0.5, "{kind}: {power:?}");
    }
}

/// Frames not retrieved by a sleeping station are still buffered at the end, at most 64 per category, and
/// nothing else is lost.
#[test]
fn waiting_frames_are_accounted_for() {
    let flood = flow("udp", "ap", "s", "rate = \"3 Mbit/s\"\nburst = 100\nstart = \"0.5 s\"\nstop = \"5 s\"");
    for scheme in ["fifo", "fq_codel", "fq_mac", "airtime", "mac80211", "ath10k", "ath11k", "mt76"] {
        for power_save in [
            "\"mac80211\"",
            "\"static\"",
            "{ kind = \"phone\", uapsd = [\"VO\", \"VI\", \"BE\", \"BK\"], max_sp = 2 }",
        ] {
            let keys = format!("{RATE}, power_save = {power_save}, error_rate = 0.2, ack_error_rate = 0.1");
            let text =
                cell("8 s", CHANNEL, &format!("scheme = \"{scheme}\"")) + &station("s", 0, &keys) + &flood;
            let mut world = watched(&parse(&text, &[]), 0).world;
            for ms in [400, 1_111, 2_000, 8_000] {
                let end = Instant::from_nanos(ms * 1_000_000);
                world.run_until(end);
                assert_eq!(world.close(end), Ok(()), "{scheme} {power_save} at {ms} ms");
            }
            let (account, _) = world.books().packet_account();
            // The socket holds 92 packets.
            assert!(account.created > 92, "{scheme} {power_save}: {}", account.created);
            assert!(account.delivered > 10, "{scheme} {power_save}: {}", account.delivered);
        }
    }
}

/// A phone on other channels: its frames are buffered and delivered when it returns. mac80211's times: two
/// channels of 60 ms are 120 ms.
#[test]
fn a_scan_is_a_gap_of_its_own_length() {
    let keys = ", scan = { kind = \"mac80211\", start = \"1 s\", active_channels = 6, passive_channels = 0 }";
    let text = pinged("mac80211", "", keys, "7 ms");
    let report = run(&parse(&text, &[("duration", "3 s")]), 0);
    let power = report.power["s.wlan0"];
    assert_eq!((power.trips, power.sleeps), (3, 0));
    assert!((power.away_s - 0.36).abs() < 1e-6, "{power:?}");
    assert_eq!(dropped(&report), 0);
    // Pings during a gap are answered at its end: 360 of 3,000 ms are gaps, so 12 % of pings wait, uniformly
    // from 0 to 120 ms.
    let (mean, p95, _) = rtt(&report);
    assert!((mean - 0.12 * 60.0 - 0.5).abs() < 1.5, "{mean}");
    assert!((p95 - (0.12 - 0.05) / 0.12 * 120.0).abs() < 10.0, "{p95}");
}

/// A call in both directions with a station that retrieves buffered packets with each packet that it sends:
/// packets do not wait for beacons.
#[test]
fn a_call_with_uapsd_waits_for_its_own_packets() {
    let call = |from: &str, to: &str| flow("voip", from, to, "dscp = \"CS6\"\nstart = \"0.5 s\"");
    let text = |keys: &str| {
        cell("20 s", CHANNEL, "scheme = \"mac80211\"")
            + &station(
                "s",
                0,
                &format!("{RATE}, power_save = {{ kind = \"phone\", timeout = \"50 ms\"{keys} }}"),
            )
            + &call("ap", "s")
            + &call("s", "ap")
    };
    let report = run(&parse(&text(", uapsd = [\"VO\"]"), &[("warm_up", "2 s")]), 0);
    let down = report
        .flows
        .iter()
        .find(|(name, _)| name.ends_with(".s"))
        .map(|(_, flow)| flow)
        .expect("the flow to the station");
    let (p50, p99) = (down.delay_p50_ms.unwrap_or_default(), down.delay_p99_ms.unwrap_or_default());
    // A packet every 20 ms in both directions: each waits less than 20 ms, half of that on average.
    assert!(p50 <= 21.0 && p99 <= 22.0, "{p50} {p99}");
    let power = report.power["s.wlan0"];
    assert!(power.triggers > 900 && power.dozing_s > 15.0, "{power:?}");
    assert_eq!(dropped(&report), 0, "{:?}", report.drops);
    // Without U-APSD, the call keeps the phone awake.
    let awake = run(&parse(&text(""), &[("warm_up", "2 s")]), 0).power["s.wlan0"];
    assert!(awake.dozing_s < 1.0, "{awake:?}");
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    let text = pinged(
        "mac80211",
        "",
        ", error_rate = 0.3, power_save = \"mac80211\", scan = { kind = \"iwlwifi\", interval = \"5 s\" }",
        "331 ms",
    );
    let scenario = parse(&text, &[]);
    assert_eq!(run(&scenario, 3).trace_hash, run(&scenario, 3).trace_hash);
    assert_ne!(run(&scenario, 3).trace_hash, run(&scenario, 4).trace_hash);
}

/// Power save events in the captured frames, in order.
#[derive(Default)]
struct Frames(Vec<String>);

impl Sink for Frames {
    const FRAMES: bool = true;
    fn event(&mut self, _: Instant, _: &TraceEvent) {}
    fn frame(&mut self, _: Instant, what: &FrameView<'_>) {
        let FrameView::Air(view) = what else { return };
        let power = view.power;
        let name = match view.content {
            ContentView::Data { .. } => "data",
            ContentView::Null { pm: true } => "null sleeps",
            ContentView::Null { pm: false } => "null wakes",
            ContentView::QosNull { .. } => "qos null",
            ContentView::PsPoll => "poll",
            ContentView::Beacon => {
                let tim = view.tim.expect("the access point has stations that sleep");
                if tim.bitmap.1[0] == 0 {
                    return;
                }
                "beacon"
            }
            _ => return,
        };
        let bits = [(power.pm, " pm"), (power.more, " more"), (power.eosp, " eosp")];
        let said: String = bits.iter().filter(|(is, _)| *is).map(|(_, word)| *word).collect();
        self.0.push(format!("{} {name}{said}", view.tried.dev.0));
    }
}

fn frames(text: &str, ms: u64) -> Vec<String> {
    let mut world = wire(&parse(text, &[]), Seed { seed: 1, run: 0 }, |_| Frames::default()).world;
    world.run_until(Instant::ZERO + Duration::from_millis(ms));
    core::mem::take(&mut world.trace_mut().0)
}

#[test]
fn power_save_signalling_on_the_air() {
    let two = "rate = \"240 kbit/s\"\nburst = 3\npayload = 1000\nstart = \"100 ms\"\nstop = \"250 ms\"\ngap = \"periodic\"";
    let text = |power_save: &str| {
        cell("1 s", CHANNEL, "scheme = \"fq_mac\"")
            + &station("s", 0, &format!("rate = \"ofdm-54\", power_save = {power_save}"))
            + &flow("udp", "ap", "s", two)
    };
    let woken = frames(&text("\"mac80211\""), 400);
    assert_eq!(
        woken,
        ["1 null sleeps", "0 beacon", "1 null wakes", "0 data", "0 data", "0 data", "1 null sleeps",]
    );
    let polled = frames(&text("\"static\""), 400);
    assert_eq!(
        polled,
        [
            "1 null sleeps",
            "0 beacon",
            "1 poll pm",
            "0 data more",
            "1 poll pm",
            "0 data more",
            "1 poll pm",
            "0 data",
        ]
    );
    let served =
        frames(&text("{ kind = \"mac80211\", uapsd = [\"VO\", \"VI\", \"BE\", \"BK\"], max_sp = 2 }"), 480);
    assert_eq!(
        served,
        [
            "1 null sleeps",
            "0 beacon",
            "1 qos null pm",
            "0 data more",
            "0 data more eosp",
            "0 beacon",
            "1 qos null pm",
            "0 data eosp",
        ]
    );
}

/// Multicast packets to two members, one always awake, the other optionally in power save.
fn to_group(scheme: &str, dtim: u32, keys: &str, more: &str) -> String {
    cell("60 s", CHANNEL, &format!("scheme = \"{scheme}\", dtim_period = {dtim}"))
        + &station("a", 0, RATE)
        + &station("b", 1, &format!("{RATE}{keys}"))
        + &format!(
            "\n[[flow]]\nname = \"group\"\nkind = \"udp\"\nfrom = \"ap\"\nto = [\"a\", \"b\"]\nmulticast = true\npayload = 1000\n{more}\n"
        )
}

/// If no station sleeps, group-addressed frames are sent immediately; if any does, all wait for the DTIM,
/// half its period on average.
#[test]
fn group_frames_wait_for_the_dtim() {
    let slow = "rate = \"10.94 kbit/s\"\ngap = \"periodic\""; // one every 731.3 ms
    for scheme in ["fifo", "mac80211", "mt76"] {
        for (keys, dtim, wait) in [
            ("", 2, 0.0),
            (", power_save = \"iwlwifi\"", 1, 51.2),
            (", power_save = \"iwlwifi\"", 2, 102.4),
            (", power_save = \"iwlwifi\"", 3, 153.6),
        ] {
            let report = run(&parse(&to_group(scheme, dtim, keys, slow), &[("warm_up", "1 s")]), 0);
            for to in ["group.a", "group.b"] {
                let found = report.flows[to].delay_p50_ms.expect("some came");
                let what = format!("{scheme} {keys} {dtim} {to}: {found} ms for {wait}");
                // The frame itself takes 1.4 ms at 6 Mbit/s.
                assert!((found - 1.6 - wait).abs() < 0.5 + 0.15 * wait, "{what}");
            }
            assert_eq!(dropped(&report), 0, "{scheme} {keys} {dtim}");
        }
    }
}

/// Each member has its own copy and its own losses. Group-addressed frames are not retransmitted.
#[test]
fn each_member_has_its_own_losses() {
    let keys = ", error_rate = 0.25, power_save = \"mac80211\"";
    let text = to_group("mac80211", 2, keys, "rate = \"100 kbit/s\"");
    let report = run(&parse(&text, &[]), 0);
    let lost = |to: &str| report.flows[to].loss.expect("packets were sent");
    assert!(lost("group.a") < 0.01, "{}", lost("group.a"));
    assert!((0.2..0.3).contains(&lost("group.b")), "{}", lost("group.b"));
    assert!(report.drops.iter().all(|drop| drop.reason == "missed"), "{:?}", report.drops);
    // The first member's flow also has the fates of the original packets: no packet is lost twice.
    let account = &report.packets;
    assert_eq!(
        account.created,
        account.delivered + account.consumed + account.merged + account.dropped + account.inside
    );
}

/// At most 128 frames wait. If there is more data than fits after a DTIM, the excess is dropped, not kept
/// forever.
#[test]
fn excess_group_frames_are_dropped() {
    // Each socket holds 92 datagrams.
    let mut text = to_group("mac80211", 3, ", power_save = \"iwlwifi\"", "rate = \"4 Mbit/s\"");
    text += "[[flow]]\nkind = \"udp\"\nfrom = \"ap\"\nto = [\"a\", \"b\"]\nmulticast = true\npayload = 1000\nrate = \"4 Mbit/s\"\n";
    let report = run(&parse(&text, &[("duration", "10 s")]), 0);
    assert!(report.drops.iter().any(|drop| drop.reason == "overlimit"), "{:?}", report.drops);
    assert!(report.flows["group.b"].packets.unwrap_or(0) > 1_000 || report.packets.delivered > 1_000);
}

/// While any station sleeps, group-addressed frames wait in the firmware for a DTIM, as many as the host
/// passes down. A saturating group flow fills the firmware, and other packets wait until it has drained; with
/// a limit for group-addressed frames, most of them stay in mac80211.
// linux: net/mac80211/tx.c ieee80211_txq_airtime_check (commit 836c1addd3bf of July 2026).
#[test]
fn saturating_multicast_flow() {
    for scheme in ["mt76", "ath10k"] {
        let pings = |limit: &str| {
            let ap = format!("scheme = {{ kind = \"{scheme}\", frames = 256, aql_multicast = \"{limit}\" }}");
            // Eight sockets, because one holds 47 frames.
            let group = "[[flow]]\nkind = \"udp\"\nfrom = \"ap\"\nto = [\"a\", \"b\"]\nmulticast = true\npayload = 1000\nrate = \"1 Mbit/s\"\n";
            let text = cell("20 s", CHANNEL, &ap)
                + &station("a", 0, RATE)
                + &station("b", 1, &format!("{RATE}, power_save = \"static\""))
                + &flow("ping", "ap", "a", "interval = \"10 ms\"")
                + &group.repeat(8);
            rtt(&run(&parse(&text, &[("warm_up", "5 s")]), 0))
        };
        let [(free, p95, some), (_, limited, all)] = ["off", "50 ms"].map(pings);
        eprintln!("{scheme}: mean {free} p95 {p95} of {some}, with a limit p95 {limited} ms of {all}");
        // A DTIM every 205 ms, followed by group-addressed frames until the next beacon.
        assert!(free > 80.0 && some > 1_000, "{scheme}: mean {free}, {some}");
        // 50 of each 205 ms go to the group: 24 % of pings wait for them, uniformly.
        assert!((30.0..60.0).contains(&limited) && all > 1_400, "{scheme}: p95 {limited}, {all}");
    }
}

/// A sleeping station with a backlog: the host passes down as much as airtime queue limits allow, which stays
/// charged. Other stations are not affected.
#[test]
fn backlog_of_a_sleeping_station_delays_no_other() {
    for scheme in ["mt76", "ath10k", "ath11k"] {
        let rate = |keys: &str, more: &str| {
            let load = "rate = \"40 Mbit/s\"\npayload = 1470";
            let text = cell("10 s", CHANNEL, &format!("scheme = \"{scheme}\""))
                + &station("a", 0, RATE)
                + &station("b", 1, &format!("{RATE}{keys}"))
                + &flow("udp", "ap", "a", "name = \"own\"\nrate = \"100 Mbit/s\"\npayload = 1470")
                + &if more.is_empty() { String::new() } else { flow("udp", "ap", "b", load) };
            let report = run(&parse(&text, &[("warm_up", "2 s")]), 0);
            report.flows.iter().find(|(name, _)| name.starts_with("own")).map_or(0.0, |(_, f)| f.goodput_mbps)
        };
        // Away for all but the first second, on channel after channel.
        let away = ", scan = { kind = \"ath10k\", start = \"1 s\", active_channels = 100, passive_channels = 0, dwell_active = \"100 ms\", max_off_channel = \"20 s\" }";
        let [alone, beside] = [("", ""), (away, "load")].map(|(keys, more)| rate(keys, more));
        eprintln!("{scheme}: {alone} Mbit/s alone, {beside} beside a sleeper's backlog");
        assert!((alone - beside).abs() < 0.03 * alone, "{scheme}: {alone} {beside}");
    }
}

/// The kernel decides how group-addressed frames are charged; the key overrides it, and changes nothing else.
#[test]
fn each_kernel_charges_group_frames_in_its_own_way() {
    let hash = |profile: &str, limit: &str| {
        let ap = format!("scheme = {{ kind = \"mt76\", frames = 256{limit} }}");
        let group = "[[flow]]\nkind = \"udp\"\nfrom = \"ap\"\nto = [\"a\", \"b\"]\nmulticast = true\npayload = 1000\nrate = \"1 Mbit/s\"\n";
        let text = cell("3 s", CHANNEL, &ap)
            + &station("a", 0, RATE)
            + &station("b", 1, &format!("{RATE}, power_save = \"static\""))
            + &flow("udp", "ap", "a", "rate = \"90 Mbit/s\"\npayload = 1470")
            + &group.repeat(8);
        run(&parse(&text, &[("node.ap.profile", profile)]), 0).trace_hash
    };
    let key = |limit: &str| format!(", aql_multicast = \"{limit}\"");
    for profile in ["linux-5.10", "linux-6.12", "openwrt-24.10"] {
        let all = ["threshold", "off", "50 ms"].map(|limit| hash(profile, &key(limit)));
        let own = match profile {
            "linux-5.10" => 0,
            "linux-6.12" => 1,
            _ => 2,
        };
        assert_eq!(hash(profile, ""), all[own], "{profile}");
        assert!(all[0] != all[1] && all[1] != all[2], "{profile}: the key acts");
    }
}

/// An access point that scans like mac80211: away for all channels, without beacons. Frames to its stations
/// wait for its return, and frames from them are lost after futile tries.
#[test]
fn access_point_scans() {
    // 19 channels of 60 ms and 16 of 111 ms in a single trip; or two at a time with 200 ms between: nine
    // trips of 120 ms, one of 60 ms and 16 of 111 ms.
    for scheme in ["fifo", "fq_mac", "mac80211", "mt76"] {
        let mut lost = Vec::new();
        for (scan, p99, trips) in [
            ("\"mac80211\"", 2_796.0, 1),
            ("{ kind = \"mac80211\", max_off_channel = \"125 ms\" }", 109.4, 26),
        ] {
            let text = |from: &str, to: &str| {
                cell("12 s", CHANNEL, &format!("scheme = \"{scheme}\", scan = {scan}"))
                    + &station("s", 0, RATE)
                    + &flow("udp", from, to, "rate = \"80 kbit/s\"\npayload = 100\ngap = \"periodic\"")
            };
            let down = run(&parse(&text("ap", "s"), &[]), 0);
            let what = format!("{scheme} {scan}");
            let power = down.power["ap.wlan0"];
            assert_eq!((power.trips, power.sleeps), (trips, 0), "{what}");
            assert!((power.away_s - 2.916).abs() < 0.01, "{what}: {power:?}");
            // A packet every 10 ms waits for the rest of the trip: of 1,200 packets, the 12 longest wait more
            // than 2,796 ms; with trips of 120 and 111 ms, more than 109 ms.
            let delay = down.flows.values().next().and_then(|flow| flow.delay_p99_ms).expect("packets came");
            assert!((delay - p99).abs() < 15.0, "{what}: {delay}");
            assert_eq!(dropped(&down), 0, "{what}");
            let up = run(&parse(&text("s", "ap"), &[]), 0);
            lost.push(dropped(&up));
        }
        // A station sends 292 packets meanwhile. Those whose tries end before the access point returns are
        // lost: most of them, and fewer with short trips.
        assert!((150..292).contains(&lost[0]) && lost[1] < lost[0], "{scheme}: {lost:?}");
    }
}

/// Buffered frames expire at the second check even if nothing else happens: after 10 to 20 s.
#[test]
fn buffered_frames_expire() {
    for scheme in ["fifo", "fq_mac", "mac80211"] {
        let away = ", scan = { kind = \"ath10k\", start = \"1 s\", active_channels = 100, passive_channels = 0, dwell_active = \"400 ms\", max_off_channel = \"100 s\" }";
        let text = cell("25 s", CHANNEL, &format!("scheme = \"{scheme}\""))
            + &station("s", 0, &format!("{RATE}{away}"))
            + &flow(
                "udp",
                "ap",
                "s",
                "rate = \"80 kbit/s\"\npayload = 1000\nstart = \"2 s\"\nstop = \"3 s\"",
            );
        let report = run(&parse(&text, &[]), 0);
        let expired: u64 =
            report.drops.iter().filter(|drop| drop.reason == "expired").map(|drop| drop.packets).sum();
        assert!(
            (5..=20).contains(&expired) && report.packets.delivered == 0,
            "{scheme}: {expired} {:?}",
            report.drops
        );
    }
}
