//! Packets of several segments whose segments a discipline above Wi-Fi takes in part or not at all.

mod common;

use common::{flow, parse, run_to, watched};
use stillair_model::vocabulary::Duration;

/// Bytes of each flow.
const BYTES: u64 = 100_000;

/// A client whose discipline splits what is too large for its bucket, and a server 5 ms behind its access point.
fn network(qdisc: &str) -> String {
    format!(
        r#"
name = "refused"
duration = "60 s"

[channel.wifi]
band = "2.4 GHz"
width = "40 MHz"

[link.lan]
rate = "1 Gbit/s"
delay = "5 ms"

[node.client]
profile = "linux-6.1"
interface.wlan0 = {{ channel = "wifi", role = "station", ap = "router.wlan0", address = "10.0.1.2", rate = "ht40-mcs7-sgi", scheme = "fifo", qdisc = {{ kind = "tbf", burst = "1600 B", mq = false, {qdisc} }} }}

[node.router]
profile = "linux-4.14"
forward = true
interface.wlan0 = {{ channel = "wifi", role = "ap", scheme = "fifo", address = "10.0.1.1" }}
interface.eth0 = {{ link = "lan", address = "10.0.2.1" }}

[node.server]
profile = "linux-4.14"
interface.eth0 = {{ link = "lan", address = "10.0.2.2" }}
"#
    )
}

/// All arrives, and nothing is tried again without end at the same instant.
#[test]
fn all_data_arrives_over_a_shaper_that_splits_and_refuses() {
    for (qdisc, seed, flows) in [
        ("rate = \"5 Mbit/s\", child = { kind = \"fq_codel\", limit = 3 }", 0, 8),
        ("rate = \"5 Mbit/s\", child = { kind = \"fq_codel\", limit = 10 }", 2, 8),
        ("rate = \"20 Mbit/s\", child = { kind = \"fq_codel\", limit = 10 }", 2, 8),
        ("rate = \"1 Mbit/s\", limit = \"5000 B\"", 2, 2),
    ] {
        let mut text = network(qdisc);
        for _ in 0..flows {
            text += &flow("tcp", "client", "server", &format!("bytes = {BYTES}"));
        }
        let mut world = watched(&parse(&text, &[("seed", &seed.to_string())]), 0).world;
        run_to(&mut world, Duration::from_secs(60)).unwrap_or_else(|e| panic!("{qdisc}: {e}"));
        assert_eq!(world.trace.read, vec![BYTES; flows], "{qdisc}");
        assert_eq!(world.charged(), 0, "{qdisc}");
    }
}
