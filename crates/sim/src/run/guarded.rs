//! Turns a panic in a run into an error that identifies the run.

use std::panic::{AssertUnwindSafe, catch_unwind};

use stillair_model::types::Seed;

use crate::scenario::parts::{take_left, words_of};

/// Calls `run`. A panic becomes an error with the number and seed of the run and the custom part that
/// panicked. The panic hook has already printed the source location.
pub(crate) fn guarded<T>(seed: Seed, run: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    // Clears the record of a panic caught elsewhere, which is not part of this run.
    take_left();
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let who = take_left().map_or_else(String::new, |title| format!("{title} "));
        let Seed { run, seed } = seed;
        Err(format!("run {run}, seed {seed}: {who}panicked: {}", words_of(&*panic)))
    })
}
