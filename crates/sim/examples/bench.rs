//! Runs scenarios and prints what a packet costs.
//!
//! `bench FILE...` runs each five times and prints CPU time; `bench --once FILE` runs once, for callgrind. The unit: for
//! UDP, per packet offered and per packet delivered. CPU time is the process's own, from the kernel's accounting, since
//! wall clocks are noisy.

use std::fs;
use std::process::ExitCode;

use stillair_model::vocabulary::Seed;
use stillair_sim::{api, scenario};

/// The design's bound on CPU time for UDP, in seconds.
const PER_OFFERED: f64 = 250e-9;
const PER_DELIVERED: f64 = 700e-9;

/// User and system time of this process in seconds.
fn cpu_seconds() -> f64 {
    // linux: proc_pid_stat(5) - fields 14 and 15, in ticks of 1/100 s; the name before them may contain spaces.
    let stat = fs::read_to_string("/proc/self/stat").expect("Linux has /proc");
    let (_, fields) = stat.rsplit_once(')').expect("a name in brackets");
    fields.split_whitespace().skip(11).take(2).map(|t| t.parse::<f64>().expect("ticks")).sum::<f64>() / 100.0
}

/// Runs a scenario so often; returns packets offered and delivered.
fn run(file: &str, times: u64) -> Result<(u64, u64), String> {
    let text = fs::read_to_string(file).map_err(|e| format!("{file}: {e}"))?;
    let scenario = scenario::parse(&text, file, &[]).map_err(|e| e.to_string())?;
    let (mut offered, mut delivered) = (0, 0);
    for run in 0..times {
        let packets = api::run_once(&scenario, Seed { seed: scenario.seed, run })?.packets;
        offered += packets.created;
        delivered += packets.delivered;
    }
    Ok((offered, delivered))
}

fn main() -> ExitCode {
    let mut files: Vec<String> = std::env::args().skip(1).collect();
    let once = files.first().is_some_and(|f| f == "--once");
    if once {
        files.remove(0);
    }
    if files.is_empty() {
        eprintln!("usage: bench [--once] SCENARIO...");
        return ExitCode::from(2);
    }
    println!(
        "scenario                            offered delivered  CPU s ns/offered ns/delivered bound used"
    );
    for file in &files {
        let before = cpu_seconds();
        let (offered, delivered) = match run(file, if once { 1 } else { 5 }) {
            Ok(packets) => packets,
            Err(e) => {
                eprintln!("{e}");
                return ExitCode::FAILURE;
            }
        };
        let cpu = cpu_seconds() - before;
        let bound = PER_OFFERED * offered as f64 + PER_DELIVERED * delivered as f64;
        let per = |packets: u64| cpu * 1e9 / packets as f64;
        println!(
            "{file:34} {offered:8} {delivered:9} {cpu:6.2} {:10.0} {:12.0} {:9.0}%",
            per(offered),
            per(delivered),
            100.0 * cpu / bound
        );
    }
    ExitCode::SUCCESS
}
