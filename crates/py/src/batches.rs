//! Running many variants of a scenario while Python stays responsive.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;

use pyo3::prelude::*;
use stillair_sim::batch::{self, Batch, News};

use crate::errors::{self, RunError};
use crate::runs::{PATIENCE, panic_message};

/// Runs `variants` of a scenario, each `runs` times, `jobs` runs at once.
///
/// `finished` is called with the number of runs finished so far, `done` with the position of a variant and its result
/// as JSON as soon as all its runs are finished; an exception from either ends the call.
// Threads and interrupts as in `runs::run`.
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
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let (news, mut inbox) = mpsc::channel();
    let engine = thread::Builder::new().name("stillair-batch".to_owned()).spawn(move || {
        batch::run(&batch, &|what| news.send(what).is_ok() && !stopped.load(Ordering::Relaxed))
    })?;
    let mut listen = || -> PyResult<()> {
        loop {
            let receiver = &mut inbox;
            match py.detach(move || receiver.recv_timeout(PATIENCE)) {
                Ok(News::Runs(count)) => drop(finished.call1((count,))?),
                Ok(News::Variant(index, text)) => drop(done.call1((index, text))?),
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
