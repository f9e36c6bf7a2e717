//! Datagram statistics by due time: a sender that is blocked or skips datagrams omits nothing.

mod common;

use common::{flow, parse, run};
use proptest::prelude::*;
use stillair_sim::recorder::RunSummary;

/// Two hosts on a wire, measured from 2 s on. `queue` is the sender's qdisc.
fn wire(rate: &str, queue: &str, more: &str) -> RunSummary {
    run(&parse(&text("12 s", rate, queue, more), &[]), 0)
}

fn text(duration: &str, rate: &str, queue: &str, more: &str) -> String {
    let host = |name: &str, n: u8, more: &str| {
        format!(
            "[node.{name}]\nprofile = \"linux-6.1\"\n\
             interface.eth0 = {{ link = \"lan\", address = \"10.0.0.{n}\"{more} }}\n"
        )
    };
    format!(
        "name = \"due\"\nduration = \"{duration}\"\nwarm_up = \"2 s\"\n\
         [link.lan]\nrate = \"{rate}\"\ndelay = \"5 ms\"\n{}{}{more}",
        host("a", 1, queue),
        host("b", 2, ""),
    )
}

/// Slows the link of `wire` to `slow` from 4 s to 8 s; 100 Mbit/s at all other times.
fn stalls(slow: &str) -> String {
    format!(
        "[[step]]\nat = \"4 s\"\nset = [\"link.lan.rate={slow}\"]\n\
         [[step]]\nat = \"8 s\"\nset = [\"link.lan.rate=100 Mbit/s\"]\n"
    )
}

/// Checks that due datagrams are received, lost or in flight, and that a call has the loss of its flow.
fn closes(s: &RunSummary) {
    for (name, of) in &s.flows {
        let (Some(due), Some(packets), Some(lost)) = (of.due, of.packets, of.lost) else { continue };
        assert_eq!(due, packets + lost + of.under_way.expect("of datagrams"), "{name}");
        assert!(of.skipped.or(of.unsent).expect("of datagrams") <= lost, "{name} {of:?}");
        if let Some(call) = s.voip.get(name) {
            assert!(call.loss >= of.loss.expect("a loss") && call.loss + call.late <= 1.0, "{call:?} {of:?}");
            assert_eq!(
                (call.due, call.packets, call.lost, Some(call.skipped)),
                (due, packets, lost, of.skipped)
            );
        }
    }
}

#[test]
fn dying_call_has_a_loss_and_a_score() {
    // The last 32 of 60 s, or 20 s in the middle; 50 packets are due per second.
    for (steps, lost) in [
        (
            "[[step]]\nat = \"30 s\"\nset = [\"node.a.interface.eth0.qdisc={ kind = \\\"netem\\\", loss = 1 }\"]\n",
            1600,
        ),
        (
            "[[step]]\nat = \"20 s\"\nset = [\"node.a.interface.eth0.qdisc={ kind = \\\"netem\\\", loss = 1 }\"]\n\
             [[step]]\nat = \"40 s\"\nset = [\"node.a.interface.eth0.qdisc=pfifo\"]\n",
            1000,
        ),
    ] {
        let more = flow("voip", "a", "b", "") + steps;
        let s = run(&parse(&text("62 s", "100 Mbit/s", "", &more), &[]), 0);
        let call = &s.voip["voip-0.b"];
        assert_eq!((call.due, call.lost, call.skipped, call.under_way), (3000, lost, 0, 0));
        assert_eq!(call.loss, lost as f64 / 3000.0);
        assert!(call.mos < 1.1, "{call:?}");
        let gap = s.flows["voip-0.b"].longest_gap_ms.expect("a call");
        assert!((gap - 20.0 * lost as f64).abs() < 25.0, "{gap}");
        closes(&s);
    }
}

#[test]
fn late_packets_cost_a_call_as_much_as_lost_ones() {
    // For 4 of 10 s, the line carries almost nothing; then all waiting packets arrive at the same time, up to
    // 4 s late.
    let s = wire("100 Mbit/s", "", &(flow("voip", "a", "b", "") + &stalls("1 kbit/s")));
    let call = &s.voip["voip-0.b"];
    assert!(call.skipped > 0 && (call.loss + call.late - 0.4).abs() < 0.02, "{call:?}");
    assert!(call.playout_ms.is_some_and(|ms| ms < 10.0) && call.mos < 1.1, "{call:?}");
    closes(&s);
}

