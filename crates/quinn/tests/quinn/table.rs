//! A transfer of 10 MB over 50 Mbit/s, 8 ms and a FIFO of 300 kB, by settings.

use stillair_model::vocabulary::Duration;
use stillair_quinn::{AckFrequency, Congestion, Settings};

use super::plain;

const TENTH: Option<AckFrequency> =
    Some(AckFrequency { every: 10, max_delay: Some(Duration::from_millis(2)), reordering: 1 });

/// Each row: goodput in kbit/s as it was measured with the library by itself, in a prototype without this crate, which is
/// to be met within 1 %; then what is seen here and stays as it is: goodput, acknowledgements that the sender of the data
/// received, and the share of the gaps between its datagrams that are below 100 us, in thousandths. Without pacing these are
/// the prototype's too, within 1.1 %. With pacing they are not (841 acknowledgements of ten packets there, gaps of 540 and
/// 890): there the pacer did nothing after the start, here it does a little, and why they differ is not known.
#[test]
fn transfers_are_as_those_of_the_library_by_itself() {
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
