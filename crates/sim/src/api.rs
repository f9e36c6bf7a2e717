//! What front ends call: scenarios as text in, results as JSON out.

mod capture;
mod receiver;
mod ss;

pub use capture::{CaptureRequest, capture, capture_points};
pub use receiver::{replay, retry_out_index};
pub use ss::{SsRequest, ss};

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use serde::Serialize;
use stillair_model::vocabulary::{Duration, IfId, Instant, Seed, Sink};
use stillair_model::wifi::rate::StatsRow;

use crate::recorder::{
    self, AirNames, AtEnd, Exchanges, ExchangesReport, FlowAbout, Losses, Occupancy, OccupancyReport,
    QdiscSummary, RateSummary, Recorder, RunSummary, STEP, Series, SeriesReport, SocketSeries, summarise,
};
use crate::scenario::{self, InterfaceRef, Scenario};
use crate::world::{self, DevLayout, QdiscCounters, Wired, World};

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
    /// Each run has its series.
    pub series: bool,
}

/// What there is to say of one run.
#[derive(Debug, Serialize)]
pub struct RunReport {
    /// Its summary.
    #[serde(flatten)]
    pub summary: RunSummary,
    /// What happened step by step, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<SeriesReport>,
    /// Every exchange on the air in a stretch, if the scenario asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exchanges: Option<ExchangesReport>,
    /// What waited in each layer of each interface, if the scenario asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queues: Option<OccupancyReport>,
}

impl RunReport {
    /// The run as a JSON object.
    pub fn to_json(&self) -> Result<String, ApiError> {
        serde_json::to_string(self).map_err(|e| ApiError::Run(format!("cannot write the result: {e}")))
    }
}

/// Why there is no result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ApiError {
    /// The scenario is wrong.
    Input(String),
    /// A run failed.
    Run(String),
}

/// Called after each run.
pub type Finish<'a> = dyn Fn(u32, &mut RunReport) -> bool + Sync + 'a;

#[derive(Serialize)]
struct Output<'a> {
    version: &'static str,
    scenario: &'a str,
    /// What should be known of the scenario.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    runs: Vec<RunReport>,
}

/// Reads a scenario, with a remedy for what is wrong.
fn read(text: &str, file: &str, overrides: &[(String, String)]) -> Result<Scenario, ApiError> {
    scenario::parse(text, file, overrides).map_err(|e| ApiError::Input(e.to_string()))
}

/// Runs one repetition of a scenario and checks its accounts.
pub fn run_once(scenario: &Scenario, seed: Seed) -> Result<RunSummary, String> {
    run_reported(scenario, seed, false).map(|report| report.summary)
}

/// The same, with its series if `with_series`. They change nothing in what happens.
pub fn run_reported(scenario: &Scenario, seed: Seed, with_series: bool) -> Result<RunReport, String> {
    let Wired { mut world, stations, places } = wired(scenario, seed, |recorder| recorder)?;
    let end = Instant::ZERO + scenario.duration;
    let mut sockets: Vec<SocketSeries> = vec![SocketSeries::default(); world.tcp_senders().count()];
    if with_series {
        let (flows, interfaces) = (world.trace.flows.len(), world.interfaces());
        let series = Series::new(scenario.duration, flows, stations.len(), places.len(), interfaces);
        world.trace.series = Some(series);
    }
    world.trace.exchanges = scenario.record.air.map(Exchanges::new);
    // The world stands still wherever something is sampled.
    let mut step = Sampling::new(with_series.then_some(STEP));
    let mut ss = Sampling::new(scenario.record.ss);
    let (mut queues, mut occupancy) = (Sampling::new(scenario.record.queues), Occupancy::default());
    loop {
        let until = step.next.min(ss.next).min(queues.next).min(end);
        world.run_until(until);
        if step.reached(until) || (with_series && until == end) {
            let mut series = world.trace.series.take();
            series.iter_mut().for_each(|s| s.end_step(world.backlogs()));
            world.trace.series = series;
        }
        if ss.reached(until) {
            for (series, s) in sockets.iter_mut().zip(world.tcp_sockets().filter(|s| s.opens)) {
                series.push(until, s.tcp.state(), &s.tcp.info(until));
            }
        }
        if queues.reached(until) {
            occupancy.push(world.backlogs());
        }
        if until == end {
            break;
        }
    }
    let summary = close(scenario, seed, &mut world, |recorder| recorder, &stations, &places, sockets)?;
    let series = recorder::report(scenario, &world.trace, &stations, &places);
    let queues = scenario.record.queues.map(|interval| occupancy.report(scenario, interval));
    let exchanges = world.trace.exchanges.as_ref().map(|found| found.report(air_names(scenario)));
    Ok(RunReport { summary, series, exchanges, queues })
}

