//! Measures the cost of scenarios by size: time to read one and to build its world, memory per station, time
//! and events of a run.
//!
//! `scale [--set KEY=VALUE]... FILE...` prints a line for each. Times are CPU times of this process from the
//! kernel's scheduler; memory is the increase of resident memory. Segments are TCP data segments received.
//!
//! `scale --start FILE` prints the mean time of reading, building and reporting over many tries; `scale
//! --sweep FILE RUNS` compares the cost of runs in one call with that of separate runs; `scale --once FILE`
//! runs once, for callgrind, and prints packets and segments delivered; `scale --islands FILE THREADS` runs
//! in a single order, by islands, and by islands on several threads; `scale --tenths FILE` prints the
//! resident memory at each tenth of a run.

use std::fs;
use std::process::ExitCode;

use stillair_model::types::{Instant, Seed};
use stillair_sim::api::{self, Request};
use stillair_sim::recorder::RunSummary;
use stillair_sim::run::{RunReport, Session, run_by_islands};
use stillair_sim::scenario::{self, Scenario};
use stillair_sim::world;

const USAGE: &str = "usage: scale [--set KEY=VALUE]... SCENARIO... | scale --start SCENARIO | scale --sweep SCENARIO RUNS | scale --once SCENARIO | scale --islands SCENARIO THREADS | scale --tenths SCENARIO";
/// Repetitions of a short operation, because the system counts in hundredths of a second.
const TRIES: u32 = 200;

/// Runs of a sweep between two readings of the time.
const TURN: u32 = 50;

/// Returns the CPU time of the main thread, in nanoseconds.
fn cpu() -> u64 {
    // linux: Documentation/scheduler/sched-stats.rst - the first number is the time on the CPU in
    // nanoseconds.
    let stat = fs::read_to_string("/proc/self/schedstat").expect("Linux counts it");
    stat.split_whitespace().next().and_then(|n| n.parse().ok()).expect("nanoseconds")
}

/// Returns the CPU time of all threads, including finished ones, in seconds.
fn of_all_threads() -> f64 {
    // linux: proc_pid_stat(5) - fields 14 and 15, in ticks of 1/100 s; the process name before them may
    // contain spaces.
    let stat = fs::read_to_string("/proc/self/stat").expect("Linux has /proc");
    let (_, fields) = stat.rsplit_once(')').expect("a name in brackets");
    fields.split_whitespace().skip(11).take(2).map(|t| t.parse::<f64>().expect("ticks")).sum::<f64>() / 100.0
}

/// Returns the time since boot, in seconds.
fn uptime() -> f64 {
    // linux: proc_uptime(5) - the first number is seconds, with two decimals.
    let uptime = fs::read_to_string("/proc/uptime").expect("Linux has /proc");
    uptime.split_whitespace().next().and_then(|n| n.parse().ok()).expect("seconds")
}

/// Returns the resident memory, in KiB.
fn resident() -> u64 {
    // linux: proc_pid_status(5) - VmRSS.
    let status = fs::read_to_string("/proc/self/status").expect("Linux has /proc");
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:")).expect("every process has memory");
    line.trim().trim_end_matches("kB").trim().parse().expect("KiB")
}

/// Returns the result of `act`, and its CPU time in nanoseconds.
fn timed<T>(act: impl FnOnce() -> T) -> (T, u64) {
    let before = cpu();
    let made = act();
    (made, cpu() - before)
}

fn read(file: &str, sets: &[(String, String)]) -> Result<(String, Scenario), String> {
    let text = fs::read_to_string(file).map_err(|e| format!("{file}: {e}"))?;
    let scenario = scenario::parse(&text, file, sets).map_err(|e| e.to_string())?;
    Ok((text, scenario))
}

fn ms(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e6
}

fn segments(summary: &RunSummary) -> u64 {
    summary.flows.values().filter_map(|f| f.tcp.as_ref()).map(|tcp| u64::from(tcp.delivered)).sum()
}

