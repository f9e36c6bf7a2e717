//! The cells of `docs/sojourn.md`, as computed by hand there.

use stillair_model::types::{
    Ac, Addr, ChannelId, ChannelUse, DevId, Duration, Fate, FlowId, IfId, Instant, NewPacket, PacketKind,
    Packets, PeerId, Pkt, PlaceId, RadioId, Reason, Sink, Step, TidWait, TraceEvent, TryStep, WireTimes,
};
use stillair_sim::recorder::{Direction, Sojourn, SojournWorld};

/// A cell and its time in us.
type Cell = (&'static str, &'static str, u64);

/// An access point (interface 0, device 0) with stations X (peer 0) and Y (peer 1), and a host with a wire
/// (interface 1). Flows 0 and 2 belong to X, flow 1 to Y.
struct Script {
    sojourn: Sojourn,
    packets: Packets,
    now: u64,
}

fn at(us: u64) -> Instant {
    Instant::from_nanos(us * 1_000)
}

impl Script {
    fn new() -> Self {
        let world = SojournWorld {
            measured: Instant::ZERO..Instant::NEVER,
            stations: vec![Some(0), Some(1), Some(0)],
            senders: vec![None; 3],
            by_due: vec![false; 3],
            devs: vec![Some(DevId(0)), None],
            channels: vec![ChannelId(0)],
            links: vec![vec![(0, Direction::Down), (1, Direction::Down)]],
        };
        Self { sojourn: Sojourn::new(world, 1).keeping_last(), packets: Packets::new(), now: 0 }
    }

    fn step(&mut self, us: u64, what: Step<'_>) {
        assert!(us >= self.now, "in order");
        self.now = us;
        self.sojourn.step(at(us), &self.packets, &what);
    }

    /// Queues a packet of a flow at an interface.
    fn queued(&mut self, us: u64, interface: u16, flow: u32, paced: Option<u64>) -> Pkt {
        let p = self.packets.create(NewPacket {
            now: at(us),
            flow: FlowId(flow),
            src: Addr(0),
            ..NewPacket::PLAIN
        });
        self.packets.get_mut(p).peer = PeerId(u16::from(flow == 1));
        self.step(us, Step::Queued { p, at: IfId(interface), queue: 0, paced: paced.map(at) });
        p
    }

    fn wired(&mut self, us: u64, p: Pkt, [begins, sent, arrives]: [u64; 3], line: Option<[u64; 2]>) {
        let line = line.map(|[begins, sent]| (at(begins), at(sent)));
        let times = WireTimes { begins: at(begins), sent: at(sent), line, arrives: at(arrives) };
        self.step(us, Step::Wired { p, from: IfId(1), times });
    }

    /// Pushes a packet to the access point's device directly.
    fn pushed(&mut self, us: u64, flow: u32) -> Pkt {
        let p = self.queued(us, 0, flow, None);
        self.step(us, Step::Pushed { p, dev: DevId(0) });
        p
    }

    fn used(&mut self, until: u64, what: ChannelUse, whose: Option<(u16, Pkt)>) {
        let packets: Vec<_> = whose.iter().map(|(_, p)| (*p, false)).collect();
        let whose = whose.map(|(peer, _)| (DevId(0), PeerId(peer)));
        self.step(
            until,
            Step::Used { channel: ChannelId(0), until: at(until), what, whose, packets: &packets },
        );
    }

    fn tried(&mut self, begun: u64, ended: u64, peer: u16, slow: u64, packets: &[(Pkt, bool)]) {
        let queue = (RadioId(0), Ac::Be.index());
        let slow = Duration::from_micros(slow);
        let (dev, peer) = (DevId(0), PeerId(peer));
        let tried = TryStep { channel: ChannelId(0), dev, peer, queue, begun: at(begun), slow, packets };
        self.step(ended, Step::Tried(tried));
    }

    /// Delivers the packet now and returns its cells.
    fn cells(&mut self, us: u64, p: Pkt) -> Vec<Cell> {
        self.step(us, Step::Up { p });
        self.step(us, Step::Delivered { p });
        assert_eq!(self.sojourn.problem(), None);
        let cells = self.sojourn.take_last().expect("it was followed").show();
        cells.into_iter().map(|(layer, cause, ns)| (layer, cause, ns / 1_000)).collect()
    }
}

