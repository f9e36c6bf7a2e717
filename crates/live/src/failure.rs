//! The engine's report to its caller after a failure, as JSON.

use serde::Deserialize;
use serde_json::json;

/// Formats an error as JSON.
pub fn failed(why: &str) -> String {
    json!({ "error": why }).to_string()
}

#[derive(Deserialize)]
struct Failed {
    error: String,
}

/// Returns the error in a JSON text, or `None` if the text is not an error.
pub fn error(text: &str) -> Option<String> {
    serde_json::from_str::<Failed>(text).ok().map(|failed| failed.error)
}
