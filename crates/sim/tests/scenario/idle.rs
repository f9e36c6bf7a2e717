//! Keys without effect: each is rejected, with the setting that it would need.

use super::*;
use stillair_model::wifi::rate::table::Formats;

const WLAN: &str = "node.fast1.interface.wlan0";
const SLOW: &str = "while no station is slow, expected none of them, or slow_below beside it";
const AQL: &str = "while aql = false, expected none of the limits, or aql = true";
const UNCHARGED: &str = "while nothing is charged, expected no quantum, or charge_tx or charge_rx = true";
const VIRTUAL: &str = "under the rules of 5.14 to 5.19, which serve by virtual time, expected no quantum, or `kernel` of another kernel";

/// Kernel, scheme, a key of the scheme, its value, and the error; empty if the key has an effect.
const SCHEMES: [(&str, &str, &str, &str, &str); 33] = [
    ("linux-5.10", "mac80211", "quantum", "\"1 ms\"", ""),
    ("linux-5.15", "mac80211", "quantum", "\"1 ms\"", VIRTUAL),
    ("linux-5.15", "mac80211\", kernel = \"linux-6.0", "quantum", "\"1 ms\"", ""),
    ("linux-6.6", "mac80211", "quantum", "\"1 ms\"", ""),
    ("linux-6.6", "mac80211\", kernel = \"linux-5.14", "quantum", "\"1 ms\"", VIRTUAL),
    (
        "linux-5.10",
        "mac80211\", charge_tx = false, charge_rx = false, x = \"",
        "quantum",
        "\"1 ms\"",
        UNCHARGED,
    ),
    ("linux-6.6", "mac80211\", charge_tx = false, charge_rx = false, x = \"", "quantum", "\"1 ms\"", ""),
    (
        "linux-6.6",
        "mac80211\", aql = false, charge_tx = false, charge_rx = false, x = \"",
        "quantum",
        "\"1 ms\"",
        UNCHARGED,
    ),
    ("linux-6.6", "mac80211", "aql_low", "\"1 ms\"", ""),
    ("linux-6.6", "mac80211\", aql = false, x = \"", "aql_low", "\"1 ms\"", AQL),
    ("linux-6.6", "mac80211\", aql = false, x = \"", "aql_high", "\"1 ms\"", AQL),
    ("linux-6.6", "mac80211\", aql = false, x = \"", "aql_threshold", "\"1 ms\"", AQL),
    ("linux-6.6", "mac80211", "hysteresis", "\"1 s\"", ""),
    ("linux-6.18", "mac80211", "hysteresis", "\"1 s\"", SLOW),
    ("linux-6.18", "mac80211", "slow_target", "\"1 ms\"", SLOW),
    ("linux-6.18", "mac80211", "slow_interval", "\"1 ms\"", SLOW),
    ("linux-6.18", "mac80211", "slow_ecn", "true", SLOW),
    ("linux-6.18", "mac80211\", slow_below = \"6 Mbit/s", "slow_ecn", "true", ""),
    ("linux-6.18", "fq_mac", "slow_ecn", "true", SLOW),
    ("linux-4.6", "fq_mac", "slow_ecn", "true", ""),
    ("linux-6.18", "airtime", "hysteresis", "\"1 s\"", SLOW),
    ("linux-4.6", "airtime", "quantum", "\"1 ms\"", ""),
    (
        "linux-4.6",
        "airtime\", charge_tx = false, charge_rx = false, x = \"",
        "quantum",
        "\"1 ms\"",
        UNCHARGED,
    ),
    (
        "linux-4.6",
        "airtime_as_printed\", charge_tx = false, charge_rx = false, x = \"",
        "quantum",
        "\"1 ms\"",
        UNCHARGED,
    ),
    ("linux-4.6", "fq_mac", "quantum", "\"1 ms\"", "unknown"),
    ("linux-4.6", "fq_mac", "charge_rx", "true", "unknown"),
    ("linux-4.6", "fifo", "target", "\"1 ms\"", "unknown"),
    ("linux-4.6", "fq_codel", "target", "\"1 ms\"", "unknown"),
    ("linux-4.6", "ath9k_htc", "qlen", "10", "unknown"),
    ("linux-5.10", "mac80211", "sparse", "true", "unknown"),
    ("linux-4.6", "airtime", "aql", "true", "unknown"),
    ("linux-4.6", "airtime", "kernel", "\"linux-4.10\"", "unknown"),
    ("linux-4.6", "airtime", "drop_batch", "32", "unknown"),
];

