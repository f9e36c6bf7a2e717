//! The airtime scheduler of mac80211 in the network of Table 1: weighted shares, and the effect of airtime
//! queue limits.

mod common;

use common::{ANOMALY, of, parse, rounded, run};
use stillair_model::types::{Duration, Rate};
use stillair_model::wifi::config::{DriverConfig, SlowBelow};
use stillair_sim::recorder::RunSummary;
use stillair_sim::scenario::{Attachment, Scenario};

fn flooded(sets: &[(&str, &str)]) -> RunSummary {
    let all = [("duration", "4 s"), ("warm_up", "1 s")];
    run(&parse(ANOMALY, &[&all, sets].concat()), 0)
}

const SCHEME: &str = "node.ap.interface.wlan0.scheme";

#[test]
fn airtime_is_shared_by_weight() {
    let equal = flooded(&[(SCHEME, "mac80211")]);
    let shares = |s: &RunSummary| {
        ["fast1", "fast2", "slow"].map(|name| rounded(of(s, name).airtime_share.expect("frames") * 100.0))
    };
    assert_eq!(shares(&equal), [33, 33, 33]);
    let weighted = flooded(&[
        (SCHEME, "mac80211"),
        ("node.fast1.interface.wlan0.airtime_weight", "512"),
        ("node.fast2.interface.wlan0.airtime_weight", "256"),
        ("node.slow.interface.wlan0.airtime_weight", "256"),
    ]);
    for (share, want) in shares(&weighted).into_iter().zip([50, 25, 25]) {
        assert!(share.abs_diff(want) <= 1, "{:?}", shares(&weighted));
    }
}

#[test]
fn airtime_queue_limits_keep_a_deep_hardware_queue_short() {
    let ping = |aql: &str| {
        let deep = format!("{{ kind = \"mac80211\", hw_aggregates = 32, aql = {aql} }}");
        let s = flooded(&[(SCHEME, &deep)]);
        (of(&s, "slow").ping_median_ms.expect("replies"), s.goodput_total_mbps)
    };
    let ((with, carried), (without, before)) = (ping("true"), ping("false"));
    // The slow station's aggregates mostly wait for each other; a fast station's pings are similar with both
    // over many samples.
    assert!(with < 60.0 && without > 2.0 * with, "{with} {without}");
    assert!(carried > 0.95 * before, "{carried} {before}");
    // With two aggregates, the hardware never holds as much as the limits allow; nor with as many single
    // frames, which a slow station uses before its session.
    let shallow = |aql: &str| {
        let two = format!("{{ kind = \"mac80211\", hw_singles = 2, aql = {aql} }}");
        flooded(&[(SCHEME, &two)]).trace_hash
    };
    assert_eq!(shallow("true"), shallow("false"));
}

#[test]
fn queues_default_to_the_kernels() {
    let queues = |s: &Scenario| match &s.nodes[1].interfaces[1].medium {
        Attachment::Wifi(wifi) => match &wifi.driver {
            DriverConfig::Fq(queues, _) => queues.clone(),
            _ => panic!("{:?}", wifi.driver),
        },
        Attachment::Wired { .. } => panic!("a wire"),
    };
    let (each, given) =
        (|mbps| SlowBelow::EachStation(Rate::from_mbps(mbps)), |mbps| SlowBelow::Rate(Rate::from_mbps(mbps)));
    // Scheme, slow threshold, hysteresis in seconds, maximum packets dropped at once.
    for (scheme, slow, hysteresis, batch) in [
        ("{ kind = \"fq_mac\" }", given(12), 2, 1),
        ("{ kind = \"airtime\" }", given(12), 2, 1),
        ("mac80211", each(6), 0, 1),
        ("{ kind = \"mac80211\" }", each(6), 0, 1),
        ("{ kind = \"mac80211\", kernel = \"linux-5.1\" }", each(6), 0, 1),
        ("{ kind = \"mac80211\", kernel = \"linux-5.14\" }", each(6), 0, 32),
        ("{ kind = \"mac80211\", kernel = \"linux-6.0\" }", each(6), 0, 32),
        ("{ kind = \"mac80211\", kernel = \"linux-6.16\" }", given(0), 0, 32),
        (
            "{ kind = \"mac80211\", kernel = \"linux-6.16\", slow_below = \"12 Mbit/s\", hysteresis = \"2 s\" }",
            given(12),
            2,
            32,
        ),
        ("{ kind = \"mac80211\", kernel = \"linux-6.0\", drop_batch = 1 }", each(6), 0, 1),
    ] {
        let q = queues(&parse(ANOMALY, &[(SCHEME, scheme)]));
        let found = (q.slow_below, q.hysteresis, q.drop_batch);
        assert_eq!(found, (slow, Duration::from_secs(hysteresis), batch), "{scheme}");
    }
}
