//! Names in a node's table, before the node is read.

use super::super::document::{Table, Value};

/// The names of a node's interfaces.
pub(super) fn interface_names(node: &Table) -> Vec<&str> {
    match node.get("interface").map(|item| &item.value) {
        Some(Value::Table(interfaces)) => interfaces.names(),
        _ => Vec::new(),
    }
}

/// The interfaces of a node that say they are an access point's, as `node.interface`.
pub(super) fn access_points(name: &str, node: &Table) -> Vec<String> {
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
