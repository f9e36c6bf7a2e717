//! Packets of external hosts take the same paths as modelled packets, their bytes leave unchanged, and none
//! is lost track of.

mod common;

use common::external::{
    FLOWS, SEED, SERVER, SERVER_IP, STATION, STATION_IP, all_ended, all_left, at_ms, entering, ip, recorded,
    text,
};
use common::parse;
use proptest::prelude::*;
use stillair_model::types::{
    Addr, Duration, FlowId, FrameView, Headers, IfId, Instant, PacketKind, Sink, Tee, TraceEvent,
    linear_truesize, write_back,
};
use stillair_sim::recorder::Recorder;
use stillair_sim::world::{Entering, Refused, World, wire};

/// A packet as sent.
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

/// Events, without kinds and flow numbers, and packets as first captured below their host.
#[derive(Debug, Default)]
struct Log {
    events: Vec<(Instant, String)>,
    sent: Vec<Sent>,
}

impl Sink for Log {
    const FRAMES: bool = true;

    fn event(&mut self, now: Instant, what: &TraceEvent) {
        let mut what = *what;
        match &mut what {
            TraceEvent::Delivered { flow, kind, .. } => (*flow, *kind) = (FlowId(0), PacketKind::Udp),
            TraceEvent::Dropped { flow, .. } => *flow = FlowId(0),
            _ => {}
        }
        self.events.push((now, format!("{what:?}")));
    }

    fn frame(&mut self, _: Instant, what: &FrameView<'_>) {
        match what {
            FrameView::Sent(wire, headers) if wire.0 == 0 => self.see(headers.headers()),
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

#[test]
fn external_packets_take_the_path_of_modelled_ones() {
    for scheme in ["fq_codel", "airtime", "mac80211"] {
        let end = at_ms(1_000);
        let modelled = parse(&(text("model", scheme, "") + FLOWS), &[]);
        let mut world = wire(&modelled, SEED, |recorder| Tee(recorder, Log::default())).world;
        world.run_until(end);
        world.close(end).expect("accounts close");
        let Log { events, mut sent } = world.into_trace().1;
        sent.sort();
        sent.dedup();

        let external = parse(&text("external", scheme, ""), &[]);
        let mut world = wire(&external, SEED, |recorder| Tee(recorder, Log::default())).world;
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

        let (account, _) = world.books().packet_account();
        assert_eq!((account.created, account.delivered), (sent.len() as u64, left.len() as u64));
        assert!(account.dropped_total() > 10, "the station's path is full: {account:?}");
        let Log { events: again, .. } = world.into_trace().1;
        let differ = events.iter().zip(&again).find(|(a, b)| a != b);
        assert_eq!((differ, events.len()), (None, again.len()), "{scheme}");
        // Each token ends at most once, and only tokens of packets in flight have not ended.
        let n = ended.len();
        ended.sort_unstable();
        ended.dedup();
        assert!(ended.len() == n && n <= sent.len() && n >= left.len(), "{n} of {}", sent.len());
        // An aggregate arrives as a batch, and packets on a wire one by one.
        let together = |at: IfId| left.iter().filter(|(l, _)| l.at == at && l.together).count();
        assert!(together(STATION) > 100 && together(SERVER) == 0);
        assert!(left.iter().all(|(l, bytes)| (l.ttl, bytes[8]) == (63, 63)));
    }
}

#[test]
fn bytes_leave_with_their_tos_and_ttl() {
    let mut world = recorded(&text("external", "fq_codel", ""));
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
    // UDP: each packet has 28 bytes of headers. Each packet counts for both hosts, and once in the total.
    let (payload, bytes) = (world.books().external_payload(), (marked + plain) * (1_500 - 28));
    assert_eq!((&payload.by_host[..], payload.total), (&[bytes, bytes][..], bytes));
    world.close(world.now()).expect("accounts close");
}

#[test]
fn a_drop_and_a_duplicate_end_a_token_once() {
    let netem = ", qdisc = { kind = \"netem\", delay = \"2 ms\", loss = 0.2, duplicate = 0.3 }";
    let mut world = recorded(&text("external", "fq_codel", netem));
    let (mut ended, mut left) = (Vec::new(), 0);
    for token in 0..500 {
        world.advance(at_ms(u64::from(token)));
        let bytes = ip(100, token, 0, [SERVER_IP, STATION_IP]);
        let _ = world.enter(&entering(&bytes, SERVER, Addr(STATION.0), Some(token))).expect("a good packet");
        let again = world.enter(&entering(&bytes, SERVER, Addr(STATION.0), Some(token)));
        let free = all_ended(&mut world);
        // The charge of a packet lost in netem ends immediately; a token stays in use until its end has been
        // read.
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
    let (account, inside) = world.books().packet_account();
    assert_eq!((account.delivered, inside), (left, 0));
    assert!(account.created > 550 && account.dropped_total() > 50, "{account:?}");
    ended.sort_unstable();
    assert_eq!(ended, (0..500).collect::<Vec<_>>());
}

#[test]
fn tokens_are_read_in_the_order_of_their_ends() {
    let mut world = recorded(&text("external", "fq_codel", ""));
    for token in [5, 9, 1, 7] {
        let bytes = ip(1_000, token, 0, [SERVER_IP, STATION_IP]);
        let _ = world.enter(&entering(&bytes, SERVER, Addr(STATION.0), Some(token))).expect("a good packet");
    }
    world.put_through();
    world.advance(at_ms(1));
    // One completion of the device for all packets, or several: in ring order.
    assert_eq!(all_ended(&mut world), [5, 9, 1, 7]);
}

#[test]
fn run_event_by_event_equals_a_single_run() {
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// For any packets at any times: each token ends once, packets leave with the bytes that entered, and
    /// nothing is left behind.
    #[test]
    fn every_entered_packet_leaves_or_is_dropped(
        scheme in prop::sample::select(vec!["fifo", "fq_codel", "fq_mac", "airtime", "mac80211"]),
        batches in prop::collection::vec((0_u64..3_000, prop::collection::vec((any::<bool>(), 28_u32..2_000, 0_u8..4, any::<bool>()), 0..40)), 1..60),
    ) {
        let qdisc = ", qdisc = { kind = \"netem\", delay = \"1 ms\", jitter = \"1 ms\", loss = 0.05, duplicate = 0.05, limit = 60 }";
        let mut world = recorded(&text("external", scheme, qdisc));
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
        while world.books().packet_account().1 > 0 {
            let next = world.next_event().expect("something is under way");
            prop_assert!(next < at_ms(20_000), "stuck");
            world.advance(next);
        }
        // The last completion of a device may be later than its packets.
        world.advance(world.now() + Duration::from_millis(50));
        left.append(&mut all_left(&mut world));
        ended.append(&mut all_ended(&mut world));
        prop_assert_eq!(world.close(world.now()), Ok(()));
        prop_assert_eq!(world.books().packet_account().0.delivered, left.len() as u64);
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
