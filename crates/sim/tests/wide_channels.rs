//! VHT and HE in a world: aggregates, goodput, and frames as a capture has them.

mod common;

use common::{cell, flow, of, parse, run, station};
use stillair_model::wifi::config::DriverConfig;
use stillair_sim::scenario::{Attachment, Node};

fn flooded(width: &str, rate: &str) -> f64 {
    let channel = format!("band = \"5 GHz\"\nwidth = \"{width}\"\nbeacon_interval = \"off\"");
    let buffer = "profile = \"linux-4.6\"\nsysctl.\"net.core.wmem_default\" = 4000000";
    let text = cell("1 s", &channel, "scheme = \"airtime\"").replace("profile = \"linux-4.6\"", buffer)
        + &station("s", 0, &format!("rate = \"{rate}\""))
        + &flow("udp", "ap", "s", "rate = \"1500 Mbit/s\"\nburst = 64\npayload = 1470");
    let report = run(&parse(&text, &[]), 0);
    let mean = of(&report, "s").mean_aggregate.expect("it was sent something");
    assert!(mean > 60.0, "{rate}: {mean} frames");
    report.goodput_total_mbps
}

#[test]
fn goodput_follows_the_length_of_the_exchange() {
    // 64 frames of 1,544 bytes. VHT80 MCS 9 with two streams and the short guard interval: 790,512 bits with tails of two encoders
    // are 254 symbols of 3.6 us, 916 us on the grid, and 44 of preamble; SIFS 16, Block Ack 32, AIFS 43, back-off 67.5 us: 1,118 us
    // for 752,640 bits of payload.
    let vht = flooded("80 MHz", "vht80-mcs9-nss2-sgi");
    assert!((vht / 673.0 - 1.0).abs() < 0.02, "{vht}");
    // HE80 MCS 11: 49 symbols of 13.6 us and 50.4 us of preamble: 875 us.
    let he = flooded("80 MHz", "he80-mcs11-nss2-gi0.8");
    assert!((he / 860.0 - 1.0).abs() < 0.02, "{he}");
}

/// Two stations with a download each have the same airtime, whatever one of them sends beside it: ath10k, for which devices with VHT stand
/// here, reports no received frames. One with ath9k pays for what it sends.
// linux: drivers/net/wireless/ath/ath10k/txrx.c ath10k_txrx_tx_unref, drivers/net/wireless/ath/ath9k/recv.c ath_rx_count_airtime (5.1).
#[test]
fn equal_stations_with_vht_have_equal_airtime() {
    let shares = |profile: &str, rate: &str, scheme: &str, upload: &str| {
        let channel = "band = \"5 GHz\"\nwidth = \"80 MHz\"";
        let text = cell("3 s", channel, scheme).replace(
            "profile = \"linux-4.6\"",
            &format!("profile = \"{profile}\"\nsysctl.\"net.core.wmem_default\" = 4000000"),
        ) + &station("a", 0, &format!("rate = \"{rate}\""))
            + &station("b", 1, &format!("rate = \"{rate}\""))
            + &flow("udp", "ap", "a", "rate = \"700 Mbit/s\"\nburst = 16")
            + &flow("udp", "ap", "b", "rate = \"700 Mbit/s\"\nburst = 16")
            + upload;
        let report = run(&parse(&text, &[("warm_up", "1 s")]), 0);
        // What the access point sends: the uploads are not its to share.
        let of = |name: &str| of(&report, name).airtime_tx_us;
        100.0 * of("a") / (of("a") + of("b"))
    };
    let small = flow("udp", "b", "ap", "rate = \"1 Mbit/s\"\npayload = 12");
    for profile in ["linux-5.10", "linux-6.6"] {
        for upload in ["", &small] {
            let share = shares(profile, "vht80-mcs9-nss1-sgi", "scheme = \"mac80211\"", upload);
            assert!((share - 50.0).abs() < 2.0, "{profile} {upload}: {share}");
        }
        let charged = "scheme = { kind = \"mac80211\", charge_rx = true }";
        let share = shares(profile, "vht80-mcs9-nss1-sgi", charged, &small);
        assert!(share > 60.0, "{profile}: {share}");
    }
}

// linux: net/mac80211/tx.c ieee80211_txq_setup_flows (5.4) - 4 MiB without VHT, else 16.
#[test]
fn queues_of_devices_with_vht_have_more_memory() {
    let mebibytes = |node: &Node| match &node.interfaces[0].medium {
        Attachment::Wifi(wifi) => match &wifi.driver {
            DriverConfig::Fq(queues, _) => queues.memory_limit >> 20,
            _ => 0,
        },
        Attachment::Wired { .. } => 0,
    };
    // Width of the channel, scheme of the access point, rate of the second station; MiB of the access point and both stations.
    for (width, scheme, rate, want) in [
        ("40 MHz", "\"fq_mac\"", "ht40-mcs7-sgi", [4, 4, 4]),
        ("40 MHz", "\"fq_mac\"", "vht40-mcs7-nss1-sgi", [16, 4, 16]),
        ("20 MHz", "\"mac80211\"", "he20-mcs7-nss1-gi0.8", [16, 4, 16]),
        ("80 MHz", "\"airtime\"", "ht40-mcs7-sgi", [16, 4, 4]),
        ("80 MHz", "{ kind = \"airtime\", memory_limit = \"5 MiB\" }", "vht80-mcs7-nss1-sgi", [5, 4, 16]),
        ("80 MHz", "\"fifo\"", "vht80-mcs7-nss1-sgi", [0, 4, 16]),
    ] {
        let channel = format!("band = \"5 GHz\"\nwidth = \"{width}\"");
        let own = |rate: &str| format!("rate = \"{rate}\", scheme = \"fq_mac\"");
        let text = cell("1 s", &channel, &format!("scheme = {scheme}"))
            + &station("a", 0, &own("ht20-mcs7-sgi"))
            + &station("b", 1, &own(rate));
        let nodes = parse(&text, &[]).nodes;
        let found = ["ap", "a", "b"].map(|name| mebibytes(nodes.iter().find(|n| n.name == name).unwrap()));
        assert_eq!(found, want, "{width} {scheme} {rate}");
    }
}
