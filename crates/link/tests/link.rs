//! Guarantees of a link to its caller.

use std::time::Duration;

use stillair_link::build::{
    Duration as Time, InterfaceBuilder, LinkBuilder, NodeBuilder, Rate, ScenarioBuilder,
};
use stillair_link::{
    BackPressure, Endpoint, Enqueue, Link, LinkError, Mark, Packet, Path, Poll, SendError, TimeError,
};

const WIRE: &str = r#"
name = "wire"
link.lan = { rate = "12 Mbit/s", delay = "3 ms" }
node.a = { profile = "linux-6.12", host = "external", interface.eth0 = { link = "lan", qdisc = { kind = "pfifo", limit = 10 } } }
node.b = { profile = "linux-6.12", host = "external", interface.eth0.link = "lan" }
"#;
const A: Endpoint = Endpoint(0);
const B: Endpoint = Endpoint(1);

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn wire(sets: &[(&str, &str)]) -> Path {
    Path::parse(WIRE, "wire.toml", sets).expect("a good path")
}

fn packets(link: &mut Link, until: Duration) -> Vec<Packet> {
    let mut came = Vec::new();
    loop {
        match link.poll(until).expect("time goes on") {
            Poll::Packet(packet) => came.push(packet),
            Poll::Writable(_) => {}
            Poll::Wait(_) => return came,
        }
    }
}

fn is_send<T: Send>() {}

#[test]
fn a_packet_arrives_with_its_metadata() {
    is_send::<Link>();
    is_send::<Path>();
    let mut link = wire(&[]).link(1).expect("a link");
    let way = A.to(B).ports(5, 6);
    let sent = link.send(ms(2), way, b"one", Mark { ecn: 1, dscp: 46 }).expect("a datagram");
    assert_eq!((sent.number, sent.queue), (1, Enqueue::Queued));
    let Poll::Packet(packet) = link.poll(ms(100)).expect("time goes on") else { panic!("none came") };
    // 3 bytes, 28 of headers and 38 of Ethernet framing at 12 Mbit/s, and 3 ms; the minimum is 84 bytes: a
    // 60-byte frame and 24 more.
    assert_eq!((packet.sent, packet.at, link.now()), (ms(2), packet.at, packet.at));
    assert!(packet.delay() > ms(3) && packet.delay() < Duration::from_micros(3_060), "{:?}", packet.delay());
    assert_eq!((packet.way(), packet.number, packet.len), (way, 1, 3));
    assert_eq!((packet.ecn, packet.dscp, packet.together), (1, 46, false));
    assert_eq!(link.payload(), b"one");
    assert_eq!(link.packet_bytes().len(), 31);
    // The answer is sent at the arrival time.
    link.send(packet.at, packet.way().back(), 0_usize, Mark::NONE).expect("an answer");
    let [back] = packets(&mut link, ms(100))[..] else { panic!("no answer") };
    assert_eq!((back.from, back.to, back.ports, back.len), (B, A, [6, 5], 0));
    assert_eq!(link.poll(ms(100)), Ok(Poll::Wait(None)));
    let seen = link.finish().expect("accounts close");
    assert_eq!((seen.hosts["a"].to.packets, seen.hosts["b"].to.packets), (1, 1));
}

#[test]
fn errors_are_reported_and_change_nothing() {
    let mut link = wire(&[("duration", "1 s")]).link(1).expect("a link");
    assert_eq!(link.poll(ms(10)), Ok(Poll::Wait(None)));
    let mut says = |now, way, bytes: usize, mark| link.send(now, way, bytes, mark).expect_err("a mistake");
    let back = TimeError::Backwards(ms(9), ms(10));
    assert_eq!(says(ms(9), A.to(B), 1, Mark::NONE), SendError::Time(back));
    assert_eq!(says(ms(11), A.to(A), 1, Mark::NONE), SendError::Way(0, 0));
    assert_eq!(says(ms(11), A.to(Endpoint(9)), 1, Mark::NONE), SendError::Way(0, 9));
    assert_eq!(says(ms(11), A.to(B), 1_473, Mark::NONE), SendError::TooLong { bytes: 1_473, most: 1_472 });
    assert!(says(ms(11), A.to(B), usize::MAX, Mark::NONE).to_string().contains("at most 1472"));
    assert_eq!(says(ms(11), A.to(B), 1, Mark { ecn: 4, dscp: 0 }), SendError::Mark(4, 0));
    assert_eq!(says(ms(1_000), A.to(B), 1, Mark::NONE), SendError::Time(TimeError::Ended(ms(1_000))));
    assert_eq!(says(Duration::MAX, A.to(B), 1, Mark::NONE), SendError::Time(TimeError::Ended(ms(1_000))));
    assert_eq!(link.poll(ms(9)), Err(back));
    link.send(ms(10), A.to(B), 1_472_usize, Mark::NONE).expect("the longest datagram, at the same instant");
    assert_eq!(packets(&mut link, Duration::MAX).len(), 1);
    assert_eq!((link.now(), link.poll(Duration::MAX)), (ms(1_000), Ok(Poll::Wait(None))));
    assert_eq!(link.finish().expect("accounts close").hosts["a"].from.packets, 1);
    // An unused link balances too.
    assert!(wire(&[]).link(1).expect("a link").finish().is_ok());
    assert!(Path::preset("cafe-busy-11n").and_then(|path| path.link(1)?.finish()).is_ok());
}

