//! One run with guests, from request to result.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};
use stillair_model::types::Seed;
use stillair_sim::api::{ApiError, VERSION};
use stillair_sim::run::Session;
use stillair_sim::scenario::{self, Scenario};
use thiserror::Error;

use crate::flows::{FlowError, Programs, ReportError};
use crate::folder::{Folder, FolderError};
use crate::guest::{Guest, GuestError, NodeError, command_line};
use crate::kernel::{self, Kernel, KernelError};
use crate::plan::{Plan, PlanError};
use crate::sys::{OneProcessor, reason};
use crate::turn::Turns;
use crate::{BEFORE, PATIENCE};

/// A request that guests cannot run.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum InputError {
    /// A node is not supported.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A flow is not supported.
    #[error(transparent)]
    Flow(#[from] FlowError),
    /// The scenario has no guest.
    #[error(
        "node: found no guest, expected host = {{ kind = \"uml\", kernel = \"6.12\" }} at one node at least"
    )]
    NoGuest,
    /// The scenario has no duration.
    #[error("duration: found none, expected one: a run in virtual time must end")]
    NoDuration,
    /// The kernel of a guest cannot be used.
    #[error("node.{node}.host.kernel: {source}")]
    Kernel {
        /// Name of the node.
        node: String,
        /// The failure.
        source: Box<KernelError>,
    },
    /// The kernel of a guest lacks the patch for its TCP small queues.
    #[error(
        "node.{node}.tcp: found tsq_period or tsq_bytes, expected a kernel with the patch \"tsq-limit\", which {kernel} lacks"
    )]
    NoPatch {
        /// Name of the node.
        node: String,
        /// Name of the kernel's folder.
        kernel: String,
    },
}

/// Errors of a run.
#[derive(Debug, Error)]
pub enum RunError {
    /// The simulation failed; the message is the simulator's.
    #[error("{0}")]
    Simulation(String),
    /// The folder of the run was not created.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A guest was not started.
    #[error("node.{node}: {source}")]
    Start {
        /// Name of the host.
        node: String,
        /// The failure.
        source: GuestError,
    },
    /// A guest failed.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// The measurements of guests cannot be read.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// The report cannot be written as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// A guest's file was not copied.
    #[error("{}: {}", path.display(), reason(source))]
    Collect {
        /// Path of the copy.
        path: PathBuf,
        /// The failure.
        source: std::io::Error,
    },
}

/// A request for a run.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// The scenario, as TOML.
    pub text: String,
    /// Name of the scenario in messages.
    pub file: String,
    /// Overrides as pairs of dotted key and value.
    pub overrides: Vec<(String, String)>,
    /// Seed that replaces the scenario's.
    pub seed: Option<u64>,
    /// Number of the repetition. Each repetition has its own random numbers.
    pub run: u64,
    /// Include the series in the result.
    pub series: bool,
    /// Longest wait for a message from a guest, in s of real time; `None` means [`PATIENCE`].
    pub patience_s: Option<u32>,
    /// Folder for a copy of the guests' output: output and files of programs, and consoles, in one folder
    /// per guest.
    pub collect: Option<PathBuf>,
}

impl Request {
    /// Parses a request from JSON.
    pub fn from_json(text: &str) -> Result<Self, ApiError> {
        serde_json::from_str(text).map_err(|e| ApiError::Input(format!("guests: the request: {e}")))
    }
}

/// Runs a scenario with guests. Returns the result as JSON and the exit status: 0, or 1 if a guest's
/// program for a flow failed.
pub fn run(request: &Request) -> Result<(String, i32), ApiError> {
    let scenario = scenario::parse(&request.text, &request.file, &request.overrides)?;
    let seed = Seed { seed: request.seed.unwrap_or(scenario.seed), run: request.run };
    let (plan, programs, kernels) =
        prepare(&scenario, seed).map_err(|why| ApiError::Input(format!("{}: {why}", request.file)))?;
    let mut notes = scenario.notes();
    notes.extend(without(&plan, &kernels));
    inside(request, seed, &scenario, &plan, &programs, &kernels, notes)
        .map_err(|why| ApiError::Run(why.to_string()))
}

/// Prepares the guests of a scenario, their programs and their kernels.
fn prepare(scenario: &Scenario, seed: Seed) -> Result<(Plan, Programs, Vec<Kernel>), InputError> {
    let plan = Plan::new(scenario)?;
    if plan.guests.is_empty() {
        return Err(InputError::NoGuest);
    }
    if scenario.is_open_ended() {
        return Err(InputError::NoDuration);
    }
    let programs = Programs::new(scenario, &plan, seed)?;
    let mut kernels = Vec::new();
    for guest in &plan.guests {
        let found = kernel::find(&guest.guest.kernel, &kernel::place());
        kernels.push(
            found.map_err(|why| InputError::Kernel { node: guest.name.clone(), source: Box::new(why) })?,
        );
    }
    needed(&plan, &kernels)?;
    Ok((plan, programs, kernels))
}

/// Rejects node keys that have no effect because the node's kernel lacks a patch.
fn needed(plan: &Plan, kernels: &[Kernel]) -> Result<(), InputError> {
    for (guest, kernel) in plan.guests.iter().zip(kernels) {
        if (guest.periods != 1 || guest.guest.tsq_bytes.is_some()) && !kernel.has("tsq-limit") {
            return Err(InputError::NoPatch { node: guest.name.clone(), kernel: kernel.id.clone() });
        }
    }
    Ok(())
}

