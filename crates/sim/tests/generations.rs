//! Stations of several 802.11 generations at one access point: each has its own rates, and the airtime
//! assigned by the scheme.

mod common;

use common::{cell, flow, of, parse, run, station};
use stillair_sim::recorder::RunSummary;

const HIGH: &str = "band = \"5 GHz\"\nwidth = \"80 MHz\"\nbeacon_interval = \"off\"";

/// 802.11a, n, ac and ax. Linux rate control has no HE rates.
const GENERATIONS: [(&str, &str); 4] = [
    ("a", "rate = { kind = \"minstrel\", standard = \"802.11a\" }"),
    ("n", "rate = { kind = \"minstrel_ht\", standard = \"802.11n\", width = \"40 MHz\" }"),
    ("ac", "rate = { kind = \"minstrel_ht\", standard = \"802.11ac\" }"),
    ("ax", "rate = \"he80-mcs11-nss2-gi0.8\""),
];

/// All of them saturated by an access point with this scheme, measured after the first second.
fn flooded(scheme: &str) -> RunSummary {
    let mut text = cell("5 s", HIGH, &format!("scheme = \"{scheme}\""))
        .replace("linux-4.6", "linux-6.6")
        .replace("forward = true", "forward = true\nsysctl.\"net.core.wmem_default\" = 4000000");
    for (n, (name, path)) in GENERATIONS.into_iter().enumerate() {
        text += &station(name, n, &format!("{path}, snr = \"45 dB\"")).replace("linux-4.4", "linux-6.6");
        text += &flow("udp", "ap", name, "rate = \"900 Mbit/s\"\nburst = 16");
    }
    run(&parse(&text, &[("warm_up", "1 s")]), 0)
}

fn goodputs(of_all: &RunSummary) -> [f64; 4] {
    GENERATIONS.map(|(name, _)| of(of_all, name).goodput_mbps)
}

#[test]
fn each_has_its_own_rates_and_equal_airtime() {
    let all = flooded("mac80211");
    // Rates that rate control used for each station, and its best rate.
    for (name, prefix, best) in
        [("a", "ofdm-", "ofdm-54"), ("n", "ht", "ht40-mcs15-sgi"), ("ac", "vht", "vht80-mcs9-nss2-sgi")]
    {
        let link = all
            .rc_stats
            .iter()
            .find(|(link, _)| link.starts_with("ap.") && link.contains(&format!("{name}.")));
        let rows = link.unwrap_or_else(|| panic!("{name} in {:?}", all.rc_stats.keys())).1;
        assert!(rows.iter().all(|row| row.rate.starts_with(prefix)), "{name}");
        let first = rows.iter().find(|row| row.best.contains('A')).expect("a best rate");
        assert_eq!(first.rate, best, "{name}");
    }
    // With airtime fairness, each has a quarter.
    for (name, _) in GENERATIONS {
        let share = of(&all, name).airtime_share.expect("airtime");
        assert!((share - 0.25).abs() < 0.02, "{name}: {share}");
    }
    let [a, n, ac, ax] = goodputs(&all);
    assert!(2.0 * a < n && 1.5 * n < ac && ac < ax, "{a} {n} {ac} {ax}");
    assert_eq!(all.air["wifi"]["protection_us"], 0.0);
}

#[test]
fn without_fairness_the_slowest_station_uses_most_airtime() {
    // Round-robin with one aggregate each: the station without aggregation gets a single packet per turn, and
    // the least airtime.
    let all = flooded("fq_mac");
    let share = |name| of(&all, name).airtime_share.expect("airtime");
    assert!(
        share("n") > 1.3 * share("ac") && share("ac") > share("a"),
        "{} {} {}",
        share("n"),
        share("ac"),
        share("a")
    );
    let fair = flooded("mac80211");
    let total = |of_all: &RunSummary| goodputs(of_all).iter().sum::<f64>();
    assert!(total(&fair) > 0.0 && total(&all) > 0.0);
}

#[test]
fn protection_only_for_stations_without_ofdm() {
    // 802.11g, n and ax at 2.4 GHz; with an 802.11b station, a CTS before each of their frames.
    let low = "band = \"2.4 GHz\"\nwidth = \"20 MHz\"\nbeacon_interval = \"off\"";
    let of = |old: bool| {
        let mut text = cell("2 s", low, "scheme = \"mac80211\"");
        let rates = ["ofdm-54", "ht20-mcs15-sgi", "he20-mcs11-nss2-gi0.8", "cck-11"];
        for (n, rate) in rates.into_iter().take(if old { 4 } else { 3 }).enumerate() {
            text += &station(&format!("s{n}"), n, &format!("rate = \"{rate}\""));
            text += &flow("udp", "ap", &format!("s{n}"), "rate = \"100 Mbit/s\"\nburst = 8");
        }
        run(&parse(&text, &[]), 0)
    };
    let (young, mixed) = (of(false), of(true));
    assert_eq!(young.air["wifi"]["protection_us"], 0.0);
    // At least 213 us before each frame, 314 us before HT frames, which take at most 4 ms; a third of the
    // frames are short.
    assert!(mixed.air["wifi"]["protection_us"] > 20_000.0, "{:?}", mixed.air);
    for summary in [&young, &mixed] {
        let shares: Vec<f64> = summary.stations.values().filter_map(|s| s.airtime_share).collect();
        let mean = 1.0 / shares.len() as f64;
        assert!(shares.iter().all(|share| (share - mean).abs() < 0.05), "{shares:?}");
    }
}
