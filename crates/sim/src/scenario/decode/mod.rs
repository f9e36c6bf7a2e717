//! The tree, key by key, to the scenario's types.

mod access;
mod address;
mod block_ack;
mod channel;
pub(super) mod device;
mod edca;
mod filter;
mod flent;
mod flow;
mod guest;
mod hearing;
mod host;
mod idle;
mod interface;
mod interference;
mod interrupts;
mod jitter;
mod link;
mod losses;
mod mark;
mod neighbour;
mod node;
mod node_names;
mod overhead;
mod page;
pub(super) mod position;
pub(super) mod power;
mod product;
mod qdisc;
mod quic;
mod quinn;
mod rate;
mod record;
mod responsiveness;
mod retries;
pub(super) mod scheme;
mod shaper;
mod station;
mod times;
mod trace;
mod usb;
mod video;
mod wake;
mod wiring;

use std::collections::BTreeMap;

use stillair_model::vocabulary::Ip;

use super::contract::{Form, Key, Shape};
use super::document::{Table, Value, inherit};
use super::error::{Fault, Origin, gather, suggest};
use super::outside;
use super::parts::Parts;
use super::reader::{Field, Section};
use super::step;
use super::{FlowEnd, InterfaceRef, Record, Scenario};
pub(super) use filter::name as filter_name;
use node_names::{access_points, interface_names};
pub(super) use position::distance;
pub(super) use product::listed as lines;

/// The whole file.
pub(super) static SHAPE: Shape = Shape {
    title: "Scenario",
    about: "The keys of the file itself.",
    groups: &[&[
        Key::need("name", Form::Text, "its name, for results"),
        Key::open(
            "duration",
            Form::Period,
            "`30 s`; with a `test` what that takes; with an outside host `1000000 s`, of which its driver may stop at any time",
            "length of the run",
        ),
        Key::open(
            "warm_up",
            Form::Time,
            "`0 s`; with a `test` until its load starts",
            "what happens before is not measured; shorter than `duration`",
        ),
        Key::open(
            "cool_down",
            Form::Time,
            "`0 s`; with a `test` from the end of its load",
            "what happens in this time before the end is not measured; with `warm_up` shorter than `duration`",
        ),
        Key::or("seed", Form::Integer(0, i64::MAX), "1", "seed of all random streams"),
        Key::or("ip", mark::IP, "4", "version of IP of flows, and of a `test`, that do not say"),
        Key::open("channel", Form::Named("channel", &Form::Table(&channel::SHAPE)), "none", "Wi-Fi channels"),
        Key::open("link", Form::Named("link", &link::FORM), "none", "wired links"),
        Key::open("interference", interference::FORM, "none", "sources on channels that are no Wi-Fi"),
        Key::open("neighbour", neighbour::FORM, "none", "neighbouring networks on channels, as load"),
        Key::need(
            "node",
            Form::Named("node", &Form::Table(&node::SHAPE)),
            "hosts, routers and access points",
        ),
        Key::open("flow", flow::FORM, "none", "traffic"),
        Key::open("test", Form::Table(&flent::SHAPE), "none", "more traffic: one of Flent's tests"),
        Key::open(
            "record",
            Form::Table(&record::SHAPE),
            "the summary alone",
            "what is recorded beyond the summary",
        ),
        Key::open("step", step::FORM, "none", "changes while the run goes on"),
        Key::open("sweep", Form::Sweep, "one run", "values that keys take in turn"),
    ]],
};

/// Names that a scenario's values may refer to; positions are those of the decoded lists.
struct Names<'a> {
    channels: Vec<&'a str>,
    links: Vec<&'a str>,
    link_kinds: Vec<link::LinkKind>,
    nodes: Vec<(&'a str, Vec<&'a str>)>,
    /// Those with `role = "ap"`, as `node.interface`.
    access_points: Vec<String>,
    node_by_name: BTreeMap<&'a str, usize>,
    /// Version of IP of flows that do not say.
    ip: Ip,
}

/// Whether a name meets a pattern, in which `*` stands for any letters or none.
fn meets(name: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => name == pattern,
        Some((before, after)) => name.strip_prefix(before).is_some_and(|rest| {
            rest.char_indices().map(|(at, _)| at).chain([rest.len()]).any(|at| meets(&rest[at..], after))
        }),
    }
}

/// Where the name in `field` stands among `known`.
fn refer(field: &Field<'_>, known: &[&str]) -> Result<usize, Fault> {
    let name = field.text(&suggest("", known))?;
    known.iter().position(|k| *k == name).ok_or_else(|| field.wrong(suggest(name, known)))
}

