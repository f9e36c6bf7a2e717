//! Runs of many variants of a scenario.

use pyo3::prelude::*;
use stillair_sim::batch::{self, Batch, News};

use crate::attended::attended;

/// Runs `variants` of a scenario, each `runs` times, `jobs` runs at once.
///
/// `finished` is called with the number of runs finished so far, `done` with the position of a variant and its result
/// as JSON as soon as all its runs are finished, `failed` with the position of one that failed and why; others go on. An
/// exception from any of them ends the call.
#[pyfunction]
#[pyo3(signature = (text, file, variants, seed, runs, jobs, finished, done, failed))]
#[expect(clippy::too_many_arguments, reason = "one argument for each field of the engine's request")]
pub fn run_variants(
    py: Python<'_>,
    text: String,
    file: String,
    variants: Vec<Vec<(String, String)>>,
    seed: Option<u64>,
    runs: u32,
    jobs: usize,
    finished: Bound<'_, PyAny>,
    done: Bound<'_, PyAny>,
    failed: Bound<'_, PyAny>,
) -> PyResult<()> {
    let batch = Batch { text, file, variants, seed, runs, jobs };
    let work = move |tell: &(dyn Fn(News) -> bool + Sync)| batch::run(&batch, tell);
    attended(py, work, |told| match told {
        News::Runs(count) => finished.call1((count,)).map(drop),
        News::Variant(index, text) => done.call1((index, text)).map(drop),
        News::Failed(index, why) => failed.call1((index, why)).map(drop),
    })
}
