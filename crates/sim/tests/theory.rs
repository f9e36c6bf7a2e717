//! Saturated cells compared with the standard's parameters and Bianchi's model: contention with few tries,
//! aggregates, forty stations at once, and the widest channels.
//!
//! Durations are computed here from the standard's numbers, not with the model's own code.

mod common;

use common::{cell, flow, parse, run_to, station, watched};
use stillair_model::types::Duration;

/// UDP payload of a 1500-byte packet; its MPDU (QoS header 26, LLC and SNAP 8, FCS 4); its A-MPDU subframe:
/// delimiter 4, padding 2, except in the last one.
const PAYLOAD: u32 = 1472;
const MPDU: u32 = 1538;
const SUBFRAME: u32 = 1544;

/// Gaps in us: SIFS and slot at 5 GHz, AIFS of best effort.
// spec: ieee80211-2016 table 17-21, table 9-137 - AIFSN 3.
const SIFS: f64 = 16.0;
const SLOT: f64 = 9.0;
const AIFS: f64 = SIFS + 3.0 * SLOT;

/// Duration of an OFDM frame in us.
// spec: ieee80211-2016 17.4.3 - preamble and SIGNAL 20 us, 16 SERVICE bits, 6 tail bits, symbols of 4 us.
fn ofdm(mbps: u32, bytes: u32) -> f64 {
    20.0 + 4.0 * f64::from((16 + 8 * bytes + 6).div_ceil(4 * mbps))
}

/// Duration in us of `frames` subframes at MCS 7 of one stream with the long guard interval on 20 MHz.
// spec: ieee80211-2016 19.4.3 - 36 us of preamble, 260 bits per symbol of 4 us.
fn mcs7(frames: u32) -> f64 {
    36.0 + 4.0 * f64::from((16 + 8 * (frames * SUBFRAME - 2) + 6).div_ceil(260))
}

/// ACK of 14 bytes and Block Ack of 32 bytes at 24 Mbit/s, and the wait after a collision: an ACK at 6
/// Mbit/s.
fn ack() -> f64 {
    SIFS + ofdm(24, 14)
}
fn block_ack() -> f64 {
    SIFS + ofdm(24, 32)
}
fn eifs() -> f64 {
    SIFS + ofdm(6, 14)
}

/// Throughput of saturated stations in Mbit/s, and the share of tries that collide.
///
/// `n` stations have windows of 16 to 1024 and at most `tries` tries per frame, after which the window is
/// reset. A try takes `on_air` us, and its response `answer`; `bits` is the payload.
// paper: bianchi-2000 - the fixed point of eq. 7 and 9 and the throughput of eq. 13.
// paper: wu-2002 (Performance of reliable transport protocol over IEEE 802.11 WLAN) eq. 7 and 8 - the limit
// of tries: stage j is reached with probability p^j and takes (W_j + 1) / 2 slots.
fn bianchi(n: u32, tries: u32, on_air: f64, answer: f64, bits: f64) -> (f64, f64) {
    let tau_of = |p: f64| {
        let stages = |f: &dyn Fn(f64) -> f64| {
            (0..tries).map(|j| p.powi(j as i32) * f(f64::from((16_u32 << j.min(6)).min(1024)))).sum::<f64>()
        };
        stages(&|_| 1.0) / stages(&|w| 0.5 * (w + 1.0))
    };
    let p_of = |tau: f64| 1.0 - (1.0 - tau).powi(n as i32 - 1);
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if tau_of(p_of(middle)) > middle { low = middle } else { high = middle }
    }
    let tau = low;
    let idle = (1.0 - tau).powi(n as i32);
    let one = f64::from(n) * tau * (1.0 - tau).powi(n as i32 - 1);
    let mean = idle * SLOT + one * (on_air + answer + AIFS) + (1.0 - idle - one) * (on_air + eifs() + AIFS);
    (one * bits / mean, p_of(tau))
}

