//! Runs many variants of one scenario, with repetitions in parallel.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use stillair_model::types::Seed;

use crate::api::{ApiError, Output, outcome, read_to_run_by, workers};
use crate::run::{RunReport, run_reported};
use crate::scenario::parts::Parts;
use crate::scenario::{Folder, Reader, Scenario};

/// A request to run variants of a scenario.
#[derive(Clone, Debug)]
pub struct Batch {
    /// The scenario, as TOML.
    pub text: String,
    /// Name of the scenario in messages.
    pub file: String,
    /// Overrides of each variant, as pairs of dotted key and value.
    pub variants: Vec<Vec<(String, String)>>,
    /// Seed, instead of the scenario's.
    pub seed: Option<u64>,
    /// Number of repetitions of each variant.
    pub runs: u32,
    /// Number of parallel runs over all variants and repetitions.
    pub jobs: usize,
}

/// Progress of a batch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum News {
    /// Number of finished runs, over all variants.
    Runs(u64),
    /// All runs of the variant with this index are finished. The text is the JSON object returned by
    /// [`crate::api::run`].
    Variant(usize, String),
    /// A run of the variant with this index has failed, for the given reason. Its remaining runs are not
    /// started; other variants continue.
    Failed(usize, String),
}

/// Progress of a batch that passes on each run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Each {
    /// A run of the variant with this index is finished: its report as JSON.
    Run(usize, String),
    /// All runs of the variant with this index are finished. The text is the JSON object returned by
    /// [`crate::api::run`], without runs.
    Variant(usize, String),
    /// Like [`News::Failed`].
    Failed(usize, String),
}

/// A variant with unfinished runs.
struct Variant {
    scenario: Scenario,
    /// Number of unfinished runs.
    left: AtomicU32,
    failed: AtomicBool,
}

/// Runs all variants, `jobs` runs at a time. Reads all variants before the first run.
///
/// `tell` receives the progress and returns true to continue. Results do not depend on `jobs`, but the order
/// in which variants finish does. A variant that fails is reported and does not stop the others.
pub fn run(batch: &Batch, tell: &(dyn Fn(News) -> bool + Sync)) -> Result<(), ApiError> {
    let files = Folder::of(&batch.file);
    run_by(&Reader { parts: Parts::none(), files: &files }, batch, tell)
}

/// Like `run`, for variants read by `reader`.
pub fn run_by(
    reader: &Reader<'_>,
    batch: &Batch,
    tell: &(dyn Fn(News) -> bool + Sync),
) -> Result<(), ApiError> {
    let held: Vec<Mutex<Vec<RunReport>>> = batch.variants.iter().map(|_| Mutex::default()).collect();
    let finished = Mutex::new(0);
    let made = |index: usize, variant: &Variant, report: RunReport, is_last: bool| {
        let mut runs = held[index].lock().unwrap_or_else(PoisonError::into_inner);
        runs.push(report);
        let mut finished = finished.lock().unwrap_or_else(PoisonError::into_inner);
        *finished += 1;
        let mut go_on = tell(News::Runs(*finished));
        if is_last {
            let mut runs = core::mem::take(&mut *runs);
            runs.sort_by_key(|run| run.summary.run);
            go_on &= tell(News::Variant(index, Output::new(&variant.scenario, runs).to_json()?));
        }
        Ok(go_on)
    };
    runs_by(reader, batch, &[], &Ok, &made, &|index, why| tell(News::Failed(index, why)))
}

/// Like `run`, but passes on each run instead of keeping it. `kept` lists, by variant, the sorted numbers of
/// runs to omit; a variant without runs to execute is not reported. Memory does not grow with the number of
/// runs.
pub fn run_each(
    batch: &Batch,
    kept: &[Vec<u32>],
    tell: &(dyn Fn(Each) -> bool + Sync),
) -> Result<(), ApiError> {
    let files = Folder::of(&batch.file);
    let made = |index: usize, variant: &Variant, json: String, is_last: bool| {
        let mut go_on = tell(Each::Run(index, json));
        if is_last {
            go_on &= tell(Each::Variant(index, Output::new(&variant.scenario, Vec::new()).to_json()?));
        }
        Ok(go_on)
    };
    let reader = Reader { parts: Parts::none(), files: &files };
    runs_by(&reader, batch, kept, &|report| report.to_json(), &made, &|index, why| {
        tell(Each::Failed(index, why))
    })
}

