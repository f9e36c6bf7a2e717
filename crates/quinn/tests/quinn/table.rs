//! A transfer of 10 MB over 50 Mbit/s, 8 ms and a FIFO of 300 kB, with different settings.

use stillair_model::types::Duration;
use stillair_quinn::{AckFrequency, Congestion, Settings, SimNull};

use super::bench::Seen;
use super::plain;

const TENTH: Option<AckFrequency> =
    Some(AckFrequency { every: 10, max_delay: Some(Duration::from_millis(2)), reordering: 1 });

/// Each row: goodput in kbit/s measured with the library on real sockets, which must be met within 1 %; then
/// pinned results: goodput, acknowledgements received by the data sender, and the share, in thousandths, of
/// gaps below 100 us between its datagrams.
#[test]
fn transfers_match_the_library_on_sockets() {
    let q = Settings::QUINN;
    for (name, settings, alone, expected) in [
        ("default", q, 47_300, [47_322, 3_596, 510]),
        ("tenth", Settings { ack_frequency: TENTH, ..q }, 47_200, [47_209, 922, 831]),
        ("no pacing", Settings { pacing: false, ..q }, 47_400, [47_358, 3_566, 542]),
        ("both", Settings { ack_frequency: TENTH, pacing: false, ..q }, 47_200, [47_236, 843, 892]),
        ("window 32", Settings { initial_window: Some(32 * 1_460), ..q }, 47_600, [47_629, 3_612, 510]),
        ("NewReno", Settings { congestion: Congestion::NewReno, ..q }, 47_300, [47_329, 3_561, 515]),
        ("BBR", Settings { congestion: Congestion::Bbr, ..q }, 45_700, [45_567, 3_573, 509]),
    ] {
        let seen = plain(settings);
        let acks = seen.snapshots[1].acks_received.expect("quinn tells");
        let found = [seen.kbps(), acks, seen.gaps_below(100)];
        assert_eq!(found, expected, "{name}");
        assert!(found[0].abs_diff(alone) * 100 <= alone, "{name}: {} for {alone}", found[0]);
    }
}

/// With a certificate chain that costs no round trip, the transfer ends in the same millisecond as with the
/// library on real sockets. Rows: that millisecond; end of the transfer in us, and maximum number of
/// datagrams sent at the same time.
#[test]
fn a_one_round_trip_handshake_matches_the_library() {
    let q = Settings { handshake: SimNull { certificates: 700, ..SimNull::TLS }, ..Settings::QUINN };
    for (name, settings, alone_ms, expected) in [
        ("default", q, 1_698, (1_698_738, 10)),
        ("tenth", Settings { ack_frequency: TENTH, ..q }, 1_703, (1_702_915, 18)),
        ("no pacing", Settings { pacing: false, ..q }, 1_697, (1_697_770, 10)),
        ("both", Settings { ack_frequency: TENTH, pacing: false, ..q }, 1_702, (1_702_147, 19)),
        ("window 32", Settings { initial_window: Some(32 * 1_460), ..q }, 1_688, (1_688_179, 20)),
        ("NewReno", Settings { congestion: Congestion::NewReno, ..q }, 1_699, (1_698_617, 10)),
    ] {
        let seen = plain(settings);
        let done = seen.done.nanos() / 1_000;
        assert_eq!((done, seen.burst()), expected, "{name}");
        assert!(done.abs_diff(alone_ms * 1_000) < 1_000, "{name}: {done} us for {alone_ms} ms");
    }
}

/// Number of gaps between datagrams with data from `from` to `until` ms, and number of those below 100 us.
fn gaps(seen: &Seen, from: u64, until: u64) -> [u64; 2] {
    let gaps = seen.data.windows(2).filter(|w| (from..until).contains(&(w[0].nanos() / 1_000_000)));
    gaps.fold([0; 2], |[all, short], w| [all + 1, short + u64::from((w[1] - w[0]).nanos() < 100_000)])
}

/// quinn's pacer acts on a FIFO while the window has more room than acknowledgements make: at the start, and
/// after the window reductions at 150 ms and 1,300 ms, since lost packets make room immediately. In between,
/// every acknowledgement releases as much as it acknowledges, with or without pacing, and half of the gaps
/// are short.
#[test]
fn the_pacer_acts_when_the_window_has_room() {
    let runs = [true, false].map(|pacing| plain(Settings { pacing, ..Settings::QUINN }));
    for (from, until, expected) in [
        (0, 50, [[96, 59], [106, 78]]),
        (150, 300, [[735, 319], [733, 471]]),
        (300, 1_250, [[4_013, 1_990], [4_013, 1_989]]),
        (1_300, 1_400, [[353, 110], [353, 176]]),
        (1_400, 1_650, [[1_055, 523], [1_056, 523]]),
    ] {
        assert_eq!(
            [&runs[0], &runs[1]].map(|seen| gaps(seen, from, until)),
            expected,
            "{from} to {until} ms"
        );
    }
}
