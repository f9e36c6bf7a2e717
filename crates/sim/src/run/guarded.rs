//! Turns a panic in a run into an error that identifies the run.

use std::panic::{AssertUnwindSafe, catch_unwind};

use stillair_model::types::Seed;

use crate::scenario::parts::{take_left, words_of};

/// What `run` gives; a panic in it becomes an error with the number of the run, its seed, and the custom part
/// that it was in. Where in the source it was has been told by the panic's hook.
pub(crate) fn guarded<T>(seed: Seed, run: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    // One that was caught elsewhere is not this run's.
    take_left();
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let who = take_left().map_or_else(String::new, |title| format!("{title} "));
        let Seed { run, seed } = seed;
        Err(format!("run {run}, seed {seed}: {who}panicked: {}", words_of(&*panic)))
    })
}
