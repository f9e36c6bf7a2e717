//! User-defined parts in the resolved scenario: name and options.

use serde_json::{Value, json};
use stillair_model::types::PartFactory;

use super::super::CongestionControl;

/// Returns the name of a congestion control, or the table of a user-defined one.
pub(super) fn control(control: &CongestionControl) -> Value {
    match control {
        CongestionControl::BuiltIn(name) => json!(name),
        CongestionControl::Custom(own) => part(own),
    }
}

/// Returns a part with its options.
pub(super) fn part<T: ?Sized, A>(own: &PartFactory<T, A>) -> Value {
    let mut shown: Value = serde_json::from_str(own.options()).expect("the registry writes options as JSON");
    shown["kind"] = json!(own.name());
    shown
}
