//! Hosts outside the model, and what a scenario with them may not say.

use stillair_model::vocabulary::Duration;

use super::document::{Table, Value};
use super::error::{Fault, Mistakes};
use super::{Flow, Scenario};

/// Length of a run with outside hosts that the scenario leaves open: whoever drives it stops before. It is the longest time that a
/// scenario can name.
pub const OPEN: Duration = Duration::from_secs(1_000_000);

/// Who makes a node's packets and takes what comes for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Host {
    /// The model.
    #[default]
    Model,
    /// A host outside, through a driver.
    Outside,
    /// The same, and what drives it is a real Linux host.
    Live,
}

impl Host {
    /// Whether its packets come from outside the model.
    pub const fn is_outside(self) -> bool {
        matches!(self, Self::Outside | Self::Live)
    }
}

/// Whether a node says that it is an outside host, itself or by the node that it is like.
pub(super) fn has_hosts(tree: &Table) -> bool {
    let Some(Value::Table(nodes)) = tree.get("node").map(|nodes| &nodes.value) else { return false };
    nodes.0.iter().any(|(_, node)| match &node.value {
        Value::Table(node) => {
            matches!(node.get("host").map(|host| &host.value), Some(Value::String(host)) if host == "outside" || host == "live")
        }
        _ => false,
    })
}

impl Scenario {
    /// Whether its length is left to whoever drives it.
    pub fn is_open_ended(&self) -> bool {
        self.duration == OPEN && self.nodes.iter().any(|node| node.host.is_outside())
    }

    /// Names of its outside hosts, in their order.
    pub fn outside_hosts(&self) -> Vec<String> {
        let outside = self.nodes.iter().filter(|node| node.host.is_outside());
        outside.map(|node| node.name.clone()).collect()
    }

    /// Whether it runs in virtual time alone. Otherwise the message says what it asks for.
    pub fn needs_no_driver(&self) -> Result<(), String> {
        match self.nodes.iter().find(|node| node.host.is_outside()) {
            None => Ok(()),
            Some(node) if node.host == Host::Live => Err(format!(
                "node.{}.host: found \"live\", which is a real host in real time; expected 'stillair live', or \"model\" to run the scenario in \
                 virtual time",
                node.name
            )),
            Some(node) => Err(format!(
                "node.{}.host: found \"outside\", and a driver must let the packets of such a host in and out; expected \"model\" to run the \
                 scenario in virtual time alone",
                node.name
            )),
        }
    }
}

/// Takes the flows between live hosts apart from those of the model.
pub(super) fn apart(mut scenario: Scenario) -> Scenario {
    let live = |flow: &Flow| scenario.nodes[flow.from.node].host == Host::Live;
    (scenario.live_flows, scenario.flows) = scenario.flows.into_iter().partition(live);
    scenario
}

/// Refuses flows with one modelled and one other end, or with an end at a host whose driver is not ours, and a second default route.
pub(super) fn check(scenario: &Scenario, tree: &Table) -> Result<(), Fault> {
    let mut wrong = Mistakes::default();
    wrong.unless(flows(scenario, tree));
    wrong.unless(routes(scenario, tree));
    wrong.or(())
}

/// One default route alone.
fn routes(scenario: &Scenario, tree: &Table) -> Result<(), Fault> {
    let all = scenario.nodes.iter().flat_map(|node| node.interfaces.iter().map(move |i| (&node.name, i)));
    let mut all = all.filter(|(_, interface)| interface.default_route);
    match (all.next(), all.next()) {
        (Some((first, a)), Some((second, b))) => {
            let keys = ["node", second, "interface", &b.name, "default_route"];
            let found = format!("true, as {:?} has it", format!("{first}.{}", a.name));
            Err(Fault::new(tree.origin_of(&keys), keys.join("."), found, "one default route in a scenario"))
        }
        _ => Ok(()),
    }
}

fn flows(scenario: &Scenario, tree: &Table) -> Result<(), Fault> {
    let host = |node: usize| scenario.nodes[node].host;
    let mut wrong = Mistakes::default();
    for (f, flow) in scenario.flows.iter().enumerate() {
        let from = host(flow.from.node);
        // The first end that the other does not go with.
        let other = flow.to.iter().position(|to| host(to.node) == Host::Outside || host(to.node) != from);
        let (node, end, receiver) = match (from, other) {
            (Host::Outside, _) => (flow.from.node, "from", None),
            (_, Some(t)) if host(flow.to[t].node) != Host::Model => {
                (flow.to[t].node, "to", Some(t.to_string()))
            }
            (Host::Live, Some(_)) => (flow.from.node, "from", None),
            _ => continue,
        };
        let (what, expected) = match host(node) {
            Host::Live => {
                ("a live host", "both ends modelled, or both live: a real tool runs between live hosts")
            }
            _ => ("an outside host", "a modelled host: what an outside host sends is up to its driver"),
        };
        let number = flow.table.unwrap_or(f).to_string();
        let mut keys = if flow.series.is_some() { vec!["test", end] } else { vec!["flow", &number, end] };
        let path = keys.join(".");
        keys.extend(receiver.as_deref());
        let found = format!("{:?}, which is {what}", scenario.nodes[node].name);
        wrong.add(Fault::new(tree.origin_of(&keys), path, found, expected));
    }
    wrong.or(())
}
