//! Changes during a run, at times given in the scenario or on request.

use serde_json::Value;
use stillair_model::qdisc::QdiscConfig;
use stillair_model::types::Duration;
use stillair_model::wire::{EthernetParams, LineBuffer, WireParams};

use super::description::{Key, TableSchema, ValueType};
use super::document::{self, Table, unquoted};
use super::error::{Diagnostic, Origin, suggest};
use super::parts::Parts;
use super::reader::Field;
use super::renamed::renamed;
use super::{Attachment, InterfaceRef, QdiscSpec, Role, Scenario, Station, decoded};

/// A change of the network at a given time.
#[derive(Clone, PartialEq, Debug)]
pub struct Step {
    /// Time of the change.
    pub at: Duration,
    /// The network after the change.
    pub to: Box<Scenario>,
}

/// A part of the network that can change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// A wired link, by its index in [`Scenario::links`].
    Link(usize),
    /// The path between a station's interface and its access point.
    Path(InterfaceRef),
    /// The queueing disciplines of an interface.
    Qdisc(InterfaceRef),
}

/// Table of a `step`.
static SCHEMA: TableSchema = TableSchema {
    title: "Step",
    about: "A change while the run goes on.",
    groups: &[&[
        Key::need("at", ValueType::Period, "when, after the step before and before the end"),
        Key::need(
            "set",
            ValueType::List(&ValueType::Written {
                words: "`KEY=VALUE`, the key dotted as for `--set`: of a link `rate` or `delay`, of a node `position`, of an interface `qdisc`, of a \
                        station's interface `rate`, `uplink_rate`, `snr`, `distance`, `error_rate`, `ack_error_rate` or `preamble_loss_rate`",
                pattern: r"^[^=]+=.+$",
                examples: &["link.lan.rate=10 Mbit/s", "node.sta.position=10 m, 0 m"],
            }),
            "keys to change; all others keep their value. A link's `rate` applies to what is left of the frame being sent and to all packets \
             that wait in the transmit ring and the modem; `0 bit/s` is an outage, after which the waiting packets are sent. A buffer given as \
             a time keeps its bytes. A shortened link pauses until packets in flight cannot be overtaken. New rates of `tbf`, `htb` and `cake` apply \
             to packets that wait, and packets in `netem` keep their departure times, as with `tc qdisc change`; so does a fifo's `limit`. With any \
             other change the new `qdisc` starts empty and the packets of the old one are dropped",
        ),
    ]],
};

/// Type of the list of steps.
pub(super) const TYPE: ValueType = ValueType::List(&ValueType::Table(&SCHEMA));

const EXPECTED: &str = "a key that can change: rate or delay of a link, position of a node, qdisc of an interface, or of the interface of a station \
                        rate, uplink_rate, snr, distance, error_rate, ack_error_rate or preamble_loss_rate";

/// Keys of an interface that can change.
const OF_INTERFACE: [&str; 8] =
    ["rate", "uplink_rate", "snr", "distance", "error_rate", "ack_error_rate", "preamble_loss_rate", "qdisc"];

/// Returns the expectation in the error for `key`, which cannot change.
fn expected_for(key: &str) -> String {
    match key.split('.').collect::<Vec<_>>()[..] {
        ["node", _, "interface", _, of, ..] if renamed(of, &OF_INTERFACE).is_some() => {
            suggest(of, &OF_INTERFACE)
        }
        _ => EXPECTED.to_owned(),
    }
}

/// Returns true if a key can change during a run.
fn can_change(key: &str) -> bool {
    match key.split('.').collect::<Vec<_>>()[..] {
        ["link", _, "rate" | "delay", ..] | ["node", _, "position"] => true,
        ["node", _, "interface", _, of, ..] => OF_INTERFACE.contains(&of),
        _ => false,
    }
}

/// Returns an error if a run cannot change this key.
pub fn changeable(key: &str) -> Result<(), String> {
    let key = unquoted(key);
    if can_change(&key) {
        Ok(())
    } else {
        Err(format!("{key}: cannot change while a run goes on; expected {}", expected_for(&key)))
    }
}

