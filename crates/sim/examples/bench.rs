//! Runs scenarios and prints what a packet costs: `bench FILE...` in CPU time, `bench --once FILE` for callgrind.
//!
//! The unit: for UDP, per packet offered and per packet delivered. CPU time is the process's own, read from the
//! kernel's accounting, since wall clocks are noisy.

use std::fs;
use std::process::ExitCode;

use stillair_model::vocabulary::Seed;
use stillair_sim::{api, scenario};

/// User and system time of this process in seconds.
fn cpu_seconds() -> f64 {
    // linux: proc_pid_stat(5) - fields 14 and 15, in ticks of 1/100 s; the name before them may contain spaces.
    let stat = fs::read_to_string("/proc/self/stat").expect("Linux has /proc");
    let (_, fields) = stat.rsplit_once(')').expect("a name in brackets");
    fields.split_whitespace().skip(11).take(2).map(|t| t.parse::<f64>().expect("ticks")).sum::<f64>() / 100.0
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
        "{:32} {:>9} {:>9} {:>8} {:>11} {:>13}",
        "scenario", "offered", "delivered", "CPU s", "ns/offered", "bound used"
    );
    for file in &files {
        let text = match fs::read_to_string(file) {
            Ok(text) => text,
            Err(e) => {
                eprintln!("{file}: {e}");
                return ExitCode::from(2);
            }
        };
        let scenario = match scenario::parse(&text, file, &[]) {
            Ok(scenario) => scenario,
            Err(e) => {
                eprintln!("{e}");
                return ExitCode::from(2);
            }
        };
        let repetitions = if once { 1 } else { 5 };
        let (mut offered, mut delivered) = (0, 0);
        let before = cpu_seconds();
        for run in 0..repetitions {
            let summary = match api::run_once(&scenario, Seed { seed: scenario.seed, run }) {
                Ok(summary) => summary,
                Err(e) => {
                    eprintln!("{file}: {e}");
                    return ExitCode::FAILURE;
                }
            };
            offered += summary.packets.created;
            delivered += summary.packets.delivered;
        }
        let cpu = cpu_seconds() - before;
        // The bound of the design: 250 ns for each packet offered and 700 ns for each delivered.
        let bound = 250e-9 * offered as f64 + 700e-9 * delivered as f64;
        let per_offered = cpu * 1e9 / offered as f64;
        println!(
            "{file:32} {offered:9} {delivered:9} {cpu:8.2} {per_offered:11.0} {:12.0}%",
            100.0 * cpu / bound
        );
    }
    ExitCode::SUCCESS
}
