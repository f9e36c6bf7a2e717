//! The native module `stillair._native`: text in, text out. Nothing is decided here.

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

/// The scenario after `inherits`, defaults and overrides, as JSON.
#[pyfunction]
fn resolve(text: &str, file: &str, overrides: Vec<(String, String)>) -> PyResult<String> {
    api::resolve(text, file, &overrides).map_err(errors::to_python)
}

/// The resolved scenario as JSON, its name, its notes, and the bytes of memory that a run needs at least,
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

/// What the scenario comes to, as JSON: who is there, who hears whom, the rates of each path, and what has no
/// effect.
#[pyfunction]
fn survey(text: &str, file: &str, overrides: Vec<(String, String)>) -> PyResult<String> {
    api::survey(text, file, &overrides).map_err(errors::to_python)
}

/// The override sets of the scenario's `[sweep]` table, one per combination; they follow `overrides`.
#[pyfunction]
fn sweep(text: &str, file: &str, overrides: Vec<(String, String)>) -> PyResult<Vec<Vec<(String, String)>>> {
    api::sweep(text, file, &overrides).map_err(errors::to_python)
}

/// Answers a request of the page (`stillair explore`), both as text but for a capture; says whether the
/// answer is what was asked for. It opens no file.
#[pyfunction]
fn ask(py: Python<'_>, request: String) -> (bool, Cow<'_, [u8]>) {
    match py.detach(|| api::ask(&request)) {
        Ok(answer) => (true, answer.into()),
        Err(error) => (false, error.into_bytes().into()),
    }
}

/// The access lines that a scenario may name, as JSON.
#[pyfunction]
fn lines() -> String {
    scenario::lines()
}

/// The JSON Schema of a scenario.
#[pyfunction]
fn schema() -> String {
    scenario::schema()
}

/// The reference of a scenario, in Markdown.
#[pyfunction]
fn reference() -> String {
    scenario::reference()
}

/// The names of the points that a scenario can be captured at.
#[pyfunction]
fn capture_points(text: &str, file: &str, overrides: Vec<(String, String)>) -> PyResult<Vec<String>> {
    api::capture_points(text, file, &overrides).map_err(errors::to_python)
}

/// What a receiver with pseudo retry-out makes of A-MPDUs that come, both as JSON.
#[pyfunction]
fn replay(events: &str) -> PyResult<String> {
    api::replay(events).map_err(errors::to_python)
}

/// The index of pseudo retry-out at a smoothed rate in bit/s; none where it does nothing.
#[pyfunction]
fn retry_out_index(smoothed_bps: u64) -> Option<u8> {
    api::retry_out_index(smoothed_bps)
}

/// The module itself.
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
    module.add_function(wrap_pyfunction!(replay, module)?)?;
    module.add_function(wrap_pyfunction!(retry_out_index, module)?)?;
    module.add_function(wrap_pyfunction!(live::live, module)?)?;
    module.add_function(wrap_pyfunction!(live::live_runs, module)?)?;
    module.add_function(wrap_pyfunction!(live::live_ask, module)?)?;
    module.add_function(wrap_pyfunction!(live::live_exec, module)?)?;
    module.add_function(wrap_pyfunction!(uml::uml, module)?)?;
    Ok(())
}
