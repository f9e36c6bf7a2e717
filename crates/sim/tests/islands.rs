//! Networks with islands: run one after another or in parallel, they give the same results as a run that
//! handles all events in a single order.

mod common;

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};

use common::random::{Case, case};
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestCaseError, TestRunner};
use stillair_model::types::Seed;
use stillair_sim::run::{Session, run_by_islands};
use stillair_sim::scenario::{self, Scenario};
use toml::{Table, Value};

/// Tables in which two networks may have equal names.
const THINGS: [&str; 3] = ["node", "channel", "link"];

/// Keys whose values may be words that are also names.
const WORDS: [&str; 5] = ["kind", "profile", "role", "power_save", "scheme"];

/// Returns true if a word of a scenario names one of these objects, directly or by a pattern.
fn names(word: &str, of: &[String]) -> bool {
    let head = word.split('.').next().unwrap_or(word);
    let begins = head.strip_suffix('*').filter(|begins| !begins.is_empty());
    of.iter().any(|name| name == head || begins.is_some_and(|begins| name.starts_with(begins)))
}

/// Renames all objects and references to them, and removes addresses, so that they are assigned.
fn rename(value: &mut Value, things: &[String]) {
    match value {
        Value::String(word) if names(word, things) => *word = format!("b-{word}"),
        Value::Array(all) => all.iter_mut().for_each(|one| rename(one, things)),
        Value::Table(table) => {
            table.remove("address");
            let other = table.iter_mut().filter(|(key, _)| !WORDS.contains(&key.as_str()));
            other.for_each(|(_, one)| rename(one, things));
        }
        _ => {}
    }
}

/// Combines both networks in one scenario, sharing nothing, or sharing one server that then does not forward.
fn both(a: &str, b: &str, one_server: bool) -> String {
    let [mut a, mut b] = [a, b].map(|text| text.parse::<Table>().expect("TOML"));
    let things: Vec<String> = THINGS
        .iter()
        .filter_map(|kind| b.get(*kind)?.as_table())
        .flat_map(|table| table.keys().cloned())
        .filter(|name| !(one_server && name == "server"))
        .collect();
    // Scenario events need a single world that stops as a whole.
    a.remove("step");
    for kind in THINGS {
        let Some(Value::Table(more)) = b.remove(kind) else { continue };
        let of = a.entry(kind).or_insert_with(|| Value::Table(Table::new())).as_table_mut().expect("a table");
        for (name, mut thing) in more {
            rename(&mut thing, &things);
            if !(one_server && name == "server") {
                of.insert(format!("b-{name}"), thing);
                continue;
            }
            let server = of["server"].as_table_mut().expect("a table");
            server.insert("forward".to_owned(), false.into());
            let own = server["interface"].as_table_mut().expect("a table");
            let theirs = thing["interface"].as_table().expect("a table");
            own.extend(theirs.iter().map(|(name, interface)| (format!("b-{name}"), interface.clone())));
        }
    }
    let mut flows = b.remove("flow").and_then(|flows| flows.as_array().cloned()).unwrap_or_default();
    for flow in &mut flows {
        let name = flow.get("name").and_then(|name| name.as_str()).map(|name| format!("b-{name}"));
        rename(flow, &things);
        if let (Some(name), Some(flow)) = (name, flow.as_table_mut()) {
            flow.insert("name".to_owned(), name.into());
        }
    }
    let own = a.entry("flow").or_insert_with(|| Value::Array(Vec::new()));
    let all = own.as_array_mut().expect("an array");
    all.extend(flows);
    // Multicast flows exclude islands.
    all.retain(|flow| flow.get("multicast").is_none());
    a.to_string()
}

/// Returns true if a scenario has islands. If so, checks that all reports of its run are equal.
fn same(scenario: &Scenario, run: u64) -> Result<bool, String> {
    let seed = Seed { seed: scenario.seed, run };
    let Some(first) = run_by_islands(scenario, seed, 1) else { return Ok(false) };
    let plain = Session::new(scenario, seed, |recorder| recorder)?.finish()?.0.to_json()?;
    let by_threads = [2, 3].map(|threads| run_by_islands(scenario, seed, threads).expect("it has islands"));
    for (threads, report) in (1..).zip([first].into_iter().chain(by_threads)) {
        let report = report?.to_json()?;
        if report != plain {
            return Err(format!("{threads} threads: {report}\nin one order: {plain}"));
        }
    }
    Ok(true)
}

fn shipped(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() { shipped(&path, into) } else { into.push(path) }
    }
}

/// Each shipped scenario twice in one network: events at the same instant in both must be handled in the
/// single order.
#[test]
fn shipped_scenarios_twice() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut files = Vec::new();
    shipped(&root, &mut files);
    files.sort();
    let (mut alike, mut left) = (Vec::new(), Vec::new());
    for path in &files {
        let file = path.strip_prefix(&root).expect("below it").display().to_string();
        let text = fs::read_to_string(path).expect("a file");
        let mut table: Table = text.parse().expect("TOML");
        let length = if file == "campus.toml" { "700 ms" } else { "1200 ms" };
        for key in ["record", "sweep", "step", "test", "cool_down"] {
            table.remove(key);
        }
        table.insert("duration".to_owned(), length.into());
        table.insert("warm_up".to_owned(), "100 ms".into());
        for flow in table.get_mut("flow").and_then(|flows| flows.as_array_mut()).into_iter().flatten() {
            for (key, time) in [("start", "200 ms"), ("start_spread", "300 ms")] {
                flow.get_mut(key).into_iter().for_each(|given| *given = time.into());
            }
        }
        // The campus already has islands.
        let one = table.to_string();
        let text = if file == "campus.toml" { one } else { both(&one, &one, false) };
        match scenario::parse(&text, &path.display().to_string(), &[]) {
            Ok(scenario) => match same(&scenario, 0) {
                Ok(true) => alike.push(file),
                Ok(false) => left.push(format!("{file}: no islands")),
                Err(why) => panic!("{file}: {why}"),
            },
            Err(why) => left.push(format!("{file}: {why}")),
        }
    }
    println!("left out: {left:#?}");
    assert!(alike.len() >= 40 && alike.contains(&"campus.toml".to_owned()), "{alike:?} {left:#?}");
}

/// Two random networks, separate or behind one server. Returns whether they could be compared.
fn check(a: &Case, b: &Case, one_server: bool, run: u64) -> Result<bool, String> {
    let text = both(&a.text(1024), &b.text(64), one_server);
    match scenario::parse(&text, "random.toml", &[]) {
        Ok(scenario) => same(&scenario, run).map_err(|why| format!("{why}\n{text}")),
        // Without forwarding, traffic between its cells is impossible.
        Err(why) if one_server && why.to_string().contains("does not forward") => Ok(false),
        Err(why) => Err(format!("{why}\n{text}")),
    }
}

#[test]
fn random_networks() {
    let config = ProptestConfig {
        cases: 250,
        max_shrink_iters: 100,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    };
    // Separate and behind one server.
    let compared = [Cell::new(0), Cell::new(0)];
    let networks = (case(), case(), any::<bool>(), 0_u64..4);
    let tried = TestRunner::new(config).run(&networks, |(a, b, one_server, run)| {
        let alike = check(&a, &b, one_server, run).map_err(TestCaseError::fail)?;
        let count = &compared[usize::from(one_server)];
        count.set(count.get() + u32::from(alike));
        Ok(())
    });
    tried.unwrap_or_else(|why| panic!("{why}"));
    let compared = compared.map(|count| count.get());
    assert!(compared[0] >= 80 && compared[1] >= 20, "{compared:?} networks had islands");
}
