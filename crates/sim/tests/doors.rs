//! Packets of outside hosts: they take the way that modelled ones take, their bytes come out, and nothing of them is lost.

mod common;

use common::parse;
use proptest::prelude::*;
use stillair_model::vocabulary::{
    Addr, Duration, FlowId, FrameView, Headers, IfId, Instant, Kind, Reason, Seed, Sink, Tee, Trace,
    linear_truesize, write_back,
};
use stillair_sim::capture::{Capture, Selection};
use stillair_sim::recorder::Recorder;
use stillair_sim::run::Session;
use stillair_sim::world::{Entering, Left, Refused, World, wire};
use stillair_sim::{api, scenario};

const SEED: Seed = Seed { seed: 3, run: 0 };
const SERVER: IfId = IfId(0);
const AP_WLAN: IfId = IfId(2);
const STATION: IfId = IfId(3);

fn at_ms(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

/// A server behind a wire and a station behind an access point; `host` is what both are, and `server` more of the server's interface.
fn text(host: &str, scheme: &str, server: &str) -> String {
    format!(
        r#"
name = "doors"
duration = "1 s"
[channel.wifi]
band = "5 GHz"
width = "20 MHz"
[link.lan]
rate = "1 Gbit/s"
delay = "1 ms"
[node.server]
profile = "linux-6.12"
host = "{host}"
interface.eth0 = {{ link = "lan", address = "10.0.0.2"{server} }}
[node.ap]
profile = "linux-4.6"
forward = true
interface.eth0 = {{ link = "lan", address = "10.0.0.1" }}
interface.wlan0 = {{ channel = "wifi", role = "ap", scheme = "{scheme}", address = "10.0.1.1" }}
[node.sta]
profile = "linux-6.12"
host = "{host}"
interface.wlan0 = {{ channel = "wifi", role = "station", ap = "ap.wlan0", address = "10.0.1.2", rate = "ht20-mcs3-lgi", retry_chain = ["mcs3", "mcs1"], error_rate = 0.2, ack_error_rate = 0.1 }}
"#
    )
}

/// A packet as it was sent.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Sent {
    at: Instant,
    flow: FlowId,
    seq: u32,
    src: Addr,
    dst: Addr,
    flow_hash: u32,
    len: u32,
    truesize: u32,
}

/// What happened, but for kinds and the numbers of flows; and what was sent, as it was first seen below its host.
#[derive(Debug, Default)]
struct Log {
    events: Vec<(Instant, String)>,
    sent: Vec<Sent>,
}

impl Sink for Log {
    const FRAMES: bool = true;

    fn event(&mut self, now: Instant, what: &Trace) {
        let mut what = *what;
        match &mut what {
            Trace::Delivered { flow, kind, .. } => (*flow, *kind) = (FlowId(0), Kind::Udp),
            Trace::Dropped { flow, .. } => *flow = FlowId(0),
            _ => {}
        }
        self.events.push((now, format!("{what:?}")));
    }

    fn frame(&mut self, _: Instant, what: &FrameView<'_>) {
        match what {
            FrameView::Sent(wire, headers) if wire.0 == 0 => self.see(*headers),
            FrameView::Air(view) => {
                let all = view.mpdus.iter().filter_map(|mpdu| mpdu.packet);
                all.for_each(|p| self.see(Headers::of(view.packets, p)));
            }
            _ => {}
        }
    }
}

impl Log {
    fn see(&mut self, p: Headers<'_>) {
        let sent = Sent {
            at: p.t_sent,
            flow: p.flow,
            seq: p.seq,
            src: p.src,
            dst: p.dst,
            flow_hash: p.flow_hash,
            len: p.len,
            truesize: linear_truesize(p.len),
        };
        self.sent.push(sent);
    }
}

