//! Packets of several segments that a qdisc on Wi-Fi accepts only in part or not at all.

mod common;

use common::{flow, parse, run_to, watched};
use stillair_model::transport::tcp::info::TcpInfo;
use stillair_model::types::Duration;

/// Bytes per flow.
const BYTES: u64 = 100_000;

/// A client whose qdisc splits packets larger than its bucket, and a server 5 ms behind its access point.
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

/// Returns true if more has arrived than the sender considers sent, so that no acknowledgement counts: a
/// segment of a packet refused by the shaper was queued, because fq_codel dropped an older packet of the flow
/// for it.
// linux: net/sched/sch_tbf.c tbf_segment, net/ipv4/tcp_output.c tcp_write_xmit, net/ipv4/tcp_input.c tcp_ack
// (6.1) - segments with NET_XMIT_CN are not counted, a refused packet counts as not sent, and
// acknowledgements of unsent data are ignored. After a timeout, nothing new is sent, so the kernel is stuck
// as well.
fn hears_nothing(read: u64, sender: &TcpInfo) -> bool {
    let known = sender.bytes_acked - 1 + u64::from(sender.unacked) * u64::from(sender.mss);
    read > known && sender.timeouts > 0
}

/// All data arrives unless the sender is stuck, and nothing is retried endlessly at the same instant.
#[test]
fn all_data_arrives_over_a_splitting_and_dropping_shaper() {
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
        for (flow, sender) in world.books().tcp_senders() {
            let read = world.trace().read[flow.index()];
            assert!(read == BYTES || hears_nothing(read, &sender), "{qdisc}: {read} of {flow:?}, {sender:?}");
        }
        assert_eq!(world.books().charged(), 0, "{qdisc}");
    }
}
