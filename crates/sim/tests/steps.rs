//! Networks that change during a run.

mod common;

use common::parse;
use proptest::prelude::*;
use stillair_model::types::{Duration, Instant, Seed};
use stillair_sim::recorder::RunSummary;
use stillair_sim::run::{self, Followed, Session};
use stillair_sim::{api, scenario};

const NETWORK: &str = include_str!("steps/network.toml");

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
fn change_before_the_measurement_equals_an_initial_setting() {
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
        // Losses are redrawn.
        assert!((step / start - 1.0).abs() < 0.05, "{set}: {start} from the start, {step} by a step");
        assert!((none / start - 1.0).abs() > 0.1, "{set}: {none} without it");
    }
}

#[test]
fn changed_qdisc_behaves_like_an_initial_one() {
    // The whole path: the server's packets are shaped, lost or delayed where they leave.
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
fn packets_in_a_replaced_qdisc_are_dropped_and_retransmitted() {
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
        // The flow continues, faster than before.
        assert!(flow.goodput_mbps > 10.5, "{to}: {}", flow.goodput_mbps);
    }
}

#[test]
fn event_without_change_keeps_the_trace() {
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
    // CoDel drops at the access point are retransmitted. Overtaken packets would be retransmitted as well.
    let dropped: u32 = summary.drops.iter().map(|drop| drop.packets as u32).sum();
    assert!(summary.drops.iter().all(|drop| drop.place == "ap.wlan0 mac"), "{:?}", summary.drops);
    assert_eq!(flow.tcp.as_ref().expect("TCP").retransmissions, dropped);
}