/// Stations that upload without end. `path` contains their rate.
fn upload(n: usize, seconds: u64, path: &str, more: &str) -> String {
    let channel = "band = \"5 GHz\"\nwidth = \"20 MHz\"\nbeacon_interval = \"off\"\nbasic_rate = \"ofdm-6\"";
    let mut text = cell(&format!("{seconds} s"), channel, "scheme = \"fifo\"");
    // A default send buffer holds fewer datagrams than two aggregates in the hardware and the next one.
    let buffer = "profile = \"linux-4.4\"\nsysctl.\"net.core.wmem_default\" = 1000000";
    (0..n)
        .for_each(|i| text += &station(&format!("s{i}"), i, path).replace("profile = \"linux-4.4\"", buffer));
    for i in 0..n {
        let mbps = (300 / n).min(100);
        let load = format!("rate = \"{mbps} Mbit/s\"\npayload = {PAYLOAD}\nburst = 8\n{more}");
        text += &flow("udp", &format!("s{i}"), "ap", &load);
    }
    text
}

/// Payload in Mbit/s, and the share of tries that collided, between two times in s.
fn measured(text: &str, run: u64, (from, to): (u64, u64)) -> (f64, f64) {
    let mut world = watched(&parse(text, &[]), run).world;
    let mut seen = [(0, 0, 0); 2];
    for (seen, at) in seen.iter_mut().zip([from, to]) {
        run_to(&mut world, Duration::from_secs(at)).expect("accounts close");
        let t = &world.trace();
        *seen = (t.delivered.iter().sum::<u64>(), t.tries, t.collided);
    }
    let [before, after] = seen;
    let mbps = (after.0 - before.0) as f64 * f64::from(PAYLOAD * 8) / ((to - from) as f64 * 1e6);
    (mbps, (after.2 - before.2) as f64 / (after.1 - before.1) as f64)
}

/// Checks the share of tries that collided: within 3 %, or six thousandths of all tries, because the model
/// assumes the same collision probability in every stage, which does not hold for two or three stations.
fn share(what: &str, got: f64, want: f64) {
    println!("{what}: {got:.4}, theory {want:.4}");
    assert!((got - want).abs() < f64::max(0.03 * want, 0.006), "{what}: {got}, theory {want}");
}

fn within_3_percent(what: &str, got: f64, want: f64) {
    println!("{what}: {got:.3}, theory {want:.3}, {:+.2} %", 100.0 * (got / want - 1.0));
    assert!((got / want - 1.0).abs() < 0.03, "{what}: {got}, theory {want}");
}

#[test]
fn single_frames_with_few_tries() {
    for n in [1, 2, 5, 10, 20, 50] {
        let on_air = ofdm(54, MPDU);
        for (tries, path) in [
            (4, "rate = \"ofdm-54\""),
            (7, "rate = \"ofdm-54\", retry_chain = [{ rate = \"ofdm-54\", tries = 7 }]"),
        ] {
            let (mbps, p) = bianchi(n, tries, on_air, ack(), f64::from(PAYLOAD * 8));
            let got = measured(&upload(n as usize, 9, path, ""), 0, (1, 9));
            within_3_percent(&format!("{n} stations, {tries} tries: Mbit/s"), got.0, mbps);
            share(&format!("{n} stations, {tries} tries: collided"), got.1, p);
        }
    }
}

/// Frames that fit in 4,096 us at MCS 7: 1,015 symbols are 32,984 bytes, and 21 subframes 32,422.
const FRAMES: u32 = 21;
const BITS: f64 = (FRAMES * PAYLOAD * 8) as f64;

/// Rate and chain of aggregates that are retried until received. An aggregate returned to the driver after
/// the usual four tries would block the window, and later ones would be short.
const UNTIL_IT_ARRIVES: &str = "rate = \"ht20-mcs7-lgi\", retry_chain = [{ rate = \"mcs7\", tries = 15 }, \
    { rate = \"mcs7\", tries = 15 }, { rate = \"mcs7\", tries = 15 }, { rate = \"mcs7\", tries = 15 }]";

#[test]
fn aggregates() {
    let few = "rate = \"ht20-mcs7-lgi\"";
    let rows = [(1, 4), (2, 4), (3, 4), (1, 60), (2, 60), (5, 60), (10, 60), (20, 60), (40, 60), (50, 60)];
    for (n, tries) in rows {
        let (mbps, p) = bianchi(n, tries, mcs7(FRAMES), block_ack(), BITS);
        let path = if tries == 4 { few } else { UNTIL_IT_ARRIVES };
        let got = measured(&upload(n as usize, 105, path, "start_spread = \"3 s\""), 0, (5, 105));
        within_3_percent(&format!("{n} stations, {tries} tries: Mbit/s"), got.0, mbps);
        share(&format!("{n} stations, {tries} tries: collided"), got.1, p);
    }
}

