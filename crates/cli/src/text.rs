//! Results as text: the most important values. The JSON has the complete result.

use std::fmt::Write;

use serde_json::Value;
use stillair_sim::parts::Parts;

/// Displayed values of stations and flows: key in the report, title, decimals.
const STATION: [(&str, &str, usize); 4] = [
    ("goodput_mbps", "Mbit/s", 3),
    ("airtime_share", "airtime", 3),
    ("mean_aggregate", "frames in an aggregate", 2),
    ("ping_median_ms", "ping ms", 2),
];
const FLOW: [(&str, &str, usize); 3] =
    [("goodput_mbps", "Mbit/s", 3), ("delay_p50_ms", "delay ms", 2), ("loss", "loss", 4)];

/// Returns a list of all parts with their keys.
pub fn parts(parts: &Parts) -> String {
    let mut out = String::new();
    for part in parts.list() {
        let _ = writeln!(out, "{} {:?}: {}", part.kind, part.name, part.about);
        for key in part.keys {
            let _ = writeln!(out, "  {}: {}: {}", key.name(), key.words(), key.about());
        }
    }
    if out.is_empty() { "no part is registered\n".to_owned() } else { out }
}

/// Returns a result as text, as means over the runs.
pub fn result(result: &Value) -> String {
    let runs: Vec<&Value> = result["runs"].as_array().into_iter().flatten().collect();
    let scenario = result["scenario"].as_str().unwrap_or_default();
    let mut out = format!(
        "{scenario}, {}\n",
        if runs.len() == 1 { "1 run".to_owned() } else { format!("{} runs", runs.len()) }
    );
    for note in result["notes"].as_array().into_iter().flatten() {
        let _ = writeln!(out, "note: {}", note.as_str().unwrap_or_default());
    }
    table(&mut out, "stations", &STATION, &runs);
    table(&mut out, "flows", &FLOW, &runs);
    out
}

/// Returns a combination of a sweep as text: its settings and its result.
pub fn combination(set: &[(String, String)], of: &Value) -> String {
    let set: Vec<String> = set.iter().map(|(key, value)| format!("{key} = {value}")).collect();
    format!("{}\n{}", set.join(", "), result(of))
}

/// Appends a table of the group's members, with the means of their values over the runs.
fn table(out: &mut String, group: &str, figures: &[(&str, &str, usize)], runs: &[&Value]) {
    let Some(first) = runs.first() else { return };
    for name in first[group].as_object().into_iter().flat_map(|things| things.keys()) {
        let mut shown = Vec::new();
        for (key, title, digits) in figures {
            let values: Vec<f64> = runs.iter().filter_map(|run| run[group][name][key].as_f64()).collect();
            if !values.is_empty() {
                let mean = values.iter().sum::<f64>() / values.len() as f64;
                shown.push(format!("{title} {mean:.digits$}"));
            }
        }
        let _ = writeln!(out, "  {name}: {}", shown.join(", "));
    }
}