#[test]
fn driver_makes_the_same_changes() {
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
fn unchangeable_keys_are_rejected() {
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

/// Positions of all nodes, without effect on audibility here.
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

/// Changes, each with several values.
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

    /// Whatever changes in whatever order: accounts balance, and runs are reproducible.
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
fn out_of_range_position_is_rejected_by_its_key() {
    let text = placed("10 m, 0 m") + &step("100 ms", &["node.sta.position=300 m, 0 m"]);
    let says = scenario::parse(&text, "steps.toml", &[]).expect_err("too far").to_string();
    assert!(
        says.contains("step.0: found node.sta.position: a place from which a node hears others"),
        "{says}"
    );
}

/// A router before a slow wire or line: `a`, `r`, `s`, and UDP of 2 Mbit/s from 5 s on.
fn slow(link: &str) -> String {
    format!(
        r#"
name = "slow"
duration = "20 s"
[link.l1]
rate = "1 Gbit/s"
delay = "100 us"
[link.wan]
{link}
delay = "10 ms"
[node.a]
profile = "linux-6.1"
interface.eth0 = {{ link = "l1" }}
[node.r]
profile = "linux-6.1"
forward = true
interface.eth0 = {{ link = "l1" }}
interface.wan = {{ link = "wan" }}
[node.s]
profile = "linux-6.1"
interface.eth0 = {{ link = "wan" }}
[[flow]]
kind = "udp"
from = "a"
to = "s"
rate = "2 Mbit/s"
payload = 1400
gap = "periodic"
start = "5 s"
[[flow]]
kind = "udp_ping"
from = "a"
to = "s"
interval = "100 ms"
start = "10.1 s"
stop = "15 s"
"#
    )
}

/// Events that change the rate of `wan`.
fn rates(steps: &[(&str, &str)]) -> String {
    steps.iter().map(|(at, rate)| step(at, &[&format!("link.wan.rate={rate}")])).collect()
}

const ETHERNET: &str = "rate = \"1 Mbit/s\"";
const BQL: &str = "rate = \"1 Mbit/s\"\nbql = true";
const MODEM: &str = "kind = \"access\"\nrate = \"1 Mbit/s\"\nbuffer = \"1 MB\"\ncpe = \"s\"";

#[test]
fn queued_packets_leave_at_the_new_wire_rate() {
    for link in [ETHERNET, BQL, MODEM] {
        let summary = run(&(slow(link) + &rates(&[("10 s", "100 Mbit/s")])));
        // The backlog of 5 s of 2 Mbit/s into 1 Mbit/s is waiting at 10 s, and gone 0.1 s later: pings see an
        // idle line.
        let ping = summary.pings.values().next().expect("a ping");
        // 5 s at 1 Mbit/s leave 5.3 Mbit, which 50 Mbit/s carry until 10.11 s; the first ping is sent at 10.1
        // s.
        assert!(ping.longest_ms.expect("answers") < 45.0, "{link}: {:?}", ping.longest_ms);
        let sent = summary.flows.values().next().expect("a flow");
        let dropped: u64 = summary.drops.iter().map(|drop| drop.packets).sum();
        assert!(dropped < 400, "{link}: {dropped} dropped");
        assert!(sent.goodput_mbps > 1.1, "{link}: {}", sent.goodput_mbps);
    }
}

#[test]
fn an_outage_passes() {
    for link in [ETHERNET, BQL, MODEM] {
        let link = link.replace("1 Mbit", "10 Mbit");
        let summary = run(&(slow(&link) + &rates(&[("6 s", "0 bit/s"), ("8 s", "10 Mbit/s")])));
        let ping = summary.pings.values().next().expect("a ping");
        // 5 s at 1 Mbit/s leave 5.3 Mbit, which 50 Mbit/s carry until 10.11 s; the first ping is sent at 10.1
        // s.
        assert!(ping.longest_ms.expect("answers") < 45.0, "{link}: {:?}", ping.longest_ms);
        // 2 Mbit/s for 15 of 20 s, with few drops during the outage.
        let flow = summary.flows.values().next().expect("a flow");
        assert!(flow.goodput_mbps > 1.35, "{link}: {}", flow.goodput_mbps);
    }
    // Downstream only: the other direction continues.
    let down = MODEM.replace("\"1 Mbit/s\"", "{ down = \"10 Mbit/s\", up = \"10 Mbit/s\" }");
    let steps = step("10 s", &["link.wan.rate.down=0 Mbit/s"]);
    let summary = run(&(slow(&down) + &steps));
    let flow = summary.flows.values().next().expect("a flow");
    // From 5 to 10 s of 20 s, and not later.
    assert!((0.49..0.51).contains(&flow.goodput_mbps), "{}", flow.goodput_mbps);
    let up = run(&(slow(&down) + &step("10 s", &["link.wan.rate.up=0 Mbit/s"])));
    assert!(up.flows.values().next().expect("a flow").goodput_mbps > 1.49);
    assert_eq!(up.pings.values().next().expect("a ping").received, 0);
}

#[test]
fn a_line_that_starts_down_works_once_it_is_up() {
    for link in [ETHERNET, MODEM] {
        let down = slow(&link.replace("1 Mbit", "0 bit"));
        let up = run(&(down.clone() + &rates(&[("7 s", "10 Mbit/s")])));
        assert!(up.flows.values().next().expect("a flow").goodput_mbps > 1.2, "{link}");
        let never = run(&down);
        assert_eq!(never.flows.values().next().expect("a flow").goodput_mbps, 0.0, "{link}");
        let notes = parse(&down, &[]).notes();
        assert!(
            notes.iter().any(|note| note.starts_with("link.wan.rate: 0 bit/s for the whole run")),
            "{notes:?}"
        );
        let notes = parse(&(down + &rates(&[("7 s", "10 Mbit/s")])), &[]).notes();
        assert!(!notes.iter().any(|note| note.starts_with("link.wan.rate")), "{notes:?}");
    }
    let notes = parse(&slow("rate = \"1 kbit/s\"").replace("\"20 s\"", "\"12 s\""), &[]).notes();
    assert!(
        notes.iter().any(|note| note.contains("takes 12.3 s at 1000 bit/s, longer than the run")),
        "{notes:?}"
    );
}

#[test]
fn buffer_given_as_time_keeps_its_bytes_when_the_rate_changes() {
    // 100 ms at 1 Mbit/s are 12,500 bytes: the maximum backlog after an outage of 2 s.
    let text = slow(&MODEM.replace("1 MB", "100 ms"));
    let summary = run(&(text.clone() + &rates(&[("6 s", "0 bit/s"), ("8 s", "100 Mbit/s")])));
    let dropped: u64 = summary.drops.iter().map(|drop| drop.packets).sum();
    // 2 Mbit/s are 178.6 packets per second, of which 1 Mbit/s carries 86.6: 84 are dropped before the outage
    // and 357 - 8 during it.
    assert!((420..445).contains(&dropped), "{dropped}");
    let wrong = text.replace("\"1 Mbit/s\"", "\"0 Mbit/s\"");
    let says = scenario::parse(&wrong, "s.toml", &[]).expect_err("a time without a rate").to_string();
    assert!(says.contains("a buffer given as a time before a line of 0 bit/s down"), "{says}");
}

#[test]
fn delay_of_rescheduled_packets_adds_up() {
    for link in [ETHERNET, MODEM] {
        let text = slow(link)
            + &rates(&[
                ("6 s", "10 Mbit/s"),
                ("6.1 s", "500 kbit/s"),
                ("8 s", "0 bit/s"),
                ("9 s", "100 Mbit/s"),
            ]);
        let scenario = parse(&text, &[]);
        let seed = Seed { seed: 1, run: 0 };
        let session = Session::new(&scenario, seed, run::follow(&scenario)).expect("a session");
        let (_, Followed(_, sojourn)) = session.finish().expect("accounts close");
        assert_eq!(sojourn.problem(), None, "{link}");
    }
}

/// A shaper of 1 Mbit/s or a delay of 2 s before a fast wire.
fn shaped(qdisc: &str) -> String {
    slow("rate = \"100 Mbit/s\"").replace(
        "interface.wan = { link = \"wan\" }",
        &format!("interface.wan = {{ link = \"wan\", qdisc = {qdisc} }}"),
    )
}

#[test]
fn shapers_keep_queued_packets_and_send_them_at_the_new_rate() {
    let htb = |rate: u64| {
        format!(
            "{{ kind = \"htb\", rate = \"{rate} Mbit/s\", child = {{ kind = \"pfifo\", limit = 1000 }} }}"
        )
    };
    let tbf = |rate: u64| {
        format!("{{ kind = \"tbf\", rate = \"{rate} Mbit/s\", burst = \"5 KiB\", limit = \"1 MB\" }}")
    };
    let cake = |rate: u64| format!("{{ kind = \"cake\", bandwidth = \"{rate} Mbit/s\", rtt = \"10 s\" }}");
    for (from, to) in [(htb(1), htb(50)), (tbf(1), tbf(50)), (cake(1), cake(50))] {
        let summary = run(&(shaped(&from) + &step("10 s", &[&format!("node.r.interface.wan.qdisc={to}")])));
        // The queue is kept. cake's AQM may drop a few packets that have been queued for seconds.
        let dropped: u64 =
            summary.drops.iter().filter(|drop| drop.reason != "codel").map(|drop| drop.packets).sum();
        assert_eq!(dropped, 0, "{to}: {:?}", summary.drops);
        let ping = summary.pings.values().next().expect("a ping");
        // 5 s at 1 Mbit/s leave 5.3 Mbit, which 50 Mbit/s carry until 10.11 s; the first ping is sent at 10.1
        // s.
        assert!(ping.longest_ms.expect("answers") < 45.0, "{to}: {:?}", ping.longest_ms);
        assert!(summary.flows.values().next().expect("a flow").goodput_mbps > 1.49, "{to}");
        // Another kind of qdisc starts empty.
        let other = if to.contains("tbf") { htb(50) } else { tbf(50) };
        let summary =
            run(&(shaped(&from) + &step("10 s", &[&format!("node.r.interface.wan.qdisc={other}")])));
        assert!(summary.drops.iter().any(|drop| drop.reason == "replaced" && drop.packets > 300), "{other}");
    }
}

#[test]
fn packets_in_netem_keep_their_departure_times() {
    // From 8 to 10 s, packets are delayed by 2 s; from 10 s on by 10 ms. As in Linux, earlier packets keep
    // their departure times, after later ones.
    let netem = |delay: &str| format!("{{ kind = \"netem\", delay = \"{delay}\", limit = 10000 }}");
    let text =
        shaped(&netem("2 s")) + &step("10 s", &[&format!("node.r.interface.wan.qdisc={}", netem("10 ms"))]);
    let summary = run(&text);
    assert_eq!(summary.drops.iter().map(|drop| drop.packets).sum::<u64>(), 0, "{:?}", summary.drops);
    let flow = summary.flows.values().next().expect("a flow");
    assert!(flow.goodput_mbps > 1.49, "{}", flow.goodput_mbps);
    let ping = summary.pings.values().next().expect("a ping");
    assert!((20.0..40.0).contains(&ping.longest_ms.expect("answers")), "{:?}", ping.longest_ms);
    // A rate of 1 Mbit/s assigns departure times; later packets follow the last of them, as in netem_enqueue.
    let rate = |rate: &str| format!("{{ kind = \"netem\", rate = \"{rate}\", limit = 10000 }}");
    let text = shaped(&rate("1 Mbit/s"))
        + &step("10 s", &[&format!("node.r.interface.wan.qdisc={}", rate("100 Mbit/s"))]);
    let ping = *run(&text).pings.values().next().expect("a ping");
    // 5 s at 2.06 Mbit/s with headers: a backlog of 5.3 s at 10 s, which later pings wait for.
    assert!((4_900.0..5_300.0).contains(&ping.longest_ms.expect("answers")), "{:?}", ping.longest_ms);
}

#[test]
fn a_distance_over_time_is_a_ratio_over_time() {
    let sta = "rate = \"ht20-mcs7-lgi\"";
    let with = |keys: &str| {
        NETWORK
            .replace("address = \"10.0.1.10\"", &format!("address = \"10.0.1.10\", {keys}"))
            .replace(sta, "rate = \"minstrel_ht\"")
            + UDP
    };
    let walk = run(&with("distance = [\"20 m\", { at = \"2 s\", distance = \"70 m\" }]"));
    // 16 dBm less 46.7 dB and 30 dB per decade, over -94 dBm of noise: 24.269 and 7.947 dB.
    let same = run(&with("snr = [\"24.269 dB\", { at = \"2 s\", snr = \"7.947 dB\" }]"));
    assert_eq!(walk.trace_hash, same.trace_hash);
    assert!(walk.goodput_total_mbps < 0.9 * run(&with("distance = \"20 m\"")).goodput_total_mbps);
    for (keys, says) in [
        ("distance = []", "distance: found"),
        (
            "distance = [\"20 m\", \"30 m\"]",
            "distance.1: found \"30 m\", expected a table with at and distance",
        ),
        ("distance = [\"20 m\", { at = \"2 s\", snr = \"7 dB\" }]", "distance"),
    ] {
        let found = scenario::parse(&with(keys), "s.toml", &[]).expect_err("a mistake").to_string();
        assert!(found.contains(says), "{found}");
    }
}
