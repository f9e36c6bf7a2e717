//! Runs scenarios and prints the CPU time per packet.
//!
//! `bench [--set KEY=VALUE]... FILE...` runs each scenario five times and prints CPU time; `bench --once
//! FILE` runs once, for callgrind; `bench --capture TARGET FILE SNAPLEN [POINT...]` also captures each run
//! and prints the cost of the capture (to exclude the cost of writing, use `/dev/null`); `bench --once
//! --capture ...` captures once, for callgrind; `bench --json FILE RUN` runs one repetition and prints its
//! summary and the process's memory as JSON, for comparisons that measure the CPU time of whole processes
//! externally.
//!
//! `bench --events FILE` prints the number of events in a run.
//!
//! Units: UDP per packet offered and per packet delivered; TCP per data segment received, whatever the number
//! of hops, including its acknowledgements. CPU time is that of the process as accounted by the kernel,
//! because wall-clock time is noisy.

use std::fs;
use std::process::ExitCode;

use stillair_model::types::{Instant, Seed};
use stillair_sim::api::{self, ApiError, CaptureRequest};
use stillair_sim::scenario::{self, Scenario};
use stillair_sim::world;

/// Target for UDP CPU time, in seconds.
const PER_OFFERED: f64 = 250e-9;
const PER_DELIVERED: f64 = 700e-9;
/// Target for TCP CPU time by maximum number of stations, in seconds per segment.
const PER_SEGMENT: [(usize, f64); 3] = [(1, 1_000e-9), (3, 1_200e-9), (usize::MAX, 1_400e-9)];
/// TCP target for individual scenarios: an 802.11ax station at 600 Mbit/s.
const PER_SEGMENT_OF: [(&str, f64); 1] = [("bench-he", 350e-9)];
/// Target for the CPU time of a run, in seconds: a scenario without stations, and 10 MB over QUIC.
const PER_RUN: [(&str, f64); 3] = [("wired-4", 0.25), ("bench-quic", 0.015), ("quic-quinn", 0.030)];

/// Runs per measurement.
const TIMES: u64 = 5;

const USAGE: &str = "usage: bench [--once] [--set KEY=VALUE]... SCENARIO... | bench --json SCENARIO RUN | bench --events SCENARIO | \
    bench [--once] --capture TARGET SCENARIO SNAPLEN [POINT...]";

/// Returns the user and system time of this process in seconds.
fn cpu_seconds() -> f64 {
    // linux: proc_pid_stat(5) - fields 14 and 15, in ticks of 1/100 s; the process name before them may
    // contain spaces.
    let stat = fs::read_to_string("/proc/self/stat").expect("Linux has /proc");
    let (_, fields) = stat.rsplit_once(')').expect("a name in brackets");
    fields.split_whitespace().skip(11).take(2).map(|t| t.parse::<f64>().expect("ticks")).sum::<f64>() / 100.0
}

/// Returns the peak resident memory of this process, in KiB.
fn peak_kib() -> u64 {
    // linux: proc_pid_status(5) - VmHWM; unlike getrusage's maximum, it is reset by exec.
    let status = fs::read_to_string("/proc/self/status").expect("Linux has /proc");
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:")).expect("every process has memory");
    line.trim().trim_end_matches("kB").trim().parse().expect("KiB")
}

fn read(file: &str) -> Result<Scenario, String> {
    read_with(file, &[])
}

/// Reads a scenario with overrides.
fn read_with(file: &str, sets: &[(String, String)]) -> Result<Scenario, String> {
    let text = fs::read_to_string(file).map_err(|e| format!("{file}: {e}"))?;
    scenario::parse(&text, file, sets).map_err(|e| e.to_string())
}

/// Overrides: keys and values.
type Sets = Vec<(String, String)>;

/// Splits overrides from the files that follow them.
fn sets<'a>(mut rest: &'a [&'a str]) -> Option<(Sets, &'a [&'a str])> {
    let mut found = Vec::new();
    while let ["--set", set, files @ ..] = rest {
        let (key, value) = set.split_once('=')?;
        found.push((key.to_owned(), value.to_owned()));
        rest = files;
    }
    Some((found, rest))
}

/// Runs one repetition of a scenario and prints it as JSON.
fn print_json(file: &str, run: &str) -> Result<(), String> {
    let run = run.parse::<u64>().map_err(|e| format!("run {run}: {e}"))?;
    let scenario = read(file)?;
    let summary = api::run_once(&scenario, Seed { seed: scenario.seed, run })?;
    let seconds = (scenario.duration - scenario.warm_up).secs_f64();
    let summary = serde_json::to_value(summary).map_err(|e| e.to_string())?;
    println!("{}", serde_json::json!({ "seconds": seconds, "peak_kib": peak_kib(), "summary": summary }));
    Ok(())
}

/// Prints the number of events in one run of a scenario.
fn print_events(file: &str) -> Result<(), String> {
    let scenario = read(file)?;
    let mut world = world::wire(&scenario, Seed { seed: scenario.seed, run: 0 }, |recorder| recorder).world;
    world.run_until(Instant::ZERO + scenario.duration);
    println!("{}", world.events());
    Ok(())
}

/// Runs a scenario `times` times and prints the cost per packet.
fn print_cost(file: &str, times: u64, sets: &[(String, String)]) -> Result<(), String> {
    let scenario = read_with(file, sets)?;
    let before = cpu_seconds();
    let (mut offered, mut delivered, mut segments, mut stations) = (0, 0, 0_u64, 0);
    for run in 0..times {
        let summary = api::run_once(&scenario, Seed { seed: scenario.seed, run })?;
        offered += summary.packets.created;
        delivered += summary.packets.delivered;
        segments += summary
            .flows
            .values()
            .filter_map(|f| f.tcp.as_ref())
            .map(|tcp| u64::from(tcp.delivered))
            .sum::<u64>();
        stations = summary.stations.len();
    }
    let cpu = cpu_seconds() - before;
    let runs = times as f64;
    let bound = match PER_RUN.iter().find(|(name, _)| *name == scenario.name) {
        Some((_, per_run)) => runs * per_run,
        None if segments > 0 => {
            let named = PER_SEGMENT_OF.iter().find(|(name, _)| *name == scenario.name);
            let by_stations = PER_SEGMENT.iter().find(|(most, _)| stations <= *most);
            let per_segment = named.map_or_else(|| by_stations.expect("no end").1, |(_, one)| *one);
            per_segment * segments as f64
        }
        None => PER_OFFERED * offered as f64 + PER_DELIVERED * delivered as f64,
    };
    let per = |packets: u64| match packets {
        0 => "-".to_owned(),
        packets => format!("{:.0}", cpu * 1e9 / packets as f64),
    };
    println!(
        "{file:34} {offered:8} {delivered:9} {segments:8} {cpu:6.2} {:7.3} {:>10} {:>12} {:>10} {:9.0}%",
        cpu / runs,
        per(offered),
        per(delivered),
        per(segments),
        100.0 * cpu / bound
    );
    Ok(())
}

/// Returns the exit status for an outcome.
fn ended(outcome: Result<(), String>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("{e}");
            ExitCode::FAILURE
        }
    }
}

