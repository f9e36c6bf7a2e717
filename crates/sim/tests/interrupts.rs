//! Interrupts for received frames: delivery delays of a device, measured by round-trip times.

mod common;

use common::{cell, flow, parse, run_to, station, watched};
use stillair_model::types::Duration;

const CHANNEL: &str = "band = \"5 GHz\"\nwidth = \"20 MHz\"\nbeacon_interval = \"off\"";
const LONG: &str = ", rx_mitigation = { kind = \"times\", last = \"50 ms\", first = \"60 ms\" }";

/// Sorted round-trip times of pings from the access point to a station, in us. `ap` and `at` are appended to
/// the tables of both.
fn rtts(ap: &str, at: &str, flows: &str) -> Vec<u64> {
    let text = cell("4 s", CHANNEL, &format!("scheme = \"fq_mac\"{ap}"))
        + &station("s", 0, &format!("rate = \"ht20-mcs15-sgi\"{at}"))
        + &flow("ping", "ap", "s", "interval = \"0.2 s\"")
        + flows;
    let mut world = watched(&parse(&text, &[]), 0).world;
    run_to(&mut world, Duration::from_secs(4)).expect("accounts close");
    let mut us: Vec<u64> =
        world.trace().recorder.flows[0].rtts[0].each().iter().map(|ns| ns / 1000).collect();
    us.sort_unstable();
    us
}

/// Increase of the round-trip times over those without mitigation in us, quantile by quantile.
fn later(ap: &str, at: &str) -> Vec<u64> {
    let none = rtts("", "", "");
    let some = rtts(ap, at, "");
    assert_eq!(none.len(), some.len());
    none.iter().zip(&some).map(|(none, some)| some.saturating_sub(*none)).collect()
}

#[test]
fn single_frame_waits_for_others() {
    let chip = |name: &str| format!(", rx_mitigation = \"{name}\"");
    assert!(later("", &chip("none")).iter().all(|&us| us == 0));
    // The reply is delayed at the access point as the request is at the station. It finds the medium idle for
    // long and is sent immediately; without mitigation, it follows the request and backs off.
    for (ap, at, wait) in
        [("", "ar9300", 500), ("ar9300", "", 500), ("ar9300", "ar9300", 1_000), ("", "ar9002", 250)]
    {
        let key = |name: &str| if name.is_empty() { String::new() } else { chip(name) };
        let later = later(&key(ap), &key(at));
        let median = later[later.len() / 2];
        assert!((wait - 150..=wait + 50).contains(&median), "{ap:?} {at:?}: {later:?}");
    }
}

#[test]
fn end_of_a_transmission_reports_received_frames() {
    // The first request is followed by an ADDBA Request, whose response reports both.
    let alone = &rtts("", LONG, "")[1..];
    assert!(alone.iter().all(|&us| us > 50_000), "{alone:?}");
    // A station that sends all the time polls several times within 50 ms.
    let busy = rtts("", LONG, &flow("udp", "s", "ap", "rate = \"60 Mbit/s\"\nburst = 8"));
    let median = busy[busy.len() / 2];
    assert!(median < 20_000, "{busy:?}");
}

#[test]
fn devices_of_a_radio_share_its_interrupt() {
    // Pings to one device of a station whose other device is silent, saturates the channel, or is saturated.
    let beside = |flows: &str| {
        let second = format!(
            "interface.wlan1 = {{ channel = \"wifi\", role = \"station\", ap = \"ap.wlan0\", radio = \"wlan0\", \
             address = \"10.0.1.99\", rate = \"ht20-mcs15-sgi\"{LONG} }}\n"
        );
        let us = rtts("", &format!("{LONG} }}\n{}", second.trim_end().trim_end_matches('}')), flows);
        us[us.len() / 2]
    };
    let alone = beside("");
    assert!((50_000..51_000).contains(&alone), "{alone}");
    // Completions of the other device's frames end the delay as well.
    let sends = beside(&flow("udp", "s.wlan1", "ap", "rate = \"60 Mbit/s\"\nburst = 8"));
    assert!(sends < 20_000, "{sends}");
    // Reception by the other device keeps the radio waiting, up to 60 ms.
    let hears = beside(&flow("udp", "ap", "s.wlan1", "rate = \"2 Mbit/s\"\ngap = \"exponential\""));
    assert!((60_000..63_000).contains(&hears), "{hears}");
}

#[test]
fn frame_with_errors_reports_earlier_frames() {
    // Half of 800 frames per second are received with errors first, so waits are short; without them, the
    // wait ends 60 ms after some frame.
    let lossy =
        rtts("", &format!(", error_rate = 0.5{LONG}"), &flow("udp", "ap", "s", "rate = \"10 Mbit/s\""));
    let median = lossy[lossy.len() / 2];
    assert!(median < 10_000, "{lossy:?}");
    let whole = rtts("", LONG, &flow("udp", "ap", "s", "rate = \"10 Mbit/s\""));
    let median = whole[whole.len() / 2];
    assert!((20_000..45_000).contains(&median), "{whole:?}");
}
