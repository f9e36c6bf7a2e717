//! Values sampled at fixed intervals during a run.

use stillair_model::types::{Duration, Instant};

use super::Records;
use crate::recorder::{Occupancy, Recorder, STEP, Series, SocketSeries};
use crate::scenario::Scenario;
use crate::world::World;

/// Timer of periodic samples.
#[derive(Debug)]
struct Interval {
    interval: Duration,
    next: Instant,
}

impl Interval {
    /// Fires at every multiple of `interval`, or never.
    fn new(interval: Option<Duration>) -> Self {
        match interval {
            Some(interval) => Self { interval, next: Instant::ZERO + interval },
            None => Self { interval: Duration::ZERO, next: Instant::NEVER },
        }
    }

    /// Returns true if a sample is due now, and schedules the next one.
    fn reached(&mut self, now: Instant) -> bool {
        let due = self.next == now;
        if due {
            self.next += self.interval;
        }
        due
    }
}

/// Series, socket states and queue lengths, each sampled at its own interval.
#[derive(Debug)]
pub(super) struct Samples {
    step: Interval,
    ss: Interval,
    queues: Interval,
    /// Samples by TCP sender.
    pub(super) sockets: Vec<SocketSeries>,
    pub(super) occupancy: Occupancy,
}

impl Samples {
    /// Creates the samples requested by the scenario, for this many TCP senders.
    pub(super) fn new(scenario: &Scenario, senders: usize) -> Self {
        Self {
            step: Interval::new(None),
            ss: Interval::new(scenario.record.ss),
            queues: Interval::new(scenario.record.queues),
            sockets: vec![SocketSeries::default(); senders],
            occupancy: Occupancy::default(),
        }
    }

    /// Enables series for a run of this length, or without a fixed end, with this many stations, places and
    /// interfaces.
    pub(super) fn keep_series(
        &mut self,
        recorder: &mut Recorder,
        duration: Option<Duration>,
        (stations, places, interfaces): (usize, usize, usize),
    ) {
        let flows = recorder.flows.len();
        recorder.series = Some(Series::new(duration, flows, stations, places, interfaces));
        self.step = Interval::new(Some(STEP));
    }

    /// Returns the time of the next sample.
    pub(super) fn next(&self) -> Instant {
        self.step.next.min(self.ss.next).min(self.queues.next)
    }

    /// Takes the samples that are due now. The last step may be shorter than the others.
    pub(super) fn take<S: Records>(&mut self, world: &mut World<S>, now: Instant, last: bool) {
        let stepwise = self.step.next < Instant::NEVER;
        if self.step.reached(now) || (stepwise && last) {
            end_step(world);
        }
        if self.ss.reached(now) {
            for (series, s) in self.sockets.iter_mut().zip(world.books().tcp_sockets().filter(|s| s.opens)) {
                series.push(now, s.tcp.state(), &s.tcp.info(now));
            }
        }
        if self.queues.reached(now) {
            self.occupancy.push(world.books().backlogs());
        }
    }

    /// Stops the run now, after due samples were taken. This ends the current step.
    pub(super) fn stop<S: Records>(&self, world: &mut World<S>, now: Instant) {
        if self.step.next < Instant::NEVER && now + self.step.interval > self.step.next {
            end_step(world);
        }
    }
}

fn end_step<S: Records>(world: &mut World<S>) {
    let mut series = world.trace_mut().recorder_mut().series.take();
    series.iter_mut().for_each(|s| s.end_step(world.books().backlogs()));
    world.trace_mut().recorder_mut().series = series;
}