#[test]
fn keys_of_schemes() {
    for (profile, kind, key, value, says) in SCHEMES {
        // Keys after the kind end with an empty text, so that the quotes match.
        let table = format!("{{ kind = \"{kind}\", {key} = {value} }}").replace(", x = \"\"", "");
        let scheme = format!("{WLAN}.scheme");
        let found = with(&[("node.fast1.profile", profile), (&scheme, &table)]).map_err(|e| e.to_string());
        match (found, says) {
            (Ok(_), "") => {}
            (Err(e), "unknown") => assert!(e.contains(&format!("{key}: found an unknown key")), "{e}"),
            (Err(e), _) => {
                let want = format!("--set: {scheme}.{key}: found {value}, which has no effect {says}");
                assert_eq!(e, want, "{profile} {table}");
            }
            (Ok(_), _) => panic!("{profile} {table} was taken"),
        }
    }
}

#[test]
fn other_keys() {
    let fast = |key: &str| format!("node.fast1.{key}");
    let server = |key: &str| format!("node.server.interface.eth0.{key}");
    let quic = |more: &str| format!("{{ kind = \"quic\", from = \"server\", to = \"slow\", {more} }}");
    let cubic = |more: &str| format!("{{ tcp_cubic = {{ {more} }} }}");
    let netem = |more: &str| format!("{{ kind = \"netem\", {more} }}");
    let tbf = |more: &str| format!("{{ kind = \"tbf\", rate = \"1 Mbit/s\", burst = \"4 KiB\", {more} }}");
    for (key, value, says) in [
        (fast("tcp"), "{ tsq = \"off\", tsq_min_packets = 2 }".to_owned(), "with tsq = \"off\""),
        (fast("tcp"), "{ tsq = \"off\", tsq_cap = \"fixed\" }".to_owned(), "with tsq = \"off\""),
        (fast("tcp"), "{ tsq = \"on\", tsq_cap = \"fixed\" }".to_owned(), ""),
        (fast("module"), cubic("hystart = 0, hystart_detect = 1"), "while HyStart is off"),
        (fast("module"), cubic("hystart = 0, initial_ssthresh = 10"), ""),
        (fast("module"), cubic("initial_ssthresh = 10"), "while HyStart is on"),
        (fast("module"), cubic("hystart_detect = 2, hystart_ack_delta = 3"), "does not look at trains"),
        (fast("sysctl.net.ipv4.tcp_fack"), "1".to_owned(), ""),
        (
            "node.server.sysctl.net.ipv4.tcp_comp_sack_delay_ns".to_owned(),
            "1000".to_owned(),
            "no SACK is held back",
        ),
        (server("qdisc"), netem("delay = \"1 ms\", delay_correlation = 0.5"), "without jitter"),
        (server("qdisc"), netem("loss_correlation = 0.5"), "without loss"),
        (server("qdisc"), netem("loss = 0.1, loss_correlation = 0.5"), ""),
        (server("qdisc"), tbf("limit = \"8 KiB\", child = \"codel\""), "beside a child"),
        (server("qdisc"), tbf("limit = \"8 KiB\""), ""),
        ("flow.1".to_owned(), quic("ack_decimation = false, ack_count = 3"), "without ack_decimation"),
        ("flow.1".to_owned(), quic("pacing = false, pacing_burst = 3"), "without pacing"),
        ("flow.1".to_owned(), quic("stack = \"quinn\", ack_count = 3"), "with this stack"),
        ("flow.1".to_owned(), quic("stack = \"quinn\", hystart = false"), "with this stack"),
        (
            "flow.1".to_owned(),
            quic("stack = { kind = \"quinn\", congestion_control = \"model\" }, hystart = false"),
            "",
        ),
        ("flow.1".to_owned(), quic("interval = \"1 s\""), "without a page"),
        ("flow.1".to_owned(), quic("client = \"sender\", request = 10"), "where the sender is the client"),
        ("record.quic".to_owned(), "true".to_owned(), "without a flow of kind quic"),
        ("channel.wifi.tx_power".to_owned(), "10 dBm".to_owned(), "without a distance or a position"),
        ("channel.wifi.cca_sensitivity".to_owned(), "-80 dBm".to_owned(), "without a position"),
        (format!("{WLAN}.uplink_retry_chain"), "[\"mcs7\"]".to_owned(), "expected both, or neither"),
        (format!("{WLAN}.rate"), "minstrel_ht".to_owned(), "expected one of them"),
    ] {
        match (with(&[(&key, &value)]).map_err(|e| e.to_string()), says) {
            (Ok(_), "") => {}
            (Err(e), says) => assert!(!says.is_empty() && e.contains(says), "{key} = {value}: {e}"),
            (Ok(_), _) => panic!("{key} = {value} was taken"),
        }
    }
    let new = with(&[("node.fast1.profile", "linux-4.19"), ("node.fast1.sysctl.net.ipv4.tcp_fack", "1")]);
    let says = "--set: node.fast1.sysctl.net.ipv4.tcp_fack: found 1, which has no effect since Linux 4.15, which has no FACK, \
                expected no such setting";
    assert_eq!(new.unwrap_err().to_string(), says);
}

