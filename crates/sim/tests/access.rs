//! Access lines and shapers: queues in a modem, the effect of a shaper in front of it, and their notes.

mod common;

use common::{parse, run as run_once};
use stillair_sim::recorder::RunSummary;
use stillair_sim::scenario;

const HOME: &str = r#"
name = "home"
duration = "12 s"
warm_up = "4 s"
[link.wan]
kind = "access"
rate = { down = "100 Mbit/s", up = "10 Mbit/s" }
buffer = { down = "100 ms", up = "500 ms" }
delay = "10 ms"
[link.lan]
rate = "1 Gbit/s"
delay = "10 us"
[node.server]
profile = "linux-6.1"
interface.eth0 = { link = "wan", address = "10.0.0.1" }
[node.router]
profile = "linux-6.1"
forward = true
interface.wan = { link = "wan", address = "10.0.0.2" }
interface.lan = { link = "lan", address = "10.0.1.1" }
[node.host]
profile = "linux-6.1"
interface.eth0 = { link = "lan", address = "10.0.1.2" }
[[flow]]
kind = "ping"
from = "host"
to = "server"
"#;

const UP: &str = "[[flow]]\nkind = \"tcp\"\nfrom = \"host\"\nto = \"server\"\n";
const DOWN: &str = "[[flow]]\nkind = \"tcp\"\nfrom = \"server\"\nto = \"host\"\n";
const FLOOD: &str = "[[flow]]\nkind = \"udp\"\nfrom = \"host\"\nto = \"server\"\nrate = \"20 Mbit/s\"\n";

fn run(flows: &str, set: &[(&str, &str)]) -> RunSummary {
    run_once(&parse(&format!("{HOME}{flows}"), set), 0)
}

fn median_ms(result: &RunSummary) -> f64 {
    result.pings["ping-0.server"].median_ms.expect("some pings come back")
}

fn goodput(result: &RunSummary) -> f64 {
    result.goodput_total_mbps
}

#[test]
fn saturating_flow_fills_only_the_modem_buffer() {
    let result = run(FLOOD, &[]);
    // 10 Mbit/s of packets of 1498 bytes and 18 bytes of framing, of which 1470 are payload.
    let expected = 10.0 * 1470.0 / 1516.0;
    assert!((goodput(&result) - expected).abs() < 0.02, "{}", goodput(&result));
    // 500 ms of queued packets, counted with 14-byte headers, which are 18 bytes on the line, plus 20 ms of
    // round-trip delay.
    let full = 500.0 * 1516.0 / 1512.0 + 20.0;
    assert!((median_ms(&result) - full).abs() < 3.0, "{}", median_ms(&result));
    let places: Vec<&str> = result.drops.iter().map(|drop| drop.place.as_str()).collect();
    assert_eq!(places, ["router.wan modem"]);
}

#[test]
fn a_shaper_keeps_the_modem_empty_in_both_directions() {
    let shaper = [("node.router.interface.wan.shaper", "{ down = \"90 Mbit/s\", up = \"9 Mbit/s\" }")];
    for (flows, rate) in [(UP, 9.0), (DOWN, 90.0)] {
        let (without, with) = (run(flows, &[]), run(flows, &shaper));
        assert!(median_ms(&without) > 60.0, "{}", median_ms(&without));
        assert!(median_ms(&with) < 26.0, "{}", median_ms(&with));
        assert!(goodput(&with) > 0.9 * rate && goodput(&with) < rate, "{}", goodput(&with));
        let kind = |name: &str| with.qdiscs[name].kind.as_str();
        assert_eq!((kind("router.wan"), kind("router.ifb4wan")), ("cake", "cake"));
    }
}

#[test]
fn inner_qdisc_in_an_htb_class() {
    let shaper = "{ down = \"90 Mbit/s\", qdisc = \"fq_codel\" }";
    let result = run(DOWN, &[("node.router.interface.wan.shaper", shaper)]);
    let names: Vec<&String> = result.qdiscs.keys().filter(|name| name.starts_with("router.ifb")).collect();
    assert_eq!(names, ["router.ifb4wan", "router.ifb4wan/child"]);
    assert!(goodput(&result) > 80.0 && median_ms(&result) < 26.0);
}