#[test]
fn the_wire() {
    // 123.04 us count as 123. A ring of one packet: a is sent immediately, b and c wait above.
    for (g, q2) in [(1, "others"), (2, "station")] {
        let mut s = Script::new();
        let a = s.queued(0, 1, 0, None);
        s.wired(0, a, [0, 123, 1_123], None);
        let (b, c) = (s.queued(0, 1, g, None), s.queued(0, 1, 0, None));
        s.wired(123, b, [123, 246, 1_246], None);
        s.wired(246, c, [246, 369, 1_369], None);
        let wire = |mut cells: Vec<Cell>| {
            cells.extend([("wire", "serialise", 123), ("wire", "propagate", 1_000)]);
            cells
        };
        assert_eq!(s.cells(1_123, a), wire(vec![]));
        // b belongs to g: the cause that a is for b, b is for c.
        assert_eq!(s.cells(1_246, b), wire(vec![("qdisc", q2, 123)]));
        assert_eq!(s.cells(1_369, c), wire(vec![("qdisc", "own", 123), ("qdisc", q2, 123)]));
    }
}

#[test]
fn ring_modem_and_delaying_qdisc() {
    let mut s = Script::new();
    let (a, b, c) = (s.queued(0, 1, 0, None), s.queued(0, 1, 1, None), s.queued(0, 1, 0, None));
    s.wired(0, a, [0, 10, 20], None);
    s.wired(0, b, [10, 20, 30], None);
    s.wired(0, c, [20, 30, 40], None);
    assert_eq!(s.cells(20, a), [("wire", "serialise", 10), ("wire", "propagate", 10)]);
    assert_eq!(s.cells(30, b)[0], ("hardware", "others", 10));
    // Coalescing of 100 us.
    let rest = [("wire", "serialise", 10), ("wire", "propagate", 10), ("receiver", "wake", 100)];
    assert_eq!(
        s.cells(140, c),
        [[("hardware", "own", 10), ("hardware", "others", 10)].as_slice(), &rest].concat()
    );

    // The modem's line is ten times as slow as the wire before it.
    let mut s = Script::new();
    let (a, b) = (s.queued(0, 1, 0, None), s.queued(0, 1, 0, None));
    s.wired(0, a, [0, 10, 115], Some([10, 110]));
    s.wired(0, b, [10, 20, 215], Some([110, 210]));
    s.cells(115, a);
    let line = [("hardware", "own", 100), ("wire", "serialise", 110), ("wire", "propagate", 5)];
    assert_eq!(s.cells(215, b), line);

    // A shaper releases nothing until 1,230; meanwhile the wire carries a. After that, a late completion: no
    // effect.
    let mut s = Script::new();
    let a = s.queued(0, 1, 0, None);
    s.wired(0, a, [0, 123, 123], None);
    let held = |paces, until| Step::Held { at: IfId(1), queue: 0, paces, until: Some(at(until)) };
    s.step(0, held(false, 1_230));
    let b = s.queued(0, 1, 1, None);
    s.cells(123, a);
    s.wired(1_280, b, [1_280, 1_290, 1_290], None);
    assert_eq!(
        s.cells(1_290, b),
        [("qdisc", "idle", 50), ("qdisc", "shaper", 1_230), ("wire", "serialise", 10)]
    );

    // fq delays all flows, and then only this packet.
    s.step(2_000, held(true, 2_500));
    let c = s.queued(2_000, 1, 0, Some(4_000));
    s.wired(4_000, c, [4_000, 4_010, 4_010], None);
    assert_eq!(s.cells(4_010, c), [("qdisc", "pacing", 2_000), ("wire", "serialise", 10)]);
    s.step(5_000, held(true, 5_100));
    let d = s.queued(5_000, 1, 0, None);
    s.wired(5_100, d, [5_100, 5_110, 5_110], None);
    assert_eq!(s.cells(5_110, d)[0], ("qdisc", "pacing", 100));
}

