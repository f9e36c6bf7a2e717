//! The engine's report to its caller after a successful run, as JSON.

use serde::Serialize;
use serde_json::{Value, json};

use crate::capture::Written;
use crate::engine::Counts;

/// What there is to say of the live part of a run.
#[derive(Clone, Debug, Serialize)]
pub struct LiveReport {
    /// The run is valid: nothing in `lateness` says otherwise.
    pub valid: bool,
    /// How late packets were given to hosts.
    pub lateness: Value,
    /// `real-time`, `normal`, or `given up` where a real-time thread would have had a processor to itself.
    pub priority: &'static str,
    /// CPU time of the engine's thread in s: in user space, and in the kernel with what it does for the hosts meanwhile. That of a capture's thread
    /// stands in `capture`.
    pub cpu_user_s: f64,
    /// See there.
    pub cpu_system_s: f64,
    /// How long it ran, in s.
    pub elapsed_s: f64,
    /// By host: its device and how it sends.
    pub hosts: Value,
    /// What came to the doors of the model.
    pub doors: Counts,
    /// By flow: what its tool was called with, and what it said.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub tools: Value,
    /// The capture, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capture: Option<Written>,
    /// Exit status of the command, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command_status: Option<i32>,
}

/// The text of a result with one run.
pub fn result(version: &str, scenario: &str, notes: &[String], mut run: Value, live: &LiveReport) -> String {
    run["live"] = json!(live);
    let mut all = json!({ "version": version, "scenario": scenario, "runs": [run] });
    if !notes.is_empty() {
        all["notes"] = json!(notes);
    }
    all.to_string()
}