#[test]
fn a_video_that_freezes_shows_it() {
    let s = wire("100 Mbit/s", "", &(flow("video", "a", "b", "rate = \"2 Mbit/s\"") + &stalls("1 kbit/s")));
    let of = &s.flows["video-0.b"];
    // About 93 packets fill the socket; the others of 4 s are skipped, 210 per second.
    let skipped = of.skipped.expect("a video");
    assert!((700..=790).contains(&skipped) && of.lost == Some(skipped), "{of:?}");
    assert!((of.loss.expect("packets") - skipped as f64 / 2100.0).abs() < 1e-9);
    // The gap ends with the freeze; one or two packets pass at 1 kbit/s.
    assert!(of.longest_gap_ms.is_some_and(|ms| (2_500.0..4_100.0).contains(&ms)), "{of:?}");
    // The flow is frozen for 4 of 10 s. The latest 5 % of the datagrams span 0.5 s, so p95 is about 3.5 s.
    assert!(of.delay_p95_ms.is_some_and(|ms| (ms - 3_500.0).abs() < 100.0), "{of:?}");
    assert!(of.delay_p50_ms.is_some_and(|ms| ms < 10.0), "{of:?}");
    closes(&s);
}

#[test]
fn blocking_socket_delays_and_dropping_socket_loses() {
    let udp = |when_full: &str| {
        let keys = "rate = \"2 Mbit/s\"\ngap = \"periodic\"\npayload = 1000\n";
        flow("udp", "a", "b", &format!("{keys}when_full = \"{when_full}\"")) + &stalls("1 kbit/s")
    };
    let (block, drop) = (wire("100 Mbit/s", "", &udp("block")), wire("100 Mbit/s", "", &udp("drop")));
    let (block, drop) = (&block.flows["udp-0.b"], &drop.flows["udp-0.b"]);
    // 2,500 datagrams of 1,000 bytes are due in 10 s, 1,000 of them during the stall.
    assert_eq!((block.due, block.lost, block.unsent), (Some(2500), Some(0), Some(0)));
    assert!(block.delay_p95_ms.is_some_and(|ms| (ms - 3_500.0).abs() < 100.0), "{block:?}");
    assert!((block.goodput_mbps - 2.0).abs() < 0.01, "{block:?}");
    let unsent = drop.unsent.expect("of UDP");
    assert_eq!((drop.due, drop.lost), (Some(2500), Some(unsent)));
    assert!((800..1000).contains(&unsent), "{drop:?}");
    assert!((drop.goodput_mbps - 2.0 * (1.0 - unsent as f64 / 2500.0)).abs() < 0.01, "{drop:?}");
    assert!(drop.delay_p95_ms.is_some_and(|ms| (ms - 3_500.0).abs() < 100.0), "{drop:?}");
}

#[test]
fn delayed_packets_at_the_end_are_in_flight_and_not_lost() {
    // Twice the capacity of the wire: half is delayed, and at the end the oldest has waited for half the run.
    let keys = "rate = \"20 Mbit/s\"\ngap = \"periodic\"\npayload = 972\n";
    for (more, unsent) in [("", false), ("stop = \"10 s\"\n", true)] {
        let s = wire("10 Mbit/s", "", &flow("udp", "a", "b", &format!("{keys}{more}")));
        let of = &s.flows["udp-0.b"];
        closes(&s);
        let (due, away) = (of.due.expect("of UDP"), of.under_way.expect("of UDP"));
        assert!(due.abs_diff(if unsent { 20_576 } else { 25_720 }) <= 1, "{of:?}");
        if unsent {
            // At the stop, unwritten datagrams are given up.
            assert!(of.lost == of.unsent && of.unsent.is_some_and(|n| n > 10_000) && away < 300, "{of:?}");
        } else {
            assert!(of.lost == Some(0) && away > 12_000, "{of:?}");
            assert!((of.goodput_mbps - 10.0 * 972.0 / 1038.0).abs() < 0.1, "{of:?}");
        }
        assert!(of.delay_p99_ms.is_some_and(|ms| ms > 4_500.0), "{of:?}");
    }
}

