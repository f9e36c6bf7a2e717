//! Keys that have no effect in this scenario without being errors, such as the keys of another scheme left in
//! the file while one scheme is tried. Each gives a note. Keys copied by `inherits` give none.

use std::borrow::Cow;

use stillair_model::qdisc::QdiscConfig;
use stillair_model::qdisc::cake::AckFilter;
use stillair_model::types::Duration;
use stillair_model::wifi::seq_window::SeqWindow;
use stillair_model::wire::WireParams;

use super::super::document::{Table, Value, join};
use super::super::error::Origin;
use super::super::parts::Parts;
use super::super::quic::QuicFlow;
use super::super::quinn::{QuicStack, QuinnControl};
use super::super::reader::{Field, flatten};
use super::super::shaped::shaped;
use super::super::{
    Attachment, CongestionControl, Errors, Flow, FlowKind, GivenErrors, Interface, InterfaceRef, Link, Node,
    Role, Wifi,
};

/// Prefix of congestion-control parameters.
const OF_TCP: &str = "tcp_";

/// Formats the note on a key.
fn note(key: &str, value: &Value, why: &str, right: &str) -> String {
    format!("{key}: {} has no effect {why}; {right}", value.describe())
}

/// Notes on nodes. `field` is the scenario's own text, `merged` includes inherited keys.
pub(super) fn of_nodes(
    field: &Field<'_>,
    merged: &[(&str, Origin, Cow<'_, Table>)],
    nodes: &[Node],
    links: &[Link],
    flows: &[Flow],
    end: Duration,
) -> Vec<String> {
    let used: Vec<Used<'_>> = used(nodes, flows);
    let mut notes = Vec::new();
    for (index, ((node, used), (name, _, whole))) in nodes.iter().zip(&used).zip(merged).enumerate() {
        let (path, own) = (format!("node.{name}"), inside(table(&field.item.value), name));
        of_hosts(&path, own, used, &mut notes);
        for (n, interface) in node.interfaces.iter().enumerate() {
            let path = format!("{path}.interface.{}", interface.name);
            let find = |of| inside(inside(of, "interface"), &interface.name);
            of_interface(&path, [find(own), find(Some(whole))], interface, end, &mut notes);
            let at = InterfaceRef { node: index, interface: n };
            notes.extend(find(own).and_then(|own| of_window(&path, own, nodes, at)));
            if node.forward {
                notes.extend(find(own).and_then(|own| before_modem(&path, own, interface, links)));
            }
        }
    }
    notes
}

fn table(value: &Value) -> Option<&Table> {
    match value {
        Value::Table(table) => Some(table),
        _ => None,
    }
}

/// Returns the table `key` inside a table.
fn inside<'a>(of: Option<&'a Table>, key: &str) -> Option<&'a Table> {
    table(&of?.get(key)?.value)
}

/// TCP features used by a node's flows.
#[derive(Clone, Default)]
struct Used<'a> {
    /// True if the flows have TCP sockets on the node.
    tcp: bool,
    /// Congestion controls in use on the node, including those of QUIC.
    controls: Vec<&'a CongestionControl>,
}

fn used<'a>(nodes: &'a [Node], flows: &'a [Flow]) -> Vec<Used<'a>> {
    let mut all = vec![Used::default(); nodes.len()];
    let mut add = |node: usize, control: Option<&'a CongestionControl>| {
        let controls = &mut all[node].controls;
        controls.extend(control.filter(|control| !controls.contains(control)));
    };
    for flow in flows {
        for end in flow.to.iter().chain([&flow.from]) {
            match &flow.kind {
                // Only the sender of data has a congestion window.
                FlowKind::Tcp { congestion_control, .. } if *end == flow.from => {
                    add(end.node, Some(congestion_control));
                }
                FlowKind::Web { .. } | FlowKind::Responsiveness(_) => {
                    add(end.node, Some(&nodes[end.node].profile.congestion_control))
                }
                FlowKind::Quic(quic) => add(end.node, quic.control.as_ref()),
                _ => {}
            }
        }
    }
    let over_tcp = |kind: &FlowKind| {
        matches!(kind, FlowKind::Tcp { .. } | FlowKind::Web { .. } | FlowKind::Responsiveness(_))
    };
    for flow in flows.iter().filter(|flow| over_tcp(&flow.kind)) {
        flow.to.iter().chain([&flow.from]).for_each(|end| all[end.node].tcp = true);
    }
    all
}

