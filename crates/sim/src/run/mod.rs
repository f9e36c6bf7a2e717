//! One run of a scenario: its world, its samples, and its report at the end.

mod driven;
mod external_io;
mod followed;
mod guarded;
#[cfg(feature = "threads")]
mod islands;
mod report;
mod sampling;

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

use stillair_model::types::{Instant, Seed, Sink, Tee};

use crate::recorder::{Exchanges, QdiscSummary, Recorder, RunSummary, Sojourn};
use crate::scenario::{Scenario, changes, keep_devices};
use crate::world::{self, TcpSocket, Wired, World};
use sampling::Samples;

pub use external_io::{Addresses, ExternalIoCounts, Replier, entering};
pub use followed::{Followed, follow};
pub(crate) use guarded::guarded;
pub use report::RunReport;

/// A trace sink that contains the recorder.
pub trait Records: Sink {
    /// Returns the recorder.
    fn recorder(&self) -> &Recorder;
    /// Returns the recorder, mutable.
    fn recorder_mut(&mut self) -> &mut Recorder;
    /// Returns the record of packet delays by layer and cause, if any.
    fn sojourn(&self) -> Option<&Sojourn> {
        None
    }
}

impl Records for Recorder {
    fn recorder(&self) -> &Recorder {
        self
    }
    fn recorder_mut(&mut self) -> &mut Recorder {
        self
    }
}

impl<A: Records, B: Sink> Records for Tee<A, B> {
    fn recorder(&self) -> &Recorder {
        self.0.recorder()
    }
    fn recorder_mut(&mut self) -> &mut Recorder {
        self.0.recorder_mut()
    }
    fn sojourn(&self) -> Option<&Sojourn> {
        self.0.sojourn()
    }
}

/// Scenario of a session, borrowed or shared.
#[derive(Clone, Debug)]
enum Held<'a> {
    Lent(&'a Scenario),
    Shared(Arc<Scenario>),
}

impl Deref for Held<'_> {
    type Target = Scenario;

    fn deref(&self) -> &Scenario {
        match self {
            Self::Lent(scenario) => scenario,
            Self::Shared(scenario) => scenario,
        }
    }
}

/// A run in progress.
#[derive(Debug)]
pub struct Session<'a, S> {
    scenario: Held<'a>,
    seed: Seed,
    world: World<S>,
    stations: Vec<String>,
    places: Vec<String>,
    samples: Samples,
    now: Instant,
    end: Instant,
    /// Number of scenario events applied so far.
    steps: usize,
    /// The scenario after changes, if any.
    changed: Option<Box<Scenario>>,
}

impl<'a, S: Records> Session<'a, S> {
    /// Creates a run. `sink` wraps the recorder in the trace sink: the recorder itself, or a sink that passes
    /// events on to the recorder. Returns an error if the world's timers do not reach the end of the
    /// scenario, or if the scenario has external hosts, which need a driver ([`Session::driven`]).
    pub fn new(scenario: &'a Scenario, seed: Seed, sink: impl FnOnce(Recorder) -> S) -> Result<Self, String> {
        scenario.needs_no_driver().map_err(|says| format!("run {}: {says}", seed.run))?;
        Self::wired(Held::Lent(scenario), seed, sink)
    }

    fn wired(scenario: Held<'a>, seed: Seed, sink: impl FnOnce(Recorder) -> S) -> Result<Self, String> {
        let Wired { mut world, stations, places } = world::wire(&scenario, seed, sink);
        check_horizon(&scenario, seed, &world)?;
        world.trace_mut().recorder_mut().exchanges = scenario.record.air.map(Exchanges::new);
        let samples = Samples::new(&scenario, world.books().tcp_senders().count());
        let (now, end) = (Instant::ZERO, Instant::ZERO + scenario.duration);
        Ok(Self { scenario, seed, world, stations, places, samples, now, end, steps: 0, changed: None })
    }

    /// Records series in steps of 0.2 s. Series do not change the run. If a driver decides the length of the
    /// run, only the last one to two hours are kept, which bounds memory.
    pub fn with_series(mut self) -> Self {
        let counts = (self.stations.len(), self.places.len(), self.world.books().interfaces());
        let duration = (!self.scenario.is_open_ended()).then_some(self.scenario.duration);
        self.samples.keep_series(self.world.trace_mut().recorder_mut(), duration, counts);
        self
    }