/// The Wi-Fi interfaces of a scenario as the trace numbers them.
fn air_names(scenario: &Scenario) -> AirNames {
    let layout = world::layout(scenario);
    let name = |dev: &DevLayout| {
        let at = &layout.interfaces[dev.interface.index()];
        format!("{}.{}", at.node, at.name)
    };
    AirNames {
        interfaces: layout.devs.iter().map(name).collect(),
        access_points: layout.devs.iter().map(|dev| dev.ap).collect(),
        channels: layout.devs.iter().map(|dev| scenario.channels[dev.channel.index()].name.clone()).collect(),
        peers: layout.devs.iter().map(|dev| dev.peers.clone()).collect(),
    }
}

/// Something that is looked at at a steady interval.
struct Sampling {
    interval: Duration,
    next: Instant,
}

impl Sampling {
    /// At every multiple of `interval`, or never.
    fn new(interval: Option<Duration>) -> Self {
        match interval {
            Some(interval) => Self { interval, next: Instant::ZERO + interval },
            None => Self { interval: Duration::ZERO, next: Instant::NEVER },
        }
    }

    /// Whether it is to be looked at now; if so, it will be again one interval later.
    fn reached(&mut self, now: Instant) -> bool {
        let due = self.next == now;
        if due {
            self.next += self.interval;
        }
        due
    }
}

/// Wires the world of one run and checks that its timers reach to the end.
fn wired<S: Sink>(
    scenario: &Scenario,
    seed: Seed,
    sink: impl FnOnce(Recorder) -> S,
) -> Result<Wired<S>, String> {
    let wired = world::wire(scenario, seed, sink);
    let most = wired.world.horizon();
    if Instant::ZERO + scenario.duration > most {
        let (run, hours) = (seed.run, most.nanos() / 3_600_000_000_000);
        return Err(format!("run {run}: a scenario of this size can run for {hours} hours at most"));
    }
    Ok(wired)
}

/// Checks the accounts of a world that has run to its end, and sums up what the recorder in its trace has seen.
fn close<S: Sink>(
    scenario: &Scenario,
    seed: Seed,
    world: &mut World<S>,
    recorder: impl Fn(&S) -> &Recorder,
    stations: &[String],
    places: &[String],
    sockets: Vec<SocketSeries>,
) -> Result<RunSummary, String> {
    let end = Instant::ZERO + scenario.duration;
    world.close(end).map_err(|e| format!("run {}: accounts do not close: {e}", seed.run))?;
    let measured = scenario.duration - scenario.warm_up - scenario.cool_down;
    let (ids, air) = ((seed.seed, seed.run), world.air_accounts());
    let seen = recorder(&world.trace);
    let flows = FlowAbout::all(scenario);
    let senders: Vec<_> = world.tcp_senders().collect();
    let tcp = senders.into_iter().zip(sockets.into_iter().map(Some).chain(std::iter::repeat(None)));
    let tcp = tcp.map(|((flow, info), series)| {
        (flows[flow.index()].name.clone(), flow, info, series.unwrap_or_default())
    });
    let qdiscs = qdiscs(scenario, world, end);
    let since = |(flow, since): (_, Option<Instant>)| (flow, since.map(|since| end - since));
    let under_way = world.loads_under_way().map(since).collect();
    let packets = world.packet_account();
    let rc_stats = rc_stats(scenario, world);
    let losses = losses(scenario, world);
    let quic = (world.quic_ends().collect(), end);
    let tcp = tcp.collect();
    let end = AtEnd { packets, air, qdiscs, rc_stats, losses, tcp, quic, flows: &flows, under_way };
    Ok(summarise(ids, seen, measured, stations, places, end))
}

