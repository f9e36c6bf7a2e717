//! The loop: packets enter, time advances, due packets leave, and the engine waits.

use std::os::fd::AsFd;

use stillair_model::types::Instant;
use stillair_sim::run::{Records, Session};
use stillair_sim::scenario::Scenario;

use super::counts::Counts;
use super::external_io::{Exit, ExternalIo};
use super::lateness::Lateness;
use crate::plan::Plan;
use crate::port::{Queue, Verdict};
use crate::space::host::LiveHost;
use crate::sys::poll::Watched;
use crate::sys::{clock, process};

/// Maximum packets taken from one port per round.
const TURN: usize = 256;
/// Minimum time between the ends of two waits without a packet, in ns. Packets due in between are late by
/// at most this much, and wake the thread once.
const APART: u64 = 50_000;
/// Longest wait, in ns. Only time beyond the requested wait counts as a stall.
const LONGEST: u64 = 10_000_000;
/// Interval between checks of this thread's processor use, in ns.
const LOOK: u64 = 1_000_000_000;
/// Real-time priority: above threads without one, below the machine's own real-time threads.
const PRIORITY: i32 = 20;

/// A change that the simulator refused, with its reason.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct ChangeError(pub String);

/// Scheduling of the engine's thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pace {
    /// With real-time priority.
    RealTime,
    /// Without real-time priority: the kernel refused it.
    Normal,
    /// Real-time priority was given up, because the kernel throttles real-time threads that use a whole
    /// processor.
    GivenUp,
}

/// Limits of a valid run, in ns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Largest 99th percentile of lateness.
    pub p99: u64,
    /// Longest stall.
    pub gap: u64,
}

/// A run in progress.
#[derive(Debug)]
pub struct Engine<'a, S> {
    external: ExternalIo<'a, S>,
    exits: Vec<Exit>,
    queues: Vec<Option<Queue>>,
    late: Lateness,
    watched: Watched,
    /// Per host: indices in `watched` of its port and its queue.
    places: Vec<(usize, Option<usize>)>,
    zero: u64,
    pace: Pace,
    looked: (u64, u64),
    /// End of the last wait.
    woke: u64,
    loops: u64,
}

impl<'a, S: Records> Engine<'a, S> {
    /// Starts a run.
    pub fn new(session: Session<'a, S>, plan: &'a Plan, hosts: Vec<LiveHost>) -> Self {
        let (mut watched, mut exits, mut queues, mut places) =
            (Watched::default(), Vec::new(), Vec::new(), Vec::new());
        for (host, of) in hosts.into_iter().zip(&plan.hosts) {
            let queue = host.queue.as_ref().map(|queue| watched.add(queue.fd()));
            places.push((watched.add(host.port.fd()), queue));
            exits.push(Exit::new(host.port, of.gro));
            queues.push(host.queue);
        }
        process::exact_timers();
        let pace = if process::real_time(Some(PRIORITY)) { Pace::RealTime } else { Pace::Normal };
        let external = ExternalIo::new(session, plan);
        let (late, zero) = (Lateness::default(), clock::now());
        Self {
            external,
            exits,
            queues,
            late,
            watched,
            places,
            zero,
            pace,
            looked: (zero, busy()),
            woke: 0,
            loops: 0,
        }
    }

    /// Time since the start of the run in ns.
    pub fn now(&self) -> u64 {
        clock::now() - self.zero
    }

    /// Adds a file to wait for. [`Engine::is_ready`] reports if the file can be read.
    pub fn watch(&mut self, file: impl AsFd) -> usize {
        self.watched.add(file)
    }

    /// Returns true if this file can be read.
    pub fn is_ready(&self, place: usize) -> bool {
        self.watched.is_ready(place)
    }

    /// Changes the network to that of `to`.
    pub fn change(&mut self, to: &Scenario) -> Result<(), ChangeError> {
        self.advance();
        self.external.session.change(to).map_err(|why| ChangeError(why.to_string()))
    }

