//! Wired networks: shapers, netem, byte queue limits, interrupt coalescing and veth pairs, end to end.

mod common;

use common::{flow, parse, run};
use stillair_model::types::{Duration, FrameView, Instant, Seed, Sink, TraceEvent};
use stillair_sim::recorder::RunSummary;

/// A client, a router and a server. The router's side of `right` has `qdisc`.
fn network(left: &str, right: &str, qdisc: &str) -> String {
    format!(
        r#"
name = "wired"
duration = "4 s"
warm_up = "1 s"

[link.left]
{left}

[link.right]
{right}

[node.client]
profile = "linux-6.1"
interface.eth0 = {{ link = "left", address = "10.0.0.1" }}

[node.router]
profile = "linux-6.1"
forward = true
interface.l = {{ link = "left", address = "10.0.0.2" }}
interface.r = {{ link = "right", address = "10.0.1.2", qdisc = {qdisc} }}

[node.server]
profile = "linux-6.1"
interface.eth0 = {{ link = "right", address = "10.0.1.1" }}
"#
    )
}

const VETH: &str = "kind = \"veth\"";
const WIRE: &str = "rate = \"100 Mbit/s\"\ndelay = \"1 ms\"";
const PING: &str = "interval = \"0.01 s\"\npayload = 56";

/// Runs it with `flood` Mbit/s of 1,472-byte payloads and a ping. Returns the summary and the sorted
/// round-trip times in us after the warm-up.
fn measured(text: &str, flood: u32) -> (RunSummary, Vec<u64>) {
    let udp = format!("rate = \"{flood} Mbit/s\"\npayload = 1472\nburst = 1\ngap = \"periodic\"");
    let udp = if flood > 0 { flow("udp", "client", "server", &udp) } else { String::new() };
    let text = format!("{text}{}{udp}", flow("ping", "client", "server", PING));
    let scenario = parse(&text, &[]);
    let mut rtts = common::watched(&scenario, 0).world;
    rtts.run_until(Instant::from_nanos(4_000_000_000));
    let mut us: Vec<u64> = rtts.trace().recorder.flows[0].rtts[0].each().iter().map(|ns| ns / 1000).collect();
    us.sort_unstable();
    (run(&scenario, 0), us)
}

#[test]
fn shaper_has_its_rate_and_its_class_has_own_counters() {
    for child in ["{ kind = \"pfifo\", limit = 20 }", "\"fq_codel\""] {
        let htb = format!("{{ kind = \"htb\", rate = \"10 Mbit/s\", child = {child} }}");
        let (s, rtts) = measured(&network(VETH, VETH, &htb), 20);
        let (htb, class) = (&s.qdiscs["router.r"], &s.qdiscs["router.r/child"]);
        // Four seconds at the rate, and the initial burst of two packets.
        let sent = htb.bytes as i64 - 5_000_000;
        assert!((0..=2 * 1514).contains(&sent), "{sent} bytes more than the rate");
        assert_eq!((&*htb.kind, htb.packets, htb.bytes), ("htb", class.packets, class.bytes));
        assert!(htb.drops == class.drops && htb.drops > 300, "{htb:?}");
        assert!(htb.overlimits > 3000 && class.overlimits == 0);
        // 20 packets of 1.2 ms before it, or as a sparse flow in fq_codel: one packet.
        let median = rtts[rtts.len() / 2];
        let range = if class.kind == "pfifo" { 22_000..25_000 } else { 100..1_500 };
        assert!(range.contains(&median), "{}: {median} us", class.kind);
    }
}

#[test]
fn an_emulated_delay_is_exact_and_nothing_else_on_virtual_devices() {
    let (_, rtts) = measured(&network(VETH, VETH, "{ kind = \"netem\", delay = \"20 ms\" }"), 0);
    assert!(rtts.len() > 290 && rtts.iter().all(|&us| us == 20_000), "{rtts:?}");
    let (s, rtts) = measured(&network(VETH, VETH, "\"noqueue\""), 50);
    assert!(rtts.iter().all(|&us| us == 0), "nothing takes time here");
    assert!(s.qdiscs.is_empty() && s.drops.is_empty());
    let (s, _) = measured(&network(VETH, VETH, "{ kind = \"netem\", loss = 0.2, duplicate = 0.1 }"), 10);
    // Per packet: 0.9 x 0.8 once; duplicated and not lost twice, where the copy may be lost: 0.1 x (0.8 x 1.8
    // + 0.2).
    let netem = &s.qdiscs["router.r"];
    let share = 10e6 / 8.0 / 1472.0 * 4.0 + 400.0;
    let sent = netem.packets as f64 / share;
    assert!((sent - (0.72 + 0.164)).abs() < 0.02, "{sent}");
    assert!(s.drops.iter().all(|d| (d.place.as_str(), d.reason) == ("router.r qdisc", "loss")));
}

