//! Qdisc counters of a run at one instant.

use std::collections::BTreeMap;

use serde::Serialize;
use stillair_model::types::Seed;

use super::{ApiError, read_to_run_by, ss};
use crate::recorder::QdiscSummary;
use crate::run::{Session, guarded};
use crate::scenario::parts::Parts;
use crate::scenario::{Folder, Reader};

#[derive(Serialize)]
struct Output {
    /// Time of the sample, in s.
    t_s: f64,
    /// Counters as in a run's report.
    qdiscs: BTreeMap<String, QdiscSummary>,
}

/// Runs one repetition up to the requested time. Returns its qdisc counters as JSON: `qdiscs` as in the
/// report of a run.
pub fn tc(request: &ss::SsRequest) -> Result<String, ApiError> {
    let files = Folder::of(&request.file);
    let reader = Reader { parts: Parts::none(), files: &files };
    let scenario = read_to_run_by(&reader, &request.text, &request.file, &request.overrides)?;
    let at = ss::instant(&scenario, request.at.as_deref())?;
    let seed = Seed { seed: request.seed.unwrap_or(scenario.seed), run: request.run };
    let run = || {
        let mut session = Session::new(&scenario, seed, |recorder| recorder)?;
        session.advance(at);
        Ok(Output { t_s: at.secs_f64(), qdiscs: session.qdiscs() })
    };
    let output = guarded(seed, run).map_err(ApiError::Run)?;
    serde_json::to_string(&output).map_err(|e| ApiError::Run(format!("cannot write the result: {e}")))
}
