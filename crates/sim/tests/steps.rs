//! Networks that change while a run goes on.

mod common;

use common::parse;
use proptest::prelude::*;
use stillair_model::vocabulary::{Duration, Instant, Seed};
use stillair_sim::recorder::RunSummary;
use stillair_sim::run::Session;
use stillair_sim::{api, scenario};

const NETWORK: &str = r#"
name = "steps"
duration = "6 s"
warm_up = "3 s"
[channel.wifi]
band = "5 GHz"
width = "20 MHz"
[link.lan]
rate = "100 Mbit/s"
delay = "5 ms"
[node.server]
profile = "linux-6.12"
interface.eth0 = { link = "lan", address = "10.0.0.2" }
[node.ap]
profile = "openwrt-24.10"
forward = true
interface.eth0 = { link = "lan", address = "10.0.0.1" }
interface.wlan0 = { channel = "wifi", role = "ap", address = "10.0.1.1" }
[node.sta]
profile = "linux-6.12"
interface.wlan0 = { channel = "wifi", role = "station", ap = "ap.wlan0", rate = "ht20-mcs7-lgi", address = "10.0.1.10" }
"#;

const UDP: &str = "[[flow]]\nkind = \"udp\"\nfrom = \"server\"\nto = \"sta\"\nrate = \"20 Mbit/s\"\n";
const MORE: &str = "[[flow]]\nkind = \"udp\"\nfrom = \"server\"\nto = \"sta\"\nrate = \"50 Mbit/s\"\n";
const TCP: &str = "[[flow]]\nkind = \"tcp\"\nfrom = \"server\"\nto = \"sta\"\n";
const PING: &str = "[[flow]]\nkind = \"ping\"\nfrom = \"server\"\nto = \"sta\"\ninterval = \"50 ms\"\n";

fn step(at: &str, set: &[&str]) -> String {
    format!("[[step]]\nat = \"{at}\"\nset = {set:?}\n")
}

fn run(text: &str) -> RunSummary {
    api::run_once(&parse(text, &[]), Seed { seed: 1, run: 0 }).expect("accounts close")
}

#[test]
fn what_changes_before_the_measured_time_is_as_if_it_had_been_so() {
    for (flows, set, tells) in [
        (UDP, "link.lan.rate=5 Mbit/s", "goodput"),
        (UDP, "node.sta.interface.wlan0.rate=ht20-mcs0-lgi", "goodput"),
        (MORE, "node.sta.interface.wlan0.error_rate=0.5", "goodput"),
        (PING, "link.lan.delay=40 ms", "ping"),
    ] {
        let (key, value) = set.split_once('=').expect("KEY=VALUE");
        let from_the_start =
            api::run_once(&parse(&(NETWORK.to_owned() + flows), &[(key, value)]), Seed { seed: 1, run: 0 });
        let changed = run(&(NETWORK.to_owned() + flows + &step("2 s", &[set])));
        let never = run(&(NETWORK.to_owned() + flows));
        let figure = |of: &RunSummary| match tells {
            "ping" => of.pings.values().next().expect("a ping").median_ms.expect("an answer"),
            _ => of.goodput_total_mbps,
        };
        let [start, step, none] = [&from_the_start.expect("accounts close"), &changed, &never].map(figure);
        // Losses are drawn anew.
        assert!((step / start - 1.0).abs() < 0.05, "{set}: {start} from the start, {step} by a step");
        assert!((none / start - 1.0).abs() > 0.1, "{set}: {none} without it");
    }
}

#[test]
fn another_discipline_is_as_if_it_had_been_there() {
    // Of the whole path: what the server sends is shaped, lost or delayed where it leaves.
    let qdisc = |of: &str| format!("node.server.interface.eth0.qdisc={of}");
    for (flows, set, tells) in [
        (
            UDP,
            qdisc("{ kind = \"tbf\", rate = \"5 Mbit/s\", burst = \"5 KiB\", limit = \"20 KiB\" }"),
            "goodput",
        ),
        (UDP, qdisc("{ kind = \"netem\", loss = 0.3 }"), "goodput"),
        (PING, qdisc("{ kind = \"netem\", delay = \"40 ms\" }"), "ping"),
    ] {
        let (key, value) = set.split_once('=').expect("KEY=VALUE");
        let text = NETWORK.to_owned() + flows;
        let start =
            api::run_once(&parse(&text, &[(key, value)]), Seed { seed: 1, run: 0 }).expect("accounts");
        let (changed, never) = (run(&(text.clone() + &step("2 s", &[&set]))), run(&text));
        let figure = |of: &RunSummary| match tells {
            "ping" => of.pings.values().next().expect("a ping").median_ms.expect("an answer"),
            _ => of.goodput_total_mbps,
        };
        let [start, step, none] = [&start, &changed, &never].map(figure);
        assert!((step / start - 1.0).abs() < 0.05, "{set}: {start} from the start, {step} by a step");
        assert!((none / start - 1.0).abs() > 0.1, "{set}: {none} without it");
    }
}