/// An IPv4 packet with a header that is right, and bytes that tell which it is.
fn ip(len: u32, number: u32, tos: u8, [src, dst]: [[u8; 4]; 2]) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..len).map(|n| (n ^ number) as u8).collect();
    bytes[..12].copy_from_slice(&[0x45, 0, (len >> 8) as u8, len as u8, 0, 0, 0, 0, 0, 17, 0xff, 0xff]);
    bytes[12..16].copy_from_slice(&src);
    bytes[16..20].copy_from_slice(&dst);
    bytes[24..28].copy_from_slice(&number.to_be_bytes());
    let sum: u32 = bytes[..20].chunks(2).map(|w| u32::from(w[0]) << 8 | u32::from(w[1])).sum();
    // The sum has 0xffff in it, which is zero.
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = (sum & 0xffff) + (sum >> 16);
    bytes[10..12].copy_from_slice(&(!(sum as u16)).to_be_bytes());
    write_back(&mut bytes, tos, 64);
    bytes
}

const SERVER_IP: [u8; 4] = [10, 0, 0, 2];
const STATION_IP: [u8; 4] = [10, 0, 1, 2];

fn entering(bytes: &[u8], at: IfId, dst: Addr, token: Option<u32>) -> Entering<'_> {
    let truesize = linear_truesize(bytes.len() as u32);
    let src = Addr(at.0);
    Entering {
        at,
        bytes,
        src,
        dst,
        flow_hash: u32::from(at.0),
        tos: bytes[1],
        ttl: bytes[8],
        truesize,
        token,
    }
}

/// All that has left, with its bytes.
fn all_left<S: Sink>(world: &mut World<S>) -> Vec<(Left, Vec<u8>)> {
    let mut bytes = Vec::new();
    core::iter::from_fn(|| world.left(&mut bytes).map(|left| (left, bytes.clone()))).collect()
}

fn all_ended<S: Sink>(world: &mut World<S>) -> Vec<u32> {
    core::iter::from_fn(|| world.ended()).collect()
}

fn recorded(text: &str) -> World<Recorder> {
    wire(&parse(text, &[]), SEED, |recorder| recorder).world
}

/// Two flows of datagrams in both directions, the one to the station more than its path carries.
const FLOWS: &str = r#"
[[flow]]
kind = "udp"
from = "server"
to = "sta"
rate = "40 Mbit/s"
burst = 4
[[flow]]
kind = "udp"
from = "sta"
to = "server"
rate = "2 Mbit/s"
"#;

#[test]
fn what_comes_from_outside_goes_the_way_of_what_is_modelled() {
    for scheme in ["fq_codel", "airtime", "mac80211"] {
        let end = at_ms(1_000);
        let modelled = parse(&(text("model", scheme, "") + FLOWS), &[]);
        let mut world = wire(&modelled, SEED, |recorder| Tee(recorder, Log::default())).world;
        world.run_until(end);
        world.close(end).expect("accounts close");
        let Log { events, mut sent } = world.into_trace().1;
        sent.sort();
        sent.dedup();

        let outside = parse(&text("outside", scheme, ""), &[]);
        let mut world = wire(&outside, SEED, |recorder| Tee(recorder, Log::default())).world;
        let (mut left, mut ended) = (Vec::new(), Vec::new());
        let mut first = 0;
        for all in sent.chunk_by(|a, b| a.at == b.at) {
            assert!(world.next_event().is_none_or(|next| next >= world.now()));
            world.advance(all[0].at);
            for (n, s) in all.iter().enumerate() {
                let ips = if s.src == Addr(0) { [SERVER_IP, STATION_IP] } else { [STATION_IP, SERVER_IP] };
                let token = (first + n) as u32;
                let bytes = ip(s.len, token, 0, ips);
                let Sent { src, dst, flow_hash, truesize, .. } = *s;
                let e =
                    Entering { src, flow_hash, truesize, ..entering(&bytes, IfId(src.0), dst, Some(token)) };
                let _ = world.enter(&e).expect("a good packet");
            }
            first += all.len();
            world.put_through();
            left.append(&mut all_left(&mut world));
            ended.append(&mut all_ended(&mut world));
        }
        world.run_until(end);
        left.append(&mut all_left(&mut world));
        ended.append(&mut all_ended(&mut world));
        world.close(end).expect("accounts close");

        let (account, _) = world.packet_account();
        assert_eq!((account.created, account.delivered), (sent.len() as u64, left.len() as u64));
        assert!(account.dropped_total() > 10, "the station's path is full: {account:?}");
        let Log { events: again, .. } = world.into_trace().1;
        let differ = events.iter().zip(&again).find(|(a, b)| a != b);
        assert_eq!((differ, events.len()), (None, again.len()), "{scheme}");
        // Each token at most once, and what is under way alone has none that ended.
        let n = ended.len();
        ended.sort_unstable();
        ended.dedup();
        assert!(ended.len() == n && n <= sent.len() && n >= left.len(), "{n} of {}", sent.len());
        // An aggregate comes up at once, and a wire's arrivals one by one.
        let together = |at: IfId| left.iter().filter(|(l, _)| l.at == at && l.together).count();
        assert!(together(STATION) > 100 && together(SERVER) == 0);
        assert!(left.iter().all(|(l, bytes)| (l.ttl, bytes[8]) == (63, 63)));
    }
}

