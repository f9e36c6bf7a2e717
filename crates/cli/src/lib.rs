//! Command line for a program with user-defined parts: `run`, `sweep`, `ss`, JSON output, result folders and
//! captures.
//!
//! ```text
//! fn main() -> ExitCode {
//!     stillair_cli::main(|parts| {
//!         parts.congestion_control("mine", "what it does", vec![], |_| Ok(Mine::default()))?;
//!         Ok(())
//!     })
//! }
//! ```
//!
//! The traits in [`model`] document the requirements of parts; the functions of `model::conformance` check
//! them.

mod arguments;
mod folder;
mod text;

use std::collections::BTreeSet;
use std::io::Write;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::{env, fs, io};

pub use stillair_model as model;
pub use stillair_sim as sim;
pub use stillair_sim::parts::{Key, Options, PartError, Parts};

use arguments::{Arguments, Command};
use folder::Keeper;
use serde_json::{Value, json};
use stillair_sim::api::{self, ApiError, CaptureRequest, Request, SsRequest};
use stillair_sim::batch::{self, Batch, News};
use stillair_sim::scenario::{Folder, Reader};

/// Reason for failure, with a message.
enum Failure {
    /// The input is invalid: exit status 2.
    Input(String),
    /// A run has failed, or its result cannot be written: exit status 1.
    Run(String),
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        match error {
            ApiError::Input(says) => Self::Input(says),
            ApiError::Scenario(error) => Self::Input(error.to_string()),
            ApiError::Run(says) => Self::Run(says),
        }
    }
}

/// Runs the program: calls `register` to register parts, then runs the command given by the arguments.
/// `--help` lists the commands.
pub fn main(register: impl FnOnce(&mut Parts) -> Result<(), PartError>) -> ExitCode {
    let mut parts = Parts::default();
    let done = match register(&mut parts) {
        Ok(()) => run(&parts, &env::args().skip(1).collect::<Vec<_>>(), &mut io::stdout().lock()),
        Err(error) => Err(Failure::Input(error.to_string())),
    };
    let (says, status) = match done {
        Ok(()) => return ExitCode::SUCCESS,
        Err(Failure::Input(says)) => (says, 2),
        Err(Failure::Run(says)) => (says, 1),
    };
    // If stderr is closed, the error cannot be reported.
    let _ = writeln!(io::stderr(), "error: {says}");
    ExitCode::from(status)
}

/// Runs the command and writes text or JSON to `out`.
fn run(parts: &Parts, arguments: &[String], out: &mut dyn Write) -> Result<(), Failure> {
    let arguments = Arguments::read(arguments).map_err(Failure::Input)?;
    let said = match arguments.command {
        Command::Help => arguments::HELP.to_owned(),
        Command::Parts => text::parts(parts),
        Command::Schema => parts.schema(),
        Command::Resolve => resolve(parts, &arguments)?,
        Command::Ss => sockets(parts, &arguments)?,
        Command::Capture => capture(parts, &arguments)?,
        Command::Run => one(parts, &arguments)?,
        Command::Sweep => sweep(parts, &arguments)?,
    };
    writeln!(out, "{}", said.trim_end()).map_err(|e| Failure::Run(format!("cannot write the result: {e}")))
}

/// Reads the scenario file.
fn scenario(arguments: &Arguments) -> Result<String, Failure> {
    let file = &arguments.file;
    fs::read_to_string(file).map_err(|e| Failure::Input(format!("{file}: cannot be read: {e}")))
}

/// Returns the scenario with all defaults.
fn resolve(parts: &Parts, arguments: &Arguments) -> Result<String, Failure> {
    let (text, files) = (scenario(arguments)?, Folder::of(&arguments.file));
    Ok(api::resolve_by(&Reader { parts, files: &files }, &text, &arguments.file, &arguments.sets)?)
}

/// Returns the sockets of a run.
fn sockets(parts: &Parts, arguments: &Arguments) -> Result<String, Failure> {
    let Arguments { file, sets, seed, run, at, .. } = arguments.clone();
    let (text, files) = (scenario(arguments)?, Folder::of(&file));
    let request = SsRequest { text, file, overrides: sets, seed, run, at };
    Ok(api::ss_by(&Reader { parts, files: &files }, &request)?)
}

