//! Routes for every address: by the fewest hops, as a person would set them up.

use stillair_model::node::routes::{Route, Routes};
use stillair_model::vocabulary::{Addr, IfId, PeerId};

use crate::scenario::InterfaceRef;

/// A way from one interface to a neighbour's.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    /// Whose packets take it.
    pub(super) from: InterfaceRef,
    /// The same by its number.
    pub(super) out: IfId,
    /// The neighbour among its device's peers.
    pub(super) peer: PeerId,
    /// Where they come in.
    pub(super) to: InterfaceRef,
}

/// The routes of a scenario.
pub(super) struct Tables {
    /// By node.
    pub(super) nodes: Vec<Routes>,
    /// By interface: what the packets that bear its address can reach through it, where its node has several.
    pub(super) bound: Vec<Option<Routes>>,
}

/// What there is to be routed.
pub(super) struct Network {
    /// By node: whether it passes packets on.
    pub(super) forward: Vec<bool>,
    /// All interfaces in the order of their numbers; an interface's address is known by that number.
    pub(super) interfaces: Vec<InterfaceRef>,
    /// All ways, in the order of the interfaces they lead from.
    pub(super) edges: Vec<Edge>,
}

impl Network {
    /// Finds all routes. Of equally short ways to an address the one that comes in at its own interface is taken, and of
    /// those the one through the earlier interface.
    pub(super) fn tables(&self) -> Tables {
        let several = |at: &InterfaceRef| self.interfaces.iter().filter(|i| i.node == at.node).count() > 1;
        let mut tables = Tables {
            nodes: vec![Routes::default(); self.forward.len()],
            bound: self.interfaces.iter().map(|at| several(at).then(Routes::default)).collect(),
        };
        let mut into: Vec<Vec<Edge>> = vec![Vec::new(); self.forward.len()];
        for edge in &self.edges {
            into[edge.to.node].push(*edge);
        }
        for (number, &at) in self.interfaces.iter().enumerate() {
            self.reach(Addr::from_index(number), at, &into, &mut tables);
        }
        tables
    }

    /// The routes to one address, breadth first from it: whoever is reached sends towards whom it was reached from.
    fn reach(&self, addr: Addr, at: InterfaceRef, into: &[Vec<Edge>], tables: &mut Tables) {
        let mut hops = vec![usize::MAX; self.forward.len()];
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
        tables.nodes[at.node].set(addr, Route::Local);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(node: usize, interface: usize) -> InterfaceRef {
        InterfaceRef { node, interface }
    }

    /// A host (0), an access point (1) and a station with two interfaces (2), of which the access point knows each.
    fn network() -> Network {
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
        Network { forward: vec![false, true, false], interfaces, edges }
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
    }

    #[test]
    fn packets_that_bear_an_address_leave_by_its_interface() {
        let tables = network().tables();
        assert!(tables.bound[0].is_none(), "a node with one interface needs none");
        let second = tables.bound[4].as_ref().unwrap();
        assert_eq!([0, 1, 2].map(|a| second.get(Addr(a))), [via(4, 0); 3]);
        // The wireless side of the access point leads to no host.
        assert_eq!(tables.bound[2].as_ref().unwrap().get(Addr(0)), None);
    }

    #[test]
    fn who_does_not_forward_is_no_way() {
        let tables = Network { forward: vec![false; 3], ..network() }.tables();
        assert_eq!(tables.nodes[0].get(Addr(3)), None);
        assert_eq!(tables.nodes[0].get(Addr(2)), via(0, 0));
    }
}
