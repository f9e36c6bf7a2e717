//! Parts of somebody's own in the resolved scenario: as what is built in, with their options beside their name.

use serde_json::{Value, json};

use super::super::CongestionControl;

/// A congestion control: its name; one of somebody's own with options as a table of them.
pub(super) fn control(control: &CongestionControl) -> Value {
    match control {
        CongestionControl::BuiltIn(name) => json!(name),
        CongestionControl::Own(own) => part(own.name(), own.options()),
    }
}

/// A part by its name and its options, which are an object of JSON.
pub(super) fn part(name: &str, options: &str) -> Value {
    let mut shown: Value = serde_json::from_str(options).expect("the registry writes options as JSON");
    shown["kind"] = json!(name);
    shown
}
