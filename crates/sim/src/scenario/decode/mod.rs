//! The tree, key by key, to the scenario's types.

mod edca;
mod flow;
mod interface;
mod link;
mod node;
mod qdisc;
mod scheme;
mod station;
mod wiring;

use stillair_model::vocabulary::Duration;
use stillair_model::wifi::phy::{Band, Width};

use super::document::{Table, Value, inherit};
use super::error::{Fault, Origin, suggest};
use super::reader::{Field, Section};
use super::{Channel, InterfaceRef, Scenario, sweep};

/// Names that a scenario's values may refer to; positions are those of the decoded lists.
struct Names<'a> {
    channels: Vec<&'a str>,
    links: Vec<&'a str>,
    nodes: Vec<(&'a str, Vec<&'a str>)>,
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
        let name = field.text("the name of a node")?;
        let found = self.nodes.iter().position(|(known, _)| *known == name);
        found.ok_or_else(|| field.wrong(suggest(name, &names())))
    }

    /// An end of a flow: an interface as `node.interface`, or a node, which means its first.
    fn endpoint(&self, field: &Field<'_>) -> Result<InterfaceRef, Fault> {
        match &field.item.value {
            Value::String(name) if name.contains('.') => self.interface(field),
            _ => Ok(InterfaceRef { node: self.node(field)?, interface: 0 }),
        }
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

    /// An interface as `node.interface`.
    fn interface(&self, field: &Field<'_>) -> Result<InterfaceRef, Fault> {
        let text = field.text("an interface, such as \"ap.wlan0\"")?;
        let find = || {
            let (node, interface) = text.split_once('.')?;
            let node = self.nodes.iter().position(|(known, _)| *known == node)?;
            let interface = self.nodes[node].1.iter().position(|known| *known == interface)?;
            Some(InterfaceRef { node, interface })
        };
        find().ok_or_else(|| {
            let one = |(node, all): &(&str, Vec<&str>)| {
                all.iter().map(|i| format!("{node}.{i}")).collect::<Vec<_>>()
            };
            let names: Vec<String> = self.nodes.iter().flat_map(one).collect();
            field.wrong(suggest(text, &names.iter().map(String::as_str).collect::<Vec<_>>()))
        })
    }
}

/// Reads the whole scenario; what needs a look at several parts at once is left to [`super::topology`].
pub(super) fn scenario(tree: &Table) -> Result<Scenario, Fault> {
    let mut root = Section::new("", Origin::Line(1), tree);
    let name = root.need("name", "the scenario's name")?;
    let expected = "a name of at least one letter";
    let text = name.text(expected)?;
    if text.trim().is_empty() {
        return Err(name.wrong(expected));
    }
    let duration = root.or("duration", Duration::from_secs(30), Field::period)?;
    let warm_up = root.or("warm_up", Duration::ZERO, |field| {
        let warm_up = field.duration()?;
        if warm_up < duration { Ok(warm_up) } else { Err(field.wrong("a time shorter than duration")) }
    })?;
    let seed = root.or("seed", 1, |field| field.integer(0..=i64::MAX as u64))?;

    let channel_fields = root.get("channel").map_or(Ok(Vec::new()), |field| field.named("channel"))?;
    let link_fields = root.get("link").map_or(Ok(Vec::new()), |field| field.named("link"))?;
    let nodes_field = root.need("node", "a table of nodes by name")?;
    let node_fields = nodes_field.named("node")?;
    let node_table = nodes_field.table("a table of nodes by name")?;
    let mut merged = Vec::with_capacity(node_fields.len());
    for (name, field) in &node_fields {
        field.table("a table")?;
        merged.push((*name, field.item.origin, inherit(node_table, "node", name)?));
    }
    let names = Names {
        channels: channel_fields.iter().map(|(name, _)| *name).collect(),
        links: link_fields.iter().map(|(name, _)| *name).collect(),
        nodes: merged.iter().map(|(name, _, table)| (*name, interface_names(table))).collect(),
    };

    let channels =
        channel_fields.iter().map(|(name, field)| channel(name, field)).collect::<Result<Vec<_>, _>>()?;
    let (nodes, wiring) = node::all(&merged, &names, &channels)?;
    let links = link_fields.iter().zip(&wiring.ends);
    let links =
        links.map(|((name, field), ends)| link::read(name, field, ends, &nodes)).collect::<Result<_, _>>()?;
    let flows = root.get("flow").map_or(Ok(Vec::new()), |field| flow::all(&field, &names, duration))?;
    root.get("sweep");
    root.finish()?;
    sweep::check(tree)?;

    Ok(Scenario { name: text.to_owned(), duration, warm_up, seed, channels, nodes, links, flows })
}

fn interface_names(node: &Table) -> Vec<&str> {
    match node.get("interface").map(|item| &item.value) {
        Some(Value::Table(interfaces)) => interfaces.names(),
        _ => Vec::new(),
    }
}

fn channel(name: &str, field: &Field<'_>) -> Result<Channel, Fault> {
    let mut section = field.section("a table with band and width")?;
    let band = [("2.4 GHz", Band::Ghz2), ("5 GHz", Band::Ghz5)];
    let width = [("20 MHz", Width::Mhz20), ("40 MHz", Width::Mhz40)];
    let names = |all: [&str; 2]| suggest("", &all);
    let channel = Channel {
        name: name.to_owned(),
        band: section.need("band", &names(band.map(|b| b.0)))?.choice(&band)?,
        width: section.need("width", &names(width.map(|w| w.0)))?.choice(&width)?,
        // linux: hostapd.conf beacon_int - 100 time units of 1024 us.
        beacon_interval: section.or("beacon_interval", Some(Duration::from_micros(102_400)), |field| {
            match &field.item.value {
                Value::String(off) if off == "off" => Ok(None),
                _ => field.period().map(Some),
            }
        })?,
    };
    section.finish()?;
    Ok(channel)
}
