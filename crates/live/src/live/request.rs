//! The request for a live run, and its scenario.

use serde::Deserialize;
use stillair_sim::api::ApiError;
use stillair_sim::scenario::{self, OPEN, Scenario};

use crate::plan;

/// A request for a live run.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// The scenario, as TOML.
    pub text: String,
    /// Name of the scenario in messages.
    pub file: String,
    /// Overrides as pairs of dotted key and value.
    pub overrides: Overrides,
    /// Seed that replaces the scenario's.
    pub seed: Option<u64>,
    /// A program to run in a host; the run ends with it.
    pub command: Vec<String>,
    /// Host of the command; `None`: the first station.
    pub host: Option<String>,
    /// Show a table every second.
    pub table: bool,
    /// Largest 99th percentile of lateness in a valid run, in us; `None`: 1,000.
    pub late_us: Option<u64>,
    /// Record the time series.
    pub series: bool,
    /// Send packets to addresses outside the scenario to the Internet.
    pub uplink: bool,
    /// Start servers of measurement tools in all live hosts except the command's.
    pub servers: bool,
    /// Path of the pcapng file, if a capture is requested.
    pub capture: Option<String>,
    /// Capture points. Empty: the air of every channel; `all`: every point.
    pub points: Vec<String>,
    /// Maximum number of bytes kept of each frame; 0 keeps all.
    pub snaplen: u32,
    /// Hosts attached to existing network namespaces, each as `netns:PATH` or `pid:N`.
    pub attach: Vec<(String, String)>,
}

/// Dotted keys and their new values.
type Overrides = Vec<(String, String)>;

/// The scenario with its live hosts, the overrides in effect, and notes for the user.
pub struct Read {
    pub scenario: Scenario,
    pub overrides: Overrides,
    pub notes: Vec<String>,
}

impl Request {
    /// Parses a request from JSON.
    pub fn from_json(text: &str) -> Result<Self, ApiError> {
        serde_json::from_str(text).map_err(|e| ApiError::Input(format!("live: the request: {e}")))
    }

    /// Reads the scenario of the request.
    pub fn read(&self) -> Result<Read, ApiError> {
        let Self { text, file, .. } = self;
        let mut overrides = self.overrides.clone();
        if !self.command.is_empty() && overrides.iter().all(|(key, _)| key != "duration") {
            // The run ends with the command.
            overrides.push(("duration".to_owned(), format!("{} s", OPEN.nanos() / 1_000_000_000)));
        }
        let mut scenario = scenario::parse(text, file, &overrides)?;
        let mut more = Vec::new();
        if scenario.needs_no_driver().is_ok() {
            let ends = plan::ends(&scenario);
            overrides.extend(ends.iter().map(|name| (format!("node.{name}.host"), "live".to_owned())));
            scenario = scenario::parse(text, file, &overrides)?;
            more.push(format!("no node has host = \"live\", so all end hosts are live: {}", ends.join(", ")));
        }
        if self.uplink
            && let Some((key, note)) =
                default_route(&scenario).ok_or_else(|| {
                ApiError::Input(format!(
                    "{file}: --uplink: found no wired live host, expected one, or default_route = true at a live host's interface"
                ))
            })?
        {
            overrides.push((key, "true".to_owned()));
            more.push(note);
            scenario = scenario::parse(text, file, &overrides)?;
        }
        let mut notes = scenario.notes();
        notes.extend(more);
        Ok(Read { scenario, overrides, notes })
    }
}

/// Picks the interface for the default route of a scenario without one: that of the first wired live host.
/// Returns its key and a note. `None` without a wired live host.
fn default_route(scenario: &Scenario) -> Option<Option<(String, String)>> {
    let all = || scenario.nodes.iter().flat_map(|node| node.interfaces.iter().map(move |i| (node, i)));
    if all().any(|(_, interface)| interface.default_route) {
        return Some(None);
    }
    let wired = |of: &scenario::Interface| matches!(of.medium, scenario::Attachment::Wired { .. });
    let (node, interface) = all().find(|(node, i)| node.host == scenario::Host::Live && wired(i))?;
    let (node, interface) = (&node.name, &interface.name);
    Some(Some((
        format!("node.{node}.interface.{interface}.default_route"),
        format!("no interface has default_route, so the uplink is {node}.{interface}"),
    )))
}
