//! Compares limits with values measured over several seeds.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Budget, BudgetError, Limit, Measured};

/// Mean of a metric over seeds and its 95 % confidence interval. With one seed the interval is the mean
/// itself.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Number of seeds.
    pub seeds: u64,
}

/// Student's t for 95 % two-sided by degrees of freedom, from 1 on.
// paper: Student, The probable error of a mean (Biometrika 6, 1908); values as in any table of the
// distribution.
const T95: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];

impl Estimate {
    fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let half = match values.len() {
            1 => 0.0,
            len => {
                let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0);
                let t = T95.get(len - 2).copied().unwrap_or(1.96 + 2.5 / (n - 1.0));
                t * (variance / n).sqrt()
            }
        };
        Self { mean, low: mean - half, high: mean + half, seeds: values.len() as u64 }
    }
}

/// Earlier results, by path and metric.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Baseline(pub BTreeMap<String, BTreeMap<String, Estimate>>);

impl Baseline {
    /// Reads a baseline from JSON, as written by [`Baseline::to_json`].
    ///
    /// # Errors
    /// The text is not a baseline; `file` is its name in the message.
    pub fn read(text: &str, file: &str) -> Result<Self, BudgetError> {
        serde_json::from_str(text).map_err(|error| BudgetError(format!("{file}: no baseline: {error}")))
    }

    /// The baseline as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}

/// Result of comparing a metric with its limit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Standing {
    /// The whole interval is within the limit.
    Kept,
    /// The limit is within the interval: these seeds do not decide if it is kept.
    Close,
    /// The whole interval is beyond the limit.
    Broken,
}

/// One metric of one path.
#[derive(Clone, PartialEq, Debug)]
pub struct Finding {
    /// The path.
    pub path: String,
    /// The metric.
    pub metric: String,
    /// Limit of the metric.
    pub limit: Limit,
    /// Measured value.
    pub found: Estimate,
    /// Earlier result, if there is one.
    pub before: Option<Estimate>,
    /// Result of the comparison.
    pub standing: Standing,
}

impl Finding {
    /// Relative change against the baseline; `None` without a baseline.
    pub fn change(&self) -> Option<f64> {
        let before = self.before?.mean;
        (before != 0.0).then(|| self.found.mean / before - 1.0)
    }

    /// Returns true if the change is significant: the two intervals do not overlap.
    pub fn has_changed(&self) -> bool {
        self.before.is_some_and(|before| self.found.low > before.high || self.found.high < before.low)
    }
}

/// The verdict on a budget.
#[derive(Clone, PartialEq, Debug)]
pub struct Verdict {
    pub(super) file: String,
    /// One finding for each limit, by path.
    pub findings: Vec<Finding>,
    /// All measured values, as a baseline for later runs.
    pub baseline: Baseline,
}

impl Verdict {
    /// Returns true if no limit is broken.
    pub fn holds(&self) -> bool {
        self.findings.iter().all(|finding| finding.standing < Standing::Broken)
    }
}

fn standing(limit: Limit, found: Estimate) -> Standing {
    let sides = [
        limit.at_most.map(|most| (found.low > most, found.high > most)),
        limit.at_least.map(|least| (found.high < least, found.low < least)),
    ];
    let one = |(beyond, partly): (bool, bool)| match (beyond, partly) {
        (true, _) => Standing::Broken,
        (false, true) => Standing::Close,
        (false, false) => Standing::Kept,
    };
    sides.into_iter().flatten().map(one).max().unwrap_or(Standing::Kept)
}

