//! Shortest-path routes to every address, by hop count.

use stillair_model::node::routes::{Route, Routes};
use stillair_model::types::{Addr, IfId, NodeId, PeerId};

use crate::scenario::InterfaceRef;

/// Link from an interface to a neighbour's.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) from: InterfaceRef,
    /// Number of the sending interface.
    pub(super) out: IfId,
    /// Number of the neighbour among the device's peers.
    pub(super) peer: PeerId,
    pub(super) to: InterfaceRef,
}

/// Routing tables of a scenario.
pub(super) struct Tables {
    /// Table of each node.
    pub(super) nodes: Vec<Routes>,
    /// Table for packets with an interface's source address, by interface, if its node has several
    /// interfaces.
    pub(super) bound: Vec<Option<Routes>>,
}

impl Tables {
    /// Returns the output interface for packets that a node sends between two addresses, selected as the
    /// world does.
    pub(super) fn leaves(&self, node: NodeId, src: Addr, dst: Addr) -> Option<IfId> {
        let bound = self.bound[src.index()].as_ref().and_then(|routes| routes.get(dst));
        match bound.or_else(|| self.nodes[node.index()].get(dst))? {
            Route::Via(out, _) => Some(out),
            Route::Local => None,
        }
    }
}

#[derive(Debug)]
pub(super) struct Graph {
    /// Forwarding flag of each node.
    pub(super) forward: Vec<bool>,
    /// All interfaces in number order. An interface's address is its number.
    pub(super) interfaces: Vec<InterfaceRef>,
    /// Interface with the default route. The address of unknown destinations is one past the interfaces.
    pub(super) elsewhere: Option<InterfaceRef>,
    /// All edges, ordered by sending interface.
    pub(super) edges: Vec<Edge>,
}

impl Graph {
    /// Computes all routes. Among equally short paths, prefers one that arrives at the interface with the
    /// destination address, then the one through the earlier interface.
    ///
    /// Nodes with one interface and one edge, such as most stations, do not forward and have no choice. They
    /// are left out of the search, so that the work grows linearly with the nodes instead of quadratically.
    pub(super) fn tables(&self) -> Tables {
        self.tables_but(&self.ends())
    }

    /// Computes all routes with `ends` left out of the search.
    fn tables_but(&self, ends: &[Option<(Addr, Edge)>]) -> Tables {
        let (nodes, mut tables) = (self.forward.len(), self.empty());
        let mut into: Vec<Vec<Edge>> = vec![Vec::new(); nodes];
        for edge in self.edges.iter().filter(|edge| ends[edge.from.node].is_none()) {
            into[edge.to.node].push(*edge);
        }
        let mut hops = vec![usize::MAX; nodes];
        for (addr, at) in self.addresses() {
            self.reach(addr, at, &into, &mut hops, &mut tables);
            if ends[at.node].is_none() {
                tables.nodes[at.node].set(addr, Route::Local);
            }
        }
        let leads_everywhere: Vec<bool> =
            (0..nodes).map(|n| ends[n].is_none() && self.leads_everywhere(&tables.nodes[n])).collect();
        for (node, end) in ends.iter().enumerate() {
            let Some((own, edge)) = *end else { continue };
            let (gateway, others) = (edge.to.node, Route::Via(edge.out, edge.peer));
            tables.nodes[node] = if self.forward[gateway] && leads_everywhere[gateway] {
                Routes::OneWay { own, others }
            } else {
                self.through(node, gateway, others, &tables.nodes[gateway])
            };
        }
        tables
    }

    /// Returns all addresses, and the interfaces at which their packets arrive.
    fn addresses(&self) -> impl Iterator<Item = (Addr, InterfaceRef)> {
        let all = self.interfaces.iter().chain(&self.elsewhere).enumerate();
        all.map(|(number, &at)| (Addr::from_index(number), at))
    }

    /// Returns empty tables of sufficient capacity.
    fn empty(&self) -> Tables {
        let mut interfaces = vec![0; self.forward.len()];
        self.interfaces.iter().for_each(|at| interfaces[at.node] += 1);
        let bound = |at: &InterfaceRef| (interfaces[at.node] > 1).then(Routes::default);
        Tables {
            nodes: vec![Routes::default(); self.forward.len()],
            bound: self.interfaces.iter().map(bound).collect(),
        }
    }

