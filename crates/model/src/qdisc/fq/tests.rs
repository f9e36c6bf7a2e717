use alloc::vec;
use alloc::vec::Vec;
use proptest::prelude::*;

use super::*;
use crate::sched::testing::Bench;

const US: Duration = Duration::from_micros(1);

fn at(us: u64) -> Instant {
    Instant::ZERO + US * us
}

/// A packet of a local socket with departure time `us`.
fn stamped(b: &mut Bench, flow: u32, seq: u32, us: u64) -> Pkt {
    let p = b.packet_of(flow, seq, 1500);
    let hot = b.packets.get_mut(p);
    (hot.kind, hot.t_enqueue) = (PacketKind::Tcp, at(us));
    p
}

/// Enqueues one unstamped packet of each of these flows, numbered in order.
fn offer(q: &mut Fq, b: &mut Bench, now: Instant, flows: &[u32]) -> Vec<Enqueue> {
    let one = |(n, &flow): (usize, &u32)| {
        let p = b.packet_of(flow, n as u32, 1500);
        q.enqueue(now, p, &mut b.ctx())
    };
    flows.iter().enumerate().map(one).collect()
}

fn drain(q: &mut Fq, b: &mut Bench, now: Instant) -> Vec<u32> {
    core::iter::from_fn(|| q.dequeue(now, &mut b.ctx()).map(|p| b.finish(p))).collect()
}

/// Dequeues everything from now on, at the times that `next` returns. Returns time in us and number of each
/// packet.
fn play(q: &mut Fq, b: &mut Bench, mut now: Instant) -> Vec<(u64, u32)> {
    let mut out = Vec::new();
    loop {
        out.extend(drain(q, b, now).into_iter().map(|seq| ((now - Instant::ZERO).nanos() / 1000, seq)));
        let NextSend::At(then) = q.next(now) else { return out };
        now = then;
    }
}

#[test]
fn nothing_leaves_before_its_time() {
    let slack = Duration::ZERO;
    let (mut q, mut b) =
        (Fq::new(FqParams { timer_slack: slack, ..FqParams::default() }, PlaceId(1)), Bench::new());
    // Flow 1 departs at 0, 700 and 1400 us, flow 2 at 100 and 1400, flow 3 has no stamps.
    for (flow, seq, us) in [(1, 0, 0), (1, 1, 700), (1, 2, 1400), (2, 3, 100), (2, 4, 1400)] {
        let p = stamped(&mut b, flow, seq, us);
        assert_eq!(q.enqueue(at(0), p, &mut b.ctx()), Enqueue::Queued);
    }
    offer(&mut q, &mut b, at(0), &[9, 9]);
    assert_eq!(q.next(at(0)), NextSend::Now);
    assert_eq!(drain(&mut q, &mut b, at(0)), [0, 0, 1]);
    assert_eq!((q.next(at(0)), q.xstats().throttled_flows), (NextSend::At(at(100)), 2));
    assert_eq!(drain(&mut q, &mut b, at(99)), []);
    // If two flows are due at the same time, the one throttled first is served first.
    assert_eq!(play(&mut q, &mut b, at(99)), [(100, 3), (700, 1), (1400, 4), (1400, 2)]);
    assert_eq!((q.next(at(1400)), q.backlog()), (NextSend::Never, (0, 0)));
    let x = q.xstats();
    assert_eq!((x.throttled, x.throttled_flows, x.flows), (4, 0, 3));
}

#[test]
fn the_timer_fires_within_its_slack_and_an_earlier_dequeue_succeeds() {
    let (mut q, mut b) = (Fq::new(FqParams::default(), PlaceId(1)), Bench::new());
    for seq in 0..2 {
        let p = stamped(&mut b, 1, seq, 500);
        let _ = q.enqueue(at(0), p, &mut b.ctx());
    }
    assert_eq!(drain(&mut q, &mut b, at(0)), []);
    assert_eq!(q.next(at(0)), NextSend::At(at(510)));
    assert_eq!((q.next(at(505)), q.next(at(510))), (NextSend::At(at(510)), NextSend::Now));
    assert_eq!(drain(&mut q, &mut b, at(500)), [0, 1]);
    assert_eq!((q.xstats().latency, q.xstats().next_look), (Duration::ZERO, None));
}

