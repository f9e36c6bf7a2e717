//! Runs of many variants of a scenario.

use pyo3::prelude::*;
use stillair_sim::batch::{self, Batch, News};

use crate::attended::attended;

/// Runs `variants` of a scenario, each `runs` times, `jobs` runs at once.
///
/// `finished` is called with the number of runs finished so far, `done` with the position of a variant and its result
/// as JSON as soon as all its runs are finished; an exception from either ends the call.
#[pyfunction]
#[pyo3(signature = (text, file, variants, seed, runs, jobs, finished, done))]
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
) -> PyResult<()> {
    let batch = Batch { text, file, variants, seed, runs, jobs };
    let work = move |tell: &(dyn Fn(News) -> bool + Sync)| batch::run(&batch, tell);
    attended(py, work, |told| match told {
        News::Runs(count) => finished.call1((count,)).map(drop),
        News::Variant(index, text) => done.call1((index, text)).map(drop),
    })
}
