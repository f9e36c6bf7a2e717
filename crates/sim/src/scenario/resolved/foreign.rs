//! Interference and neighbouring networks of a channel, if any.

use serde_json::{Value, json};
use stillair_model::types::Duration;

use super::super::{Channel, Interferer, NeighbourLoad, ShareFormat, SourceLevel, SwitchPattern};

/// Adds them to a channel. Channels without any are unchanged, so that earlier stored results still match.
pub(super) fn foreign(channel: &Channel, keys: &mut Value) {
    if !channel.interference.is_empty() {
        keys["cca_ed_threshold_mdbm"] = json!(channel.cca_ed_threshold);
        keys["interference"] = channel.interference.iter().map(source).collect();
    }
    if !channel.neighbours.is_empty() {
        keys["neighbours"] = channel.neighbours.iter().map(neighbour).collect();
    }
}

fn source(source: &Interferer) -> Value {
    let (power, position) = match source.level {
        SourceLevel::Everywhere(power) => (power, None),
        SourceLevel::At(position, power) => (power, Some(position)),
    };
    let pattern = match &source.pattern {
        SwitchPattern::Always => json!({ "kind": "always" }),
        SwitchPattern::Cycle { on, period, phase } => json!({
            "kind": "cycle",
            "on_ns": on.nanos(),
            "period_ns": period.nanos(),
            "phase_ns": phase.map(Duration::nanos),
        }),
        SwitchPattern::Random { on, off } => {
            json!({ "kind": "random", "on_ns": on.nanos(), "off_ns": off.nanos() })
        }
        SwitchPattern::Recorded { file, repeat, steps } => json!({
            "kind": "trace",
            "file": file,
            "repeat_ns": repeat.map(Duration::nanos),
            "steps": steps.iter().map(|(at, on)| json!([at.nanos(), on])).collect::<Vec<_>>(),
        }),
    };
    json!({
        "name": source.name,
        "power_mdbm": power,
        "position_mm": position,
        "pattern": pattern,
        "start_ns": source.start.nanos(),
        "stop_ns": source.stop.map(Duration::nanos),
    })
}

fn neighbour(neighbour: &NeighbourLoad) -> Value {
    let file = neighbour.load.file.as_ref().map(|(file, format)| {
        let kind = match format {
            ShareFormat::Shares => "shares",
            ShareFormat::Survey => "survey",
        };
        json!({ "kind": kind, "file": file })
    });
    json!({
        "name": neighbour.name,
        "load": neighbour.load.steps.iter().map(|(at, share)| json!([at.nanos(), share])).collect::<Vec<_>>(),
        "load_file": file,
        "frame_ns": neighbour.frame.nanos(),
        "senders": neighbour.senders,
        "queue": neighbour.queue,
    })
}