#[test]
fn what_waits_in_a_discipline_that_is_replaced_is_dropped_and_sent_again() {
    let slow = "interface.eth0 = { link = \"lan\", address = \"10.0.0.2\", qdisc = { kind = \"tbf\", rate = \"10 Mbit/s\", burst = \"5 KiB\", limit = \"200 KiB\" } }";
    let text = NETWORK.replacen("interface.eth0 = { link = \"lan\", address = \"10.0.0.2\" }", slow, 1) + TCP;
    for to in ["fq_codel", "{ kind = \"cake\", bandwidth = \"20 Mbit/s\" }", "{ kind = \"bfifo\" }"] {
        let summary =
            run(&(text.clone() + &step("4 s", &[&format!("node.server.interface.eth0.qdisc={to}")])));
        let replaced: u64 =
            summary.drops.iter().filter(|drop| drop.reason == "replaced").map(|drop| drop.packets).sum();
        assert!(replaced >= 2, "{to}: {:?}", summary.drops);
        let flow = summary.flows.values().next().expect("a flow");
        assert!(u64::from(flow.tcp.as_ref().expect("TCP").retransmissions) >= replaced, "{to}");
        // It goes on, with more than before.
        assert!(flow.goodput_mbps > 10.5, "{to}: {}", flow.goodput_mbps);
    }
}

#[test]
fn a_step_that_changes_nothing_has_the_trace_of_none() {
    let same = ["link.lan.rate=100 Mbit/s", "node.sta.interface.wlan0.rate=ht20-mcs7-lgi"];
    let text = NETWORK.to_owned() + TCP + PING;
    assert_eq!(run(&(text.clone() + &step("1 s", &same))).trace_hash, run(&text).trace_hash);
    let other = text.clone() + &step("1 s", &["link.lan.delay=6 ms"]);
    assert_ne!(run(&other).trace_hash, run(&text).trace_hash);
    assert_eq!(run(&other).trace_hash, run(&other).trace_hash);
}

#[test]
fn a_wire_that_becomes_shorter_keeps_the_order_of_packets() {
    let text = NETWORK.replace("\"5 ms\"", "\"80 ms\"") + TCP + &step("4 s", &["link.lan.delay=1 ms"]);
    let summary = run(&text);
    let flow = summary.flows.values().next().expect("a flow");
    // What CoDel drops at the access point is sent again. What another packet had overtaken would be sent again too.
    let dropped: u32 = summary.drops.iter().map(|drop| drop.packets as u32).sum();
    assert!(summary.drops.iter().all(|drop| drop.place == "ap.wlan0 mac"), "{:?}", summary.drops);
    assert_eq!(flow.tcp.as_ref().expect("TCP").retransmissions, dropped);
}

#[test]
fn who_drives_changes_the_same() {
    let text = NETWORK.to_owned() + UDP;
    let by_step = run(&(text.clone() + &step("2 s", &["link.lan.rate=5 Mbit/s"])));
    let before = parse(&text, &[]);
    let after = parse(&text, &[("link.lan.rate", "5 Mbit/s")]);
    let mut session = Session::new(&before, Seed { seed: 1, run: 0 }, |recorder| recorder).expect("short");
    session.advance(Instant::ZERO + Duration::from_secs(2));
    session.change(&after).expect("a rate");
    let (report, _) = session.finish().expect("accounts close");
    assert_eq!(report.summary.trace_hash, by_step.trace_hash);
    let mut session = Session::new(&before, Seed { seed: 1, run: 0 }, |recorder| recorder).expect("short");
    let other = parse(&text, &[("node.server.interface.eth0.txqueuelen", "7")]);
    let says = "node.server.interface.eth0.txqueuelen, which was 1000 before and is 7 then";
    assert_eq!(session.change(&other), Err(says.to_owned()));
}

#[test]
fn what_cannot_change_is_refused() {
    let says = |steps: &str| {
        let text = NETWORK.to_owned() + UDP + steps;
        scenario::parse(&text, "steps.toml", &[]).expect_err("a mistake").to_string()
    };
    for (steps, found) in [
        (
            step("1 s", &["node.ap.forward=false"]),
            "step.0.set.0: found node.ap.forward, which cannot change while a run goes on",
        ),
        (step("1 s", &["link.wan.rate=1 Mbit/s"]), "link.wan: found no such name, expected"),
        (step("1 s", &["link.lan.rate=fast"]), "link.lan.rate: found \"fast\""),
        (
            step("9 s", &["link.lan.rate=1 Mbit/s"]),
            "step.0.at: found \"9 s\", expected a time before the end of the run",
        ),
        (
            step("2 s", &["link.lan.rate=1 Mbit/s"]) + &step("2 s", &["link.lan.rate=2 Mbit/s"]),
            "step.1.at: found \"2 s\", expected a time after that of the step before",
        ),
        (
            step("1 s", &["node.sta.interface.wlan0.rate=he20-mcs3-nss1-gi0.8"]),
            "step.0: found node.sta.interface.wlan0: 802.11ax in place of what was before it, or the reverse",
        ),
        (
            step("1 s", &["node.server.interface.eth0.qdisc=noqueue"]),
            "node.server.interface.eth0.qdisc: found \"noqueue\" over a device that stops its queue",
        ),
        (
            step("1 s", &["node.server.interface.eth0.qdisc=fq"]),
            "step.0: found node.server.interface.eth0.qdisc of fq in place of pfifo_fast, one of which alone keeps the pace of sockets",
        ),
        (step("1 s", &["node.server.interface.eth0.qdisc=fast"]), "node.server.interface.eth0.qdisc"),
        (
            step("1 s", &["node.sta.interface.wlan0.rate=vht20-mcs3-nss1-lgi"]),
            "step.0: found node.ap.interface.wlan0.medium.destination_filter, which was \"linux-4.9\" before and is \"none\" then",
        ),
        (step("1 s", &["link.lan.rate"]), "step.0.set.0: found \"link.lan.rate\", expected KEY=VALUE"),
    ] {
        assert!(says(&steps).contains(found), "{}", says(&steps));
    }
}

