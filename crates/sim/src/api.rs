//! What front ends call: scenarios as text in, results as JSON out.

use std::collections::BTreeMap;
use std::fs::File;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use rayon::prelude::*;
use serde::Serialize;
use stillair_model::vocabulary::{Instant, Seed, Sink, Tee};

use crate::capture::{Capture, Selection};
use crate::recorder::{Recorder, RunSummary, summarise};
use crate::scenario::{self, Scenario};
use crate::world::{self, Wired};

/// Version of the program, as results carry it.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A request to run a scenario.
#[derive(Clone, Debug)]
pub struct Request {
    /// The scenario, as TOML.
    pub text: String,
    /// Its name in messages.
    pub file: String,
    /// Dotted keys and the values they are set to.
    pub overrides: Vec<(String, String)>,
    /// Seed, if not the scenario's.
    pub seed: Option<u64>,
    /// Repetitions.
    pub runs: u32,
    /// Number of the first repetition.
    pub first_run: u32,
    /// Runs at the same time.
    pub jobs: usize,
}

/// Why there is no result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ApiError {
    /// The scenario is wrong.
    Input(String),
    /// A run failed.
    Run(String),
}

#[derive(Serialize)]
struct Output<'a> {
    version: &'static str,
    scenario: &'a str,
    runs: Vec<RunSummary>,
}

/// Reads a scenario, with a remedy for what is wrong.
fn read(text: &str, file: &str, overrides: &[(String, String)]) -> Result<Scenario, ApiError> {
    scenario::parse(text, file, overrides).map_err(|e| ApiError::Input(e.to_string()))
}

/// Runs one repetition of a scenario and checks its accounts.
pub fn run_once(scenario: &Scenario, seed: Seed) -> Result<RunSummary, String> {
    run_with(scenario, seed, |recorder| recorder, |recorder| recorder).map(|(summary, _)| summary)
}

/// Runs one repetition with any reader of the trace, made of a recorder by `sink` and lending it again by `recorder`.
fn run_with<S: Sink>(
    scenario: &Scenario,
    seed: Seed,
    sink: impl FnOnce(Recorder) -> S,
    recorder: impl Fn(&S) -> &Recorder,
) -> Result<(RunSummary, S), String> {
    let Wired { mut world, stations, places } = world::wire(scenario, seed, sink);
    let end = Instant::ZERO + scenario.duration;
    world.run_until(end);
    world.close(end).map_err(|e| format!("run {}: accounts do not close: {e}", seed.run))?;
    let measured = scenario.duration - scenario.warm_up;
    let ids = (seed.seed, seed.run);
    let air = world.air_accounts();
    let seen = recorder(&world.trace);
    let summary = summarise(ids, seen, measured, &stations, &places, world.packet_account(), &air);
    Ok((summary, world.trace))
}

/// Runs all repetitions, `jobs` at a time, and returns the results as one JSON object.
///
/// `progress` gets the number of finished repetitions and says whether to go on. Results do not depend on `jobs`.
pub fn run(request: &Request, progress: &(dyn Fn(u32) -> bool + Sync)) -> Result<String, ApiError> {
    let scenario = read(&request.text, &request.file, &request.overrides)?;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(request.jobs.max(1))
        .build()
        .map_err(|e| ApiError::Run(format!("cannot start {} workers: {e}", request.jobs)))?;
    let (finished, stop) = (AtomicU32::new(0), AtomicBool::new(false));
    let one = |run: u32| {
        if stop.load(Ordering::Relaxed) {
            return Err("interrupted".to_owned());
        }
        let seed = Seed { seed: request.seed.unwrap_or(scenario.seed), run: u64::from(run) };
        let summary = run_once(&scenario, seed);
        if !progress(finished.fetch_add(1, Ordering::Relaxed) + 1) {
            stop.store(true, Ordering::Relaxed);
        }
        summary
    };
    let numbers = request.first_run..request.first_run.saturating_add(request.runs);
    let runs: Result<Vec<RunSummary>, String> = pool.install(|| numbers.into_par_iter().map(one).collect());
    let output = Output { version: VERSION, scenario: &scenario.name, runs: runs.map_err(ApiError::Run)? };
    serde_json::to_string(&output).map_err(|e| ApiError::Run(format!("cannot write the result: {e}")))
}

