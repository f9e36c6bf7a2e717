//! Finds the islands of a scenario: parts that exchange no packets and hear none of each other's frames.

use stillair_model::node::wake::Wake;
use stillair_model::types::NodeId;

use super::super::owned::Islands;
use super::Plan;
use crate::scenario::{InterfaceRef, Node, Scenario, Ways};

/// Disjoint sets of interfaces, represented by their first interface.
struct Sets(Vec<usize>);

impl Sets {
    fn first(&mut self, mut n: usize) -> usize {
        while self.0[n] != n {
            self.0[n] = self.0[self.0[n]];
            n = self.0[n];
        }
        n
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.first(a), self.first(b));
        self.0[a.max(b)] = a.min(b);
    }

    fn join_all(&mut self, all: impl IntoIterator<Item = usize>) {
        let mut all = all.into_iter();
        if let Some(first) = all.next() {
            all.for_each(|other| self.join(first, other));
        }
    }

    fn is_one(&mut self) -> bool {
        (0..self.0.len()).all(|n| self.first(n) == 0)
    }
}

/// Returns true if a host's interfaces are independent: the host does not forward, and its processes run at
/// the end of the softirq that wakes them, so no process waits for another.
fn is_many(node: &Node) -> bool {
    !node.forward && !node.host.is_external() && node.wake == Wake::Softirq
}

/// Returns the islands of a scenario. `None` if the scenario is connected, or has external hosts or multicast
/// flows.
///
/// Interfaces are on the same island if they are at both ends of a link, on one channel, on a forwarding
/// node, or at both ends of a flow. A host that does not forward may be on many islands, such as a server
/// behind many access points.
pub fn islands(scenario: &Scenario) -> Option<Islands> {
    let alone = scenario.nodes.iter().any(|node| node.host.is_external())
        || scenario.flows.iter().any(|flow| flow.multicast);
    if alone {
        return None;
    }
    let plan = Plan::new(scenario);
    let mut sets = Sets((0..plan.devs.len()).collect());
    for (node, &first) in scenario.nodes.iter().zip(&plan.first_interface).filter(|(node, _)| !is_many(node))
    {
        sets.join_all(first..first + node.interfaces.len());
    }
    scenario.links.iter().for_each(|link| sets.join_all(link.ends.map(|end| plan.id(end).index())));
    let mut on: Vec<Option<usize>> = vec![None; scenario.channels.len()];
    for &at in &plan.interfaces_of_devs {
        let (channel, id) = (&mut on[plan.wifi_of(at).channel], plan.id(at).index());
        sets.join(channel.get_or_insert(id).to_owned(), id);
    }
    if sets.is_one() {
        return None;
    }
    let (tables, ways) = (plan.graph().tables(), Ways::new(scenario));
    let mut apps = Vec::new();
    for (flow, &to) in scenario.flows.iter().flat_map(|flow| flow.to.iter().map(move |to| (flow, to))) {
        let [from, to] = ways.ends(flow.from, to);
        let leaves = |at: InterfaceRef, other: InterfaceRef| {
            let (src, dst) = (plan.addr(at), plan.addr(other));
            tables.leaves(NodeId::from_index(at.node), src, dst).map(|out| out.index())
        };
        let ends = [from, to].map(|end| plan.id(end).index());
        sets.join_all(ends.into_iter().chain(leaves(from, to)).chain(leaves(to, from)));
        apps.push(ends[0]);
    }
    if sets.is_one() {
        return None;
    }
    // Islands are numbered in the order of their first interfaces.
    let mut numbers = vec![u16::MAX; plan.devs.len()];
    let mut count = 0;
    let mut interfaces = Vec::with_capacity(plan.devs.len());
    for n in 0..plan.devs.len() {
        let number = &mut numbers[sets.first(n)];
        if *number == u16::MAX {
            *number = count;
            count += 1;
        }
        interfaces.push(*number);
    }
    let of = |at: InterfaceRef| interfaces[plan.id(at).index()];
    let devs: Vec<u16> = plan.interfaces_of_devs.iter().map(|&at| of(at)).collect();
    let mut radios = vec![0; plan.radios.len()];
    plan.radios.iter().zip(&devs).for_each(|(radio, &island)| radios[radio.index()] = island);
    radios.truncate(plan.radios.iter().map(|radio| radio.index() + 1).max().unwrap_or(0));
    // An unused channel may be on any island.
    let channels = on.into_iter().map(|first| first.map_or(0, |n| interfaces[n])).collect();
    let links = scenario.links.iter().flat_map(|link| [of(link.ends[0]); 2]);
    let shaped: Vec<u16> = scenario.shaped().map(of).collect();
    let wires = links.chain(shaped.iter().copied()).collect();
    let apps = apps.into_iter().map(|n| interfaces[n]).collect();
    let stations = plan.stations.iter().map(|&at| of(at)).collect();
    interfaces.extend(shaped);
    Some(Islands { count, interfaces, devs, radios, channels, wires, apps, stations })
}
