//! The engine's report to its caller after a failure, as JSON.

use serde::Deserialize;
use serde_json::json;

/// An error as JSON.
pub fn failed(why: &str) -> String {
    json!({ "error": why }).to_string()
}

#[derive(Deserialize)]
struct Failed {
    error: String,
}

/// The error in a JSON text, if it is one.
pub fn error(text: &str) -> Option<String> {
    serde_json::from_str::<Failed>(text).ok().map(|failed| failed.error)
}
