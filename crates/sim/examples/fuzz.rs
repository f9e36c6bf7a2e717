//! Searches for scenarios that break the reader or the world: `fuzz reader SEED CASES FILE...` corrupts
//! scenario files, `fuzz traces SEED CASES FILE...` corrupts traces, `fuzz world SEED CASES` generates small
//! random networks, and `fuzz packets SEED CASES` corrupts IP packets of external hosts.
//!
//! Case n has the seed SEED + n. A failure prints its seed and is reproduced by `fuzz world SEED 1`. The
//! caller decides how long to run (scripts/fuzz.sh); this program reads no clock.

#[path = "../tests/common/mod.rs"]
mod common;
#[path = "../../ip/tests/common/mod.rs"]
mod packets;

use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::{env, fs};

use common::{drain, random};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use stillair_model::types::{Duration, Instant, Seed};
use stillair_sim::scenario::{self, Scenario};
use stillair_sim::trace_file::{self, Format};
use stillair_sim::world;

/// Maximum attempts to shrink a failing case.
const SHRINKS: u32 = 300;

/// Returns a generator of cases that depends only on the seed.
fn runner(seed: u64) -> TestRunner {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config { failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
}

/// Runs a check. A panic becomes an error.
fn guarded(check: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    panic::catch_unwind(AssertUnwindSafe(check)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        Err(format!("panic: {}", text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("no message")))
    })
}

/// Shrinks a failing case. Returns the smallest one found, and its error.
fn smallest<T: ValueTree>(
    mut tree: T,
    check: impl Fn(&T::Value) -> Result<(), String>,
) -> (T::Value, String) {
    let mut smallest = (tree.current(), guarded(|| check(&tree.current())).err().unwrap_or_default());
    // Panics of the attempts would only clutter the output.
    panic::set_hook(Box::new(|_| {}));
    let mut more = tree.simplify();
    for _ in 0..SHRINKS {
        if !more {
            break;
        }
        let now = tree.current();
        more = match guarded(|| check(&now)) {
            Err(why) => {
                smallest = (now, why);
                tree.simplify()
            }
            Ok(()) => tree.complicate(),
        };
    }
    smallest
}

/// Runs cases of one kind with consecutive seeds. Prints the first failing case as text and stops.
fn search<S: Strategy>(
    (kind, first, cases): (&str, u64, u64),
    strategy: &S,
    check: impl Fn(&S::Value) -> Result<(), String>,
    show: impl Fn(&S::Value) -> String,
) -> Result<(), String> {
    for seed in first..first.saturating_add(cases) {
        let tree = strategy.new_tree(&mut runner(seed)).expect("strategies here refuse nothing");
        if guarded(|| check(&tree.current())).is_err() {
            let (case, why) = smallest(tree, &check);
            return Err(format!("{}\nfuzz {kind}: seed {seed}: {why}", show(&case)));
        }
    }
    Ok(())
}

