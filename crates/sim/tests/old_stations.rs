//! 802.11b stations among others: protection, long slots, beacons, and their cost.

mod common;

use common::{cell, flow, parse, run_to, station, watched};
use stillair_model::types::Duration;
use stillair_model::wifi::air::account::AirUse;

const LOW: &str = "band = \"2.4 GHz\"\nwidth = \"20 MHz\"";
const SILENT: &str = "band = \"2.4 GHz\"\nwidth = \"20 MHz\"\nbeacon_interval = \"off\"";

/// Thousandths of the air by use, in a network that runs for two seconds.
fn air(text: &str) -> impl Fn(AirUse) -> u64 + use<> {
    let mut world = watched(&parse(text, &[]), 0).world;
    run_to(&mut world, Duration::from_secs(2)).expect("accounts close");
    let accounts: Vec<_> =
        AirUse::ALL.map(|u| world.books().air_accounts()[0].1.used(u).nanos() / 2_000_000).to_vec();
    move |u| accounts[u as usize]
}

fn flooded(channel: &str, stations: &[&str]) -> String {
    let names: Vec<String> = (0..stations.len()).map(|n| format!("s{n}")).collect();
    let udp = "rate = \"60 Mbit/s\"\nburst = 4\npayload = 1472";
    let mut text = cell("2 s", channel, "scheme = \"fq_mac\"");
    for (n, path) in stations.iter().enumerate() {
        text += &station(&names[n], n, path);
    }
    names.iter().for_each(|name| text += &flow("udp", "ap", name, udp));
    text
}

#[test]
fn single_station_matches_the_parts_of_its_exchange() {
    // A frame of 1,538 bytes at 11 Mbit/s: 192 + 1,119 us; response 10 + 203 us; slots of 20 us, so AIFS is
    // 10 + 3 * 20 us, and the mean backoff 7.5 slots.
    let air = air(&flooded(SILENT, &["rate = \"cck-11\""]));
    let parts = [(AirUse::Data, 1_311.0), (AirUse::Ack, 213.0), (AirUse::Contention, 220.0)];
    let whole: f64 = parts.iter().map(|p| p.1).sum();
    for (what, want) in parts {
        let got = air(what) as f64;
        assert!((got - want * 1_000.0 / whole).abs() < 6.0, "{what:?}: {got}");
    }
    assert_eq!(air(AirUse::Protection), 0);
}

#[test]
fn other_stations_are_protected_from_it() {
    // The OFDM station without it: no CTS, no long slots.
    let alone = air(&flooded(SILENT, &["rate = \"ofdm-54\""]));
    assert_eq!(alone(AirUse::Protection), 0);
    // A CTS of 203 us and a SIFS per 254 us of data; both get the same number of frames: 1,311 + 254 us.
    let both = air(&flooded(SILENT, &["rate = \"ofdm-54\"", "rate = \"cck-11\""]));
    let share = both(AirUse::Protection) as f64 / both(AirUse::Data) as f64;
    assert!((share - 213.0 / (1_311.0 + 254.0)).abs() < 0.01, "{share}");
    let off = format!("{SILENT}\nprotection = false\nlong_slot = false");
    let without = air(&flooded(&off, &["rate = \"ofdm-54\"", "rate = \"cck-11\""]));
    assert_eq!(without(AirUse::Protection), 0);
    assert!(without(AirUse::Contention) < both(AirUse::Contention));
}

#[test]
fn beacons_use_the_lowest_basic_rate() {
    // 157 bytes at 1 Mbit/s: 1,448 us, 19 times in two seconds; at 6 Mbit/s 236 + 6 us.
    let quiet = |channel: &str| {
        air(&(cell("2 s", channel, "scheme = \"fifo\"") + &station("s", 0, "rate = \"ofdm-6\"")))
    };
    assert_eq!(quiet(LOW)(AirUse::Beacon), 13);
    assert_eq!(quiet(&format!("{LOW}\nbasic_rate = \"ofdm-6\""))(AirUse::Beacon), 2);
}

#[test]
fn rts_by_length() {
    let text = |threshold: u32| {
        let channel = SILENT.replace("2.4 GHz", "5 GHz");
        let path = "rate = \"ofdm-54\"".to_owned();
        let ap = format!("scheme = \"fq_mac\", rts_threshold = {threshold}");
        cell("2 s", &channel, &ap)
            + &station("s", 0, &path)
            + &flow("udp", "ap", "s", "rate = \"60 Mbit/s\"\nburst = 4\npayload = 1472")
    };
    assert_eq!(air(&text(1_538))(AirUse::Protection), 0);
    // RTS, SIFS, CTS and SIFS: 28 + 16 + 28 + 16 us per 252 us of data.
    let air = air(&text(1_537));
    let share = air(AirUse::Protection) as f64 / air(AirUse::Data) as f64;
    assert!((share - 88.0 / 252.0).abs() < 0.01, "{share}");
}

#[test]
fn one_slow_station_slows_all_except_with_airtime_fairness() {
    // paper: ending-the-anomaly 2.1 - the anomaly, with a station at 1 Mbit/s without HT.
    let udp = "rate = \"60 Mbit/s\"\nburst = 4\npayload = 1472";
    let shares = |scheme: &str| {
        // Sockets with more buffer space than the slow station's frames in the hardware.
        let buffer = "profile = \"linux-4.6\"\nsysctl.\"net.core.wmem_default\" = 4000000";
        let mut text =
            cell("4 s", SILENT, &format!("scheme = \"{scheme}\"")).replace("profile = \"linux-4.6\"", buffer);
        for (n, path) in ["rate = \"ht20-mcs15-sgi\"", "rate = \"dsss-1\""].iter().enumerate() {
            text += &station(&format!("s{n}"), n, path);
        }
        (0..2).for_each(|n| text += &flow("udp", "ap", &format!("s{n}"), udp));
        let mut world = watched(&parse(&text, &[]), 0).world;
        run_to(&mut world, Duration::from_secs(4)).expect("accounts close");
        let used =
            [0, 1].map(|n| world.trace().recorder.stations[n].airtime.iter().copied().sum::<Duration>());
        used[1].secs_f64() / (used[0] + used[1]).secs_f64()
    };
    let (anomaly, fair) = (shares("fq_mac"), shares("airtime"));
    assert!(anomaly > 0.8, "{anomaly}");
    assert!((fair - 0.5).abs() < 0.05, "{fair}");
}
