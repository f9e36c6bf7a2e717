//! Repetitions of one scenario, in parallel.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use stillair_model::types::Seed;

use super::{ApiError, Output, read_to_run_by};
use crate::run::{RunReport, run_watching};
use crate::scenario::Scenario;
use crate::scenario::parts::Parts;
use crate::scenario::{Folder, Reader};

/// A request to run a scenario.
#[derive(Clone, Debug)]
pub struct Request {
    /// The scenario, as TOML.
    pub text: String,
    /// Name of the scenario in messages.
    pub file: String,
    /// Overrides as pairs of dotted key and value.
    pub overrides: Vec<(String, String)>,
    /// Seed, instead of the scenario's.
    pub seed: Option<u64>,
    /// Number of repetitions.
    pub runs: u32,
    /// Number of the first repetition.
    pub first_run: u32,
    /// Number of parallel runs. If there are fewer runs, idle threads run islands of the network, if any.
    pub jobs: usize,
    /// Include the series of each run.
    pub series: bool,
}

/// Progress reports per run.
const STEPS: u32 = 50;

/// Callback after each run.
pub type Finish<'a> = dyn Fn(u32, &mut RunReport) -> bool + Sync + 'a;

/// Runs all repetitions, `jobs` at a time, and returns the results as one JSON object.
///
/// `finish` receives the number of finished repetitions and the report of the last one, and may take the
/// series out of the report. It returns true to continue. Results do not depend on `jobs`.
pub fn run(request: &Request, finish: &Finish<'_>) -> Result<String, ApiError> {
    let files = Folder::of(&request.file);
    run_by(&Reader { parts: Parts::none(), files: &files }, request, finish)
}

/// Like `run`, for a scenario read by `reader`.
pub fn run_by(reader: &Reader<'_>, request: &Request, finish: &Finish<'_>) -> Result<String, ApiError> {
    run_watched_by(reader, request, &|_| true, finish)
}

/// Like [`run_by`]. During the runs, `passed` receives the number of finished runs, including fractions of
/// unfinished ones, and returns true to continue.
pub fn run_watched(
    request: &Request,
    passed: &(dyn Fn(f64) -> bool + Sync),
    finish: &Finish<'_>,
) -> Result<String, ApiError> {
    let files = Folder::of(&request.file);
    run_watched_by(&Reader { parts: Parts::none(), files: &files }, request, passed, finish)
}

fn run_watched_by(
    reader: &Reader<'_>,
    request: &Request,
    passed: &(dyn Fn(f64) -> bool + Sync),
    finish: &Finish<'_>,
) -> Result<String, ApiError> {
    let all = Mutex::new(Vec::new());
    let scenario = runs_by(reader, request, &[], passed, &|report| report, &|finished, mut report| {
        let go_on = finish(finished, &mut report);
        all.lock().unwrap_or_else(PoisonError::into_inner).push(report);
        go_on
    })?;
    let mut runs = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    runs.sort_by_key(|run| run.summary.run);
    Output::new(&scenario, runs).to_json().map_err(ApiError::Run)
}

/// Like [`run_watched`], but passes on each report as JSON instead of keeping it, and omits the runs whose
/// numbers are in the sorted list `kept`. Memory does not grow with the number of runs. The returned JSON
/// object has no runs.
pub fn run_each(
    request: &Request,
    kept: &[u32],
    passed: &(dyn Fn(f64) -> bool + Sync),
    finish: &(dyn Fn(u32, Result<String, String>) -> bool + Sync),
) -> Result<String, ApiError> {
    let files = Folder::of(&request.file);
    let reader = Reader { parts: Parts::none(), files: &files };
    let scenario = runs_by(&reader, request, kept, passed, &|report| report.to_json(), finish)?;
    Output::new(&scenario, Vec::new()).to_json().map_err(ApiError::Run)
}

