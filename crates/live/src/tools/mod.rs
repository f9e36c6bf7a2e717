//! Real tools that make the flows of a scenario between live hosts, and what they say.

mod fping;
mod iperf3;
mod irtt;
mod page;
pub mod programs;
mod run;

pub use run::{COMMAND, PATIENCE, Tools};
