//! Non-Wi-Fi interference: stations that defer to it, frames that it destroys, and the use of the air.

mod common;

use common::{cell, flow, parse, run, run_to, station, watched};
use stillair_model::types::Duration;
use stillair_sim::recorder::RunSummary;
use stillair_sim::scenario::parts::Parts;
use stillair_sim::scenario::{Memory, Reader, Scenario};

const QUIET: &str =
    "band = \"5 GHz\"\nwidth = \"20 MHz\"\nbeacon_interval = \"off\"\nbasic_rate = \"ofdm-6\"";

/// A source with these keys on the channel.
fn source(name: &str, keys: &str) -> String {
    format!("\n[interference.{name}]\nchannel = \"wifi\"\n{keys}\n")
}

/// One station with this path uploads without end in single frames. `more` adds to the scenario.
fn upload(seconds: u32, path: &str, more: &str) -> Scenario {
    let text = cell(&format!("{seconds} s"), QUIET, "scheme = \"fifo\"")
        + &station("s", 0, path)
        + &flow("udp", "s", "ap", "rate = \"100 Mbit/s\"\npayload = 1472\nburst = 8")
        + more;
    parse(&text, &[])
}

/// Goodput of the flow; the access point is not a station.
fn goodput(summary: &RunSummary) -> f64 {
    summary.goodput_total_mbps
}

const OVEN: &str = "pattern = { kind = \"cycle\", on = \"8 ms\", period = \"20 ms\", phase = \"0 s\" }";

#[test]
fn strong_source_leaves_its_off_time() {
    // Expected: of 20 ms, 12 are free, with 406.5 us per frame: 252 data, 44 response, 43 AIFS and 67.5
    // backoff. A frame meets the start of the noise with probability 252 / 406.5, which costs the half of it
    // already sent, the AIFS and backoff before it, and 72 us of a doubled backoff: 191 us of each 12 ms. At
    // all other starts, part of an AIFS is lost, 8 us.
    let path = "rate = \"ofdm-54\", snr = \"60 dB\"";
    let alone = goodput(&run(&upload(4, path, ""), 0));
    let beside = run(&upload(4, path, &source("oven", &format!("power = \"-50 dBm\"\n{OVEN}"))), 0);
    let share = goodput(&beside) / alone;
    assert!((share - (12.0 - 0.199) / 20.0).abs() < 0.01, "{share}");
    // Only noise that overlaps no frame is accounted as noise.
    let air = &beside.air["wifi"];
    assert!((1_500_000.0..1_600_001.0).contains(&air["noise_us"]), "{air:?}");
    assert!((air.values().sum::<f64>() - 4e6).abs() < 1.0, "{air:?}");
}

#[test]
fn no_station_defers_to_a_weak_source_which_adds_noise() {
    // No station defers at -70 dBm. A signal of -64 dBm is 6 dB above it: enough for 6 Mbit/s (10 % loss at
    // 4.0 dB), but not for 54 Mbit/s.
    let quiet = source("oven", &format!("power = \"-70 dBm\"\n{OVEN}"));
    let share = |rate: &str| {
        let path = format!("rate = \"{rate}\", snr = \"30 dB\"");
        let beside = run(&upload(4, &path, &quiet), 0);
        assert!(!beside.air["wifi"].contains_key("noise_us"));
        goodput(&beside) / goodput(&run(&upload(4, &path, ""), 0))
    };
    let (slow, fast) = (share("ofdm-6"), share("ofdm-54"));
    assert!(slow > 0.99, "{slow}");
    // Frames are sent all the time, and those that meet noise are lost: of 20 ms, 12 remain, less a frame,
    // and less the part of doubled backoffs that extends into them: half of a window of 63 or more slots.
    assert!((0.54..0.6).contains(&fast), "{fast}");
}

#[test]
fn source_is_accounted_while_it_is_on() {
    let idle = |keys: &str| {
        let text =
            cell("2 s", QUIET, "scheme = \"fifo\"") + &station("s", 0, "rate = \"ofdm-54\", snr = \"60 dB\"");
        run(&parse(&(text + &source("x", keys)), &[]), 0).air["wifi"].get("noise_us").copied()
    };
    assert_eq!(idle(&format!("power = \"-50 dBm\"\n{OVEN}")), Some(800_000.0));
    assert_eq!(idle("power = \"-62 dBm\"\nstart = \"0.5 s\"\nstop = \"1.25 s\""), Some(750_000.0));
    assert_eq!(idle("power = \"-62.1 dBm\""), None);
    let oven = idle("power = \"-50 dBm\"\npattern = { kind = \"microwave\", mains = \"60 Hz\" }").unwrap();
    assert!((oven - 1_000_000.0).abs() < 10_000.0, "{oven}");
    let random =
        idle("power = \"-50 dBm\"\npattern = { kind = \"random\", on = \"300 us\", off = \"700 us\" }")
            .unwrap();
    assert!((random - 600_000.0).abs() < 30_000.0, "{random}");
}