    /// Returns the address and the edge of each node that has exactly one of both.
    fn ends(&self) -> Vec<Option<(Addr, Edge)>> {
        let mut own = vec![(0, Addr(0)); self.forward.len()];
        for (number, at) in self.interfaces.iter().enumerate() {
            own[at.node] = (own[at.node].0 + 1, Addr::from_index(number));
        }
        self.elsewhere.iter().for_each(|at| own[at.node].0 += 1);
        let mut ways = vec![(0, None); self.forward.len()];
        for edge in &self.edges {
            ways[edge.from.node] = (ways[edge.from.node].0 + 1, Some(*edge));
        }
        let end = |((interfaces, own), (ways, edge)): ((u32, Addr), (u32, Option<Edge>))| {
            edge.filter(|_| interfaces == 1 && ways == 1).map(|edge| (own, edge))
        };
        own.into_iter().zip(ways).map(end).collect()
    }

    fn leads_everywhere(&self, routes: &Routes) -> bool {
        self.addresses().all(|(addr, _)| routes.get(addr).is_some())
    }

    /// Returns the routes of a node with a single gateway: to all destinations that the gateway can reach.
    fn through(&self, node: usize, gateway: usize, others: Route, onward: &Routes) -> Routes {
        let mut routes = Routes::default();
        for (addr, at) in self.addresses() {
            if at.node == node {
                routes.set(addr, Route::Local);
            } else if at.node == gateway || (self.forward[gateway] && onward.get(addr).is_some()) {
                routes.set(addr, others);
            }
        }
        routes
    }