/// Returns the rates of a station on a channel of this width, by its rate control.
fn rates_of(band: &str, megahertz: u32, rate: &str) -> Result<Rates, String> {
    let sets = [
        ("channel.wifi.band", band),
        ("channel.wifi.width", &*format!("{megahertz} MHz")),
        (&*format!("{WLAN}.retry_chain"), "[]"),
        (&*format!("{WLAN}.rate"), rate),
    ];
    with(&sets).map(|found| station(&found, "fast1").rates).map_err(|e| e.to_string())
}

#[test]
fn minstrel_ht_has_vht_to_80_mhz() {
    use Formats::{Ht, HtAndVht, Vht};
    let table = |keys: &str| format!("{{ kind = \"minstrel_ht\"{keys} }}");
    for (channel, keys, width, formats) in [
        (20, "", 20, Ht),
        (40, "", 40, Ht),
        (40, ", standard = \"802.11ac\"", 40, Vht),
        (80, "", 80, Vht),
        (80, ", vht_only = false", 80, HtAndVht),
        (80, ", width = \"40 MHz\"", 40, Ht),
        (80, ", width = \"40 MHz\", standard = \"802.11ac\"", 40, Vht),
        (80, ", standard = \"802.11n\"", 40, Ht),
        (160, ", width = \"80 MHz\"", 80, Vht),
        (160, ", standard = \"802.11n\"", 40, Ht),
    ] {
        let found = rates_of("5 GHz", channel, &table(keys)).unwrap();
        let Rates::MinstrelHt(can, _) = found else { panic!("{found:?}") };
        assert_eq!((can.width.megahertz(), can.formats), (width, formats), "{channel} {keys}");
        assert!(found.all().iter().all(|rate| rate.width() <= can.width));
    }
    assert_eq!(rates_of("5 GHz", 80, "minstrel_ht"), rates_of("5 GHz", 80, &table("")));
}

#[test]
fn rates_missing_in_minstrel_ht_are_rejected() {
    for (band, channel, keys, says) in [
        ("5 GHz", 160, "", "minstrel_ht on a channel of 160 MHz, of which its rates use at most 80"),
        (
            "5 GHz",
            160,
            ", standard = \"802.11ac\"",
            "minstrel_ht on a channel of 160 MHz, of which its rates use at most 80",
        ),
        (
            "5 GHz",
            80,
            ", standard = \"802.11ax\"",
            "802.11ax, of which mac80211's minstrel_ht has no rates, expected 802.11ac",
        ),
        ("5 GHz", 80, ", width = \"80 MHz\", standard = \"802.11n\"", "802.11n with a width of 80 MHz"),
        ("5 GHz", 80, ", ht_mcs = [0]", "ht_mcs with 802.11ac"),
        ("5 GHz", 20, ", vht_only = true", "vht_only with 802.11n"),
        ("5 GHz", 40, ", width = \"80 MHz\"", "40 MHz"),
        ("2.4 GHz", 40, ", standard = \"802.11ac\"", "802.11ac at 2.4 GHz"),
    ] {
        let error = rates_of(band, channel, &format!("{{ kind = \"minstrel_ht\"{keys} }}")).unwrap_err();
        assert!(error.contains(says), "{channel} {keys}: {error}");
    }
}

