//! The memory of a run is bounded, whatever it records. Reused lists must not be returned by more paths than
//! take them.

#![expect(unsafe_code, reason = "an allocator that counts")]

#[path = "common/counting.rs"]
mod counting;

use std::fs;
use std::path::Path;

use counting::{Counting, live};
use stillair_model::types::{Duration, Instant, Seed};
use stillair_sim::recorder::Recorder;
use stillair_sim::run::{Records, Session, follow};
use stillair_sim::scenario::{self, Scenario};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bytes that a run holds after 4 s and after 12 s of traffic.
fn held<S: Records>(scenario: &Scenario, sink: impl FnOnce(Recorder) -> S) -> [u64; 2] {
    let before = live();
    let mut session = Session::new(scenario, Seed { seed: 1, run: 0 }, sink).unwrap();
    [4, 12].map(|seconds| {
        session.advance(Instant::ZERO + scenario.warm_up + Duration::from_secs(seconds));
        live() - before
    })
}

/// A single test, because other tests in this program would be counted too.
#[test]
fn no_recorder_grows_with_the_length_of_a_run() {
    // TCP over wires with TSO, over Wi-Fi downstream and upstream, and QUIC with GSO.
    let mut wrong = Vec::new();
    for name in ["reno.toml", "anomaly-tcp.toml", "upload-4.toml", "quic.toml"] {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/bench").join(name);
        let text = fs::read_to_string(file).unwrap();
        let bytes = (name == "quic.toml").then_some(("flow.0.bytes", "1000 MB"));
        let sets: Vec<(String, String)> = [("duration", "1000 s")]
            .into_iter()
            .chain(bytes)
            .map(|(k, v)| (k.to_owned(), v.to_owned()))
            .collect();
        let scenario = scenario::parse(&text, name, &sets).unwrap_or_else(|e| panic!("{e}"));
        let plain = held(&scenario, |recorder| recorder);
        let followed = held(&scenario, follow(&scenario));
        for (what, [early, late]) in [("plain", plain), ("record.sojourn", followed)] {
            // Ping replies are kept, and queues may be longer than before: a few hundred bytes for each of a
            // thousand packets.
            if late > early + early / 4 + 512 * 1024 {
                wrong.push(format!("{name}, {what}: {early} bytes after 4 s, {late} after 12 s"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
