//! Budgets: which runs they want, and what becomes of what was measured.

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
    /// Of its text; `file` is its name in messages.
    #[new]
    fn new(text: &str, file: &str) -> PyResult<Self> {
        Ok(Self { read: Read::read(text, file).map_err(raised)? })
    }

    /// What is run for each case.
    #[getter]
    fn command(&self) -> Vec<String> {
        self.read.command().to_vec()
    }

    /// Path and seed of each run.
    #[getter]
    fn cases(&self) -> Vec<(String, u64)> {
        self.read.cases().map(|case| (case.path, case.seed)).collect()
    }

    /// A link of a case.
    fn link(&self, path: &str, seed: u64) -> PyResult<Link> {
        Link::of(self.read.case(path, seed).map_err(raised)?.link())
    }

    /// Whether it holds by what was measured, with the verdict as text, Markdown, JUnit and baseline.
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