/// What rate control knows of each link.
fn rc_stats<S: Sink>(scenario: &Scenario, world: &World<S>) -> BTreeMap<String, Vec<RateSummary>> {
    let names = interface_names(scenario);
    let one = |(from, to, rows): (IfId, IfId, Vec<StatsRow>)| {
        let rows = rows.into_iter().map(RateSummary::from).collect();
        (format!("{} to {}", names[from.index()], names[to.index()]), rows)
    };
    world.rate_stats().map(one).collect()
}

/// What was lost on each link that lost anything.
fn losses<S: Sink>(scenario: &Scenario, world: &World<S>) -> BTreeMap<String, Losses> {
    let names = interface_names(scenario);
    let lossy = world.losses().filter(|(.., losses)| *losses != Losses::default());
    lossy
        .map(|(from, to, losses)| (format!("{} to {}", names[from.index()], names[to.index()]), losses))
        .collect()
}

/// Names of all interfaces, by their ids.
fn interface_names(scenario: &Scenario) -> Vec<String> {
    let nodes = scenario.nodes.iter().enumerate();
    let all = nodes
        .flat_map(|(node, n)| (0..n.interfaces.len()).map(move |interface| InterfaceRef { node, interface }));
    all.map(|at| scenario.interface_name(at)).collect()
}

/// The counters of all queueing disciplines, by name.
fn qdiscs<S>(scenario: &Scenario, world: &World<S>, end: Instant) -> BTreeMap<String, QdiscSummary> {
    let nodes = scenario.nodes.iter();
    let names: Vec<(&str, &str)> =
        nodes.flat_map(|n| n.interfaces.iter().map(|i| (n.name.as_str(), i.name.as_str()))).collect();
    let one = |q: QdiscCounters| {
        let (node, interface) = names[q.interface.index()];
        let summary = QdiscSummary {
            kind: q.kind,
            bytes: q.stats.bytes,
            packets: q.stats.packets,
            drops: q.stats.drops,
            overlimits: q.stats.overlimits,
            requeues: q.stats.requeues,
            backlog_packets: q.backlog.0,
            backlog_bytes: q.backlog.1,
            own: recorder::named(&q.own, end),
        };
        (format!("{node}.{interface}{}", q.path), summary)
    };
    world.qdiscs().into_iter().map(one).collect()
}

/// Runs all repetitions, `jobs` at a time, and returns the results as one JSON object.
///
/// `finish` gets the number of finished repetitions and the report of the one that has just finished, from which it may
/// take the series, and says whether to go on. Results do not depend on `jobs`.
pub fn run(request: &Request, finish: &Finish<'_>) -> Result<String, ApiError> {
    let scenario = read(&request.text, &request.file, &request.overrides)?;
    let first = request.first_run;
    if first.checked_add(request.runs.saturating_sub(1)).is_none() {
        let found = format!("first_run: found {first} with {} runs", request.runs);
        return Err(ApiError::Input(format!("{found}, expected numbers of runs up to {}", u32::MAX)));
    }
    let pool = workers(request.jobs, request.runs.into())?;
    let (finished, stop) = (Mutex::new(0), AtomicBool::new(false));
    let one = |run: u32| {
        if stop.load(Ordering::Relaxed) {
            return Err("interrupted".to_owned());
        }
        let seed = Seed { seed: request.seed.unwrap_or(scenario.seed), run: u64::from(run) };
        let mut report = run_reported(&scenario, seed, request.series)?;
        // Counted and told under one lock, so that the numbers come in order.
        let mut finished = finished.lock().unwrap_or_else(PoisonError::into_inner);
        *finished += 1;
        if !finish(*finished, &mut report) {
            stop.store(true, Ordering::Relaxed);
        }
        Ok(report)
    };
    let numbers = (0..request.runs).into_par_iter().map(|nth| first + nth);
    let runs: Result<Vec<RunReport>, String> = pool.install(|| numbers.map(one).collect());
    let (runs, notes) = (runs.map_err(ApiError::Run)?, scenario.notes());
    let output = Output { version: VERSION, scenario: &scenario.name, notes, runs };
    serde_json::to_string(&output).map_err(|e| ApiError::Run(format!("cannot write the result: {e}")))
}