#[test]
fn source_below_the_noise_changes_nothing() {
    let two = |more: &str| {
        let mut text = cell("2 s", QUIET, "scheme = \"fifo\"");
        for n in 0..2 {
            text += &station(&format!("s{n}"), n, "rate = \"ofdm-54\", snr = \"60 dB\"");
            text += &flow("udp", &format!("s{n}"), "ap", "rate = \"100 Mbit/s\"\nburst = 8");
        }
        let mut world = watched(&parse(&(text + more), &[]), 0).world;
        run_to(&mut world, Duration::from_secs(2)).expect("accounts close");
        (world.trace().delivered.clone(), world.trace().recorder.trace_hash())
    };
    let silent = source("x", &format!("power = \"-200 dBm\"\n{OVEN}"));
    assert_eq!(two(&silent), two(""));
    // A random source that stations hear is the same in each run of its seed.
    let loud =
        source("x", "power = \"-50 dBm\"\npattern = { kind = \"random\", on = \"3 ms\", off = \"7 ms\" }");
    assert_eq!(two(&loud), two(&loud));
    assert_ne!(two(&loud).1, two("").1);
}

#[test]
fn only_stations_near_a_source_defer() {
    // At 16 dBm and 30 dB per decade, -62 dBm is reached at 3.2 m. The station is 1 m from the source and 31
    // m from the access point, where the source is as strong as the station.
    let goodput = |source_at: &str, from: &str, to: &str| {
        let text = cell("4 s", QUIET, "scheme = \"fifo\"")
            + &station("s", 0, "rate = \"ofdm-6\"")
            + &flow("udp", from, to, "rate = \"100 Mbit/s\"\npayload = 1472\nburst = 8")
            + &source("x", &format!("tx_power = \"16 dBm\"\nposition = \"{source_at}\"\n{OVEN}"));
        let places = [("node.s.position", "30 m, 31 m"), ("node.ap.position", "30 m, 1 m")];
        run(&parse(&text, &places), 0)
    };
    let share = |from, to| {
        let (near, far) = (goodput("30 m, 32 m", from, to), goodput("30 m, 9000 m", from, to));
        assert!(!far.air["wifi"].contains_key("noise_us") && near.air["wifi"]["noise_us"] > 0.0);
        near.goodput_total_mbps / far.goodput_total_mbps
    };
    // A frame with its overhead takes 2.24 ms. The station defers: of each 12 ms, half a frame is cut off,
    // plus AIFS and backoff, 1.1 ms.
    let up = share("s", "ap");
    assert!((0.50..0.58).contains(&up), "{up}");
    // The access point does not hear the source and sends all the time: frames within the 12 ms are received,
    // less one frame.
    let down = share("ap", "s");
    assert!((0.38..0.53).contains(&down) && down < up, "{down} {up}");
}

#[test]
fn recording_switches_the_source() {
    let keys =
        |more: &str| format!("power = \"-50 dBm\"\npattern = {{ kind = \"trace\", file = \"x.csv\"{more} }}");
    let text = |more: &str| {
        cell("2 s", QUIET, "scheme = \"fifo\"")
            + &station("s", 0, "rate = \"ofdm-54\", snr = \"60 dB\"")
            + &source("x", &keys(more))
    };
    let files = Memory::default().with("x.csv", "t_s,on\n0,0\n0.1,1\n0.25,0\n");
    let reader = Reader { parts: Parts::none(), files: &files };
    for (more, us) in [("", 150_000.0), (", repeat = \"0.5 s\"", 600_000.0)] {
        let scenario = reader.parse(&text(more), "test.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(run(&scenario, 0).air["wifi"]["noise_us"], us);
    }
    let says = reader.parse(&text(", repeat = \"0.25 s\""), "test.toml", &[]).unwrap_err().to_string();
    assert!(
        says.contains(
            "interference.x.pattern.repeat: found a time that is not after the last of \"x.csv\", 0.25 s"
        ),
        "{says}"
    );
}
