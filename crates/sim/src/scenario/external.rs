//! Hosts outside the model, and restrictions on scenarios that contain them.

use stillair_model::types::Duration;

use super::document::{Table, Value};
use super::error::{Diagnostic, Diagnostics};
use super::{Flow, FlowKind, Scenario};

/// Length of a run with external hosts if the scenario sets none: the longest time that a scenario can state.
/// The driver stops the run earlier.
pub const OPEN: Duration = Duration::from_secs(1_000_000);

/// Kind of host, which sends and receives the packets of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Host {
    /// The model.
    #[default]
    Model,
    /// A host outside the model, through a driver.
    External,
    /// A real Linux host outside the model (live).
    Live,
    /// A real Linux kernel in virtual time, run by the crate `stillair-uml`.
    Uml,
}

impl Host {
    /// Returns true if the host's packets come from outside the model.
    pub const fn is_external(self) -> bool {
        matches!(self, Self::External | Self::Live | Self::Uml)
    }
}

/// Returns true if any node is an external host whose driver may end the run, directly or by `inherits`.
pub(super) fn has_hosts(tree: &Table) -> bool {
    let Some(Value::Table(nodes)) = tree.get("node").map(|nodes| &nodes.value) else { return false };
    nodes.0.iter().any(|(_, node)| match &node.value {
        Value::Table(node) => {
            // Guests run only for the length of the scenario.
            matches!(node.get("host").map(|host| &host.value), Some(Value::String(host)) if host == "external" || host == "live")
        }
        _ => false,
    })
}

impl Scenario {
    /// Returns true if the driver decides the length of the run.
    pub fn is_open_ended(&self) -> bool {
        self.duration == OPEN && self.nodes.iter().any(|node| node.host.is_external())
    }

    /// Names of the external hosts, in order.
    pub fn external_hosts(&self) -> Vec<String> {
        let external = self.nodes.iter().filter(|node| node.host.is_external());
        external.map(|node| node.name.clone()).collect()
    }

    /// Checks that the scenario runs entirely in virtual time. The error names the part that needs a driver.
    pub fn needs_no_driver(&self) -> Result<(), String> {
        match self.nodes.iter().find(|node| node.host.is_external()) {
            None => Ok(()),
            Some(node) if node.host == Host::Live => Err(format!(
                "node.{}.host: found \"live\", which is a real host in real time; expected 'stillair live', or \"model\" to run the scenario in \
                 virtual time",
                node.name
            )),
            Some(node) if node.host == Host::Uml => Err(format!(
                "node.{}.host: found a kernel in virtual time, which is run by 'stillair run' on Linux with a kernel of 'stillair kernel build'; \
                 expected \"model\" to run the scenario by the model alone",
                node.name
            )),
            Some(node) => Err(format!(
                "node.{}.host: found \"external\", and a driver must let the packets of such a host in and out; expected \"model\" to run the \
                 scenario in virtual time alone",
                node.name
            )),
        }
    }
}

/// Moves flows between live hosts or guests out of the modelled flows.
pub(super) fn apart(mut scenario: Scenario) -> Scenario {
    let live = |flow: &Flow| matches!(scenario.nodes[flow.from.node].host, Host::Live | Host::Uml);
    (scenario.live_flows, scenario.flows) = scenario.flows.into_iter().partition(live);
    scenario
}

/// Rejects flows between a modelled and another host, flows that start or end at an `external` host, and a
/// second default route.
pub(super) fn check(scenario: &Scenario, tree: &Table) -> Result<(), Diagnostic> {
    let mut wrong = Diagnostics::default();
    wrong.unless(flows(scenario, tree));
    wrong.unless(routes(scenario, tree));
    wrong.or(())
}

/// Checks that there is only one default route.
fn routes(scenario: &Scenario, tree: &Table) -> Result<(), Diagnostic> {
    let all = scenario.nodes.iter().flat_map(|node| node.interfaces.iter().map(move |i| (&node.name, i)));
    let mut all = all.filter(|(_, interface)| interface.default_route);
    match (all.next(), all.next()) {
        (Some((first, a)), Some((second, b))) => {
            let keys = ["node", second, "interface", &b.name, "default_route"];
            let found = format!("true, as {:?} has it", format!("{first}.{}", a.name));
            Err(Diagnostic::new(
                tree.origin_of(&keys),
                keys.join("."),
                found,
                "one default route in a scenario",
            ))
        }
        _ => Ok(()),
    }
}

fn flows(scenario: &Scenario, tree: &Table) -> Result<(), Diagnostic> {
    let host = |node: usize| scenario.nodes[node].host;
    let mut wrong = Diagnostics::default();
    for (f, flow) in scenario.flows.iter().enumerate() {
        let from = host(flow.from.node);
        // Returns true if the two ends can be combined.
        let fits = |to: Host| match (from, to) {
            (_, Host::External) => false,
            // A modelled host's driver answers pings.
            (Host::Uml, Host::Model) => matches!(flow.kind, FlowKind::Ping { .. }),
            _ => from == to,
        };
        let other = flow.to.iter().position(|to| !fits(host(to.node)));
        let (node, end, receiver) = match (from, other) {
            (Host::External, _) => (flow.from.node, "from", None),
            (_, Some(t)) if host(flow.to[t].node) != Host::Model => {
                (flow.to[t].node, "to", Some(t.to_string()))
            }
            (Host::Live | Host::Uml, Some(_)) => (flow.from.node, "from", None),
            _ => continue,
        };
        let (what, expected) = match host(node) {
            Host::Live => {
                ("a live host", "both ends modelled, or both live: a real tool runs between live hosts")
            }
            Host::Uml => (
                "a guest",
                "both ends modelled, or both guests: programs run in guests; a ping may go from a guest to a modelled host",
            ),
            _ => ("an external host", "a modelled host: what an external host sends is up to its driver"),
        };
        let number = flow.table.unwrap_or(f).to_string();
        let mut keys = if flow.series.is_some() { vec!["test", end] } else { vec!["flow", &number, end] };
        let path = keys.join(".");
        keys.extend(receiver.as_deref());
        let found = format!("{:?}, which is {what}", scenario.nodes[node].name);
        wrong.add(Diagnostic::new(tree.origin_of(&keys), path, found, expected));
    }
    wrong.or(())
}