#[test]
fn bytes_come_out_with_their_marks_and_hops() {
    let mut world = recorded(&text("outside", "fq_codel", ""));
    let (mut marked, mut plain) = (0, 0);
    for n in 0..2_000 {
        world.advance(Instant::ZERO + Duration::from_micros(u64::from(n) * 400));
        let bytes = ip(1_500, n, 2, [SERVER_IP, STATION_IP]);
        let _ = world.enter(&entering(&bytes, SERVER, Addr(STATION.0), None)).expect("a good packet");
        world.put_through();
        for (left, bytes) in all_left(&mut world) {
            let number = u32::from_be_bytes([24, 25, 26, 27].map(|at| bytes[at]));
            let mut right = ip(1_500, number, 2, [SERVER_IP, STATION_IP]);
            write_back(&mut right, left.tos, 63);
            assert_eq!((left.at, bytes), (STATION, right));
            *if left.tos == 3 { &mut marked } else { &mut plain } += 1;
        }
    }
    assert!(marked > 10 && plain > 100, "{marked} {plain}");
    world.close(world.now()).expect("accounts close");
}

#[test]
fn a_drop_and_a_duplicate_end_a_token_once() {
    let netem = ", qdisc = { kind = \"netem\", delay = \"2 ms\", loss = 0.2, duplicate = 0.3 }";
    let mut world = recorded(&text("outside", "fq_codel", netem));
    let (mut ended, mut left) = (Vec::new(), 0);
    for token in 0..500 {
        world.advance(at_ms(u64::from(token)));
        let bytes = ip(100, token, 0, [SERVER_IP, STATION_IP]);
        let _ = world.enter(&entering(&bytes, SERVER, Addr(STATION.0), Some(token))).expect("a good packet");
        let again = world.enter(&entering(&bytes, SERVER, Addr(STATION.0), Some(token)));
        let free = all_ended(&mut world);
        // What netem loses ends at once; a token whose end was not told is in use.
        assert_eq!(again, Err(Refused::Token(token)));
        ended.extend(free);
        world.put_through();
        left += all_left(&mut world).len() as u64;
        ended.append(&mut all_ended(&mut world));
        world.close(world.now()).expect("accounts close");
    }
    world.advance(at_ms(900));
    left += all_left(&mut world).len() as u64;
    ended.append(&mut all_ended(&mut world));
    world.close(world.now()).expect("accounts close");
    let (account, inside) = world.packet_account();
    assert_eq!((account.delivered, inside), (left, 0));
    assert!(account.created > 550 && account.dropped_total() > 50, "{account:?}");
    ended.sort_unstable();
    assert_eq!(ended, (0..500).collect::<Vec<_>>());
}

#[test]
fn tokens_are_told_in_the_order_of_their_ends() {
    let mut world = recorded(&text("outside", "fq_codel", ""));
    for token in [5, 9, 1, 7] {
        let bytes = ip(1_000, token, 0, [SERVER_IP, STATION_IP]);
        let _ = world.enter(&entering(&bytes, SERVER, Addr(STATION.0), Some(token))).expect("a good packet");
    }
    world.put_through();
    world.advance(at_ms(1));
    // One report of the device for all of them, or several: the order of the ring.
    assert_eq!(all_ended(&mut world), [5, 9, 1, 7]);
}

