//! Runs work while Python stays responsive.

use core::any::Any;
use core::time::Duration;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;

use pyo3::prelude::*;
use stillair_sim::api::ApiError;

use crate::errors::{self, RunError};

/// Interval between checks for signals while waiting for news.
const PATIENCE: Duration = Duration::from_millis(50);

/// Maximum number of unread news items. The engine then waits for the reader, because the reports of many
/// runs do not fit in memory.
const UNREAD: usize = 4;

/// Runs `work` on its own thread, while the calling thread passes its news to `hear` and checks for signals.
/// Each report by `work` returns true to continue; an error of `hear` ends the call.
// The engine runs on its own thread, and the calling thread waits without the interpreter lock, because only
// the main thread handles signals and a run must not delay Ctrl-C. After an interrupt, the call returns
// immediately; the engine's thread finishes its current runs and starts no others.
pub fn attended<News: Send + 'static, Outcome: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&(dyn Fn(News) -> bool + Sync)) -> Result<Outcome, ApiError> + Send + 'static,
    mut hear: impl FnMut(News) -> PyResult<()>,
) -> PyResult<Outcome> {
    let stop = Arc::new(AtomicBool::new(false));
    let (stopped, stopping) = (Arc::clone(&stop), Arc::clone(&stop));
    let (news, mut inbox) = mpsc::sync_channel(UNREAD);
    let engine = thread::Builder::new().name("stillair-runs".to_owned()).spawn(move || {
        // A closed channel means that the call was interrupted.
        work(&move |told| news.send(told).is_ok() && !stopped.load(Ordering::Relaxed))
    })?;

    let mut listen = || -> PyResult<()> {
        loop {
            let receiver = &mut inbox;
            match py.detach(move || receiver.recv_timeout(PATIENCE)) {
                Ok(told) => hear(told)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            if let Err(signal) = py.check_signals() {
                // Finished runs count, even if their news is unread.
                stopping.store(true, Ordering::Relaxed);
                while let Ok(told) = inbox.try_recv() {
                    hear(told)?;
                }
                return Err(signal);
            }
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

/// Returns the message of a panic, if it is a string.
fn panic_message(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message")
}