#[test]
fn the_air() {
    let mut script = Script::new();
    let s = &mut script;
    let (p, q, r) = (s.pushed(0, 0), s.pushed(0, 0), s.pushed(0, 0));
    for p in [p, q] {
        s.step(0, Step::InHardware { p });
    }
    let y = s.pushed(1, 1);
    s.used(43, ChannelUse::Wanted, None);
    s.used(343, ChannelUse::Serves, Some((0, p)));
    s.tried(43, 343, 0, 0, &[(p, true)]);
    assert_eq!(s.cells(343, p), [("contention", "backoff", 43), ("air", "own", 300)]);
    s.step(343, Step::InHardware { p: r });
    s.used(404, ChannelUse::Wanted, None);
    s.used(504, ChannelUse::Management, None);
    s.used(547, ChannelUse::Wanted, None);
    s.used(847, ChannelUse::Failed, None);
    s.tried(547, 847, 0, 0, &[(q, false)]);
    s.used(890, ChannelUse::Wanted, None);
    s.used(1_190, ChannelUse::Serves, Some((0, q)));
    s.used(1_290, ChannelUse::Slow, None);
    s.tried(890, 1_290, 0, 100, &[(q, true)]);
    assert_eq!(
        s.cells(1_290, q),
        [
            ("hardware", "own", 300),
            ("hardware", "backoff", 43),
            ("contention", "management", 100),
            ("contention", "backoff", 61 + 43 + 43),
            ("tries", "failed", 300),
            ("air", "own", 300),
            ("air", "slow_rate", 100),
        ]
    );
    // r is second until 1,290 and then contends; Y's packet, from another radio, goes first.
    s.used(1_333, ChannelUse::Wanted, None);
    s.used(1_400, ChannelUse::Serves, Some((1, y)));
    s.used(1_450, ChannelUse::Neighbour, None);
    s.used(1_460, ChannelUse::Noise, None);
    s.used(1_503, ChannelUse::Wanted, None);
    s.used(1_803, ChannelUse::Serves, Some((0, r)));
    s.tried(1_503, 1_803, 0, 0, &[(r, true)]);
    assert_eq!(
        s.cells(1_803, r),
        [
            ("driver", "own", 300),
            ("driver", "backoff", 43),
            ("hardware", "own", 300),
            ("hardware", "management", 100),
            ("hardware", "failed", 300),
            ("hardware", "slow_rate", 100),
            ("hardware", "backoff", 61 + 43 + 43),
            ("contention", "others", 67),
            ("contention", "neighbour", 50),
            ("contention", "noise", 10),
            ("contention", "backoff", 43 + 43),
            ("air", "own", 300),
        ]
    );
    // Y's own packet has not been sent here yet; sending it shows what it waited for.
    s.step(1_803, Step::InHardware { p: y });
    s.used(1_846, ChannelUse::Wanted, None);
    s.used(1_900, ChannelUse::Serves, Some((1, y)));
    s.tried(1_846, 1_900, 1, 0, &[(y, true)]);
    let waited = s.cells(1_900, y);
    let others = waited.iter().find(|(_, cause, _)| *cause == "others");
    assert_eq!(others, Some(&("driver", "others", 300 + 300 + 300)));
    assert_eq!(waited.iter().find(|(l, c, _)| (*l, *c) == ("driver", "own")), Some(&("driver", "own", 67)));
}

#[test]
fn another_flow_of_the_same_station_above_the_device() {
    let mut s = Script::new();
    let q = s.queued(0, 0, 2, None);
    let p = s.pushed(0, 0);
    s.step(0, Step::InHardware { p });
    s.used(10, ChannelUse::Idle, None);
    s.used(53, ChannelUse::Wanted, None);
    s.used(353, ChannelUse::Serves, Some((0, p)));
    s.tried(53, 353, 0, 0, &[(p, true)]);
    s.step(353, Step::Pushed { p: q, dev: DevId(0) });
    s.step(353, Step::InHardware { p: q });
    s.used(396, ChannelUse::Wanted, None);
    s.used(496, ChannelUse::Serves, Some((0, q)));
    s.tried(396, 496, 0, 0, &[(q, true)]);
    let waited = [("qdisc", "station", 300), ("qdisc", "backoff", 43), ("qdisc", "idle", 10)];
    assert_eq!(
        s.cells(496, q),
        [waited.as_slice(), &[("contention", "backoff", 43), ("air", "own", 100)]].concat()
    );
}

