//! Packets allocate no memory once a run is warm: queues, tables and buffers have reached their size by then.

#![expect(unsafe_code, reason = "an allocator that counts")]

#[path = "common/counting.rs"]
mod counting;

use std::fs;
use std::path::Path;

use counting::{Counting, counted};
use stillair_model::types::{Duration, Instant, Seed};
use stillair_sim::recorder::Recorder;
use stillair_sim::scenario;
use stillair_sim::world::{World, wire};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Traffic time after the `warm_up` of a scenario until its run is warm. Allocations in the next two seconds
/// are counted.
const WARM: Duration = Duration::from_secs(20);
/// The same for QUIC: until a queue first drops packets, the number of packets in flight grows, and each has
/// a list of its frames.
const WARM_QUIC: Duration = Duration::from_secs(60);

/// Returns an error for a scenario whose packets allocate memory.
fn wrong(text: &str, name: &str, sets: &[(&str, &str)], warm: Duration) -> Option<String> {
    let sets: Vec<(String, String)> = sets.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
    let scenario = scenario::parse(text, name, &sets).unwrap_or_else(|e| panic!("{e}"));
    let warm = Instant::ZERO + scenario.warm_up + warm;
    let mut world = wire(&scenario, Seed { seed: scenario.seed, run: 0 }, |recorder| recorder).world;
    world.run_until(warm);
    let created = |world: &World<Recorder>| world.books().packet_account().0.created;
    let before = created(&world);
    let ((), took, places) = counted(|| world.run_until(warm + Duration::from_secs(2)));
    let packets = created(&world) - before;
    // Structures that grow once more need a few allocations, whatever the number of packets.
    let wrong = packets < 1_000 || took * 1_000 > packets;
    wrong.then(|| format!("{name}: {took} allocations for {packets} packets\n    {places}"))
}

#[test]
fn benchmark_scenarios_allocate_nothing_per_packet() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/bench");
    let mut found: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    assert!(found.len() >= 11, "{found:?}");
    let wrong: Vec<String> = found
        .iter()
        .filter_map(|file| {
            let name = file.file_name().unwrap().to_str().unwrap();
            let text = fs::read_to_string(file).unwrap();
            match name {
                // The scenario's transfer would be over by then.
                "quic.toml" => {
                    let sets = [("flow.0.bytes", "1000 MB"), ("duration", "1000 s")];
                    wrong(&text, name, &sets, WARM_QUIC)
                }
                _ => wrong(&text, name, &[("duration", "1000 s")], WARM),
            }
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
