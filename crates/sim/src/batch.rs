//! Runs many variants of one scenario, with repetitions in parallel.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use stillair_model::vocabulary::Seed;

use crate::api::{ApiError, Output, read_to_run_by, workers};
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
    /// For each variant, overrides as pairs of dotted key and value.
    pub variants: Vec<Vec<(String, String)>>,
    /// Seed that replaces the scenario's.
    pub seed: Option<u64>,
    /// Number of repetitions of each variant.
    pub runs: u32,
    /// Number of parallel runs, over variants and repetitions.
    pub jobs: usize,
}

/// Progress of a batch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum News {
    /// Number of finished runs, over all variants.
    Runs(u64),
    /// All runs of the variant with this index are finished. The text is the JSON object that [`crate::api::run`] returns.
    Variant(usize, String),
    /// A run of the variant with this index has failed, for the given reason. Its remaining runs are not started; other variants continue.
    Failed(usize, String),
}

/// A variant whose runs are under way.
struct Variant {
    scenario: Scenario,
    done: Mutex<Vec<RunReport>>,
    failed: AtomicBool,
}

/// Runs all variants, `jobs` runs at a time. All variants are read before the first one runs.
///
/// `tell` receives the progress and returns whether to continue. Results do not depend on `jobs`; the order in which variants finish does. A
/// variant that fails is reported, and does not stop the others.
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
    let read = |set: &Vec<(String, String)>| {
        let scenario = read_to_run_by(reader, &batch.text, &batch.file, set)?;
        Ok(Variant { scenario, done: Mutex::new(Vec::new()), failed: AtomicBool::new(false) })
    };
    let variants = batch.variants.iter().map(read).collect::<Result<Vec<Variant>, ApiError>>()?;
    let runs = u64::from(batch.runs.max(1));
    let pool = workers(batch.jobs, runs.saturating_mul(variants.len() as u64))?;
    let (finished, stop) = (Mutex::new(0), AtomicBool::new(false));
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
                if !variant.failed.swap(true, Ordering::Relaxed) && !tell(News::Failed(index, why)) {
                    stop.store(true, Ordering::Relaxed);
                }
                return Ok(());
            }
        };
        // Counted and told under one lock, so that the numbers come in order.
        let mut finished = finished.lock().unwrap_or_else(PoisonError::into_inner);
        *finished += 1;
        let mut go_on = tell(News::Runs(*finished));
        if let Some(text) = variant.add(report, runs as usize)? {
            go_on &= tell(News::Variant(index, text));
        }
        if !go_on {
            stop.store(true, Ordering::Relaxed);
        }
        Ok(())
    };
    // One at a time and in order: what is finished early can be kept early.
    let next = AtomicU64::new(0);
    let failures = pool.broadcast(|_| {
        loop {
            let unit = next.fetch_add(1, Ordering::Relaxed);
            let index = (unit / runs) as usize;
            if index >= variants.len() {
                return Ok(());
            }
            one(index, (unit % runs) as u32)?;
        }
    });
    // The run that failed says more than those that were not begun because of it.
    let failures: Vec<String> = failures.into_iter().filter_map(Result::err).collect();
    match failures.iter().find(|why| *why != "interrupted").or(failures.first()) {
        Some(why) => Err(ApiError::Run(why.clone())),
        None => Ok(()),
    }
}

impl Variant {
    /// Adds a run; the result of all once they are `runs`.
    fn add(&self, report: RunReport, runs: usize) -> Result<Option<String>, String> {
        let mut done = self.done.lock().map_err(|_| "another run broke".to_owned())?;
        done.push(report);
        if done.len() < runs {
            return Ok(None);
        }
        let mut runs = core::mem::take(&mut *done);
        runs.sort_by_key(|run| run.summary.run);
        Output::new(&self.scenario, runs).to_json().map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{self, Request};

    const TEXT: &str = include_str!("../tests/scenario/good.toml");
    const SCHEME: &str = "node.ap.interface.wlan0.scheme";

    /// With all that is recorded beside the summary.
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
    fn a_variant_gives_what_it_gives_alone_for_any_number_of_workers() {
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

    #[test]
    fn a_mistake_in_any_variant_is_told_before_the_first_run() {
        let said = run(&batch(1, &["fifo", "airtme"]), &|news| panic!("{news:?}")).unwrap_err();
        assert!(
            matches!(said, ApiError::Scenario(error) if error.expected.contains("did you mean \"airtime\"?"))
        );
    }

    #[test]
    fn who_stops_keeps_what_was_finished() {
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
