//! Captures one run.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};

use serde::Serialize;
use stillair_model::types::{Instant, Seed, Tee};

use super::{ApiError, read_by, read_to_run_by};
use crate::capture::{Capture, Captured, Selection};
use crate::recorder::Recorder;
use crate::run::{Records, RunReport, Session, follow, guarded};
use crate::scenario::parts::Parts;
use crate::scenario::{self, Folder, Reader, Scenario};

/// A request to capture one run of a scenario.
#[derive(Clone, Debug)]
pub struct CaptureRequest {
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
    /// Name of the capture file in messages and in the result.
    pub path: String,
    /// File to write; differs from `path` if the caller renames it when complete.
    pub part: String,
    /// Capture points. Empty: the air of every channel; `all`: every point.
    pub points: Vec<String>,
    /// Start and end of the capture, such as `5 s`; `None` is the start or end of the run.
    pub window: (Option<String>, Option<String>),
    /// Maximum number of bytes captured per frame; zero captures all.
    pub snaplen: u32,
}

#[derive(Serialize)]
struct CaptureOutput {
    path: String,
    frames: BTreeMap<String, u64>,
    bytes: u64,
    run: RunReport,
}

/// Runs one repetition and writes the frames at the capture points to a pcapng file. Returns JSON with the
/// path and length of the file, the number of frames per point, and the run as in [`super::run`], with the
/// records requested by the scenario.
pub fn capture(request: &CaptureRequest) -> Result<String, ApiError> {
    let files = Folder::of(&request.file);
    capture_by(&Reader { parts: Parts::none(), files: &files }, request)
}

/// Like `capture`, for a scenario read by `reader`.
pub fn capture_by(reader: &Reader<'_>, request: &CaptureRequest) -> Result<String, ApiError> {
    let path = &request.path;
    let (scenario, seed, capture) = opened(reader, request, || {
        File::create(&request.part).map_err(|e| {
            ApiError::Input(format!("{path}: the capture cannot be written there: {}", plain(&e)))
        })
    })?;
    let run = || match scenario.record.sojourn {
        Some(_) => captured(&scenario, seed, |recorder| Tee(follow(&scenario)(recorder), capture)),
        None => captured(&scenario, seed, |recorder| Tee(recorder, capture)),
    };
    let (run, capture, end) = guarded(seed, run).map_err(ApiError::Run)?;
    let Captured { frames, bytes } = closed(capture, end, path)?;
    let output = CaptureOutput { path: path.clone(), frames: frames.into_iter().collect(), bytes, run };
    serde_json::to_string(&output).map_err(|e| ApiError::Run(format!("cannot write the result: {e}")))
}

/// Captures to memory, without a report. The scenario's `record.sojourn` has no effect.
pub(super) fn capture_bytes(reader: &Reader<'_>, request: &CaptureRequest) -> Result<Vec<u8>, ApiError> {
    let mut bytes = Vec::new();
    let (scenario, seed, capture) = opened(reader, request, || Ok(&mut bytes))?;
    let run = || captured(&scenario, seed, |recorder| Tee(recorder, capture));
    let (_, capture, end) = guarded(seed, run).map_err(ApiError::Run)?;
    closed(capture, end, &request.path)?;
    Ok(bytes)
}

/// Returns the scenario and the capture of a request. Calls `open` for the output once the request is known
/// to be valid.
fn opened<W: Write>(
    reader: &Reader<'_>,
    request: &CaptureRequest,
    open: impl FnOnce() -> Result<W, ApiError>,
) -> Result<(Scenario, Seed, Capture<W>), ApiError> {
    let scenario = read_to_run_by(reader, &request.text, &request.file, &request.overrides)?;
    let edge = |text: &Option<String>, or: Instant| match text {
        None => Ok(or),
        Some(text) => match scenario::parse_duration(text) {
            Ok(since) => Ok(Instant::ZERO + since),
            Err(expected) => Err(ApiError::Input(format!("window: found \"{text}\", expected {expected}"))),
        },
    };
    let selection = Selection {
        points: request.points.clone(),
        from: edge(&request.window.0, Instant::ZERO)?,
        until: edge(&request.window.1, Instant::NEVER)?,
        snaplen: request.snaplen,
    };
    selection.check(&scenario).map_err(ApiError::Input)?;
    let capture = Capture::new(&scenario, &selection, open()?).map_err(ApiError::Input)?;
    let seed = Seed { seed: request.seed.unwrap_or(scenario.seed), run: request.run };
    Ok((scenario, seed, capture))
}

/// Writes the remaining frames of a capture.
fn closed<W: Write>(capture: Capture<W>, end: Instant, path: &str) -> Result<Captured, ApiError> {
    capture
        .finish(end)
        .map_err(|e| ApiError::Run(format!("{path}: the capture could not be written: {}", plain(&e))))
}

/// Runs the scenario with a capture next to its recorder. Returns the end of the run.
fn captured<A, B>(
    scenario: &Scenario,
    seed: Seed,
    sink: impl FnOnce(Recorder) -> Tee<A, B>,
) -> Result<(RunReport, B, Instant), String>
where
    Tee<A, B>: Records,
{
    let session = Session::new(scenario, seed, sink)?;
    let end = session.end();
    session.finish().map(|(report, Tee(_, capture))| (report, capture, end))
}

/// Returns the system's message for an error, without its number.
fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

/// Returns the names of a scenario's capture points.
pub fn capture_points(
    text: &str,
    file: &str,
    overrides: &[(String, String)],
) -> Result<Vec<String>, ApiError> {
    let files = Folder::of(file);
    capture_points_by(&Reader { parts: Parts::none(), files: &files }, text, file, overrides)
}

/// Like `capture_points`, for a scenario read by `reader`.
pub fn capture_points_by(
    reader: &Reader<'_>,
    text: &str,
    file: &str,
    overrides: &[(String, String)],
) -> Result<Vec<String>, ApiError> {
    Ok(crate::capture::point_names(&read_by(reader, text, file, overrides)?))
}
