//! Islands: parts of a network that share nothing. They run one after another, which keeps their data in the
//! cache, or in parallel, each in its own world.

use stillair_model::types::{Instant, Sink, Tee};

use super::World;
use super::hosts::LowerLayers;
use super::owned::{Islands, Owned};
use crate::engine::Pending;
use crate::recorder::{Log, Recorder};

impl<S: Sink> World<S> {
    /// Arms the initial timers of an island in a world that has not started.
    pub fn start_island(&mut self, islands: &Islands, island: u16) -> Pending {
        let Self { core, hosts, network, air, .. } = self;
        hosts.start(&mut LowerLayers { core, network, air }, |app| islands.apps[app] == island);
        air.start(core, |dev| islands.devs[dev] == island, |channel| islands.channels[channel] == island);
        self.settle();
        let mut pending = Pending::default();
        self.core.timers.swap(&mut pending);
        pending
    }

    /// Returns the first timer slot of sockets opened during the run.
    pub fn slot_of_opened(&self) -> u32 {
        self.slots.hosts.sockets + self.hosts.at_first as u32
    }
}

impl<A: Sink> World<Tee<A, Log>> {
    /// Handles the events of an island from `from` until `end`.
    pub fn run_island(&mut self, pending: &mut Pending, from: Instant, end: Instant) {
        self.core.timers.swap(pending);
        self.core.trace.1.turns();
        self.core.wait_until(from);
        while let Some((now, slot)) = self.core.timers.pop_before(end) {
            self.core.fires(now, slot);
            self.events += 1;
            self.core.trace.1.begins(now, slot.0);
            let sockets = self.hosts.sockets();
            self.handle(slot.0);
            if self.is_unsettled() {
                self.settle();
            }
            let opened = self.hosts.sockets() - sockets;
            if opened > 0 {
                self.core.trace.1.opened(sockets - self.hosts.at_first, opened);
            }
        }
        self.core.wait_until(end);
        self.core.timers.swap(pending);
    }
}

impl World<Tee<Recorder, Log>> {
    /// Takes over the islands that another world of the same scenario has run, after the accounts of both
    /// were checked. This world then reads as if it had run them all, but cannot be resumed.
    pub fn take_over(&mut self, other: Self, (islands, worlds): (&Islands, &[u16]), world: u16) {
        let owned = Owned { islands, worlds, world };
        self.events += other.events;
        self.core.packets.take_over(&other.core.packets);
        self.air.take_over(other.air, &owned);
        self.network.take_over(other.network, &owned);
        self.hosts.take_over(other.hosts, &owned);
        let of_world = |of: &[u16]| of.iter().map(|&island| worlds[usize::from(island)]).collect::<Vec<_>>();
        let whose = (&*of_world(&islands.apps), &*of_world(&islands.stations));
        self.core.trace.0.take_over(other.core.trace.0, world, whose);
    }
}
