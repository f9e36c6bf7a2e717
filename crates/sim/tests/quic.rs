//! QUIC in the whole world: transfers end, accounts balance, and captures at the sender match the datagrams
//! sent.

mod common;

use common::{cell, flow, parse, run, station};
use stillair_sim::recorder::{QuicSummary, RunSummary};

const BENCH: &str = include_str!("../../../scenarios/bench/quic.toml");

fn one(summary: &RunSummary) -> &QuicSummary {
    summary.quic.values().next().expect("a flow over QUIC")
}

fn with(overrides: &[(&str, &str)]) -> RunSummary {
    run(&parse(BENCH, overrides), 0)
}

#[test]
fn ten_megabytes_over_wifi_with_every_preset() {
    for preset in [
        "chromium39",
        "chromium39-strict",
        "bquic39",
        "bquic39-ack",
        "bquic39-nopace",
        "chromium-now",
        "rfc9002",
    ] {
        let summary = with(&[("flow.0.preset", preset), ("duration", "10 s")]);
        let q = one(&summary);
        assert!(q.done, "{preset}");
        // The bytes of all streams, and packet headers.
        let goodput = q.goodput_mbps.expect("done") * q.transfer_s.expect("done");
        assert!((goodput - 80.0).abs() < 1e-6, "{preset}: {goodput}");
        let payload = q.throughput_mbps.expect("done") / q.goodput_mbps.expect("done");
        assert!((1.02..1.05).contains(&payload), "{preset}: {payload}");
        assert_eq!(q.gaps.iter().map(|&n| u64::from(n)).sum::<u64>(), q.datagrams - 1);
    }
}

/// Runs are reproducible although the congestion controls use random numbers.
#[test]
fn ten_megabytes_over_wifi_with_tcp_controls() {
    for control in ["tcp_cubic", "tcp_vegas", "tcp_bbr", "tcp_westwood"] {
        let set = [("flow.0.congestion_control", control), ("duration", "10 s")];
        let [summary, again] = [with(&set), with(&set)];
        assert!(one(&summary).done, "{control}");
        assert_eq!(summary.trace_hash, again.trace_hash, "{control}");
    }
}

/// Fewer acknowledgements leave more airtime for data.
#[test]
fn decimation_helps_on_wifi() {
    let [plain, decimated] = ["chromium39", "bquic39"].map(|preset| with(&[("flow.0.preset", preset)]));
    let acks = |s: &RunSummary| one(s).acks_sent.expect("the model counts");
    assert!(acks(&plain) > 3 * acks(&decimated));
    assert!(one(&decimated).throughput_mbps > one(&plain).throughput_mbps);
}

#[test]
fn recording_changes_nothing_and_shows_every_datagram() {
    let without = with(&[]);
    let with = with(&[("record.quic", "true")]);
    assert_eq!(without.trace_hash, with.trace_hash);
    let json = serde_json::to_value(one(&with)).expect("JSON");
    let length = |column: &str| json["traces"][column].as_array().map(Vec::len);
    assert!(length("sent_number") > Some(7_000));
    assert_eq!(length("sent_number"), length("sent_t_s"));
    assert_eq!(length("cwnd_bytes"), length("t_s"));
    assert!(one(&without).traces.is_none());
}

/// Drops by the sender's own qdisc count as losses, even if a capture at the sender does not show them.
#[test]
fn losses_in_the_senders_own_queue() {
    let summary = with(&[
        ("node.server.interface.eth0.qdisc", "{ kind = \"netem\", loss = 0.02 }"),
        ("duration", "30 s"),
    ]);
    let q = one(&summary);
    assert!(q.done);
    let dropped: u64 =
        summary.drops.iter().filter(|d| d.place.starts_with("server")).map(|d| d.packets).sum();
    let missing = q.datagrams - q.datagrams_received;
    assert!(dropped > 100 && missing.abs_diff(dropped) <= 2, "{missing} missing, {dropped} dropped");
    let percent = q.loss_percent.expect("datagrams");
    assert!((1.5..2.5).contains(&percent), "{percent}");
}

