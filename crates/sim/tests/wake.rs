//! Wake-up delay of applications, and memory of their segments meanwhile.

mod common;

use common::{flow, parse, rounded};
use stillair_model::types::{Duration, Instant, PpduKind, Seed, Sink, TraceEvent};
use stillair_sim::world::wire;

/// Measurements after the first second.
#[derive(Default)]
struct Seen {
    aggregates: u64,
    acks: u64,
    reads: u64,
    bytes: u64,
}

impl Sink for Seen {
    fn event(&mut self, now: Instant, what: &TraceEvent) {
        if now < Instant::ZERO + Duration::from_secs(1) {
            return;
        }
        match what {
            TraceEvent::Ppdu(t) if matches!(t.kind, PpduKind::Single | PpduKind::Aggregate) => {
                if t.dev.index() == 0 {
                    self.aggregates += 1;
                } else {
                    self.acks += u64::from(t.mpdus);
                }
            }
            TraceEvent::Read { bytes, .. } => {
                self.reads += 1;
                self.bytes += u64::from(*bytes);
            }
            _ => {}
        }
    }
}

/// Two seconds of a download by one station, after a first second that is not measured, with additional keys
/// for the server, the station and its interface.
fn download(server: &str, station: &str, interface: &str) -> Seen {
    let text = format!(
        r#"
name = "wake"
duration = "3 s"

[channel.wifi]
band = "5 GHz"
width = "20 MHz"

[link.lan]
kind = "veth"

[node.server]
profile = "linux-6.12"
interface.eth0 = {{ link = "lan", address = "10.0.2.2" }}
{server}

[node.ap]
profile = "linux-6.12"
forward = true
interface.eth0 = {{ link = "lan", address = "10.0.2.1" }}
interface.wlan0 = {{ channel = "wifi", role = "ap", address = "10.0.1.1" }}

[node.sta]
profile = "linux-6.12"
interface.wlan0 = {{ channel = "wifi", role = "station", ap = "ap.wlan0", address = "10.0.1.2", rate = "ht20-mcs15-sgi", {interface} }}
{station}
"#
    ) + &flow("tcp", "server", "sta", "");
    let mut world = wire(&parse(&text, &[]), Seed { seed: 1, run: 0 }, |_| Seen::default()).world;
    let end = Instant::ZERO + Duration::from_secs(3);
    world.run_until(end);
    world.close(end).expect("accounts close");
    world.into_trace()
}

// linux: net/ipv4/tcp_input.c __tcp_ack_snd_check, net/ipv4/tcp.c __tcp_cleanup_rbuf (6.12) - before data is
// read, a segment is acknowledged only if that may advance the window, and segments that share a buffer leave
// more room for that; reading triggers the remaining acknowledgements.
#[test]
fn aggregate_is_read_together_and_acknowledged_a_few_times() {
    #[rustfmt::skip]
    let table = [
        // buffer, wake-up delay; acknowledgements and reads per ten aggregates of 32
        ("2304 B", "softirq", 10, 9),
        ("2304 B", "50 us",   10, 9),
        ("2304 B", "5 ms",    10, 5),
        ("4352 B", "softirq", 21, 9),
        ("4352 B", "50 us",   21, 9),
        ("4352 B", "5 ms",    11, 5),
    ];
    let mut found = Vec::new();
    for (buffer, wake, ..) in table {
        let seen = download("", &format!("wake = \"{wake}\""), &format!("rx_buffer = \"{buffer}\""));
        let tenths = |n: u64| rounded(10.0 * n as f64 / seen.aggregates as f64);
        found.push((buffer, wake, tenths(seen.acks), tenths(seen.reads)));
    }
    assert_eq!(found, table);
}

#[test]
fn a_writer_fills_its_socket_once_for_each_wake_up() {
    let small = "sysctl.\"net.ipv4.tcp_wmem\" = \"4096 65536 65536\"";
    let bytes = |wake: &str| download(&format!("{small}\nwake = \"{wake}\""), "", "").bytes;
    let [at_once, late] = ["softirq", "50 ms"].map(bytes);
    // About thirty times in two seconds. A packet trimmed at transmission is refilled whatever the buffer
    // holds, so each time the excess is up to a window.
    assert!((20 * 20_000..=41 * 300_000).contains(&late), "{late}");
    assert!(at_once > 3 * late, "{at_once}, {late}");
}