/// Corruption of a file.
#[derive(Clone, Debug)]
enum Damage {
    Delete(Index, usize),
    Swap(Index, Index),
    Set(Index, u8),
    Copy(Index, usize, Index),
    /// A value or key that might confuse a parser.
    Insert(Index, &'static str),
    /// Replaces everything after an `=` sign.
    Value(Index, &'static str),
}

const STUMBLING: [&str; 25] = [
    // Longer than messages show, and split within a character if cut by bytes.
    "\"xéééééééééééééééééééééééééééééééééééééééé\"",
    "0",
    "-1",
    "1",
    "9223372036854775807",
    "1e308",
    "nan",
    "\"\"",
    "\"0 s\"",
    "\"1 ns\"",
    "\"1000000 s\"",
    "\"1 bit/s\"",
    "\"1000 Gbit/s\"",
    "[]",
    "[[]]",
    "{}",
    "{ kind = \"airtime\" }",
    "true",
    "\"off\"",
    "\"\\u0000\"",
    "\"ap.wlan0\"",
    "\"0.0.0.0\"",
    "\"255.255.255.255\"",
    "\"\u{1F4F6}\"",
    "1979-05-27",
];

fn damage() -> impl Strategy<Value = Vec<Damage>> {
    let (at, text) = (any::<Index>, prop::sample::select(STUMBLING.to_vec()));
    let one = prop_oneof![
        1 => (at(), 1..40_usize).prop_map(|(i, n)| Damage::Delete(i, n)),
        1 => (at(), at()).prop_map(|(i, j)| Damage::Swap(i, j)),
        1 => (at(), any::<u8>()).prop_map(|(i, b)| Damage::Set(i, b)),
        1 => (at(), 1..80_usize, at()).prop_map(|(i, n, to)| Damage::Copy(i, n, to)),
        1 => (at(), text.clone()).prop_map(|(i, text)| Damage::Insert(i, text)),
        3 => (at(), text).prop_map(|(i, text)| Damage::Value(i, text)),
    ];
    prop::collection::vec(one, 1..6)
}

fn damaged(text: &str, all: &[Damage]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for one in all {
        let len = bytes.len();
        if len == 0 {
            break;
        }
        match one {
            Damage::Delete(i, n) => {
                let i = i.index(len);
                drop(bytes.drain(i..(i + n).min(len)));
            }
            Damage::Swap(i, j) => bytes.swap(i.index(len), j.index(len)),
            Damage::Set(i, b) => bytes[i.index(len)] = *b,
            Damage::Copy(i, n, to) => {
                let i = i.index(len);
                let piece = bytes[i..(i + n).min(len)].to_vec();
                let to = to.index(len);
                drop(bytes.splice(to..to, piece));
            }
            Damage::Insert(i, text) => {
                let i = i.index(len);
                drop(bytes.splice(i..i, text.bytes()));
            }
            Damage::Value(i, text) => {
                let signs: Vec<usize> = (0..len).filter(|&n| bytes[n] == b'=').collect();
                if !signs.is_empty() {
                    let from = signs[i.index(signs.len())] + 1;
                    let until =
                        bytes[from..].iter().position(|b| b",}\n".contains(b)).map_or(len, |n| from + n);
                    drop(bytes.splice(from..until, text.bytes()));
                }
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Reads a scenario. A valid one runs briefly; an invalid one must be rejected with located errors.
fn read(text: &str) -> Result<(), String> {
    let lines = 1 + text.matches('\n').count() as u32;
    let sets = match scenario::sweep(text, "f.toml", &[]) {
        Ok(sets) => sets,
        Err(e) => return refused(&e, lines),
    };
    match scenario::parse(text, "f.toml", &[]) {
        Ok(scenario) => moment(&scenario)?,
        Err(e) => refused(&e, lines)?,
    }
    for set in sets.iter().take(3) {
        if let Ok(scenario) = scenario::parse(text, "f.toml", set) {
            drop(scenario.resolved());
        }
    }
    Ok(())
}

fn refused(e: &scenario::ScenarioError, lines: u32) -> Result<(), String> {
    let said = e.to_string();
    // One error per line, each with its location. The last line may state how many more there are.
    let more = match e.more {
        0 => None,
        1 => Some("and 1 more mistake".to_owned()),
        n => Some(format!("and {n} more mistakes")),
    };
    let told = |one: &str| one.starts_with("f.toml:") && !one.chars().any(char::is_control);
    if !said.lines().all(|one| told(one) || more.as_deref() == Some(one)) {
        return Err(format!("no line each: {said:?}"));
    }
    if e.line.is_some_and(|line| (1..=lines).contains(&line)) {
        Ok(())
    } else {
        Err(format!("no such line: {said}"))
    }
}

/// Reads a trace in each format. A valid one must be in order of time; an invalid one must name a line of the
/// text.
fn trace(text: &str) -> Result<(), String> {
    let lines = text.lines().count().max(1) as u32;
    for format in [Format::Rates, Format::Mahimahi, Format::Theaterq] {
        match trace_file::read(format, text) {
            Ok(read) => {
                let ordered = read.steps.is_sorted_by(|a, b| a.at < b.at);
                let shares = read.steps.iter().all(|step| (0.0..=1.0).contains(&step.loss));
                let begins = read.steps.first().is_some_and(|step| step.at == Duration::ZERO);
                let over = read.steps.last().zip(read.length).is_none_or(|(step, length)| length > step.at);
                if !(ordered && shares && begins && over) {
                    return Err(format!("{format:?}: no trace: {read:?}"));
                }
            }
            Err(bad) => {
                let said = bad.to_string();
                if said.chars().any(char::is_control) || !(1..=lines).contains(&bad.line) {
                    return Err(format!("{format:?}: {said:?}"));
                }
            }
        }
    }
    Ok(())
}

/// Checks that a valid scenario can be resolved, built and run. One millisecond is enough to start.
fn moment(scenario: &Scenario) -> Result<(), String> {
    drop(scenario.resolved());
    let end = Instant::ZERO + Duration::from_millis(1).min(scenario.duration);
    let mut world = world::wire(scenario, Seed { seed: scenario.seed, run: 0 }, |recorder| recorder).world;
    world.run_until(end);
    world.close(end)
}

/// Checks a batch of packets: parses, changes and answers each, then merges and splits all.
fn batch(packets: &[Vec<u8>]) -> Result<(), String> {
    packets.iter().try_for_each(|packet| packets::check::bytes(packet))?;
    packets::check::batch(packets)
}

/// Returns packets as lines of hexadecimal digits, for text2pcap.
fn hex(packets: &[Vec<u8>]) -> String {
    let line = |packet: &Vec<u8>| packet.iter().map(|b| format!(" {b:02x}")).collect::<String>();
    packets.iter().map(|packet| format!("000000{}\n", line(packet))).collect()
}

fn run(arguments: &[String]) -> Result<Result<(), String>, String> {
    let usage = || "usage: fuzz reader|traces SEED CASES FILE... | fuzz world|packets SEED CASES".to_owned();
    let [kind, seed, cases, files @ ..] = arguments else { return Err(usage()) };
    let (Ok(seed), Ok(cases)) = (seed.parse(), cases.parse()) else { return Err(usage()) };
    match (kind.as_str(), files) {
        (kind @ ("reader" | "traces"), [_, ..]) => {
            let read_file = |file: &String| fs::read_to_string(file).map_err(|e| format!("{file}: {e}"));
            let texts: Vec<String> = files.iter().map(read_file).collect::<Result<_, _>>()?;
            let strategy =
                (prop::sample::select(texts), damage()).prop_map(|(text, all)| damaged(&text, &all));
            let check = if kind == "reader" { read } else { trace };
            Ok(search((kind, seed, cases), &strategy, |text| check(text), String::clone))
        }
        ("world", []) => {
            let strategy = (random::case(), 0_u64..4);
            let show = |(case, run): &(random::Case, u64)| format!("{}# run {run}", case.text(random::FLOWS));
            Ok(search(("world", seed, cases), &strategy, |(case, run)| drain::check(case, *run), show))
        }
        ("packets", []) => {
            let strategy = packets::random::damaged();
            Ok(search(("packets", seed, cases), &strategy, |case| batch(case), |case| hex(case)))
        }
        _ => Err(usage()),
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match run(&arguments) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(failure)) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
        Err(usage) => {
            eprintln!("{usage}");
            ExitCode::from(2)
        }
    }
}