/// Receives the index of a variant, a run, and true for the variant's last run. Calls are serialised.
type Made<'a, R> = dyn Fn(usize, &Variant, R, bool) -> Result<bool, String> + Sync + 'a;

/// Runs in parallel. `ready` converts each report on the thread of its run.
fn runs_by<R>(
    reader: &Reader<'_>,
    batch: &Batch,
    kept: &[Vec<u32>],
    ready: &(dyn Fn(RunReport) -> Result<R, String> + Sync),
    made: &Made<'_, R>,
    fail: &(dyn Fn(usize, String) -> bool + Sync),
) -> Result<(), ApiError> {
    let runs = batch.runs.max(1);
    let kept = |index: usize| kept.get(index).map_or(&[][..], Vec::as_slice);
    let read = |(index, set): (usize, &Vec<(String, String)>)| {
        let scenario = read_to_run_by(reader, &batch.text, &batch.file, set)?;
        let left = runs.saturating_sub(kept(index).len() as u32);
        Ok(Variant { scenario, left: AtomicU32::new(left), failed: AtomicBool::new(false) })
    };
    let variants = batch.variants.iter().enumerate().map(read).collect::<Result<Vec<Variant>, ApiError>>()?;
    let pool = workers(batch.jobs, u64::from(runs).saturating_mul(variants.len() as u64))?;
    let (told, stop) = (Mutex::new(()), AtomicBool::new(false));
    let one = |index: usize, run: u32| -> Result<(), String> {
        if stop.load(Ordering::Relaxed) {
            return Err("interrupted".to_owned());
        }
        let variant = &variants[index];
        if variant.failed.load(Ordering::Relaxed) {
            return Ok(());
        }
        let seed = Seed { seed: batch.seed.unwrap_or(variant.scenario.seed), run: u64::from(run) };
        let report = match run_reported(&variant.scenario, seed, false) {
            Ok(report) => report,
            Err(why) => {
                if !variant.failed.swap(true, Ordering::Relaxed) && !fail(index, why) {
                    stop.store(true, Ordering::Relaxed);
                }
                return Ok(());
            }
        };
        let report = ready(report)?;
        // Counted and reported under one lock, so that the numbers are in order.
        let _one_at_a_time = told.lock().unwrap_or_else(PoisonError::into_inner);
        let is_last = variant.left.fetch_sub(1, Ordering::Relaxed) == 1;
        if !made(index, variant, report, is_last)? {
            stop.store(true, Ordering::Relaxed);
        }
        Ok(())
    };
    // One at a time and in order, so that a caller can store early results early.
    let next = Mutex::new((0, 0));
    let take = || loop {
        let mut next = next.lock().unwrap_or_else(PoisonError::into_inner);
        let (index, run) = *next;
        if index >= variants.len() {
            return None;
        }
        *next = if run + 1 < runs { (index, run + 1) } else { (index + 1, 0) };
        if kept(index).binary_search(&run).is_err() {
            return Some((index, run));
        }
    };
    outcome(pool.broadcast(|_| {
        while let Some((index, run)) = take() {
            one(index, run)?;
        }
        Ok(())
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{self, Request};

    const TEXT: &str = include_str!("../tests/scenario/good.toml");
    const SCHEME: &str = "node.ap.interface.wlan0.scheme";

    /// A batch with all records enabled.
    fn batch(jobs: usize, schemes: &[&str]) -> Batch {
        let recorded = [("record.queues", "10 ms"), ("record.air", "0 s..20 ms")];
        let short = [("duration", "40 ms"), ("warm_up", "0 s")].into_iter().chain(recorded);
        let set = |scheme: &&str| {
            let all = short.clone().chain([(SCHEME, *scheme)]);
            all.map(|(k, v)| (k.to_owned(), v.to_owned())).collect()
        };
        let variants = schemes.iter().map(set).collect();
        Batch { text: TEXT.to_owned(), file: "good.toml".to_owned(), variants, seed: Some(3), runs: 3, jobs }
    }

    fn results(batch: &Batch) -> Vec<(usize, String)> {
        let told = Mutex::new(Vec::new());
        run(batch, &|news| {
            told.lock().unwrap().push(news);
            true
        })
        .unwrap();
        let told = told.into_inner().unwrap();
        let counts: Vec<u64> =
            told.iter().filter_map(|n| if let News::Runs(n) = n { Some(*n) } else { None }).collect();
        assert_eq!(counts, (1..=u64::from(batch.runs) * batch.variants.len() as u64).collect::<Vec<_>>());
        let mut done: Vec<(usize, String)> = told
            .into_iter()
            .filter_map(|n| if let News::Variant(i, text) = n { Some((i, text)) } else { None })
            .collect();
        done.sort();
        done
    }

    #[test]
    fn variant_result_does_not_depend_on_other_variants_or_workers() {
        let schemes = ["fifo", "airtime", "fq_mac"];
        let one = results(&batch(1, &schemes));
        assert_eq!(one, results(&batch(3, &schemes)));
        for (index, text) in one {
            assert!(text.contains("\"queues\":{") && text.contains("\"exchanges\":{"), "{text}");
            let Batch { text: scenario, file, variants, seed, runs, .. } = batch(1, &schemes);
            let overrides = variants[index].clone();
            let alone =
                Request { text: scenario, file, overrides, seed, runs, first_run: 0, jobs: 1, series: false };
            assert_eq!(api::run(&alone, &|_, _| true).unwrap(), text);
        }
    }

    /// The runs passed on are those of the complete result, except for kept ones.
    #[test]
    fn each_run_is_passed_on() {
        let schemes = ["fifo", "airtime"];
        let whole = results(&batch(1, &schemes));
        let told = Mutex::new(Vec::new());
        run_each(&batch(2, &schemes), &[vec![0, 2], Vec::new()], &|each| {
            told.lock().unwrap().push(each);
            true
        })
        .unwrap();
        let told = told.into_inner().unwrap();
        for (index, text) in whole {
            let whole: serde_json::Value = serde_json::from_str(&text).unwrap();
            let mut runs: Vec<serde_json::Value> = told
                .iter()
                .filter_map(|each| match each {
                    Each::Run(of, text) if *of == index => Some(serde_json::from_str(text).unwrap()),
                    _ => None,
                })
                .collect();
            runs.sort_by_key(|run| run["run"].as_u64());
            let all = whole["runs"].as_array().unwrap();
            assert_eq!(runs, if index == 0 { vec![all[1].clone()] } else { all.clone() });
            let heads = told.iter().filter_map(|each| match each {
                Each::Variant(of, text) if *of == index => Some(text),
                _ => None,
            });
            let heads: Vec<serde_json::Value> =
                heads.map(|text| serde_json::from_str(text).unwrap()).collect();
            assert_eq!(heads.len(), 1);
            assert_eq!(
                (&heads[0]["scenario"], &heads[0]["runs"]),
                (&whole["scenario"], &serde_json::json!([]))
            );
        }
    }

    #[test]
    fn error_in_any_variant_is_reported_before_the_first_run() {
        let said = run(&batch(1, &["fifo", "airtme"]), &|news| panic!("{news:?}")).unwrap_err();
        assert!(
            matches!(said, ApiError::Scenario(error) if error.expected.contains("did you mean \"airtime\"?"))
        );
    }

    #[test]
    fn stopping_keeps_finished_runs() {
        let told = Mutex::new(Vec::new());
        let tell = |news: News| {
            let go_on = !matches!(news, News::Variant(..));
            told.lock().unwrap().push(news);
            go_on
        };
        let said = run(&batch(1, &["fifo", "airtime", "fq_mac"]), &tell);
        assert_eq!(said, Err(ApiError::Run("interrupted".to_owned())));
        let told = told.into_inner().unwrap();
        assert_eq!(told.len(), 4);
        assert!(matches!(told.last(), Some(News::Variant(0, _))));
    }
}
