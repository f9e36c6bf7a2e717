//! Rates and exact PPDU durations.

mod code;
mod duration;
#[cfg(test)]
mod golden;
mod name;
mod rate;

pub use duration::{ppdu_duration, ppdu_duration_without_extension};
pub use rate::{Band, Gi, HtRate, OfdmRate, PhyRate, RateTry, RetryChain, Width};
