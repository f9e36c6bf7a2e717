//! Rates, frame lengths, exact PPDU durations, interframe spaces and error rates.

mod channel;
mod code;
mod duration;
pub mod errors;
pub mod frame;
#[cfg(test)]
mod golden;
mod name;
pub mod path_loss;
mod rate;
pub mod timing;
mod vht_he;

pub use channel::{Band, Gi, Width};
pub use duration::{dsss_preamble_nanos, ppdu_duration, ppdu_duration_without_extension};
pub use rate::{DsssRate, HtRate, OfdmRate, PhyRate, Preamble, RateTry, RetryChain};
pub use vht_he::{HeGi, HeRate, VhtRate};
