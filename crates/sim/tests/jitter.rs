//! Hosts with interrupt latency, late timers and clock drift.

mod common;

use common::{cell, flow, parse, run, station, watched};
use stillair_model::types::{Duration, Instant, PacketKind, Seed, Sink, TraceEvent};
use stillair_sim::scenario::Scenario;
use stillair_sim::world::wire;

/// Two hosts and a wire of 1 Gbit/s, with additional keys for hosts, wire and flows.
fn wired(a: &str, b: &str, link: &str, flows: &str) -> Scenario {
    let text = format!(
        r#"
name = "jitter"
duration = "10 s"

[link.lan]
rate = "1 Gbit/s"
delay = "0.1 ms"
{link}

[node.a]
profile = "linux-6.1"
interface.eth0 = {{ link = "lan", address = "10.0.0.1" }}
{a}

[node.b]
profile = "linux-6.1"
interface.eth0 = {{ link = "lan", address = "10.0.0.2" }}
{b}
{flows}
"#
    );
    parse(&text, &[])
}

/// Host jitter with only these keys.
fn only(keys: &str) -> String {
    let mut all = vec!["kind = \"desktop\""];
    for (key, none) in [
        ("softirq", "softirq = \"none\""),
        ("timer_slack", "timer_slack = \"none\""),
        ("drift_ppm", "drift_ppm = 0"),
    ] {
        if !keys.contains(key) {
            all.push(none);
        }
    }
    all.push(keys);
    format!("jitter = {{ {} }}", all.join(", "))
}

fn ping(interval: &str) -> String {
    flow("ping", "a", "b", &format!("interval = \"{interval}\""))
}

/// Round-trip times of the first flow in ns, in order.
fn rtts(scenario: &Scenario) -> Vec<u64> {
    let mut world = watched(scenario, 0).world;
    world.run_until(Instant::from_nanos(10_000_000_000));
    world.trace().recorder.flows[0].rtts[0].each().to_vec()
}

/// Arrival times of datagrams and replies, in ns.
#[derive(Default)]
struct Arrivals(Vec<(u64, u32)>);

impl Sink for Arrivals {
    fn event(&mut self, now: Instant, what: &TraceEvent) {
        if let TraceEvent::Delivered { kind: PacketKind::Udp | PacketKind::EchoReply, seq, .. } = what {
            self.0.push((now.nanos(), *seq));
        }
    }
}

fn arrivals(scenario: &Scenario, run: u64) -> Vec<(u64, u32)> {
    let mut world = wire(scenario, Seed { seed: 1, run }, |_| Arrivals::default()).world;
    let end = Instant::from_nanos(10_000_000_000);
    world.run_until(end);
    world.close(end).expect("accounts close");
    world.into_trace().0
}

#[test]
fn disabled_jitter_equals_no_jitter() {
    let flows = ping("0.2 s") + &flow("udp", "a", "b", "rate = \"50 Mbit/s\"");
    let hash = |a: &str| run(&wired(a, "", "", &flows), 0).trace_hash;
    assert_eq!(hash("jitter = \"none\""), hash(""));
    let mut all = vec![hash("")];
    for on in [
        "jitter = \"desktop\"".to_owned(),
        only("softirq = \"uniform 1 us..9 us\""),
        only("timer_slack = \"uniform 0 us..9 us\""),
        only("drift_ppm = 15"),
    ] {
        let hash = hash(&on);
        assert!(!all.contains(&hash), "{on}");
        all.push(hash);
    }
}

#[test]
fn a_constant_delay_is_added_once_at_each_end() {
    let twenty = only("softirq = \"uniform 20 us..20 us\"");
    let none = rtts(&wired("", "", "", &ping("0.2 s")));
    for (a, b, later) in [(&*twenty, "", 20_000), ("", &*twenty, 20_000), (&*twenty, &*twenty, 40_000)] {
        let some = rtts(&wired(a, b, "", &ping("0.2 s")));
        assert_eq!(some, none.iter().map(|ns| ns + later).collect::<Vec<_>>());
    }
    // Over Wi-Fi, with and without interrupt mitigation in the device.
    let channel = "band = \"5 GHz\"\nwidth = \"20 MHz\"\nbeacon_interval = \"off\"";
    let air = |mitigation: &str, jitter: &str| {
        let path = format!("rate = \"ht20-mcs15-sgi\", rx_mitigation = \"{mitigation}\"");
        let text = cell("10 s", channel, "scheme = \"fq_mac\"")
            + &station("s", 0, &path)
            + jitter
            + &flow("ping", "ap", "s", "interval = \"0.2 s\"");
        let mut all = rtts(&parse(&text, &[]));
        all.sort_unstable();
        all[all.len() / 2]
    };
    for mitigation in ["none", "ar9300"] {
        let (none, some) =
            (air(mitigation, ""), air(mitigation, &only("softirq = \"uniform 400 us..400 us\"")));
        // The reply finds the medium idle for longer, and may avoid a backoff.
        assert!((250_000..=410_000).contains(&(some - none)), "{mitigation}: {none} {some}");
    }
}

