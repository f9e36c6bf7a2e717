//! Islands: parts of a network that share nothing. They may run one after the other, which keeps their data
//! in the cache, or in parallel, each in its own world.

use stillair_model::types::{Instant, Sink, Tee};

use super::World;
use super::hosts::LowerLayers;
use super::owned::{Islands, Owned};
use crate::engine::Pending;
use crate::recorder::{Log, Recorder};

impl<S: Sink> World<S> {
    /// Arms what begins by itself on an island of a world in which nothing has begun.
    pub fn start_island(&mut self, islands: &Islands, island: u16) -> Pending {
        let Self { core, hosts, network, air, .. } = self;
        hosts.start(&mut LowerLayers { core, network, air }, |app| islands.apps[app] == island);
        air.start(core, |dev| islands.devs[dev] == island, |channel| islands.channels[channel] == island);
        self.settle();
        let mut pending = Pending::default();
        self.core.timers.swap(&mut pending);
        pending
    }

    /// The first slot of sockets that are opened in the run.
    pub fn slot_of_opened(&self) -> u32 {
        self.slots.hosts.sockets + self.hosts.at_first as u32
    }
}

impl<A: Sink> World<Tee<A, Log>> {
    /// Handles what is due on an island from `from` until `end`.
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
    /// Takes over what another world of the same scenario has made of its islands; the accounts of both have
    /// been checked. What is read of this world then is what one world alone would tell; it cannot go on.
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
