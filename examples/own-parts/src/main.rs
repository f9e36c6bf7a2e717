//! A program with four user-defined parts, one of each kind, in addition to the built-in ones.
//!
//! ```sh
//! cargo run --release -p own-parts -- parts
//! cargo run --release -p own-parts -- run examples/own-parts/scenario.toml --runs 3
//! ```

mod aqm;
mod congestion_control;
mod qdisc;
mod station_scheduler;
#[cfg(test)]
mod tests;

use std::process::ExitCode;

use stillair_cli::{Key, PartError, Parts};

use aqm::Ramp;
use congestion_control::Calm;
use qdisc::ShortFirst;
use station_scheduler::LeastUsed;

/// Registers the parts with their keys: allowed values, defaults, and a function that creates the part.
fn register(parts: &mut Parts) -> Result<(), PartError> {
    let keys = vec![
        Key::integer("gain", 1..=16, 2, "segments that the window grows by in a round trip"),
        Key::number("keep", 0.1..=0.9, 0.5, "share of the window that a loss leaves"),
        Key::duration("target", ["1 ms", "1 s"], "20 ms", "delay by queues above which it does not grow"),
    ];
    parts.congestion_control("calm", "grows until there is a queue", keys, |o| {
        Ok(Calm::new(o.integer("gain"), o.number("keep"), o.duration("target")))
    })?;
    let keys = vec![
        Key::integer("limit", 1..=100_000, 1_000, "most packets of either length"),
        Key::bytes("short", 60..=1_514, 200, "longest packet that counts as short, with its Ethernet header"),
        Key::integer("row", 1..=1_000, 10, "short packets in a row while others wait"),
    ];
    parts.qdisc("short_first", "short packets before long ones", keys, |o, _| {
        Ok(ShortFirst::new(o.integer("limit"), o.bytes("short"), o.integer("row")))
    })?;
    let keys = vec![
        Key::duration("low", ["1 us", "1 s"], "5 ms", "time in the queue from which packets are marked"),
        Key::duration("high", ["1 us", "10 s"], "25 ms", "time in the queue from which all of them are"),
    ];
    parts.aqm("ramp", "marks the more the longer packets have waited", keys, |o, stream| {
        let (low, high) = (o.duration("low"), o.duration("high"));
        // Each value is valid on its own; the part must reject invalid combinations.
        if low < high { Ok(Ramp::new(low, high, stream)) } else { Err("low below high".to_owned()) }
    })?;
    let keys = vec![Key::duration("memory", ["1 ms", "10 s"], "100 ms", "airtime counts half after this")];
    parts.station_scheduler("least_used", "who has had the least airtime of late", keys, |o, peers| {
        Ok(LeastUsed::new(o.duration("memory"), peers))
    })?;
    Ok(())
}

fn main() -> ExitCode {
    stillair_cli::main(register)
}