    /// Returns the end of the run.
    pub fn end(&self) -> Instant {
        self.end
    }

    /// Advances to `until`, but not beyond the end of the run. Does not handle events at `until`. The world
    /// stops at each sample.
    pub fn advance(&mut self, until: Instant) {
        let (end, until) = (self.end(), until.min(self.end()));
        while self.now < until {
            self.now = self.samples.next().min(self.next_step()).min(until);
            self.world.run_until(self.now);
            self.samples.take(&mut self.world, self.now, self.now == end);
            while self.next_step() <= self.now {
                let to = self.scenario.steps[self.steps].to.clone();
                self.steps += 1;
                // The change was tested when the scenario was read.
                self.turn_into(to).expect("a change that can be made");
            }
        }
    }

    /// Returns the time of the next scenario event.
    fn next_step(&self) -> Instant {
        self.scenario.steps.get(self.steps).map_or(Instant::NEVER, |step| Instant::ZERO + step.at)
    }

    /// Changes the network to that of `to`. Returns an error and changes nothing if `to` differs in more than
    /// rates, delays, losses and qdiscs.
    pub fn change(&mut self, to: &Scenario) -> Result<(), String> {
        self.turn_into(Box::new(to.clone()))
    }

    fn turn_into(&mut self, mut to: Box<Scenario>) -> Result<(), String> {
        let from = self.changed.as_deref().unwrap_or(&self.scenario);
        keep_devices(from, &mut to);
        let all = changes(from, &to)?;
        self.world.change(from, &to, &all, self.seed);
        self.changed = Some(to);
        Ok(())
    }

    /// Returns the TCP sockets in flow order, the connecting end of each flow first.
    pub fn tcp_sockets(&self) -> impl Iterator<Item = TcpSocket<'_>> {
        self.world.books().tcp_sockets()
    }

    /// Returns the qdisc counters so far, by name.
    pub fn qdiscs(&self) -> BTreeMap<String, QdiscSummary> {
        report::qdiscs(&self.scenario, &self.world, self.now)
    }

    /// Returns the trace sink.
    pub fn sink(&self) -> &S {
        self.world.trace()
    }

    /// Returns the trace sink, mutable.
    pub fn sink_mut(&mut self) -> &mut S {
        self.world.trace_mut()
    }

    /// Returns the names of the places where packets may be dropped, by number.
    pub fn places(&self) -> &[String] {
        &self.places
    }

    /// Runs to the end and checks all accounts. Returns the report and the trace sink.
    pub fn finish(mut self) -> Result<(RunReport, S), String> {
        self.advance(self.end());
        let report = self.report()?;
        Ok((report, self.world.into_trace()))
    }
}

/// Returns an error if the world's timers do not reach the end of the scenario.
fn check_horizon<S: Sink>(scenario: &Scenario, seed: Seed, world: &World<S>) -> Result<(), String> {
    let most = world.horizon();
    if Instant::ZERO + scenario.duration > most {
        let (run, hours) = (seed.run, most.nanos() / 3_600_000_000_000);
        return Err(format!("run {run}: a scenario of this size can run for {hours} hours at most"));
    }
    Ok(())
}

#[cfg(feature = "threads")]
/// Runs one repetition of a scenario by islands on at most `threads` threads, and checks its accounts. `None`
/// if the network has no islands. Report and hash equal those of [`run_once`]. For large networks with
/// islands, the other functions here do the same automatically; a [`Session`] handles all events in a single
/// order.
pub fn run_by_islands(scenario: &Scenario, seed: Seed, threads: usize) -> Option<Result<RunReport, String>> {
    let islands = islands::islands(scenario)?;
    Some(guarded(seed, || islands::run(scenario, seed, &islands, threads, &mut |_| true)))
}

