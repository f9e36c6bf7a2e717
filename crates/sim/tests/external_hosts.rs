//! External hosts in scenarios, routes, summaries and captures.

mod common;

use common::external::{
    AP_WLAN, FLOWS, SEED, SERVER, SERVER_IP, STATION, STATION_IP, all_left, at_ms, entering, ip, recorded,
    text,
};
use common::parse;
use stillair_model::types::{Addr, IfId, Instant, Reason, Tee, write_back};
use stillair_sim::capture::{Capture, Selection};
use stillair_sim::run::Session;
use stillair_sim::world::{Entering, Refused, wire};
use stillair_sim::{api, scenario};

#[test]
fn default_route_leads_to_unknown_addresses() {
    let mut world = recorded(&text("external", "fq_codel", ", default_route = true"));
    let (elsewhere, far) = (world.elsewhere(), [192, 0, 2, 1]);
    assert_eq!(elsewhere, Addr(4));
    let there = ip(200, 1, 0, [STATION_IP, far]);
    let back = ip(200, 2, 0, [far, STATION_IP]);
    let _ = world.enter(&entering(&there, STATION, elsewhere, None)).expect("a good packet");
    let back = Entering { src: elsewhere, ..entering(&back, SERVER, Addr(STATION.0), None) };
    let _ = world.enter(&back).expect("a good packet");
    // A packet from the uplink host itself to an unknown address has no route in the model.
    let lost = ip(200, 3, 0, [SERVER_IP, far]);
    let _ = world.enter(&entering(&lost, SERVER, elsewhere, None)).expect("a good packet");
    world.put_through();
    world.advance(at_ms(100));
    let mut at: Vec<_> = all_left(&mut world).iter().map(|(left, bytes)| (left.at, bytes[27])).collect();
    at.sort();
    assert_eq!(at, [(SERVER, 1), (STATION, 2)]);
    let (account, inside) = world.books().packet_account();
    let no_route: u64 = account.dropped.iter().map(|place| place[Reason::NoRoute as usize]).sum();
    assert_eq!((account.dropped_total(), no_route, inside), (1, 1, 0));
}

#[test]
fn a_driver_can_answer_for_a_modelled_host() {
    let mut world = recorded(&text("external", "fq_codel", ""));
    let ping = ip(84, 1, 0, [SERVER_IP, [10, 0, 1, 1]]);
    let _ = world.enter(&entering(&ping, SERVER, Addr(AP_WLAN.0), None)).expect("a good packet");
    world.put_through();
    world.advance(at_ms(5));
    let left = all_left(&mut world);
    assert_eq!((left.len(), left[0].0.at, left[0].0.ttl), (1, AP_WLAN, 64));
    let pong = ip(84, 2, 0, [[10, 0, 1, 1], SERVER_IP]);
    let _ = world.enter(&entering(&pong, AP_WLAN, Addr(SERVER.0), None)).expect("a good packet");
    world.put_through();
    world.advance(at_ms(10));
    assert_eq!(all_left(&mut world).iter().map(|(left, _)| left.at).collect::<Vec<_>>(), [SERVER]);
}