/// Returns the steps of a scenario, each with the complete network from then on.
pub(super) fn read(tree: &Table, scenario: &Scenario, parts: &Parts) -> Result<Vec<Step>, Diagnostic> {
    let Some(item) = tree.get("step") else { return Ok(Vec::new()) };
    let field = Field { path: "step".to_owned(), item, form: &const { TYPE }, parts };
    let mut now = tree.without("step");
    let (mut steps, mut last): (Vec<Step>, _) = (Vec::new(), Duration::ZERO);
    for one in field.list() {
        let mut section = one.section("a table with at and set")?;
        let when = section.need("at", "a time such as \"10 s\"")?;
        let at: Duration = when.value()?;
        if at <= last && !steps.is_empty() {
            return Err(when.wrong("a time after that of the step before"));
        }
        if at >= scenario.duration {
            return Err(when.wrong("a time before the end of the run"));
        }
        last = at;
        for set in section.need("set", "a list of \"KEY=VALUE\"")?.list() {
            let expected = "KEY=VALUE, such as \"link.lan.rate=10 Mbit/s\"";
            let (key, value) = set.text(expected)?.split_once('=').ok_or_else(|| set.wrong(expected))?;
            let key = key.trim();
            if !can_change(&unquoted(key)) {
                return Err(set.found(
                    format!("{key}, which cannot change while a run goes on"),
                    expected_for(&unquoted(key)),
                ));
            }
            now.set(key, value.trim()).map_err(|fault| here(set.item.origin, fault))?;
        }
        section.finish()?;
        let mut to = decoded(&now, parts).map_err(|fault| here(one.item.origin, fault))?;
        let before = steps.last().map_or(scenario, |step| &*step.to);
        keep_devices(before, &mut to);
        changes(before, &to)
            .map_err(|why| one.found(why, "a change of rates, delays, losses and disciplines alone"))?;
        steps.push(Step { at, to: Box::new(to) });
    }
    Ok(steps)
}

/// Moves an error caused by a change to the step.
fn here(origin: Origin, fault: Diagnostic) -> Diagnostic {
    Diagnostic::new(origin, fault.key, fault.found, fault.expected)
}

/// Rejects a line that starts down with a buffer given as a time, because the buffer would have no size. A
/// line that a step takes down keeps its size in bytes.
pub(super) fn check_buffers(scenario: &Scenario, tree: &Table) -> Result<(), Diagnostic> {
    let is_unsized = |params: &WireParams| matches!(params, WireParams::Access(_, line) if line.rate.bps() == 0 && line.buffer == LineBuffer::Bytes(0));
    for link in &scenario.links {
        if let Some(way) = link.params.iter().position(is_unsized) {
            let of = tree.get("link").and_then(|links| match &links.value {
                document::Value::Table(links) => links.get(&link.name),
                _ => None,
            });
            return Err(Diagnostic::new(
                of.map_or(Origin::Set, |of| of.origin),
                format!("link.{}.buffer", link.name),
                format!("a buffer given as a time before a line of 0 bit/s {}", ["down", "up"][way]),
                "a buffer in bytes or packets, such as \"256 KiB\"",
            ));
        }
    }
    Ok(())
}

/// Preserves device settings when the rate of a link changes: a buffer given as a time keeps its bytes, and
/// during an outage a network adapter keeps its settings.
pub fn keep_devices(from: &Scenario, to: &mut Scenario) {
    for (old, new) in from.links.iter().zip(&mut to.links) {
        for (old, new) in old.params.iter().zip(&mut new.params) {
            match (old, new) {
                (WireParams::Access(_, old), WireParams::Access(_, new)) => new.buffer = old.buffer,
                (WireParams::Ethernet(old), WireParams::Ethernet(new)) if new.rate.bps() == 0 => {
                    *new = EthernetParams { rate: new.rate, delay: new.delay, ..*old };
                }
                _ => {}
            }
        }
    }
}