#[test]
fn the_delay_of_throttled_flows_is_averaged() {
    let (mut q, mut b) = (Fq::new(FqParams::default(), PlaceId(1)), Bench::new());
    // Two flows released together count once, by the earlier: 80 us / 8, then 7/8 of that plus 16 us / 8.
    for (seq, (due, comes, latency)) in [(500, 580, 10_000), (1000, 1016, 10_750)].into_iter().enumerate() {
        for flow in 0..2 {
            let p = stamped(&mut b, flow, seq as u32, due + 10 * u64::from(flow));
            let _ = q.enqueue(at(due - 100), p, &mut b.ctx());
        }
        assert_eq!(drain(&mut q, &mut b, at(due - 100)), []);
        assert_eq!(q.xstats().next_look, Some(at(due + 10)));
        assert_eq!(drain(&mut q, &mut b, at(comes)).len(), 2);
        assert_eq!(q.xstats().latency, Duration::from_nanos(latency));
    }
}

#[test]
fn new_flows_get_ten_packets_and_rounds_have_two() {
    let (mut q, mut b) = (Fq::new(FqParams::default(), PlaceId(1)), Bench::new());
    let flows: Vec<u32> = [1; 15].into_iter().chain([2; 14]).collect();
    offer(&mut q, &mut b, at(0), &flows);
    let flow_of = |seq: u32| if seq < 15 { 1 } else { 2 };
    let mut turns: Vec<(u32, u32)> = Vec::new();
    for seq in drain(&mut q, &mut b, at(0)) {
        match turns.last_mut() {
            Some((flow, n)) if *flow == flow_of(seq) => *n += 1,
            _ => turns.push((flow_of(seq), 1)),
        }
    }
    // Two packets are exactly a quantum.
    assert_eq!(turns, [(1, 10), (2, 10), (1, 2), (2, 2), (1, 2), (2, 2), (1, 1)]);
    // A flow that has used up its credit gets the next quantum when it is found empty, and keeps the
    // remainder. A flow idle for longer than the refill delay has at least a quantum.
    let mut one = |us| {
        offer(&mut q, &mut b, at(us), &[2]);
        assert_eq!(drain(&mut q, &mut b, at(us)).len(), 1);
        // The flow is found empty when another one is served.
        offer(&mut q, &mut b, at(us), &[3]);
        drain(&mut q, &mut b, at(us));
        let m = q.flows.find((2, false), at(0), 0);
        q.flows.drr.deficit(m)
    };
    assert_eq!([1, 40_001, 80_002, 120_002].map(&mut one), [1514, 3028, 1514, 3028]);
}

#[test]
fn limits_of_a_flow_and_of_all() {
    let params = FqParams { limit: 5, flow_limit: 3, ..FqParams::default() };
    let (mut q, mut b) = (Fq::new(params, PlaceId(1)), Bench::new());
    let (yes, no) = (Enqueue::Queued, Enqueue::Dropped);
    let answers = offer(&mut q, &mut b, at(0), &[1, 1, 1, 1, 2, 2, 3]);
    assert_eq!(answers, [yes, yes, yes, no, yes, yes, no]);
    assert_eq!((q.backlog().0, q.stats().drops, q.xstats().flows_plimit), (5, 2, 1));
    // Hash bits outside the mask are ignored, except for local sockets.
    let params = FqParams { orphan_mask: 1, flow_limit: 1, ..FqParams::default() };
    let (mut q, mut b) = (Fq::new(params, PlaceId(1)), Bench::new());
    assert_eq!(offer(&mut q, &mut b, at(0), &[2, 4, 3]), [yes, no, yes]);
    for flow in [2, 4] {
        let p = stamped(&mut b, flow, 0, 0);
        assert_eq!(q.enqueue(at(0), p, &mut b.ctx()), yes);
    }
}

#[test]
fn beyond_the_horizon() {
    for (horizon_drop, answer, out) in
        [(true, Enqueue::Dropped, vec![]), (false, Enqueue::Queued, vec![(300, 0)])]
    {
        let params =
            FqParams { horizon: US * 300, horizon_drop, timer_slack: Duration::ZERO, ..FqParams::default() };
        let (mut q, mut b) = (Fq::new(params, PlaceId(1)), Bench::new());
        let p = stamped(&mut b, 1, 0, 301);
        assert_eq!(q.enqueue(at(0), p, &mut b.ctx()), answer);
        assert_eq!(play(&mut q, &mut b, at(0)), out);
        assert_eq!(
            (q.xstats().horizon_drops, q.xstats().horizon_caps),
            (u64::from(horizon_drop), u64::from(!horizon_drop))
        );
    }
}

