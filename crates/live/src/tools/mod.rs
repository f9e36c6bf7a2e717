//! Real tools that make the flows of a scenario between live hosts, and their output.

mod fping;
mod iperf3;
mod irtt;
mod page;
pub mod programs;
mod run;

pub use run::{COMMAND, PATIENCE, Tools};
