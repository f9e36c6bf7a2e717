//! Saturated stations, compared with Bianchi's model; a single one, compared with the sum of the parts of its
//! exchange.

#[path = "../../model/tests/common/bianchi.rs"]
mod bianchi;
mod common;

use bianchi::{Saturation, SlotDurations, saturation};
use common::{air_permille, cell, flow, parse, run_to, station, watched};
use stillair_model::types::Duration;
use stillair_model::wifi::phy::timing::Timing;
use stillair_model::wifi::phy::{Band, OfdmRate, PhyRate, ppdu_duration};

/// UDP payload of a 1500-byte packet, and its MPDU: QoS header 26, LLC and SNAP 8, FCS 4.
const PAYLOAD: u32 = 1472;
const MPDU: u32 = 1538;
const SECONDS: u64 = 6;

fn us(d: Duration) -> f64 {
    d.nanos() as f64 / 1e3
}

/// Duration of a slot, computed from the parts in the standard; payload in bits, so that throughput is in
/// Mbit/s.
///
/// A collision is followed by the duration of an ACK at the lowest rate, as on the simulated air (EIFS for
/// all radios).
fn durations(band: Band) -> SlotDurations {
    let t = Timing::of(band);
    let data = us(ppdu_duration(PhyRate::Ofdm(OfdmRate::M54), MPDU, band));
    let (sifs, aifs) = (us(t.sifs), us(t.sifs) + 3.0 * us(t.slot));
    SlotDurations {
        slot: us(t.slot),
        success: data + sifs + us(t.ack_duration(PhyRate::Ofdm(OfdmRate::M24))) + aifs,
        collision: data + sifs + us(t.ack_duration(PhyRate::Ofdm(OfdmRate::M6))) + aifs,
        payload: f64::from(PAYLOAD * 8),
    }
}

/// `n` stations upload more than the capacity, in single frames that are retried until received.
fn upload(n: usize, band: &str) -> String {
    let channel =
        format!("band = \"{band}\"\nwidth = \"20 MHz\"\nbeacon_interval = \"off\"\nbasic_rate = \"ofdm-6\"");
    let tries = "{ rate = \"ofdm-54\", tries = 15 }";
    let path = format!("rate = \"ofdm-54\", retry_chain = [{tries}, {tries}, {tries}, {tries}]");
    let mut text = cell(&format!("{SECONDS} s"), &channel, "scheme = \"fifo\"");
    (0..n).for_each(|i| text += &station(&format!("s{i}"), i, &path));
    for i in 0..n {
        let more = format!("rate = \"100 Mbit/s\"\npayload = {PAYLOAD}\nburst = 8");
        text += &flow("udp", &format!("s{i}"), "ap", &more);
    }
    text
}

/// Returns the payload throughput in Mbit/s, and the share of tries that collided.
fn measured(n: usize, band: &str, run: u64) -> (f64, f64) {
    let mut world = watched(&parse(&upload(n, band), &[]), run).world;
    run_to(&mut world, Duration::from_secs(SECONDS)).expect("accounts close");
    let t = &world.trace();
    let packets: u64 = t.delivered.iter().sum();
    let mbps = packets as f64 * f64::from(PAYLOAD * 8) / (SECONDS as f64 * 1e6);
    (mbps, t.collided as f64 / t.tries as f64)
}

#[test]
fn several_stations_match_bianchi() {
    for (n, name, band) in [
        (2, "5 GHz", Band::Ghz5),
        (5, "5 GHz", Band::Ghz5),
        (10, "5 GHz", Band::Ghz5),
        (10, "2.4 GHz", Band::Ghz2),
        (25, "5 GHz", Band::Ghz5),
    ] {
        // Best effort of a station: CW of 16 to 1024, six doublings.
        let Saturation { throughput, p, .. } = saturation(n as u32, 16, 6, durations(band));
        let (mbps, collided) = measured(n, name, 0);
        assert!((mbps / throughput - 1.0).abs() < 0.03, "{n} at {name}: {mbps} Mbit/s, model {throughput}");
        assert!((collided - p).abs() < 0.03, "{n} at {name}: {collided} collided, model {p}");
    }
}

#[test]
fn one_station_matches_the_parts_of_its_exchange() {
    for (name, band) in [("5 GHz", Band::Ghz5), ("2.4 GHz", Band::Ghz2)] {
        let d = durations(band);
        // A mean backoff of 7.5 slots between exchanges.
        let expected = d.payload / (d.success + 7.5 * d.slot);
        let (mbps, collided) = measured(1, name, 0);
        assert!((mbps / expected - 1.0).abs() < 0.005, "{name}: {mbps} Mbit/s, expected {expected}");
        assert_eq!(collided, 0.0);
    }
}

#[test]
fn stations_share_alike() {
    // Doubled windows put losers at a disadvantage for some time, so shares even out slowly.
    let mut world = watched(&parse(&upload(5, "5 GHz"), &[]), 1).world;
    run_to(&mut world, Duration::from_secs(SECONDS)).expect("accounts close");
    let got = &world.trace().delivered;
    let mean = got.iter().sum::<u64>() / 5;
    assert!(got.iter().all(|&n| n * 100 > mean * 88 && n * 100 < mean * 112), "{got:?}");
}

#[test]
fn airtime_account_of_one_station() {
    let mut world = watched(&parse(&upload(1, "5 GHz"), &[]), 0).world;
    run_to(&mut world, Duration::from_secs(SECONDS)).expect("accounts close");
    let accounts = world.books().air_accounts();
    let [idle, contention, data, ack, collision, beacon, management, protection, ..] =
        air_permille(accounts[0].1);
    // 54 Mbit/s: 252 us of data, 16 + 28 us of response, 43 + 67.5 us of contention: 406.5 us in total.
    let parts = [contention, data, ack];
    let expected = [110.5, 252.0, 44.0].map(|part| part * 1000.0 / 406.5);
    for (got, want) in parts.into_iter().zip(expected) {
        assert!((got as f64 - want).abs() < 5.0, "{parts:?} {expected:?}");
    }
    assert_eq!([idle, collision, beacon, management, protection], [0; 5]);
}
