//! The released s2n-quic over a link.

use stillair_with_s2n_quic::{CONTROLLERS, row};

#[test]
fn each_controller_fills_a_line_and_keeps_its_order() {
    for controller in CONTROLLERS {
        let found = row(controller, "vdsl-40-10", 1).expect("a download");
        // 40 Mbit/s minus framing, headers and start-up.
        assert!(found.goodput_mbps > 25.0 && found.goodput_mbps < 38.5, "{found}");
        assert!(found.delay_ms[0] >= 10.0 && found.delay_ms[1] < 115.0, "{found}");
    }
}

#[test]
fn an_unknown_controller_is_an_error() {
    let says = row("reno", "vdsl-40-10", 1).expect_err("none").to_string();
    assert_eq!(says, "s2n-quic has no controller \"reno\", expected one of cubic, bbr");
}
