//! Working while Python stays responsive.

use core::any::Any;
use core::time::Duration;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;

use pyo3::prelude::*;
use stillair_sim::api::ApiError;

use crate::errors::{self, RunError};

/// How long the calling thread waits for news before it looks for a signal.
const PATIENCE: Duration = Duration::from_millis(50);

/// Unread news. The engine then waits for the reader, as reports of many runs do not fit into memory.
const UNREAD: usize = 4;

/// Does `work` on a thread of its own, while this one hears its news and looks for signals. What `work` tells
/// is answered with whether to go on; an error of `hear` ends the call.
// The engine works on a thread of its own and the calling thread waits without the interpreter lock: only the
// main thread may handle signals, and a run must not hold up Ctrl-C. After an interrupt the call returns at
// once; the engine's thread is left to finish the runs it is in, and starts no others.
pub fn attended<News: Send + 'static, Outcome: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&(dyn Fn(News) -> bool + Sync)) -> Result<Outcome, ApiError> + Send + 'static,
    mut hear: impl FnMut(News) -> PyResult<()>,
) -> PyResult<Outcome> {
    let stop = Arc::new(AtomicBool::new(false));
    let (stopped, stopping) = (Arc::clone(&stop), Arc::clone(&stop));
    let (news, mut inbox) = mpsc::sync_channel(UNREAD);
    let engine = thread::Builder::new().name("stillair-runs".to_owned()).spawn(move || {
        // If nobody listens any more, the call was interrupted and `stopped` says so.
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
                // Runs that are finished count, even if their news is unread.
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

/// What a panic said, if it said anything readable.
fn panic_message(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message")
}
