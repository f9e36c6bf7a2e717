use super::*;
use crate::transport::tcp::sender::testing::established;

fn at(s: u64) -> Instant {
    Instant::ZERO + Duration::from_secs(s)
}

/// A known entry, a sender's threshold (0: none yet), window, state and reordering | the threshold and reordering known then.
type Row = (u32, (u32, u32, CaState, u32), (u32, u32));

// linux: net/ipv4/tcp_metrics.c tcp_update_metrics (4.4).
#[test]
fn what_a_connection_leaves_behind() {
    let table: [Row; 10] = [
        // Still in its first slow start: the threshold is only ever raised.
        (0, (0, 40, CaState::Open, 3), (0, 0)),
        (10, (0, 40, CaState::Open, 3), (20, 0)),
        (30, (0, 40, CaState::Open, 3), (30, 0)),
        // In congestion avoidance it is the sender's, or half its window.
        (0, (12, 20, CaState::Open, 3), (12, 0)),
        (90, (12, 20, CaState::Open, 3), (12, 0)),
        (90, (12, 60, CaState::Open, 3), (30, 0)),
        // In a recovery, or in slow start after one, it is raised if anything is known.
        (0, (12, 12, CaState::Recovery, 3), (0, 0)),
        (10, (12, 12, CaState::Recovery, 3), (12, 0)),
        (10, (12, 5, CaState::Open, 7), (12, 7)),
        (20, (12, 5, CaState::Loss, 3), (20, 0)),
    ];
    for (known, (ssthresh, cwnd, state, reordering), want) in table {
        let mut s = established();
        s.sk.snd_ssthresh = if ssthresh == 0 { INFINITE_SSTHRESH } else { ssthresh };
        (s.sk.snd_cwnd, s.sk.ca_state) = (cwnd, state);
        s.reorders(reordering);
        let before = PathMetrics { ssthresh: known, ..PathMetrics::default() };
        let (mut path, mut newer) = (before, before);
        path.learn(at(1), &s, 3, false);
        assert_eq!((path.ssthresh, path.reordering), want, "{known} {ssthresh} {cwnd} {state:?}");
        newer.learn(at(1), &s, 3, true);
        assert_eq!((newer.ssthresh, newer.reordering), (known, want.1));
    }
}

#[test]
fn a_longer_round_trip_counts_at_once_a_shorter_one_by_an_eighth_and_all_for_an_hour() {
    let mut s = established();
    let mut path = PathMetrics::default();
    for (srtt8, known) in [(80_000, 80_000), (160_000, 160_000), (80_000, 150_000), (0, 0), (80_000, 80_000)]
    {
        s.sk.srtt_us = srtt8;
        path.learn(at(1), &s, 3, false);
        assert_eq!(path.rtt8_us, known);
    }
    assert_eq!((path.at(at(3_601)), path.at(at(3_602))), (path, PathMetrics::default()));
}

// linux: net/ipv4/tcp_metrics.c tcp_init_metrics (4.4) - the timeout is a round trip and two more, or 200 ms.
#[test]
fn what_is_remembered_is_where_the_next_one_begins() {
    use crate::transport::tcp::config::TcpConfig;
    use crate::transport::tcp::sender::testing::established_by;
    let path = PathMetrics { rtt8_us: 8 * 300_000, ssthresh: 17, reordering: 9, written: Some(at(1)) };
    let old = TcpConfig { no_ssthresh_metrics_save: false, ..TcpConfig::default() };
    let s = established_by(&old, &path);
    assert_eq!((s.sk.snd_ssthresh, s.reordering(), s.rto() * 1_000 / old.hz), (17, 9, 900));
    let s = established_by(&TcpConfig::default(), &path);
    assert_eq!((s.sk.snd_ssthresh, s.reordering()), (INFINITE_SSTHRESH, 9));
    // What the SYN took is longer than what is remembered.
    let short = PathMetrics { rtt8_us: 8 * 2_000, ..path };
    assert_eq!(established_by(&old, &short).rto(), established_by(&old, &PathMetrics::default()).rto());
}