/// The resolved scenario, with defaults filled in and overrides applied, as JSON.
pub fn resolve(text: &str, file: &str, overrides: &[(String, String)]) -> Result<String, ApiError> {
    Ok(read(text, file, overrides)?.resolved())
}

/// The combinations of the scenario's `[sweep]` table, each a list of overrides.
pub fn sweep(text: &str, file: &str) -> Result<Vec<Vec<(String, String)>>, ApiError> {
    scenario::sweep(text, file).map_err(|e| ApiError::Input(e.to_string()))
}

/// A request to capture one run of a scenario.
#[derive(Clone, Debug)]
pub struct CaptureRequest {
    /// The scenario, as TOML.
    pub text: String,
    /// Its name in messages.
    pub file: String,
    /// Dotted keys and the values they are set to.
    pub overrides: Vec<(String, String)>,
    /// Seed, if not the scenario's.
    pub seed: Option<u64>,
    /// Number of the repetition.
    pub run: u64,
    /// Where the capture is written.
    pub path: String,
    /// Points of capture: none means the air of every channel, `all` every point.
    pub points: Vec<String>,
    /// First and last time of the window, such as `5 s`; none means the run's.
    pub window: (Option<String>, Option<String>),
    /// Bytes kept of each frame at most; zero keeps all.
    pub snaplen: u32,
}

#[derive(Serialize)]
struct CaptureOutput {
    path: String,
    frames: BTreeMap<String, u64>,
    bytes: u64,
    run: RunSummary,
}

/// Runs one repetition and writes what its points of capture saw to a pcapng file; gives the file's path and length, the
/// frames of each point and the summary of the run, which is that of [`run`], as JSON.
pub fn capture(request: &CaptureRequest) -> Result<String, ApiError> {
    let scenario = read(&request.text, &request.file, &request.overrides)?;
    let path = &request.path;
    let edge = |text: &Option<String>, or: Instant| match text {
        None => Ok(or),
        Some(text) => match scenario::parse_duration(text) {
            Ok(since) => Ok(Instant::ZERO + since),
            Err(expected) => Err(ApiError::Input(format!("window: found \"{text}\", expected {expected}"))),
        },
    };
    let selection = Selection {
        points: request.points.clone(),
        from: edge(&request.window.0, Instant::ZERO)?,
        until: edge(&request.window.1, Instant::NEVER)?,
        snaplen: request.snaplen,
    };
    selection.check(&scenario).map_err(ApiError::Input)?;
    let file = File::create(path)
        .map_err(|e| ApiError::Input(format!("{path}: the capture cannot be written there: {e}")))?;
    let capture = Capture::new(&scenario, &selection, file).map_err(ApiError::Input)?;
    let seed = Seed { seed: request.seed.unwrap_or(scenario.seed), run: request.run };
    let (summary, Tee(_, capture)) =
        run_with(&scenario, seed, |recorder| Tee(recorder, capture), |tee| &tee.0).map_err(ApiError::Run)?;
    let captured = capture
        .finish(Instant::ZERO + scenario.duration)
        .map_err(|e| ApiError::Run(format!("{path}: the capture could not be written: {e}")))?;
    let output = CaptureOutput {
        path: path.clone(),
        frames: captured.frames.into_iter().collect(),
        bytes: captured.bytes,
        run: summary,
    };
    serde_json::to_string(&output).map_err(|e| ApiError::Run(format!("cannot write the result: {e}")))
}

/// The points of capture of a scenario.
pub fn capture_points(
    text: &str,
    file: &str,
    overrides: &[(String, String)],
) -> Result<Vec<String>, ApiError> {
    Ok(crate::capture::point_names(&read(text, file, overrides)?))
}