#[test]
fn forty_stations_saturated_from_one_instant() {
    let mut text = cell(
        "10 s",
        "band = \"5 GHz\"\nwidth = \"20 MHz\"\nbeacon_interval = \"off\"",
        "scheme = \"airtime\"",
    );
    for i in 0..40 {
        text += &station(&format!("s{i}"), i, "rate = \"ht20-mcs7-lgi\"");
        let load = format!("rate = \"5 Mbit/s\"\npayload = {PAYLOAD}");
        text += &flow("udp", "ap", &format!("s{i}"), &load);
    }
    // One sender, with a mean backoff of 7.5 slots.
    let theory = BITS / (mcs7(FRAMES) + block_ack() + AIFS + 7.5 * SLOT);
    for run in 0..5 {
        let (mbps, _) = measured(&text, run, (0, 10));
        within_3_percent("forty flooded: Mbit/s", mbps, theory);
    }
}

#[test]
fn forty_stations_that_upload_from_one_instant() {
    let (mbps, _) = bianchi(40, 60, mcs7(FRAMES), block_ack(), BITS);
    for run in 0..3 {
        let got = measured(&upload(40, 65, UNTIL_IT_ARRIVES, ""), run, (5, 65));
        within_3_percent("forty uploads: Mbit/s", got.0, mbps);
    }
}

#[test]
fn thirty_stations_with_little_to_upload_from_one_instant() {
    for run in 0..3 {
        let text = upload(30, 10, "rate = \"ht20-mcs7-lgi\"", "").replace("10 Mbit/s", "1 Mbit/s");
        within_3_percent("thirty of 1 Mbit/s", measured(&text, run, (0, 10)).0, 30.0);
    }
}

/// UDP to one station in aggregates of 64 frames, its window, through the default driver.
#[test]
fn wide_channels() {
    let flooded = |rate: &str| {
        let channel = "band = \"5 GHz\"\nwidth = \"80 MHz\"\nbeacon_interval = \"off\"";
        let buffer = "profile = \"linux-4.6\"\nsysctl.\"net.core.wmem_default\" = 4000000";
        let text = cell("2 s", channel, "scheme = \"airtime\"").replace("profile = \"linux-4.6\"", buffer)
            + &station("s", 0, &format!("rate = \"{rate}\""))
            + &flow("udp", "ap", "s", &format!("rate = \"1500 Mbit/s\"\nburst = 64\npayload = {PAYLOAD}"));
        measured(&text, 0, (0, 2)).0
    };
    let bits = f64::from(64 * PAYLOAD * 8);
    let psdu = f64::from(16 + 8 * (64 * SUBFRAME));
    let theory = |on_air: f64| bits / (on_air + block_ack() + AIFS + 7.5 * SLOT);
    // spec: ieee80211-2016 21.4.3, table 21-5 - VHT80 with two streams at MCS 9: 3,120 bits per symbol of 3.6
    // us, two encoders with six tail bits each, preamble 20 + 8 + 4 + 2 * 4 + 4 us; the end is on the 4 us
    // grid.
    let symbols = ((psdu + 12.0) / 3_120.0).ceil();
    within_3_percent(
        "VHT80: Mbit/s",
        flooded("vht80-mcs9-nss2-sgi"),
        theory(44.0 + (symbols * 3.6 / 4.0).ceil() * 4.0),
    );
    // spec: ieee80211ax-2021 27.3.12 - HE80 with two streams at MCS 11: 980 tones of 10 bits and 5/6, twice:
    // 16,333 bits in 13.6 us; preamble 20 + 4 + 8 + 4 us and two fields of 7.2 us.
    let symbols = (psdu / 16_333.0).ceil();
    within_3_percent("HE80: Mbit/s", flooded("he80-mcs11-nss2-gi0.8"), theory(50.4 + symbols * 13.6));
}
