//! Interface for front ends: scenarios in as text, results out as JSON.

mod ask;
mod capture;
#[cfg(feature = "threads")]
mod runs;
mod ss;
mod tc;
mod walk;

pub use ask::ask;
pub use capture::{CaptureRequest, capture, capture_by, capture_points, capture_points_by};
#[cfg(feature = "threads")]
pub use runs::{Finish, Request, run, run_by, run_each, run_watched};
#[cfg(feature = "threads")]
pub(crate) use runs::{outcome, workers};
pub use ss::{SsRequest, ss, ss_by, ss_json};
pub use tc::tc;
pub use walk::{WalkRequest, walk_by};

use serde::Serialize;

pub use crate::run::{RunReport, run_once, run_reported};
use crate::scenario::parts::Parts;
use crate::scenario::{self, Folder, Reader, Scenario, ScenarioError};

/// Program version, as in results.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Results of a scenario's runs.
#[derive(Serialize)]
pub(crate) struct Output<'a> {
    version: &'static str,
    scenario: &'a str,
    /// Notes on the scenario.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    runs: Vec<RunReport>,
}

impl<'a> Output<'a> {
    pub(crate) fn new(scenario: &'a Scenario, runs: Vec<RunReport>) -> Self {
        Self { version: VERSION, scenario: &scenario.name, notes: scenario.notes(), runs }
    }

    pub(crate) fn to_json(&self) -> Result<String, String> {
        serde_json::to_string(self).map_err(|e| format!("cannot write the result: {e}"))
    }
}

/// Reason why a request failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ApiError {
    /// The request is invalid.
    Input(String),
    /// The scenario is invalid: location in the file, and what is expected.
    Scenario(Box<ScenarioError>),
    /// A run failed.
    Run(String),
}

impl From<ScenarioError> for ApiError {
    fn from(error: ScenarioError) -> Self {
        Self::Scenario(Box::new(error))
    }
}

/// Reads a scenario. Errors include a suggested fix.
fn read_by(
    reader: &Reader<'_>,
    text: &str,
    file: &str,
    overrides: &[(String, String)],
) -> Result<Scenario, ApiError> {
    Ok(reader.parse(text, file, overrides)?)
}

/// Reads a scenario that is to be run.
pub(crate) fn read_to_run_by(
    reader: &Reader<'_>,
    text: &str,
    file: &str,
    overrides: &[(String, String)],
) -> Result<Scenario, ApiError> {
    let scenario = read_by(reader, text, file, overrides)?;
    scenario.needs_no_driver().map_err(|says| ApiError::Input(format!("{file}: {says}")))?;
    Ok(scenario)
}

/// Returns the resolved scenario, with defaults filled in and overrides applied, as JSON.
pub fn resolve(text: &str, file: &str, overrides: &[(String, String)]) -> Result<String, ApiError> {
    let files = Folder::of(file);
    resolve_by(&Reader { parts: Parts::none(), files: &files }, text, file, overrides)
}

/// Description of a scenario, for callers about to run it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Described {
    /// The resolved scenario, as [`resolve`] returns it.
    pub resolved: String,
    /// Name of the scenario.
    pub name: String,
    /// Notes on the scenario.
    pub notes: Vec<String>,
    /// Minimum memory of a run in bytes, without and with its series ([`Scenario::least_memory`]).
    pub least_memory: [u64; 2],
}

/// Describes a scenario. For thousands of stations, this takes much less memory than reading the resolved
/// JSON.
pub fn describe(text: &str, file: &str, overrides: &[(String, String)]) -> Result<Described, ApiError> {
    let files = Folder::of(file);
    let scenario = read_by(&Reader { parts: Parts::none(), files: &files }, text, file, overrides)?;
    let least_memory = [false, true].map(|series| scenario.least_memory(series));
    Ok(Described {
        resolved: scenario.resolved(),
        notes: scenario.notes(),
        name: scenario.name,
        least_memory,
    })
}

/// Like `resolve`, for a scenario read by `reader`.
pub fn resolve_by(
    reader: &Reader<'_>,
    text: &str,
    file: &str,
    overrides: &[(String, String)],
) -> Result<String, ApiError> {
    Ok(read_by(reader, text, file, overrides)?.resolved())
}

/// Returns the survey of a scenario as JSON: nodes, audibility between them, the rates of each path, and keys
/// without effect.
pub fn survey(text: &str, file: &str, overrides: &[(String, String)]) -> Result<String, ApiError> {
    let files = Folder::of(file);
    survey_by(&Reader { parts: Parts::none(), files: &files }, text, file, overrides)
}

/// Like `survey`, for a scenario read by `reader`.
pub fn survey_by(
    reader: &Reader<'_>,
    text: &str,
    file: &str,
    overrides: &[(String, String)],
) -> Result<String, ApiError> {
    Ok(read_by(reader, text, file, overrides)?.survey())
}

/// Returns the combinations of the scenario's `[sweep]` table, each a list of overrides to add to
/// `overrides`.
pub fn sweep(
    text: &str,
    file: &str,
    overrides: &[(String, String)],
) -> Result<Vec<Vec<(String, String)>>, ApiError> {
    Ok(scenario::sweep(text, file, overrides)?)
}