#[test]
fn a_run_from_event_to_event_is_the_run_at_once() {
    let flows = r#"
[[flow]]
kind = "tcp"
from = "server"
to = "sta"
[[flow]]
kind = "ping"
from = "sta"
to = "server"
interval = "7 ms"
"#;
    let text = text("model", "airtime", "") + FLOWS + flows;
    let end = at_ms(500);
    let seen = |world: &World<Recorder>| (world.trace().trace_hash(), world.events());
    let mut at_once = recorded(&text);
    at_once.run_until(end);
    let mut by_event = recorded(&text);
    while let Some(next) = by_event.next_event().filter(|&next| next < end) {
        let before = by_event.events();
        by_event.advance(next);
        assert_eq!((by_event.now(), by_event.events() > before), (next, true));
    }
    by_event.run_until(end);
    let mut by_step = recorded(&text);
    for n in 0..3_333 {
        by_step.advance(Instant::ZERO + Duration::from_micros(150) * n);
        by_step.put_through();
    }
    by_step.run_until(end);
    assert_eq!((seen(&by_event), seen(&by_step)), (seen(&at_once), seen(&at_once)));
}

#[test]
fn a_default_route_leads_to_what_no_interface_has() {
    let mut world = recorded(&text("outside", "fq_codel", ", default_route = true"));
    let (elsewhere, far) = (world.elsewhere(), [192, 0, 2, 1]);
    assert_eq!(elsewhere, Addr(4));
    let there = ip(200, 1, 0, [STATION_IP, far]);
    let back = ip(200, 2, 0, [far, STATION_IP]);
    let _ = world.enter(&entering(&there, STATION, elsewhere, None)).expect("a good packet");
    let back = Entering { src: elsewhere, ..entering(&back, SERVER, Addr(STATION.0), None) };
    let _ = world.enter(&back).expect("a good packet");
    // What the uplink itself sends beyond has no way in the model.
    let lost = ip(200, 3, 0, [SERVER_IP, far]);
    let _ = world.enter(&entering(&lost, SERVER, elsewhere, None)).expect("a good packet");
    world.put_through();
    world.advance(at_ms(100));
    let mut at: Vec<_> = all_left(&mut world).iter().map(|(left, bytes)| (left.at, bytes[27])).collect();
    at.sort();
    assert_eq!(at, [(SERVER, 1), (STATION, 2)]);
    let (account, inside) = world.packet_account();
    let no_route: u64 = account.dropped.iter().map(|place| place[Reason::NoRoute as usize]).sum();
    assert_eq!((account.dropped_total(), no_route, inside), (1, 1, 0));
}

