//! Fuzzes a link with sequences of calls: `fuzz_link SEED CASES`. Case n uses the seed SEED + n. A failure
//! prints its seed; replay it with `fuzz_link SEED 1`.

#[path = "../tests/common/mod.rs"]
mod common;

use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;

use common::calls;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

fn case(seed: u64) -> Result<(), String> {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config { failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let strategy = (prop::collection::vec(calls::any_call(), 1..400), 0_usize..100, any::<u64>());
    let (calls, path, seed) = strategy.new_tree(&mut runner).map_err(|e| e.to_string())?.current();
    let checked = panic::catch_unwind(AssertUnwindSafe(|| calls::check(path, seed, &calls)));
    checked.unwrap_or_else(|_| Err("panic".to_owned()))
}

fn main() -> ExitCode {
    let numbers: Vec<u64> = std::env::args().skip(1).filter_map(|n| n.parse().ok()).collect();
    let [first, cases] = numbers[..] else {
        eprintln!("usage: fuzz_link SEED CASES");
        return ExitCode::from(2);
    };
    for seed in first..first.saturating_add(cases) {
        if let Err(why) = case(seed) {
            eprintln!("fuzz: seed {seed}: {why}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