#[test]
fn a_long_ring_hides_the_queue_from_its_aqm_and_byte_limits_give_it_back() {
    let slow = |more: &str| format!("rate = \"10 Mbit/s\"\ndelay = \"0 s\"\n{more}");
    let fast = "rate = \"1 Gbit/s\"\ndelay = \"0 s\"";
    let median = |more: &str| {
        let (s, rtts) = measured(&network(fast, &slow(more), "\"fq_codel\""), 20);
        // The wire is equally busy in both cases: 1,538 bytes per packet with all Ethernet overhead.
        assert!(s.goodput_total_mbps > 9.4, "{more}: {}", s.goodput_total_mbps);
        rtts[rtts.len() / 2]
    };
    // 192 to 256 packets of 1.23 ms, or a few.
    assert!((230_000..330_000).contains(&median("")), "{}", median(""));
    assert!(median("bql = true") < 5_000, "{}", median("bql = true"));
    assert!(median("ring = 4") < 7_000, "{}", median("ring = 4"));
}

#[test]
fn coalesced_arrivals_wait_for_each_other() {
    let link = |more: &str| format!("rate = \"1 Gbit/s\"\ndelay = \"50 us\"\n{more}");
    let rtt = |more: &str, flood| {
        let (_, rtts) = measured(&network(&link(more), &link(more), "\"pfifo_fast\""), flood);
        (rtts[0], rtts[rtts.len() / 2])
    };
    // Four hops of 50 us, and 98 bytes including Ethernet overhead.
    assert_eq!(rtt("", 0), (203, 203));
    // A single packet waits the full time at each hop.
    assert_eq!(rtt("rx_usecs = 100", 0), (603, 603));
    // With 800 Mbit/s, a packet every 15 us, five packets arrive long before that on two of the hops; the way
    // back is idle.
    let (_, median) = rtt("rx_usecs = 100\nrx_frames = 5", 800);
    assert!((420..560).contains(&median), "{median}");
}

#[test]
fn random_qdiscs_depend_on_seed_and_run() {
    let qdisc = "{ kind = \"htb\", rate = \"10 Mbit/s\", child = { kind = \"netem\", delay = \"5 ms\", jitter = \"2 ms\", \
                 loss = 0.1, duplicate = 0.05 } }";
    let text = format!("{}{}", network(VETH, VETH, qdisc), flow("ping", "client", "server", PING));
    let scenario = parse(&text, &[]);
    let hashes = [0, 1, 0].map(|n| run(&scenario, n).trace_hash);
    assert_eq!(hashes[0], hashes[2]);
    assert_ne!(hashes[0], hashes[1]);
}

/// Maximum number of segments per packet at the end of each wire.
#[derive(Default)]
struct Largest([u16; 4]);

impl Sink for Largest {
    const FRAMES: bool = true;
    fn event(&mut self, _: Instant, _: &TraceEvent) {}
    fn frame(&mut self, _: Instant, what: &FrameView<'_>) {
        if let FrameView::Wire(wire, p) = what {
            self.0[wire.index()] = self.0[wire.index()].max(p.headers().segs);
        }
    }
}

#[test]
fn large_packets_are_split_for_devices_without_tso_whatever_the_queue() {
    for qdisc in ["noqueue", "pfifo_fast"] {
        for tso in [true, false] {
            let more = format!("\"{qdisc}\", tso = {tso}");
            let tcp = flow("tcp", "client", "server", "bytes = 1_000_000");
            let scenario = parse(&format!("{}{tcp}", network(VETH, VETH, &more)), &[]);
            let seed = Seed { seed: 1, run: 0 };
            let mut world = stillair_sim::world::wire(&scenario, seed, |_| Largest::default()).world;
            world.run_until(Instant::from_nanos(4_000_000_000));
            // Virtual devices pass large packets on unchanged.
            let [left, _, right, _] = world.trace().0;
            assert!(left > 1, "{left}");
            assert_eq!(right, if tso { left } else { 1 }, "{qdisc}");
        }
    }
}