    /// Packet counters so far.
    pub fn counts(&self) -> Counts {
        self.external.counts
    }

    /// The session, and the lateness of packets so far.
    pub fn seen(&self) -> (&Session<'a, S>, &Lateness) {
        (&self.external.session, &self.late)
    }

    /// Scheduling of this thread.
    pub fn pace(&self) -> Pace {
        self.pace
    }

    /// Number of rounds of the loop so far.
    pub fn loops(&self) -> u64 {
        self.loops
    }

    /// Advances to the current time, passes packets in and out, and waits until something is due or
    /// arrives, at most until `until` and for at most 10 ms. Returns false at the end of the run.
    pub fn turn(&mut self, until: u64) -> bool {
        self.loops += 1;
        self.advance();
        let Some(next) = self.external.session.next_event() else { return false };
        let wanted = next.nanos().min(until);
        let now = self.now();
        let asked =
            if wanted > now { wanted.max(self.woke + APART).saturating_sub(now).min(LONGEST) } else { 0 };
        let came = self.watched.wait(asked);
        let woke = self.now();
        // Counts as a stall even if packets arrived meanwhile: only the requested part was a wait.
        self.late.woke((woke - self.woke).saturating_sub(asked));
        self.woke = woke;
        if came {
            self.receive(woke);
        }
        self.look(woke);
        true
    }

    /// Advances the model to the current time, delivers packets that are due, and releases packets whose
    /// charge has ended.
    fn advance(&mut self) {
        let now = Instant::from_nanos(self.now());
        self.external.session.advance_through(now);
        self.out();
    }

    fn out(&mut self) {
        self.external.leave(&mut self.exits, &mut self.late, self.zero);
        while let Some(token) = self.external.session.ended() {
            let (host, id) = self.external.tokens.give_back(token);
            self.queues[host].iter_mut().for_each(|queue| queue.release(id));
        }
        self.queues.iter_mut().flatten().for_each(Queue::tell);
    }

    /// Enters packets that have arrived.
    fn receive(&mut self, now: u64) {
        // Handle events due earlier before the packet enters.
        self.external.session.advance_through(Instant::from_nanos(now));
        for host in 0..self.exits.len() {
            let (port, queue) = self.places[host];
            let external = &mut self.external;
            if queue.is_some_and(|place| self.watched.is_ready(place))
                && let Some(queue) = &mut self.queues[host]
            {
                queue.receive(TURN, |packet| {
                    if external.enter(host, packet.bytes, Some(packet.id), now) {
                        Verdict::Hold
                    } else {
                        Verdict::Drop
                    }
                });
            }
            if self.watched.is_ready(port) {
                self.exits[host].port().receive(TURN, |bytes| {
                    external.enter(host, bytes, None, now);
                });
            }
        }
        self.external.session.put_through();
        self.out();
    }

    /// Gives up real-time priority if this thread would use a whole processor: by default, the kernel
    /// throttles such threads for 50 ms per second.
    // linux: kernel/sched/rt.c sched_rt_runtime_us (6.18) - 950,000 of 1,000,000 us.
    fn look(&mut self, now: u64) {
        let (then, before) = self.looked;
        let now = self.zero + now;
        if self.pace != Pace::RealTime || now - then < LOOK {
            return;
        }
        let busy = busy();
        if (busy - before) * 10 > (now - then) * 8 && process::real_time(None) {
            self.pace = Pace::GivenUp;
        }
        self.looked = (now, busy);
    }

    /// Ends the run now. Returns the session, the lateness of packets, and the packet counters.
    pub fn stop(mut self) -> (Session<'a, S>, Lateness, Counts) {
        self.advance();
        self.external.session.stop();
        (self.external.session, self.late, self.external.counts)
    }
}

fn busy() -> u64 {
    clock::cpu().iter().sum()
}
