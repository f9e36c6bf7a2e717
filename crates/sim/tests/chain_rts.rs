//! Retry chain entries with RTS/CTS: airtime to the microsecond.

mod common;

use common::{cell, flow, parse, run, station};
use stillair_model::types::Duration;
use stillair_model::wifi::phy::timing::Timing;
use stillair_model::wifi::phy::{Band, OfdmRate, PhyRate, frame, ppdu_duration};

/// Returns the airtime of the access point's data and protection, in us.
fn used(band: &str, path: &str) -> [f64; 2] {
    let channel = format!("band = \"{band}\"\nwidth = \"20 MHz\"\nbeacon_interval = \"off\"");
    // Voice has no Block Ack session: each frame is sent on its own and not retried by software.
    let text = cell("1 s", &channel, "scheme = \"fifo\"")
        + &station("s", 0, path)
        + &flow("udp", "ap", "s", "rate = \"1 Mbit/s\"\npayload = 1472\ndscp = \"CS6\"\nstop = \"0.23 s\"");
    let summary = serde_json::to_value(run(&parse(&text, &[]), 0)).expect("JSON");
    let air = &summary["air"]["wifi"];
    ["data_us", "protection_us"].map(|part| air[part].as_f64().expect("a number"))
}

/// Checks that each frame takes these two times, to the nanosecond.
fn check([data, protection]: [f64; 2], of_data: f64, of_protection: f64) {
    let frames = protection / of_protection;
    assert!(frames >= 10.0 && frames.fract() == 0.0, "{protection} {of_protection}");
    assert_eq!(data, frames * of_data);
}

fn us(d: Duration) -> f64 {
    d.nanos() as f64 / 1e3
}

#[test]
fn an_entry_costs_rts_and_cts_at_the_control_rate() {
    for (name, band) in [("5 GHz", Band::Ghz5), ("2.4 GHz", Band::Ghz2)] {
        let timing = Timing::of(band);
        let lasts = |rate, bytes| us(ppdu_duration(rate, bytes, band));
        for (mcs, control) in [(6, OfdmRate::M24), (2, OfdmRate::M12), (0, OfdmRate::M6)] {
            let [m7, lower] =
                [7, mcs].map(|n| lasts(PhyRate::parse(&format!("ht20-mcs{n}-lgi")).unwrap(), 1_538));
            let path = format!(
                "rate = \"ht20-mcs7-lgi\", retry_chain = [{{ rate = \"mcs7\", tries = 2 }}, \
                 {{ rate = \"mcs{mcs}\", tries = 3, rts = true }}], error_rate = [{{ rates = \"mcs7\", probability = 1 }}, \
                 {{ rates = \"mcs{mcs}\", probability = 0 }}]"
            );
            // spec: ieee80211-2016 10.3.2.7 - RTS, SIFS, CTS, SIFS.
            let control = PhyRate::Ofdm(control);
            let guard = lasts(control, frame::RTS) + lasts(control, frame::CTS) + 2.0 * us(timing.sifs);
            check(used(name, &path), 2.0 * m7 + lower, guard);
        }
    }
}

#[test]
fn lost_rts_counts_as_a_try() {
    // Out of range: two tries with the frame, three of only an RTS of 28 us.
    let path = "rate = \"ht20-mcs7-lgi\", snr = \"-10 dB\", retry_chain = [{ rate = \"mcs7\", tries = 2 }, \
                { rate = \"mcs6\", tries = 3, rts = true }]";
    let m7 = us(ppdu_duration(PhyRate::parse("ht20-mcs7-lgi").unwrap(), 1_538, Band::Ghz5));
    check(used("5 GHz", path), 2.0 * m7, 3.0 * 28.0);
}
