//! Python exceptions for the errors of the engine.

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;
use pyo3::{PyErr, create_exception};
use stillair_sim::api::ApiError;
use stillair_sim::scenario::ScenarioError;

create_exception!(
    stillair,
    InputError,
    PyValueError,
    "The scenario or a setting is wrong: says where and what would be right."
);
create_exception!(
    stillair,
    RunError,
    PyRuntimeError,
    "The input was good, but a run failed: its accounts do not close, or a part broke."
);

/// Returns the Python exception for an error of the engine.
pub fn to_python(error: ApiError) -> PyErr {
    match error {
        ApiError::Input(message) => InputError::new_err(message),
        ApiError::Scenario(error) => Python::attach(|py| {
            let raised = InputError::new_err(error.to_string());
            match place(py, raised.value(py).as_any(), &error) {
                Ok(()) => raised,
                Err(why) => why,
            }
        }),
        ApiError::Run(message) => RunError::new_err(message),
    }
}

/// Sets the location of an error: `file`, `line` from 1, `key`; `None` if unknown.
fn place(py: Python<'_>, raised: &Bound<'_, PyAny>, error: &ScenarioError) -> PyResult<()> {
    raised.setattr("file", &*error.file)?;
    raised.setattr("line", error.line)?;
    raised.setattr("key", (!error.key.is_empty()).then(|| PyString::new(py, &error.key)))
}

/// Sets class attributes, so that errors raised by Python itself have no location.
pub fn without_place(py: Python<'_>) -> PyResult<()> {
    let kind = py.get_type::<InputError>();
    ["file", "line", "key"].into_iter().try_for_each(|name| kind.setattr(name, py.None()))
}
