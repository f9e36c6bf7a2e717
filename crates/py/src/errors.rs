//! The two ways in which a call fails, as Python sees them.

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::{PyErr, create_exception};
use stillair_sim::api::ApiError;

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

/// The Python exception for an error of the engine.
pub fn to_python(error: ApiError) -> PyErr {
    match error {
        ApiError::Input(message) => InputError::new_err(message),
        ApiError::Run(message) => RunError::new_err(message),
    }
}
