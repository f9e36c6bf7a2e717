//! Settings that a scenario leaves to a node's kernel.

use super::*;

/// Truesize of segments on a station's kernel: a full segment in its own buffer and in page fragments, and
/// whether packets of several segments are built over Wi-Fi.
#[test]
fn truesize_depends_on_the_kernel() {
    let weighs = |sets: &[(&str, &str)]| {
        let found = with(sets).unwrap();
        let node = found.nodes.iter().find(|node| node.name == "fast1").unwrap();
        let (memory, room) = (node.profile.memory, node.profile.tcp.max_header);
        (SocketMemory::linear(room), memory.paged(room), node.interfaces[0].tso)
    };
    for (profile, expected) in [
        ("linux-3.13", (4352, 2328, false)),
        ("linux-4.6", (4352, 2328, false)),
        ("linux-4.14", (4352, 2728, false)),
        ("linux-4.19", (4352, 2728, true)),
        ("linux-6.1", (4352, 2728, true)),
        ("linux-6.6", (4352, 2344, true)),
        ("linux-6.12", (4352, 2344, true)),
        ("linux-6.18", (4352, 2408, true)),
    ] {
        assert_eq!(weighs(&[("node.fast1.profile", profile)]), expected, "{profile}");
    }
    // A kernel without Wi-Fi and tunnels, like the measured ones.
    let small = [("node.fast1.profile", "linux-6.1"), ("node.fast1.tcp.max_header", "256")];
    assert_eq!(weighs(&small), (2304, 2728, true));
    let single = [("node.fast1.profile", "linux-6.1"), ("node.fast1.interface.wlan0.tso", "false")];
    assert_eq!(weighs(&single), (4352, 2728, false));
}

/// `sk_pacing_shift` on other devices and over Wi-Fi, where the driver sets it.
#[test]
fn the_pacing_shift_over_wifi_is_the_drivers() {
    let shifts = |sets: &[(&str, &str)]| {
        let found = with(sets).unwrap();
        let profile = &found.nodes.iter().find(|node| node.name == "fast1").unwrap().profile;
        (profile.tcp.pacing_shift, profile.wifi_pacing_shift)
    };
    for (profile, kernels) in [("linux-4.14", 10), ("linux-4.19", 8), ("linux-6.12", 7)] {
        let profile = ("node.fast1.profile", profile);
        assert_eq!(shifts(&[profile]), (10, kernels), "{profile:?}");
        assert_eq!(shifts(&[profile, ("node.fast1.tcp.wifi_pacing_shift", "6")]), (10, 6), "{profile:?}");
        // A patched kernel has the same value for all devices.
        assert_eq!(shifts(&[profile, ("node.fast1.tcp.tsq_period", "4 ms")]), (10, 10), "{profile:?}");
    }
}

#[test]
fn scheme_defaults_to_the_kernels() {
    let said = |profile: &str, scheme: &[(&str, &str)]| {
        let sets = [&[("node.fast1.profile", profile)], scheme].concat();
        let found = with(&sets).unwrap_or_else(|e| panic!("{profile}: {e}"));
        let wifi = wifi(&found, "fast1");
        let rules = match &wifi.driver {
            DriverConfig::Fq(queues, Scheduler::Mac80211(_, _, rules)) => Some((*rules, queues.drop_batch)),
            _ => None,
        };
        (wifi.scheme, rules)
    };
    let rounds = (Scheme::Mac80211, Some((Mac80211Rules::Rounds, 1)));
    let pending = (Scheme::Mac80211, Some((Mac80211Rules::RoundsWithPending, 32)));
    for (profile, expected) in [
        ("windows-10", (Scheme::Fifo, None)),
        ("linux-4.6", (Scheme::Fifo, None)),
        ("linux-4.14", (Scheme::Airtime, None)),
        ("linux-4.19", (Scheme::Airtime, None)),
        ("linux-5.10", rounds),
        ("linux-5.15", (Scheme::Mac80211, Some((Mac80211Rules::VirtualTime, 32)))),
        ("linux-6.1", pending),
        ("linux-6.12", pending),
        ("linux-6.18", pending),
    ] {
        assert_eq!(said(profile, &[]), expected, "{profile}");
    }
    // ath9k follows the kernel: no airtime queue limits, and CoDel relaxed depending on the number of
    // stations, or never.
    let ath9k = |profile: &str| {
        let found = with(&[("node.fast1.profile", profile)]).unwrap();
        let DriverConfig::Fq(queues, scheduler) = wifi(&found, "fast1").driver else { panic!("{profile}") };
        (queues.slow_below, matches!(scheduler, Scheduler::Mac80211(_, Some(_), _)))
    };
    for (profile, slow_below) in [
        ("linux-4.14", SlowBelow::EachStation(Rate::from_mbps(6))),
        ("linux-6.1", SlowBelow::EachStation(Rate::from_mbps(6))),
        // Its stable kernels backported the change from 6.16.
        ("linux-6.12", SlowBelow::Rate(Rate::from_bps(0))),
        ("linux-6.18", SlowBelow::Rate(Rate::from_bps(0))),
    ] {
        assert_eq!(ath9k(profile), (slow_below, false), "{profile}");
    }
    // Explicit settings take precedence over the kernel; parts not set are the kernel's.
    let scheme = |value| [("node.fast1.interface.wlan0.scheme", value)];
    assert_eq!(said("linux-6.1", &scheme("fifo")), (Scheme::Fifo, None));
    assert_eq!(said("linux-4.6", &scheme("mac80211")), rounds);
    assert_eq!(said("linux-6.1", &scheme("{ kind = \"mac80211\", aql = false }")), pending);
    assert_eq!(said("linux-6.1", &scheme("{ kind = \"mac80211\", kernel = \"linux-5.1\" }")), rounds);
}