#[test]
fn missing_vht_groups_of_a_kernel_have_a_note() {
    let noted = |profile: &str, streams: u8| {
        let rate = format!("{{ kind = \"minstrel_ht\", streams = {streams} }}");
        let sets = [
            ("channel.wifi.width", "80 MHz"),
            (&*format!("{WLAN}.retry_chain"), "[]"),
            (&*format!("{WLAN}.rate"), &*rate),
            ("node.ap.profile", profile),
            ("node.fast1.profile", "linux-6.12"),
        ];
        let notes = with(&sets).unwrap_or_else(|e| panic!("{e}")).notes();
        // Without the notes on the firmware assumed for an 80 MHz device.
        let of_groups = |note: &String| note.starts_with(WLAN) && note.contains(": minstrel_ht of ");
        notes.into_iter().filter(of_groups).collect::<Vec<_>>()
    };
    assert_eq!(
        noted("linux-4.19", 4),
        [
            "node.fast1.interface.wlan0.rate: minstrel_ht of linux-4.19 (ap) has rates of VHT only if built with MAC80211_RC_MINSTREL_VHT, which it is \
             taken to be",
            "node.fast1.interface.wlan0.rate: minstrel_ht of linux-4.19 (ap) has rates of 3 streams at most, which stand for 4"
        ]
    );
    assert_eq!((noted("linux-4.19", 3).len(), noted("linux-5.10", 4)), (1, Vec::new()));
}

#[test]
fn rate_control_missing_in_a_driver_has_a_note() {
    let noted = |rate: &str, scheme: &str| {
        let sets = [
            ("channel.wifi.band", "2.4 GHz"),
            (&*format!("{WLAN}.retry_chain"), "[]"),
            (&*format!("{WLAN}.rate"), rate),
            (&*format!("{WLAN}.scheme"), scheme),
        ];
        let notes = with(&sets).unwrap_or_else(|e| panic!("{e}")).notes();
        // Its neighbour inherits from it and has a note as well.
        notes.into_iter().filter(|note| note.starts_with(WLAN)).collect::<Vec<_>>()
    };
    // The access point's device is not behind USB.
    let said = noted("ath9k_htc", "ath9k_htc");
    assert_eq!(
        said,
        [
            "node.fast1.interface.wlan0.rate: ath9k_htc is the rate control of the firmware behind the scheme ath9k_htc, which the access \
          point has not"
        ]
    );
    assert_eq!(noted("ath9k_htc", "fifo").len(), 2);
    let said = noted("minstrel_ht", "ath9k_htc");
    assert!(said.len() == 1 && said[0].contains("uplink_rate: it has the scheme ath9k_htc"), "{said:?}");
    assert_eq!(noted("minstrel_ht", "fifo"), Vec::<String>::new());
}

#[test]
fn rate_above_the_snr_has_a_note() {
    let noted = |sets: &[(&str, &str)]| {
        let (chain, fixed) =
            (format!("{WLAN}.retry_chain"), sets.iter().find(|(key, _)| key.ends_with(".rate")));
        let alone = fixed.map_or("[]".to_owned(), |(_, rate)| format!("[\"{rate}\"]"));
        let alone = if alone.contains('{') { "[]" } else { &alone };
        // With a driver that is fully documented.
        let scheme = format!("{WLAN}.scheme");
        let mut wide = vec![("channel.wifi.width", "80 MHz"), (&*scheme, "fifo")];
        wide.extend(fixed.map(|_| (chain.as_str(), alone)));
        let notes = with(&[&wide, sets].concat()).unwrap_or_else(|e| panic!("{e}")).notes();
        // Its neighbour inherits from it and has a note as well.
        notes.into_iter().filter(|note| note.starts_with(WLAN)).collect::<Vec<_>>()
    };
    let (rate, distance, snr) =
        (&*format!("{WLAN}.rate"), &*format!("{WLAN}.distance"), &*format!("{WLAN}.snr"));
    assert_eq!(noted(&[]), Vec::<String>::new());
    // 16 dBm less 46.7 dB and 30 dB per decade, over -94 dBm: 21.4 dB at 25 m, 6 dB less with 80 MHz, where
    // 16-QAM 1/2 still works.
    let far = noted(&[(rate, "vht80-mcs9-nss1-sgi"), (distance, "25 m")]);
    assert_eq!(
        far,
        [
            "node.fast1.interface.wlan0.rate: the signal is 21.4 dB above the noise of 20 MHz, where 100 % of full frames at \
          vht80-mcs9-nss1-sgi are lost; `vht80-mcs3-nss1-sgi` is the fastest rate of its kind that loses less than a tenth"
        ]
    );
    assert_eq!(noted(&[(rate, "vht80-mcs3-nss1-sgi"), (distance, "25 m")]), Vec::<String>::new());
    let steps = noted(&[(rate, "ht20-mcs7-sgi"), (snr, "[\"40 dB\", { at = \"1.5 s\", snr = \"-9 dB\" }]")]);
    assert_eq!(
        steps,
        [
            "node.fast1.interface.wlan0.rate: the signal is -9.0 dB above the noise of 20 MHz from 1.5 s on, where 100 % of full frames at \
          ht20-mcs7-sgi are lost; no rate of its kind loses less than a tenth"
        ]
    );
    let controlled = noted(&[(rate, "{ kind = \"minstrel_ht\", width = \"20 MHz\" }"), (snr, "-9 dB")]);
    assert!(
        controlled[0].contains("at ht20-mcs0-lgi, the most robust of its rates are lost"),
        "{controlled:?}"
    );
    let resolved = with(&[(rate, "ht20-mcs15-sgi"), (snr, "-9 dB")]).unwrap().resolved();
    assert!(resolved.contains("the signal is -9.0 dB above the noise"), "{resolved}");
}

