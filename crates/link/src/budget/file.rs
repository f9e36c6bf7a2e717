//! The file of a budget.

use core::fmt;
use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;

use super::Case;
use crate::{LinkError, Path};

/// An error in a budget or in measured values: the place, and what would be right.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BudgetError(pub String);

impl fmt::Display for BudgetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BudgetError {}

/// Bounds of a metric; at least one of the two is set.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// Lower bound.
    pub at_least: Option<f64>,
    /// Upper bound.
    pub at_most: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default = "ten")]
    seeds: Spanned<u64>,
    #[serde(default)]
    command: Vec<String>,
    path: BTreeMap<Spanned<String>, Entry>,
}

fn ten() -> Spanned<u64> {
    Spanned::new(0..0, 10)
}

#[derive(Deserialize)]
struct Entry {
    preset: Option<String>,
    rival: Option<Spanned<String>>,
    #[serde(default)]
    set: BTreeMap<String, String>,
    #[serde(flatten)]
    limits: BTreeMap<String, Limit>,
}

/// Limits of metrics on paths.
///
/// ```toml
/// seeds = 10                          # runs of each path, with the seeds 1 to 10
/// command = ["./transport-on-a-path"] # what `stillair budget` runs for each
///
/// [path.home-80211ac-far]             # a preset
/// goodput_mbps = { at_least = 60 }
/// delay_p99_ms = { at_most = 40 }
///
/// [path.beside-cubic]
/// preset = "vdsl-40-10"
/// rival = "cubic"                     # a download over TCP of the host `rival`, from the beginning, "rival.rival" in results
/// set = { "link.wan.delay" = "20 ms" }
/// fairness = { at_least = 0.3 }
/// ```
///
/// You choose the names of the metrics.
#[derive(Clone, Debug)]
pub struct Budget {
    pub(super) file: String,
    pub(super) seeds: u64,
    command: Vec<String>,
    paths: Vec<(String, Path)>,
    pub(super) limits: Vec<(String, String, Limit)>,
}

fn line(text: &str, at: Range<usize>) -> usize {
    1 + text[..at.start.min(text.len())].matches('\n').count()
}

/// The scenario of an entry as text: the preset, and a rival's flow behind it.
fn scenario(name: &str, entry: &Entry) -> Result<Path, String> {
    let preset = entry.preset.as_deref().unwrap_or(name);
    let found = stillair_sim::scenario::paths::preset(preset)?;
    let rival = entry.rival.as_ref().map(Spanned::get_ref);
    let flow = rival.map_or(String::new(), |controller| {
        format!("\n[[flow]]\nname = \"rival\"\nkind = \"tcp\"\nfrom = \"rival-server\"\nto = \"rival\"\ncongestion_control = {controller:?}\n")
    });
    let sets: Vec<(&str, &str)> = entry.set.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    Path::parse(&format!("{}{flow}", found.text), preset, &sets).map_err(|error: LinkError| error.to_string())
}

impl Budget {
    /// Reads a budget from TOML text; `file` is its name in error messages.
    ///
    /// # Errors
    /// The budget is wrong: file, line, what was found and what would be right.
    pub fn read(text: &str, file: &str) -> Result<Self, BudgetError> {
        let wrong =
            |at: Range<usize>, says: String| BudgetError(format!("{file}:{}: {says}", line(text, at)));
        let read: File = toml::from_str(text).map_err(|error| {
            let says = error.message().replace('\n', " ");
            wrong(error.span().unwrap_or(0..0), says)
        })?;
        if !(1..=1_000).contains(read.seeds.get_ref()) {
            let says = format!("seeds: found {}, expected 1 to 1000", read.seeds.get_ref());
            return Err(wrong(read.seeds.span(), says));
        }
        let (mut paths, mut limits) = (Vec::new(), Vec::new());
        for (name, entry) in &read.path {
            let (at, name) = (name.span(), name.get_ref());
            let path =
                scenario(name, entry).map_err(|says| wrong(at.clone(), format!("path.{name}: {says}")))?;
            paths.push((name.clone(), path));
            if entry.limits.is_empty() {
                return Err(wrong(
                    at,
                    format!("path.{name}: found no limit, expected a metric such as delay_p99_ms"),
                ));
            }
            for (metric, limit) in &entry.limits {
                let bounds = [limit.at_least, limit.at_most];
                if bounds == [None, None] || bounds.iter().flatten().any(|bound| !bound.is_finite()) {
                    let says =
                        format!("path.{name}.{metric}: expected at_least or at_most, or both, as numbers");
                    return Err(wrong(at, says));
                }
                limits.push((name.clone(), metric.clone(), *limit));
            }
        }
        if paths.is_empty() {
            return Err(wrong(
                0..0,
                "path: found none, expected a preset such as [path.home-80211ac-far]".to_owned(),
            ));
        }
        Ok(Self {
            file: file.to_owned(),
            seeds: read.seeds.into_inner(),
            command: read.command,
            paths,
            limits,
        })
    }

