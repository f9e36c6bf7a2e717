//! Converts the tree to the scenario's types, key by key.

mod flent;
mod flow;
mod guest;
mod host;
mod idle;
pub(super) mod mistakes;
mod node;
mod record;
mod times;
mod wake;
mod widths;

use stillair_model::types::Ip;

use super::description::{Key, TableSchema, ValueType};
use super::document::{Table, inherit};
use super::error::{Diagnostic, Diagnostics, Origin, gather};
use super::external;
use super::many::COUNT;
use super::parts::Parts;
use super::reader::{Field, Section};
use super::resolve::names::{Merged, Names};
use super::resolve::wiring::Device;
use super::resolve::{self, position};
use super::spec::channel::Channel;
use super::spec::domain::{Entry, Inner, Map, Thing};
use super::spec::flow::dscp::IpVersion;
use super::spec::interference::Interference;
use super::spec::link::Link;
use super::spec::neighbour::Neighbour;
use super::spec::{self, Domain as _};
use super::step;
use super::{ErrorTables, Record, Scenario};

/// Root table of the scenario file.
pub(super) static SCHEMA: TableSchema = TableSchema {
    title: "Scenario",
    about: "The keys of the file itself.",
    groups: &[&[
        Key::need("name", ValueType::Text, "its name in results"),
        Key::open(
            "duration",
            ValueType::Period,
            "`30 s`; with a `test` what that takes; with an external host `1000000 s`, which its driver may end at any time",
            "length of the run",
        ),
        Key::open(
            "warm_up",
            ValueType::Time,
            "`0 s`; with a `test` until its load starts",
            "nothing before this time is measured; shorter than `duration`",
        ),
        Key::open(
            "cool_down",
            ValueType::Time,
            "`0 s`; with a `test` from the end of its load",
            "nothing in this time before the end is measured; `warm_up` and `cool_down` together are shorter than `duration`",
        ),
        Key::or("seed", ValueType::Integer(0, i64::MAX), "1", "seed of all random streams"),
        Key::or("ip", IpVersion::TYPE, "4", "version of IP of flows, and of a `test`, that do not say"),
        Key::open("channel", Map::<Inner<Channel>>::TYPE, "none", "Wi-Fi channels"),
        Key::open("link", Map::<Link>::TYPE, "none", "wired links"),
        Key::open("interference", Map::<Inner<Interference>>::TYPE, "none", "interference that is not Wi-Fi"),
        Key::open(
            "neighbour",
            Map::<Inner<Neighbour>>::TYPE,
            "none",
            "neighbouring networks, modelled as load on a channel",
        ),
        Key::need(
            "node",
            ValueType::Named("node", &ValueType::Table(&node::SCHEMA)),
            "hosts, routers and access points",
        ),
        Key::open("flow", spec::flow::TYPE, "none", "traffic"),
        Key::open(
            "test",
            ValueType::Table(&flent::SCHEMA),
            "none",
            "one of Flent's tests as additional traffic",
        ),
        Key::open(
            "record",
            ValueType::Table(&record::SCHEMA),
            "the summary alone",
            "additional recordings beside the summary",
        ),
        Key::open("step", step::TYPE, "none", "changes during the run"),
        Key::open("sweep", ValueType::Sweep, "one run", "values that keys take in turn"),
    ]],
};

/// Returns the table of the node at a position, including inherited keys.
fn merge<'a>(
    at: usize,
    (name, field): &(&'a str, Field<'a>),
    nodes: &'a Table,
) -> Result<Merged<'a>, Diagnostic> {
    field.table("a table")?;
    Ok((*name, field.item.origin, inherit(nodes, "node", at)?))
}

/// Reads the whole scenario. [`super::topology`] checks conditions across several parts.
pub(super) fn scenario(tree: &Table, parts: &Parts) -> Result<Scenario, Diagnostic> {
    let mut wrong = Diagnostics::default();
    let scenario = read(tree, parts, &mut wrong);
    let scenario = wrong.unless(scenario);
    wrong.or(())?;
    Ok(scenario.flatten().expect("what was not read has its mistake"))
}

/// Returns the named elements of one kind.
fn things<T: Thing>(
    root: &mut Section<'_>,
    wrong: &mut Diagnostics,
) -> Result<Vec<Entry<T::Value>>, Diagnostic> {
    root.get(T::WHAT).map_or(Ok(Vec::new()), |field| Map::<T>::read(&field, wrong))
}

