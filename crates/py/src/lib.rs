//! The native module `stillair._native`: thin bindings, text in and text out.

mod attended;
mod batches;
mod budget;
mod errors;
mod link;
mod live;
mod runs;
mod uml;

use std::borrow::Cow;

use pyo3::prelude::*;
use stillair_sim::{api, scenario};

/// Returns the scenario after `inherits`, defaults and overrides, as JSON.
#[pyfunction]
fn resolve(text: &str, file: &str, overrides: Vec<(String, String)>) -> PyResult<String> {
    api::resolve(text, file, &overrides).map_err(errors::to_python)
}

/// Returns the resolved scenario as JSON, its name, its notes, and the minimum memory of a run in bytes,
/// without and with its series.
#[pyfunction]
fn describe(
    text: &str,
    file: &str,
    overrides: Vec<(String, String)>,
) -> PyResult<(String, String, Vec<String>, [u64; 2])> {
    let api::Described { resolved, name, notes, least_memory } =
        api::describe(text, file, &overrides).map_err(errors::to_python)?;
    Ok((resolved, name, notes, least_memory))
}

/// Returns the survey of a scenario as JSON: nodes, audibility, the rates of each path, and keys without
/// effect.
#[pyfunction]
fn survey(text: &str, file: &str, overrides: Vec<(String, String)>) -> PyResult<String> {
    api::survey(text, file, &overrides).map_err(errors::to_python)
}

/// Returns the overrides of each combination of the scenario's `[sweep]` table, to be added to `overrides`.
#[pyfunction]
fn sweep(text: &str, file: &str, overrides: Vec<(String, String)>) -> PyResult<Vec<Vec<(String, String)>>> {
    api::sweep(text, file, &overrides).map_err(errors::to_python)
}

/// Handles a request of the web page (`stillair explore`). Returns true and the response, which is text
/// except for captures, or false and an error. Opens no files.
#[pyfunction]
fn ask(py: Python<'_>, request: String) -> (bool, Cow<'_, [u8]>) {
    match py.detach(|| api::ask(&request)) {
        Ok(answer) => (true, answer.into()),
        Err(error) => (false, error.into_bytes().into()),
    }
}

/// Returns the access lines that a scenario may name, as JSON.
#[pyfunction]
fn lines() -> String {
    scenario::lines()
}

/// Returns the JSON Schema of scenarios.
#[pyfunction]
fn schema() -> String {
    scenario::schema()
}

/// Returns the scenario reference, in Markdown.
#[pyfunction]
fn reference() -> String {
    scenario::reference()
}

/// Returns the names of a scenario's capture points.
#[pyfunction]
fn capture_points(text: &str, file: &str, overrides: Vec<(String, String)>) -> PyResult<Vec<String>> {
    api::capture_points(text, file, &overrides).map_err(errors::to_python)
}

/// Defines the module.
#[pymodule(name = "_native")]
fn native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    errors::without_place(py)?;
    module.add("InputError", py.get_type::<errors::InputError>())?;
    module.add("RunError", py.get_type::<errors::RunError>())?;
    module.add_function(wrap_pyfunction!(runs::run, module)?)?;
    module.add_function(wrap_pyfunction!(batches::run_variants, module)?)?;
    module.add_function(wrap_pyfunction!(ask, module)?)?;
    module.add_function(wrap_pyfunction!(lines, module)?)?;
    module.add_class::<budget::Budget>()?;
    module.add_class::<link::Link>()?;
    module.add_function(wrap_pyfunction!(link::link_presets, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(reference, module)?)?;
    module.add_function(wrap_pyfunction!(runs::capture, module)?)?;
    module.add_function(wrap_pyfunction!(capture_points, module)?)?;
    module.add_function(wrap_pyfunction!(runs::ss, module)?)?;
    module.add_function(wrap_pyfunction!(runs::tc, module)?)?;
    module.add_function(wrap_pyfunction!(resolve, module)?)?;
    module.add_function(wrap_pyfunction!(describe, module)?)?;
    module.add_function(wrap_pyfunction!(survey, module)?)?;
    module.add_function(wrap_pyfunction!(sweep, module)?)?;
    module.add_function(wrap_pyfunction!(live::live, module)?)?;
    module.add_function(wrap_pyfunction!(live::live_runs, module)?)?;
    module.add_function(wrap_pyfunction!(live::live_ask, module)?)?;
    module.add_function(wrap_pyfunction!(live::live_exec, module)?)?;
    module.add_function(wrap_pyfunction!(uml::uml, module)?)?;
    Ok(())
}