#[test]
fn sleep_and_returned_frames() {
    let mut s = Script::new();
    let p = s.pushed(0, 0);
    s.step(0, Step::InHardware { p });
    s.used(10, ChannelUse::Management, None);
    s.step(10, Step::Sleeps { dev: DevId(0), peer: PeerId(0), held: true });
    s.step(10, Step::GivenBack { p });
    let q = s.pushed(12, 0);
    s.used(102, ChannelUse::Idle, None);
    s.step(102, Step::Sleeps { dev: DevId(0), peer: PeerId(0), held: false });
    for p in [p, q] {
        s.step(102, Step::InHardware { p });
    }
    s.used(145, ChannelUse::Wanted, None);
    s.used(245, ChannelUse::Serves, Some((0, p)));
    s.tried(145, 245, 0, 0, &[(p, true), (q, true)]);
    let rest = [("contention", "backoff", 43), ("air", "own", 100)];
    let first = [("driver", "power_save", 92), ("hardware", "management", 10)];
    assert_eq!(s.cells(245, p), [first.as_slice(), &rest].concat());
    assert_eq!(s.cells(245, q), [[("driver", "power_save", 90)].as_slice(), &rest].concat());
}

#[test]
fn a_negotiated_session_withholds_frames_whatever_the_channel_does() {
    let mut s = Script::new();
    let (dev, peer) = (DevId(0), PeerId(0));
    let withheld = |why| Step::Withheld { dev, peer, tid: 0, why };
    let p = s.pushed(0, 0);
    s.step(0, withheld(Some(TidWait::Session)));
    let other = s.pushed(0, 1);
    s.step(0, Step::InHardware { p: other });
    s.used(40, ChannelUse::Idle, None);
    s.used(140, ChannelUse::Serves, Some((1, other)));
    // A repeated reason changes nothing.
    s.step(140, withheld(Some(TidWait::Session)));
    s.used(150, ChannelUse::Idle, None);
    s.step(150, withheld(None));
    s.used(160, ChannelUse::Idle, None);
    s.step(160, Step::InHardware { p });
    s.used(203, ChannelUse::Wanted, None);
    s.used(303, ChannelUse::Serves, Some((0, p)));
    s.tried(203, 303, 0, 0, &[(p, true)]);
    assert_eq!(
        s.cells(303, p),
        [
            ("driver", "idle", 10),
            ("driver", "block_ack_session", 150),
            ("contention", "backoff", 43),
            ("air", "own", 100)
        ]
    );
}

#[test]
fn a_full_window_is_the_cause_of_idle_time_only() {
    let mut s = Script::new();
    let (dev, peer) = (DevId(0), PeerId(0));
    let p = s.pushed(0, 0);
    let other = s.pushed(0, 1);
    s.step(0, Step::InHardware { p: other });
    s.used(10, ChannelUse::Idle, None);
    s.step(10, Step::Withheld { dev, peer, tid: 0, why: Some(TidWait::Window) });
    // The state of the peer's other TIDs does not matter.
    s.step(10, Step::Withheld { dev, peer, tid: 5, why: Some(TidWait::Session) });
    s.used(30, ChannelUse::Idle, None);
    s.used(130, ChannelUse::Serves, Some((1, other)));
    s.used(150, ChannelUse::Idle, None);
    s.step(150, Step::Withheld { dev, peer, tid: 0, why: None });
    s.step(150, Step::InHardware { p });
    s.used(193, ChannelUse::Wanted, None);
    s.used(293, ChannelUse::Serves, Some((0, p)));
    s.tried(193, 293, 0, 0, &[(p, true)]);
    assert_eq!(
        s.cells(293, p),
        [
            ("driver", "others", 100),
            ("driver", "idle", 10),
            ("driver", "block_ack_window", 40),
            ("contention", "backoff", 43),
            ("air", "own", 100)
        ]
    );
}

