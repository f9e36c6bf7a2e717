//! The run of a link, with or without `[record] sojourn`.

use stillair_model::qdisc::Enqueue;
use stillair_model::types::{Instant, Seed};
use stillair_sim::recorder::Recorder;
use stillair_sim::run::{Followed, RunReport, Session, follow};
use stillair_sim::world::{Entering, Left, Refused};

use crate::path::Path;

/// A driven run.
#[expect(
    clippy::large_enum_variant,
    reason = "one for each link, which is moved once: a packet goes to it without a pointer more"
)]
#[derive(Debug)]
pub(crate) enum Driven {
    /// Without sojourn times, at no cost.
    Plain(Session<'static, Recorder>),
    /// With `[record] sojourn`.
    Followed(Session<'static, Followed>),
}

macro_rules! either {
    ($own:expr, $session:ident => $act:expr) => {
        match $own {
            Driven::Plain($session) => $act,
            Driven::Followed($session) => $act,
        }
    };
}

impl Driven {
    pub(crate) fn new(path: &Path, seed: Seed) -> Result<Self, String> {
        let scenario = path.scenario.clone();
        if scenario.record.sojourn.is_some() {
            let sink = follow(&scenario);
            return Session::shared(scenario, seed, sink).map(Self::Followed);
        }
        Session::shared(scenario, seed, |recorder| recorder).map(Self::Plain)
    }

    pub(crate) fn now(&self) -> Instant {
        either!(self, session => session.now())
    }

    pub(crate) fn end(&self) -> Instant {
        either!(self, session => session.end())
    }

    pub(crate) fn advance_through(&mut self, at: Instant) {
        either!(self, session => session.advance_through(at));
    }

    pub(crate) fn next_event(&mut self) -> Option<Instant> {
        either!(self, session => session.next_event())
    }

    pub(crate) fn enter(&mut self, packet: &Entering<'_>) -> Result<Enqueue, Refused> {
        either!(self, session => session.enter(packet))
    }

    pub(crate) fn put_through(&mut self) {
        either!(self, session => session.put_through());
    }

    pub(crate) fn left(&mut self, bytes: &mut Vec<u8>) -> Option<Left> {
        either!(self, session => session.left(bytes))
    }

    pub(crate) fn ended(&mut self) -> Option<u32> {
        either!(self, session => session.ended())
    }

    pub(crate) fn finish(self) -> Result<RunReport, String> {
        either!(self, session => {
            let mut session = session;
            session.stop();
            session.finish().map(|(report, _)| report)
        })
    }
}
