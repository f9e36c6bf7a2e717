//! Conformance checks for user-defined parts: one call in a test of the crate that defines the part.
//!
//! Each check runs scripts of pseudo-random events, the same in every run, and reports the violated
//! requirement and the step. Built-in parts pass the same checks.

mod aqm;
pub mod controller;
mod discipline;
mod scheduler;

use alloc::format;
use alloc::string::String;
use std::panic::{AssertUnwindSafe, catch_unwind};

pub use aqm::aqm;
pub use controller::controller;
pub use discipline::{ServiceOrder, discipline};
pub use scheduler::scheduler;

use crate::types::{RandomStream, Seed};

/// Number of scripts per part.
const SCRIPTS: u64 = 16;
/// Steps per script.
const STEPS: u32 = 400;

fn stream(script: u64, name: &str) -> RandomStream {
    Seed { seed: script, run: 0 }.stream(name)
}

/// Runs each script twice and compares the logs. A script stores its progress in `step`.
fn try_all<L: PartialEq>(one: impl Fn(u64, &mut u32) -> Result<L, String>) -> Result<(), String> {
    for script in 0..SCRIPTS {
        let run = || {
            let mut step = 0;
            or_panic(|| one(script, &mut step))
                .map_err(|what| format!("script {script}, step {step}: {what}"))
        };
        if run()? != run()? {
            return Err(format!("script {script}: it did otherwise when all was the same"));
        }
    }
    Ok(())
}

/// Runs `one`, and turns a panic into an error.
fn or_panic<T>(one: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(one)).unwrap_or_else(|panic| Err(format!("it panicked: {}", said(&*panic))))
}

fn said(panic: &(dyn core::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without words")
}

#[cfg(test)]
mod tests;