#[test]
fn a_driver_can_answer_for_a_modelled_host() {
    let mut world = recorded(&text("outside", "fq_codel", ""));
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

#[test]
fn what_cannot_come_in_is_refused() {
    let mut world = recorded(&text("outside", "fq_codel", ""));
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
    assert_eq!(world.packet_account().0.created, 0);
}

#[test]
fn the_summary_has_what_outside_hosts_sent_and_got() {
    let scenario = parse(&text("outside", "fq_codel", ""), &[]);
    let says = api::run_once(&scenario, SEED).expect_err("nobody drives it");
    assert!(says.starts_with("run 0: node.server.host: found \"outside\", and a driver must"), "{says}");
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
    // Where there are none, the summary says nothing of them.
    let modelled = common::run(&parse(&text("model", "fq_codel", ""), &[]), 0);
    assert!(!serde_json::to_string(&modelled).expect("JSON").contains("hosts"));
}

#[test]
fn a_capture_has_the_bytes() {
    let scenario = parse(&text("outside", "fq_codel", ""), &[]);
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
    // On the wire, at the server and at the access point as it was sent; on the air and at both radios with one hop less, per try.
    assert_eq!(times(&sent), 3);
    assert!(times(&passed) >= 3, "{}", times(&passed));
}

#[test]
fn what_has_no_effect_or_no_sense_is_an_error() {
    let says = |text: &str, sets: &[(&str, &str)]| {
        let sets: Vec<(String, String)> = sets.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
        scenario::parse(text, "doors.toml", &sets).expect_err("a mistake").to_string()
    };
    let outside = text("outside", "fq_codel", "");
    for (sets, found) in [
        (
            vec![("node.server.wake", "50 us")],
            "node.server.wake: found \"50 us\", which has no effect at an outside host",
        ),
        (
            vec![("node.server.sysctl.net.ipv4.tcp_sack", "0")],
            "tcp_sack: found 0, which has no effect at an outside host",
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
        let text = says(&outside, &sets);
        assert!(text.contains(found), "{text}");
    }
    let text = says(&(outside.clone() + FLOWS), &[]);
    assert!(text.contains("flow.0.from: found \"server\", which is an outside host"), "{text}");
    let text = says(&(outside.clone() + FLOWS), &[("node.server.host", "model")]);
    assert!(text.contains("flow.0.to: found \"sta\", which is an outside host"), "{text}");
    let test = "{ name = \"rrul\", from = \"server\", to = \"sta\" }";
    let text = says(&outside, &[("duration", "100 s"), ("test", test)]);
    assert!(text.contains("test.from: found \"server\""), "{text}");
    // What it passes on has bytes: no way for others' flows.
    let between = outside + FLOWS;
    let sets = [("node.server.host", "model"), ("node.sta.host", "model"), ("node.ap.host", "outside")];
    let text = says(&between, &sets);
    assert!(text.contains("no way leads from \"server\""), "{text}");
    parse(&text_of_qdisc(), &[]);
}

/// Of a kernel's settings the default discipline is the interfaces', which are modelled.
fn text_of_qdisc() -> String {
    text("outside", "fq_codel", "").replacen(
        "interface.eth0",
        "sysctl = { \"net.core.default_qdisc\" = \"fq_codel\" }\ninterface.eth0",
        1,
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Whatever comes in and whenever: each token ends once, what leaves has the bytes that came in, and nothing is left behind.
    #[test]
    fn all_that_comes_in_leaves_or_is_dropped(
        scheme in prop::sample::select(vec!["fifo", "fq_codel", "fq_mac", "airtime", "mac80211"]),
        batches in prop::collection::vec((0_u64..3_000, prop::collection::vec((any::<bool>(), 28_u32..2_000, 0_u8..4, any::<bool>()), 0..40)), 1..60),
    ) {
        let qdisc = ", qdisc = { kind = \"netem\", delay = \"1 ms\", jitter = \"1 ms\", loss = 0.05, duplicate = 0.05, limit = 60 }";
        let mut world = recorded(&text("outside", scheme, qdisc));
        let (mut sent, mut held, mut ended, mut left) = (Vec::new(), 0, Vec::new(), Vec::new());
        for (later, packets) in batches {
            world.advance(world.now() + Duration::from_micros(later));
            for (up, len, ecn, charged) in packets {
                let number = sent.len() as u32;
                let (at, to, ips) = match up {
                    true => (STATION, SERVER, [STATION_IP, SERVER_IP]),
                    false => (SERVER, STATION, [SERVER_IP, STATION_IP]),
                };
                let bytes = ip(len, number, ecn, ips);
                let _ = world.enter(&entering(&bytes, at, Addr(to.0), charged.then_some(number))).expect("a good packet");
                held += u32::from(charged);
                sent.push((to, bytes));
            }
            world.put_through();
            prop_assert_eq!(world.close(world.now()), Ok(()));
            left.append(&mut all_left(&mut world));
            ended.append(&mut all_ended(&mut world));
            prop_assert_eq!(world.close(world.now()), Ok(()));
        }
        while world.packet_account().1 > 0 {
            let next = world.next_event().expect("something is under way");
            prop_assert!(next < at_ms(20_000), "stuck");
            world.advance(next);
        }
        // The last report of a device may come later than its packets.
        world.advance(world.now() + Duration::from_millis(50));
        left.append(&mut all_left(&mut world));
        ended.append(&mut all_ended(&mut world));
        prop_assert_eq!(world.close(world.now()), Ok(()));
        prop_assert_eq!(world.packet_account().0.delivered, left.len() as u64);
        ended.sort_unstable();
        ended.dedup();
        prop_assert_eq!(ended.len(), held as usize);
        for (out, bytes) in left {
            let number = u32::from_be_bytes([24, 25, 26, 27].map(|at| bytes[at]));
            let (to, mut right) = sent[number as usize].clone();
            // A queue may set both ECN bits of a packet that has one.
            prop_assert!(out.tos == right[1] || (out.tos, right[1] > 0) == (3, true));
            write_back(&mut right, out.tos, 63);
            prop_assert_eq!((out.at, bytes), (to, right));
        }
    }
}
