//! Flent tests by name: expansion of `[test]`.

mod common;

use common::{parse, run};
use stillair_model::types::Duration;
use stillair_sim::scenario::{CongestionControl, FlowKind, Scenario, Ways};

const FILE: &str = include_str!("../../../scenarios/one-ms.toml");

fn test(name: &str, more: &[(&str, &str)]) -> Scenario {
    parse(FILE, &[&[("test.name", name)], more].concat())
}

/// Returns each flow's data series, sender, and access category.
fn flows(s: &Scenario) -> Vec<(&str, &str, &str)> {
    let ways = Ways::new(s);
    let one = |f: &stillair_sim::scenario::Flow| {
        let series = f.series.as_deref().expect("a flow of the test");
        (
            series.to_owned(),
            s.nodes[f.from.node].name.clone(),
            s.category(f, ways.ends(f.from, f.to[0])).name(),
        )
    };
    let leak = |text: String| -> &'static str { text.leak() };
    s.flows.iter().map(one).map(|(series, from, ac)| (leak(series), leak(from), ac)).collect()
}

// flent: tests/rrul.conf, tests/rrul_be.conf (2.3) - behaviour only. Before 6.8, Wi-Fi maps both EF and CS5
// to video.
#[test]
fn flows_and_marks_of_rrul() {
    let s = test("rrul", &[]);
    #[rustfmt::skip]
    assert_eq!(flows(&s), [
        ("TCP upload BE", "client", "BE"), ("TCP upload BK", "client", "BK"),
        ("TCP upload CS5", "client", "VI"), ("TCP upload EF", "client", "VI"),
        ("TCP download BE", "server", "BE"), ("TCP download BK", "server", "BK"),
        ("TCP download CS5", "server", "VI"), ("TCP download EF", "server", "VI"),
        ("Ping (ms) UDP EF", "client", "VI"), ("Ping (ms) UDP BK", "client", "BK"),
        ("Ping (ms) UDP BE", "client", "BE"), ("Ping (ms) ICMP", "client", "BE"),
    ]);
    // The band of the qdisc depends on the whole TOS byte, in which the two differ.
    assert_eq!([2, 3].map(|n: usize| s.flows[n].tos), [0xa0, 0xb8]);
    // Since 6.8, EF is voice: from the client according to its own kernel, to the client according to the
    // router's.
    let marked = |node: &str| {
        let s = test("rrul", &[(&format!("node.{node}.profile"), "linux-6.18")]);
        let all = flows(&s).into_iter().filter(|f| f.0.ends_with("EF"));
        all.map(|f| f.2.to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(marked("client"), ["VO", "VI", "VO"]);
    assert_eq!(marked("router"), ["VI", "VO", "VI"]);
    assert_eq!(marked("server"), ["VI"; 3]);
    let best_effort = test("rrul_be", &[]);
    let all = flows(&best_effort);
    assert!(all.iter().all(|(.., ac)| *ac == "BE"));
    assert_eq!([all[3].0, all[4].0, all[8].0], ["TCP upload BE4", "TCP download BE", "Ping (ms) UDP BE1"]);
}

#[test]
fn other_tests_and_their_times() {
    let s = |seconds: u64| Duration::from_secs(seconds);
    for (name, series) in [
        ("tcp_1up", vec![("TCP upload", "client", "BE")]),
        ("tcp_download", vec![("TCP download", "server", "BE")]),
        ("tcp_2down", vec![("TCP download::1", "server", "BE"), ("TCP download::2", "server", "BE")]),
    ] {
        let t = test(name, &[]);
        let mut all = flows(&t);
        assert_eq!(all.pop(), Some(("Ping (ms) ICMP", "client", "BE")));
        assert_eq!(all, series, "{name}");
        assert_eq!((t.duration, t.warm_up, t.cool_down), (s(40), s(5), s(5)));
        let load = &t.flows[0];
        assert!(matches!(
            load.kind,
            FlowKind::Tcp { congestion_control: CongestionControl::BuiltIn("bbr"), .. }
        ));
        assert_eq!((load.start, load.stop, t.flows.last().unwrap().stop), (s(5), Some(s(35)), None));
    }
    let n = test("tcp_nup", &[("test.streams", "7"), ("test.congestion_control", "reno")]);
    assert_eq!((n.flows.len(), n.test.expect("a test").streams), (8, Some(7)));
    assert!(matches!(
        n.flows[6].kind,
        FlowKind::Tcp { congestion_control: CongestionControl::BuiltIn("reno"), .. }
    ));
    // Without load, flows start without delay.
    let ping = test("ping", &[]);
    assert_eq!((flows(&ping).len(), ping.duration, ping.warm_up, ping.cool_down), (2, s(30), s(0), s(0)));
    // The measurement interval can be extended and shortened.
    let longer = test("tcp_1up", &[("duration", "50 s"), ("warm_up", "0 s")]);
    assert_eq!((longer.warm_up, longer.cool_down), (s(0), s(15)));
}

#[test]
fn measured_goodput_is_the_load() {
    let run = |more: &[(&str, &str)]| run(&test("tcp_1up", &[&[("test.length", "1 s")], more].concat()), 0);
    let (load, all) = (run(&[]), run(&[("warm_up", "0 s"), ("cool_down", "0 s")]));
    assert_eq!(load.trace_hash, all.trace_hash);
    let mbit =
        |summary: &stillair_sim::recorder::RunSummary, seconds: f64| summary.goodput_total_mbps * seconds;
    let (during, whole) = (mbit(&load, 1.0), mbit(&all, 11.0));
    // The difference is the data in flight at the end of the interval.
    assert!(during > 20.0 && during <= whole && whole < during + 10.0, "{during} {whole}");
}
