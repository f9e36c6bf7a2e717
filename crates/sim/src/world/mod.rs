//! The world: air, network and hosts, and the effects of each event on them. None of them accesses the
//! internals of another.
//!
//! Path of a packet through this folder: an application in `hosts` creates it; `network` routes it and queues
//! it at an interface, whose device is a wire or a Wi-Fi device; `air` carries it over the channel and passes
//! it up at the receiver. The world does not depend on its driver: in virtual time, the next event is handled
//! immediately; a driver of external hosts advances the world from instant to instant (`driver.rs`).

mod accounting;
mod air;
mod build;
mod driver;
mod external_io;
mod hosts;
mod islands;
mod network;
mod owned;
mod state;

use stillair_model::types::{IfId, Instant, Pkt, Sink, SockId};
use stillair_model::wifi::dev::Woken;

use air::{Air, UpperLayer};
use hosts::{Hosts, LowerLayers};
use network::Network;
use state::SimState;

pub use accounting::{Accounts, DevLayout, InterfaceLayout, QdiscCounters, WorldLayout};
pub use build::{Wired, islands, layout, wire, wire_idle};
pub use external_io::{Entering, Left, Refused};
pub use hosts::TcpSocket;
pub use owned::Islands;

/// First timer slot of each kind. Timers due at the same instant fire in slot order.
#[derive(Clone, Copy, Debug)]
struct Slots {
    air: air::AirSlots,
    network: network::NetworkSlots,
    hosts: hosts::HostSlots,
}

/// Number of objects of each kind that have timers.
#[derive(Clone, Copy, Debug)]
struct SlotCounts {
    channels: usize,
    devs: usize,
    wires: usize,
    watchdogs: usize,
    apps: usize,
    nodes: usize,
    sockets: usize,
}

impl Slots {
    fn new(counts: SlotCounts) -> Self {
        let mut end = 0;
        let mut next = |n: usize| {
            let first = end;
            end += n as u32;
            first
        };
        let (channels, devs) = (next(counts.channels), next(counts.devs));
        let (arrivals, completions) = (next(counts.wires), next(counts.wires));
        let (watchdogs, beacons) = (next(counts.watchdogs), next(counts.devs));
        let (apps, wakes, sockets) = (next(counts.apps), next(counts.nodes), next(counts.sockets));
        Self {
            air: air::AirSlots { channels, devs, beacons },
            network: network::NetworkSlots { arrivals, completions, watchdogs },
            hosts: hosts::HostSlots { apps, wakes, sockets, end },
        }
    }
}

/// State of a run.
#[derive(Debug)]
pub struct World<S> {
    core: SimState<S>,
    hosts: Hosts,
    network: Network,
    air: Air,
    slots: Slots,
    events: u64,
}

/// Layers above the air, borrowed while the air handles an event.
struct Upstairs<'a, S> {
    core: &'a mut SimState<S>,
    network: &'a mut Network,
    hosts: &'a mut Hosts,
}

impl<S: Sink> UpperLayer for Upstairs<'_, S> {
    type Sink = S;

    #[inline(always)]
    fn core(&mut self) -> &mut SimState<S> {
        self.core
    }

    #[inline]
    fn up(&mut self, air: &mut Air, interface: IfId, batch: &mut Vec<Pkt>) {
        self.network.ingress(self.core, air, self.hosts, interface, batch);
    }

    #[inline]
    fn woken(&mut self, air: &mut Air, interface: IfId, woken: Woken) {
        self.network.run_woken(self.core, air, interface, woken);
    }
}

impl<S: Sink> World<S> {
    /// Returns the latest time at which a run may end.
    pub fn horizon(&self) -> Instant {
        self.core.timers.horizon()
    }

    /// Runs until `end`, which must not be after the horizon. Does not handle events at `end`.
    pub fn run_until(&mut self, end: Instant) {
        assert!(end <= self.horizon(), "timers that late do not fire");
        self.run_before(end);
        self.core.wait_until(end);
    }

    /// Handles the events before `end`. The current time becomes that of the last event.
    fn run_before(&mut self, end: Instant) {
        self.settle();
        while let Some((now, slot)) = self.core.timers.pop_before(end) {
            self.core.fires(now, slot);
            self.events += 1;
            self.handle(slot.0);
            if self.is_unsettled() {
                self.settle();
            }
        }
    }

    /// Returns the number of events handled so far.
    pub fn events(&self) -> u64 {
        self.events
    }

    fn handle(&mut self, slot: u32) {
        let Self { core, hosts, network, air, slots, .. } = self;
        let Slots { air: a, network: n, hosts: h } = *slots;
        let at = |first: u32| (slot - first) as usize;
        if slot < a.devs {
            air.exchange_ended(&mut Upstairs { core, network, hosts }, at(a.channels));
        } else if slot < n.arrivals {
            air.dev_timer(&mut Upstairs { core, network, hosts }, at(a.devs));
        } else if slot < n.completions {
            network.wire_arrival(core, air, hosts, at(n.arrivals));
        } else if slot < n.watchdogs {
            network.wire_completion(core, air, at(n.completions));
        } else if slot < a.beacons {
            network.watchdog(core, air, at(n.watchdogs));
        } else if slot < h.apps {
            air.beacon(core, at(a.beacons));
        } else if slot < h.wakes {
            hosts.app_timer(&mut LowerLayers { core, network, air }, at(h.apps));
        } else if slot < h.sockets {
            hosts.wake_timer(&mut LowerLayers { core, network, air }, at(h.wakes));
        } else {
            hosts.socket_timer(&mut LowerLayers { core, network, air }, SockId(slot - h.sockets));
        }
    }

    /// Reports whether an event left work for [`World::settle`]. Most events leave none.
    #[inline(always)]
    fn is_unsettled(&self) -> bool {
        self.network.has_softirq()
            || self.core.packets.has_uncharged()
            || self.hosts.has_woken_process()
            || self.air.has_changed()
    }

    /// Completes an event: runs throttled queues, sockets whose memory was freed and woken processes, and
    /// updates changed timers.
    #[inline(never)]
    fn settle(&mut self) {
        let Self { core, hosts, network, air, .. } = self;
        // Usually there is no such work, so it is checked here, without a call.
        loop {
            if network.run_softirq(core, air) {
                continue;
            }
            if let Some(first) = core.packets.pop_uncharged() {
                hosts.drain_uncharged(&mut LowerLayers { core, network, air }, first);
            } else if hosts.has_woken_process() {
                hosts.run_woken_process(&mut LowerLayers { core, network, air });
            } else {
                break;
            }
        }
        air.settle(core);
    }

    /// Returns a read-only view of the world.
    pub fn books(&self) -> Accounts<'_, S> {
        let Self { core, hosts, network, air, .. } = self;
        Accounts { core, hosts, network, air }
    }

    /// Closes the accounts at `end`. Returns an error if they do not balance.
    pub fn close(&mut self, end: Instant) -> Result<(), String> {
        self.air.close(end)?;
        self.books().check()
    }

    /// Returns the trace sink.
    pub fn trace(&self) -> &S {
        &self.core.trace
    }

    /// Returns the trace sink, mutable.
    pub fn trace_mut(&mut self) -> &mut S {
        &mut self.core.trace
    }

    /// Drops the world and returns its trace sink.
    pub fn into_trace(self) -> S {
        self.core.trace
    }
}
