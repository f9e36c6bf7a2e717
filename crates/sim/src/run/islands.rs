//! Runs a network of several islands, one after another or on several threads. Report and trace hash equal
//! those of a run that handles all events in a single order.

use std::panic::resume_unwind;
use std::sync::mpsc::sync_channel;
use std::thread;

use stillair_model::types::{Duration, Instant, Seed, Tee};

use super::report::RunReport;
use super::sampling::Samples;
use super::{Held, Session, check_horizon, guarded};
use crate::engine::Pending;
use crate::recorder::{Log, MergedHash, Recorder, Traced};
use crate::scenario::Scenario;
use crate::world::{self, Islands, Wired};

/// Time that an island runs before the next one: long enough to benefit from the cache most of the time,
/// short enough to keep little of the trace.
const TURN: Duration = Duration::from_millis(500);
/// Turns that a world may be ahead of the hash.
const AHEAD: usize = 2;

/// Error of a run ended by its watcher.
pub(super) const INTERRUPTED: &str = "interrupted";

type Logged = Tee<Recorder, Log>;

/// Returns the islands of a scenario if it can run by islands. Sampling and scenario events need a single
/// world that stops as a whole.
pub(super) fn islands(scenario: &Scenario) -> Option<Islands> {
    let record = &scenario.record;
    let samples = record.ss.is_some() || record.queues.is_some() || record.sojourn.is_some();
    if samples || record.air.is_some() || !scenario.steps.is_empty() || scenario.is_open_ended() {
        return None;
    }
    world::islands(scenario)
}

/// Minimum number of interfaces for which running islands one by one pays off on a single core. In smaller
/// networks, the data of an event is in the cache anyway.
const MANY: usize = 200;

/// Returns the islands of a scenario if they shorten its run on this many threads.
pub(super) fn worth_it(scenario: &Scenario, threads: usize) -> Option<Islands> {
    let interfaces = || scenario.nodes.iter().map(|node| node.interfaces.len()).sum::<usize>();
    (threads > 1 || interfaces() >= MANY).then(|| islands(scenario)).flatten()
}

/// A world that runs some of the islands.
struct Part<'a> {
    wired: Wired<Logged>,
    islands: &'a Islands,
    /// Armed timers of each of its islands.
    own: Vec<Pending>,
    /// Trace entries of each of its islands, moved to the hash; buffers may be returned for reuse.
    kept: Vec<Vec<Traced>>,
}

impl<'a> Part<'a> {
    fn new(
        scenario: &Scenario,
        seed: Seed,
        islands: &'a Islands,
        (worlds, number): (&[u16], usize),
    ) -> Result<Self, String> {
        let mut wired = world::wire_idle(scenario, seed, |recorder| Tee(recorder, Log::default()));
        check_horizon(scenario, seed, &wired.world)?;
        let own: Vec<_> = (0..islands.count)
            .filter(|&island| usize::from(worlds[usize::from(island)]) == number)
            .map(|island| wired.world.start_island(islands, island))
            .collect();
        let kept = own.iter().map(|_| Vec::new()).collect();
        Ok(Self { wired, islands, own, kept })
    }

    /// Runs one island after another.
    fn turn(&mut self, from: Instant, until: Instant) {
        let world = &mut self.wired.world;
        for (pending, kept) in self.own.iter_mut().zip(&mut self.kept) {
            core::mem::swap(&mut world.trace_mut().1.kept, kept);
            world.run_island(pending, from, until);
            core::mem::swap(&mut world.trace_mut().1.kept, kept);
        }
    }

    fn close(&mut self, seed: Seed, end: Instant) -> Result<(), String> {
        debug_assert_eq!(self.wired.world.books().interfaces(), self.islands.interfaces());
        self.wired.world.close(end).map_err(|e| format!("run {}: accounts do not close: {e}", seed.run))
    }
}

/// Returns the turns of a run as pairs of start and end.
fn turns(end: Instant) -> impl Iterator<Item = (Instant, Instant)> {
    let mut from = Instant::ZERO;
    core::iter::from_fn(move || {
        let turn = (from < end).then(|| (from, (from + TURN).min(end)))?;
        from = turn.1;
        Some(turn)
    })
}