#[test]
fn warm_up_backlog_is_not_goodput() {
    // The line stalls from 1 s to 3 s, with a warm-up of 2 s.
    let steps = "[[step]]\nat = \"1 s\"\nset = [\"link.lan.rate=1 kbit/s\"]\n\
                 [[step]]\nat = \"3 s\"\nset = [\"link.lan.rate=100 Mbit/s\"]\n";
    let udp = "rate = \"800 kbit/s\"\npayload = 1000\ngap = \"periodic\"";
    let more = flow("voip", "a", "b", "") + &flow("udp", "a", "b", udp) + steps;
    let s = wire("100 Mbit/s", "", &more);
    let (call, udp) = (&s.flows["voip-0.b"], &s.flows["udp-1.b"]);
    assert_eq!((call.due, call.packets, s.voip["voip-0.b"].packets), (Some(500), Some(500), 500));
    assert!((call.goodput_mbps - 0.0688).abs() < 1e-9, "{call:?}");
    assert_eq!((udp.due, udp.goodput_mbps), (Some(1000), 0.8));
    closes(&s);
}

#[test]
fn a_wait_for_the_send_buffer_is_a_stay_in_the_socket() {
    let keys = "rate = \"20 Mbit/s\"\ngap = \"periodic\"\npayload = 972\n";
    let text = text("7 s", "10 Mbit/s", "", &flow("udp", "a", "b", keys));
    let scenario = parse(&text, &[("record.sojourn", "true")]);
    let seed = stillair_model::types::Seed { seed: 1, run: 0 };
    let report = stillair_sim::run::run_reported(&scenario, seed, false).expect("accounts close");
    let found: serde_json::Value = serde_json::from_str(&report.to_json().expect("a report")).expect("JSON");
    let steps = found["sojourn"]["slowest"]["udp-0.b"]["steps"].as_array().expect("a slowest packet");
    let first = &steps[0];
    assert_eq!(first["layer"], "socket");
    let ns = |key: &str| first[key].as_u64().expect("a time");
    assert_eq!(first["causes_ns"]["send_buffer"].as_u64(), Some(ns("until_ns") - ns("from_ns")));
    assert!(ns("until_ns") - ns("from_ns") > 1_000_000_000, "{first}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]
    /// Whatever the network: every datagram due is accounted for, and no call loses less than its flow.
    #[test]
    fn a_call_loses_no_less_than_its_flow(
        rate in prop::sample::select(vec!["20 kbit/s", "100 kbit/s", "2 Mbit/s", "100 Mbit/s"]),
        loss in 0.0..0.5f64,
        duplicate in 0.0..0.5f64,
        delay in 0_u32..400,
        limit in 1_u32..300,
        stop in prop::option::of(3_u32..6),
        slow in prop::sample::select(vec!["1 kbit/s", "50 kbit/s", "1 Mbit/s"]),
    ) {
        let queue = format!(
            ", qdisc = {{ kind = \"netem\", limit = {limit}, loss = {loss:.3}, duplicate = {duplicate:.3}, \
             delay = \"{delay} ms\", jitter = \"{} ms\" }}", delay / 3);
        let stop = stop.map_or(String::new(), |at| format!("stop = \"{at} s\"\n"));
        let udp = |when: &str| format!("rate = \"300 kbit/s\"\nwhen_full = \"{when}\"\nname = \"{when}\"\n{stop}");
        let more = flow("voip", "a", "b", &stop)
            + &flow("voip", "b", "a", "")
            + &flow("video", "a", "b", &format!("rate = \"200 kbit/s\"\n{stop}"))
            + &flow("udp", "a", "b", &udp("drop"))
            + &flow("udp", "a", "b", &udp("block"))
            + "[[step]]\nat = \"3 s\"\nset = [\"link.lan.rate=" + slow + "\"]\n";
        let text = text("7 s", rate, &queue, &more);
        closes(&run(&parse(&text, &[]), 0));
    }
}