    /// The command that `stillair budget` runs for each case; empty if a test judges the budget.
    pub fn command(&self) -> &[String] {
        &self.command
    }

    /// All runs: each path with each seed.
    pub fn cases(&self) -> impl Iterator<Item = Case> + '_ {
        let of = |(name, on): &(String, Path)| {
            let (name, on) = (name.clone(), on.clone());
            (1..=self.seeds).map(move |seed| Case { path: name.clone(), seed, on: on.clone() })
        };
        self.paths.iter().flat_map(of)
    }

    /// The run with this path and seed.
    ///
    /// # Errors
    /// The budget has no such path.
    pub fn case(&self, path: &str, seed: u64) -> Result<Case, BudgetError> {
        let found = self.paths.iter().find(|(name, _)| name == path);
        let (name, on) = found.ok_or_else(|| {
            let names: Vec<&str> = self.paths.iter().map(|(name, _)| name.as_str()).collect();
            BudgetError(format!("{}: no path {path:?}, expected one of {}", self.file, names.join(", ")))
        })?;
        Ok(Case { path: name.clone(), seed, on: on.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(text: &str) -> String {
        Budget::read(text, "b.toml").expect_err("a mistake").to_string()
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        for (text, found) in [
            ("seeds = 3\n", "b.toml:1: missing field `path`"),
            ("path = {}\n", "b.toml:1: path: found none"),
            ("seeds = 0\npath.vdsl-40-10.x.at_most = 1\n", "b.toml:1: seeds: found 0, expected 1 to 1000"),
            ("\n[path.home]\nx.at_most = 1\n", "b.toml:2: path.home: found no path \"home\""),
            ("[path.vdsl-40-10]\n", "b.toml:1: path.vdsl-40-10: found no limit"),
            ("[path.vdsl-40-10]\nx = {}\n", "b.toml:1: path.vdsl-40-10.x: expected at_least or at_most"),
            ("[path.vdsl-40-10]\nx.at_most = nan\n", "b.toml:1: path.vdsl-40-10.x: expected at_least or"),
            ("[path.vdsl-40-10]\nx.at_mst = 1\n", "b.toml:1: unknown field `at_mst`"),
            (
                "[path.p]\npreset = \"vdsl-40-10\"\nrival = \"cubik\"\nx.at_most = 1\n",
                "b.toml:1: path.p: vdsl-40-10:",
            ),
            ("sedes = 1\n", "b.toml:1: unknown field `sedes`"),
        ] {
            assert!(says(text).starts_with(found), "{}", says(text));
        }
    }

    #[test]
    fn a_rival_is_a_flow_behind_the_preset() {
        let text = "seeds = 2\n[path.p]\npreset = \"vdsl-40-10\"\nrival = \"cubic\"\nset = { \"link.wan.delay\" = \"20 ms\" }\nx.at_most = 1\n";
        let budget = Budget::read(text, "b.toml").expect("a budget");
        let cases: Vec<_> = budget.cases().map(|case| (case.path.clone(), case.seed)).collect();
        assert_eq!(cases, [("p".to_owned(), 1), ("p".to_owned(), 2)]);
        let case = budget.case("p", 7).expect("a case");
        assert_eq!((case.seed, case.on.scenario().flows.len()), (7, 1));
        assert!(budget.case("q", 1).is_err());
    }
}
