//! The pacing gate.

use stillair_quinn::Settings;

use super::bench::{Fifo, download};
use super::{ends, plain};

/// Detects a change in the order or number of quinn's calls to its controller, which would break the gate:
/// without pacing a large initial window leaves at once, with pacing in parts.
#[test]
fn without_pacing_the_first_window_leaves_at_once() {
    let window = Settings { initial_window: Some(32 * 1_460), ..Settings::QUINN };
    let bursts = [true, false].map(|pacing| plain(Settings { pacing, ..window }).burst());
    assert_eq!(bursts, [17, 39]);
}

#[test]
fn quinn_calls_window_at_most_twice() {
    let lossy = Fifo { loss: 0.02, ..Fifo::PLAIN };
    for pacing in [true, false] {
        let mut ends = ends(Settings { pacing, ..Settings::QUINN }, 1);
        download(&mut ends, 2_000_000, 4, [lossy; 2], 7);
        assert_eq!(ends.map(|end| end.most_asked()), [2, 2]);
    }
}