/// Each scheme by name under each kernel: settings not given are the kernel's, or the paper's if the kernel
/// has no such queues.
// linux: drivers/net/wireless/ath/ath9k/xmit.c ath_txq_schedule (4.10, 4.11), net/mac80211/sta_info.c
// sta_update_codel_params (4.12, 6.16), include/net/fq_impl.h fq_flow_drop (5.12), net/mac80211/tx.c
// ieee80211_next_txq (5.1, 5.14, 6.0).
#[test]
fn scheme_defaults_are_the_kernels() {
    let kind = |profile: &str, scheme: &str| {
        let sets = [("node.fast1.profile", profile), ("node.fast1.interface.wlan0.scheme", scheme)];
        let DriverConfig::Fq(queues, scheduler) = wifi(&with(&sets).unwrap(), "fast1").driver else {
            panic!("{profile} {scheme}")
        };
        let slow = match queues.slow_below {
            SlowBelow::NOBODY => "nobody".to_owned(),
            SlowBelow::Rate(rate) => format!("{} {}", rate.bps() / 1_000_000, queues.hysteresis.secs_f64()),
            SlowBelow::EachStation(rate) => format!("{} each", rate.bps() / 1_000_000),
        };
        let turn = match scheduler {
            Scheduler::Custom(own) => own.name().to_owned(),
            Scheduler::RoundRobin(when_full) => format!("{when_full:?}"),
            Scheduler::Airtime(a) | Scheduler::AirtimeAsPrinted(a) => {
                format!("{}", a.quantum.nanos() / 1_000)
            }
            Scheduler::Mac80211(a, aql, rules) => {
                format!(
                    "{} {rules:?} {}",
                    a.quantum.nanos() / 1_000,
                    if aql.is_some() { "aql" } else { "no aql" }
                )
            }
        };
        format!("{turn}, slow {slow}, drops {}", queues.drop_batch)
    };
    for (profile, queues, round, rules) in [
        ("windows-10", "slow 12 2, drops 1", "LosesTurn", "Rounds"),
        ("linux-3.13", "slow 12 2, drops 1", "LosesTurn", "Rounds"),
        ("linux-4.6", "slow 12 2, drops 1", "LosesTurn", "Rounds"),
        ("linux-4.14", "slow 6 each, drops 1", "KeepsTurn", "Rounds"),
        ("linux-4.19", "slow 6 each, drops 1", "KeepsTurn", "Rounds"),
        ("linux-5.10", "slow 6 each, drops 1", "KeepsTurn", "Rounds"),
        ("linux-5.15", "slow 6 each, drops 32", "KeepsTurn", "VirtualTime"),
        ("linux-6.1", "slow 6 each, drops 32", "KeepsTurn", "RoundsWithPending"),
        ("linux-6.6", "slow 6 each, drops 32", "KeepsTurn", "RoundsWithPending"),
        ("linux-6.12", "slow nobody, drops 32", "KeepsTurn", "RoundsWithPending"),
        ("linux-6.18", "slow nobody, drops 32", "KeepsTurn", "RoundsWithPending"),
    ] {
        assert_eq!(kind(profile, "fq_mac"), format!("{round}, {queues}"), "{profile}");
        for scheme in ["airtime", "airtime_as_printed"] {
            assert_eq!(kind(profile, scheme), format!("300, {queues}"), "{profile}");
        }
        // On a kernel without this scheduler, it uses the queues of the first kernel that has it.
        let queues = queues.replace("12 2", "6 each");
        assert_eq!(kind(profile, "mac80211"), format!("256 {rules} aql, {queues}"), "{profile}");
    }
}

/// Results are keyed by the resolved text, for example those of sweeps, so every setting must appear in it.
#[test]
fn every_setting_of_tcp_shows_in_the_resolved_scenario() {
    let text = |sets: &[(&str, &str)]| with(sets).unwrap().resolved();
    let before = text(&[]);
    for (key, value) in [
        ("tsq", "off"),
        ("tsq_period", "8 ms"),
        ("tsq_cap", "fixed 131072"),
        ("tsq_min_packets", "3"),
        ("tsq_by_rate", "false"),
        ("tsq_exception", "empty_rtx_queue"),
        ("tsq_retransmissions", "false"),
        ("tsq_bytes", "8192 B"),
        ("pacing_base", "base_rtt"),
        ("initcwnd", "11"),
        ("rto_min", "201 ms"),
        ("max_header", "272 B"),
        ("hz", "300"),
    ] {
        let name = format!("node.fast1.tcp.{key}");
        assert!(text(&[(&name, value)]) != before, "{key}");
    }
    // Sizes that make every packet equally heavy, but whose buffers grow differently.
    let of = |size| text(&[("node.fast1.tcp.max_header", size)]);
    assert!(of("257 B") != of("272 B"));
}
