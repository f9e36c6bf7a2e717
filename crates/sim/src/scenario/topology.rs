//! Checks that packets of each flow have a route to their destination.

use std::collections::{BTreeSet, VecDeque};

use super::Scenario;
use super::document::Table;
use super::ends::{Joint, Ways, joints};
use super::error::{Diagnostic, Diagnostics};

/// Rejects flows without a route to their destination or back.
pub(super) fn check(scenario: &Scenario, tree: &Table) -> Result<(), Diagnostic> {
    let neighbours = joints(scenario);
    let mut wrong = Diagnostics::default();
    // Many flows have the same sender, and each non-forwarding node is reported once.
    let (mut last, mut blamed) = (None, BTreeSet::new());
    for (f, flow) in scenario.flows.iter().enumerate() {
        let (_, reached) = match last.take() {
            Some((from, reached)) if from == flow.from.node => last.insert((from, reached)),
            _ => last.insert((flow.from.node, search(scenario, &neighbours, flow.from.node, false))),
        };
        let to = flow.to.iter().map(|to| to.node).enumerate();
        let Some((t, to)) = to.into_iter().find(|(_, to)| reached[*to].is_none()) else {
            wrong.unless(once(scenario, f, tree));
            continue;
        };
        let name = |node: usize| scenario.nodes[node].name.as_str();
        // If forwarding everywhere would give a path, blame the first node on it that does not forward.
        let all = search(scenario, &neighbours, flow.from.node, true);
        let mut way: Vec<usize> = core::iter::successors(all[to], |n| all[*n].filter(|p| p != n)).collect();
        way.reverse();
        if let Some(refuses) = way.iter().skip(1).find(|n| !scenario.nodes[**n].forward) {
            if blamed.insert(*refuses) {
                let node = name(*refuses);
                let (from, to) = (name(flow.from.node), name(to));
                wrong.add(Diagnostic::new(
                    tree.origin_of(&["node", node, "forward"]),
                    format!("node.{node}.forward"),
                    format!("a node between {from:?} and {to:?} that does not forward"),
                    "forward = true",
                ));
            }
            continue;
        }
        if flow.series.is_some() {
            wrong.add(Diagnostic::new(
                tree.origin_of(&["test", "to"]),
                "test.to".to_owned(),
                format!("{:?}, and no way leads from {:?} to {:?}", name(to), name(flow.from.node), name(to)),
                "nodes joined by links or channels",
            ));
            continue;
        }
        let f = flow.table.unwrap_or(f);
        let (number, element) = (f.to_string(), t.to_string());
        wrong.add(Diagnostic::new(
            tree.origin_of(&["flow", &number, "to", &element]),
            format!("flow.{f}.to"),
            format!("{:?}, to which no way leads from {:?}", name(to), name(flow.from.node)),
            "nodes joined by links or channels",
        ));
    }
    wrong.or(())
}

/// Rejects a flow that names the same receiving interface twice, directly or through its node.
fn once(scenario: &Scenario, f: usize, tree: &Table) -> Result<(), Diagnostic> {
    let flow = &scenario.flows[f];
    let nodes: BTreeSet<usize> = flow.to.iter().map(|to| to.node).collect();
    if nodes.len() == flow.to.len() {
        return Ok(());
    }
    let f = flow.table.unwrap_or(f);
    let (ways, mut reached) = (Ways::new(scenario), BTreeSet::new());
    for (t, &to) in flow.to.iter().enumerate() {
        if !reached.insert(ways.ends(flow.from, to)[1]) {
            return Err(Diagnostic::new(
                tree.origin_of(&["flow", &f.to_string(), "to", &t.to_string()]),
                format!("flow.{f}.to.{t}"),
                format!("{:?} a second time", scenario.end_name(to)),
                "each receiver once",
            ));
        }
    }
    Ok(())
}

/// Returns for each node its predecessor on a shortest path from `from`: `from` for itself, `None` if
/// unreachable.
fn search(
    scenario: &Scenario,
    neighbours: &[Vec<Joint>],
    from: usize,
    all_forward: bool,
) -> Vec<Option<usize>> {
    let mut before = vec![None; neighbours.len()];
    before[from] = Some(from);
    let mut open = VecDeque::from([from]);
    while let Some(node) = open.pop_front() {
        // An external host forwards packets with bytes, which modelled packets lack.
        let passes =
            !scenario.nodes[node].host.is_external() && (all_forward || scenario.nodes[node].forward);
        if node != from && !passes {
            continue;
        }
        for [_, next] in &neighbours[node] {
            if before[next.node].is_none() {
                before[next.node] = Some(node);
                open.push_back(next.node);
            }
        }
    }
    before
}