#[test]
fn the_device_of_a_node_is_at_its_end_of_a_link() {
    let read = |sets: &[(&str, &str)]| {
        let [there, back] = with(sets).unwrap_or_else(|e| panic!("{e}")).links[0].params;
        let us = |params: WireParams| match params {
            WireParams::Ethernet(e) => {
                (e.bql, e.tx_usecs.nanos() / 1000, e.rx_usecs.nanos() / 1000, e.rx_gap.nanos() / 1000)
            }
            WireParams::Access(..) | WireParams::Veth => panic!("no Ethernet"),
        };
        // From the server to the access point, and back.
        (us(there), us(back))
    };
    let none = (false, 125, 0, 0);
    assert_eq!(read(&[]), (none, none));
    let (server, ap) = (("node.server.nic", "e1000e"), ("node.ap.nic", "tg3"));
    assert_eq!(read(&[server]), ((true, 50, 0, 0), (false, 125, 0, 50)));
    assert_eq!(read(&[server, ap]), ((true, 50, 20, 0), (true, 72, 0, 50)));
    let both = (true, 50, 0, 50);
    assert_eq!(read(&[("link.lan.nic", "e1000e")]), (both, both));
    assert_eq!(read(&[server, ("node.ap.nic", "e1000e")]), (both, both));
    // Other rates have another limit, and a key of the link takes precedence over both devices.
    assert_eq!(read(&[server, ("link.lan.rate", "100 Mbit/s")]).1, (false, 125, 0, 250));
    assert_eq!(read(&[server, ap, ("link.lan.rx_usecs", "7")]), ((true, 50, 7, 0), (true, 72, 7, 50)));

    let refused = |sets: &[(&str, &str)], says: &str| {
        let said = with(sets).expect_err("a mistake").to_string();
        assert!(said.contains(says), "{said}");
    };
    let idle = "which has no effect without an Ethernet interface whose link leaves it open";
    refused(&[("node.fast1.nic", "tg3")], idle);
    refused(&[server, ("link.lan.nic", "none")], idle);
    refused(&[server, ("link.lan", "{ kind = \"veth\" }")], idle);
    let rates = "at which none exists, expected none, or a link of 10 Mbit/s, 100 Mbit/s or 1 Gbit/s";
    for rate in ["2.5 Gbit/s", "10 Gbit/s", "50 Mbit/s"] {
        let says =
            |key: &str, nic: &str| format!("--set: {key}: found {nic:?} on a link of {rate:?}, {rates}");
        refused(&[server, ("link.lan.rate", rate)], &says("node.server.nic", "e1000e"));
        refused(&[("node.ap.nic", "tg3"), ("link.lan.rate", rate)], &says("node.ap.nic", "tg3"));
        refused(&[server, ("link.lan.nic", "tg3"), ("link.lan.rate", rate)], &says("link.lan.nic", "tg3"));
        assert!(with(&[("link.lan.rate", rate)]).is_ok());
    }
}

