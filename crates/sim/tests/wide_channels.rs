//! VHT and HE in a world: aggregates, goodput, and captured frames.

mod common;

use common::{cell, flow, of, parse, run, station};
use stillair_model::wifi::config::DriverConfig;
use stillair_model::wifi::phy::PhyRate;
use stillair_sim::recorder::RunSummary;
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
    // 64 frames of 1,544 bytes. VHT80 MCS 9 with two streams and the short guard interval: 790,512 bits
    // including the tails of two encoders are 254 symbols of 3.6 us, 916 us on the grid, plus a preamble of
    // 44 us; SIFS 16, Block Ack 32, AIFS 43, backoff 67.5 us: 1,118 us for 752,640 bits of payload.
    let vht = flooded("80 MHz", "vht80-mcs9-nss2-sgi");
    assert!((vht / 673.0 - 1.0).abs() < 0.02, "{vht}");
    // HE80 MCS 11: 49 symbols of 13.6 us and a preamble of 50.4 us: 875 us.
    let he = flooded("80 MHz", "he80-mcs11-nss2-gi0.8");
    assert!((he / 860.0 - 1.0).abs() < 0.02, "{he}");
}

/// Two stations with a download each have equal airtime, even if one of them also sends: ath10k, the device
/// assumed for VHT here, does not report received frames. With ath9k, a station is charged for the frames
/// that it sends, with one packet per MPDU.
// linux: drivers/net/wireless/ath/ath10k/txrx.c ath10k_txrx_tx_unref, drivers/net/wireless/ath/ath9k/recv.c
// ath_rx_count_airtime (5.1).
#[test]
fn equal_stations_with_vht_have_equal_airtime() {
    let shares = |profile: &str, rate: &str, scheme: &str, upload: &str| {
        let channel = "band = \"5 GHz\"\nwidth = \"80 MHz\"";
        let text = cell("3 s", channel, scheme).replace(
            "profile = \"linux-4.6\"",
            &format!("profile = \"{profile}\"\nsysctl.\"net.core.wmem_default\" = 4000000"),
        ) + &station("a", 0, &format!("rate = \"{rate}\""))
            + &station(
                "b",
                1,
                &format!("rate = \"{rate}\", scheme = {{ kind = \"ath10k\", amsdu_frames = 1 }}"),
            )
            + &flow("udp", "ap", "a", "rate = \"700 Mbit/s\"\nburst = 16")
            + &flow("udp", "ap", "b", "rate = \"700 Mbit/s\"\nburst = 16")
            + upload;
        let report = run(&parse(&text, &[("warm_up", "1 s")]), 0);
        // Only the access point's transmissions; it does not schedule the uploads.
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

// linux: net/mac80211/tx.c ieee80211_txq_setup_flows (5.4) - 4 MiB without VHT, 16 MiB with VHT.
#[test]
fn queues_of_devices_with_vht_have_more_memory() {
    let mebibytes = |node: &Node| match &node.interfaces[0].medium {
        Attachment::Wifi(wifi) => match &wifi.driver {
            DriverConfig::Fq(queues, _) => queues.memory_limit >> 20,
            _ => 0,
        },
        Attachment::Wired { .. } => 0,
    };
    // Channel width, scheme of the access point, rate of the second station; MiB of the access point and both
    // stations.
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

/// Saturating UDP on 80 MHz with this kernel: its report.
fn flooded_by(kernel: &str, path: &str, seconds: u32) -> RunSummary {
    let channel = "band = \"5 GHz\"\nwidth = \"80 MHz\"\nbeacon_interval = \"off\"";
    let buffer = format!("profile = \"{kernel}\"\nsysctl.\"net.core.wmem_default\" = 4000000");
    let text = cell(&format!("{seconds} s"), channel, "scheme = \"airtime\"")
        .replace("profile = \"linux-4.6\"", &buffer)
        + &station("s", 0, path)
        + &flow("udp", "ap", "s", "rate = \"900 Mbit/s\"\nburst = 64\npayload = 1470");
    let half = format!("{} s", seconds / 2);
    run(&parse(&text, &[("warm_up", &half)]), 0)
}

#[test]
fn minstrel_ht_fills_80_mhz() {
    for kernel in ["linux-4.14", "linux-5.10", "linux-5.15", "linux-6.12"] {
        let report = flooded_by(kernel, "rate = { kind = \"minstrel_ht\", streams = 2 }", 4);
        let rows = &report.rc_stats["ap.wlan0 to s.wlan0"];
        assert!(rows.iter().all(|row| row.mode.starts_with("VHT") && row.rate.starts_with("vht")));
        let place =
            |letter| rows.iter().find(|row| row.best.contains(letter)).map(|row| (row.mode, &row.rate[..]));
        assert_eq!(place('A'), Some(("VHT80/SGI", "vht80-mcs9-nss2-sgi")), "{kernel}");
        assert_eq!(place('P'), Some(("VHT80/SGI", "vht80-mcs9-nss1-sgi")), "{kernel}");
        // Compared with the first and the last rate of the chain as fixed rates.
        let chain = "rate = \"vht80-mcs9-nss2-sgi\", retry_chain = [\"mcs9\", \"vht80-mcs9-nss1-sgi\"]";
        let share = report.goodput_total_mbps / flooded_by(kernel, chain, 2).goodput_total_mbps;
        assert!((0.97..1.01).contains(&share), "{kernel}: {share}");
    }
}

#[test]
fn with_noise_minstrel_ht_is_close_to_the_best_80_mhz_rate() {
    for decibels in [14, 24, 34] {
        let noisy = |rate: &str, seconds| {
            flooded_by("linux-6.12", &format!("rate = {rate}, snr = \"{decibels} dB\""), seconds)
                .goodput_total_mbps
        };
        let all = ["vht20", "vht40", "vht80"].into_iter().flat_map(|format| {
            (0..10).flat_map(move |mcs| (1..3).map(move |n| format!("\"{format}-mcs{mcs}-nss{n}-sgi\"")))
        });
        let exists = |rate: &String| PhyRate::parse(rate.trim_matches('"')).is_ok();
        let best = all.filter(exists).map(|rate| noisy(&rate, 1)).fold(0.0, f64::max);
        let found = noisy("{ kind = \"minstrel_ht\", streams = 2 }", 6);
        assert!(found > 0.9 * best, "{decibels} dB: {found} of {best}");
    }
}

/// VHT rates under Minstrel-HT assume mt76, which reports received frames.
#[test]
fn with_minstrel_ht_received_frames_are_charged() {
    let charged = |rate: &str| {
        let text = cell("1 s", "band = \"5 GHz\"\nwidth = \"80 MHz\"", "scheme = \"mac80211\"")
            .replace("linux-4.6", "linux-6.12")
            + &station("s", 0, &format!("rate = {rate}"));
        let nodes = parse(&text, &[]).nodes;
        let Attachment::Wifi(wifi) = &nodes.iter().find(|n| n.name == "ap").unwrap().interfaces[0].medium
        else {
            panic!("no Wi-Fi")
        };
        let DriverConfig::Fq(_, scheduler) = &wifi.driver else { panic!("no queues in the MAC") };
        scheduler.clone().airtime_mut().expect("it has airtime").charge_rx
    };
    assert!(!charged("\"vht80-mcs9-nss1-sgi\""));
    assert!(charged("\"minstrel_ht\""));
    assert!(!charged("{ kind = \"minstrel_ht\", standard = \"802.11n\" }"));
}

/// A VHT radio queues one aggregate in advance, so that each can fill the window; a scheme may override this,
/// and ath9k queues two.
#[test]
fn radios_of_vht_fill_their_window() {
    let depths = |width: &str, rate: &str, scheme: &str| {
        let text =
            cell("1 s", &format!("band = \"5 GHz\"\nwidth = \"{width}\""), &format!("scheme = {scheme}"))
                + &station("s", 0, &format!("rate = \"{rate}\""));
        let nodes = parse(&text, &[]).nodes;
        ["ap", "s"].map(|name| match &nodes.iter().find(|n| n.name == name).unwrap().interfaces[0].medium {
            Attachment::Wifi(wifi) => wifi.hardware.aggregates,
            Attachment::Wired { .. } => 0,
        })
    };
    for (width, rate, scheme, want) in [
        ("40 MHz", "ht40-mcs7-sgi", "\"airtime\"", [2, 2]),
        ("40 MHz", "vht40-mcs7-nss1-sgi", "\"fifo\"", [1, 1]),
        ("80 MHz", "ht40-mcs7-sgi", "\"airtime\"", [1, 1]),
        ("80 MHz", "he80-mcs7-nss1-gi0.8", "\"mac80211\"", [1, 1]),
        ("80 MHz", "vht80-mcs7-nss1-sgi", "{ kind = \"airtime\", hw_aggregates = 2 }", [2, 1]),
    ] {
        assert_eq!(depths(width, rate, scheme), want, "{width} {rate} {scheme}");
    }
}