impl Names<'_> {
    /// Lists of names are made for a message only: a flow may have thousands of receivers.
    fn node(&self, field: &Field<'_>) -> Result<usize, Fault> {
        let names = || self.nodes.iter().map(|(name, _)| *name).collect::<Vec<_>>();
        let name = field.text("a node, or an interface such as \"ap.wlan0\"")?;
        let found = self.node_by_name.get(name).copied();
        found.ok_or_else(|| field.wrong(suggest(name, &names())))
    }

    /// An end of a flow: an interface as `node.interface`, or a node.
    fn end(&self, field: &Field<'_>) -> Result<FlowEnd, Fault> {
        match &field.item.value {
            Value::String(name) if name.contains('.') => {
                let InterfaceRef { node, interface } = self.interface(field)?;
                let is_one_of_many = self.nodes[node].1.len() > 1;
                Ok(FlowEnd { node, interface: is_one_of_many.then_some(interface) })
            }
            _ => Ok(FlowEnd { node: self.node(field)?, interface: None }),
        }
    }

    /// The ends of flows that a name, a pattern or a list of these stand for; those of a pattern are not `but` this one.
    fn ends<'f>(&self, field: &Field<'f>, but: Option<FlowEnd>) -> Result<Vec<(Field<'f>, FlowEnd)>, Fault> {
        let mut all = Vec::new();
        for field in field.list() {
            let Some(pattern) = flow::pattern(&field) else {
                let end = self.end(&field)?;
                all.push((field, end));
                continue;
            };
            let met = self.nodes.iter().enumerate().filter(|(_, (name, _))| meets(name, pattern));
            let before = all.len();
            let ends = met.map(|(node, _)| FlowEnd { node, interface: None });
            all.extend(
                ends.filter(|end| but.is_none_or(|but| but.node != end.node)).map(|end| (field.clone(), end)),
            );
            if all.len() == before {
                let found = format!("{}, which no node's name meets", field.item.value.describe());
                let first: String = self.nodes[0].0.chars().take(3).collect();
                return Err(field.found(found, format!("a pattern such as \"{first}*\"")));
            }
        }
        Ok(all)
    }

    /// The end of a flow as the scenario names it.
    fn end_name(&self, end: FlowEnd) -> String {
        let (node, interfaces) = &self.nodes[end.node];
        end.interface
            .map_or_else(|| (*node).to_owned(), |interface| format!("{node}.{}", interfaces[interface]))
    }

    /// An interface as `node.interface`, or by its own name if it is one of node `own`.
    fn interface_from(&self, own: usize, field: &Field<'_>) -> Result<InterfaceRef, Fault> {
        let (node, interfaces) = &self.nodes[own];
        let named = |text: &str| interfaces.iter().position(|known| *known == text);
        match &field.item.value {
            Value::String(name) if !name.contains('.') => named(name)
                .map(|interface| InterfaceRef { node: own, interface })
                .ok_or_else(|| field.wrong(format!("{} in node {node:?}", suggest(name, interfaces)))),
            _ => self.interface(field),
        }
    }

    /// The interface of an access point as `node.interface`. Whether one that is there is an access point's is looked at when all
    /// have been read.
    fn access_point(&self, field: &Field<'_>) -> Result<InterfaceRef, Fault> {
        let text = field.text("an access point's interface, such as \"ap.wlan0\"")?;
        let known = || self.access_points.iter().map(String::as_str).collect::<Vec<_>>();
        self.find(text).ok_or_else(|| field.wrong(suggest(text, &known())).that_may_follow())
    }

    /// What `node.interface` stands for.
    fn find(&self, text: &str) -> Option<InterfaceRef> {
        let (node, interface) = text.split_once('.')?;
        let node = *self.node_by_name.get(node)?;
        let interface = self.nodes[node].1.iter().position(|known| *known == interface)?;
        Some(InterfaceRef { node, interface })
    }

    /// An interface as `node.interface`.
    fn interface(&self, field: &Field<'_>) -> Result<InterfaceRef, Fault> {
        let text = field.text("an interface, such as \"ap.wlan0\"")?;
        self.find(text).ok_or_else(|| {
            let one = |(node, all): &(&str, Vec<&str>)| {
                all.iter().map(|i| format!("{node}.{i}")).collect::<Vec<_>>()
            };
            let names: Vec<String> = self.nodes.iter().flat_map(one).collect();
            field
                .wrong(suggest(text, &names.iter().map(String::as_str).collect::<Vec<_>>()))
                .that_may_follow()
        })
    }
}