#[test]
fn jitter_of_a_node() {
    use stillair_model::node::jitter::{JitterParams, Spread};
    let jitter = |value: &str| with(&[("node.server.jitter", value)]).map(|s| s.nodes[0].jitter);
    let (desktop, us) = (JitterParams::DESKTOP, Duration::from_micros);
    for (value, params) in [
        ("none", JitterParams::NONE),
        ("desktop", desktop),
        (
            "{ kind = \"desktop\", timer_slack = \"none\" }",
            JitterParams { timer_slack: Spread::None, ..desktop },
        ),
        ("{ kind = \"desktop\", drift_ppm = 0 }", JitterParams { drift_ppm: 0, ..desktop }),
        (
            "{ kind = \"desktop\", softirq = \"uniform 1.5 us..0.1 ms\" }",
            JitterParams { softirq: Spread::Uniform(Duration::from_nanos(1_500), us(100)), ..desktop },
        ),
        (
            "{ kind = \"desktop\", softirq = \"exponential 0 us..1 ms\" }",
            JitterParams { softirq: Spread::None, ..desktop },
        ),
    ] {
        assert_eq!(jitter(value).unwrap_or_else(|e| panic!("{e}")), params, "{value}");
    }
    for spread in
        ["normal 1 us..2 us", "uniform 2 us..1 us", "exponential 1 us", "uniform 0 us..11 ms", "3 us", ""]
    {
        let said =
            jitter(&format!("{{ kind = \"desktop\", softirq = \"{spread}\" }}")).expect_err("a mistake");
        assert!(said.to_string().contains("node.server.jitter.softirq: found"), "{said}");
    }
}

const QUIC: &str = "{ kind = \"quic\", from = \"server\", to = \"slow\", bytes = \"1 MB\"";

/// Keys that a scenario may keep for later experiments: each has one note.
#[test]
fn keys_for_another_host_or_stack_have_a_note() {
    let tcp = |control: &str| {
        format!("{{ kind = \"tcp\", from = \"server\", to = \"slow\", congestion_control = \"{control}\" }}")
    };
    let quic = |more: &str| format!("{QUIC}, {more} }}");
    let no_sockets = "has no effect in a node without sockets of TCP; give it to a node at which a flow of kind tcp or web ends";
    let vegas = "has no effect where no flow sends with vegas from this node; let one have congestion_control = \"vegas\"";
    let limit = "has no effect under a discipline that takes no limit from it; say the `limit` of the qdisc";
    let (server, slow) = ("node.server.interface.eth0", "node.slow.interface.wlan0");
    let steps = "[\"40 dB\", { at = \"30 s\", snr = \"39 dB\" }]";
    let times =
        "[{ rates = \"mcs0\", probability = 0.1 }, { rates = \"mcs0\", probability = 0.2, at = \"29 s\" }]";
    for (sets, says) in [
        (vec![("node.ap.wake", "50 us")], vec![format!("node.ap.wake: \"50 us\" {no_sockets}")]),
        (vec![("node.slow.wake", "50 us"), ("flow.1", &tcp("reno"))], vec![]),
        (vec![("node.server.tcp.initcwnd", "3"), ("flow.1", &tcp("reno"))], vec![]),
        (vec![("node.ap.tcp.initcwnd", "3")], vec![format!("node.ap.tcp: a table {no_sockets}")]),
        (
            vec![("node.ap.sysctl.net.ipv4.tcp_ecn", "1")],
            vec![format!("node.ap.sysctl.net.ipv4.tcp_ecn: 1 {no_sockets}")],
        ),
        (vec![("node.ap.sysctl.net.core.default_qdisc", "codel")], vec![]),
        (
            vec![("node.server.module.tcp_vegas.alpha", "3"), ("flow.1", &tcp("cubic"))],
            vec![format!("node.server.module.tcp_vegas.alpha: 3 {vegas}")],
        ),
        (vec![("node.server.module.tcp_vegas.alpha", "3"), ("flow.1", &tcp("vegas"))], vec![]),
        (
            vec![
                ("node.server.module.tcp_vegas.alpha", "3"),
                ("flow.1", &quic("congestion_control = \"tcp_vegas\"")),
            ],
            vec![],
        ),
        // The receiver of a flow sends no data.
        (
            vec![("node.slow.module.tcp_vegas.alpha", "3"), ("flow.1", &tcp("vegas"))],
            vec![format!("node.slow.module.tcp_vegas.alpha: 3 {vegas}")],
        ),
        (
            vec![("node.server.interface.eth0.qdisc", "fq_codel"), ("node.server.interface.eth0.txqueuelen", "9")],
            vec![format!("{server}.txqueuelen: 9 {limit}")],
        ),
        (vec![("node.server.interface.eth0.txqueuelen", "9")], vec![]),
        (
            vec![
                ("node.server.interface.eth0.qdisc", "{ kind = \"htb\", rate = \"1 Mbit/s\" }"),
                ("node.server.interface.eth0.txqueuelen", "9"),
            ],
            vec![],
        ),
        (
            vec![
                ("node.server.interface.eth0.qdisc", "{ kind = \"pfifo\", limit = 5 }"),
                ("node.server.interface.eth0.txqueuelen", "9"),
            ],
            vec![format!("{server}.txqueuelen: 9 {limit}")],
        ),
        (
            vec![("node.slow.interface.wlan0.snr", steps)],
            vec![format!("{slow}.snr: what it says from 30 s on has no effect, as the run ends at 30 s")],
        ),
        (vec![("node.slow.interface.wlan0.snr", steps), ("duration", "31 s")], vec![]),
        (vec![("node.slow.interface.wlan0.error_rate", times)], vec![]),
        (
            vec![("node.slow.interface.wlan0.error_rate", times), ("duration", "20 s")],
            vec![format!("{slow}.error_rate: what it says from 29 s on has no effect, as the run ends at 20 s")],
        ),
        (
            vec![("flow.1", &quic("stack = \"quinn\", preset = \"rfc9002\""))],
            vec![
                "flow.1.preset: \"rfc9002\" has no effect with the stack quinn, which has a congestion control of its own; give the \
                 stack the congestion_control \"model\", or leave preset out"
                    .to_owned(),
            ],
        ),
        (
            vec![(
                "flow.1",
                &quic("stack = { kind = \"quinn\", congestion_control = \"model\" }, preset = \"rfc9002\""),
            )],
            vec![],
        ),
        (
            vec![("flow.1", &quic("ack_gate = 3"))],
            vec![
                "flow.1.ack_gate: 3 has no effect with a preset without decimation; say ack_decimation = true beside it"
                    .to_owned(),
            ],
        ),
        (vec![("flow.1", &quic("ack_gate = 3, preset = \"bquic39\""))], vec![]),
    ] {
        let found = with(&sets).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(found.notes(), says, "{sets:?}");
    }
}