#[test]
fn control_packets_come_first_and_late_packets_are_marked() {
    let params = FqParams { ce_threshold: US * 50, ..FqParams::default() };
    let (mut q, mut b) = (Fq::new(params, PlaceId(1)), Bench::new());
    for (seq, prio, tos) in [(0, 0, 2), (1, PRIO_CONTROL, 2), (2, 0, 0)] {
        let p = b.packet_of(seq, seq, 1500);
        (b.packets.get_mut(p).prio, b.packets.get_mut(p).tos) = (prio, tos);
        let _ = q.enqueue(at(0), p, &mut b.ctx());
    }
    let out: Vec<_> = core::iter::from_fn(|| q.dequeue(at(51), &mut b.ctx())).collect();
    let seen: Vec<_> = out.iter().map(|&p| (b.packets.get(p).seq, b.packets.get(p).tos)).collect();
    assert_eq!(seen, [(1, 2), (0, 3), (2, 0)]);
    assert_eq!((q.xstats().ce_mark, q.xstats().highprio), (2, 1));
}

#[test]
fn a_rate_for_each_flow() {
    // 12.112 Mbit/s: a full packet per millisecond.
    let maxrate = Some(Rate::from_bps(12_112_000));
    let params = FqParams { maxrate, timer_slack: Duration::ZERO, ..FqParams::default() };
    // Without stamps, ten packets leave at once, then a quantum (two packets) every 2 ms.
    let (mut q, mut b) = (Fq::new(params, PlaceId(1)), Bench::new());
    offer(&mut q, &mut b, at(0), &[1; 15]);
    let times: Vec<_> = play(&mut q, &mut b, at(0)).into_iter().map(|(us, _)| us).collect();
    assert_eq!(times, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2000, 2000, 4000, 4000, 6000]);
    // With stamps, each packet waits for its predecessor and for its own time.
    let (mut q, mut b) = (Fq::new(params, PlaceId(1)), Bench::new());
    for (seq, us) in [(0, 0), (1, 0), (2, 100), (3, 5000), (4, 5000)] {
        let p = stamped(&mut b, 1, seq, us);
        let _ = q.enqueue(at(0), p, &mut b.ctx());
    }
    assert_eq!(play(&mut q, &mut b, at(0)), [(0, 0), (1000, 1), (2000, 2), (5000, 3), (6000, 4)]);
    // At or below the threshold there is no credit: packet by packet. A gap is at most a second.
    let params = FqParams { maxrate: Some(Rate::from_bps(500_000)), ..params };
    let (mut q, mut b) = (Fq::new(params, PlaceId(1)), Bench::new());
    offer(&mut q, &mut b, at(0), &[1, 1, 1]);
    assert_eq!(play(&mut q, &mut b, at(0)), [(0, 0), (24_224, 1), (48_448, 2)]);
    let params = FqParams { maxrate: Some(Rate::from_bps(8_000)), ..params };
    let (mut q, mut b) = (Fq::new(params, PlaceId(1)), Bench::new());
    offer(&mut q, &mut b, at(0), &[1, 1]);
    assert_eq!(play(&mut q, &mut b, at(0)), [(0, 0), (1_000_000, 1)]);
    assert_eq!(q.xstats().pkts_too_long, 2);
    // Without pacing, nothing waits.
    let (mut q, mut b) = (Fq::new(FqParams { pacing: false, ..params }, PlaceId(1)), Bench::new());
    offer(&mut q, &mut b, at(0), &[1; 15]);
    assert_eq!(drain(&mut q, &mut b, at(0)).len(), 15);
}

