//! Start times of the flows of many stations.

mod common;

use common::parse;
use stillair_model::types::Seed;
use stillair_sim::api;
use stillair_sim::recorder::RunSummary;

const NETWORK: &str = include_str!("steps/network.toml");

fn run(text: &str) -> RunSummary {
    api::run_once(&parse(text, &[]), Seed { seed: 1, run: 0 }).expect("accounts close")
}

/// 22 calls over Wi-Fi.
fn calls(keys: &str) -> String {
    NETWORK.replace("[node.sta]", "[node.sta]\ncount = 22").replace(", address = \"10.0.1.10\"", "")
        + "[[flow]]\nkind = \"voip\"\nfrom = \"server\"\nto = \"sta\"\nbidirectional = true\n"
        + keys
}

#[test]
fn flows_of_counted_nodes_spread_their_starts() {
    let spread = |keys: &str, sets: &[(&str, &str)]| {
        let scenario = parse(&calls(keys), sets);
        assert!(scenario.flows.iter().all(|flow| flow.start_spread == scenario.flows[0].start_spread));
        scenario.flows[0].start_spread.nanos() / 1_000_000
    };
    // Half of the warm-up of 3 s; without a warm-up, and for later starts, a tenth of the remaining time; 100
    // ms per flow.
    assert_eq!(spread("", &[]), 1_500);
    assert_eq!(spread("start = \"1 s\"", &[]), 1_000);
    assert_eq!(spread("", &[("warm_up", "0 s")]), 600);
    assert_eq!(spread("start = \"4 s\"", &[]), 200);
    assert_eq!(spread("", &[("node.sta.count", "4")]), 400);
    assert_eq!(spread("stop = \"1 s\"", &[]), 500);
    // An explicit spread is used, and a single flow starts immediately.
    assert_eq!(spread("start_spread = \"0 s\"", &[]), 0);
    assert_eq!(spread("start_spread = \"30 ms\"", &[]), 30);
    assert_eq!(spread("", &[("node.sta.count", "1"), ("flow.0.to", "sta1")]), 0);
    assert_eq!(spread("", &[("flow.0.to", "sta7")]), 0);
}

#[test]
fn flows_that_start_together_are_reported() {
    let note =
        |keys: &str| parse(&calls(keys), &[]).notes().into_iter().find(|note| note.contains("start flows"));
    assert_eq!(note(""), None);
    assert_eq!(note("start_spread = \"1 s\""), None);
    let said = note("start_spread = \"0 s\"").expect("a note");
    assert!(said.starts_with("flow.0.start_spread: about 22 stations on channel wifi"), "{said}");
    assert!(said.contains("stay in step for the whole run"), "{said}");
    assert!(note("start_spread = \"10 ms\"").expect("a note").contains("about 11 stations"));
    // Separate tables count together.
    let one = |n: usize, start: usize| {
        format!("[[flow]]\nkind = \"tcp\"\nfrom = \"server\"\nto = \"sta{n}\"\nstart = \"{start} ms\"\n")
    };
    let all = |gap: usize| {
        let base = calls("start_spread = \"2 s\"\n");
        base + &(1..=22).map(|n| one(n, 100 + gap * n)).collect::<String>()
    };
    let found =
        |text: String| parse(&text, &[]).notes().into_iter().find(|note| note.contains("start flows"));
    assert!(found(all(0)).is_some_and(|note| !note.contains("in step")));
    assert_eq!(found(all(50)), None);
}

#[test]
fn calls_of_many_stations_work_once_their_starts_are_spread() {
    // Without collisions in Block Ack session setup, 22 calls take a third of the airtime.
    let summary =
        run(&calls("dscp = \"EF\"").replace("\"6 s\"", "\"9 s\"").replace("ht20-mcs7-lgi", "ht20-mcs15-sgi"));
    let worst = summary.voip.values().map(|call| call.loss).fold(0.0, f64::max);
    assert!(worst < 0.01, "{worst}");
}
