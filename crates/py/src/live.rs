//! Live runs: real hosts over the modelled network. On systems other than Linux, every function returns an
//! error.

use pyo3::prelude::*;
use stillair_sim::api::ApiError;

use crate::errors;

/// Runs a scenario with live hosts. The request is JSON; returns the result as JSON and the exit status. The
/// process must have only one thread.
#[pyfunction]
pub fn live(py: Python<'_>, request: &str) -> PyResult<(String, i32)> {
    py.detach(|| engine::live(request)).map_err(errors::to_python)
}

/// Returns the live runs of this user, as JSON.
#[pyfunction]
pub fn live_runs() -> PyResult<String> {
    engine::runs().map_err(errors::to_python)
}

/// Sends a request to a live run, identified by its engine's process ID or the only one. Request and response
/// are JSON.
#[pyfunction]
#[pyo3(signature = (run, asked))]
pub fn live_ask(run: Option<u32>, asked: &str) -> PyResult<String> {
    engine::ask(run, asked).map_err(errors::to_python)
}

/// Runs a command in a host of a live run. Returns its exit status.
#[pyfunction]
#[pyo3(signature = (run, host, command))]
pub fn live_exec(py: Python<'_>, run: Option<u32>, host: &str, command: Vec<String>) -> PyResult<i32> {
    py.detach(|| engine::exec(run, host, &command)).map_err(errors::to_python)
}

#[cfg(target_os = "linux")]
mod engine {
    use super::ApiError;
    use stillair_live::{client, live as engine};

    pub fn live(request: &str) -> Result<(String, i32), ApiError> {
        engine::live(&engine::Request::from_json(request)?)
    }

    pub fn runs() -> Result<String, ApiError> {
        Ok(client::runs_json())
    }

    pub fn ask(run: Option<u32>, asked: &str) -> Result<String, ApiError> {
        client::ask_json(run, asked).map_err(|why| ApiError::Input(why.to_string()))
    }

    pub fn exec(run: Option<u32>, host: &str, command: &[String]) -> Result<i32, ApiError> {
        client::find(run)
            .and_then(|run| client::exec(&run, host, command))
            .map_err(|why| ApiError::Input(why.to_string()))
    }
}

#[cfg(not(target_os = "linux"))]
mod engine {
    use super::ApiError;

    fn none<T>() -> Result<T, ApiError> {
        Err(ApiError::Run("live: live hosts need Linux".to_owned()))
    }

    pub fn live(_: &str) -> Result<(String, i32), ApiError> {
        none()
    }

    pub fn runs() -> Result<String, ApiError> {
        none()
    }

    pub fn ask(_: Option<u32>, _: &str) -> Result<String, ApiError> {
        none()
    }

    pub fn exec(_: Option<u32>, _: &str, _: &[String]) -> Result<i32, ApiError> {
        none()
    }
}