/// Runs a scenario with a capture. Returns the number of frames and bytes written.
fn captured(target: &str, file: &str, run: u64, snaplen: u32, points: &[&str]) -> Result<(u64, u64), String> {
    let text = fs::read_to_string(file).map_err(|e| format!("{file}: {e}"))?;
    let outcome = api::capture(&CaptureRequest {
        text,
        file: file.to_owned(),
        overrides: Vec::new(),
        seed: None,
        run,
        path: target.to_owned(),
        part: target.to_owned(),
        points: points.iter().map(|&point| point.to_owned()).collect(),
        window: (None, None),
        snaplen,
    })
    .map_err(|e| match e {
        ApiError::Input(why) | ApiError::Run(why) => why,
        ApiError::Scenario(error) => error.to_string(),
    })?;
    let outcome: serde_json::Value = serde_json::from_str(&outcome).map_err(|e| e.to_string())?;
    let frames = outcome["frames"].as_object().expect("frames by point").values();
    let frames = frames.map(|n| n.as_u64().expect("a number of frames")).sum();
    Ok((frames, outcome["bytes"].as_u64().expect("a number of bytes")))
}

/// Runs a scenario alternately without and with a capture. Prints the CPU time of both, their ratio, and the
/// cost per frame.
fn print_capture_cost(target: &str, file: &str, snaplen: &str, points: &[&str]) -> Result<(), String> {
    let snaplen = snaplen.parse::<u32>().map_err(|e| format!("snaplen {snaplen}: {e}"))?;
    let scenario = read(file)?;
    let (mut without, mut with) = (0.0, 0.0);
    let (mut frames, mut bytes) = (0, 0);
    for run in 0..TIMES {
        let begun = cpu_seconds();
        api::run_once(&scenario, Seed { seed: scenario.seed, run })?;
        let between = cpu_seconds();
        // Otherwise this capture would pay for freeing the pages of an existing file.
        if fs::metadata(target).is_ok_and(|found| found.is_file()) {
            fs::remove_file(target).map_err(|e| format!("{target}: {e}"))?;
        }
        let begun_with = cpu_seconds();
        let (more_frames, more_bytes) = captured(target, file, run, snaplen, points)?;
        (frames, bytes) = (frames + more_frames, bytes + more_bytes);
        without += between - begun;
        with += cpu_seconds() - begun_with;
    }
    println!(
        "{file}: {TIMES} runs {without:.2} s, with captures of {:.0} MiB each {with:.2} s, {:.2} times; {frames} frames, {:.0} ns each",
        bytes as f64 / TIMES as f64 / f64::from(1 << 20),
        with / without,
        1e9 * (with - without) / frames as f64,
    );
    Ok(())
}

/// Runs once with a capture, for callgrind. Prints the number of frames and bytes.
fn print_captured(target: &str, file: &str, snaplen: &str, points: &[&str]) -> Result<(), String> {
    let snaplen = snaplen.parse::<u32>().map_err(|e| format!("snaplen {snaplen}: {e}"))?;
    let (frames, bytes) = captured(target, file, 0, snaplen, points)?;
    println!("{file}: {frames} frames, {bytes} bytes");
    Ok(())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (files, times) = match arguments[..] {
        ["--events", file] => return ended(print_events(file)),
        ["--json", file, run] => return ended(print_json(file, run)),
        ["--capture", target, file, snaplen, ref points @ ..] => {
            return ended(print_capture_cost(target, file, snaplen, points));
        }
        ["--once", "--capture", target, file, snaplen, ref points @ ..] => {
            return ended(print_captured(target, file, snaplen, points));
        }
        ["--once", ref files @ ..] => (files, 1),
        ref files => (files, TIMES),
    };
    let Some((sets, files)) = sets(files) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    if files.is_empty() || files.iter().any(|f| f.starts_with('-')) {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    }
    println!(
        "scenario                            offered delivered segments  CPU s   s/run ns/offered ns/delivered \
         ns/segment bound used"
    );
    ended(files.iter().try_for_each(|file| print_cost(file, times, &sets)))
}
