//! Nodes with their interfaces, and the links between interfaces of different nodes.

use std::borrow::Cow;

use super::super::description::{Key, TableSchema, ValueType};
use super::super::document::Table;
use super::super::error::{Diagnostic, Diagnostics, Origin, gather};
use super::super::parts::Parts;
use super::super::reader::Section;
use super::super::resolve::interface::Context;
use super::super::resolve::names::Names;
use super::super::resolve::wiring::Wiring;
use super::super::resolve::{self, address, position};
use super::super::spec::domain::Map;
use super::super::spec::interface::Interface;
use super::super::spec::link::OfNode;
use super::super::spec::{self, Domain as _, Section as _, jitter, node_tcp};
use super::super::{Attachment, Channel, InterfaceRef, Nic, Node, many, profile};
use super::{host, wake};

/// Ids in the world are 16 bits wide. Drop places run out first: a node and its interface use up to four.
const MAX_INTERFACES: usize = 16_000;

/// A host, router or access point.
pub(super) static SCHEMA: TableSchema = TableSchema {
    title: "Node",
    about: "A host, router or access point.",
    groups: &[
        profile::KEYS,
        &[
            node_tcp::KEY,
            host::KEY,
            Key::or("forward", ValueType::Boolean, "false", "the node forwards packets"),
            wake::KEY,
            jitter::OfNode::KEYS[0],
            OfNode::KEYS[0],
            position::OfNode::KEYS[0],
            Key::open(
                "inherits",
                ValueType::Name("node"),
                "like none",
                "another node whose keys this node copies, except those that it has itself; tables are merged key by key",
            ),
            Key::open(
                "count",
                ValueType::Integer(1, many::MOST),
                "one node of that name",
                "number of nodes made from this table: `NAME1`, `NAME2` and so on. Flows, `hidden` and `sense_only` may name all of them as \
                 `NAME`. Addresses given here are the first node's, and count up",
            ),
            Key::need("interface", Map::<Interface>::TYPE, "its interfaces, at least one"),
        ],
    ],
};

/// Reads all nodes; `merged` holds the name, origin and table of each.
pub(super) fn all<'a>(
    merged: &'a [(&str, Origin, Cow<'_, Table>)],
    names: &Names<'_>,
    channels: &[Channel],
    parts: &'a Parts,
) -> Result<(Vec<Node>, Wiring), Diagnostic> {
    let mut wiring = Wiring { ends: vec![Vec::new(); names.links.len()], ..Wiring::default() };
    let read = |(index, (name, origin, table)): (usize, &'a (&str, Origin, Cow<'_, Table>))| {
        let mut section = Section::new(format!("node.{name}"), *origin, table, &SCHEMA, parts);
        let mut profile = profile::read(&mut section)?;
        node_tcp::read(&mut section, &mut profile)?;
        let (host, guest, sysctl) = host::read(&mut section)?;
        let context = Context { names, channels, parts, profile, host, guest, sysctl, node: *origin };
        node(index, name, section, &context, &mut wiring)
    };
    let mut nodes = gather(merged.iter().enumerate().map(read)).map_err(Diagnostic::without_what_follows)?;
    resolve::wifi::together(&mut nodes, &wiring.devices, channels)?;
    address::complete(&mut nodes, names.links.len(), &wiring);
    Ok((nodes, wiring))
}

fn node(
    index: usize,
    name: &str,
    mut section: Section<'_>,
    context: &Context<'_>,
    wiring: &mut Wiring,
) -> Result<Node, Diagnostic> {
    let forward = section.or("forward", false)?;
    let wake = wake::read(&mut section)?;
    let jitter = spec::read::<jitter::OfNode>(&mut section)?.params();
    let nic = spec::read::<OfNode>(&mut section)?.nic;
    wiring.nics.push(nic.place().cloned());
    let position = spec::read::<position::OfNode>(&mut section)?.position;
    wiring.positions.extend(position.place().map(|place| (index, place.clone())));
    // Already applied; reading the key adds it to the suggestions.
    section.get("inherits");
    section.get("count");
    let field = section.need("interface", "at least one interface")?;
    let mut faults = Diagnostics::default();
    let specs = Map::<Interface>::read(&field, &mut faults)?;
    let is_empty = specs.is_empty();
    let mut interfaces = Vec::with_capacity(specs.len());
    for (interface, spec) in specs.into_iter().enumerate() {
        let at = InterfaceRef { node: index, interface };
        interfaces.extend(resolve::interface::interface(at, spec, context, wiring, &mut faults));
    }
    faults.or(())?;
    if is_empty {
        return Err(field.found("no interface", "at least one"));
    }
    let so_far = wiring.addresses.len() + wiring.unaddressed.len();
    if so_far > MAX_INTERFACES {
        let found = format!("{so_far} interfaces up to here");
        return Err(field.found(found, format!("at most {MAX_INTERFACES} in a scenario")));
    }
    let over_wifi = interfaces.iter().any(|i| matches!(i.medium, Attachment::Wifi(_)));
    if let Some(tcp) = section.get("tcp").filter(|_| !over_wifi) {
        tcp.section("a table")?.idle(
            "wifi_pacing_shift",
            "without a Wi-Fi interface",
            "none, or at the node that sends over Wi-Fi",
        )?;
    }
    section.finish()?;
    Ok(Node {
        name: name.to_owned(),
        host: context.host,
        guest: context.guest.clone(),
        profile: context.profile.clone(),
        sysctl: context.sysctl.clone(),
        forward,
        wake,
        jitter,
        nic: nic.or(Nic::None),
        position: position.get().copied(),
        interfaces,
    })
}
