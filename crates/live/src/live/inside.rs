//! Process 1 in the namespace: sets up hosts, makes the run, and builds its result.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use nix::sched::CloneFlags;
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use stillair_model::types::{Duration, Instant, Seed, Tee};
use stillair_sim::api::VERSION;
use stillair_sim::run::{Records, Session};
use stillair_sim::scenario::Scenario;
use thiserror::Error;

use super::driven::{Driven, Places, lengthen};
use super::request::Request;
use crate::capture::{self, CaptureError};
use crate::control::Control;
use crate::engine::{Counts, Engine, Lateness, Limits, Pace};
use crate::outcome::{self, LiveReport};
use crate::plan::Plan;
use crate::space::host::{HostError, LiveHost};
use crate::space::launcher::{Launcher, LauncherError, Order};
use crate::space::mounts::MountError;
use crate::space::uplink::{self, Asks, UplinkError};
use crate::space::{host, mounts};
use crate::sys::files::Signals;
use crate::sys::poll::Watched;
use crate::sys::{SysError, clock, net, process};
use crate::tools::{COMMAND, PATIENCE, Tools, ToolsError, programs};

/// Exit status of an invalid run.
pub const INVALID: i32 = 3;

/// Errors of a run.
#[derive(Debug, Error)]
pub enum RunError {
    /// The files of the hosts were not set up.
    #[error(transparent)]
    Mounts(#[from] MountError),
    /// The hosts were not set up.
    #[error(transparent)]
    Hosts(#[from] HostError),
    /// The uplink was not set up.
    #[error(transparent)]
    Uplink(#[from] UplinkError),
    /// Programs were not started in hosts.
    #[error(transparent)]
    Launcher(#[from] LauncherError),
    /// Tools were not started.
    #[error(transparent)]
    Tools(#[from] ToolsError),
    /// The capture failed.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// The simulation failed; the message is the simulator's.
    #[error("{0}")]
    Simulation(String),
    /// The namespace of a host was not kept.
    #[error("{0}")]
    Namespace(std::io::Error),
    /// The report cannot be written as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// A system call failed.
    #[error(transparent)]
    Sys(#[from] SysError),
}

/// Input of process 1.
pub struct Given<'a> {
    pub request: &'a Request,
    pub overrides: &'a [(String, String)],
    pub plan: &'a Plan,
    /// Index of the host in which the command runs.
    pub target: usize,
    /// Working directory of programs.
    pub at: &'a OwnedFd,
    /// Per host: its network namespace, if it existed before the run.
    pub attached: &'a [Option<OwnedFd>],
    pub rootless: bool,
    /// The capture file, if a capture is requested.
    pub capture: Option<std::fs::File>,
}

/// Makes the run. Returns the result and the exit status.
pub fn run(
    given: &mut Given<'_>,
    mut scenario: Scenario,
    asks: &mut Asks,
    notes: &mut Vec<String>,
) -> Result<(String, i32), RunError> {
    let Given { request, plan, target, at, rootless, .. } = *given;
    let signals =
        Signals::take(&[Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGCHLD, Signal::SIGPIPE])?;
    let servers: &[std::net::IpAddr] = if request.uplink { &[uplink::NAMES] } else { &[] };
    let also = mounts::prepare(&plan.names, servers, &programs::PROGRAMS)?;
    if also.is_none() {
        notes.push(
            "live: this machine has no empty folder to mount programs on, so hosts lack Stillair's netperf"
                .to_owned(),
        );
    }
    let home = host::current()?;
    let hosts = host::all(plan, request.uplink, given.attached, &home, notes)?;
    if let Some(n) = plan.hosts.iter().position(|host| host.uplink).filter(|_| request.uplink) {
        asks.uplink(&hosts[n].namespace)?;
        uplink::share(&hosts[n].namespace, notes)?;
    }
    let namespaces: Vec<BorrowedFd<'_>> = hosts.iter().map(|host| host.namespace.as_fd()).collect();
    let launcher = Launcher::start(&namespaces, at, also)?;
    let control = Control::open()?;
    let end = (!scenario.is_open_ended()).then_some(scenario.duration);
    let tools = Tools::new(&scenario, plan, end, also.is_some(), notes)?;
    let longer = end.is_some() && tools.are_some();
    if longer {
        lengthen(&mut scenario);
    }
    let devices: Vec<Value> = hosts
        .iter()
        .zip(&plan.hosts)
        .map(|(host, of)| {
            json!({
                "device": of.device, "port": host.port.kind(), "address": of.address.to_string(),
                "egress": if host.queue.is_some() { "nfqueue" } else { host.port.kind() },
                "pacing_shift": host.queue.as_ref().map(|_| of.pacing_shift),
            })
        })
        .collect();
    let held: Vec<OwnedFd> = hosts
        .iter()
        .map(|host| host.namespace.try_clone().map_err(RunError::Namespace))
        .collect::<Result<_, _>>()?;
    tools.serve(&launcher)?;
    let mut listeners: Vec<(usize, u16)> = tools.listeners().collect();
    if request.servers {
        let more = programs::serve(plan, target, &launcher, &listeners, notes)?;
        listeners.extend(more);
    }
    wait(&listeners, &held, &home)?;
    let mut ports = devices.iter().map(|of| of["port"].clone());
    let status = json!({
        "scenario": scenario.name, "rootless": rootless, "programs": also,
        "hosts": plan.hosts.iter().zip(&held).map(|(host, fd)| {
            (host.name.clone(), json!({ "namespace": fd.as_raw_fd(), "address": host.address.to_string(), "address6": host.address6.to_string(), "device": host.device, "port": ports.next() }))
        }).collect::<serde_json::Map<_, _>>(),
    });
    let driven = Driven {
        request,
        overrides: given.overrides,
        changed: Vec::new(),
        longer,
        plan,
        launcher,
        signals,
        control,
        tools,
        places: Places::default(),
        status,
        command: None,
        end: end.map(Duration::nanos),
    };
    let measured =
        [scenario.warm_up, scenario.duration.saturating_sub(scenario.cool_down)].map(Duration::nanos);
    let seed = Seed { seed: request.seed.unwrap_or(scenario.seed), run: 0 };
    let begins = Begins { driven, hosts, target };
    let (over, captured) = match given.capture.take() {
        None => {
            (go(begins, Session::driven(&scenario, seed, |recorder| recorder).map_err(simulation)?)?.0, None)
        }
        Some(file) => {
            let path = request.capture.as_deref().unwrap_or_default();
            let (batches, thread) = capture::start(&scenario, &request.points, request.snaplen, path, file)?;
            let session =
                Session::driven(&scenario, seed, |recorder| Tee(recorder, batches)).map_err(simulation)?;
            let (over, Tee(_, batches)) = go(begins, session)?;
            let written = thread.finish(batches, Instant::from_nanos(over.elapsed))?;
            if written.lost > 0 {
                notes.push(format!(
                    "the capture lacks {} frames: they arrived faster than {path} could be written",
                    written.lost
                ));
            }
            (over, Some(written))
        }
    };
    let Over { driven: run, report: mut json, elapsed, pace, cpu, late, external } = over;
    ended(&mut json, measured, elapsed, notes);
    let mut faults = Vec::new();
    let said =
        if run.tools.are_some() { run.tools.report(&mut json, &mut faults, notes) } else { Value::Null };
    let p99 = request.late_us.unwrap_or(1_000) * 1_000;
    let limits = Limits { p99, gap: 20_000_000 };
    let lateness = late.summary(limits.p99, limits.gap);
    let valid = lateness.invalid.is_empty();
    notes.extend(lateness.invalid.iter().map(|why| format!("this run is not valid: {why}")));
    notes.extend(faults.iter().cloned());
    let live = LiveReport {
        valid,
        lateness: serde_json::to_value(&lateness)?,
        priority: match pace {
            Pace::RealTime => "real-time",
            Pace::Normal => "normal",
            Pace::GivenUp => "given up",
        },
        cpu_user_s: cpu[0] as f64 / 1e9,
        cpu_system_s: cpu[1] as f64 / 1e9,
        elapsed_s: elapsed as f64 / 1e9,
        hosts: plan
            .hosts
            .iter()
            .zip(devices)
            .map(|(host, of)| (host.name.clone(), of))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        external_io: external,
        tools: said,
        capture: captured,
        command_status: run.command,
    };
    let code = match (valid, run.command) {
        (false, _) => INVALID,
        (true, _) if !faults.is_empty() => 1,
        (true, status) => status.unwrap_or(0),
    };
    Ok((outcome::result(VERSION, &scenario.name, notes, json, &live), code))
}

/// Waits until the ports of all servers are listening, at most as long as clients would wait. The thread
/// starts and ends in another namespace.
fn wait(listeners: &[(usize, u16)], hosts: &[OwnedFd], home: &OwnedFd) -> Result<(), SysError> {
    const ROUND: u64 = 20_000_000;
    let until = clock::now() + PATIENCE;
    let mut nothing = Watched::default();
    for &(host, port) in listeners {
        process::enter(&hosts[host], CloneFlags::CLONE_NEWNET)?;
        while !net::listens(port) && clock::now() < until {
            nothing.wait(ROUND);
        }
    }
    process::enter(home, CloneFlags::CLONE_NEWNET)
}

fn simulation(why: impl core::fmt::Display) -> RunError {
    RunError::Simulation(why.to_string())
}

/// Initial state of a run.
struct Begins<'a> {
    driven: Driven<'a>,
    hosts: Vec<LiveHost>,
    target: usize,
}

/// Outcome of a finished run. Times are in ns.
struct Over<'a> {
    driven: Driven<'a>,
    report: Value,
    elapsed: u64,
    pace: Pace,
    cpu: [u64; 2],
    late: Lateness,
    external: Counts,
}

/// Runs to the end. Returns the outcome and the trace's recorder.
fn go<'a, S: Records>(begins: Begins<'a>, session: Session<'_, S>) -> Result<(Over<'a>, S), RunError> {
    let Begins { mut driven, hosts, target } = begins;
    let session = if driven.request.series { session.with_series() } else { session };
    let mut engine = Engine::new(session, driven.plan, hosts);
    driven.places = Places {
        signals: engine.watch(driven.signals.fd()),
        launcher: engine.watch(driven.launcher.fd()),
        control: engine.watch(driven.control.fd()),
    };
    if !driven.request.command.is_empty() {
        let command = driven.request.command.clone();
        driven.launcher.order(&Order::Start { id: COMMAND, host: target, command, output: None })?;
    }
    driven.drive(&mut engine)?;
    let (elapsed, pace, cpu) = (engine.now(), engine.pace(), clock::cpu());
    let (session, late, external) = engine.stop();
    let (report, reader) = session.finish().map_err(simulation)?;
    let report = serde_json::to_value(&report)?;
    Ok((Over { driven, report, elapsed, pace, cpu, late, external }, reader))
}

/// Adjusts the report of a run that ended early or late: which part of its series was measured. Times are
/// in ns.
fn ended(run: &mut Value, [from, until]: [u64; 2], elapsed: u64, notes: &mut Vec<String>) {
    if elapsed <= from {
        notes.push(format!(
            "the run ended after {:.1} s, before the end of its warm-up: nothing was measured",
            elapsed as f64 / 1e9
        ));
    }
    let Some(duration) = run.get("series").and_then(|series| series["duration_ns"].as_u64()) else { return };
    run["series"]["warm_up_ns"] = json!(from.min(duration.saturating_sub(1)));
    run["series"]["cool_down_ns"] = json!(duration.saturating_sub(until.max(from + 1)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stopped_run_measures_a_shorter_series() {
        for (ran, warm_up, cool_down, told) in
            [(3_500, 1_000, 500, 0), (2_000, 1_000, 0, 0), (800, 799, 0, 1)]
        {
            let (mut run, mut notes) = (json!({ "series": { "duration_ns": ran } }), Vec::new());
            ended(&mut run, [1_000, 3_000], ran, &mut notes);
            assert_eq!(
                (run["series"]["warm_up_ns"].as_u64(), run["series"]["cool_down_ns"].as_u64()),
                (Some(warm_up), Some(cool_down))
            );
            assert_eq!(notes.len(), told, "{notes:?}");
        }
        let (mut none, mut notes) = (json!({}), Vec::new());
        ended(&mut none, [0, 10], 5, &mut notes);
        assert_eq!((none, notes.len()), (json!({}), 0));
    }
}
