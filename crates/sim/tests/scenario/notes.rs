//! Notes on valid scenarios.

use super::*;

/// A shaper above the rate of its line or link does not shape; at or below that rate, there is no note.
#[test]
fn a_shaper_faster_than_its_line() {
    let notes = |down: &str, up: &str| {
        let line = "{ kind = \"access\", rate = { down = \"50 Mbit/s\", up = \"10 Mbit/s\" }, buffer = \"100 ms\", delay = \"5 ms\", cpe = \"ap\" }";
        let shaper = format!("{{ down = \"{down}\", up = \"{up}\" }}");
        let sets = [("link.lan", line), ("node.ap.interface.eth0.shaper", &shaper)];
        with(&sets).unwrap_or_else(|e| panic!("{e}")).notes()
    };
    assert!(notes("50 Mbit/s", "10 Mbit/s").iter().all(|note| !note.contains("shaped")));
    let told: Vec<String> =
        notes("60 Mbit/s", "12 Mbit/s").into_iter().filter(|note| note.contains("shaped")).collect();
    assert_eq!(
        told,
        [
            "node.ap.interface.eth0: what leaves is shaped to 12 Mbit/s, and its line carries 10: packets wait before that line, where the shaper does not see them",
            "node.ap.interface.eth0: what comes in is shaped to 60 Mbit/s, and its line carries 50: packets wait before that line, where the shaper does not see them"
        ]
    );
    let link = with(&[("node.server.interface.eth0.qdisc", "{ kind = \"cake\", bandwidth = \"2 Gbit/s\" }")]);
    let link = link.unwrap_or_else(|e| panic!("{e}")).notes();
    assert!(
        link.iter().any(|note| note.contains("shaped to 2000 Mbit/s, and its link carries 1000")),
        "{link:?}"
    );
}

/// A line with a shaper in only one direction queues in the other.
#[test]
fn line_shaped_in_one_direction() {
    let told = |shaper: &str, qdisc: &str| -> Vec<String> {
        let line = "{ kind = \"access\", rate = { down = \"50 Mbit/s\", up = \"10 Mbit/s\" }, buffer = \"100 ms\", delay = \"5 ms\", cpe = \"ap\" }";
        let sets = [
            ("link.lan", line),
            ("node.ap.interface.eth0.shaper", shaper),
            ("node.ap.interface.eth0.qdisc", qdisc),
        ];
        let all = with(&sets).unwrap_or_else(|e| panic!("{e}")).notes();
        all.into_iter().filter(|note| note.contains("only what")).collect()
    };
    let cake = "{ kind = \"cake\", bandwidth = \"9 Mbit/s\" }";
    assert_eq!(
        told("{ down = \"45 Mbit/s\" }", "\"fq_codel\""),
        [
            "node.ap.interface.eth0: only what comes in is shaped: what leaves waits in the modem; shaper.up shapes it"
        ]
    );
    assert_eq!(
        told("\"off\"", cake),
        [
            "node.ap.interface.eth0: only what leaves is shaped: what comes in waits in the line's own buffer; shaper.down shapes it"
        ]
    );
    assert!(told("{ down = \"45 Mbit/s\" }", cake).is_empty());
    assert!(told("\"off\"", "\"fq_codel\"").is_empty());
}

/// An overridden width changes the driver of devices without an explicit one, with a note; the width in the
/// file is considered intended.
#[test]
fn overridden_width_changes_drivers() {
    let of = |sets: &[(&str, &str)]| -> Vec<String> {
        let all = with(sets).unwrap_or_else(|e| panic!("{e}")).notes();
        all.into_iter().filter(|note| note.contains(".width")).collect()
    };
    assert!(of(&[]).is_empty());
    assert_eq!(
        of(&[("channel.wifi.width", "80 MHz")]),
        [
            "channel.wifi.width: with 80 MHz fast1.wlan0 (and 2 more) has the driver ath10k by default, and with up to 40 MHz airtime: results differ \
             by that too, unless scheme or device say which"
        ]
    );
    assert_eq!(of(&[("channel.wifi.width", "40 MHz")]).len(), 1);
    assert!(
        of(&[("channel.wifi.width", "80 MHz"), ("node.fast1.interface.wlan0.scheme", "fifo")]).is_empty()
    );
}

/// Airtime charged to no station has a note, because results are misleading.
#[test]
fn airtime_without_charges() {
    let of = |scheme: &str| -> usize {
        let all =
            with(&[("node.ap.interface.wlan0.scheme", scheme)]).unwrap_or_else(|e| panic!("{e}")).notes();
        all.iter().filter(|note| note.contains("airtime_flags 0")).count()
    };
    assert_eq!(
        of("{ kind = \"mac80211\", kernel = \"linux-6.0\", charge_tx = false, charge_rx = false }"),
        1
    );
    assert_eq!(of("{ kind = \"mac80211\", kernel = \"linux-6.0\", charge_rx = false }"), 0);
    assert_eq!(of("fq_mac"), 0);
}

/// Values that no source states are listed: defaults of Windows, and the weight in Compound's gamma.
#[test]
fn defaults_that_no_source_states() {
    let notes = |profile: &str| -> Vec<String> {
        let sets = [
            ("node.server.profile", profile),
            ("flow.0", "{ kind = \"tcp\", from = \"server\", to = [\"slow\"] }"),
        ];
        let found = with(&sets).unwrap_or_else(|e| panic!("{profile}: {e}"));
        let key = |note: &String| note.contains("server.profile") || note.contains("congestion_control");
        found.notes().into_iter().filter(key).collect()
    };
    assert_eq!(
        notes("windows-10"),
        [
            "node.server.profile: not known: defaults of windows-10 that no source states; those of linux-4.6 are assumed",
            "flow.tcp-0.congestion_control: not known: the weight of a new sample in Compound's gamma; 0.8 is assumed"
        ]
    );
    assert_eq!(notes("macos-10.11").len(), 1);
    assert!(notes("linux-6.12").is_empty());
    assert!(notes("openwrt-24.10").is_empty());
}
