//! Saturated stations on [`Medium`] compared with Bianchi's model: throughput and collision probability.
//!
//! As in the model, frames have a fixed length and only collisions lose frames. The medium counts the slot in
//! which another station starts, like the model's slots. The two then differ only by the model's
//! approximation (a collision probability independent of the backoff stage) and the noise of a finite run.

#[path = "common/bianchi.rs"]
mod bianchi;

use bianchi::{SlotDurations, saturation};
use stillair_model::types::{Ac, Duration, Instant, Seed};
use stillair_model::wifi::air::edca::{EdcaParams, EdcaSet};
use stillair_model::wifi::air::medium::{EdcafId, Medium, TxOutcome};
use stillair_model::wifi::phy::Band;
use stillair_model::wifi::phy::timing::Timing;

const DATA: Duration = Duration::from_micros(1_000);
const ANSWER: Duration = Duration::from_micros(16 + 32);
const COLLISION: Duration = Duration::from_micros(1_000 + 60);
const EXCHANGES: u64 = 60_000;

struct Measured {
    throughput: f64,
    p: f64,
    /// Successful exchanges of the least and of the most successful station.
    wins: (u64, u64),
}

fn measure(n: u32, params: EdcaParams) -> Measured {
    let timing = Timing::of(Band::Ghz5);
    let mut medium = Medium::new(timing.sifs, timing.slot);
    let seed = Seed { seed: 1, run: u64::from(n) };
    let functions: Vec<EdcafId> =
        (0..n).map(|i| medium.add(params, seed.stream(&format!("station{i}")))).collect();
    // Every station gets a frame while the medium is busy, so none starts without a backoff.
    medium.hold(Instant::ZERO, Instant::ZERO);
    functions.iter().for_each(|&f| medium.request(Instant::ZERO, f));
    medium.idle(Instant::ZERO, Instant::ZERO);
    let (mut now, mut winners) = (Instant::ZERO, Vec::new());
    let (mut sent, mut collided, mut payload) = (0_u64, 0_u64, Duration::ZERO);
    let mut wins = vec![0_u64; functions.len()];
    for _ in 0..EXCHANGES {
        medium.winners(&mut winners);
        let start = medium.start().expect("all are saturated");
        assert!(start >= now && !winners.is_empty());
        sent += winners.len() as u64;
        let outcome = if let [f] = winners[..] {
            now = start + DATA + ANSWER;
            payload += DATA;
            wins[usize::from(f.0)] += 1;
            TxOutcome::Finished
        } else {
            now = start + COLLISION;
            collided += winners.len() as u64;
            TxOutcome::Failed
        };
        winners.iter().for_each(|&f| medium.done(now, f, outcome, true));
        medium.idle(now, now);
    }
    Measured {
        throughput: payload.secs_f64() / now.secs_f64(),
        p: collided as f64 / sent as f64,
        wins: (*wins.iter().min().expect("n > 0"), *wins.iter().max().expect("n > 0")),
    }
}

/// Compares both for `n` stations: throughput within 3 %, collision probability within 3 % or 0.01, whichever
/// is greater.
fn compare(name: &str, n: u32, params: EdcaParams) -> Measured {
    let timing = Timing::of(Band::Ghz5);
    let gap = timing.aifs(params.aifsn);
    let durations = SlotDurations {
        slot: timing.slot.secs_f64(),
        success: (DATA + ANSWER + gap).secs_f64(),
        collision: (COLLISION + gap).secs_f64(),
        payload: DATA.secs_f64(),
    };
    let window = u32::from(params.cw_min) + 1;
    let stages = ((u32::from(params.cw_max) + 1) / window).ilog2();
    let (want, got) = (saturation(n, window, stages, durations), measure(n, params));
    println!(
        "{name} n = {n}: throughput {:.4} (model {:.4}), p {:.4} (model {:.4})",
        got.throughput, want.throughput, got.p, want.p
    );
    assert!((got.throughput - want.throughput).abs() < 0.03 * want.throughput, "{name} {n}: throughput");
    assert!((got.p - want.p).abs() < f64::max(0.03 * want.p, 0.01), "{name} {n}: {} {}", got.p, want.p);
    got
}

const STATIONS: [u32; 6] = [1, 2, 5, 10, 20, 50];

#[test]
fn dcf() {
    // spec: ieee80211-2016 table 17-21 - CWmin 15 and CWmax 1023 for OFDM; DIFS is SIFS and two slots.
    let dcf = EdcaParams { aifsn: 2, cw_min: 15, cw_max: 1_023, txop: Duration::ZERO };
    for n in STATIONS {
        let got = compare("DCF", n, dcf);
        // Equal stations have equal chances in the long run, but recent collisions reduce them: the bound is
        // wide.
        assert!(got.wins.0 * 3 > got.wins.1, "{n}: {:?}", got.wins);
    }
}

#[test]
fn best_effort_of_stations_and_of_an_access_point() {
    for n in STATIONS {
        compare("BE, stations", n, EdcaSet::STATION.get(Ac::Be));
        compare("BE, access points", n, EdcaSet::ACCESS_POINT.get(Ac::Be));
    }
}

#[test]
fn windows_that_never_grow() {
    // A window that is small for so many stations and never doubles: most transmissions collide.
    let fixed = EdcaParams { aifsn: 2, cw_min: 15, cw_max: 15, txop: Duration::ZERO };
    let got = compare("W = 16", 20, fixed);
    assert!(got.p > 0.8, "{}", got.p);
}