/// Reads the whole scenario; what needs a look at several parts at once is left to [`super::topology`].
pub(super) fn scenario(tree: &Table, parts: &Parts) -> Result<Scenario, Fault> {
    let mut root = Section::new("", Origin::Line(1), tree, &SHAPE, parts);
    let name = root.need("name", "the scenario's name")?;
    let text = name.label("a name of at least one letter")?;
    let test = root.get("test").map(|field| Ok((flent::times(&field)?, field))).transpose()?;
    let outside = outside::has_hosts(tree);
    let (duration, warm_up, cool_down) =
        times::read(&mut root, test.as_ref().map(|(times, _)| *times), outside)?;
    let seed = root.or("seed", 1)?;
    let ip = root.or_by("ip", Ip::V4, mark::ip)?;

    // What refers to things in `[links.lan]` would be refused for a name that is there.
    root.familiar()?;
    let channel_fields = root.get("channel").map_or(Ok(Vec::new()), |field| field.named("channel"))?;
    let link_fields = root.get("link").map_or(Ok(Vec::new()), |field| field.named("link"))?;
    let nodes_field = root.need("node", "a table of nodes by name")?;
    let node_fields = nodes_field.named("node")?;
    if node_fields.is_empty() {
        return Err(nodes_field.found("no node", "at least one"));
    }
    let node_table = nodes_field.table("a table of nodes by name")?;
    let mut merged = Vec::with_capacity(node_fields.len());
    for (at, (name, field)) in node_fields.iter().enumerate() {
        field.table("a table")?;
        merged.push((*name, field.item.origin, inherit(node_table, "node", at)?));
    }
    let names = Names {
        channels: channel_fields.iter().map(|(name, _)| *name).collect(),
        links: link_fields.iter().map(|(name, _)| *name).collect(),
        link_kinds: link_fields.iter().map(|(_, field)| link::kind(field)).collect::<Result<_, _>>()?,
        nodes: merged.iter().map(|(name, _, table)| (*name, interface_names(table))).collect(),
        access_points: merged.iter().flat_map(|(name, _, table)| access_points(name, table)).collect(),
        node_by_name: merged.iter().enumerate().map(|(n, (name, ..))| (*name, n)).collect(),
        ip,
    };

    let channels = gather(channel_fields.iter().map(|(name, field)| channel::read(name, field)))?;
    let (mut channels, later): (Vec<_>, Vec<_>) = channels.into_iter().unzip();
    let (mut nodes, wiring) = node::all(&merged, &names, &channels, parts)?;
    let (noisy, neighbours) = (root.get("interference"), root.get("neighbour"));
    let loud = interference::channels(noisy.as_ref(), &names);
    for (n, (_, field)) in channel_fields.iter().enumerate() {
        channel::levels(n, field, &nodes, &wiring.distances, loud.contains(&n))?;
    }
    position::used(&nodes, &wiring.positions)?;
    position::losses(&mut nodes, &wiring.silent, &channels);
    for (n, (c, (old, audible))) in channels.iter_mut().zip(later).enumerate() {
        channel::with_old(c, n, old, &nodes);
        c.audible = audible.resolve(n, &names, &nodes)?;
        position::audible(c, n, &nodes, audible.capture(n, &nodes)?);
    }
    noisy.map_or(Ok(()), |field| interference::read(&field, &names, &nodes, &mut channels, duration))?;
    neighbours.map_or(Ok(()), |field| neighbour::read(&field, &names, &nodes, &mut channels, duration))?;
    power::check(&nodes, &channels, &wiring.savers)?;
    let links = link_fields.iter().zip(&wiring.ends);
    let links =
        gather(links.map(|((name, field), ends)| link::read(name, field, ends, &nodes, &wiring.nics)))?;
    link::used(&wiring.nics, &links, &link_fields)?;
    let mut flows =
        root.get("flow").map_or(Ok(Vec::new()), |field| flow::all(&field, &names, &nodes, duration))?;
    let test =
        test.map(|(_, field)| flent::read(&field, &names, &nodes, &mut flows, duration)).transpose()?;
    let record = root.or_by("record", Record::default(), |field| {
        record::read(field, &flows, nodes.iter().map(|node| node.interfaces.len()).sum(), duration)
    })?;
    let mut idle = idle::of_nodes(&nodes_field, &merged, &nodes, &flows, duration);
    idle.extend(power::idle(&nodes, &wiring.dtim_periods));
    idle.extend(root.get("flow").iter().flat_map(|field| idle::of_flows(field, &flows)));
    root.get("step");
    root.get("sweep");
    root.finish()?;

    let name = text.to_owned();
    Ok(Scenario {
        name,
        duration,
        warm_up,
        cool_down,
        seed,
        channels,
        nodes,
        links,
        flows,
        live_flows: Vec::new(),
        test,
        steps: Vec::new(),
        record,
        idle,
    })
}

/// Kinds of disciplines that are built in.
#[cfg(test)]
pub(super) fn qdisc_kinds() -> Vec<&'static str> {
    const { &qdisc::WIFI }.shapes().iter().map(|shape| shape.kind()).collect()
}
