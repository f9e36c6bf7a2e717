//! Runs with real kernels in virtual time. On systems other than Linux, every function returns an error.

use pyo3::prelude::*;
use stillair_sim::api::ApiError;

use crate::errors;

/// Runs a scenario with guests once. The request is JSON; returns the result as JSON and the exit status.
#[pyfunction]
pub fn uml(py: Python<'_>, request: &str) -> PyResult<(String, i32)> {
    py.detach(|| run(request)).map_err(errors::to_python)
}

#[cfg(target_os = "linux")]
fn run(request: &str) -> Result<(String, i32), ApiError> {
    stillair_uml::run::run(&stillair_uml::run::Request::from_json(request)?)
}

#[cfg(not(target_os = "linux"))]
fn run(_: &str) -> Result<(String, i32), ApiError> {
    Err(ApiError::Run("guests need Linux".to_owned()))
}
