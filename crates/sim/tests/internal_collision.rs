//! Functions of one radio that would start in the same slot: one transmits, and its exchange takes as long as
//! without the others.

use stillair_model::types::{Duration, Instant, PpduKind, Seed, Sink, TraceEvent};
use stillair_sim::{scenario, world};

/// One station with four saturated categories.
const BUSY: &str = r#"
name = "busy"
duration = "2 s"
[channel.wifi]
band = "5 GHz"
width = "20 MHz"
[node.server]
profile = "linux-4.4"
interface.eth0 = { link = "lan", address = "10.0.0.2" }
[node.ap]
profile = "linux-4.4"
forward = true
interface.eth0 = { link = "lan", address = "10.0.0.1" }
interface.wlan0 = { channel = "wifi", role = "ap", scheme = "fq_mac", address = "10.0.1.1" }
[node.sta]
profile = "linux-4.4"
interface.wlan0 = { channel = "wifi", role = "station", ap = "ap.wlan0", address = "10.0.1.2", rate = "ht20-mcs7-lgi", scheme = "fq_mac" }
[link.lan]
rate = "1 Gbit/s"
delay = "0.1 ms"
"#;

/// Adds up the responses to PPDUs, from the trace.
#[derive(Default)]
struct Answers(Duration);

impl Sink for Answers {
    fn event(&mut self, _: Instant, what: &TraceEvent) {
        let TraceEvent::Ppdu(t) = what else { return };
        // At MCS 7, responses are sent at 24 Mbit/s; to management frames and requests at 6 Mbit/s.
        let answer = match t.kind {
            _ if t.received == 0 => return,
            PpduKind::Beacon | PpduKind::Group => return,
            PpduKind::Single => 28,
            PpduKind::Aggregate => 32,
            PpduKind::Management => 44,
            PpduKind::Bar => 68,
        };
        self.0 += Duration::from_micros(16 + answer);
    }
}

#[test]
fn only_responses_are_accounted_as_responses() {
    let flow = |mark: &str| {
        format!(
            "[[flow]]\nkind = \"udp\"\nfrom = \"sta\"\nto = [\"server\"]\nrate = \"40 Mbit/s\"\n\
             payload = 1470\nstop = \"1.5 s\"\ndscp = \"{mark}\"\n"
        )
    };
    let flows: String = ["EF", "CS5", "CS0", "CS1"].map(flow).concat();
    let scenario = scenario::parse(&format!("{BUSY}{flows}"), "busy.toml", &[]).unwrap();
    let mut wired = world::wire(&scenario, Seed { seed: 1, run: 0 }, |_| Answers::default());
    let end = Instant::ZERO + scenario.duration;
    wired.world.run_until(end);
    wired.world.close(end).unwrap();
    let accounts = wired.world.books().air_accounts();
    let ack = accounts[0].1.used(stillair_model::wifi::air::account::AirUse::Ack);
    assert!(wired.world.trace().0 > Duration::from_millis(10), "there was traffic");
    assert_eq!(ack, wired.world.trace().0);
}
