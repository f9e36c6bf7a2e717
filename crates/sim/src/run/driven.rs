//! A run with a driver: packets of external hosts enter and leave between events.

use std::sync::Arc;

use stillair_model::qdisc::Enqueue;
use stillair_model::types::{Addr, Instant, Seed};

use super::{Held, Records, Session};
use crate::recorder::Recorder;
use crate::scenario::Scenario;
use crate::world::{Accounts, Entering, Left, Refused};

impl<'a, S: Records> Session<'a, S> {
    /// Creates a run of a scenario that may have external hosts. Methods named as in
    /// [`World`](crate::world::World) do the same. Unlike a world, a session ends with its scenario and takes
    /// the samples that the scenario records.
    pub fn driven(
        scenario: &'a Scenario,
        seed: Seed,
        sink: impl FnOnce(Recorder) -> S,
    ) -> Result<Self, String> {
        Self::wired(Held::Lent(scenario), seed, sink)
    }

    /// Returns the scenario of the run.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Returns the current time. All earlier events have been handled; events at this time may have been.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Advances to `at`, but not beyond the end of the run. Handles events at `at`, except at the end of the
    /// run.
    pub fn advance_through(&mut self, at: Instant) {
        if at >= self.end() {
            return self.advance(self.end());
        }
        while self.samples.next().min(self.next_step()) <= at {
            self.advance(self.samples.next().min(self.next_step()));
        }
        self.world.advance(at);
        self.now = at;
    }

    /// Ends the run now, unless it has ended. [`Session::finish`] then reports the run so far.
    pub fn stop(&mut self) {
        if self.now < self.end {
            self.end = self.now;
            self.samples.stop(&mut self.world, self.now);
        }
    }

    /// Returns the time of the next event or sample. `None` at the end of the run.
    pub fn next_event(&mut self) -> Option<Instant> {
        let next =
            self.world.next_event().unwrap_or(Instant::NEVER).min(self.samples.next()).min(self.next_step());
        (self.now < self.end()).then(|| next.min(self.end()))
    }

    /// Enters a packet from an external host at the current time.
    pub fn enter(&mut self, packet: &Entering<'_>) -> Result<Enqueue, Refused> {
        self.world.enter(packet)
    }

    /// Enters a packet that is to be split on its path. Its bytes are segments of `full` bytes; the last may
    /// be shorter.
    pub fn enter_segments(&mut self, packet: &Entering<'_>, full: usize) -> Result<Enqueue, Refused> {
        self.world.enter_segments(packet, full)
    }

    /// Processes the packets that have entered.
    pub fn put_through(&mut self) {
        self.world.put_through();
    }

    /// Returns the next packet that has left the model, with its bytes.
    pub fn left(&mut self, bytes: &mut Vec<u8>) -> Option<Left> {
        self.world.left(bytes)
    }

    /// Returns the next token whose charge has ended.
    pub fn ended(&mut self) -> Option<u32> {
        self.world.ended()
    }

    /// Reports whether packets that left or charges that ended are waiting to be read.
    pub fn has_news(&self) -> bool {
        self.world.has_news()
    }

    /// Returns the data recorded so far.
    pub fn seen(&self) -> &Recorder {
        self.world.trace().recorder()
    }

    /// Returns read-only access to the world.
    pub fn books(&self) -> Accounts<'_, S> {
        self.world.books()
    }

    /// Returns the names of the stations, in the order of results.
    pub fn stations(&self) -> &[String] {
        &self.stations
    }

    /// Returns the address that represents all addresses outside the scenario.
    pub fn elsewhere(&self) -> Addr {
        self.world.elsewhere()
    }
}

impl<S: Records> Session<'static, S> {
    /// Like [`Session::driven`], but shares ownership of the scenario, so that the session can be stored and
    /// sent to another thread.
    pub fn shared(
        scenario: Arc<Scenario>,
        seed: Seed,
        sink: impl FnOnce(Recorder) -> S,
    ) -> Result<Self, String> {
        Self::wired(Held::Shared(scenario), seed, sink)
    }
}
