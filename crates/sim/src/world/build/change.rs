//! Changes of a running world.

use stillair_model::types::{Seed, Sink};

use super::super::World;
use super::{Plan, Role};
use crate::scenario::{Change, InterfaceRef, Scenario};

impl<S: Sink> World<S> {
    /// Changes the given parts of the network from their state in `from` to that in `to`. Both must equal the
    /// scenario that the world was built from in all other respects.
    pub fn change(&mut self, from: &Scenario, to: &Scenario, changes: &[Change], seed: Seed) {
        for change in changes {
            match *change {
                Change::Link(link) => {
                    for (end, params) in to.links[link].params.into_iter().enumerate() {
                        self.network.change_wire(&mut self.core, 2 * link + end, params);
                    }
                }
                Change::Path(station) => self.path(from, to, station, seed),
                Change::Qdisc(at) => {
                    let (plan, before) = (Plan::new(to), Plan::new(from));
                    // Each qdisc gets its own random stream.
                    let name = format!("{}.qdisc at {} ns", plan.name(at), self.core.now.nanos());
                    let configs = [&before, &plan].map(|plan| &plan.interface(at).qdisc.config);
                    self.network.change_qdisc(&mut self.core, plan.id(at), configs, &mut seed.stream(&name));
                }
            }
        }
        self.settle();
    }

    /// Changes both ends of a station's path. Rate control restarts if it changes, and keeps its state if
    /// only losses change.
    fn path(&mut self, from: &Scenario, to: &Scenario, station: InterfaceRef, seed: Seed) {
        let (before, after) = (Plan::new(from), Plan::new(to));
        let Role::Station(new) = &after.wifi_of(station).role else { return };
        let Role::Station(old) = &before.wifi_of(station).role else { return };
        for (at, peer, other_rates) in
            [(station, new.ap, new.uplink != old.uplink), (new.ap, station, new.rates != old.rates)]
        {
            let edca = after.edca(at);
            let made = after.peer(at, peer, &edca, seed);
            let dev = after.dev(at);
            let number = after.peers[dev.index()].iter().position(|of| *of == peer).unwrap_or(0);
            let path = self.air.peer_mut(dev, number);
            path.errors = made.errors;
            if other_rates {
                (path.rate, path.most, path.amsdu) = (made.rate, made.most, made.amsdu);
                path.choose(|ac| edca.get(ac).txop);
            }
        }
    }
}