#[test]
fn packets_arriving_during_wake_up_are_received_together_in_order() {
    let flows = flow("udp", "a", "b", "rate = \"500 Mbit/s\"\ngap = \"periodic\"");
    let delay = only("softirq = \"exponential 50 us..500 us\"");
    for link in ["", "nic = \"e1000e\"", "nic = \"tg3\""] {
        let seen = arrivals(&wired("", &delay, link, &flows), 0);
        assert!(seen.windows(2).all(|w| w[0].1 < w[1].1 && w[0].0 <= w[1].0), "{link}: out of order");
        // A datagram every 23.5 us: several per instant.
        let instants = seen.windows(2).filter(|w| w[0].0 < w[1].0).count();
        assert!(instants * 2 < seen.len(), "{link}: {instants} of {}", seen.len());
        assert_eq!(seen.last().map(|(_, seq)| *seq as usize), Some(seen.len()), "{link}: none lost");
    }
}

#[test]
fn timers_are_late_and_clocks_are_off() {
    // Replies arrive a constant time after their requests.
    let gaps = |a: &str, run: u64| {
        let seen = arrivals(&wired(a, "", "", &ping("0.01 s")), run);
        seen.windows(2).map(|w| w[1].0 - w[0].0).collect::<Vec<_>>()
    };
    assert!(gaps("", 0).iter().all(|ns| *ns == 10_000_000));
    let slack = gaps(&only("timer_slack = \"uniform 0 us..50 us\""), 0);
    assert!(slack.iter().all(|ns| ns.abs_diff(10_000_000) <= 50_000));
    // The difference between two uniform draws is a third of their range on average. The schedule is kept.
    let mean = slack.iter().map(|ns| ns.abs_diff(10_000_000)).sum::<u64>() / slack.len() as u64;
    assert!((15_000..18_500).contains(&mean), "{mean}");
    assert!(slack.iter().sum::<u64>().abs_diff(slack.len() as u64 * 10_000_000) <= 50_000);
    // 100 ppm of 10 ms are 1 us; the actual drift, positive or negative, depends on the run.
    let off = |run: u64| {
        let gaps = gaps(&only("drift_ppm = 100"), run);
        let (least, most) = (gaps.iter().min().copied().unwrap(), gaps.iter().max().copied().unwrap());
        assert!(most - least <= 1, "the clock is steady");
        i64::try_from(least).unwrap() - 10_000_000
    };
    let runs: Vec<i64> = (0..12).map(off).collect();
    assert!(runs.iter().all(|ns| ns.abs() <= 1_001), "{runs:?}");
    assert!(runs.iter().any(|ns| *ns > 100) && runs.iter().any(|ns| *ns < -100), "{runs:?}");
}

/// Returns the duration of a 1 MB transfer over QUIC in s, and the trace hash.
fn quic(a: &str, b: &str, stack: &str) -> (f64, String) {
    let flows = flow("quic", "a", "b", &format!("bytes = \"1 MB\"\n{stack}"));
    let summary = run(&wired(a, b, "", &flows), 0);
    let q = summary.quic.values().next().expect("a flow over QUIC");
    (q.transfer_s.expect("done"), summary.trace_hash)
}

#[test]
fn timers_of_quic_are_late() {
    let late = only("timer_slack = \"uniform 3 ms..4 ms\"");
    let exact = quic("", "", "preset = \"chromium39-strict\"");
    assert_eq!(quic("jitter = \"none\"", "jitter = \"none\"", "preset = \"chromium39-strict\""), exact);
    // If no acknowledgement arrives earlier, late timers delay the sender's pacer, and the receiver's
    // acknowledgement of the last packets.
    let paced = quic(&late, "", "preset = \"chromium39-strict\"").0;
    assert!(paced > exact.0, "{paced} beside {}", exact.0);
    assert_ne!(quic("", &late, "preset = \"chromium39-strict\"").1, exact.1);
}

#[cfg(feature = "quinn")]
#[test]
fn timers_of_quinn_are_late() {
    let late = only("timer_slack = \"uniform 3 ms..4 ms\"");
    let exact = quic("", "", "stack = \"quinn\"");
    assert_ne!(quic("", &late, "stack = \"quinn\"").1, exact.1);
    let some = quic(&late, &late, "stack = \"quinn\"");
    assert_eq!(quic(&late, &late, "stack = \"quinn\""), some);
}

#[test]
fn accounts_close_whatever_a_host_does() {
    let text = include_str!("../../../scenarios/anomaly-tcp.toml");
    let jitter = "{ kind = \"desktop\", softirq = \"exponential 100 us..2 ms\", timer_slack = \"uniform 0 us..5 ms\", drift_ppm = 500 }";
    let keys = ["server", "ap", "fast1", "fast2", "slow"].map(|node| format!("node.{node}.jitter"));
    let mut sets: Vec<(&str, &str)> = keys.iter().map(|key| (key.as_str(), jitter)).collect();
    sets.extend([
        ("duration", "3 s"),
        ("warm_up", "1 s"),
        ("flow.0.start", "0.1 s"),
        ("node.ap.interface.wlan0.rx_mitigation", "none"),
    ]);
    for nic in ["none", "e1000e", "tg3"] {
        let mut sets = sets.clone();
        sets.push(("link.lan.nic", nic));
        let scenario = parse(text, &sets);
        assert_eq!(run(&scenario, 0).trace_hash, run(&scenario, 0).trace_hash);
        let mut world = watched(&scenario, 1).world;
        common::run_to(&mut world, Duration::from_secs(3)).expect("accounts close");
    }
}