/// Captures a run. Returns the number of frames per point.
fn capture(parts: &Parts, arguments: &Arguments) -> Result<String, Failure> {
    let Arguments { file, sets, seed, run, out, points, .. } = arguments.clone();
    let (text, files) = (scenario(arguments)?, Folder::of(&file));
    let path = out.unwrap_or_default();
    // The file gets its final name when it is complete.
    let part = format!("{path}.part");
    let request = CaptureRequest {
        text,
        file,
        overrides: sets,
        seed,
        run,
        path: path.clone(),
        part: part.clone(),
        points,
        window: (None, None),
        snaplen: 0,
    };
    let captured = api::capture_by(&Reader { parts, files: &files }, &request);
    if captured.is_err() {
        // With an invalid scenario, the file does not exist.
        let _ = fs::remove_file(&part);
    }
    let captured = value(&captured?)?;
    fs::rename(&part, &path).map_err(|e| Failure::Run(format!("{path}: cannot be written: {e}")))?;
    let frames = captured["frames"].as_object().into_iter().flatten();
    let mut frames: Vec<String> = frames.map(|(point, n)| format!("  {point}: {n} frames")).collect();
    if captured["run"].get("sojourn").is_some() {
        frames.push(
            "  [record] sojourn: a run tells where the time of packets went, a capture does not".to_owned(),
        );
    }
    Ok(format!("{path}\n{}", frames.join("\n")))
}

/// Runs all repetitions of a scenario.
fn one(parts: &Parts, arguments: &Arguments) -> Result<String, Failure> {
    let Arguments { file, sets, seed, runs, jobs, .. } = arguments;
    let keeps = arguments.out.is_some();
    let request = Request {
        text: scenario(arguments)?,
        file: file.clone(),
        overrides: sets.clone(),
        seed: *seed,
        runs: *runs,
        first_run: 0,
        jobs: *jobs,
        series: arguments.series || keeps,
    };
    let files = Folder::of(file);
    let reader = Reader { parts, files: &files };
    let keeper = match &arguments.out {
        None => None,
        Some(path) => {
            // The scenario is checked before any file is created.
            let resolved = api::resolve_by(&reader, &request.text, file, sets)?;
            let keeper = Keeper::new(path, &request.text, &resolved, sets, *runs).map_err(Failure::Input)?;
            Some(keeper)
        }
    };
    let lost = Mutex::new(None);
    let seeds = Mutex::new(BTreeSet::new());
    let result = api::run_by(&reader, &request, &|_, report| {
        let kept = keeper.as_ref().map_or(Ok(()), |keeper| keeper.keep(report));
        if !arguments.series {
            // The series are in the run's file now; those of many runs would not fit in memory.
            report.series = None;
        }
        let mut seeds = seeds.lock().unwrap_or_else(PoisonError::into_inner);
        seeds.insert(report.summary.seed);
        kept.map_err(|why| *lost.lock().unwrap_or_else(PoisonError::into_inner) = Some(why)).is_ok()
    });
    if let Some(why) = lost.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(Failure::Run(why));
    }
    let result = result?;
    if let Some(keeper) = keeper {
        let seeds = seeds.into_inner().unwrap_or_else(PoisonError::into_inner);
        keeper.finish(&result, &seeds.into_iter().collect::<Vec<_>>()).map_err(Failure::Run)?;
    }
    if arguments.json { Ok(result) } else { Ok(text::result(&value(&result)?)) }
}

/// Runs all combinations of the scenario's `[sweep]` table.
fn sweep(parts: &Parts, arguments: &Arguments) -> Result<String, Failure> {
    let Arguments { file, sets, seed, runs, jobs, .. } = arguments;
    let text = scenario(arguments)?;
    let files = Folder::of(file);
    let reader = Reader { parts, files: &files };
    let all = reader.sweep(&text, file, sets).map_err(|e| Failure::Input(e.to_string()))?;
    let variants = all.iter().map(|set| sets.iter().chain(set).cloned().collect()).collect();
    let batch = Batch { text, file: file.clone(), variants, seed: *seed, runs: *runs, jobs: *jobs };
    let results = Mutex::new(vec![None; all.len()]);
    let failed = Mutex::new(None);
    let ended = batch::run_by(&reader, &batch, &|news| match news {
        News::Runs(_) => true,
        News::Variant(nth, result) => results.lock().map(|mut all| all[nth] = Some(result)).is_ok(),
        News::Failed(_, why) => {
            failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
            false
        }
    });
    if let Some(why) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(Failure::Run(why));
    }
    ended?;
    let results = results.into_inner().unwrap_or_default();
    let mut combinations = Vec::with_capacity(all.len());
    for (set, result) in all.iter().zip(results) {
        let result = result.ok_or_else(|| Failure::Run("a combination has no result".to_owned()))?;
        combinations.push(match arguments.json {
            // Written by hand to preserve the order of keys and the digits of numbers.
            true => {
                let set = set.iter().map(|(key, text)| format!("{}:{}", json!(key), json!(text)));
                format!("{{\"set\":{{{}}},\"result\":{result}}}", set.collect::<Vec<_>>().join(","))
            }
            false => text::combination(set, &value(&result)?),
        });
    }
    if !arguments.json {
        return Ok(combinations.join("\n"));
    }
    let version = json!(api::VERSION);
    Ok(format!("{{\"version\":{version},\"combinations\":[{}]}}", combinations.join(",")))
}

fn value(result: &str) -> Result<Value, Failure> {
    serde_json::from_str(result).map_err(|e| Failure::Run(format!("a result that is no JSON: {e}")))
}

#[cfg(test)]
mod tests;
