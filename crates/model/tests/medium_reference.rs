//! Compares [`Medium`], which computes the start of the next transmission directly, with the standard's rule
//! applied slot by slot: the same EDCA functions with the same draws must transmit at the same times.

use proptest::prelude::*;
use stillair_model::types::{Duration, Instant, RandomStream, Seed};
use stillair_model::wifi::air::edca::EdcaParams;
use stillair_model::wifi::air::medium::{EdcafId, Medium, TxOutcome};

const SIFS: Duration = Duration::from_micros(16);
const SLOT: Duration = Duration::from_micros(9);

/// Frames that arrive for a function at the same time.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    at: Instant,
    function: usize,
    frames: u32,
}

/// Start and functions of each transmission; more than one is a collision.
type Transmissions = Vec<(Instant, Vec<usize>)>;

fn stream(f: usize) -> RandomStream {
    Seed { seed: 1, run: 0 }.stream(&f.to_string())
}

fn by_medium(functions: &[EdcaParams], arrivals: &[Arrival], took: Duration) -> Transmissions {
    let mut medium = Medium::new(SIFS, SLOT);
    let ids: Vec<EdcafId> = functions.iter().enumerate().map(|(f, &p)| medium.add(p, stream(f))).collect();
    let mut frames = vec![0; functions.len()];
    let (mut seen, mut winners, mut left) = (Transmissions::new(), Vec::new(), arrivals);
    // Handles the next arrival if it is before `until`, or before the next transmission for `None`.
    let mut arrive = |medium: &mut Medium, frames: &mut Vec<u32>, until: Option<Instant>| {
        let until = until.or(medium.start()).unwrap_or(Instant::NEVER);
        let Some((a, rest)) = left.split_first().filter(|(a, _)| a.at < until) else { return false };
        if frames[a.function] == 0 {
            medium.request(a.at, ids[a.function]);
        }
        frames[a.function] += a.frames;
        left = rest;
        true
    };
    loop {
        while arrive(&mut medium, &mut frames, None) {}
        let Some(start) = medium.start() else { return seen };
        medium.winners(&mut winners);
        let end = start + took;
        while arrive(&mut medium, &mut frames, Some(end)) {}
        // Arrivals at the exact end follow the completion of the transmission.
        for &f in &winners {
            let n = usize::from(f.0);
            let outcome = if winners.len() == 1 { TxOutcome::Finished } else { TxOutcome::Failed };
            frames[n] -= u32::from(outcome == TxOutcome::Finished);
            medium.done(end, f, outcome, frames[n] > 0);
        }
        medium.idle(end, end);
        while arrive(&mut medium, &mut frames, Some(end + Duration::from_nanos(1))) {}
        let mut who: Vec<usize> = winners.iter().map(|f| usize::from(f.0)).collect();
        who.sort_unstable();
        seen.push((start, who));
    }
}

// spec: ieee80211 10.22.2.4 - at each slot boundary after AIFS a function transmits, decrements its backoff
// counter, or does nothing; 10.22.2.2 - a frame that finds the medium busy and the backoff counter at zero
// draws a new backoff, and so does the end of each transmission. Frames that arrive exactly at that end found
// the medium busy.
fn by_slots(functions: &[EdcaParams], arrivals: &[Arrival], took: Duration) -> Transmissions {
    struct Function {
        params: EdcaParams,
        cw: u16,
        backoff: u32,
        frames: u32,
        stream: RandomStream,
    }
    let mut fs: Vec<Function> = functions
        .iter()
        .enumerate()
        .map(|(f, &params)| Function { params, cw: params.cw_min, backoff: 0, frames: 0, stream: stream(f) })
        .collect();
    let (mut seen, mut left) = (Transmissions::new(), arrivals);
    let (mut boundary, mut n) = (Instant::ZERO + SIFS, 0);
    loop {
        while let Some((a, rest)) = left.split_first().filter(|(a, _)| a.at < boundary) {
            fs[a.function].frames += a.frames;
            left = rest;
        }
        if left.is_empty() && fs.iter().all(|f| f.frames == 0) {
            return seen;
        }
        let mut winners = Vec::new();
        for (i, f) in fs.iter_mut().enumerate().filter(|(_, f)| n >= f.params.aifsn.into()) {
            match f.backoff {
                0 if f.frames > 0 => winners.push(i),
                0 => {}
                _ => f.backoff -= 1,
            }
        }
        if winners.is_empty() {
            (boundary, n) = (boundary + SLOT, n + 1);
            continue;
        }
        let end = boundary + took;
        while let Some((a, rest)) = left.split_first().filter(|(a, _)| a.at < end) {
            let f = &mut fs[a.function];
            if f.frames == 0 && f.backoff == 0 {
                f.backoff = f.stream.below(u32::from(f.cw) + 1);
            }
            f.frames += a.frames;
            left = rest;
        }
        for &i in &winners {
            let f = &mut fs[i];
            if winners.len() == 1 {
                (f.cw, f.frames) = (f.params.cw_min, f.frames - 1);
            } else {
                f.cw = (2 * f.cw + 1).min(f.params.cw_max);
            }
            f.backoff = f.stream.below(u32::from(f.cw) + 1);
        }
        while let Some((a, rest)) = left.split_first().filter(|(a, _)| a.at == end) {
            let f = &mut fs[a.function];
            if f.frames == 0 && f.backoff == 0 && !winners.contains(&a.function) {
                f.backoff = f.stream.below(u32::from(f.cw) + 1);
            }
            f.frames += a.frames;
            left = rest;
        }
        seen.push((boundary, winners));
        (boundary, n) = (end + SIFS, 0);
    }
}

fn function() -> impl Strategy<Value = EdcaParams> {
    (1_u8..10, 0_u32..5, 0_u32..4).prop_map(|(aifsn, min, doublings)| EdcaParams {
        aifsn,
        cw_min: (1 << min) - 1,
        // At least 1, or two functions would collide forever.
        cw_max: ((1 << (min + doublings)) - 1).max(1),
        txop: Duration::ZERO,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_medium_transmits_when_the_standard_says(
        functions in prop::collection::vec(function(), 1..6),
        arrivals in prop::collection::vec((0_u64..800, any::<prop::sample::Index>(), 1_u32..4), 1..40),
        took in 20_u64..400,
    ) {
        let mut at = Instant::ZERO;
        let arrivals: Vec<Arrival> = arrivals
            .into_iter()
            .map(|(gap, function, frames)| {
                at += Duration::from_micros(gap);
                // Boundaries are whole microseconds too: an arrival at a boundary is too late for it.
                Arrival { at, function: function.index(functions.len()), frames }
            })
            .collect();
        let took = Duration::from_micros(took);
        let want = by_slots(&functions, &arrivals, took);
        prop_assert!(want.len() >= arrivals.len());
        prop_assert_eq!(by_medium(&functions, &arrivals, took), want);
    }
}
