//! Nodes with several interfaces at the ends of flows: their source addresses and output devices.

mod common;

use common::{flow, parse, run};
use stillair_sim::scenario::Ways;

const WIRED: &str = "interface.eth0 = { link = \"lan\", address = \"10.0.0.1\" }\n";
const WIFI: &str =
    "interface.wlan0 = { channel = \"w\", role = \"ap\", address = \"10.0.1.1\", scheme = \"fq_mac\" }\n";

/// A server, an access point between it and a station, and a host with a wire to each of them.
fn text(ap: &str, flows: &str) -> String {
    format!(
        r#"
name = "several"
duration = "5 s"
warm_up = "1 s"
link.lan = {{ kind = "ethernet", rate = "1 Gbit/s", delay = "5 ms" }}
link.one = {{ kind = "ethernet", rate = "1 Gbit/s", delay = "5 ms" }}
link.two = {{ kind = "ethernet", rate = "1 Gbit/s", delay = "5 ms" }}
channel.w = {{ band = "5 GHz", width = "20 MHz" }}

[node.server]
profile = "linux-4.14"
interface.eth0 = {{ link = "lan", address = "10.0.0.2" }}
interface.eth1 = {{ link = "one", address = "10.0.2.2" }}

[node.ap]
profile = "linux-4.14"
forward = true
{ap}
[node.sta]
profile = "linux-4.14"
interface.wlan0 = {{ channel = "w", role = "station", ap = "ap.wlan0", address = "10.0.1.11", rate = "ht20-mcs7-sgi" }}
interface.eth0 = {{ link = "two", address = "10.0.3.11" }}

[node.both]
profile = "linux-4.14"
interface.one = {{ link = "one", address = "10.0.2.3" }}
interface.two = {{ link = "two", address = "10.0.3.3" }}
{flows}"#
    )
}

#[test]
fn node_without_interface_uses_the_address_of_the_route() {
    // from, to, interfaces with the addresses of the packets
    let table = [
        ("ap", "sta", "ap.wlan0", "sta.wlan0"),
        ("ap", "server", "ap.eth0", "server.eth0"),
        ("sta", "ap", "sta.wlan0", "ap.wlan0"),
        ("server", "ap", "server.eth0", "ap.eth0"),
        // Bypassing the access point.
        ("server", "sta", "server.eth0", "sta.wlan0"),
        ("sta", "server", "sta.wlan0", "server.eth0"),
        ("both", "server", "both.one", "server.eth1"),
        ("sta", "both", "sta.eth0", "both.two"),
        // Named interfaces are used, even if no route leads through them.
        ("ap.eth0", "sta", "ap.eth0", "sta.wlan0"),
        ("ap", "sta.eth0", "ap.wlan0", "sta.eth0"),
        ("sta.wlan0", "both", "sta.wlan0", "both.two"),
    ];
    for swapped in [false, true] {
        let ap = if swapped { [WIFI, WIRED] } else { [WIRED, WIFI] }.concat();
        for (from, to, src, dst) in table {
            let scenario = parse(&text(&ap, &flow("ping", from, to, "")), &[]);
            let flow = &scenario.flows[0];
            let ends = Ways::new(&scenario).ends(flow.from, flow.to[0]);
            assert_eq!(ends.map(|at| scenario.interface_name(at)), [src, dst], "{from} {to}");
        }
    }
}

#[test]
fn socket_uses_the_features_of_its_output_device() {
    let goodput = |ap: [&str; 2], from: &str, to: &str| {
        run(&parse(&text(&ap.concat(), &flow("tcp", from, to, "")), &[]), 0)
    };
    let of = |from: &str, to: &str| goodput([WIRED, WIFI], from, to);
    let (alone, named) = (of("ap", "sta"), of("ap.wlan0", "sta"));
    assert_eq!(alone.trace_hash, named.trace_hash);
    let right = named.goodput_total_mbps;
    let swapped = goodput([WIFI, WIRED], "ap", "sta").goodput_total_mbps;
    let bound = of("ap.eth0", "sta").goodput_total_mbps;
    let through = goodput([WIFI, WIRED], "ap.eth0", "sta").goodput_total_mbps;
    for (what, mbps) in [("swapped", swapped), ("bound", bound), ("bound, swapped", through)] {
        assert!((mbps / right - 1.0).abs() < 0.05, "{what}: {mbps} against {right}");
    }
    // With the wired device's larger packets and without mac80211's pacing shift, it would fill the queues
    // and be faster.
    assert!(right < 42.0, "{right}");
}