/// Runs in parallel. `made` converts each report on the thread of its run; calls of `finish` are serialised.
fn runs_by<R>(
    reader: &Reader<'_>,
    request: &Request,
    kept: &[u32],
    passed: &(dyn Fn(f64) -> bool + Sync),
    made: &(dyn Fn(RunReport) -> R + Sync),
    finish: &(dyn Fn(u32, R) -> bool + Sync),
) -> Result<Scenario, ApiError> {
    let scenario = read_to_run_by(reader, &request.text, &request.file, &request.overrides)?;
    let first = request.first_run;
    if first.checked_add(request.runs.saturating_sub(1)).is_none() {
        let found = format!("first_run: found {first} with {} runs", request.runs);
        return Err(ApiError::Input(format!("{found}, expected numbers of runs up to {}", u32::MAX)));
    }
    let pool = workers(request.jobs, request.runs.into())?;
    let threads = request.jobs / pool.current_num_threads();
    let (finished, stop, steps) = (Mutex::new(0), AtomicBool::new(false), AtomicU64::new(0));
    let step = || {
        let ended = steps.fetch_add(1, Ordering::Relaxed) + 1;
        let go_on = passed(ended as f64 / f64::from(STEPS));
        if !go_on {
            stop.store(true, Ordering::Relaxed);
        }
        !stop.load(Ordering::Relaxed)
    };
    let one = |run: u32| {
        if stop.load(Ordering::Relaxed) {
            return Err("interrupted".to_owned());
        }
        let seed = Seed { seed: request.seed.unwrap_or(scenario.seed), run: u64::from(run) };
        let report = made(run_watching(&scenario, seed, request.series, threads, STEPS, &step)?);
        // Counted and reported under one lock, so that the numbers are in order.
        let mut finished = finished.lock().unwrap_or_else(PoisonError::into_inner);
        *finished += 1;
        if !finish(*finished, report) {
            stop.store(true, Ordering::Relaxed);
        }
        Ok(())
    };
    // In order, so that a caller that sorts runs by number has to keep few early ones.
    let next = AtomicU64::new(0);
    let ended = pool.broadcast(|_| {
        loop {
            let nth = next.fetch_add(1, Ordering::Relaxed);
            if nth >= u64::from(request.runs) {
                return Ok(());
            }
            let run = first + nth as u32;
            if kept.binary_search(&run).is_err() {
                one(run).inspect_err(|_| stop.store(true, Ordering::Relaxed))?;
            }
        }
    });
    outcome(ended)?;
    Ok(scenario)
}

/// Returns the failure of a run in preference to the interruption of other runs that it caused.
pub(crate) fn outcome(ended: Vec<Result<(), String>>) -> Result<(), ApiError> {
    let failures: Vec<String> = ended.into_iter().filter_map(Result::err).collect();
    match failures.iter().find(|why| *why != "interrupted").or(failures.first()) {
        Some(why) => Err(ApiError::Run(why.clone())),
        None => Ok(()),
    }
}