/// A packet to be split on its path is a single packet in queues and leaves as segments. Its token ends once.
#[test]
fn a_packet_of_several_segments_is_split_on_its_way() {
    for (host, wire_of) in [("lan", "rate = \"1 Gbit/s\"\ndelay = \"1 ms\""), ("veth", "kind = \"veth\"")] {
        let shaped = ", qdisc = { kind = \"htb\", rate = \"1 Mbit/s\", burst = \"1600 B\", child = { kind = \"pfifo\", limit = 2 } }";
        let text =
            text("external", "fq_codel", shaped).replace("rate = \"1 Gbit/s\"\ndelay = \"1 ms\"", wire_of);
        let mut world = recorded(&text.replace(", error_rate = 0.2, ack_error_rate = 0.1", ""));
        let segments: Vec<Vec<u8>> =
            [(1_500, 1), (1_500, 2), (700, 3)].map(|(len, n)| ip(len, n, 0, [SERVER_IP, STATION_IP])).into();
        let bytes = segments.concat();
        for token in 0..4 {
            let whole =
                Entering { truesize: 5_000, ..entering(&bytes, SERVER, Addr(STATION.0), Some(token)) };
            let entered = world.enter_segments(&whole, 1_500).expect("a good packet");
            // The first packet may go directly to the device, and two wait.
            assert!(token == 3 || entered != stillair_model::qdisc::Enqueue::Dropped, "{host}: {token}");
        }
        world.put_through();
        world.advance(at_ms(500));
        let left = all_left(&mut world);
        let sent: Vec<&[u8]> = left.iter().map(|(_, bytes)| &bytes[20..]).collect();
        assert!(sent.len() >= 6 && sent.len().is_multiple_of(3), "{host}: {} segments", sent.len());
        for three in sent.chunks(3) {
            assert_eq!(three, [&segments[0][20..], &segments[1][20..], &segments[2][20..]], "{host}");
        }
        assert!(left.iter().all(|(left, _)| left.at == STATION), "{host}");
        let mut ended = common::external::all_ended(&mut world);
        ended.sort_unstable();
        assert_eq!(ended.len(), sent.len() / 3 + usize::from(sent.len() < 12), "{host}: {ended:?}");
        assert_eq!(world.books().packet_account().1, 0, "{host}: nothing is left inside");
    }
}

#[test]
fn invalid_packets_are_refused() {
    let mut world = recorded(&text("external", "fq_codel", ""));
    let good = ip(100, 0, 0, [SERVER_IP, STATION_IP]);
    let e = entering(&good, SERVER, Addr(STATION.0), None);
    let long = vec![0x45; 2_049];
    let refused = [
        Entering { at: IfId(4), ..e },
        Entering { bytes: &[], ..e },
        Entering { bytes: &long, ..e },
        Entering { dst: Addr(5), ..e },
        Entering { token: Some(u32::MAX), ..e },
    ]
    .map(|e| world.enter(&e).expect_err("refused"));
    use Refused::{Address, Interface, Length, Token};
    assert_eq!(refused, [Interface(IfId(4)), Length(0), Length(2_049), Address(Addr(5)), Token(u32::MAX)]);
    assert_eq!(refused[2].to_string(), "a packet of 2049 bytes, expected 1 to 2048");
    assert_eq!(world.books().packet_account().0.created, 0);
}

#[test]
fn summary_counts_packets_of_external_hosts() {
    let scenario = parse(&text("external", "fq_codel", ""), &[]);
    let says = api::run_once(&scenario, SEED).expect_err("nobody drives it");
    assert!(says.starts_with("run 0: node.server.host: found \"external\", and a driver must"), "{says}");
    let mut session = Session::driven(&scenario, SEED, |recorder| recorder).expect("short").with_series();
    let mut bytes = Vec::new();
    let mut left = 0;
    for n in 0..100 {
        session.advance_through(at_ms(n * 10));
        let packet = ip(1_000, n as u32, 0, [SERVER_IP, STATION_IP]);
        let e = entering(&packet, SERVER, Addr(STATION.0), Some(n as u32));
        let _ = session.enter(&e).expect("a good packet");
        session.put_through();
        assert!(session.next_event().is_some_and(|next| next >= at_ms(n * 10)));
        left += core::iter::from_fn(|| session.left(&mut bytes)).count() as u64;
    }
    let (report, _) = session.finish().expect("accounts close");
    let [server, sta] = ["server", "sta"].map(|name| &report.summary.hosts[name]);
    let (got, sent) = (&sta.to, &server.from);
    assert_eq!((got, got.bytes), (sent, got.packets * 1_000));
    assert!(got.packets >= left && got.packets + got.lost >= 99, "{got:?}");
    assert!(got.delay_p50_ms.is_some_and(|ms| ms > 1.0 && ms < 5.0), "{got:?}");
    assert_eq!((sta.from.packets, server.to.packets), (0, 0));
    assert!(report.to_json().is_ok_and(|json| json.contains("\"hosts\":{\"server\":{\"from\"")));
    // Without external hosts, the summary has no `hosts`.
    let modelled = common::run(&parse(&text("model", "fq_codel", ""), &[]), 0);
    assert!(!serde_json::to_string(&modelled).expect("JSON").contains("hosts"));
}

