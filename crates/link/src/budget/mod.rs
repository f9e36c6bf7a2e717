//! A budget: metric limits for named paths, checked against measured values.
//!
//! ```
//! use stillair_link::budget::Budget;
//!
//! let budget = Budget::read(
//!     r#"
//!     seeds = 3
//!     [path.vdsl-40-10]
//!     goodput_mbps = { at_least = 25.0 }
//!     delay_p99_ms = { at_most = 60.0 }
//!     "#,
//!     "budget.toml",
//! )?;
//! let mut measured = Vec::new();
//! for case in budget.cases() {
//!     let link = case.link()?; // run your own stack over this link
//!     assert_eq!(link.path().scenario().name, "vdsl-40-10");
//!     measured.push(case.measured([("goodput_mbps", 30.0 + case.seed as f64), ("delay_p99_ms", 90.0)]));
//! }
//! let verdict = budget.judge(&measured, None)?;
//! assert!(!verdict.holds());
//! assert!(verdict.to_string().contains("delay_p99_ms"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod file;
mod judge;
mod meter;
mod report;

use std::collections::BTreeMap;

pub use file::{Budget, BudgetError, Limit};
pub use judge::{Baseline, Estimate, Finding, Standing, Verdict};
pub use meter::Meter;
use serde::{Deserialize, Serialize};

use crate::{Link, LinkError, Path};

/// One run of the transport: a path with a seed.
#[derive(Clone, Debug)]
pub struct Case {
    /// Name of the path in the budget.
    pub path: String,
    /// The seed.
    pub seed: u64,
    on: Path,
}

/// Measured values of one run, by name of the metric.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Measured {
    /// Name of the path in the budget.
    pub path: String,
    /// The seed.
    pub seed: u64,
    /// The values.
    pub values: BTreeMap<String, f64>,
}

impl Case {
    /// Creates a new link for this run.
    ///
    /// # Errors
    /// As for [`Path::link`].
    pub fn link(&self) -> Result<Link, LinkError> {
        self.on.link(self.seed)
    }

    /// The measured values of this run.
    pub fn measured<'n>(&self, values: impl IntoIterator<Item = (&'n str, f64)>) -> Measured {
        let values = values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Measured { path: self.path.clone(), seed: self.seed, values }
    }
}
