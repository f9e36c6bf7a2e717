//! Stream delivery, and its reproducibility.

use proptest::prelude::*;
use stillair_quinn::Settings;

use super::bench::{Fifo, download};
use super::headers::agree;
use super::{ends, plain};
use stillair_model::transport::quic::{Stack, StackEvent};

#[test]
fn the_same_seed_makes_the_same_bytes_at_the_same_times() {
    let run = |seed| {
        let lossy = Fifo { loss: 0.01, ..Fifo::PLAIN };
        let seen = download(&mut ends(Settings::QUINN, seed), 1_000_000, 3, [lossy; 2], 5);
        assert!(seen.drops > 0);
        (seen.hash, seen.shape)
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

/// One pinned run: a change here changes every result that includes quinn.
#[test]
fn a_pinned_trace() {
    assert_eq!(plain(Settings::QUINN).hash, 11421470747385972248);
}

/// The ledger reports exactly the dropped packets as lost.
#[test]
fn lost_packets_are_the_dropped_ones() {
    for limit in [300_000, 60_000] {
        let mut ends = ends(Settings::QUINN, 1);
        let seen = download(&mut ends, 10_000_000, 1, [Fifo { limit, ..Fifo::PLAIN }; 2], 1);
        let lost: Vec<u64> = core::iter::from_fn(|| ends[1].poll_event())
            .map(|event| match event {
                StackEvent::Lost { number } => number,
                StackEvent::SlowStartExit => panic!("quinn does not tell"),
            })
            .collect();
        assert!(lost.len() > 50, "{}", lost.len());
        assert_eq!(lost.len() as u64, seen.snapshots[1].lost);
        assert_eq!(lost, seen.dropped);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Every byte arrives once and in order, whatever the path loses or duplicates. With debug assertions,
    /// which tests enable, the stack itself checks the content.
    #[test]
    fn streams_deliver_all_bytes_once(
        seed in 0_u64..1_000_000,
        loss in 0.0..0.15,
        duplication in 0.0..0.15,
        streams in 1_u64..6,
        bytes in 1_u64..200_000,
        pacing: bool,
    ) {
        let path = Fifo { loss, duplication, ..Fifo::PLAIN };
        let settings = Settings { pacing, ..Settings::QUINN };
        let seen = download(&mut ends(settings, seed), bytes, streams, [path; 2], seed);
        prop_assert_eq!(seen.ends, streams);
        agree(&seen);
        prop_assert_eq!(seen.read.into_values().collect::<Vec<_>>(), vec![bytes; streams as usize]);
    }
}