/// Creates workers for this many runs, `jobs` at a time, but no more than there are runs, because starting a
/// worker is expensive.
pub(crate) fn workers(jobs: usize, runs: u64) -> Result<rayon::ThreadPool, ApiError> {
    let most = usize::try_from(runs).unwrap_or(usize::MAX);
    let workers = jobs.min(most).max(1);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(workers).build();
    pool.map_err(|e| ApiError::Run(format!("cannot start {workers} workers: {e}")))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use super::*;
    use crate::api::{VERSION, resolve, sweep};

    const TEXT: &str = include_str!("../../tests/scenario/good.toml");

    fn request(runs: u32, set: &[(&str, &str)]) -> Request {
        let length = [("duration", "20 ms"), ("warm_up", "1 ms")];
        let overrides = length.iter().chain(set).map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
        let (text, file) = (TEXT.to_owned(), "good.toml".to_owned());
        Request { text, file, overrides, seed: None, runs, first_run: 5, jobs: 2, series: false }
    }

    #[test]
    fn structure_of_a_result() {
        let text = run(&request(3, &[]), &|_, _| true).expect("a good scenario");
        let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!((&json["version"], &json["scenario"]), (&VERSION.into(), &"anomaly-udp".into()));
        let runs = json["runs"].as_array().expect("runs");
        let ids: Vec<_> = runs.iter().map(|r| (r["run"].as_u64(), r["seed"].as_u64())).collect();
        assert_eq!(ids, [5, 6, 7].map(|n| (Some(n), Some(1))));
        for key in ["goodput_mbps", "airtime_share", "mean_aggregate", "ping_median_ms", "ping_p95_ms"] {
            assert!(runs[0]["stations"]["slow"].get(key).is_some(), "{key}");
        }
    }

    #[test]
    fn progress_counts_and_stops() {
        let seen = AtomicU32::new(0);
        let text = run(&request(4, &[]), &|n, _| {
            assert!((1..=4).contains(&n));
            seen.fetch_add(n, Ordering::Relaxed);
            true
        });
        assert!(text.is_ok());
        assert_eq!(seen.into_inner(), 1 + 2 + 3 + 4);
        // With two workers, runs in progress finish, and no others start.
        let begun = AtomicU32::new(0);
        let stopped = run(&request(1_000, &[]), &|_, _| {
            begun.fetch_add(1, Ordering::Relaxed);
            false
        });
        assert_eq!(stopped, Err(ApiError::Run("interrupted".to_owned())));
        assert!(begun.into_inner() <= 2);
    }

    #[test]
    fn each_run_is_passed_on_except_kept_ones() {
        let whole = run(&request(4, &[]), &|_, _| true).expect("a good scenario");
        let seen = Mutex::new(Vec::new());
        let head = run_each(&request(4, &[]), &[6], &|_| true, &|finished, report| {
            let text = report.expect("JSON");
            let run: serde_json::Value = serde_json::from_str(&text).expect("JSON");
            seen.lock().expect("no panic").push((finished, run["run"].as_u64().expect("a number"), text));
            true
        });
        let head: serde_json::Value = serde_json::from_str(&head.expect("a good scenario")).expect("JSON");
        assert_eq!((&head["runs"], &head["scenario"]), (&serde_json::json!([]), &"anomaly-udp".into()));
        let mut seen = seen.into_inner().expect("no panic");
        assert_eq!(seen.iter().map(|(n, ..)| *n).collect::<Vec<_>>(), [1, 2, 3]);
        seen.sort_by_key(|(_, run, _)| *run);
        assert_eq!(seen.iter().map(|(_, run, _)| *run).collect::<Vec<_>>(), [5, 7, 8]);
        assert!(seen.iter().all(|(.., text)| whole.contains(text)));
    }

    #[test]
    fn runs_have_numbers_of_32_bits_and_no_more_workers_than_runs() {
        let numbered = |first_run, runs| {
            run(&Request { first_run, ..request(runs, &[]) }, &|_, _| true).map(|text| {
                let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
                let runs = json["runs"].as_array().expect("runs").iter();
                runs.map(|run| run["run"].as_u64().expect("a number")).collect::<Vec<_>>()
            })
        };
        let last = u64::from(u32::MAX);
        assert_eq!(numbered(u32::MAX - 1, 2), Ok(vec![last - 1, last]));
        let says = "first_run: found 4294967294 with 3 runs, expected numbers of runs up to 4294967295";
        assert_eq!(numbered(u32::MAX - 1, 3), Err(ApiError::Input(says.to_owned())));
        assert_eq!(numbered(u32::MAX, 0), Ok(Vec::new()));
        let workers = |jobs, runs| workers(jobs, runs).map(|pool| pool.current_num_threads());
        assert_eq!([workers(20_000, 1), workers(2, 3), workers(0, 3), workers(3, 0)], [1, 2, 1, 1].map(Ok));
    }

    #[test]
    fn invalid_scenario_is_an_input_error() {
        let Err(ApiError::Scenario(says)) = run(&request(1, &[("duration", "soon")]), &|_, _| true) else {
            panic!("it was run")
        };
        assert_eq!((says.key.as_str(), says.line, says.found.as_str()), ("duration", None, "\"soon\""));
        let external = run(&request(1, &[("node.server.host", "external"), ("flow", "[]")]), &|_, _| true);
        let Err(ApiError::Input(says)) = external else { panic!("it was run") };
        assert!(
            says.starts_with("good.toml: node.server.host: found \"external\", and a driver must"),
            "{says}"
        );
        let Err(ApiError::Scenario(says)) = resolve("\nname = 1\nnode = {}", "x.toml", &[]) else {
            panic!("it was read")
        };
        assert_eq!((&*says.file, says.line, says.key.as_str()), ("x.toml", Some(2), "name"));
        assert_eq!(sweep(TEXT, "good.toml", &[]).map(|all| all.len()), Ok(4));
    }
}
