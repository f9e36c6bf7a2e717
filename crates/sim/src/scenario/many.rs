//! Nodes with a `count`: one table is expanded into several nodes before anything else is read.
//!
//! References to the group mean all members: in the ends of flows and in lists of hidden stations. A node
//! that inherits from the group inherits from its first member.

use std::borrow::Cow;
use std::net::Ipv4Addr;

use super::document::{Item, Table, Value, join};
use super::error::{Diagnostic, Origin};

/// A group and the names of its members.
type Group = (String, Vec<String>);

/// Maximum number of interfaces in a scenario.
pub(super) const MOST: i64 = 16_000;

/// The key.
pub(super) const COUNT: &str = "count";

/// Keys of channels whose lists name nodes.
const HEARING: [&str; 2] = ["hidden", "sense_only"];

/// Returns the tree with each group expanded; without groups it is not copied.
pub(super) fn written_out(tree: &Table) -> Result<Cow<'_, Table>, Diagnostic> {
    let Some(Value::Table(nodes)) = tree.get("node").map(|item| &item.value) else {
        return Ok(Cow::Borrowed(tree));
    };
    let groups = groups(nodes)?;
    if groups.is_empty() {
        return Ok(Cow::Borrowed(tree));
    }
    let mut tree = tree.clone();
    for (key, item) in &mut tree.0 {
        match (key.as_str(), &mut item.value) {
            ("node", Value::Table(nodes)) => *nodes = members(nodes, &groups),
            ("flow", Value::Array(flows)) => flows.iter_mut().for_each(|flow| in_flow(flow, &groups)),
            ("channel", Value::Table(channels)) => {
                channels.0.iter_mut().for_each(|(_, channel)| in_channel(channel, &groups));
            }
            _ => {}
        }
    }
    Ok(Cow::Owned(tree))
}

/// Returns the groups among the nodes. A member name that is already in use is an error.
fn groups(nodes: &Table) -> Result<Vec<Group>, Diagnostic> {
    let mut groups: Vec<Group> = Vec::new();
    for (name, item) in &nodes.0 {
        let Value::Table(node) = &item.value else { continue };
        let Some(count) = node.get(COUNT) else { continue };
        let key = join(&join("node", name), COUNT);
        let number = match count.value {
            Value::Integer(n) if (1..=MOST).contains(&n) => n,
            _ => {
                let expected = format!("a whole number from 1 to {MOST}");
                return Err(Diagnostic::new(count.origin, key, count.value.describe(), expected));
            }
        };
        let all: Vec<String> = (1..=number).map(|n| format!("{name}{n}")).collect();
        if let Some(taken) = all.iter().find(|member| nodes.get(member).is_some()) {
            let found = format!("a member {taken:?}, which is another node as well");
            return Err(Diagnostic::new(count.origin, key, found, "another name for one of the two"));
        }
        groups.push((name.clone(), all));
    }
    Ok(groups)
}

fn members_of<'a>(groups: &'a [Group], name: &str) -> Option<&'a [String]> {
    groups.iter().find(|(group, _)| group == name).map(|(_, all)| all.as_slice())
}

/// Returns all nodes, with groups replaced by their members.
fn members(nodes: &Table, groups: &[Group]) -> Table {
    let mut out = Table::default();
    for (name, item) in &nodes.0 {
        let mut item = item.clone();
        if let Value::Table(node) = &mut item.value {
            for (key, like) in &mut node.0 {
                if key == "inherits"
                    && let Value::String(base) = &like.value
                    && let Some([first, ..]) = members_of(groups, base)
                {
                    like.value = Value::String(first.clone());
                }
            }
        }
        let Some(all) = members_of(groups, name) else {
            out.0.push((name.clone(), item));
            continue;
        };
        // Members of larger groups keep the key: it marks flows with several ends.
        if let (Value::Table(node), [_]) = (&mut item.value, all) {
            node.0.retain(|(key, _)| key != COUNT);
        }
        for (n, member) in all.iter().enumerate() {
            let mut one = item.clone();
            if let Value::Table(node) = &mut one.value {
                number(node, n as u32);
            }
            out.0.push((member.clone(), one));
        }
    }
    out
}

/// Gives member `n` its own addresses: the first member's, plus `n`.
fn number(node: &mut Table, n: u32) {
    let interfaces = node.0.iter_mut().filter(|(key, _)| key == "interface");
    for (_, interfaces) in interfaces {
        let Value::Table(interfaces) = &mut interfaces.value else { continue };
        for (_, interface) in &mut interfaces.0 {
            let Value::Table(interface) = &mut interface.value else { continue };
            for (_, item) in interface.0.iter_mut().filter(|(key, _)| key == "address") {
                if let Value::String(text) = &item.value
                    && let Ok(first) = text.parse::<Ipv4Addr>()
                {
                    item.value = Value::String(Ipv4Addr::from(u32::from(first).wrapping_add(n)).to_string());
                }
            }
        }
    }
}