/// Workers for so many runs, `jobs` at a time: no more than there is work for, as each costs its start.
pub(crate) fn workers(jobs: usize, runs: u64) -> Result<rayon::ThreadPool, ApiError> {
    let most = usize::try_from(runs).unwrap_or(usize::MAX);
    let workers = jobs.min(most).max(1);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(workers).build();
    pool.map_err(|e| ApiError::Run(format!("cannot start {workers} workers: {e}")))
}

/// The resolved scenario, with defaults filled in and overrides applied, as JSON.
pub fn resolve(text: &str, file: &str, overrides: &[(String, String)]) -> Result<String, ApiError> {
    Ok(read(text, file, overrides)?.resolved())
}

/// The combinations of the scenario's `[sweep]` table, each a list of overrides to follow `overrides`.
pub fn sweep(
    text: &str,
    file: &str,
    overrides: &[(String, String)],
) -> Result<Vec<Vec<(String, String)>>, ApiError> {
    scenario::sweep(text, file, overrides).map_err(|e| ApiError::Input(e.to_string()))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use stillair_model::vocabulary::Duration;

    use super::*;

    const TEXT: &str = include_str!("../tests/scenario/good.toml");

    fn request(runs: u32, set: &[(&str, &str)]) -> Request {
        let length = [("duration", "20 ms"), ("warm_up", "1 ms")];
        let overrides = length.iter().chain(set).map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
        let (text, file) = (TEXT.to_owned(), "good.toml".to_owned());
        Request { text, file, overrides, seed: None, runs, first_run: 5, jobs: 2, series: false }
    }

    #[test]
    fn the_shape_of_a_result() {
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
        // Of many runs on two workers those that have begun end; the others do not begin.
        let begun = AtomicU32::new(0);
        let stopped = run(&request(1_000, &[]), &|_, _| {
            begun.fetch_add(1, Ordering::Relaxed);
            false
        });
        assert_eq!(stopped, Err(ApiError::Run("interrupted".to_owned())));
        assert!(begun.into_inner() <= 2);
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
    fn a_run_ends_before_its_timers_do() {
        let mut scenario = read(TEXT, "good.toml", &[]).expect("a good scenario");
        let seed = Seed { seed: 1, run: 3 };
        scenario.duration = Duration::from_nanos(1 << 62);
        let says = run_once(&scenario, seed).expect_err("146 years");
        assert!(says.starts_with("run 3: ") && says.ends_with(" hours at most"), "{says}");
    }

    #[test]
    fn a_wrong_scenario_is_an_input_error() {
        let Err(ApiError::Input(says)) = run(&request(1, &[("duration", "soon")]), &|_, _| true) else {
            panic!("it was run")
        };
        assert!(says.contains("duration") && says.contains("soon"), "{says}");
        assert!(matches!(resolve("name = 1", "x.toml", &[]), Err(ApiError::Input(_))));
        assert_eq!(sweep(TEXT, "good.toml", &[]).map(|all| all.len()), Ok(4));
    }
}
