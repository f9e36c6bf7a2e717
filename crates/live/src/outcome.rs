//! The engine's report to its caller after a successful run, as JSON.

use serde::Serialize;
use serde_json::{Value, json};

use crate::capture::Written;
use crate::engine::Counts;

/// The live part of a run's report.
#[derive(Clone, Debug, Serialize)]
pub struct LiveReport {
    /// True if the run is valid: `lateness` lists no reason against it.
    pub valid: bool,
    /// Summary of the lateness of packets delivered to hosts.
    pub lateness: Value,
    /// Scheduling of the engine: `real-time`, `normal`, or `given up` if a real-time thread would have used a
    /// whole processor.
    pub priority: &'static str,
    /// CPU time of the engine's thread in user space, in s. The capture thread's is in `capture`.
    pub cpu_user_s: f64,
    /// CPU time of the engine's thread in the kernel, in s, including the kernel's work for hosts during its
    /// calls.
    pub cpu_system_s: f64,
    /// Duration of the run in s of real time.
    pub elapsed_s: f64,
    /// Per host: its device, and how its packets are received.
    pub hosts: Value,
    /// Packet counters.
    pub external_io: Counts,
    /// Per flow: the command line and output of its tool.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub tools: Value,
    /// Result of the capture, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capture: Option<Written>,
    /// Exit status of the command, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command_status: Option<i32>,
}

/// The JSON text of a result with one run.
pub fn result(version: &str, scenario: &str, notes: &[String], mut run: Value, live: &LiveReport) -> String {
    run["live"] = json!(live);
    let mut all = json!({ "version": version, "scenario": scenario, "runs": [run] });
    if !notes.is_empty() {
        all["notes"] = json!(notes);
    }
    all.to_string()
}
