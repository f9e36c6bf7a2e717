//! Networks of one's own, as short as they are shipped: each is read and runs a second of each of its combinations.

mod common;

use std::fs;
use std::path::Path;

use stillair_model::vocabulary::Duration;
use stillair_sim::scenario;

/// Files, and how many lines each may have.
const FILES: [(&str, usize); 9] = [
    ("home", 30),
    ("flat", 25),
    ("office", 30),
    ("cafe", 30),
    ("classroom", 30),
    ("dormitory", 35),
    ("examples/openwrt-20", 25),
    ("examples/upload", 30),
    ("examples/hidden-nodes", 25),
];

#[test]
fn each_is_short_and_runs() {
    for (name, most) in FILES {
        let file = format!("../../scenarios/{name}.toml");
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(&file)).expect("a file");
        let lines = text.lines().filter(|line| !line.starts_with('#')).count();
        assert!(lines <= most, "{name}: {lines} lines");
        let question = text.lines().next().is_some_and(|line| line.starts_with("# ") && line.ends_with('?'));
        assert!(question, "{name}: a question comes first");
        for sets in scenario::sweep(&text, name, &[]).unwrap_or_else(|e| panic!("{e}")) {
            let mut scenario = scenario::parse(&text, name, &sets).unwrap_or_else(|e| panic!("{e} {sets:?}"));
            scenario.duration = Duration::from_millis(600);
            (scenario.warm_up, scenario.cool_down) = (Duration::from_millis(300), Duration::ZERO);
            let summary = common::run(&scenario, 0);
            assert!(summary.packets.delivered > 0, "{name} {sets:?}");
        }
    }
}
