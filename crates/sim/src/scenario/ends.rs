//! Chooses the interfaces whose addresses a flow's packets carry, if the scenario names the ends only by
//! node.

use std::collections::{BTreeMap, BTreeSet};

use super::{Attachment, InterfaceRef, Role, Scenario};

/// An end of a flow, as the scenario names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowEnd {
    /// The node.
    pub node: usize,
    /// The interface, if the scenario names one and the node has others.
    pub interface: Option<usize>,
}

/// Two interfaces joined by a link or an association: a node's own, and its neighbour's.
pub(super) type Joint = [InterfaceRef; 2];

/// Returns, for each node, the neighbours of its interfaces, in order.
pub(super) fn joints(scenario: &Scenario) -> Vec<Vec<Joint>> {
    let mut all = vec![Vec::new(); scenario.nodes.len()];
    let mut join = |a: InterfaceRef, b: InterfaceRef| {
        all[a.node].push([a, b]);
        all[b.node].push([b, a]);
    };
    for link in &scenario.links {
        join(link.ends[0], link.ends[1]);
    }
    for (node, n) in scenario.nodes.iter().enumerate() {
        for (interface, i) in n.interfaces.iter().enumerate() {
            if let Attachment::Wifi(wifi) = &i.medium
                && let Role::Station(station) = &wifi.role
            {
                join(InterfaceRef { node, interface }, station.ap);
            }
        }
    }
    all.iter_mut().for_each(|of| of.sort_by_key(|[own, _]| own.interface));
    all
}

/// The paths between the nodes of a scenario.
#[derive(Debug)]
pub struct Ways<'a> {
    scenario: &'a Scenario,
    joints: Vec<Vec<Joint>>,
}

impl<'a> Ways<'a> {
    /// Creates the paths of a scenario.
    pub fn new(scenario: &'a Scenario) -> Self {
        Self { scenario, joints: joints(scenario) }
    }

    /// Returns the interfaces whose addresses sender and receiver use. A receiver that is named only by its
    /// node is addressed at the interface where a shortest path from the sender arrives. A sender that is
    /// named only by its node uses the address of the interface through which its route to the receiver
    /// leaves. If several qualify, the first is used.
    // linux: net/ipv4/route.c ip_route_output_key (4.4) - an unbound socket uses the source address of the
    // route.
    // deviation: a server listens on all its addresses; in reality the client's resolver chooses among them.
    pub fn ends(&self, from: FlowEnd, to: FlowEnd) -> [InterfaceRef; 2] {
        if let (Some(from), Some(to)) = (self.known(from), self.known(to)) {
            return [from, to];
        }
        let hops = self.hops(from.node, to.node);
        let mut first: Vec<Joint> = self.onward(from.node, to.node, &hops).collect();
        let named = |[own, _]: &Joint| Some(own.interface) == from.interface;
        if first.iter().any(named) {
            first.retain(named);
        }
        let at = |node: usize, interface: usize| InterfaceRef { node, interface };
        let receiver = self
            .known(to)
            .or_else(|| self.entries(first.clone(), to.node, &hops).into_iter().min())
            .unwrap_or(at(to.node, 0));
        let comes_in = |joint: &&Joint| self.entries(vec![**joint], to.node, &hops).contains(&receiver);
        let leaves = || first.iter().find(comes_in).or(first.first()).map(|[own, _]| *own);
        [self.known(from).or_else(leaves).unwrap_or(at(from.node, 0)), receiver]
    }

    /// Returns all interfaces on the shortest paths between two interfaces, including both.
    pub fn passed(&self, from: InterfaceRef, to: InterfaceRef) -> BTreeSet<InterfaceRef> {
        let hops = self.hops(from.node, to.node);
        let (mut all, mut layer) = (BTreeSet::from([from, to]), BTreeSet::from([from.node]));
        while !layer.is_empty() {
            let joints: Vec<Joint> =
                layer.iter().flat_map(|&node| self.onward(node, to.node, &hops)).collect();
            layer = joints.iter().map(|[_, peer]| peer.node).collect();
            all.extend(joints.into_iter().flatten());
        }
        all
    }

    /// Returns the interface of an end that is unambiguous without a route.
    fn known(&self, end: FlowEnd) -> Option<InterfaceRef> {
        let only = (self.scenario.nodes[end.node].interfaces.len() == 1).then_some(0);
        end.interface.or(only).map(|interface| InterfaceRef { node: end.node, interface })
    }

    /// Returns the hop count to `to` for each node that is at most as far from `to` as `from`.
    fn hops(&self, from: usize, to: usize) -> BTreeMap<usize, u32> {
        let (mut hops, mut layer) = (BTreeMap::from([(to, 0)]), vec![to]);
        for away in 1.. {
            let mut next = Vec::new();
            for node in layer.into_iter().filter(|&n| n == to || self.scenario.nodes[n].forward) {
                for [_, peer] in &self.joints[node] {
                    hops.entry(peer.node).or_insert_with(|| {
                        next.push(peer.node);
                        away
                    });
                }
            }
            if next.is_empty() || hops.contains_key(&from) {
                break;
            }
            layer = next;
        }
        hops
    }

    /// Returns the first joints of the shortest paths from a node to another.
    fn onward(&self, node: usize, to: usize, hops: &BTreeMap<usize, u32>) -> impl Iterator<Item = Joint> {
        let passes = move |n: usize| n == to || self.scenario.nodes[n].forward;
        let nearer = hops.get(&node).and_then(|away| away.checked_sub(1));
        let joints = self.joints[node].iter().copied();
        joints.filter(move |[_, peer]| {
            nearer.is_some() && hops.get(&peer.node).copied() == nearer && passes(peer.node)
        })
    }

    /// Returns the interfaces at which the shortest paths that start with these joints arrive.
    fn entries(
        &self,
        mut joints: Vec<Joint>,
        to: usize,
        hops: &BTreeMap<usize, u32>,
    ) -> BTreeSet<InterfaceRef> {
        // All of them are equally far from the destination.
        while joints.first().is_some_and(|[_, peer]| peer.node != to) {
            let nodes: BTreeSet<usize> = joints.iter().map(|[_, peer]| peer.node).collect();
            joints = nodes.into_iter().flat_map(|node| self.onward(node, to, hops)).collect();
        }
        joints.into_iter().map(|[_, peer]| peer).collect()
    }
}