/// A chain of `routers` routers over veth pairs, with a ping from the first host to the last.
fn chain(routers: usize) -> RunSummary {
    let mut text = "name = \"chain\"\nduration = \"1 s\"\n".to_owned();
    for n in 0..=routers {
        text += &format!("[link.l{n}]\nkind = \"veth\"\n");
    }
    for n in 0..routers + 2 {
        text += &format!("[node.n{n}]\nprofile = \"linux-6.1\"\nforward = true\n");
        // Hosts at both ends have one link, routers two.
        let ends = [(n > 0).then(|| ("left", n - 1)), (n <= routers).then_some(("right", n))];
        for (name, link) in ends.into_iter().flatten() {
            let address = format!("10.{}.{n}.1", u8::from(name == "left"));
            text += &format!("interface.{name} = {{ link = \"l{link}\", address = \"{address}\" }}\n");
        }
    }
    let last = format!("n{}", routers + 1);
    run(&parse(&(text + &flow("ping", "n0", &last, "interval = \"0.1 s\"")), &[]), 0)
}

#[test]
fn a_packet_lives_for_64_hops() {
    let reached = chain(63);
    assert!(reached.packets.delivered >= 9 && reached.drops.is_empty(), "{:?}", reached.packets);
    let too_far = chain(64);
    assert_eq!(too_far.packets.delivered, 0);
    let drops: Vec<_> = too_far.drops.iter().map(|d| (d.place.as_str(), d.reason, d.packets)).collect();
    assert_eq!(drops, [("n64 ip", "ttl", too_far.packets.dropped)]);
    assert!(too_far.packets.dropped >= 9);
}

#[test]
fn a_receiver_whose_memory_is_all_overhead_offers_no_window() {
    // With 131,072 bytes of memory, the window is 65,536 bytes at a scale of 1, 32 bytes at -12, and zero at
    // -31, the kernel's minimum.
    let read = |scale: &str| {
        let text = network(WIRE, WIRE, "\"pfifo\"") + &flow("tcp", "client", "server", "");
        let sets = [("node.server.sysctl.net.ipv4.tcp_adv_win_scale", scale)];
        let mut world = common::watched(&parse(&text, &sets), 0).world;
        common::run_to(&mut world, Duration::from_secs(4)).expect("accounts close");
        world.trace().read[0]
    };
    let bytes = ["1", "-12", "-20", "-21", "-25", "-31"].map(read);
    assert!(bytes[0] > 25_000_000 && bytes[1] < 2_000_000, "{bytes:?}");
    assert_eq!(bytes[2..], [0; 4]);
}

/// Packets overtake each other by a few milliseconds, which FACK would consider a loss, so FACK is disabled
/// when reordering is detected.
// linux: net/ipv4/tcp_input.c tcp_update_reordering, tcp_disable_fack (4.4).
#[test]
fn fack_makes_no_difference_with_reordering() {
    let jitter = "{ kind = \"netem\", delay = \"20 ms\", jitter = \"5 ms\", limit = 10000 }";
    let text = network("rate = \"100 Mbit/s\"\ndelay = \"0.1 ms\"", VETH, jitter);
    let text = format!("{text}{}", flow("tcp", "client", "server", ""));
    let [with, without] = ["1", "0"].map(|fack| {
        let sysctl = format!("{{ \"net.ipv4.tcp_fack\" = {fack} }}");
        let sets =
            [("node.client.profile", "linux-4.4"), ("node.client.sysctl", &*sysctl), ("duration", "10 s")];
        run(&parse(&text, &sets), 0)
    });
    let sent_again = |s: &RunSummary| {
        s.flows.values().filter_map(|f| f.tcp.as_ref()).map(|tcp| tcp.retransmissions).sum::<u32>()
    };
    assert!((1..=5).contains(&sent_again(&with)), "{}", sent_again(&with));
    assert!(sent_again(&without) <= 5, "{}", sent_again(&without));
    let (with, without) = (with.goodput_total_mbps, without.goodput_total_mbps);
    assert!(with > 75.0 && (with - without).abs() < 0.1 * without, "{with} {without}");
}