/// Notes on keys that only TCP sockets use, and on parameters of congestion controls that no flow uses.
fn of_hosts(path: &str, own: Option<&Table>, used: &Used<'_>, notes: &mut Vec<String>) {
    let Some(own) = own else { return };
    let (why, right) =
        ("in a node without sockets of TCP", "give it to a node at which a flow of kind tcp or web ends");
    for key in ["wake", "tcp"] {
        if let Some(item) = own.get(key).filter(|_| !used.tcp) {
            notes.push(note(&join(path, key), &item.value, why, right));
        }
    }
    for (name, key, value) in settings(path, own, "sysctl") {
        if !used.tcp && name.starts_with("net.ipv4.tcp_") {
            notes.push(note(&key, value, why, right));
        }
    }
    for (name, key, value) in settings(path, own, "module") {
        let module = name.split_once('.').map_or(&*name, |(module, _)| module);
        let control = module.strip_prefix(OF_TCP).unwrap_or(module);
        if !used.controls.iter().any(|used| used.name() == control) {
            let why = format!("where no flow sends with {control} from this node");
            notes.push(note(&key, value, &why, &format!("let one have congestion_control = {control:?}")));
        }
    }
}

/// Returns name, key and value of the settings in a table.
fn settings<'a>(path: &str, own: &'a Table, group: &str) -> Vec<(String, String, &'a Value)> {
    let mut found = Vec::new();
    if let Some(all) = inside(Some(own), group) {
        flatten(&join(path, group), "", all, Parts::none(), &mut found);
    }
    found.into_iter().map(|(name, field)| (name, field.path, &field.item.value)).collect()
}

/// Notes on interface keys that the qdisc or the length of the run leaves without effect. `own` is the node's
/// own table, without inherited keys.
fn of_interface(
    path: &str,
    [own, whole]: [Option<&Table>; 2],
    interface: &Interface,
    end: Duration,
    notes: &mut Vec<String>,
) {
    let Some(own) = own else { return };
    if let Some(item) = own.get("txqueuelen") {
        let looks = match whole.and_then(|whole| whole.get("qdisc")) {
            Some(qdisc) => looks_at_txqueuelen(&qdisc.value),
            None => matches!(interface.qdisc.config, QdiscConfig::PfifoFast(_) | QdiscConfig::Fifo(_)),
        };
        if !looks {
            let (why, right) =
                ("under a discipline that takes no limit from it", "say the `limit` of the qdisc");
            notes.push(note(&join(path, "txqueuelen"), &item.value, why, right));
        }
    }
    let Attachment::Wifi(wifi) = &interface.medium else { return };
    let Role::Station(station) = &wifi.role else { return };
    let times: Vec<Duration> = match &station.errors {
        Errors::Noise(steps) => steps.iter().map(|(at, _)| at).collect(),
        Errors::Given { frame: GivenErrors::ByRate(tables), .. } => {
            tables.iter().map(|(at, _)| *at).collect()
        }
        Errors::Given { .. } => Vec::new(),
    };
    let Some(late) = times.into_iter().find(|at| *at >= end && *at > Duration::ZERO) else { return };
    if let Some(key) = ["snr", "distance", "error_rate"].into_iter().find(|key| own.get(key).is_some()) {
        notes.push(format!(
            "{}: what it says from {} s on has no effect, as the run ends at {} s",
            join(path, key),
            late.secs_f64(),
            end.secs_f64()
        ));
    }
}

/// Note on a router's qdisc that never builds a queue, because the modem behind it accepts packets as fast as
/// the Ethernet link carries them.
fn before_modem(path: &str, own: &Table, interface: &Interface, links: &[Link]) -> Option<String> {
    let item = own.get("qdisc")?;
    let Attachment::Wired { link } = interface.medium else { return None };
    let is_queue = matches!(
        interface.qdisc.config,
        QdiscConfig::Fifo(_)
            | QdiscConfig::PfifoFast(_)
            | QdiscConfig::Codel(_)
            | QdiscConfig::FqCodel(_)
            | QdiscConfig::Pie(_)
            | QdiscConfig::Sfq(_)
    );
    let is_cake =
        matches!(&interface.qdisc.config, QdiscConfig::Cake(p) if !p.wash && p.ack_filter == AckFilter::Off);
    let is_slower = |of: &WireParams| matches!(of, WireParams::Access(port, line) if line.rate < port.rate);
    let waits = (is_queue || is_cake) && shaped(&interface.qdisc.config).is_none();
    (waits && links[link].params.iter().all(is_slower)).then(|| {
        let right = "shape below the line's rate, such as shaper = { up = \"19 Mbit/s\", qdisc = \"cake\" } before one of 20 Mbit/s";
        note(&join(path, "qdisc"), &item.value, "before a modem: packets wait in the modem, not in this queue", right)
    })
}