    /// Adds the routes to one address by breadth-first search from the destination. Each node reached sends
    /// towards the node that it was reached from. `hops` is the maximum for all nodes before and after the
    /// call.
    fn reach(
        &self,
        addr: Addr,
        at: InterfaceRef,
        into: &[Vec<Edge>],
        hops: &mut [usize],
        tables: &mut Tables,
    ) {
        hops[at.node] = 0;
        let mut reached = vec![at.node];
        let mut next = 0;
        while let Some(&to) = reached.get(next) {
            next += 1;
            if to != at.node && !self.forward[to] {
                continue;
            }
            let own = into[to].iter().filter(|e| e.to == at);
            for edge in own.chain(into[to].iter().filter(|e| e.to != at)) {
                let (from, via) = (edge.from.node, Route::Via(edge.out, edge.peer));
                if hops[from] == usize::MAX {
                    hops[from] = hops[to] + 1;
                    reached.push(from);
                    tables.nodes[from].set(addr, via);
                }
                if hops[from] == hops[to] + 1
                    && let Some(bound) = &mut tables.bound[edge.out.index()]
                    && bound.get(addr).is_none()
                {
                    bound.set(addr, via);
                }
            }
        }
        reached.into_iter().for_each(|node| hops[node] = usize::MAX);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const fn at(node: usize, interface: usize) -> InterfaceRef {
        InterfaceRef { node, interface }
    }

    /// A host (0), an access point (1) and a station with two interfaces (2), both peers of the access point.
    fn network() -> Graph {
        let interfaces = vec![at(0, 0), at(1, 0), at(1, 1), at(2, 0), at(2, 1)];
        let number = |i: InterfaceRef| interfaces.iter().position(|&x| x == i).unwrap();
        let edge = |(from, peer, to): (InterfaceRef, u16, InterfaceRef)| Edge {
            from,
            out: IfId::from_index(number(from)),
            peer: PeerId(peer),
            to,
        };
        let edges = [
            (at(0, 0), 0, at(1, 0)),
            (at(1, 0), 0, at(0, 0)),
            (at(1, 1), 0, at(2, 0)),
            (at(1, 1), 1, at(2, 1)),
            (at(2, 0), 0, at(1, 1)),
            (at(2, 1), 0, at(1, 1)),
        ];
        let edges = edges.map(edge).to_vec();
        Graph { forward: vec![false, true, false], interfaces, elsewhere: None, edges }
    }

    fn via(interface: u16, peer: u16) -> Option<Route> {
        Some(Route::Via(IfId(interface), PeerId(peer)))
    }

    #[test]
    fn each_address_by_its_own_interface() {
        let tables = network().tables();
        let of = |node: usize| [0, 1, 2, 3, 4].map(|a| tables.nodes[node].get(Addr(a)));
        let local = Some(Route::Local);
        assert_eq!(of(0), [local, via(0, 0), via(0, 0), via(0, 0), via(0, 0)]);
        assert_eq!(of(1), [via(1, 0), local, local, via(2, 0), via(2, 1)]);
        assert_eq!(of(2), [via(3, 0), via(3, 0), via(3, 0), local, local]);
        let has_table = |routes: &Routes| matches!(routes, Routes::Table(_));
        assert_eq!(tables.nodes.iter().map(has_table).collect::<Vec<_>>(), [false, true, true]);
    }

    #[test]
    fn packets_leave_through_the_interface_of_their_source_address() {
        let tables = network().tables();
        assert!(tables.bound[0].is_none(), "a node with one interface needs none");
        let second = tables.bound[4].as_ref().unwrap();
        assert_eq!([0, 1, 2].map(|a| second.get(Addr(a))), [via(4, 0); 3]);
        // The wireless side of the access point leads to no host.
        assert_eq!(tables.bound[2].as_ref().unwrap().get(Addr(0)), None);
    }

    #[test]
    fn unknown_addresses_are_reached_through_one_interface() {
        let tables = Graph { elsewhere: Some(at(0, 0)), ..network() }.tables();
        let elsewhere = Addr(5);
        assert_eq!([1, 2].map(|node| tables.nodes[node].get(elsewhere)), [via(1, 0), via(3, 0)]);
        assert_eq!(tables.bound[4].as_ref().unwrap().get(elsewhere), via(4, 0));
        assert_eq!(network().tables().nodes[2].get(elsewhere), None);
    }

    #[test]
    fn only_forwarding_nodes_are_routes() {
        let tables = Graph { forward: vec![false; 3], ..network() }.tables();
        assert_eq!(tables.nodes[0].get(Addr(3)), None);
        assert_eq!(tables.nodes[0].get(Addr(2)), via(0, 0));
    }

    /// Random networks of forwarding and non-forwarding nodes, joined by links and associations.
    fn networks() -> impl Strategy<Value = Graph> {
        let nodes = prop::collection::vec((any::<bool>(), any::<bool>()), 2..9);
        let joints = prop::collection::vec((0_usize..9, 0_usize..9, any::<bool>()), 0..12);
        (nodes, joints, 0_usize..12).prop_map(|(nodes, joints, elsewhere)| {
            // For each node and interface, the joints that start or end there. The first interface of an
            // access point is its radio.
            let mut interfaces: Vec<Vec<Vec<(usize, bool)>>> =
                nodes.iter().map(|&(ap, _)| if ap { vec![Vec::new()] } else { Vec::new() }).collect();
            let joints = joints.into_iter().map(|(a, b, radio)| (a % nodes.len(), b % nodes.len(), radio));
            for (n, (a, b, radio)) in joints.filter(|(a, b, _)| a != b).enumerate() {
                match radio && nodes[a].0 {
                    true => interfaces[a][0].push((n, false)),
                    false => interfaces[a].push(vec![(n, false)]),
                }
                interfaces[b].push(vec![(n, true)]);
            }
            let all = interfaces.iter().enumerate();
            let all: Vec<_> = all.flat_map(|(n, i)| (0..i.len()).map(move |i| at(n, i))).collect();
            let joints_of = |i: InterfaceRef| &interfaces[i.node][i.interface];
            let mut edges = Vec::new();
            for (number, &from) in all.iter().enumerate() {
                for (peer, &(joint, end)) in joints_of(from).iter().enumerate() {
                    let other = all.iter().find(|i| joints_of(**i).contains(&(joint, !end)));
                    let (out, peer) = (IfId::from_index(number), PeerId::from_index(peer));
                    edges.push(Edge { from, out, peer, to: *other.unwrap() });
                }
            }
            let elsewhere = all.get(elsewhere).copied();
            Graph { forward: nodes.iter().map(|n| n.1).collect(), interfaces: all, elsewhere, edges }
        })
    }

    proptest! {
        /// Leaving end nodes out of the search changes no route.
        #[test]
        fn routes_do_not_depend_on_leaving_out_ends(network in networks()) {
            let all = network.addresses().count();
            let shown = |tables: &Tables| {
                let of = |routes: &Routes| (0..all).map(|n| routes.get(Addr::from_index(n))).collect::<Vec<_>>();
                let nodes = tables.nodes.iter().map(of).collect::<Vec<_>>();
                (nodes, tables.bound.iter().map(|bound| bound.as_ref().map(of)).collect::<Vec<_>>())
            };
            let searched = network.tables_but(&vec![None; network.forward.len()]);
            prop_assert_eq!(shown(&network.tables()), shown(&searched));
        }
    }
}
