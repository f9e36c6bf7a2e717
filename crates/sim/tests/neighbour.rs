//! Neighbouring networks as load: the airtime they use when it is available, and their share when it is not.

mod common;

use common::{cell, flow, parse, run, station};
use stillair_model::types::{Instant, Seed};
use stillair_sim::capture::{Capture, Selection};
use stillair_sim::recorder::RunSummary;
use stillair_sim::scenario::parts::Parts;
use stillair_sim::scenario::{Memory, Reader};
use stillair_sim::world;

const QUIET: &str =
    "band = \"5 GHz\"\nwidth = \"20 MHz\"\nbeacon_interval = \"off\"\nbasic_rate = \"ofdm-6\"";

/// Duration of a 1538-byte frame at 54 Mbit/s.
const FRAME: &str = "252 us";
/// Duration with SIFS and a response at 24 Mbit/s, in us.
const EXCHANGE: f64 = 252.0 + 16.0 + 28.0;

fn neighbour(load: &str, senders: u32) -> String {
    format!(
        "\n[neighbour.flat]\nchannel = \"wifi\"\nload = {load}\nframe = \"{FRAME}\"\nsenders = {senders}\n"
    )
}

/// Stations that upload without end, in frames as long as a neighbour's, or that have nothing to send.
fn beside(seconds: u32, stations: usize, busy: bool, more: &str) -> String {
    let mut text = cell(&format!("{seconds} s"), QUIET, "scheme = \"fifo\"");
    for n in 0..stations {
        // As many tries as a neighbour.
        let tries = "rate = \"ofdm-54\", retry_chain = [{ rate = \"ofdm-54\", tries = 7 }]";
        text += &station(&format!("s{n}"), n, tries);
        if busy {
            text += &flow("udp", &format!("s{n}"), "ap", "rate = \"100 Mbit/s\"\npayload = 1472\nburst = 8");
        }
    }
    text + more
}

fn summary(text: &str) -> RunSummary {
    run(&parse(text, &[]), 0)
}

/// Share of the neighbour's exchanges in 4 s.
fn share(summary: &RunSummary) -> f64 {
    summary.air["wifi"].get("neighbour_us").copied().unwrap_or(0.0) / 4e6
}

/// The account also includes the gap before each response in its load.
const BOOKED: f64 = EXCHANGE / (EXCHANGE - 16.0);

#[test]
fn load_is_the_airtime_used_if_available() {
    for load in [0.1, 0.4, 0.6] {
        let alone = summary(&beside(4, 1, false, &neighbour(&load.to_string(), 1)));
        // Three standard deviations of the number of PPDUs.
        let random = 3.0 / (load * 4e6 / (EXCHANGE - 16.0)).sqrt();
        assert!((share(&alone) / load / BOOKED - 1.0).abs() < random, "{load} {}", share(&alone));
        assert!((alone.air["wifi"].values().sum::<f64>() - 4e6).abs() < 1.0);
    }
    // Next to a saturated sender, the load is below its fair share of a half.
    let busy = summary(&beside(4, 1, true, &neighbour("0.2", 1)));
    let whole = share(&busy) / 0.2 / BOOKED;
    // Collisions are accounted separately, and retransmitted.
    assert!((0.94..1.06).contains(&whole), "{whole}");
    let left = busy.goodput_total_mbps / summary(&beside(4, 1, true, "")).goodput_total_mbps;
    // It leaves 0.8 of the time, less its own backoffs; both count down in parallel.
    assert!((0.70..0.85).contains(&left), "{left}");
    assert_eq!(
        summary(&beside(4, 1, true, &neighbour("0", 3))).trace_hash,
        summary(&beside(4, 1, true, "")).trace_hash
    );
}

#[test]
fn without_free_airtime_it_gets_the_share_of_its_senders() {
    // By Bianchi's model, saturated senders with equal frame lengths send equally often.
    for senders in [1, 2, 4] {
        let together = summary(&beside(4, 1, true, &neighbour("1.0", senders)));
        let own = together.goodput_total_mbps * 4e6 / (8.0 * 1472.0);
        let others = share(&together) * 4e6 / EXCHANGE;
        let ratio = others / own / f64::from(senders);
        assert!((ratio - 1.0).abs() < 0.06, "{senders}: {ratio}");
        // Same as with this many modelled stations.
        let real = summary(&beside(4, 1 + senders as usize, true, ""));
        let expected = real.goodput_total_mbps / f64::from(1 + senders);
        let got = together.goodput_total_mbps;
        assert!((got / expected - 1.0).abs() < 0.04, "{senders}: {got} {expected}");
    }
}

#[test]
fn load_changes_over_time() {
    // A quarter of 4 s at 0.2 and one at 0.6.
    let steps = "[0, { at = \"1 s\", load = 0.2 }, { at = \"2 s\", load = 0.6 }, { at = \"3 s\", load = 0 }]";
    let got = share(&summary(&beside(4, 1, false, &neighbour(steps, 2)))) / BOOKED;
    assert!((got / 0.2 - 1.0).abs() < 0.06, "{got}");
    let dump = |active: u32, busy: u32| {
        format!(
            "Survey data from wlan0\n\tfrequency:\t\t\t5180 MHz [in use]\n\tchannel active time:\t\t{active} ms\n\
             \tchannel busy time:\t\t{busy} ms\n"
        )
    };
    let survey = [dump(100, 50), dump(2_100, 250), dump(3_100, 750)].concat();
    let files = Memory::default().with("survey.txt", &survey).with("shares.csv", "0,0.1\n2,0.5\n");
    let reader = Reader { parts: Parts::none(), files: &files };
    let of = |load: &str| {
        let text = beside(4, 1, false, &neighbour(load, 2));
        let scenario = reader.parse(&text, "test.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
        run(&scenario, 0)
    };
    let by_survey = of("{ kind = \"survey\", file = \"survey.txt\" }");
    let by_shares = of("{ kind = \"shares\", file = \"shares.csv\" }");
    assert_eq!(share(&by_survey), share(&by_shares));
    assert!((share(&by_survey) / BOOKED / 0.3 - 1.0).abs() < 0.05, "{}", share(&by_survey));
}

#[test]
fn neighbour_frames_are_not_captured() {
    let scenario = parse(&beside(1, 1, false, &neighbour("0.5", 2)), &[]);
    let selection = Selection { points: Vec::new(), from: Instant::ZERO, until: Instant::NEVER, snaplen: 0 };
    let mut file = Vec::new();
    let capture = Capture::new(&scenario, &selection, &mut file).unwrap();
    let mut world = world::wire(&scenario, Seed { seed: 1, run: 0 }, |_| capture).world;
    let end = Instant::ZERO + scenario.duration;
    world.run_until(end);
    let captured = world.into_trace().finish(end).unwrap();
    assert_eq!(captured.frames, [("air-wifi".to_owned(), 0)]);
}