#[test]
fn a_late_packet_makes_up_for_half_a_gap() {
    let maxrate = Some(Rate::from_bps(12_112_000));
    let (mut q, mut b) = (Fq::new(FqParams { maxrate, ..FqParams::default() }, PlaceId(1)), Bench::new());
    for seq in 0..4 {
        let p = stamped(&mut b, 1, seq, 1);
        let _ = q.enqueue(at(1), p, &mut b.ctx());
    }
    // Dequeued at these times: due at 1001; then at 2001 - 300, as the one before left 300 late; then at 1701
    // + 500, at the earliest.
    let asked = [1, 1301, 2000, 2001, 2600, 2601];
    let got: Vec<_> = asked.iter().map(|&us| drain(&mut q, &mut b, at(us)).len()).collect();
    assert_eq!(got, [1, 1, 0, 1, 0, 0]);
    assert_eq!(drain(&mut q, &mut b, at(3001)).len(), 1);
}

#[test]
fn idle_flows_are_collected_when_there_are_many() {
    let (mut q, mut b) = (Fq::new(FqParams { buckets: 2, ..FqParams::default() }, PlaceId(1)), Bench::new());
    let used = |q: &mut Fq, b: &mut Bench, us: u64, flow: u32| {
        offer(q, b, at(us), &[flow]);
        assert_eq!(drain(q, b, at(us)).len(), 1);
        (q.xstats().flows, q.xstats().gc)
    };
    for flow in 0..3 {
        assert_eq!(used(&mut q, &mut b, 0, 2 * flow), (flow + 1, 0));
    }
    assert_eq!(used(&mut q, &mut b, 1_000_000, 1), (4, 0));
    // Four flows are twice the buckets. A flow is collected more than three seconds after it was found empty,
    // which happens when the next flow is served.
    assert_eq!(used(&mut q, &mut b, 3_000_000, 8), (5, 0));
    assert_eq!(used(&mut q, &mut b, 3_000_001, 10), (4, 2));
    assert_eq!((q.xstats().inactive, q.backlog()), (3, (0, 0)));
    // Only the bucket that is searched is cleaned.
    assert_eq!(used(&mut q, &mut b, 9_000_000, 3), (4, 3));
    assert_eq!(used(&mut q, &mut b, 9_000_000, 3), (4, 3));
    // A flow still in the table has kept its credit.
    let mut credit = |flow| {
        let m = q.flows.find((flow, false), at(0), 0);
        q.flows.drr.deficit(m)
    };
    assert_eq!([3, 4, 1].map(&mut credit), [15_140 - 2 * 1514, 15_140 - 1514, 0]);
}

proptest! {
    /// All stamped packets leave in the order of their flow, none before its time, and none later than the
    /// timer slack if `dequeue` is called at the times that `next` returns.
    #[test]
    fn departures_are_kept(ops in prop::collection::vec((0u32..6, 0u64..400, 0u64..900), 1..200)) {
        let (mut q, mut b) = (Fq::new(FqParams::default(), PlaceId(1)), Bench::new());
        let (mut now, mut next) = (at(0), [at(0); 6]);
        let mut due = Vec::new();
        let mut seen = [0; 6];
        let mut left = 0;
        let mut step = |q: &mut Fq, b: &mut Bench, now: Instant, due: &[(u32, Instant)]| {
            while let Some(p) = q.dequeue(now, &mut b.ctx()) {
                let seq = b.finish(p);
                let (flow, when) = due[seq as usize];
                prop_assert!(when <= now && now <= when + US * 10, "{when:?} {now:?}");
                prop_assert!(seen[flow as usize] <= seq);
                seen[flow as usize] = seq;
                left += 1;
            }
            Ok(())
        };
        for (flow, wait, gap) in ops {
            // Dequeue at every time that `next` returns.
            let then = now + US * wait;
            while let NextSend::At(at) = q.next(now) && at <= then {
                now = at;
                step(&mut q, &mut b, now, &due)?;
            }
            now = then;
            let when = next[flow as usize].max(now);
            next[flow as usize] = when + US * gap;
            let p = stamped(&mut b, flow, due.len() as u32, 0);
            b.packets.get_mut(p).t_enqueue = when;
            due.push((flow, when));
            prop_assert_eq!(q.enqueue(now, p, &mut b.ctx()), Enqueue::Queued);
            step(&mut q, &mut b, now, &due)?;
        }
        while let NextSend::At(at) = q.next(now) {
            now = at;
            step(&mut q, &mut b, now, &due)?;
        }
        prop_assert_eq!(left, due.len());
    }
}
