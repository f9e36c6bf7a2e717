//! Debian's ngtcp2 over a link.

use std::fs;

use stillair_with_ngtcp2::{CONTROLLERS, Program};

#[test]
fn each_controller_fills_a_line_and_keeps_its_order() {
    let program = Program::compiled("line").expect("a program in C");
    for controller in CONTROLLERS {
        let found = program.row(controller, "vdsl-40-10", 1, None).expect("a download");
        // 40 Mbit/s minus framing, headers and start-up.
        assert!(found.goodput_mbps > 25.0 && found.goodput_mbps < 38.5, "{found}");
        assert!(found.delay_ms[0] >= 10.0 && found.delay_ms[1] < 115.0, "{found}");
    }
    let says = program.row("vegas", "vdsl-40-10", 1, None).expect_err("none").to_string();
    assert_eq!(says, "vegas: ngtcp2 has no such controller, expected reno, cubic, bbr or bbr2");
    let says = program.row("reno", "vdsl", 1, None).expect_err("none").to_string();
    assert!(says.starts_with("the link: found no path \"vdsl\""), "{says}");
}

#[test]
fn reported_losses_match_the_qlog() {
    let folder = std::env::temp_dir().join(format!("stillair-ngtcp2-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let program = Program::compiled("qlog").expect("a program in C");
    let found = program.row("cubic", "cafe-busy-11n", 1, Some(&folder)).expect("a download");
    let text = fs::read_to_string(folder.join("ngtcp2-cubic-cafe-busy-11n.sqlog"));
    fs::remove_dir_all(&folder).expect("it is ours");
    let text = text.expect("a qlog");
    let lost = text.lines().filter(|line| line.contains("recovery:packet_lost")).count() as u64;
    assert!(found.lost > 0 && lost == found.lost, "{lost} in the qlog: {found}");
}
