//! Names in values, and the elements that they refer to.

use std::borrow::Cow;
use std::collections::BTreeMap;

use stillair_model::types::Ip;

use super::super::document::{Table, Value};
use super::super::error::{Diagnostic, Origin, suggest};
use super::super::reader::Field;
use super::super::spec::link::LinkKind;
use super::super::{FlowEnd, InterfaceRef};

/// Names in scope for a scenario's values, with their indices in the decoded lists.
pub(in super::super) struct Names<'a> {
    pub(in super::super) channels: Vec<&'a str>,
    pub(in super::super) links: Vec<&'a str>,
    pub(in super::super) link_kinds: Vec<LinkKind>,
    pub(in super::super) nodes: Vec<(&'a str, Vec<&'a str>)>,
    /// Interfaces with `role = "ap"`, as `node.interface`.
    access_points: Vec<String>,
    node_by_name: BTreeMap<&'a str, usize>,
    /// For each node, true if it is one of several with a `count`.
    counted: Vec<bool>,
    /// Default IP version of flows.
    pub(in super::super) ip: Ip,
}

/// Returns true if a name matches a pattern; `*` matches any text, including none.
fn meets(name: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => name == pattern,
        Some((before, after)) => name.strip_prefix(before).is_some_and(|rest| {
            rest.char_indices().map(|(at, _)| at).chain([rest.len()]).any(|at| meets(&rest[at..], after))
        }),
    }
}

/// Returns the index in `known` of the name in `field`.
pub(in super::super) fn refer(field: &Field<'_>, known: &[&str]) -> Result<usize, Diagnostic> {
    let name = field.text(&suggest("", known))?;
    known.iter().position(|k| *k == name).ok_or_else(|| field.wrong(suggest(name, known)))
}

/// Name, origin and table of a node, including inherited keys.
pub(in super::super) type Merged<'a> = (&'a str, Origin, Cow<'a, Table>);

impl<'a> Names<'a> {
    /// Collects the names of channels, links and nodes.
    pub(in super::super) fn new(
        channels: Vec<&'a str>,
        links: Vec<&'a str>,
        link_kinds: Vec<LinkKind>,
        merged: &'a [Merged<'a>],
        counted: Vec<bool>,
        ip: Ip,
    ) -> Self {
        Self {
            channels,
            links,
            link_kinds,
            nodes: merged.iter().map(|(name, _, table)| (*name, interface_names(table))).collect(),
            access_points: merged.iter().flat_map(|(name, _, table)| access_points(name, table)).collect(),
            counted,
            node_by_name: merged.iter().enumerate().map(|(n, (name, ..))| (*name, n)).collect(),
            ip,
        }
    }

    /// Builds lists of names only for error messages: a flow may have thousands of receivers.
    pub(in super::super) fn node(&self, field: &Field<'_>) -> Result<usize, Diagnostic> {
        let names = || self.nodes.iter().map(|(name, _)| *name).collect::<Vec<_>>();
        let name = field.text("a node, or an interface such as \"ap.wlan0\"")?;
        let found = self.node_by_name.get(name).copied();
        found.ok_or_else(|| field.wrong(suggest(name, &names())))
    }

    /// Returns an end of a flow: an interface as `node.interface`, or a node.
    pub(in super::super) fn end(&self, field: &Field<'_>) -> Result<FlowEnd, Diagnostic> {
        match &field.item.value {
            Value::String(name) if name.contains('.') => {
                let InterfaceRef { node, interface } = self.interface(field)?;
                let is_one_of_many = self.nodes[node].1.len() > 1;
                Ok(FlowEnd { node, interface: is_one_of_many.then_some(interface) })
            }
            _ => Ok(FlowEnd { node: self.node(field)?, interface: None }),
        }
    }

    /// Returns the flow ends that a name, a pattern or a list of these refers to. Patterns do not match
    /// `but`.
    pub(in super::super) fn ends<'f>(
        &self,
        field: &Field<'f>,
        but: Option<FlowEnd>,
    ) -> Result<Vec<(Field<'f>, FlowEnd)>, Diagnostic> {
        let mut all = Vec::new();
        for field in field.list() {
            let Some(pattern) = pattern(&field) else {
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

    /// Returns true if the end is one of several nodes with a `count`.
    pub(in super::super) fn is_counted(&self, end: FlowEnd) -> bool {
        self.counted[end.node]
    }

    /// Returns the end of a flow as the scenario spells it.
    pub(in super::super) fn end_name(&self, end: FlowEnd) -> String {
        let (node, interfaces) = &self.nodes[end.node];
        end.interface
            .map_or_else(|| (*node).to_owned(), |interface| format!("{node}.{}", interfaces[interface]))
    }

    /// Returns an interface given as `node.interface`, or by its own name within node `own`.
    pub(in super::super) fn interface_from(
        &self,
        own: usize,
        field: &Field<'_>,
    ) -> Result<InterfaceRef, Diagnostic> {
        let (node, interfaces) = &self.nodes[own];
        let named = |text: &str| interfaces.iter().position(|known| *known == text);
        match &field.item.value {
            Value::String(name) if !name.contains('.') => named(name)
                .map(|interface| InterfaceRef { node: own, interface })
                .ok_or_else(|| field.wrong(format!("{} in node {node:?}", suggest(name, interfaces)))),
            _ => self.interface(field),
        }
    }

    /// Returns an access point's interface given as `node.interface`. The role is checked after all
    /// interfaces have been read.
    pub(in super::super) fn access_point(&self, field: &Field<'_>) -> Result<InterfaceRef, Diagnostic> {
        let text = field.text("an access point's interface, such as \"ap.wlan0\"")?;
        let known = || self.access_points.iter().map(String::as_str).collect::<Vec<_>>();
        self.find(text).ok_or_else(|| field.wrong(suggest(text, &known())).that_may_follow())
    }

    /// Looks up `node.interface`.
    fn find(&self, text: &str) -> Option<InterfaceRef> {
        let (node, interface) = text.split_once('.')?;
        let node = *self.node_by_name.get(node)?;
        let interface = self.nodes[node].1.iter().position(|known| *known == interface)?;
        Some(InterfaceRef { node, interface })
    }

    /// Returns an interface given as `node.interface`.
    pub(in super::super) fn interface(&self, field: &Field<'_>) -> Result<InterfaceRef, Diagnostic> {
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

/// Returns the text of an end that is a pattern.
pub(in super::super) fn pattern<'a>(field: &Field<'a>) -> Option<&'a str> {
    match &field.item.value {
        Value::String(text) if text.contains('*') => Some(text),
        _ => None,
    }
}

/// Returns the names of a node's interfaces.
fn interface_names(node: &Table) -> Vec<&str> {
    match node.get("interface").map(|item| &item.value) {
        Some(Value::Table(interfaces)) => interfaces.names(),
        _ => Vec::new(),
    }
}

/// Returns the access point interfaces of a node, as `node.interface`.
fn access_points(name: &str, node: &Table) -> Vec<String> {
    let Some(Value::Table(interfaces)) = node.get("interface").map(|item| &item.value) else {
        return Vec::new();
    };
    let is_ap = |value: &Value| match value {
        Value::Table(keys) => {
            matches!(keys.get("role").map(|role| &role.value), Some(Value::String(r)) if r == "ap")
        }
        _ => false,
    };
    let all = interfaces.0.iter().filter(|(_, item)| is_ap(&item.value));
    all.map(|(interface, _)| format!("{name}.{interface}")).collect()
}
