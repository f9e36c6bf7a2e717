//! Real tools that generate the scenario's flows between live hosts, and parsers for their output.

mod fping;
mod iperf3;
mod irtt;
mod page;
pub mod programs;
mod run;

pub use run::{COMMAND, PATIENCE, Tools};

use thiserror::Error;

use crate::space::launcher::LauncherError;

/// Errors of starting a tool.
#[derive(Debug, Error)]
pub enum ToolsError {
    /// The program is not installed.
    #[error(
        "{program}: program not found, flows of the scenario need it; 'apt-get install {program}' installs it"
    )]
    Missing {
        /// Name of the program.
        program: String,
    },
    /// The machine has no empty folder in which to mount this project's programs for hosts.
    #[error(
        "{program}: found no empty folder to mount it on, pages between live hosts need one; 'mkdir -p /usr/local/games' creates one"
    )]
    NoFolder {
        /// Name of the program.
        program: String,
    },
    /// The launcher failed.
    #[error(transparent)]
    Launcher(#[from] LauncherError),
}

/// Errors in a tool's output.
#[derive(Debug, Error)]
pub enum OutputError {
    /// The output is not JSON.
    #[error("{tool}: its output is not JSON: {source}")]
    NotJson {
        /// Name of the tool.
        tool: &'static str,
        /// The failure.
        source: serde_json::Error,
    },
    /// iperf3 reported an error.
    #[error("iperf3: {0}")]
    Iperf3(String),
    /// No iperf3 interval lies within the measured time.
    #[error("iperf3: its output has no interval from {from:.1} s to {until:.1} s of the transfer")]
    NoInterval {
        /// Start of the measured time, in s from the start of the transfer.
        from: f64,
        /// End of the measured time, in s from the start of the transfer.
        until: f64,
    },
    /// The output of irtt lacks its round trips.
    #[error("irtt: its output has no round_trips")]
    NoRoundTrips,
    /// The page loader printed this line instead of a load.
    #[error("{0}")]
    Page(String),
}
