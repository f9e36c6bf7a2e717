//! Scheduling of turns between the world and the guests.
//!
//! The world's next event and the guests' requests are served in order of time. At equal times the world
//! comes first, then the guests in order. During its turn a guest may run until the next event of any other
//! party. Packets that the guest passes to its card enter the world immediately; if they cause an earlier
//! event, the guest learns the new limit before it continues.

use stillair_model::types::Instant;
use stillair_sim::run::{ExternalIoCounts, Records, Session};

use crate::BEFORE;
use crate::external_io::ExternalIo;
use crate::guest::{Guest, GuestError, NodeError};
use crate::plan::Plan;

/// Maximum turns at one time; a guest that takes more is stuck in a loop.
const SPINS: u64 = 2_000_000;
/// Time for guests to power off after the end of the world, in ns.
const AFTER: u64 = 10_000_000_000;

/// A run in progress.
#[derive(Debug)]
pub struct Turns<'a, S> {
    external: ExternalIo<'a, S>,
    guests: Vec<Guest>,
    /// End of the world, as a guest's age.
    end: u64,
    /// Guest turns so far.
    pub turns: u64,
    instant: (u64, u64),
}

impl<'a, S: Records> Turns<'a, S> {
    /// Creates a run at its start, with booted guests.
    pub fn new(session: Session<'a, S>, plan: &'a Plan, guests: Vec<Guest>) -> Self {
        let end = session.end().nanos() + BEFORE;
        Self { external: ExternalIo::new(session, plan), guests, end, turns: 0, instant: (0, 0) }
    }

    /// Runs to the end of the scenario.
    pub fn drive(&mut self) -> Result<(), NodeError> {
        let mut now = BEFORE;
        loop {
            self.interrupts(now)?;
            let Some(next) = self.external.session.next_event() else { return Ok(()) };
            let world = next.nanos() + BEFORE;
            match self.first() {
                Some((guest, at)) if at < world => {
                    self.turn(guest, at, world)?;
                    now = self.external.session.now().nanos() + BEFORE;
                }
                _ => {
                    self.external.session.advance_through(next);
                    self.external.out(&mut self.guests)?;
                    now = world;
                }
            }
        }
    }

    /// The guest with the earliest request, and its time; the first guest if several are equal.
    fn first(&self) -> Option<(usize, u64)> {
        let all = self.guests.iter().enumerate().filter_map(|(n, guest)| Some((n, guest.request()?)));
        all.min_by_key(|&(n, at)| (at, n))
    }

    /// Earliest request of all other guests.
    fn others(&self, guest: usize) -> u64 {
        let all = self.guests.iter().enumerate().filter(|(n, _)| *n != guest);
        all.filter_map(|(_, guest)| guest.request()).min().unwrap_or(u64::MAX)
    }

    /// Interrupts all guests that are due.
    fn interrupts(&mut self, now: u64) -> Result<(), NodeError> {
        for guest in self.guests.iter_mut().filter(|guest| guest.is_due()) {
            guest.interrupt(now).map_err(|why| guest.failed(why))?;
        }
        Ok(())
    }

    fn turn(&mut self, number: usize, at: u64, world: u64) -> Result<(), NodeError> {
        self.turns += 1;
        if at == self.instant.0 {
            self.instant.1 += 1;
            if self.instant.1 > SPINS {
                let why = GuestError::Spins { turns: SPINS, at: at.saturating_sub(BEFORE) };
                return Err(self.guests[number].failed(why));
            }
        } else {
            self.instant = (at, 0);
        }
        let first = world.min(self.others(number)).min(self.end);
        let mut free_until = first;
        let external = &mut self.external;
        let mut on_kick = |guest: &mut Guest, ring: (usize, usize), now: u64| {
            let at = Instant::from_nanos(now.saturating_sub(BEFORE));
            if at > external.session.now() {
                external.session.advance(at);
            }
            external.kicked(guest, number, ring)?;
            if let Some(next) = external.session.next_event() {
                free_until = free_until.min(next.nanos() + BEFORE);
            }
            if external.session.has_news() || guest.is_due() {
                // It, or another guest, is interrupted before more time passes.
                free_until = free_until.min(now);
            }
            Ok(free_until)
        };
        let guest = &mut self.guests[number];
        guest.turn(at, first, &mut on_kick).map_err(|why| guest.failed(why))?;
        // Effects of its packets on other guests are handled after its turn.
        self.external.out(&mut self.guests)
    }

    /// Shuts the guests down. Returns the session, the guests, the packet counters, and the hash of
    /// everything that guests sent.
    pub fn finish(mut self) -> Result<(Session<'a, S>, Vec<Guest>, ExternalIoCounts, u64), NodeError> {
        self.external.close();
        let external = &mut self.external;
        let limit = self.end + AFTER;
        loop {
            for guest in self.guests.iter_mut().filter(|guest| guest.is_due()) {
                guest.interrupt(guest.kicked_at().max(self.end)).map_err(|why| guest.failed(why))?;
            }
            let all = self.guests.iter().enumerate().filter_map(|(n, guest)| Some((guest.request()?, n)));
            let Some((at, number)) = all.min() else { break };
            if at >= limit {
                return Err(self.guests[number].failed(GuestError::NotOff));
            }
            let others = self.guests.iter().enumerate().filter(|(n, _)| *n != number);
            let free_until =
                others.filter_map(|(_, guest)| guest.request()).min().unwrap_or(limit).min(limit);
            let mut on_kick = |guest: &mut Guest, ring: (usize, usize), now: u64| {
                external.kicked(guest, number, ring)?;
                Ok(if guest.is_due() { now } else { free_until })
            };
            let guest = &mut self.guests[number];
            guest.turn(at, free_until, &mut on_kick).map_err(|why| guest.failed(why))?;
        }
        let hash = self.external.hash();
        let ExternalIo { session, counts, .. } = self.external;
        Ok((session, self.guests, counts, hash))
    }
}