/// Notes on settings without effect because a kernel lacks a patch.
fn without(plan: &Plan, kernels: &[Kernel]) -> Vec<String> {
    let mut all = Vec::new();
    for (guest, kernel) in plan.guests.iter().zip(kernels) {
        let mut missing = |patch: &str, what: String| {
            if !kernel.has(patch) {
                all.push(format!(
                    "node.{}: its kernel {} has no patch \"{patch}\": {what}",
                    guest.name, kernel.id
                ));
            }
        };
        missing(
            "ring",
            "its card holds 238 packets; further packets wait in the guest's own qdisc".to_owned(),
        );
        if guest.interfaces.iter().any(|of| of.pacing_shift != crate::plan::SHIFT) {
            missing(
                "pacing-shift",
                format!("its sockets pace as over a wire (shift {})", crate::plan::SHIFT),
            );
        }
        if !guest.small_queues {
            missing("tsq", "TCP small queues stay on".to_owned());
        }
        missing(
            "header-room",
            "its packets have 192 bytes of header room, so small queues allow more packets".to_owned(),
        );
        if !kernel.folder.join("launch").is_file() {
            all.push(format!(
                "node.{}: its kernel {} has no launcher, so it runs with all privileges of this user",
                guest.name, kernel.id
            ));
        }
    }
    all
}

fn inside(
    request: &Request,
    seed: Seed,
    scenario: &Scenario,
    plan: &Plan,
    programs: &Programs,
    kernels: &[Kernel],
    mut notes: Vec<String>,
) -> Result<(String, i32), RunError> {
    let session = Session::driven(scenario, seed, |recorder| recorder).map_err(simulation)?;
    let session = if request.series { session.with_series() } else { session };
    let folder = Folder::new()?;
    let _one = OneProcessor::keep();
    let mut guests = Vec::new();
    for (n, (of, kernel)) in plan.guests.iter().zip(kernels).enumerate() {
        let orders = of.orders() + &programs.orders(n);
        // Each guest in each run has its own random numbers.
        let own = (seed.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ seed.run << 20) + n as u64 + 1;
        let at = folder.path().join(n.to_string());
        let guest = Guest::start(at, n, of, kernel, &orders, own, request.patience_s.unwrap_or(PATIENCE));
        guests.push(guest.map_err(|source| RunError::Start { node: of.name.clone(), source })?);
    }
    for guest in &mut guests {
        guest.boot(BEFORE).map_err(|why| guest.failed(why))?;
    }
    let mut turns = Turns::new(session, plan, guests);
    turns.drive()?;
    let made = turns.turns;
    let (session, guests, counts, hash) = turns.finish()?;
    let (report, _) = session.finish().map_err(simulation)?;
    let mut json = serde_json::to_value(&report)?;
    let mut faults = Vec::new();
    let ran = programs.report(&mut json, plan, &guests, &mut faults)?;
    if let Some(to) = &request.collect {
        collect(&guests, to)?;
    }
    let hosts = plan.guests.iter().zip(kernels).map(|(of, kernel)| {
        let about = json!({
            "kernel": kernel.version, "build": kernel.id, "patches": kernel.patches, "command_line": command_line(kernel, of).join(" "),
            "programs": ran[&of.name],
        });
        (of.name.clone(), about)
    });
    json["guests"] = json!({ "external_io": counts, "packets_hash": format!("{hash:016x}"), "turns": made, "hosts": hosts.collect::<serde_json::Map<_, _>>() });
    let code = i32::from(!faults.is_empty());
    notes.extend(faults);
    let mut all = json!({ "version": VERSION, "scenario": scenario.name, "runs": [json] });
    if !notes.is_empty() {
        all["notes"] = Value::from(notes);
    }
    Ok((all.to_string(), code))
}

fn simulation(why: impl core::fmt::Display) -> RunError {
    RunError::Simulation(why.to_string())
}

/// Copies the guests' output.
fn collect(guests: &[Guest], to: &Path) -> Result<(), RunError> {
    for guest in guests {
        let own = to.join(&guest.name);
        copy(&guest.written(), &own)?;
        let console = own.join("console.log");
        std::fs::write(&console, guest.console())
            .map_err(|source| RunError::Collect { path: console, source })?;
    }
    Ok(())
}

/// Copies plain files and folders. Links and devices of a guest are meaningless here.
fn copy(from: &Path, to: &Path) -> Result<(), RunError> {
    let at = |source: std::io::Error| RunError::Collect { path: to.to_owned(), source };
    std::fs::create_dir_all(to).map_err(at)?;
    for entry in std::fs::read_dir(from).map_err(at)?.flatten() {
        let (name, kind) = (entry.file_name(), entry.file_type().map_err(at)?);
        if kind.is_dir() {
            copy(&entry.path(), &to.join(name))?;
        } else if kind.is_file() && !["ready", "done"].iter().any(|own| name == *own) {
            std::fs::copy(entry.path(), to.join(name)).map_err(at)?;
        }
    }
    Ok(())
}
