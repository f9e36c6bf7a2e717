//! Wired links.

use super::super::contract::{Form, Key, Shape};
use super::super::error::Fault;
use super::super::reader::Field;
use super::super::{InterfaceRef, Link, Node};

/// Slower is a slip in the unit: a packet would outlast most runs.
const RATE: Form = Form::RateFrom("1 kbit/s", "at which a full packet takes 12 s");

/// A wired link.
pub(super) static SHAPE: Shape = Shape {
    title: "Link",
    about: "A wired link between two interfaces: the two that name it.",
    groups: &[&[
        Key::need("rate", RATE, "rate of each direction"),
        Key::need("delay", Form::Time, "one-way propagation delay"),
    ]],
};

/// Reads link `name`; `ends` are the interfaces that name it.
pub(super) fn read(
    name: &str,
    field: &Field<'_>,
    ends: &[InterfaceRef],
    nodes: &[Node],
) -> Result<Link, Fault> {
    let mut section = field.section("a table with rate and delay")?;
    let rate = section.need("rate", "a rate such as \"1 Gbit/s\"")?.value()?;
    let delay = section.need("delay", "a time such as \"0.1 ms\"")?.value()?;
    let ends: [InterfaceRef; 2] = ends.try_into().map_err(|_| {
        // A few names are enough to find the mistake.
        let name = |at: &InterfaceRef| {
            let node = &nodes[at.node];
            format!("{}.{}", node.name, node.interfaces[at.interface].name)
        };
        let some: Vec<String> = ends.iter().take(6).map(name).collect();
        let found = match ends.len() {
            0 => "a link that joins nothing".to_owned(),
            n => format!("a link of {n} ({})", some.join(", ")),
        };
        section.wrong(found, "exactly two interfaces that name it")
    })?;
    if ends[0].node == ends[1].node {
        let found = format!("a link of {:?} with itself", nodes[ends[0].node].name);
        return Err(section.wrong(found, "interfaces of two nodes that name it"));
    }
    section.finish()?;
    Ok(Link { name: name.to_owned(), rate, delay, ends })
}
