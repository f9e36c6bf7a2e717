//! Result folders in the format of `stillair run -o`, without tables, for the other commands of `stillair`.
//!
//! Files: `scenario.toml` (as given), `scenario.resolved.json`, `overrides.json`, `runs/run-N.json` (summary
//! and series, written as each run ends), and `result.json` (summaries, written after all runs).

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use stillair_sim::run::RunReport;

/// Version of the folder format, independent of the program's version.
const FORMAT: u32 = 1;

/// A result folder being written.
pub struct Keeper {
    path: PathBuf,
    /// Number of planned runs.
    planned: u32,
}

impl Keeper {
    /// Starts a result in a new or empty folder.
    pub fn new(
        path: &str,
        text: &str,
        resolved: &str,
        overrides: &[(String, String)],
        planned: u32,
    ) -> Result<Self, String> {
        let keeper = Self { path: path.into(), planned };
        if keeper.path.read_dir().is_ok_and(|mut found| found.next().is_some()) {
            return Err(format!("{path}: has files in it; give another folder with -o"));
        }
        let runs = keeper.path.join("runs");
        fs::create_dir_all(&runs).map_err(|e| format!("{path}: cannot be made: {e}"))?;
        keeper.write("scenario.toml", text)?;
        keeper.write("scenario.resolved.json", &format!("{resolved}\n"))?;
        keeper.write("overrides.json", &format!("{}\n", json!(overrides)))?;
        Ok(keeper)
    }

    /// Writes a finished run.
    pub fn keep(&self, report: &RunReport) -> Result<(), String> {
        self.write(&format!("runs/run-{}.json", report.summary.run), &format!("{}\n", report.to_json()?))
    }

    /// Writes the summaries of all runs, a JSON object. `seeds` are the seeds of the runs.
    pub fn finish(&self, result: &str, seeds: &[u64]) -> Result<(), String> {
        let rest = result.strip_prefix('{').ok_or("a result that is no object")?;
        let planned = self.planned;
        let head = format!("{{\"format\":{FORMAT},\"planned_runs\":{planned},\"seeds\":{}", json!(seeds));
        self.write("result.json", &format!("{head},{rest}\n"))
    }

    fn write(&self, name: &str, text: &str) -> Result<(), String> {
        let path: &Path = &self.path.join(name);
        fs::write(path, text).map_err(|e| format!("{}: cannot be written: {e}", path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn format_matches_the_reader() {
        let reader = include_str!("../../../python/stillair/results/result_folder.py");
        assert!(reader.contains(&format!("\nFORMAT = {FORMAT}\n")));
    }
}