/// Returns the mean number of frames per data exchange, by station.
fn aggregated(summary: &RunSummary) -> String {
    let means: Vec<f64> = summary.stations.values().filter_map(|s| s.mean_aggregate).collect();
    if means.is_empty() {
        "-".to_owned()
    } else {
        format!("{:.1}", means.iter().sum::<f64>() / means.len() as f64)
    }
}

/// Prints a line about a scenario.
fn scale(file: &str, sets: &[(String, String)]) -> Result<(), String> {
    let empty = resident();
    let (read, to_read) = timed(|| read(file, sets));
    let (_, scenario) = read?;
    let seed = Seed { seed: scenario.seed, run: 0 };
    let parsed = resident();
    let (wired, to_wire) = timed(|| world::wire(&scenario, seed, |recorder| recorder));
    let mut world = wired.world;
    let wired = resident();
    let ((), took) = timed(|| world.run_until(Instant::ZERO + scenario.duration));
    let run = resident();
    let (events, hash) = (world.events(), world.trace().trace_hash());
    drop(world);
    let summary = api::run_once(&scenario, seed)?;
    let (segments, frames) = (segments(&summary), aggregated(&summary));
    let stations = summary.stations.len().max(1) as u64;
    let per = |n: u64| if n == 0 { "-".to_owned() } else { format!("{:.0}", took as f64 / n as f64) };
    println!(
        "{file}: {stations} stations; read in {:.1} ms, wired in {:.1} ms; KiB a station: {:.1} read, {:.1} wired, {:.1} at the end; \
         {events} events, {} frames in an exchange; {:.2} s of CPU for {:.0} s, {} ns a delivered packet, {} ns a segment; hash {hash:016x}",
        ms(to_read),
        ms(to_wire),
        (parsed - empty) as f64 / stations as f64,
        (wired - parsed) as f64 / stations as f64,
        (run.saturating_sub(parsed)) as f64 / stations as f64,
        frames,
        took as f64 / 1e9,
        scenario.duration.secs_f64(),
        per(summary.packets.delivered),
        per(segments),
    );
    Ok(())
}

/// Prints the packets and segments that a run delivers.
fn once(file: &str) -> Result<(), String> {
    let (_, scenario) = read(file, &[])?;
    let summary = api::run_once(&scenario, Seed { seed: scenario.seed, run: 0 })?;
    println!("{} {}", summary.packets.delivered, segments(&summary));
    Ok(())
}

/// Prints the time to start a run, and to create its report.
fn start(file: &str) -> Result<(), String> {
    let none = [("duration".to_owned(), "1 ms".to_owned()), ("warm_up".to_owned(), "0 s".to_owned())];
    let each = |act: &dyn Fn() -> Result<(), String>| -> Result<f64, String> {
        let begun = of_all_threads();
        (0..TRIES).try_for_each(|_| act())?;
        Ok(1e3 * (of_all_threads() - begun) / f64::from(TRIES))
    };
    let (_, scenario) = read(file, &none)?;
    let seed = Seed { seed: scenario.seed, run: 0 };
    let to_read = each(&|| read(file, &none).map(drop))?;
    let to_wire = each(&|| {
        drop(world::wire(&scenario, seed, |recorder| recorder));
        Ok(())
    })?;
    let whole = each(&|| api::run_once(&scenario, seed).map(drop))?;
    println!(
        "{file}: read in {to_read:.2} ms, wired and taken down in {to_wire:.2} ms, a run of 1 ms with its report {whole:.2} ms"
    );
    Ok(())
}