#[test]
fn positions_and_audibility_without_effect() {
    let refused = |sets: &[(&str, &str)], says: &str| {
        let said = with(sets).expect_err("a mistake").to_string();
        assert!(said.contains(says), "{said}");
    };
    let (ap, slow) = (("node.ap.position", "0 m, 0 m"), ("node.slow.position", "1 m, 0 m"));
    refused(
        &[ap],
        "--set: node.ap.position: found \"0 m, 0 m\", which has no effect where no other node on its channel has one, expected a \
         position of another node there, or none; a station's `distance` is that to its access point",
    );
    refused(&[ap, slow, ("node.server.position", "1 m, 0 m")], "has no effect without a Wi-Fi interface");
    assert!(with(&[ap, slow]).is_ok());
    let hidden = ("channel.wifi.hidden", "[[\"fast1\", \"fast2\", \"slow\"]]");
    refused(
        &[hidden, ("channel.wifi.sense_only", "[[\"slow\", \"fast1\"]]")],
        "channel.wifi.sense_only.0: found \"slow\" and \"fast1\", which are hidden from each other, expected each pair in one of hidden and sense_only",
    );
}

/// An empty list removes an inherited chain, also with a fixed rate.
#[test]
fn inherited_chain_is_removed() {
    let fast2 = "node.fast2.interface.wlan0";
    let (rate, chain) = (format!("{fast2}.rate"), format!("{fast2}.retry_chain"));
    let beside = with(&[(&rate, "ht20-mcs7-sgi")]).expect_err("a mistake").to_string();
    let says = "node.fast2.interface.wlan0.retry_chain.0: found \"mcs15\", expected the chain to begin with rate, \"ht20-mcs7-sgi\"; \
                retry_chain = [] undoes an inherited one";
    assert!(beside.ends_with(says), "{beside}");
    let alone = with(&[(&rate, "ht20-mcs7-sgi"), (&chain, "[]")]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(mcs(&station(&alone, "fast2")), [(7, 4)]);
}