/// CPU time per datagram sets the gaps between datagrams without a pacer.
#[test]
fn cpu_time_of_a_host_spaces_its_datagrams() {
    let bursts = [
        ("flow.0.preset", "bquic39"),
        ("flow.0.tx_cpu_per_packet", "30 us"),
        ("flow.0.timer_granularity", "1 ms"),
    ];
    let q = with(&bursts);
    let q = one(&q);
    assert!(q.gaps[..3].iter().all(|&n| n == 0), "nothing below 30 us: {:?}", &q.gaps[..6]);
    assert!(q.gaps[3] as u64 * 2 > q.datagrams, "most at 30 us: {:?}", &q.gaps[..6]);
}

/// A receiver works sequentially: with 300 us per datagram and per acknowledgement, acknowledging every
/// second datagram costs 900 us per two datagrams, every tenth 3300 us per ten.
#[test]
fn cpu_time_of_a_receiver_is_the_bottleneck() {
    let bits_per_us = 1350.0 * 8.0;
    for (preset, datagrams, work_us) in [("chromium39", 2.0, 900.0), ("bquic39", 10.0, 3300.0)] {
        let costs = [
            ("flow.0.preset", preset),
            // Ten datagrams arrive in less than a round trip, so no ACK delay expires earlier.
            ("flow.0.ack_fraction", "1"),
            ("flow.0.peer_rx_cpu_per_packet", "300 us"),
            ("flow.0.peer_tx_cpu_per_packet", "300 us"),
            ("duration", "30 s"),
        ];
        let summary = with(&costs);
        let got = one(&summary).throughput_mbps.expect("a transfer");
        let expected = datagrams / work_us * bits_per_us;
        assert!((got / expected - 1.0).abs() < 0.03, "{preset}: {got} beside {expected}");
    }
}

/// Uploads, several streams, endless transfers, and noise; all accounts balance.
#[test]
fn all_kinds_of_transfers() {
    let wifi = |path: &str| {
        cell("3 s", "band = \"5 GHz\"\nwidth = \"20 MHz\"", "scheme = \"airtime\"") + &station("sta", 1, path)
    };
    let quiet = wifi("rate = \"ht20-mcs7-sgi\"");
    let noisy = wifi("rate = \"ht20-mcs7-sgi\", error_rate = 0.2, ack_error_rate = 0.05");
    for text in [&quiet, &noisy] {
        for (from, to, more, done) in [
            ("ap", "sta", "bytes = \"2 MB\"\nstreams = 7", true),
            ("sta", "ap", "bytes = \"2 MB\"\nclient = \"sender\"", true),
            ("sta", "ap", "bytes = \"2 MB\"", true),
            ("ap", "sta", "stop = \"2 s\"", false),
            ("ap", "sta", "", false),
            ("ap", "sta", "streams = 16", false),
        ] {
            let s = run(&parse(&(text.to_owned() + &flow("quic", from, to, more)), &[]), 1);
            let q = one(&s);
            assert_eq!(q.done, done, "{from} to {to}: {more}");
            assert!(q.throughput_mbps > Some(10.0), "{from} to {to}: {more}: {:?}", q.throughput_mbps);
        }
    }
}

/// A page: connection, list, and all objects in parallel. With a round trip of 10 ms: two for the handshake,
/// one for the list, one for objects that fit in the window; the pacer spreads the rest.
#[test]
fn page_takes_the_expected_round_trips() {
    let host = |name: &str, n: u8| {
        format!(
            "[node.{name}]\nprofile = \"linux-4.14\"\ninterface.eth0 = {{ link = \"lan\", address = \"10.0.0.{n}\" }}\n"
        )
    };
    let text = |objects: &str| {
        format!(
            "name = \"page\"\nduration = \"3 s\"\n[link.lan]\nrate = \"1 Gbit/s\"\ndelay = \"5 ms\"\n{}{}{}",
            host("a", 1),
            host("b", 2),
            flow("quic", "b", "a", &format!("page = {{ list = 100, objects = {objects} }}"))
        )
    };
    for (objects, round_trips) in [("[1000]", 4), ("[{ count = 30, size = 1000 }]", 4), ("[90000]", 5)] {
        let s = run(&parse(&text(objects), &[]), 0);
        let web = &s.web["quic-0.a"];
        let mean = web.mean_s.expect("loaded");
        let low = 0.010 * f64::from(round_trips);
        assert!((low..low + 0.005).contains(&mean), "{objects}: {mean}");
        assert_eq!(web.loads, 15, "{objects}");
    }
}
