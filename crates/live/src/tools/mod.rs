//! Real tools that generate the flows of a scenario between live hosts, and parsers of their output.

mod fping;
mod iperf3;
mod irtt;
mod page;
pub mod programs;
mod run;

pub use run::{COMMAND, PATIENCE, Tools};
