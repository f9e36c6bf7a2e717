//! A run that somebody drives: packets of outside hosts come in and leave between its events.

use std::sync::Arc;

use stillair_model::qdisc::Enqueue;
use stillair_model::vocabulary::{Addr, Instant, Seed};

use super::{Held, Records, Session};
use crate::recorder::Recorder;
use crate::scenario::Scenario;
use crate::world::{Books, Entering, Left, Refused};

impl<'a, S: Records> Session<'a, S> {
    /// A run at its beginning, of a scenario that may have outside hosts. What a driver does with a session is what it does with a
    /// [`World`](crate::world::World): the functions of the same names are those of its world. But a session ends with its scenario, and what
    /// the scenario records is sampled on the way.
    pub fn driven(
        scenario: &'a Scenario,
        seed: Seed,
        sink: impl FnOnce(Recorder) -> S,
    ) -> Result<Self, String> {
        Self::wired(Held::Lent(scenario), seed, sink)
    }

    /// What is run.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// The time: what is due until then, and perhaps at that very instant, has been handled.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Goes on until `at`, at most to the end of the run, and handles what is due at that very instant; at the end itself it is left.
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

    /// Ends the run now, if it has not ended: [`Session::finish`] is to report of what has been.
    pub fn stop(&mut self) {
        if self.now < self.end {
            self.end = self.now;
            self.samples.stop(&mut self.world, self.now);
        }
    }

    /// When something happens next by itself, or is sampled; none at the end of the run.
    pub fn next_event(&mut self) -> Option<Instant> {
        let next =
            self.world.next_event().unwrap_or(Instant::NEVER).min(self.samples.next()).min(self.next_step());
        (self.now < self.end()).then(|| next.min(self.end()))
    }

    /// A packet comes in from outside, now.
    pub fn enter(&mut self, packet: &Entering<'_>) -> Result<Enqueue, Refused> {
        self.world.enter(packet)
    }

    /// Lets what has come in take its effect.
    pub fn put_through(&mut self) {
        self.world.put_through();
    }

    /// The next packet that has left the model.
    pub fn left(&mut self, bytes: &mut Vec<u8>) -> Option<Left> {
        self.world.left(bytes)
    }

    /// The next token whose charge has ended.
    pub fn ended(&mut self) -> Option<u32> {
        self.world.ended()
    }

    /// Whether a packet has left or a charge has ended that nobody has asked for.
    pub fn has_news(&self) -> bool {
        self.world.has_news()
    }

    /// What has been seen so far.
    pub fn seen(&self) -> &Recorder {
        self.world.trace().recorder()
    }

    /// What can be read of the world.
    pub fn books(&self) -> Books<'_, S> {
        self.world.books()
    }

    /// The names of the stations, as results have them.
    pub fn stations(&self) -> &[String] {
        &self.stations
    }

    /// The address that stands for all that no interface of the scenario has.
    pub fn elsewhere(&self) -> Addr {
        self.world.elsewhere()
    }
}

impl<S: Records> Session<'static, S> {
    /// [`Session::driven`] of a scenario that the session has a share of, so that it can be kept and sent to another thread.
    pub fn shared(
        scenario: Arc<Scenario>,
        seed: Seed,
        sink: impl FnOnce(Recorder) -> S,
    ) -> Result<Self, String> {
        Self::wired(Held::Shared(scenario), seed, sink)
    }
}
