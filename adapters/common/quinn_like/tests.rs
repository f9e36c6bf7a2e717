//! Tests of quinn and of noq over a link. Each adapter compiles them with its own `stack`.

use std::fs;

use super::stack::{CONTROLLERS, row};

#[test]
fn each_controller_fills_a_line_and_keeps_its_order() {
    for controller in CONTROLLERS {
        let found = row(controller, "vdsl-40-10", 1, None).expect("a download");
        // 40 Mbit/s minus framing, headers and start-up.
        assert!(found.goodput_mbps > 25.0 && found.goodput_mbps < 38.5, "{found}");
        assert!(found.delay_ms[0] >= 10.0 && found.delay_ms[1] < 115.0, "{found}");
    }
}

#[test]
fn a_seed_determines_the_run() {
    // The certificate is random, and signatures differ in length by a byte or two: figures agree, packets may
    // not.
    let [one, two] = [1, 1].map(|seed| row("cubic", "home-80211ac-far", seed, None).expect("a download"));
    assert!((one.goodput_mbps / two.goodput_mbps - 1.0).abs() < 0.1, "{one}\n{two}");
    assert!(row("vegas", "vdsl-40-10", 1, None).is_err());
}

#[test]
fn qlog_uses_link_time() {
    let folder = std::env::temp_dir().join(format!("stillair-qlog-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    row("cubic", "vdsl-40-10", 1, Some(&folder)).expect("a download");
    let files: Vec<_> = fs::read_dir(&folder).expect("a folder").flatten().collect();
    let texts: Vec<String> =
        files.iter().map(|file| fs::read_to_string(file.path()).expect("text")).collect();
    fs::remove_dir_all(&folder).expect("it is ours");
    let text = texts.iter().max_by_key(|text| text.len()).expect("a qlog");
    assert!(text.lines().count() > 1_000, "{files:?}");
    let last = text.lines().last().expect("events");
    let time = last.split("\"time\":").nth(1).and_then(|rest| rest.split([',', '}']).next());
    let time: f64 = time.expect("a time").parse().expect("a number");
    assert!(time > 9_000.0 && time < 10_100.0, "{last}");
}
