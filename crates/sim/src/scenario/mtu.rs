//! MTUs of links and channels, and checks that a flow's packets fit its path. Fragmentation is not modelled.

use stillair_model::app::voip_payload;
use stillair_model::types::{Ip, UDP_HEADER};

use super::document::Table;
use super::ends::Ways;
use super::error::{Diagnostic, Diagnostics};
pub use super::network::ETHERNET;
use super::{Attachment, Flow, FlowKind, Host, InterfaceRef, Scenario};

/// Minimum MTU for IPv6.
// spec: rfc8200 5.
const LEAST_V6: u32 = 1280;

/// Bytes of a TCP header without options.
const TCP_HEADER: u32 = 20;

impl Scenario {
    /// Returns the MTU of the link or channel of an interface.
    fn mtu(&self, at: InterfaceRef) -> u32 {
        match &self.nodes[at.node].interfaces[at.interface].medium {
            Attachment::Wired { link } => self.links[*link].mtu,
            Attachment::Wifi(wifi) => self.channels[wifi.channel].mtu,
        }
    }

    /// Returns true if any link or channel has an MTU other than Ethernet's.
    fn has_other_mtus(&self) -> bool {
        self.links.iter().map(|l| l.mtu).chain(self.channels.iter().map(|c| c.mtu)).any(|mtu| mtu != ETHERNET)
    }
}

/// Path MTUs.
#[derive(Debug)]
pub struct Mtus<'a> {
    scenario: &'a Scenario,
    /// `None` if all MTUs are Ethernet's.
    ways: Option<Ways<'a>>,
}

impl<'a> Mtus<'a> {
    /// Computes the path MTUs of a scenario.
    pub fn new(scenario: &'a Scenario) -> Self {
        Self { scenario, ways: scenario.has_other_mtus().then(|| Ways::new(scenario)) }
    }

    /// Returns the smallest MTU on the shortest paths between two interfaces, in bytes.
    pub fn of(&self, from: InterfaceRef, to: InterfaceRef) -> u32 {
        let Some(ways) = &self.ways else { return ETHERNET };
        let passed = ways.passed(from, to);
        passed.into_iter().map(|at| self.scenario.mtu(at)).min().unwrap_or(ETHERNET)
    }

    /// Returns the maximum payload of a TCP segment without options, in bytes.
    pub fn segment(&self, from: InterfaceRef, to: InterfaceRef, ip: Ip) -> u16 {
        (self.of(from, to) - ip.header() - TCP_HEADER) as u16
    }
}

/// Rejects flows with packets larger than their path MTU.
pub(super) fn check(scenario: &Scenario, tree: &Table) -> Result<(), Diagnostic> {
    external(scenario, tree)?;
    let mut wrong = Diagnostics::default();
    let len = |flow: &Flow, payload| payload + UDP_HEADER + flow.ip.header();
    let is_long = |flow: &Flow| longest(&flow.kind).is_some_and(|(_, most)| len(flow, most) > ETHERNET);
    if !scenario.has_other_mtus() && !scenario.flows.iter().any(is_long) {
        return Ok(());
    }
    let (ways, mtus) = (Ways::new(scenario), Mtus::new(scenario));
    for flow in &scenario.flows {
        for &to in &flow.to {
            let [from, at] = ways.ends(flow.from, to);
            let (mtu, name) = (mtus.of(from, at), scenario.end_name(to));
            if flow.ip == Ip::V6 && mtu < LEAST_V6 {
                let found = format!("6 on a path to {name:?} whose MTU is {mtu}");
                let right =
                    format!("4, or an mtu of at least {LEAST_V6} on all of the path, as IPv6 asks for");
                wrong.add(fault(tree, flow, "ip", found, right));
                break;
            }
            let Some((key, payload)) = longest(&flow.kind) else { continue };
            let (headers, len) = (UDP_HEADER + flow.ip.header(), len(flow, payload));
            if len > mtu {
                let found = format!(
                    "{payload} bytes of payload, with the headers of IPv{} {len}, on a path to {name:?} whose MTU is {mtu}",
                    flow.ip.version()
                );
                let right = format!("at most {} bytes, as nothing is fragmented", mtu - headers);
                wrong.add(fault(tree, flow, key, found, right));
                break;
            }
        }
    }
    wrong.or(())
}

fn fault(tree: &Table, flow: &Flow, key: &str, found: String, expected: String) -> Diagnostic {
    let Some(number) = flow.table else {
        return Diagnostic::new(tree.origin_of(&["test"]), "test".to_owned(), found, expected);
    };
    let origin = tree.origin_of(&["flow", &number.to_string(), key]);
    Diagnostic::new(origin, format!("flow.{number}.{key}"), found, expected)
}

/// Returns the key and value of the largest UDP or echo payload that a flow sends; `None` for TCP, which
/// adapts to the path.
fn longest(kind: &FlowKind) -> Option<(&'static str, u32)> {
    match kind {
        FlowKind::Udp { payload, .. }
        | FlowKind::Ping { payload, .. }
        | FlowKind::UdpPing { payload, .. } => Some(("payload", *payload)),
        FlowKind::Video(params) => {
            let [ordinary, key] = params.frames().map(|frame| params.packets(frame).1);
            Some(("payload", ordinary.max(key)))
        }
        FlowKind::Voip { interval } => Some(("interval", voip_payload(*interval))),
        FlowKind::Quic(quic) => Some(("packet", quic.largest())),
        FlowKind::Tcp { .. } | FlowKind::Web { .. } | FlowKind::Responsiveness(_) => None,
    }
}

/// Rejects an MTU in scenarios with external hosts.
fn external(scenario: &Scenario, tree: &Table) -> Result<(), Diagnostic> {
    if scenario.nodes.iter().all(|node| node.host == Host::Model) {
        return Ok(());
    }
    let links = scenario.links.iter().map(|l| ("link", &l.name, l.mtu));
    let channels = scenario.channels.iter().map(|c| ("channel", &c.name, c.mtu));
    match links.chain(channels).find(|(.., mtu)| *mtu != ETHERNET) {
        None => Ok(()),
        Some((kind, name, mtu)) => Err(Diagnostic::new(
            tree.origin_of(&[kind, name, "mtu"]),
            format!("{kind}.{name}.mtu"),
            format!("{mtu} in a scenario with an external host, whose packets are not measured against it"),
            "1500, or no external host",
        )),
    }
}