/// Compares runs in one call on all CPUs with separate runs, alternating because the machine may be busy.
fn sweep(file: &str, runs: &str) -> Result<(), String> {
    let runs: u32 = runs.parse().map_err(|e| format!("runs {runs}: {e}"))?;
    let (text, scenario) = read(file, &[])?;
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let (mut alone, mut together, mut bytes) = (0.0, 0.0, 0);
    for first_run in (0..runs).step_by(TURN as usize) {
        let turn = TURN.min(runs - first_run);
        let begun = of_all_threads();
        for run in first_run..first_run + turn {
            api::run_once(&scenario, Seed { seed: scenario.seed, run: run.into() })?;
        }
        let between = of_all_threads();
        let (text, file, overrides) = (text.clone(), file.to_owned(), Vec::new());
        let request =
            Request { text, file, overrides, seed: None, runs: turn, first_run, jobs, series: false };
        bytes += api::run(&request, &|_, _| true).map_err(|_| "the runs failed".to_owned())?.len();
        alone += between - begun;
        together += of_all_threads() - between;
    }
    println!(
        "{file}: {runs} runs one by one {alone:.2} s of CPU, by {jobs} workers {together:.2} s, {:+.1} %; results of {bytes} bytes",
        100.0 * (together / alone - 1.0)
    );
    Ok(())
}

/// Prints the resident memory at each tenth of a run.
fn tenths(file: &str) -> Result<(), String> {
    let (_, scenario) = read(file, &[])?;
    let ((), took) = timed(|| {
        let mut session = Session::new(&scenario, Seed { seed: scenario.seed, run: 0 }, |recorder| recorder)
            .expect("a run");
        print!(
            "{file}: {:.0} s, MiB at its beginning {:.1}, at each tenth",
            scenario.duration.secs_f64(),
            mib()
        );
        for tenth in 1..=10 {
            session.advance(Instant::from_nanos(scenario.duration.nanos() / 10 * tenth));
            print!(" {:.1}", mib());
        }
        session.finish().expect("accounts close");
    });
    println!("; {:.2} s of CPU", took as f64 / 1e9);
    Ok(())
}

fn mib() -> f64 {
    resident() as f64 / 1024.0
}

/// Compares a run in a single order, by islands one after another, and by islands on `threads` threads.
/// Includes the report, but not reading.
fn islands(file: &str, threads: &str) -> Result<(), String> {
    let threads: usize = threads.parse().map_err(|e| format!("threads {threads}: {e}"))?;
    let (_, scenario) = read(file, &[])?;
    let seed = Seed { seed: scenario.seed, run: 0 };
    let watched = |run: &dyn Fn() -> Result<RunReport, String>| -> Result<_, String> {
        let (begun, before) = (uptime(), of_all_threads());
        let report = run()?;
        Ok((report, uptime() - begun, of_all_threads() - before))
    };
    let in_one_order =
        || Session::new(&scenario, seed, |recorder| recorder)?.finish().map(|(report, _)| report);
    let (plain, took, cpu) = watched(&in_one_order)?;
    println!("{file}: in one order {took:.2} s, {cpu:.2} s of CPU, hash {}", plain.summary.trace_hash);
    for threads in if threads > 1 { vec![1, threads] } else { vec![1] } {
        let by_islands = || {
            run_by_islands(&scenario, seed, threads).unwrap_or_else(|| Err("it has no islands".to_owned()))
        };
        let (report, took, cpu) = watched(&by_islands)?;
        let same = if report.to_json()? == plain.to_json()? { "the same report" } else { "ANOTHER REPORT" };
        println!("{file}: by islands on {threads} threads {took:.2} s, {cpu:.2} s of CPU, {same}");
    }
    Ok(())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments[..] {
        ["--once", file] => once(file),
        ["--start", file] => start(file),
        ["--tenths", file] => tenths(file),
        ["--islands", file, threads] => islands(file, threads),
        ["--sweep", file, runs] => sweep(file, runs),
        ref given => {
            let (mut sets, mut files) = (Vec::new(), given);
            while let ["--set", set, rest @ ..] = files {
                let Some((key, value)) = set.split_once('=') else { break };
                sets.push((key.to_owned(), value.to_owned()));
                files = rest;
            }
            if files.is_empty() || files.iter().any(|file| file.starts_with('-')) {
                eprintln!("{USAGE}");
                return ExitCode::from(2);
            }
            files.iter().try_for_each(|file| scale(file, &sets))
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("{e}");
            ExitCode::FAILURE
        }
    }
}