/// Expands group names in the ends of a flow.
fn in_flow(flow: &mut Item, groups: &[Group]) {
    let Value::Table(flow) = &mut flow.value else { return };
    for (_, end) in flow.0.iter_mut().filter(|(key, _)| matches!(key.as_str(), "from" | "to")) {
        match &mut end.value {
            Value::Array(items) => *items = spliced(items, groups),
            Value::String(_) => {
                let all = spliced(core::slice::from_ref(end), groups);
                if all.len() != 1 || all[0] != *end {
                    end.value = Value::Array(all);
                }
            }
            _ => {}
        }
    }
}

/// Expands group names in the lists of hidden stations.
fn in_channel(channel: &mut Item, groups: &[Group]) {
    let Value::Table(channel) = &mut channel.value else { return };
    for (_, lists) in channel.0.iter_mut().filter(|(key, _)| HEARING.contains(&key.as_str())) {
        let Value::Array(lists) = &mut lists.value else { continue };
        for list in lists {
            if let Value::Array(items) = &mut list.value {
                *items = spliced(items, groups);
            }
        }
    }
}

/// Returns a list of names with groups replaced by their members.
fn spliced(items: &[Item], groups: &[Group]) -> Vec<Item> {
    let one = |item: &Item| match &item.value {
        Value::String(name) => match members_of(groups, name) {
            Some(all) => all.iter().map(|name| named(name, item.origin)).collect(),
            None => vec![item.clone()],
        },
        _ => vec![item.clone()],
    };
    items.iter().flat_map(one).collect()
}

fn named(name: &str, origin: Origin) -> Item {
    Item { value: Value::String(name.to_owned()), origin }
}

#[cfg(test)]
mod tests {
    use super::super::document;
    use super::super::parse;

    const TEXT: &str = r#"
name = "many"
[channel.wifi]
band = "5 GHz"
width = "20 MHz"
hidden = [["sta", "other"]]
[node.ap]
profile = "linux-6.1"
interface.wlan0 = { channel = "wifi", role = "ap" }
[node.sta]
count = 11
profile = "linux-6.1"
interface.wlan0 = { channel = "wifi", role = "station", ap = "ap.wlan0", rate = "ht20-mcs7-lgi" }
[node.other]
inherits = "sta"
[[flow]]
kind = "udp"
from = "ap"
to = "sta"
rate = "1 Mbit/s"
[[flow]]
kind = "tcp"
from = "sta1*"
to = "ap"
"#;

    fn with(key: &str, value: &str) -> Result<super::super::Scenario, String> {
        parse(TEXT, "many.toml", &[(key.to_owned(), value.to_owned())]).map_err(|e| e.to_string())
    }

    #[test]
    fn group_expands_to_nodes() {
        let s = with("node.sta.count", "11").expect("a good scenario");
        let names: Vec<&str> = s.nodes.iter().map(|n| n.name.as_str()).collect();
        let expected = "ap sta1 sta2 sta3 sta4 sta5 sta6 sta7 sta8 sta9 sta10 sta11 other";
        assert_eq!(names.join(" "), expected);
        let addresses: Vec<String> = s.nodes.iter().map(|n| n.interfaces[0].address.to_string()).collect();
        assert_eq!((addresses[0].as_str(), addresses[12].as_str()), ("10.128.0.1", "10.128.0.13"));
        assert_eq!(s.channels[0].audible.hidden[0].len(), 12);
        // One flow to all eleven, and one from each node that matches the pattern.
        let flows: Vec<(&str, usize)> = s.flows.iter().map(|f| (f.name.as_str(), f.to.len())).collect();
        assert_eq!(flows, [("udp-0", 11), ("tcp-1-sta1", 1), ("tcp-1-sta10", 1), ("tcp-1-sta11", 1)]);
        assert_eq!(with("node.sta.count", "300").expect("a good scenario").nodes.len(), 302);
    }

    #[test]
    fn group_addresses_are_consecutive() {
        let text =
            TEXT.replace("inherits = \"sta\"", "inherits = \"sta\"\ninterface.wlan0.address = \"10.0.0.1\"");
        let set = ("node.sta.interface.wlan0.address".to_owned(), "10.0.0.250".to_owned());
        let s = parse(&text, "many.toml", &[set]).expect("a good scenario");
        let last = |n: usize| s.nodes[n].interfaces[0].address.to_string();
        assert_eq!((last(1), last(11)), ("10.0.0.250".to_owned(), "10.0.1.4".to_owned()));
    }

    #[test]
    fn mistakes() {
        for (key, value, says) in [
            (
                "node.sta.count",
                "0",
                "--set: node.sta.count: found 0, expected a whole number from 1 to 16000",
            ),
            (
                "flow.1.from",
                "stb*",
                "--set: flow.1.from: found \"stb*\", which no node's name meets, expected a pattern such as \"ap*\"",
            ),
            ("flow.1.to", "sta1", "--set: flow.1.to: found \"sta1\", expected a node other than from"),
        ] {
            assert_eq!(with(key, value).expect_err("a mistake"), says);
        }
        let twice = TEXT.replace("[node.other]", "[node.sta7]");
        let said = parse(&twice, "many.toml", &[]).map(|_| ()).expect_err("a mistake").to_string();
        assert_eq!(
            said,
            "many.toml:11: node.sta.count: found a member \"sta7\", which is another node as well, expected another name for one of the two"
        );
        assert!(document::parse(TEXT).is_ok());
    }
}
