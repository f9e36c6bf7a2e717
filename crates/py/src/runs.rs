//! Runs of one scenario, captures, and sockets.

use pyo3::prelude::*;
use stillair_sim::api::{self, ApiError, CaptureRequest, Request, SsRequest};

use crate::attended::attended;
use crate::errors;

/// Progress of runs.
enum News {
    /// Number of runs completed, including fractions of unfinished ones.
    Passed(f64),
    /// Number of finished runs, and the last one as JSON if requested.
    Finished(u32, Option<Result<String, ApiError>>),
}

/// Runs a scenario `runs` times on `jobs` threads. Returns the results as JSON.
///
/// `progress`, if given, is called with the number of finished runs, and `keep` with each finished run as
/// JSON; an exception from either ends the call. With `keep`, the result has no runs. `kept` lists the sorted
/// numbers of runs to omit. `passed` is called during the runs, with the number of finished runs including
/// fractions of unfinished ones. With `series`, each run has its series.
#[pyfunction]
#[pyo3(signature = (text, file, overrides, seed, runs, first_run, jobs, progress, series = false, keep = None, passed = None, kept = Vec::new()))]
#[expect(clippy::too_many_arguments, reason = "one argument for each field of the engine's request")]
pub fn run(
    py: Python<'_>,
    text: String,
    file: String,
    overrides: Vec<(String, String)>,
    seed: Option<u64>,
    runs: u32,
    first_run: u32,
    jobs: usize,
    progress: Option<Bound<'_, PyAny>>,
    series: bool,
    keep: Option<Bound<'_, PyAny>>,
    passed: Option<Bound<'_, PyAny>>,
    kept: Vec<u32>,
) -> PyResult<String> {
    let request = Request { text, file, overrides, seed, runs, first_run, jobs, series };
    let (keeps, watched) = (keep.is_some(), passed.is_some());
    let work = move |tell: &(dyn Fn(News) -> bool + Sync)| {
        let part = |runs: f64| !watched || tell(News::Passed(runs));
        if keeps {
            return api::run_each(&request, &kept, &part, &|finished, json| {
                tell(News::Finished(finished, Some(json.map_err(ApiError::Run))))
            });
        }
        api::run_watched(&request, &part, &|finished, _| tell(News::Finished(finished, None)))
    };
    attended(py, work, |news| {
        let (finished, json) = match news {
            News::Finished(finished, json) => (finished, json),
            News::Passed(runs) => {
                if let Some(passed) = &passed {
                    passed.call1((runs,))?;
                }
                return Ok(());
            }
        };
        if let (Some(keep), Some(json)) = (&keep, json) {
            keep.call1((json.map_err(errors::to_python)?,))?;
        }
        if let Some(progress) = &progress {
            progress.call1((finished,))?;
        }
        Ok(())
    })
}

/// Runs one repetition and writes a capture to a pcapng file. Returns a report as JSON. The file is written
/// as `part`, which the caller renames to `path` when it is complete; messages name `path`.
#[pyfunction]
#[pyo3(signature = (text, file, overrides, seed, run, path, part, points, window, snaplen))]
#[expect(clippy::too_many_arguments, reason = "one argument for each field of the engine's request")]
pub fn capture(
    py: Python<'_>,
    text: String,
    file: String,
    overrides: Vec<(String, String)>,
    seed: Option<u64>,
    run: u64,
    path: String,
    part: String,
    points: Vec<String>,
    window: (Option<String>, Option<String>),
    snaplen: u32,
) -> PyResult<String> {
    let request = CaptureRequest { text, file, overrides, seed, run, path, part, points, window, snaplen };
    attended(py, move |_: &(dyn Fn(()) -> bool + Sync)| api::capture(&request), |()| Ok(()))
}

/// Runs one repetition up to a time. Returns its connections as printed by `ss -tinm`, or as JSON.
#[pyfunction]
#[pyo3(signature = (text, file, overrides, seed, run, at, json = false))]
#[expect(clippy::too_many_arguments, reason = "one argument for each field of the engine's request")]
pub fn ss(
    py: Python<'_>,
    text: String,
    file: String,
    overrides: Vec<(String, String)>,
    seed: Option<u64>,
    run: u64,
    at: Option<String>,
    json: bool,
) -> PyResult<String> {
    let request = SsRequest { text, file, overrides, seed, run, at };
    attended(
        py,
        move |_: &(dyn Fn(()) -> bool + Sync)| if json { api::ss_json(&request) } else { api::ss(&request) },
        |()| Ok(()),
    )
}

/// Runs one repetition up to a time. Returns its qdisc counters as JSON.
#[pyfunction]
#[pyo3(signature = (text, file, overrides, seed, run, at))]
pub fn tc(
    py: Python<'_>,
    text: String,
    file: String,
    overrides: Vec<(String, String)>,
    seed: Option<u64>,
    run: u64,
    at: Option<String>,
) -> PyResult<String> {
    let request = SsRequest { text, file, overrides, seed, run, at };
    attended(py, move |_: &(dyn Fn(()) -> bool + Sync)| api::tc(&request), |()| Ok(()))
}
