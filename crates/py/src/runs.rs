//! Running a scenario while Python stays responsive.

use core::any::Any;
use core::time::Duration;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;

use pyo3::prelude::*;
use stillair_sim::api::{self, ApiError, CaptureRequest, Request};

use crate::errors::{self, RunError};

/// How long the calling thread waits for news before it looks for a signal.
pub(crate) const PATIENCE: Duration = Duration::from_millis(50);

/// Runs a scenario `runs` times on `jobs` threads and gives the results as JSON.
///
/// `progress`, if given, is called with the number of runs finished so far, and `keep` with each finished run as JSON;
/// an exception from either ends the call. With `series` each run has its series, in what `keep` gets if it is given,
/// otherwise in the result.
// The engine works on a thread of its own and the calling thread waits without the interpreter lock: only the main
// thread may handle signals, and a run must not hold up Ctrl-C. After an interrupt the call returns at once; the
// engine's thread is left to finish the runs it is in, and starts no others.
#[pyfunction]
#[pyo3(signature = (text, file, overrides, seed, runs, first_run, jobs, progress, series = false, keep = None))]
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
) -> PyResult<String> {
    let request = Request { text, file, overrides, seed, runs, first_run, jobs, series };
    let keeps = keep.is_some();
    attended(py, progress, keep, move |tell| {
        api::run(&request, &|finished, report| {
            let json = keeps.then(|| report.to_json());
            if keeps {
                // It is with the keeper now; many runs would not fit into memory.
                report.series = None;
            }
            tell((finished, json))
        })
    })
}

/// Runs one repetition and writes what its points of capture saw to a pcapng file; gives a report as JSON.
#[pyfunction]
#[pyo3(signature = (text, file, overrides, seed, run, path, points, window, snaplen))]
#[expect(clippy::too_many_arguments, reason = "one argument for each field of the engine's request")]
pub fn capture(
    py: Python<'_>,
    text: String,
    file: String,
    overrides: Vec<(String, String)>,
    seed: Option<u64>,
    run: u64,
    path: String,
    points: Vec<String>,
    window: (Option<String>, Option<String>),
    snaplen: u32,
) -> PyResult<String> {
    let request = CaptureRequest { text, file, overrides, seed, run, path, points, window, snaplen };
    attended(py, None, None, move |_| api::capture(&request))
}

/// News of a run: how many have finished, and the last one as JSON if it is to be kept.
type News = (u32, Option<Result<String, ApiError>>);

/// Does `work` on a thread of its own, while this one passes its news on and looks for signals.
fn attended(
    py: Python<'_>,
    progress: Option<Bound<'_, PyAny>>,
    keep: Option<Bound<'_, PyAny>>,
    work: impl FnOnce(&(dyn Fn(News) -> bool + Sync)) -> Result<String, ApiError> + Send + 'static,
) -> PyResult<String> {
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let (news, mut inbox) = mpsc::channel();
    let engine = thread::Builder::new().name("stillair-runs".to_owned()).spawn(move || {
        // If nobody listens any more, the call was interrupted and `stopped` says so.
        work(&move |told| news.send(told).is_ok() && !stopped.load(Ordering::Relaxed))
    })?;

    let mut listen = || -> PyResult<()> {
        loop {
            let receiver = &mut inbox;
            match py.detach(move || receiver.recv_timeout(PATIENCE)) {
                Ok((finished, json)) => {
                    if let (Some(keep), Some(json)) = (&keep, json) {
                        keep.call1((json.map_err(errors::to_python)?,))?;
                    }
                    if let Some(progress) = &progress {
                        progress.call1((finished,))?;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            py.check_signals()?;
        }
    };
    if let Err(interrupt) = listen() {
        stop.store(true, Ordering::Relaxed);
        return Err(interrupt);
    }
    match py.detach(|| engine.join()) {
        Ok(outcome) => outcome.map_err(errors::to_python),
        Err(panic) => Err(RunError::new_err(format!("the engine broke: {}", panic_message(&*panic)))),
    }
}

/// What a panic said, if it said anything readable.
pub(crate) fn panic_message(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message")
}