#[test]
fn invalid_paths_are_reported() {
    let says = |text: &str| Path::parse(text, "x.toml", &[]).expect_err("a mistake").to_string();
    let wrong = says(&WIRE.replace("3 ms", "soon"));
    assert!(wrong.starts_with("x.toml:3: link.lan.delay: found \"soon\""), "{wrong}");
    let one = WIRE.replacen("host = \"external\", ", "", 1);
    assert_eq!(
        says(&one),
        "the scenario has 1 of the two or more endpoints that a link needs: interfaces of nodes with host = \"external\", b"
    );
    assert!(matches!(Path::preset("home"), Err(LinkError::Preset(says)) if says.contains("home")));
    let says = wire(&[]).endpoint("c").expect_err("no such endpoint").to_string();
    assert_eq!(says, "the path has no endpoint \"c\", expected one of a, b");
}

#[test]
fn a_path_can_be_built() {
    let at = |n| std::net::Ipv4Addr::new(10, 0, 0, n);
    let host = |n| {
        NodeBuilder::new("linux-6.12")
            .set("host", "external")
            .interface("eth0", InterfaceBuilder::wired("lan", at(n)))
    };
    let scenario = ScenarioBuilder::new("built")
        .link("lan", LinkBuilder::new(Rate::from_mbps(12), Time::from_millis(3)))
        .node("a", host(1))
        .node("b", host(2));
    let path = Path::build(&scenario).expect("a good path");
    assert_eq!((path.mtu(), path.max_payload()), (1_500, 1_472));
    let mut link = path.link(1).expect("a link");
    link.send(ms(0), A.to(B), b"x", Mark::NONE).expect("a datagram");
    assert_eq!(packets(&mut link, ms(10)).len(), 1);
}

#[test]
fn a_host_with_two_interfaces_has_two_endpoints() {
    let text = format!("{WIRE}link.lte = {{ rate = \"5 Mbit/s\", delay = \"30 ms\" }}\n").replace(
        "interface.eth0.link = \"lan\"",
        "interface.eth0.link = \"lan\", interface.wwan.link = \"lte\"",
    ) + "node.c = { profile = \"linux-6.12\", host = \"external\", interface.eth0.link = \"lte\" }\n";
    let path = Path::parse(&text, "two.toml", &[]).expect("a good path");
    assert_eq!(path.endpoints().collect::<Vec<_>>(), ["a", "b.eth0", "b.wwan", "c"]);
    let mut link = path.link(1).expect("a link");
    let [first, second, c] = ["b.eth0", "b.wwan", "c"].map(|name| path.endpoint(name).expect("an endpoint"));
    let numbers = [(first, A), (second, c), (first, A)]
        .map(|(from, to)| link.send(ms(1), from.to(to), 9_usize, Mark::NONE).expect("a datagram").number);
    assert_eq!(numbers, [1, 2, 3]);
    let came = packets(&mut link, ms(100));
    let found: Vec<_> = came.iter().map(|p| (p.from, p.to, p.number)).collect();
    assert_eq!(found, [(first, A, 1), (first, A, 3), (second, c, 2)]);
}

#[test]
fn send_returns_the_result_of_the_first_queue() {
    let mut link = wire(&[("link.lan.ring", "1")]).link(1).expect("a link");
    let told: Vec<_> = (0..14)
        .map(|_| link.send(ms(0), A.to(B), 1_472_usize, Mark::NONE).expect("a datagram").queue)
        .collect();
    let dropped = told.iter().filter(|&&queue| queue == Enqueue::Dropped).count();
    // A frame on the wire, possibly one in the ring, and ten in the queue.
    assert!(
        (2..=3).contains(&dropped) && told[..11].iter().all(|&queue| queue == Enqueue::Queued),
        "{told:?}"
    );
    assert_eq!(packets(&mut link, ms(100)).len(), 14 - dropped);
    let seen = link.finish().expect("accounts close");
    assert_eq!((seen.hosts["a"].from.lost, seen.drops[0].place.as_str()), (dropped as u64, "a.eth0 qdisc"));
}

