//! Rates and exact PPDU durations.

mod rate;

pub use rate::{Band, Gi, HtRate, OfdmRate, PhyRate, RateTry, RetryChain, Width};
