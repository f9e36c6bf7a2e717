//! What a scenario with outside hosts may not say.

use stillair_model::vocabulary::Duration;

use super::document::{Table, Value};
use super::error::Fault;
use super::{Host, Scenario};

/// Length of a run with outside hosts that the scenario leaves open: whoever drives it stops before. It is the longest time that a
/// scenario can name.
pub(super) const LENGTH: Duration = Duration::from_secs(1_000_000);

/// Whether a node says that it is an outside host, itself or by the node that it is like.
pub(super) fn has_hosts(tree: &Table) -> bool {
    let Some(Value::Table(nodes)) = tree.get("node").map(|nodes| &nodes.value) else { return false };
    nodes.0.iter().any(|(_, node)| match &node.value {
        Value::Table(node) => {
            matches!(node.get("host").map(|host| &host.value), Some(Value::String(host)) if host == "outside")
        }
        _ => false,
    })
}

impl Scenario {
    /// Whether its length is left to whoever drives it.
    pub fn is_open_ended(&self) -> bool {
        self.duration == LENGTH && self.nodes.iter().any(|node| node.host == Host::Outside)
    }

    /// Whether it runs in virtual time alone. Otherwise the message says what it asks for.
    pub fn needs_no_driver(&self) -> Result<(), String> {
        match self.nodes.iter().find(|node| node.host == Host::Outside) {
            None => Ok(()),
            Some(node) => Err(format!(
                "node.{}.host: found \"outside\", and a driver must let the packets of such a host in and out; expected \"model\" to run the \
                 scenario in virtual time alone",
                node.name
            )),
        }
    }
}

/// Refuses flows that begin or end at outside hosts, and a second default route.
pub(super) fn check(scenario: &Scenario, tree: &Table) -> Result<(), Fault> {
    flows(scenario, tree)?;
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
    let outside = |node: usize| scenario.nodes[node].host == Host::Outside;
    for (f, flow) in scenario.flows.iter().enumerate() {
        let receiver = || flow.to.iter().position(|to| outside(to.node));
        let (node, end, receiver) = match (outside(flow.from.node), receiver()) {
            (true, _) => (flow.from.node, "from", None),
            (false, Some(t)) => (flow.to[t].node, "to", Some(t.to_string())),
            (false, None) => continue,
        };
        let number = flow.table.unwrap_or(f).to_string();
        let mut keys = if flow.series.is_some() { vec!["test", end] } else { vec!["flow", &number, end] };
        let path = keys.join(".");
        keys.extend(receiver.as_deref());
        return Err(Fault::new(
            tree.origin_of(&keys),
            path,
            format!("{:?}, which is an outside host", scenario.nodes[node].name),
            "a modelled host: what an outside host sends is up to its driver",
        ));
    }
    Ok(())
}
