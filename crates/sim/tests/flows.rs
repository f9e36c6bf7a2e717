//! Per-flow results: goodput, loss and one-way delay of each flow, independent of other flows.

mod common;

use common::{cell, flow, parse, run, station};
use stillair_sim::recorder::{FlowProtocol, FlowSummary, RunSummary};

fn of<'a>(summary: &'a RunSummary, flow: &str) -> &'a FlowSummary {
    summary.flows.get(flow).unwrap_or_else(|| panic!("{flow} in {:?}", summary.flows.keys()))
}

const WIRE: &str = r#"
name = "wire"
duration = "4 s"
warm_up = "1 s"

[link.lan]
rate = "10 Mbit/s"
delay = "5 ms"

[node.a]
profile = "linux-6.1"
interface.eth0 = { link = "lan", address = "10.0.0.1", qdisc = { kind = "pfifo", limit = 10 } }

[node.b]
profile = "linux-6.1"
interface.eth0 = { link = "lan", address = "10.0.0.2" }
"#;

#[test]
fn delay_is_that_of_the_path_and_loss_that_of_the_queue() {
    // 1,000 bytes from the IP header on and 38 bytes of Ethernet take 0.83 ms at 10 Mbit/s; the propagation
    // delay is 5 ms.
    let udp = |rate: &str| format!("rate = \"{rate} Mbit/s\"\npayload = 972\ngap = \"periodic\"");
    let alone = run(&parse(&(WIRE.to_owned() + &flow("udp", "a", "b", &udp("1"))), &[]), 0);
    let found = of(&alone, "udp-0.b");
    assert_eq!((found.protocol, found.from.as_str(), found.to.as_str()), (FlowProtocol::Udp, "a", "b"));
    assert_eq!((found.lost, found.loss), (Some(0), Some(0.0)));
    for delay in [found.delay_p50_ms, found.delay_p95_ms, found.delay_p99_ms] {
        assert!((delay.expect("packets") / 5.83 - 1.0).abs() < 0.01, "{found:?}");
    }
    // Twice the capacity of the wire: half is lost, and the rest waits behind a full queue.
    // The socket holds more than the device's ring; a smaller one would block without losses.
    let room = [("node.a.sysctl.net.core.wmem_default", "4000000")];
    let flooded = run(&parse(&(WIRE.to_owned() + &flow("udp", "a", "b", &udp("20"))), &room), 0);
    let found = of(&flooded, "udp-0.b");
    assert!((found.loss.expect("datagrams") - 0.53).abs() < 0.02, "{found:?}");
    assert!(found.delay_p50_ms.expect("packets") > 10.0, "{found:?}");
    // Goodput at 10 Mbit/s: 972 of every 1,038 bytes are payload.
    assert!((found.goodput_mbps - 9.364).abs() < 0.01, "{found:?}");
    let [due, packets, lost, away] =
        [found.due, found.packets, found.lost, found.under_way].map(|n| n.expect("of UDP"));
    assert_eq!((due, packets + lost + away), (7716, 7716));
}

#[test]
fn downloads_and_uploads_of_a_station_are_separate() {
    let text = cell("3 s", "band = \"5 GHz\"\nwidth = \"20 MHz\"", "scheme = \"airtime\"")
        + &station("sta", 0, "rate = \"ht20-mcs7-sgi\"")
        + &flow("tcp", "ap", "sta", "name = \"down\"")
        + &flow("tcp", "sta", "ap", "name = \"up\"")
        + &flow("udp", "ap", "sta", "name = \"video\"\nrate = \"1 Mbit/s\"")
        + &flow("voip", "sta", "ap", "name = \"call\"")
        + &flow("quic", "ap", "sta", "name = \"quic\"\nbytes = \"1 MB\"")
        + &flow("ping", "ap", "sta", "name = \"ping\"")
        + &flow("web", "sta", "ap", "name = \"page\"\npage = \"small\"");
    let summary = run(&parse(&text, &[]), 0);
    let names: Vec<&str> = summary.flows.keys().map(String::as_str).collect();
    assert_eq!(names, ["call.ap", "down.sta", "quic.sta", "up.ap", "video.sta"]);
    let (down, up) = (of(&summary, "down.sta"), of(&summary, "up.ap"));
    assert_eq!((down.from.as_str(), up.from.as_str()), ("ap", "sta"));
    let all: f64 = summary.flows.values().map(|flow| flow.goodput_mbps).sum();
    // The station's goodput is the sum, plus the data of its page loads.
    let whole = summary.stations["sta"].goodput_mbps;
    assert!(all <= whole && all > 0.9 * whole && down.goodput_mbps < 0.9 * whole, "{all} of {whole}");
    for found in summary.flows.values() {
        let [p50, p95, p99] =
            [found.delay_p50_ms, found.delay_p95_ms, found.delay_p99_ms].map(|ms| ms.expect("packets came"));
        assert!(0.0 < p50 && p50 <= p95 && p95 <= p99, "{found:?}");
        assert_eq!(found.tcp.is_some(), found.protocol == FlowProtocol::Tcp);
        assert_eq!(found.loss.is_some(), matches!(found.protocol, FlowProtocol::Udp | FlowProtocol::Voip));
    }
}