/// Where everybody stands: who hears whom does not follow from it here.
fn placed(sta: &str) -> String {
    let text = NETWORK
        .replace("forward = true\n", "forward = true\nposition = \"0 m, 0 m\"\n")
        .replace("[node.sta]\n", &format!("[node.sta]\nposition = \"{sta}\"\n"))
        .replace("duration = \"6 s\"\nwarm_up = \"3 s\"", "duration = \"700 ms\"\nwarm_up = \"0 s\"");
    let flow = |kind: &str, from: &str, to: &str, more: &str| {
        format!("[[flow]]\nkind = \"{kind}\"\nfrom = \"{from}\"\nto = \"{to}\"\n{more}")
    };
    text + &flow("tcp", "server", "sta", "")
        + &flow("tcp", "sta", "server", "")
        + &flow("udp", "server", "sta", "rate = \"2 Mbit/s\"\n")
        + &flow("ping", "sta", "server", "interval = \"20 ms\"\n")
}

/// What changes, each in some ways.
const CHANGES: [(&str, &[&str]); 7] = [
    ("node.sta.position", &["2 m, 0 m", "30 m, 5 m", "20 m, 15 m"]),
    ("node.sta.interface.wlan0.rate", &["ht20-mcs0-lgi", "ht20-mcs15-sgi", "{ kind = \"minstrel_ht\" }"]),
    (
        "node.sta.interface.wlan0.uplink_rate",
        &["ht20-mcs3-lgi", "ht20-mcs7-sgi", "{ kind = \"minstrel_ht\", streams = 1 }"],
    ),
    ("link.lan.rate", &["1 Mbit/s", "30 Mbit/s", "1 Gbit/s"]),
    ("link.lan.delay", &["0 s", "3 ms", "40 ms"]),
    (
        "node.server.interface.eth0.qdisc",
        &[
            "fq_codel",
            "{ kind = \"tbf\", rate = \"3 Mbit/s\", burst = \"5 KiB\", limit = \"100 KiB\" }",
            "{ kind = \"netem\", delay = \"5 ms\", jitter = \"2 ms\", loss = 0.02 }",
            "{ kind = \"cake\", bandwidth = \"8 Mbit/s\" }",
            "{ kind = \"htb\", rate = \"4 Mbit/s\", child = \"codel\" }",
            "sfq",
        ],
    ),
    (
        "node.ap.interface.eth0.qdisc",
        &["codel", "{ kind = \"pie\", limit = 20 }", "{ kind = \"bfifo\", limit = \"9 KiB\" }"],
    ),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Whatever changes in whatever order: nothing is lost from the accounts, and it is the same again.
    #[test]
    fn accounts_close_whatever_changes(
        changes in proptest::collection::btree_map(1_u32..690, (0..CHANGES.len(), 0_usize..6), 1..9),
        seed in 0_u64..1_000,
    ) {
        let steps: String = changes
            .iter()
            .map(|(ms, &(key, to))| {
                let (key, values) = CHANGES[key];
                step(&format!("{ms} ms"), &[&format!("{key}={}", values[to % values.len()])])
            })
            .collect();
        let scenario = scenario::parse(&(placed("10 m, 0 m") + &steps), "steps.toml", &[]);
        let scenario = scenario.unwrap_or_else(|why| panic!("{why}"));
        let run = || api::run_once(&scenario, Seed { seed, run: 0 }).map_err(|why| TestCaseError::fail(format!("{why}\n{steps}")));
        let (once, again) = (run()?, run()?);
        prop_assert_eq!(once.trace_hash, again.trace_hash);
    }
}

#[test]
fn a_place_out_of_hearing_is_refused_by_its_name() {
    let text = placed("10 m, 0 m") + &step("100 ms", &["node.sta.position=300 m, 0 m"]);
    let says = scenario::parse(&text, "steps.toml", &[]).expect_err("too far").to_string();
    assert!(
        says.contains("step.0: found node.sta.position: a place from which a node hears others"),
        "{says}"
    );
}
