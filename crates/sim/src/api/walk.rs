//! Path of one packet through one run.

use serde::Serialize;
use stillair_model::types::{Addr, Duration, FlowId, IfId, Seed, Tee};

use super::{ApiError, read_to_run_by, ss};
use crate::recorder::{Step, Walk};
use crate::run::{Session, guarded};
use crate::scenario::{FlowKind, Reader, Scenario};

/// Virtual time between checks for the packet.
const LOOK: Duration = Duration::from_millis(100);

/// A request to follow one packet of a run.
#[derive(Clone, Debug)]
pub struct WalkRequest {
    /// The scenario, as TOML.
    pub text: String,
    /// Name of the scenario in messages.
    pub file: String,
    /// Overrides as pairs of dotted key and value.
    pub overrides: Vec<(String, String)>,
    /// Seed, instead of the scenario's.
    pub seed: Option<u64>,
    /// Number of the repetition.
    pub run: u64,
    /// Name of the flow as in reports, such as `down.slow`.
    pub flow: String,
    /// Time such as `5 s`. The first packet of the flow delivered or dropped at or after this time is
    /// followed.
    pub at: String,
}

#[derive(Serialize)]
struct Output {
    flow: String,
    /// Sequence number in the flow. `None` if no packet of the flow ended at or after the requested time.
    seq: Option<u32>,
    steps: Vec<Step>,
    /// Interfaces at both ends of each wire.
    wires: Vec<[String; 2]>,
    /// Interface of each Wi-Fi device.
    devices: Vec<String>,
    /// Places where packets may be dropped.
    places: Vec<String>,
}

/// Follows the first packet of a flow that is delivered or dropped at or after the requested time. Returns
/// its steps as JSON.
pub fn walk_by(reader: &Reader<'_>, request: &WalkRequest) -> Result<String, ApiError> {
    let scenario = read_to_run_by(reader, &request.text, &request.file, &request.overrides)?;
    let at = ss::instant(&scenario, Some(&request.at))?;
    let names = scenario.flow_names();
    let Some(number) = names.iter().position(|name| *name == request.flow) else {
        let found = &request.flow;
        return Err(ApiError::Input(format!(
            "flow: found \"{found}\", expected one of {}",
            names.join(", ")
        )));
    };
    let seed = Seed { seed: request.seed.unwrap_or(scenario.seed), run: request.run };
    let run = || {
        let walk = Walk::new(FlowId(number as u32), sender(&scenario, number), at);
        let mut session = Session::new(&scenario, seed, |recorder| Tee(recorder, walk))?;
        let mut until = at;
        loop {
            session.advance(until);
            if session.sink().1.found.is_some() || until >= session.end() {
                break;
            }
            until = (until + LOOK).min(session.end());
        }
        let places = session.places().to_vec();
        let found = session.sink_mut().1.found.take();
        Ok((found, places))
    };
    let (found, places) = guarded(seed, run).map_err(ApiError::Run)?;
    let layout = crate::world::layout(&scenario);
    let name = |at: IfId| {
        let of = &layout.interfaces[at.index()];
        format!("{}.{}", of.node, of.name)
    };
    let (seq, steps) = found.map_or((None, Vec::new()), |(seq, steps)| (Some(seq), steps));
    let output = Output {
        flow: request.flow.clone(),
        seq,
        steps,
        wires: layout.wires.iter().map(|ends| ends.map(name)).collect(),
        devices: layout.devs.iter().map(|dev| name(dev.interface)).collect(),
        places,
    };
    serde_json::to_string(&output).map_err(|e| ApiError::Run(format!("cannot write the result: {e}")))
}

/// Returns the source address of a flow's data packets. For TCP and QUIC, packets in the opposite direction
/// are acknowledgements.
fn sender(scenario: &Scenario, number: usize) -> Option<Addr> {
    let ways = crate::scenario::Ways::new(scenario);
    let all = scenario.flows.iter().flat_map(|flow| flow.to.iter().map(move |&to| (flow, to)));
    let (flow, to) = all.into_iter().nth(number)?;
    if !matches!(flow.kind, FlowKind::Tcp { .. } | FlowKind::Quic(_)) {
        return None;
    }
    let from = scenario.interface_name(ways.ends(flow.from, to)[0]);
    let at = scenario.interface_names().iter().position(|name| *name == from)?;
    Some(Addr(at as u16))
}