impl Budget {
    /// Evaluates measured values: compares each limit with the mean over seeds and its interval, and with
    /// an earlier baseline if there is one.
    ///
    /// # Errors
    /// A run is missing or given twice, or has no finite value for a metric with a limit.
    pub fn judge(&self, measured: &[Measured], before: Option<&Baseline>) -> Result<Verdict, BudgetError> {
        let wrong = |says: String| Err(BudgetError(format!("{}: {says}", self.file)));
        for case in self.cases() {
            let runs = measured.iter().filter(|run| (&run.path, run.seed) == (&case.path, case.seed)).count();
            if runs != 1 {
                return wrong(format!(
                    "path.{}, seed {}: found {runs} runs, expected one",
                    case.path, case.seed
                ));
            }
        }
        let mut all: BTreeMap<String, BTreeMap<String, Vec<f64>>> = BTreeMap::new();
        for run in measured {
            self.case(&run.path, run.seed)?;
            let metrics = all.entry(run.path.clone()).or_default();
            for (metric, &value) in run.values.iter().filter(|(_, value)| value.is_finite()) {
                metrics.entry(metric.clone()).or_default().push(value);
            }
        }
        let estimates = |metrics: BTreeMap<String, Vec<f64>>| {
            metrics.into_iter().map(|(metric, values)| (metric, Estimate::of(&values))).collect()
        };
        let baseline = Baseline(all.into_iter().map(|(path, metrics)| (path, estimates(metrics))).collect());
        let mut findings = Vec::new();
        for (path, metric, limit) in &self.limits {
            let found = match baseline.0.get(path).and_then(|metrics| metrics.get(metric)) {
                Some(found) if found.seeds == self.seeds => *found,
                found => {
                    let (n, of) = (found.map_or(0, |found| found.seeds), self.seeds);
                    return wrong(format!(
                        "path.{path}.{metric}: {n} of {of} runs measured it, expected all"
                    ));
                }
            };
            let before = before.and_then(|all| all.0.get(path)?.get(metric)).copied();
            let standing = standing(*limit, found);
            findings.push(Finding {
                path: path.clone(),
                metric: metric.clone(),
                limit: *limit,
                found,
                before,
                standing,
            });
        }
        Ok(Verdict { file: self.file.clone(), findings, baseline })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_of_a_mean() {
        // 9, 10, 11: standard deviation 1, standard error 0.577, times 4.303.
        let found = Estimate::of(&[9.0, 10.0, 11.0]);
        assert!((found.mean - 10.0).abs() < 1e-12 && (found.high - 12.484).abs() < 1e-3, "{found:?}");
        assert_eq!(Estimate::of(&[4.0]), Estimate { mean: 4.0, low: 4.0, high: 4.0, seeds: 1 });
    }

    #[test]
    fn a_limit_is_broken_if_the_interval_is_beyond_it() {
        let found = Estimate { mean: 10.0, low: 9.0, high: 11.0, seeds: 5 };
        let limit = |at_least, at_most| Limit { at_least, at_most };
        for (limit, want) in [
            (limit(None, Some(11.0)), Standing::Kept),
            (limit(None, Some(10.5)), Standing::Close),
            (limit(None, Some(9.5)), Standing::Close),
            (limit(None, Some(8.9)), Standing::Broken),
            (limit(Some(9.0), None), Standing::Kept),
            (limit(Some(10.5), None), Standing::Close),
            (limit(Some(11.1), Some(20.0)), Standing::Broken),
        ] {
            assert_eq!(standing(limit, found), want, "{limit:?}");
        }
    }

    #[test]
    fn missing_values_are_reported() {
        let text = "seeds = 2\n[path.vdsl-40-10]\nx.at_most = 1\n";
        let budget = Budget::read(text, "b.toml").expect("a budget");
        let cases: Vec<_> = budget.cases().collect();
        let one = cases[0].measured([("x", 1.0)]);
        let says = |runs: &[Measured]| budget.judge(runs, None).expect_err("a mistake").to_string();
        assert_eq!(
            says(std::slice::from_ref(&one)),
            "b.toml: path.vdsl-40-10, seed 2: found 0 runs, expected one"
        );
        let other = cases[1].measured([("y", 1.0), ("x", f64::NAN)]);
        assert_eq!(
            says(&[one.clone(), other]),
            "b.toml: path.vdsl-40-10.x: 1 of 2 runs measured it, expected all"
        );
        let verdict = budget.judge(&[one, cases[1].measured([("x", 3.0)])], None).expect("all is there");
        assert!(verdict.holds() && verdict.findings[0].standing == Standing::Close);
        // Read back as a baseline, the change against it is zero.
        let kept = Baseline::read(&verdict.baseline.to_json(), "kept.json").expect("a baseline");
        assert_eq!(kept, verdict.baseline);
        let again =
            budget.judge(&[cases[0].measured([("x", 5.0)]), cases[1].measured([("x", 5.0)])], Some(&kept));
        let finding = again.expect("all is there").findings.remove(0);
        assert_eq!(
            (finding.change(), finding.has_changed(), finding.standing),
            (Some(1.5), false, Standing::Broken)
        );
        assert!(Baseline::read("[", "kept.json").is_err());
    }
}