#[cfg(feature = "threads")]
/// Runs one repetition in `steps` steps of equal length, on `threads` threads if the network has islands.
/// After each step, `go_on` returns true to continue; false ends the run with an error.
pub(crate) fn run_watching(
    scenario: &Scenario,
    seed: Seed,
    with_series: bool,
    threads: usize,
    steps: u32,
    go_on: &dyn Fn() -> bool,
) -> Result<RunReport, String> {
    if let Some(islands) = islands::worth_it(scenario, threads).filter(|_| !with_series) {
        let (mut told, whole) = (0, u128::from(scenario.duration.nanos()));
        let mut passed = |now: Instant| {
            let made = u128::from(now.nanos()) * u128::from(steps) / whole.max(1);
            let more = made - told;
            told = made;
            (0..more).all(|_| go_on())
        };
        return guarded(seed, || islands::run(scenario, seed, &islands, threads, &mut passed));
    }
    if scenario.record.sojourn.is_some() {
        return watch(scenario, seed, with_series, steps, go_on, follow(scenario));
    }
    watch(scenario, seed, with_series, steps, go_on, |recorder| recorder)
}

#[cfg(feature = "threads")]
fn watch<S: Records>(
    scenario: &Scenario,
    seed: Seed,
    with_series: bool,
    steps: u32,
    go_on: &dyn Fn() -> bool,
    sink: impl FnOnce(Recorder) -> S,
) -> Result<RunReport, String> {
    guarded(seed, || {
        let session = Session::new(scenario, seed, sink)?;
        let mut session = if with_series { session.with_series() } else { session };
        let whole = u128::from(scenario.duration.nanos());
        for step in 1..=steps {
            let until = whole * u128::from(step) / u128::from(steps);
            session.advance(Instant::from_nanos(until as u64));
            if !go_on() {
                return Err(islands::INTERRUPTED.to_owned());
            }
        }
        session.finish().map(|(report, _)| report)
    })
}

/// Runs one repetition of a scenario and checks its accounts. A panic becomes an error with the run, its seed
/// and the user-defined part that panicked.
pub fn run_once(scenario: &Scenario, seed: Seed) -> Result<RunSummary, String> {
    run_reported(scenario, seed, false).map(|report| report.summary)
}

/// Like [`run_once`], with series if `with_series` is set. Series do not change the run.
pub fn run_reported(scenario: &Scenario, seed: Seed, with_series: bool) -> Result<RunReport, String> {
    #[cfg(feature = "threads")]
    if let Some(islands) = islands::worth_it(scenario, 1).filter(|_| !with_series) {
        return guarded(seed, || islands::run(scenario, seed, &islands, 1, &mut |_| true));
    }
    if scenario.record.sojourn.is_some() {
        return reported(scenario, seed, with_series, follow(scenario));
    }
    reported(scenario, seed, with_series, |recorder| recorder)
}

fn reported<S: Records>(
    scenario: &Scenario,
    seed: Seed,
    with_series: bool,
    sink: impl FnOnce(Recorder) -> S,
) -> Result<RunReport, String> {
    guarded(seed, || {
        let session = Session::new(scenario, seed, sink)?;
        let session = if with_series { session.with_series() } else { session };
        session.finish().map(|(report, _)| report)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario;
    use stillair_model::types::Duration;

    const TEXT: &str = include_str!("../../tests/scenario/good.toml");

    #[test]
    fn a_run_ends_before_its_timers_do() {
        let mut scenario = scenario::parse(TEXT, "good.toml", &[]).expect("a good scenario");
        let seed = Seed { seed: 1, run: 3 };
        scenario.duration = Duration::from_nanos(1 << 62);
        let says = run_once(&scenario, seed).expect_err("146 years");
        assert!(says.starts_with("run 3: ") && says.ends_with(" hours at most"), "{says}");
    }

    #[test]
    fn run_in_steps_equals_a_single_run() {
        let scenario = scenario::parse(TEXT, "good.toml", &[]).expect("a good scenario");
        let seed = Seed { seed: 7, run: 0 };
        let session =
            || Session::new(&scenario, seed, |recorder| recorder).expect("a short run").with_series();
        let at_once = session().finish().expect("accounts close").0.to_json();
        let mut in_steps = session();
        let mut until = Instant::ZERO;
        while until < in_steps.end() {
            until += Duration::from_nanos(123_456_789);
            in_steps.advance(until);
        }
        assert_eq!(in_steps.finish().expect("accounts close").0.to_json(), at_once);
    }
}