#[test]
fn capture_contains_the_bytes() {
    let scenario = parse(&text("external", "fq_codel", ""), &[]);
    let selection =
        Selection { points: vec!["all".into()], from: Instant::ZERO, until: Instant::NEVER, snaplen: 0 };
    let mut file = Vec::new();
    let capture = Capture::new(&scenario, &selection, &mut file).expect("points are there");
    let mut world = wire(&scenario, SEED, |recorder| Tee(recorder, capture)).world;
    let sent = ip(700, 77, 1 << 2, [SERVER_IP, STATION_IP]);
    let _ = world.enter(&entering(&sent, SERVER, Addr(STATION.0), None)).expect("a good packet");
    world.put_through();
    world.advance(at_ms(50));
    assert_eq!(all_left(&mut world).len(), 1);
    world.into_trace().1.finish(at_ms(50)).expect("a file in memory");
    let mut passed = sent.clone();
    write_back(&mut passed, 1 << 2, 63);
    let times = |bytes: &[u8]| file.windows(bytes.len()).filter(|w| *w == bytes).count();
    // On the wire, at the server and at the access point as sent; on the air and at both radios with one hop
    // less, once per try.
    assert_eq!(times(&sent), 3);
    assert!(times(&passed) >= 3, "{}", times(&passed));
}

#[test]
fn keys_without_effect_or_meaning_are_errors() {
    let says = |text: &str, sets: &[(&str, &str)]| {
        let sets: Vec<(String, String)> = sets.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
        scenario::parse(text, "doors.toml", &sets).expect_err("a mistake").to_string()
    };
    let external = text("external", "fq_codel", "");
    for (sets, found) in [
        (
            vec![("node.server.wake", "50 us")],
            "node.server.wake: found \"50 us\", which has no effect at an external host",
        ),
        (
            vec![("node.server.sysctl.net.ipv4.tcp_sack", "0")],
            "tcp_sack: found 0, which has no effect at an external host",
        ),
        (
            vec![("node.sta.interface.wlan0.tso", "true")],
            "node.sta.interface.wlan0.tso: found true, which has no effect",
        ),
        (
            vec![("node.ap.interface.eth0.default_route", "true")],
            "eth0.default_route: found true at a modelled host",
        ),
        (
            vec![
                ("node.sta.interface.wlan0.default_route", "true"),
                ("node.server.interface.eth0.default_route", "true"),
            ],
            "node.sta.interface.wlan0.default_route: found true, as \"server.eth0\" has it",
        ),
    ] {
        let text = says(&external, &sets);
        assert!(text.contains(found), "{text}");
    }
    let text = says(&(external.clone() + FLOWS), &[]);
    assert!(text.contains("flow.0.from: found \"server\", which is an external host"), "{text}");
    let text = says(&(external.clone() + FLOWS), &[("node.server.host", "model")]);
    assert!(text.contains("flow.0.to: found \"sta\", which is an external host"), "{text}");
    let test = "{ name = \"rrul\", from = \"server\", to = \"sta\" }";
    let text = says(&external, &[("duration", "100 s"), ("test", test)]);
    assert!(text.contains("test.from: found \"server\""), "{text}");
    // An external host does not forward packets without bytes.
    let between = external + FLOWS;
    let sets = [("node.server.host", "model"), ("node.sta.host", "model"), ("node.ap.host", "external")];
    let text = says(&between, &sets);
    assert!(text.contains("no way leads from \"server\""), "{text}");
    parse(&text_of_qdisc(), &[]);
}

/// The only kernel setting used is the default qdisc, for the interfaces, which are modelled.
fn text_of_qdisc() -> String {
    text("external", "fq_codel", "").replacen(
        "interface.eth0",
        "sysctl = { \"net.core.default_qdisc\" = \"fq_codel\" }\ninterface.eth0",
        1,
    )
}
