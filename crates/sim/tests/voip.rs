//! Calls: the effects of a network on a call, and the reported quality.

mod common;

use common::{cell, flow, parse, run, station};
use stillair_sim::recorder::RunSummary;

const CHANNEL: &str = "band = \"5 GHz\"\nwidth = \"20 MHz\"\nbeacon_interval = \"off\"";

/// A call of 10 s over a cable of 100 Mbit/s and 3 ms, behind a qdisc of this kind.
fn wired(qdisc: &str, more: &str) -> RunSummary {
    let host = |name: &str, n: u8, qdisc: &str| {
        format!(
            "[node.{name}]\nprofile = \"linux-4.4\"\n\
             interface.eth0 = {{ link = \"lan\", address = \"10.0.0.{n}\"{qdisc} }}\n"
        )
    };
    let text = format!(
        "name = \"call\"\nduration = \"10 s\"\n[link.lan]\nrate = \"100 Mbit/s\"\ndelay = \"3 ms\"\n{}{}{}",
        host("a", 1, qdisc),
        host("b", 2, ""),
        flow("voip", "a", "b", more)
    );
    run(&parse(&text, &[]), 0)
}

fn near(is: Option<f64>, right: f64, within: f64) -> bool {
    is.is_some_and(|is| (is - right).abs() < within)
}

#[test]
fn call_without_received_packets_has_a_row() {
    let s = wired(", qdisc = { kind = \"netem\", limit = 9000, loss = 1.0 }", "");
    let call = &s.voip["voip-0.b"];
    assert_eq!((call.packets, call.lost, call.loss, call.delay_ms), (0, 500, 1.0, None));
    assert_eq!((call.mos, s.mos), (1.0, Some(1.0)));
}

#[test]
fn single_call_on_a_cable() {
    let s = wired("", "");
    let call = &s.voip["voip-0.b"];
    assert_eq!((call.packets, call.lost, call.jitter_ms), (500, 0, Some(0.0)));
    // 200 bytes and 38 bytes of Ethernet: 19 us, plus the cable.
    assert!(near(call.delay_ms, 3.019, 0.001), "{:?}", call.delay_ms);
    assert_eq!((s.mos, s.mos_flent_1_2), (Some(call.mos), Some(call.mos_flent_1_2)));
    // 172 bytes every 20 ms; the last packet is in flight at the end if it is sent within 3 ms of it.
    assert!((s.goodput_total_mbps - 0.0688).abs() < 1e-9, "{}", s.goodput_total_mbps);
}

#[test]
fn network_effects_appear_in_the_summary() {
    let netem = |options: &str| format!(", qdisc = {{ kind = \"netem\", limit = 9000, {options} }}");
    let late = &wired(&netem("delay = \"200 ms\""), "").voip["voip-0.b"];
    assert!(near(late.delay_ms, 203.019, 0.001) && late.lost == 0);
    assert!((late.mos - 4.21).abs() < 0.01, "{}", late.mos);
    assert!((late.mos_flent_1_2 - 1.35).abs() < 0.01, "{}", late.mos_flent_1_2);
    let lossy = &wired(&netem("loss = 0.1"), "").voip["voip-0.b"];
    assert!((0.06..0.14).contains(&lossy.loss) && lossy.mos < 2.0, "{lossy:?}");
    // Uniformly up to 8 ms more or less: successive delays differ by a third of the range.
    let shaky = &wired(&netem("delay = \"20 ms\", jitter = \"8 ms\""), "").voip["voip-0.b"];
    assert!(near(shaky.jitter_ms, 16.0 / 3.0, 0.6) && shaky.lost == 0, "{shaky:?}");
    // A single packet has no jitter.
    let short = &wired("", "stop = \"10 us\"").voip["voip-0.b"];
    assert_eq!((short.packets, short.jitter_ms), (1, Some(0.0)));
}

#[test]
fn the_warm_up_is_left_out() {
    let text = cell("3 s", CHANNEL, "scheme = \"fifo\"")
        + &station("s", 0, "rate = \"ht20-mcs7-lgi\"")
        + &flow("voip", "ap", "s", "dscp = \"CS6\"");
    let all = run(&parse(&text, &[]), 0);
    let text = text.replacen("duration", "warm_up = \"1 s\"\nduration", 1);
    let part = run(&parse(&text, &[]), 0);
    assert_eq!((all.voip["voip-0.s"].packets, part.voip["voip-0.s"].packets), (150, 100));
    assert!(near(part.voip["voip-0.s"].delay_ms, 0.5, 0.5) && part.mos.is_some_and(|mos| mos > 4.39));
    let none = run(&parse(&text.replacen("\"voip\"", "\"udp_ping\"", 1), &[]), 0);
    assert_eq!((none.mos, none.voip.len()), (None, 0));
}