#[test]
fn losses_of_a_flow_and_its_last_arrival() {
    let mut s = Script::new();
    for us in [10, 20, 30, 40] {
        let p = s.packets.create(NewPacket {
            now: at(us),
            kind: PacketKind::Voip,
            src: Addr(0),
            ..NewPacket::PLAIN
        });
        s.step(us, Step::Queued { p, at: IfId(1), queue: 0, paced: None });
        if us == 10 {
            let (seq, len, delay, src) = (0, 200, Duration::from_micros(5), Addr(0));
            let what =
                TraceEvent::Delivered { flow: FlowId(0), kind: PacketKind::Voip, seq, len, delay, src };
            s.sojourn.event(at(15), &what);
        } else if us < 40 {
            let (flow, reason, place) = (FlowId(0), Reason::Loss, PlaceId(0));
            s.sojourn.event(
                at(us + 1),
                &TraceEvent::Dropped { flow, seq: 1, sent: at(us), src: Addr(0), reason, place },
            );
        }
    }
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let report = s.sojourn.report(&names(&["call", "b", "c"]), &[], &[], &names(&["r.wan"]));
    let report = serde_json::to_value(report).expect("a report");
    assert_eq!(
        report["delivery"],
        serde_json::json!({ "call": {
            "sent": 4, "received": 1, "last_sent_ns": 40_000, "last_received_ns": 15_000, "sent_since": 3,
            "drops": [{ "place": "r.wan", "reason": "loss", "packets": 2 }],
        }})
    );
}

#[test]
fn order() {
    let mut s = Script::new();
    let frames = [0; 3].map(|_| s.pushed(0, 0));
    frames.iter().for_each(|&p| s.step(0, Step::InHardware { p }));
    s.used(5_000, ChannelUse::Serves, Some((0, frames[0])));
    let [one, two, three] = frames;
    s.tried(0, 5_000, 0, 0, &[(one, false), (two, true), (three, true)]);
    s.step(5_000, Step::InHardware { p: one });
    s.used(7_000, ChannelUse::Serves, Some((0, one)));
    s.tried(6_000, 7_000, 0, 0, &[(one, true)]);
    for p in [one, two, three] {
        s.step(7_000, Step::InOrder { p });
    }
    let tried = [("contention", "own", 1_000), ("tries", "failed", 5_000), ("air", "own", 1_000)];
    assert_eq!(s.cells(7_000, one), tried);
    assert_eq!(s.cells(7_000, two), [("air", "own", 5_000), ("reorder", "missing", 2_000)]);
    // The host is notified 300 us later.
    assert_eq!(s.cells(7_300, three)[2], ("receiver", "wake", 300));
}

#[test]
fn segments_copies_and_replies_inherit_earlier_stays() {
    let mut s = Script::new();
    let whole = s.queued(0, 1, 0, None);
    let segment = s.packets.duplicate(whole);
    s.step(50, Step::Copied { from: whole, to: segment });
    s.wired(50, segment, [50, 60, 60], None);
    s.wired(50, whole, [60, 70, 70], None);
    assert_eq!(s.cells(60, segment), [("qdisc", "idle", 50), ("wire", "serialise", 10)]);
    let last = [("qdisc", "idle", 50), ("hardware", "own", 10), ("wire", "serialise", 10)];
    assert_eq!(s.cells(70, whole), last);
}

#[test]
fn a_reply_in_the_slot_of_its_request_has_the_time_of_both() {
    let mut s = Script::new();
    let request = s.queued(0, 1, 0, None);
    s.wired(0, request, [0, 10, 20], None);
    s.step(20, Step::Up { p: request });
    // As in a host's reply: the request ends first, and its slot is free for the reply.
    s.packets.free(request, Fate::Consumed);
    let plain = NewPacket { now: at(0), flow: FlowId(0), src: Addr(0), ..NewPacket::PLAIN };
    let reply = s.packets.create(plain);
    assert_eq!(reply.slot(), request.slot());
    s.step(20, Step::Copied { from: request, to: reply });
    s.step(20, Step::Queued { p: reply, at: IfId(1), queue: 0, paced: None });
    s.wired(20, reply, [20, 30, 45], None);
    assert_eq!(s.cells(45, reply), [("wire", "serialise", 20), ("wire", "propagate", 25)]);
}

#[test]
fn inconsistent_sums_are_reported() {
    let mut s = Script::new();
    let p = s.queued(0, 1, 0, None);
    s.step(10, Step::Delivered { p });
    let says = s.sojourn.problem().expect("it was in a queue").to_owned();
    assert_eq!(says, "at 10000 ns: a packet of flow 0 (Queued) is delivered, though no stack has it");
}