/// Note on a window of more than 64 frames for a device without an HE link.
fn of_window(path: &str, own: &Table, nodes: &[Node], at: InterfaceRef) -> Option<String> {
    let item = own.get("block_ack_window")?;
    let all = nodes.iter().enumerate().flat_map(|(node, n)| {
        n.interfaces.iter().enumerate().map(move |(interface, i)| (InterfaceRef { node, interface }, i))
    });
    let mut windows = all.filter_map(|(other, i)| match &i.medium {
        Attachment::Wifi(Wifi { role: Role::Station(station), .. }) if other == at || station.ap == at => {
            Some(station.can_he())
        }
        _ => None,
    });
    let of_wide = matches!(item.value, Value::Integer(frames) if frames > i64::from(SeqWindow::SIZE));
    (of_wide && !windows.any(|he| he)).then(|| {
        let why = "beyond 64 frames, as none of its links is one of HE";
        note(&join(path, "block_ack_window"), &item.value, why, "say 64 or less, or rates of HE")
    })
}

/// Returns true if the qdisc takes its limit from the device's `txqueuelen`.
fn looks_at_txqueuelen(qdisc: &Value) -> bool {
    let (kind, options) = match qdisc {
        Value::String(kind) => (kind.as_str(), None),
        Value::Table(options) => match options.get("kind").map(|item| &item.value) {
            Some(Value::String(kind)) => (kind.as_str(), Some(options)),
            _ => return true,
        },
        _ => return true,
    };
    let given = |key: &str| options.and_then(|options| options.get(key));
    match (kind, given("child")) {
        ("pfifo_fast", _) => true,
        ("pfifo" | "bfifo", _) => given("limit").is_none(),
        (_, Some(child)) => looks_at_txqueuelen(&child.value),
        // The class starts with a pfifo.
        ("htb", None) => true,
        _ => false,
    }
}

/// Notes on flows. `field` is the list of flows.
pub(super) fn of_flows(field: &Field<'_>, flows: &[Flow]) -> Vec<String> {
    let mut notes = Vec::new();
    let list = field.list();
    let mut last = None;
    for flow in flows {
        // Notes on the first of several senders apply to all of them.
        let Some(given) =
            flow.table.filter(|table| last.replace(*table) != Some(*table)).and_then(|n| list.get(n))
        else {
            continue;
        };
        let (FlowKind::Quic(quic), Some(table)) = (&flow.kind, table(&given.item.value)) else { continue };
        let mut idle = |key: &str, why: &str, right: &str| {
            notes.extend(table.get(key).map(|item| note(&join(&given.path, key), &item.value, why, right)));
        };
        of_quic(quic, &mut idle);
    }
    notes
}

/// Notes on keys of the QUIC model that another key, or the preset, leaves without effect. Keys that conflict
/// within the flow are rejected where they are read.
fn of_quic(quic: &QuicFlow, idle: &mut impl FnMut(&str, &str, &str)) {
    if let QuicStack::Quinn(options) = &quic.stack {
        if options.congestion_control != QuinnControl::Model {
            let right = "give the stack the congestion_control \"model\", or leave preset out";
            idle("preset", "with the stack quinn, which has a congestion control of its own", right);
        }
        return;
    }
    if quic.config.ack.decimation.is_none() {
        for key in ["ack_gate", "ack_count", "ack_fraction", "ack_min_delay"] {
            idle(key, "with a preset without decimation", "say ack_decimation = true beside it");
        }
    }
    if quic.config.pacing.is_none() {
        let keys =
            ["pacing_burst", "pacing_horizon", "pacing_gain_slow_start", "pacing_gain", "pacing_lumpy"];
        for key in keys {
            idle(key, "with a preset without pacing", "say pacing = true beside it");
        }
    }
}
