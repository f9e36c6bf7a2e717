//! Encrypted data frames: their airtime overhead.

mod common;

use common::{cell, flow, of, parse, run, station};
use stillair_model::types::{Duration, Instant, PpduKind, Seed, Sink, TraceEvent};
use stillair_sim::world::wire;

const CHANNEL: &str = "band = \"5 GHz\"\nwidth = \"20 MHz\"\nbeacon_interval = \"off\"";

fn text(cipher: &str, ap: &str, flows: &str) -> String {
    cell("2 s", &format!("{CHANNEL}\n{cipher}"), &format!("scheme = \"fq_mac\"{ap}"))
        + &station("s", 0, "rate = \"ht20-mcs15-sgi\"")
        + flows
}

/// Frames and airtime in us of each data PPDU.
#[derive(Default)]
struct Sent(Vec<(u32, u64)>);

impl Sink for Sent {
    fn event(&mut self, _: Instant, what: &TraceEvent) {
        if let TraceEvent::Ppdu(t) = what
            && matches!(t.kind, PpduKind::Single | PpduKind::Aggregate)
            && t.dev.index() == 0
        {
            self.0.push((t.mpdus.into(), t.airtime.nanos() / 1000));
        }
    }
}

/// Returns the longest PPDU of the access point.
fn longest(cipher: &str, ap: &str, flows: &str) -> (u32, u64) {
    let scenario = parse(&text(cipher, ap, flows), &[]);
    let mut world = wire(&scenario, Seed { seed: 1, run: 0 }, |_| Sent::default()).world;
    world.run_until(Instant::ZERO + Duration::from_secs(2));
    world.into_trace().0.into_iter().max().expect("something was sent")
}

const CCMP: &str = "cipher = \"ccmp\"";

#[test]
fn every_data_frame_is_16_bytes_longer() {
    // Pings of 1,000 bytes are sent as single frames: 1,010 + 28 bytes of IP and 38 bytes of overhead take 17
    // symbols of 3.6 us at 520 bits per symbol. With 16 bytes more, 8,768 of 8,840 bits are used: same
    // duration. Pings of 1,036 bytes need one more symbol.
    let ping = |payload: u32| flow("udp_ping", "ap", "s", &format!("payload = {payload}"));
    for (payload, more) in [(1_000, 0), (1_036, 4)] {
        let (none, ccmp) = (longest("", "", &ping(payload)), longest(CCMP, "", &ping(payload)));
        assert_eq!((none.0, ccmp.0, ccmp.1 - none.1), (1, 1, more), "{payload}: {none:?} {ccmp:?}");
    }
    // 32 frames of 1,500 bytes: 16 bytes each are 4,096 bits, or 8 symbols; with the short guard interval,
    // the total duration is a multiple of 4 us.
    let flood = flow("udp", "ap", "s", "rate = \"200 Mbit/s\"\npayload = 1472\nburst = 8");
    let (none, ccmp) = (longest("", "", &flood), longest(CCMP, "", &flood));
    assert_eq!((none.0, ccmp.0), (32, 32));
    assert!((28..=32).contains(&(ccmp.1 - none.1)), "{none:?} {ccmp:?}");
    // Older chips insert ten 4-byte delimiters between frames: 31 times 40 bytes are 19 symbols.
    let old = longest(CCMP, ", cipher_delimiters = 10", &flood);
    assert_eq!(old.0, 32);
    assert!((68..=72).contains(&(old.1 - ccmp.1)), "{ccmp:?} {old:?}");
}

#[test]
fn encryption_costs_one_percent() {
    let flood = flow("udp", "ap", "s", "rate = \"200 Mbit/s\"\npayload = 1472\nburst = 8");
    let goodput = |cipher: &str| of(&run(&parse(&text(cipher, "", &flood), &[]), 0), "s").goodput_mbps;
    let (none, ccmp) = (goodput(""), goodput(CCMP));
    let loss = 100.0 * (1.0 - ccmp / none);
    assert!((0.6..1.4).contains(&loss), "{none} {ccmp}");
    // The overhead is not part of the packets: their lengths do not change.
    assert!(
        (run(&parse(&text(CCMP, "", &flood), &[]), 0).trace_hash)
            != run(&parse(&text("", "", &flood), &[]), 0).trace_hash
    );
}

#[test]
fn delimiters_without_a_cipher_are_rejected() {
    let text = text("", ", cipher_delimiters = 10", "");
    let said = stillair_sim::scenario::parse(&text, "test.toml", &[]).expect_err("a mistake").to_string();
    assert!(
        said.contains("cipher_delimiters: found 10, which has no effect without a cipher on its channel"),
        "{said}"
    );
}