#[test]
fn received_packets_may_have_an_ingress_qdisc() {
    let shaper =
        "{ down = \"90 Mbit/s\", up = \"9 Mbit/s\", qdisc = \"cake\", qdisc_down = { kind = \"fq_codel\" } }";
    let result = run(DOWN, &[("node.router.interface.wan.shaper", shaper)]);
    let kind = |name: &str| result.qdiscs[name].kind.as_str();
    let kinds = ["router.wan", "router.ifb4wan", "router.ifb4wan/child"].map(kind);
    assert_eq!(kinds, ["cake", "htb", "fq_codel"]);
}

#[test]
fn errors_are_reported() {
    let says = |set: &[(&str, &str)]| {
        let set: Vec<(String, String)> =
            set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        scenario::parse(HOME, "home.toml", &set).expect_err("a mistake").to_string()
    };
    let shaper = "node.router.interface.wan.shaper";
    for (set, message) in [
        (
            vec![("link.wan.kind", "ethernet")],
            "home.toml:7: link.wan.rate: found a table, expected a rate such as \"1 Gbit/s\", or kind = \"access\" beside it\n\
             home.toml:8: link.wan.buffer: found an unknown key, expected one of \"kind\", \"rate\", \"delay\", \"mtu\", \"nic\", \"ring\", \
             \"bql\", \"tx_usecs\", ...",
        ),
        (
            vec![("node.router.forward", "false")],
            "home.toml:5: link.wan: found an access line whose customer side is not given, expected cpe = \"server\" or \
             \"router\", or forward = true at one of the two alone",
        ),
        (
            vec![("link.wan.cpe", "host")],
            "--set: link.wan.cpe: found \"host\", expected \"server\" or \"router\"",
        ),
        (
            vec![("link.wan.buffer", "100")],
            "--set: link.wan.buffer: found 100, expected a size such as \"256 KiB\", a time such as \"100 ms\", or a number such as \"1000 \
             packets\"",
        ),
        (
            vec![("link.wan.buffer", "{ up = \"1 ms\" }")],
            "--set: link.wan.buffer.down: found nothing, expected both down and up",
        ),
        (
            vec![("link.wan.port", "50 Mbit/s")],
            "--set: link.wan.port: found \"50 Mbit/s\", expected a rate that is not below that of the line",
        ),
        (
            vec![("link.wan.overhead", "docsys")],
            "--set: link.wan.overhead: found \"docsys\", expected a known name; did you mean \"docsis\"?, or a number of bytes",
        ),
        (
            vec![(shaper, "{}")],
            "--set: node.router.interface.wan.shaper: found a shaper of neither down nor up, expected at least one of the two",
        ),
        (
            vec![(shaper, "{ up = \"9 Mbit/s\", qdisc = { kind = \"cake\", bandwidth = \"9 Mbit/s\" } }")],
            "--set: node.router.interface.wan.shaper.qdisc.bandwidth: found \"9 Mbit/s\", which has no effect in a shaper, expected its down \
             and up",
        ),
        (
            vec![(
                shaper,
                "{ up = \"9 Mbit/s\", qdisc = { kind = \"tbf\", rate = \"9 Mbit/s\", burst = 5000 } }",
            )],
            "--set: node.router.interface.wan.shaper.qdisc: found \"tbf\", which has a rate of its own, expected cake, or a discipline for the \
             class of an htb",
        ),
        (
            vec![(shaper, "{ up = \"9 Mbit/s\", qdisc_down = \"cake\" }")],
            "--set: node.router.interface.wan.shaper.qdisc_down: found \"cake\", which has no effect without down, expected down, or no \
             qdisc_down",
        ),
        (
            vec![(shaper, "{ down = \"90 Mbit/s\", qdisc = \"cake\", qdisc_down = \"fq_codel\" }")],
            "--set: node.router.interface.wan.shaper.qdisc: found \"cake\", which has no effect without up beside qdisc_down, expected up, or \
             one of the two",
        ),
        (
            vec![(shaper, "cake")],
            "--set: node.router.interface.wan.shaper: found \"cake\", expected \"off\", or a table such as { down = \"90 Mbit/s\", up = \"9 \
             Mbit/s\" }",
        ),
        (
            vec![(shaper, "{ up = \"9 Mbit/s\" }"), ("node.router.interface.wan.qdisc", "fq_codel")],
            "--set: node.router.interface.wan.qdisc: found \"fq_codel\", which has no effect beside a shaper with up, expected the qdisc of the \
             shaper, or no up",
        ),
    ] {
        assert_eq!(says(&set), message);
    }
}