/// Returns the parts in which `to` differs from `from`. The error names a difference that a run cannot apply.
pub fn changes(from: &Scenario, to: &Scenario) -> Result<Vec<Change>, String> {
    let mut all = Vec::new();
    let mut same = from.clone();
    for (n, (old, new)) in same.links.iter_mut().zip(&to.links).enumerate() {
        for (old, new) in old.params.iter_mut().zip(&new.params) {
            let (
                WireParams::Ethernet(a) | WireParams::Access(a, _),
                WireParams::Ethernet(b) | WireParams::Access(b, _),
            ) = (&mut *old, new)
            else {
                continue;
            };
            (a.rate, a.delay) = (b.rate, b.delay);
            if let (WireParams::Access(_, a), WireParams::Access(_, b)) = (old, new) {
                a.rate = b.rate;
            }
        }
        if from.links[n] != *new {
            all.push(Change::Link(n));
        }
    }
    for (node, (old, new)) in same.nodes.iter_mut().zip(&to.nodes).enumerate() {
        old.position = new.position;
        for (interface, (old, new)) in old.interfaces.iter_mut().zip(&new.interfaces).enumerate() {
            if old.qdisc != new.qdisc {
                let key = format!("node.{}.interface.{}.qdisc", to.nodes[node].name, new.name);
                queues(&old.qdisc, &new.qdisc).map_err(|why| format!("{key} of {why}"))?;
                old.qdisc.clone_from(&new.qdisc);
                all.push(Change::Qdisc(InterfaceRef { node, interface }));
            }
            let (Some(a), Some(b)) = (station_mut(&mut old.medium), station(&new.medium)) else { continue };
            if (&a.rates, &a.uplink, &a.errors) != (&b.rates, &b.uplink, &b.errors) {
                // deviation: Block Ack sessions are not re-established, so their window cannot change.
                if a.can_he() != b.can_he() {
                    let key = format!("node.{}.interface.{}", to.nodes[node].name, new.name);
                    return Err(format!("{key}: 802.11ax in place of what was before it, or the reverse"));
                }
                (a.rates, a.uplink) = (b.rates, b.uplink);
                a.errors.clone_from(&b.errors);
                all.push(Change::Path(InterfaceRef { node, interface }));
            }
        }
    }
    if same.channels != to.channels {
        let moved = from.nodes.iter().zip(&to.nodes).find(|(a, b)| a.position != b.position);
        let key = moved.map_or_else(String::new, |(_, node)| format!("node.{}.position: ", node.name));
        return Err(format!("{key}a place from which a node hears others than before, or others hear it"));
    }
    // Notes and future steps are not part of the network.
    same.idle.clone_from(&to.idle);
    same.steps.clone_from(&to.steps);
    if same == *to { Ok(all) } else { Err(differs(&same, to)) }
}

/// Returns an error unless an interface's qdiscs can be replaced by others.
fn queues(old: &QdiscSpec, new: &QdiscSpec) -> Result<(), String> {
    let [a, b] = [old, new].map(|of| of.config.kind());
    let none = |of: &QdiscSpec| matches!(of.config, QdiscConfig::Noqueue);
    if old.mq != new.mq || none(old) != none(new) {
        return Err(format!("{b} in place of {a}, which is another number of queues"));
    }
    if old.config.paces() != new.config.paces() {
        return Err(format!("{b} in place of {a}, one of which alone keeps the pace of sockets"));
    }
    Ok(())
}

/// Returns the first key in which two scenarios differ, with both values.
fn differs(from: &Scenario, to: &Scenario) -> String {
    let [a, b] = [from, to].map(|of| serde_json::from_str::<Value>(&of.resolved()).unwrap_or_default());
    first_difference("", &a, &b).unwrap_or_else(|| "a change of what the network is made of".to_owned())
}

/// Returns the first difference below `path`. Elements of lists are identified by name, under the singular of
/// the list's name.
fn first_difference(path: &str, a: &Value, b: &Value) -> Option<String> {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            let keys = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key)));
            let mut keys =
                keys.filter(|key| !(path.is_empty() && ["notes", "steps"].contains(&key.as_str())));
            let null = &Value::Null;
            keys.find_map(|key| {
                first_difference(&below(key), a.get(key).unwrap_or(null), b.get(key).unwrap_or(null))
            })
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let one = |(n, (a, b)): (usize, (&Value, &Value))| {
                let at = match a["name"].as_str() {
                    Some(name) => format!("{}.{name}", path.trim_end_matches('s')),
                    None => format!("{path}.{n}"),
                };
                first_difference(&at, a, b)
            };
            a.iter().zip(b).enumerate().find_map(one)
        }
        _ if a == b => None,
        _ => {
            const MOST: usize = 60;
            let shown = |of: &Value| of.to_string().chars().take(MOST).collect::<String>();
            Some(format!("{path}, which was {} before and is {} then", shown(a), shown(b)))
        }
    }
}

fn station(medium: &Attachment) -> Option<&Station> {
    match medium {
        Attachment::Wifi(wifi) => match &wifi.role {
            Role::Station(station) => Some(station),
            Role::Ap => None,
        },
        Attachment::Wired { .. } => None,
    }
}

fn station_mut(medium: &mut Attachment) -> Option<&mut Station> {
    match medium {
        Attachment::Wifi(wifi) => match &mut wifi.role {
            Role::Station(station) => Some(station),
            Role::Ap => None,
        },
        Attachment::Wired { .. } => None,
    }
}