/// Reads as much as the errors permit. Errors are added to `wrong` or returned.
fn read(tree: &Table, parts: &Parts, wrong: &mut Diagnostics) -> Result<Option<Scenario>, Diagnostic> {
    let mut root = Section::new("", Origin::Line(1), tree, &SCHEMA, parts);
    let name = root.need("name", "the scenario's name")?;
    let text = name.label("a name of at least one letter")?;
    let test = root.get("test").map(|field| Ok((flent::times(&field)?, field))).transpose()?;
    let external = external::has_hosts(tree);
    let (duration, warm_up, cool_down) =
        times::read(&mut root, test.as_ref().map(|(times, _)| *times), external)?;
    let seed = root.or("seed", 1)?;
    let ip = root.or_by("ip", Ip::V4, |field| IpVersion::read(field, &mut Diagnostics::default()))?;

    // With `[links.lan]` misspelt, references to its contents would cause misleading errors.
    root.familiar()?;
    let channel_specs = things::<Inner<Channel>>(&mut root, wrong)?;
    let channels = channel_specs.iter().filter_map(|spec| resolve::channel::own(spec, wrong));
    let mut channels: Vec<_> = channels.collect();
    let has_channels = wrong.is_empty();
    let link_specs = things::<Link>(&mut root, wrong)?;
    let nodes_field = root.need("node", "a table of nodes by name")?;
    let node_fields = nodes_field.named("node")?;
    if node_fields.is_empty() {
        return Err(nodes_field.found("no node", "at least one"));
    }
    let node_table = nodes_field.table("a table of nodes by name")?;
    let merged = gather(node_fields.iter().enumerate().map(|(at, field)| merge(at, field, node_table)))?;
    // Reading nodes requires channels and links.
    if !has_channels || link_specs.iter().any(|link| link.value.is_none()) {
        return Ok(None);
    }
    let channel_names = channel_specs.iter().map(|channel| &*channel.name).collect();
    let link_names = link_specs.iter().map(|link| &*link.name).collect();
    let link_kinds = link_specs.iter().filter_map(|link| Some(link.value.as_ref()?.kind())).collect();
    let counted =
        node_fields.iter().map(|(_, field)| field.table("").is_ok_and(|node| node.get(COUNT).is_some()));
    let names = Names::new(channel_names, link_names, link_kinds, &merged, counted.collect(), ip);

    let (mut nodes, wiring) = node::all(&merged, &names, &channels, parts)?;
    let sources = things::<Inner<Interference>>(&mut root, wrong);
    let sources = wrong.unless(sources).unwrap_or_default();
    let neighbours = things::<Inner<Neighbour>>(&mut root, wrong);
    let neighbours = wrong.unless(neighbours).unwrap_or_default();
    // From here on, errors in one part do not stop the others from being read.
    wrong.unless(position::used(&nodes, &wiring.positions));
    position::losses(&mut nodes, &wiring.devices, &channels);
    for (n, (spec, channel)) in channel_specs.iter().zip(&mut channels).enumerate() {
        let Some(own) = &spec.value else { continue };
        let is_loud = resolve::foreign::is_loud(&spec.name, &sources);
        let on_it =
            |device: &&Device| resolve::wifi::wifi(&nodes, device.at).is_some_and(|own| own.channel == n);
        let has_distance = wiring.devices.iter().filter(on_it).any(|device| device.has_distance);
        resolve::channel::complete((n, own), channel, (&names, &nodes), has_distance, is_loud, wrong);
    }
    resolve::foreign::interference(&sources, &names, &nodes, &mut channels, duration, wrong);
    resolve::foreign::neighbours(&neighbours, &names, &nodes, &mut channels, duration, wrong);
    wrong.unless(resolve::power::check(&nodes, &channels, &wiring.devices));
    let around = resolve::link::Around { ends: &wiring.ends, nodes: &nodes, nics: &wiring.nics };
    let links = resolve::link::all(&link_specs, &around, wrong);
    let flows = root
        .get("flow")
        .map_or(Ok(Vec::new()), |field| flow::all(&field, &names, &nodes, [warm_up, duration]));
    let flows = wrong.unless(flows).and_then(|mut flows| {
        let test = test.map(|(_, field)| flent::read(&field, &names, &nodes, &mut flows, duration));
        Some((wrong.unless(test.transpose())?, flows))
    });
    let record = flows.as_ref().and_then(|(_, flows)| {
        wrong.unless(root.or_by("record", Record::default(), |field| {
            let guests = nodes.iter().filter(|node| node.guest.is_some()).count();
            record::read(field, flows, nodes.iter().map(|node| node.interfaces.len()).sum(), guests, duration)
        }))
    });
    let Some(((test, flows), record)) = flows.zip(record).filter(|_| wrong.is_empty()) else {
        return Ok(None);
    };
    let mut idle = idle::of_nodes(&nodes_field, &merged, &nodes, &links, &flows, duration);
    idle.extend(widths::notes(&channel_specs, &wiring.devices, &nodes, &channels));
    idle.extend(resolve::power::idle(&nodes, &wiring.devices));
    idle.extend(root.get("flow").iter().flat_map(|field| idle::of_flows(field, &flows)));
    root.get("step");
    root.get("sweep");
    root.finish()?;

    let name = text.to_owned();
    Ok(Some(Scenario {
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
        error_tables: ErrorTables::default(),
    }))
}

/// Kinds of built-in qdiscs.
#[cfg(test)]
pub(super) fn qdisc_kinds() -> Vec<&'static str> {
    const { &spec::qdisc::WIFI }.shapes().iter().map(|shape| shape.kind()).collect()
}
