//! Capture effect: a sufficiently strong frame is received despite other frames.

mod common;

use common::{cell, flow, parse, run_to, station, watched};
use stillair_model::types::Duration;
use stillair_sim::world::World;

/// Two stations at these positions upload in single frames to an access point at 30 m, 30 m.
fn run(capture: &str, places: [&str; 2]) -> World<common::Watcher> {
    let channel = format!(
        "band = \"5 GHz\"\nwidth = \"20 MHz\"\nbeacon_interval = \"off\"\nbasic_rate = \"ofdm-6\"\n{capture}"
    );
    let mut text = cell("4 s", &channel, "scheme = \"fifo\"");
    (0..2).for_each(|i| {
        text += &station(
            &format!("s{i}"),
            i,
            "rate = \"ofdm-24\", retry_chain = [{ rate = \"ofdm-24\", tries = 7 }], snr = \"60 dB\"",
        );
    });
    for i in 0..2 {
        text += &flow("udp", &format!("s{i}"), "ap", "rate = \"60 Mbit/s\"\npayload = 1472\nburst = 8");
    }
    let sets = [("ap", "30 m, 30 m"), ("s0", places[0]), ("s1", places[1])]
        .map(|(node, place)| (format!("node.{node}.position"), place.to_owned()));
    let sets: Vec<(&str, &str)> = sets.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    let mut world = watched(&parse(&text, &sets), 0).world;
    run_to(&mut world, Duration::from_secs(4)).expect("accounts close");
    world
}

const CAPTURE: &str = "capture = \"10 dB\"";

fn seen(w: &World<common::Watcher>) -> (Vec<u64>, u64, u64) {
    (w.trace().delivered.clone(), w.trace().tries, w.trace().collided)
}

#[test]
fn equal_levels_have_no_capture_effect() {
    // Both at 10 m from the access point, in range of each other. Only the run with capture simulates frame
    // by frame.
    let places = ["30 m, 20 m", "30 m, 40 m"];
    let (without, with) = (run("", places), run(CAPTURE, places));
    assert!(without.trace().collided > 100);
    assert_eq!(seen(&with), seen(&without));
}

#[test]
fn nearer_of_two_stations_survives_collisions() {
    // At 5 and 12 m, with 30 dB per decade: 11.4 dB stronger.
    let places = ["30 m, 25 m", "30 m, 42 m"];
    let (without, with) = (run("", places), run(CAPTURE, places));
    let [near, far] = with.trace().delivered[..] else { panic!("two flows") };
    let [a, b] = without.trace().delivered[..] else { panic!("two flows") };
    assert!((0.9..1.1).contains(&(a as f64 / b as f64)), "{a} {b}");
    // One of two overlapping frames is received: at least three in ten of the tries lost before.
    assert!(
        with.trace().collided * 10 < without.trace().collided * 7,
        "{:?} {:?}",
        seen(&with),
        seen(&without)
    );
    assert!(near as f64 > 1.1 * far as f64 && near + far > a + b, "{near} {far} {a} {b}");
    // With a threshold above the difference, nothing changes.
    assert_eq!(seen(&run("capture = \"11.5 dB\"", places)), seen(&without));
}

#[test]
fn nearer_of_two_hidden_stations_gets_more_than_twice_as_much() {
    // 46.7 dB and 30 dB per decade: at 16 dBm they sense each other up to 51 m. At 6 and 47 m from the access
    // point.
    let places = ["30 m, 24 m", "30 m, 77 m"];
    let (without, with) = (run("", places), run(CAPTURE, places));
    let near = |w: &World<common::Watcher>| w.trace().delivered[0];
    assert!(near(&with) > 2 * near(&without), "{:?} {:?}", seen(&with), seen(&without));
}
