//! Multicast groups: flows to a group, the path of their packets to the access point, and the members.

use stillair_model::node::routes::{Route, Routes};
use stillair_model::types::{Addr, DevId, FlowId, PeerId};

use super::super::air::group::Member;
use super::{Plan, Tables};
use crate::scenario::{InterfaceRef, Role, Ways};

impl Plan<'_> {
    /// Returns the address shared by all groups, which no interface has.
    pub(super) fn group_addr(&self) -> Addr {
        Addr::from_index(self.all().count() + 1)
    }

    /// Returns the peer that represents all stations of an access point, if the access point sends
    /// group-addressed frames.
    pub(super) fn group_peer(&self, ap: InterfaceRef) -> Option<PeerId> {
        let sends = self.scenario.flows.iter().any(|flow| flow.multicast && self.group_ap(flow) == Some(ap));
        sends.then(|| PeerId::from_index(self.peers[self.dev(ap).index()].len()))
    }

    /// Returns the access point through which a flow reaches its group.
    fn group_ap(&self, flow: &crate::scenario::Flow) -> Option<InterfaceRef> {
        let ways = Ways::new(self.scenario);
        let [_, at] = ways.ends(flow.from, *flow.to.first()?);
        match &self.wifi_of(at).role {
            Role::Station(station) => Some(station.ap),
            Role::Ap => None,
        }
    }

    /// Adds routes to groups, and returns the members by device. Packets follow the path to a station until
    /// they reach its access point.
    // deviation: all groups share one address, so only one access point may serve groups.
    pub(super) fn groups(&self, tables: &mut Tables) -> Vec<(DevId, Member)> {
        let (mut members, ways, mut next) = (Vec::new(), Ways::new(self.scenario), 0);
        for flow in &self.scenario.flows {
            let base = FlowId::from_index(next);
            next += flow.to.len();
            let Some(ap) = flow.multicast.then(|| self.group_ap(flow)).flatten() else { continue };
            let group = self.group_addr();
            for (n, &to) in flow.to.iter().enumerate() {
                let [_, at] = ways.ends(flow.from, to);
                let own = (FlowId::from_index(base.index() + n), self.addr(at));
                members.push((self.dev(at), Member { flow: base, own }));
                if n > 0 {
                    continue;
                }
                for (node, routes) in tables.nodes.iter_mut().enumerate() {
                    let route = match self.group_peer(ap) {
                        Some(peer) if node == ap.node => Some(Route::Via(self.id(ap), peer)),
                        _ => routes.get(own.1),
                    };
                    set(routes, group, route, self.all().count());
                }
            }
        }
        members
    }
}

/// Adds a route, also to tables with one route for all addresses.
fn set(routes: &mut Routes, addr: Addr, route: Option<Route>, addresses: usize) {
    let Some(route) = route else { return };
    if routes.get(addr) == Some(route) {
        return;
    }
    if let Routes::OneWay { .. } = routes {
        let mut table = Routes::default();
        for n in 0..=addresses {
            let addr = Addr::from_index(n);
            if let Some(route) = routes.get(addr) {
                table.set(addr, route);
            }
        }
        *routes = table;
    }
    routes.set(addr, route);
}
