//! Budgets: the runs that they require, and the evaluation of measurements.

use pyo3::prelude::*;
use stillair_link::budget::{Baseline, Budget as Read, BudgetError, Measured};
use stillair_sim::api::ApiError;

use crate::errors;
use crate::link::Link;

fn raised(error: BudgetError) -> PyErr {
    errors::to_python(ApiError::Input(error.0))
}

/// A budget.
#[pyclass(frozen)]
#[derive(Debug)]
pub struct Budget {
    read: Read,
}

/// Path, seed, and metrics with their values.
type MeasuredCase = (String, u64, Vec<(String, f64)>);

#[pymethods]
impl Budget {
    /// Reads a budget from text; `file` is its name in messages.
    #[new]
    fn new(text: &str, file: &str) -> PyResult<Self> {
        Ok(Self { read: Read::read(text, file).map_err(raised)? })
    }

    /// Command to run for each case.
    #[getter]
    fn command(&self) -> Vec<String> {
        self.read.command().to_vec()
    }

    /// Path and seed of each run.
    #[getter]
    fn cases(&self) -> Vec<(String, u64)> {
        self.read.cases().map(|case| (case.path, case.seed)).collect()
    }

    /// Creates the link of a case.
    fn link(&self, path: &str, seed: u64) -> PyResult<Link> {
        Link::of(self.read.case(path, seed).map_err(raised)?.link())
    }

    /// Returns true if the measurements meet the budget, and the verdict as text, Markdown, JUnit and
    /// baseline.
    #[pyo3(signature = (measured, before))]
    fn judge(
        &self,
        measured: Vec<MeasuredCase>,
        before: Option<(&str, &str)>,
    ) -> PyResult<(bool, String, String, String, String)> {
        let one = |(path, seed, values): MeasuredCase| Measured {
            path,
            seed,
            values: values.into_iter().collect(),
        };
        let measured: Vec<Measured> = measured.into_iter().map(one).collect();
        let before = before.map(|(text, file)| Baseline::read(text, file)).transpose().map_err(raised)?;
        let verdict = self.read.judge(&measured, before.as_ref()).map_err(raised)?;
        let forms = (verdict.to_string(), verdict.to_markdown(), verdict.to_junit());
        Ok((verdict.holds(), forms.0, forms.1, forms.2, verdict.baseline.to_json()))
    }
}
