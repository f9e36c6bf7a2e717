//! Converts the tree, key by key, to the scenario's types.

mod access;
mod address;
mod channel;
pub(super) mod device;
mod edca;
mod flent;
mod flow;
mod guest;
mod hearing;
mod host;
mod idle;
mod interface;
mod interference;
mod link;
mod losses;
pub(super) mod mistakes;
mod names;
mod neighbour;
mod node;
mod node_names;
pub(super) mod position;
mod product;
mod qdisc;
mod rate;
mod record;
mod shaper;
mod station;
mod times;
mod trace;
mod wake;
mod widths;
mod wiring;

use stillair_model::types::Ip;

use super::description::{Key, TableSchema, ValueType};
use super::document::{Table, inherit};
use super::error::{Diagnostic, Diagnostics, Origin, gather};
use super::external;
use super::many::COUNT;
use super::parts::Parts;
use super::reader::{Field, Section};
use super::resolve;
use super::spec::flow::dscp::IpVersion;
use super::spec::{self, Domain as _};
use super::step;
use super::{ErrorTables, Record, Scenario};
use names::{Merged, Names, refer};
pub(super) use position::distance;
pub(super) use product::listed as lines;

/// The whole file.
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
        Key::open(
            "channel",
            ValueType::Named("channel", &ValueType::Table(&channel::SCHEMA)),
            "none",
            "Wi-Fi channels",
        ),
        Key::open("link", ValueType::Named("link", &link::TYPE), "none", "wired links"),
        Key::open("interference", interference::TYPE, "none", "interference that is not Wi-Fi"),
        Key::open(
            "neighbour",
            neighbour::TYPE,
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

/// The table of the node at a position with what it inherits.
fn merge<'a>(
    at: usize,
    (name, field): &(&'a str, Field<'a>),
    nodes: &'a Table,
) -> Result<Merged<'a>, Diagnostic> {
    field.table("a table")?;
    Ok((*name, field.item.origin, inherit(nodes, "node", at)?))
}

/// Reads the whole scenario; what needs a look at several parts at once is left to [`super::topology`].
pub(super) fn scenario(tree: &Table, parts: &Parts) -> Result<Scenario, Diagnostic> {
    let mut root = Section::new("", Origin::Line(1), tree, &SCHEMA, parts);
    let name = root.need("name", "the scenario's name")?;
    let text = name.label("a name of at least one letter")?;
    let test = root.get("test").map(|field| Ok((flent::times(&field)?, field))).transpose()?;
    let external = external::has_hosts(tree);
    let (duration, warm_up, cool_down) =
        times::read(&mut root, test.as_ref().map(|(times, _)| *times), external)?;
    let seed = root.or("seed", 1)?;
    let ip = root.or_by("ip", Ip::V4, |field| IpVersion::read(field, &mut Diagnostics::default()))?;

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
    let merged = gather(node_fields.iter().enumerate().map(|(at, field)| merge(at, field, node_table)))?;
    let link_kinds = gather(link_fields.iter().map(|(_, field)| link::kind(field)))?;
    let counted =
        node_fields.iter().map(|(_, field)| field.table("").is_ok_and(|node| node.get(COUNT).is_some()));
    let names = Names::new(&channel_fields, &link_fields, link_kinds, &merged, counted.collect(), ip);

    let channels = gather(channel_fields.iter().map(|(name, field)| channel::read(name, field)))?;
    let (mut channels, later): (Vec<_>, Vec<_>) = channels.into_iter().unzip();
    let (mut nodes, wiring) = node::all(&merged, &names, &channels, parts)?;
    let (noisy, neighbours) = (root.get("interference"), root.get("neighbour"));
    let loud = interference::channels(noisy.as_ref(), &names);
    // From here on parts are read whatever is wrong with those beside them.
    let mut wrong = Diagnostics::default();
    for (n, (_, field)) in channel_fields.iter().enumerate() {
        wrong.unless(channel::levels(n, field, &nodes, &wiring.distances, loud.contains(&n)));
    }
    wrong.unless(position::used(&nodes, &wiring.positions));
    position::losses(&mut nodes, &wiring.silent, &channels);
    for (n, (c, (old, audible))) in channels.iter_mut().zip(later).enumerate() {
        channel::with_old(c, n, old, &nodes);
        c.audible = wrong.unless(audible.resolve(n, &names, &nodes)).unwrap_or_default();
        if let Some(levels) = wrong.unless(audible.capture(n, &nodes)) {
            position::audible(c, n, &nodes, levels);
        }
    }
    if let Some(field) = noisy {
        wrong.unless(interference::read(&field, &names, &nodes, &mut channels, duration));
    }
    if let Some(field) = neighbours {
        wrong.unless(neighbour::read(&field, &names, &nodes, &mut channels, duration));
    }
    wrong.unless(resolve::power::check(&nodes, &channels, &wiring.power));
    let links = link_fields.iter().zip(&wiring.ends);
    let links = links.map(|((name, field), ends)| link::read(name, field, ends, &nodes, &wiring.nics));
    let links = wrong.unless(gather(links)).unwrap_or_default();
    if links.len() == link_fields.len() {
        wrong.unless(link::used(&wiring.nics, &links, &link_fields));
    }
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
    let all = flows.zip(record).ok_or(());
    wrong.or(())?;
    let Ok(((test, flows), record)) = all else { unreachable!("what was not read has its mistake") };
    let mut idle = idle::of_nodes(&nodes_field, &merged, &nodes, &links, &flows, duration);
    idle.extend(widths::notes(&channel_fields, &wiring.by_width, &nodes, &channels));
    idle.extend(resolve::power::idle(&nodes, &wiring.power));
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
        error_tables: ErrorTables::default(),
    })
}

/// Kinds of disciplines that are built in.
#[cfg(test)]
pub(super) fn qdisc_kinds() -> Vec<&'static str> {
    const { &spec::qdisc::WIFI }.shapes().iter().map(|shape| shape.kind()).collect()
}