#[test]
fn a_full_socket_becomes_writable() {
    let limits = BackPressure::small_queues(4_608);
    let mut link = wire(&[]).link(1).expect("a link").with_back_pressure(A, limits);
    let (mut sent, mut came, mut told, mut now) = (0, 0, 0, ms(0));
    while came < 100 {
        match link.send(now, A.to(B), 1_472_usize, Mark::NONE) {
            Ok(told) => {
                assert_eq!(told.queue, Enqueue::Queued);
                sent += 1;
                continue;
            }
            Err(SendError::Full) => assert!(link.below(A).expect("an account") >= limits.limit),
            Err(error) => panic!("{error}"),
        }
        match link.poll(ms(1_000)).expect("time goes on") {
            Poll::Packet(packet) => (came, now) = (came + 1, packet.at),
            Poll::Writable(endpoint) => {
                assert_eq!((endpoint, link.below(A) < Some(limits.resume)), (A, true));
                told += 1;
                now = link.now();
            }
            Poll::Wait(next) => panic!("stuck until {next:?}"),
        }
    }
    // The queue of ten dropped nothing, and B has no limit.
    assert!(sent - came <= 6 && told > 30, "{sent} {came} {told}");
    assert_eq!(link.below(B), None);
    let seen = link.finish().expect("accounts close");
    assert_eq!(seen.hosts["a"].from.lost, 0);
}

#[test]
fn splitting_polls_does_not_change_packets() {
    let path = Path::preset("openwrt-aql").expect("a preset");
    let run = |steps: u64| {
        let mut link = path.link(3).expect("a link");
        let (client, server) = (path.endpoint("client").expect("one"), path.endpoint("server").expect("one"));
        let mut came = Vec::new();
        for n in 0..200 {
            let now = ms(n * 4);
            for step in (1..=steps).rev() {
                // Polls in this many steps until the next packet is sent.
                let before = now.saturating_sub(Duration::from_micros(4_000 * (step - 1) / steps));
                let until = before.max(link.now());
                came.append(&mut packets(&mut link, until));
            }
            let way = if n % 3 == 0 { client.to(server) } else { server.to(client) };
            link.send(now, way, 1_000_usize, Mark::NONE).expect("a datagram");
        }
        came.append(&mut packets(&mut link, ms(2_000)));
        (came, link.finish().expect("accounts close").trace_hash)
    };
    let once = run(1);
    assert!(once.0.len() > 150);
    assert!(once == run(7));
}

#[test]
fn packet_delay_is_reported_by_layer_and_cause() {
    let path = wire(&[("record.sojourn", "true")]);
    let mut link = path.link(1).expect("a link");
    for _ in 0..3 {
        link.send(ms(0), A.to(B), 1_172_usize, Mark::NONE).expect("a datagram");
    }
    let delays: Vec<Duration> = packets(&mut link, ms(100)).iter().map(Packet::delay).collect();
    assert_eq!(delays.len(), 3);
    let (seen, followed) = link.finish_followed().expect("accounts close");
    assert_eq!(seen.hosts["b"].to.packets, 3);
    let times = followed.expect("it was asked for").flow("a to b").expect("its packets");
    let whole: Duration = delays.iter().sum();
    assert_eq!((times.packets, u128::from(times.delay_ns)), (3, whole.as_nanos()));
    // 1,200 bytes and 38 of Ethernet framing at 12 Mbit/s are 825,333 1/3 ns. The second datagram waits for
    // one, the third for two.
    let cell = |layer, cause| {
        let found = times.cells.iter().find(|(l, c, _)| (*l, *c) == (layer, cause));
        found.map_or(0, |(.., ns)| *ns)
    };
    let waits = cell("hardware", "own") + cell("qdisc", "own");
    assert!((2_475_990..2_476_010).contains(&waits), "{times:?}");
    assert_eq!(cell("wire", "propagate"), 9_000_000);
    assert_eq!(times.cells.iter().map(|(.., ns)| ns).sum::<u64>(), times.delay_ns);
    // Not recorded unless requested.
    let (_, none) = wire(&[]).link(1).expect("a link").finish_followed().expect("accounts close");
    assert!(none.is_none());
}