/// Runs a scenario by islands on at most `threads` threads. `passed` receives the progress and returns true
/// to continue.
pub(super) fn run(
    scenario: &Scenario,
    seed: Seed,
    islands: &Islands,
    threads: usize,
    passed: &mut dyn FnMut(Instant) -> bool,
) -> Result<RunReport, String> {
    let worlds = islands.worlds(threads);
    let count = worlds.iter().max().map_or(1, |&last| usize::from(last) + 1);
    let (wired, hash) = match count {
        1 => alone(scenario, seed, islands, &worlds, passed)?,
        _ => side_by_side(scenario, seed, islands, (&worlds, count), passed)?,
    };
    let mut wired = wired.into_iter();
    let Wired { mut world, stations, places } = wired.next().expect("a world at least");
    for (number, other) in (1..).zip(wired) {
        world.take_over(other.world, (islands, &worlds), number);
    }
    world.trace_mut().0.set_hash(&hash);
    let samples = Samples::new(scenario, world.books().tcp_senders().count());
    let end = Instant::ZERO + scenario.duration;
    let scenario = Held::Lent(scenario);
    let mut session =
        Session { scenario, seed, world, stations, places, samples, now: end, end, steps: 0, changed: None };
    session.told()
}

/// Worlds at the end of a run, and the hash of their traces.
type Ended = (Vec<Wired<Logged>>, MergedHash);

/// Runs all islands in one world, one after another.
fn alone(
    scenario: &Scenario,
    seed: Seed,
    islands: &Islands,
    worlds: &[u16],
    passed: &mut dyn FnMut(Instant) -> bool,
) -> Result<Ended, String> {
    let end = Instant::ZERO + scenario.duration;
    let mut part = Part::new(scenario, seed, islands, (worlds, 0))?;
    let mut hash = MergedHash::new(1, part.wired.world.slot_of_opened());
    for (from, until) in turns(end) {
        part.turn(from, until);
        hash.add(&part.kept.iter().map(|kept| (0, &**kept)).collect::<Vec<_>>());
        part.kept.iter_mut().for_each(Vec::clear);
        if !passed(until) {
            return Err(INTERRUPTED.to_owned());
        }
    }
    part.close(seed, end)?;
    Ok((vec![part.wired], hash))
}

/// Runs one world per thread, each with its own islands. Worlds only wait for each other if one is far ahead
/// of the hash.
fn side_by_side(
    scenario: &Scenario,
    seed: Seed,
    islands: &Islands,
    (worlds, count): (&[u16], usize),
    passed: &mut dyn FnMut(Instant) -> bool,
) -> Result<Ended, String> {
    let end = Instant::ZERO + scenario.duration;
    thread::scope(|scope| {
        let (mut threads, mut logs) = (Vec::new(), Vec::new());
        for number in 0..count {
            let (send, receive) = sync_channel(AHEAD);
            logs.push(receive);
            threads.push(scope.spawn(move || {
                guarded(seed, || {
                    let mut part = Part::new(scenario, seed, islands, (worlds, number))?;
                    let first = part.wired.world.slot_of_opened();
                    for (from, until) in turns(end) {
                        part.turn(from, until);
                        let kept: Vec<Vec<Traced>> = part.kept.iter_mut().map(core::mem::take).collect();
                        if send.send((first, kept)).is_err() {
                            return Err(INTERRUPTED.to_owned());
                        }
                    }
                    part.close(seed, end)?;
                    Ok(part.wired)
                })
            }));
        }
        let (mut hash, mut goes_on) = (None, true);
        for (_, until) in turns(end) {
            // A failed world sends nothing more.
            let Some(all) = logs.iter().map(|log| log.recv().ok()).collect::<Option<Vec<_>>>() else { break };
            let kept = all.iter().enumerate();
            let kept = kept.flat_map(|(world, (_, all))| all.iter().map(move |kept| (world, &**kept)));
            let hash = hash.get_or_insert_with(|| MergedHash::new(count, all[0].0));
            hash.add(&kept.collect::<Vec<_>>());
            goes_on = passed(until);
            if !goes_on {
                break;
            }
        }
        drop(logs);
        let ended =
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        let (ended, failed): (Vec<_>, Vec<_>) = ended.partition(Result::is_ok);
        // A failure is more informative than the interruptions that it caused.
        let mut failed: Vec<String> = failed.into_iter().filter_map(Result::err).collect();
        failed.sort_by_key(|why| why == INTERRUPTED);
        match (failed.into_iter().next(), hash) {
            (None, Some(hash)) if goes_on => Ok((ended.into_iter().flatten().collect(), hash)),
            (why, _) => Err(why.unwrap_or_else(|| INTERRUPTED.to_owned())),
        }
    })
}
