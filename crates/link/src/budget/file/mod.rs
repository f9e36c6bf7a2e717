//! The budget file.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path as FilePath;

use serde::Deserialize;
use stillair_sim::scenario::{Files, Folder};
use thiserror::Error;
use toml::{Spanned, Value};

use super::Case;
use crate::{LinkError, Path};

/// An error in a budget or in measured values, with its place and the expected value.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{0}")]
pub struct BudgetError(pub String);

/// Bounds of a metric. At least one of the two is set.
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

/// Keys and values of a path, with the places of the keys.
type Entry = BTreeMap<Spanned<String>, Value>;

/// A path: the source of its scenario, and its limits.
#[derive(Default)]
struct Source {
    preset: Option<String>,
    scenario: Option<String>,
    rival: Option<String>,
    set: BTreeMap<String, String>,
    limits: Vec<(String, Limit)>,
    /// Places of the keys that are present.
    places: BTreeMap<String, Range<usize>>,
}

impl Source {
    /// Reads the keys of a path. An error carries the place of its key.
    fn read(name: &str, entry: &Entry) -> Result<Self, (Range<usize>, String)> {
        let mut source = Self::default();
        for (key, value) in entry {
            let (at, key) = (key.span(), key.get_ref().as_str());
            let wrong = |expected: &str| {
                (at.clone(), format!("path.{name}.{key}: found {value}, expected {expected}"))
            };
            let text = || value.as_str().map(str::to_owned);
            source.places.insert(key.to_owned(), at.clone());
            match key {
                "preset" => source.preset = Some(text().ok_or_else(|| wrong("the name of a preset"))?),
                "scenario" => {
                    let expected = "the path of a scenario file, such as \"mine.toml\"";
                    source.scenario = Some(text().ok_or_else(|| wrong(expected))?);
                }
                "rival" => source.rival = Some(text().ok_or_else(|| wrong("a congestion control"))?),
                "set" => {
                    let expected = "a table of keys and their values as text, such as { \"link.wan.delay\" = \"20 ms\" }";
                    source.set = value.clone().try_into().map_err(|_| wrong(expected))?;
                }
                metric => {
                    let expected = "{ at_least = NUMBER } or { at_most = NUMBER }, or both, for a metric; or one of the keys preset, scenario, \
                                    rival and set";
                    let limit: Limit = value.clone().try_into().map_err(|_| wrong(expected))?;
                    let bounds = [limit.at_least, limit.at_most];
                    if bounds == [None, None] || bounds.iter().flatten().any(|bound| !bound.is_finite()) {
                        return Err(wrong(expected));
                    }
                    source.limits.push((metric.to_owned(), limit));
                }
            }
        }
        // Sorted by name, independent of the order in the file.
        source.limits.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(source)
    }
}

/// Metric limits for paths.
///
/// ```toml
/// seeds = 10                          # runs per path, with seeds 1 to 10
/// command = ["./transport-on-a-path"] # run by `stillair budget` for each case
///
/// [path.home-80211ac-far]             # a preset
/// goodput_mbps = { at_least = 60 }
/// delay_p99_ms = { at_most = 40 }
///
/// [path.beside-cubic]
/// preset = "vdsl-40-10"
/// rival = "cubic"                     # TCP download by the host `rival` from the start, "rival.rival" in results
/// set = { "link.wan.delay" = "20 ms" }
/// fairness = { at_least = 0.3 }
///
/// [path.my-line]
/// scenario = "my-line.toml"           # your own scenario with two `host = "external"` nodes, relative to the budget's folder
/// delay_p99_ms = { at_most = 100 }
/// ```
///
/// Metric names are free to choose.
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

/// Creates the path of an entry: a preset, or a scenario file in the folder of the budget `file`, plus the
/// rival's flow. An error carries the offending key, or an empty key for the name of the path.
fn path(name: &str, source: &Source, file: &str) -> Result<Path, (&'static str, String)> {
    let (key, text, from) = match (&source.scenario, &source.preset) {
        (Some(_), Some(_)) => {
            return Err(("scenario", "found both preset and scenario, expected one of them".to_owned()));
        }
        (Some(scenario), None) => {
            let at = FilePath::new(file).parent().unwrap_or_else(|| FilePath::new("")).join(scenario);
            let text = Folder::of(file).read(scenario).map_err(|says| {
                (
                    "scenario",
                    format!("found {scenario:?}, {says}, expected a scenario file at {}", at.display()),
                )
            })?;
            ("scenario", text, at.display().to_string())
        }
        (None, preset) => {
            let key = if preset.is_some() { "preset" } else { "" };
            let found = stillair_sim::scenario::paths::preset(preset.as_deref().unwrap_or(name))
                .map_err(|says| (key, says))?;
            (key, found.text.to_owned(), found.name.to_owned())
        }
    };
    let flow = source.rival.as_ref().map_or(String::new(), |controller| {
        format!("\n[[flow]]\nname = \"rival\"\nkind = \"tcp\"\nfrom = \"rival-server\"\nto = \"rival\"\ncongestion_control = {controller:?}\n")
    });
    let sets: Vec<(&str, &str)> = source.set.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    let parse = |flow: &str, sets: &[(&str, &str)]| {
        Path::parse(&format!("{text}{flow}"), &from, sets).map_err(|error: LinkError| error.to_string())
    };
    parse(&flow, &sets).map_err(|says| {
        // Report the first part that is invalid on its own.
        if parse("", &[]).is_err() {
            (key, says)
        } else if parse("", &sets).is_err() {
            ("set", says)
        } else {
            ("rival", says)
        }
    })
}

impl Budget {
    /// Reads a budget from TOML text; `file` is its name in error messages. Paths of scenario files are
    /// relative to the folder of `file`.
    ///
    /// # Errors
    /// The budget is invalid. The message has the file, the line, the value found and the value expected.
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
            let source = Source::read(name, entry).map_err(|(at, says)| wrong(at, says))?;
            let path = path(name, &source, file).map_err(|(key, says)| {
                let dot = if key.is_empty() { "" } else { "." };
                let at = source.places.get(key).unwrap_or(&at);
                wrong(at.clone(), format!("path.{name}{dot}{key}: {says}"))
            })?;
            paths.push((name.clone(), path));
            if source.limits.is_empty() {
                return Err(wrong(
                    at,
                    format!("path.{name}: found no limit, expected a metric such as delay_p99_ms"),
                ));
            }
            limits.extend(source.limits.into_iter().map(|(metric, limit)| (name.clone(), metric, limit)));
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

    /// The command that `stillair budget` runs for each case. Empty if a test evaluates the budget.
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
mod tests;
