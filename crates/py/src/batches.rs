//! Runs of many variants of a scenario.

use pyo3::prelude::*;
use stillair_sim::batch::{self, Batch, Each};

use crate::attended::attended;

/// Runs `variants` of a scenario, each `runs` times, `jobs` runs at a time.
///
/// `kept` lists, by variant, the sorted numbers of runs to omit. `made` is called with the index of a variant
/// and each of its runs as JSON, `done` with the index and the result without runs when all runs are
/// finished, `failed` with the index and the reason of a failure, after which other variants continue. An
/// exception from any of them ends the call.
#[pyfunction]
#[pyo3(signature = (text, file, variants, seed, runs, jobs, kept, made, done, failed))]
#[expect(clippy::too_many_arguments, reason = "one argument for each field of the engine's request")]
pub fn run_variants(
    py: Python<'_>,
    text: String,
    file: String,
    variants: Vec<Vec<(String, String)>>,
    seed: Option<u64>,
    runs: u32,
    jobs: usize,
    kept: Vec<Vec<u32>>,
    made: Bound<'_, PyAny>,
    done: Bound<'_, PyAny>,
    failed: Bound<'_, PyAny>,
) -> PyResult<()> {
    let batch = Batch { text, file, variants, seed, runs, jobs };
    let work = move |tell: &(dyn Fn(Each) -> bool + Sync)| batch::run_each(&batch, &kept, tell);
    attended(py, work, |told| match told {
        Each::Run(index, text) => made.call1((index, text)).map(drop),
        Each::Variant(index, head) => done.call1((index, head)).map(drop),
        Each::Failed(index, why) => failed.call1((index, why)).map(drop),
    })
}
