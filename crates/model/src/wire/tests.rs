use super::*;
use crate::sched::testing::{Bench, SOCK, TRUESIZE};
use crate::types::{Addr, FlowId, NewPacket, TcpHeader};
use alloc::vec::Vec;
use proptest::prelude::*;

fn us(n: u64) -> Instant {
    Instant::ZERO + Duration::from_micros(n)
}

fn wire(ring: u32) -> Wire {
    with(|e| e.ring = ring)
}

/// A wire of 100 Mbit/s and 250 us, with other parameters set by `change`.
fn with(change: impl FnOnce(&mut EthernetParams)) -> Wire {
    let mut params = EthernetParams {
        rate: Rate::from_mbps(100),
        delay: Duration::from_micros(250),
        ring: 256,
        bql: false,
        tx_usecs: Duration::from_micros(125),
        tx_frames: 0,
        rx_usecs: Duration::ZERO,
        rx_frames: 0,
        rx_gap: Duration::ZERO,
    };
    change(&mut params);
    Wire::new(WireParams::Ethernet(params), IfId(0), IfId(1))
}

#[test]
fn packets_follow_each_other_at_the_rate_and_arrive_after_the_delay() {
    let (mut w, mut b) = (wire(256), Bench::new());
    // 1462 and 38 bytes are 120 us at 100 Mbit/s; a short packet is padded to 46 and 38 bytes, 6.72 us.
    for len in [1462, 1462, 20] {
        let p = b.packet(len, len);
        w.push(us(1000), p, &mut b.ctx());
    }
    let mut arrivals = Vec::new();
    while let Some(at) = w.next_arrival() {
        assert!(w.arrive(Instant::from_nanos(at.nanos() - 1), &mut b.packets).is_none());
        let p = w.arrive(at, &mut b.packets).expect("it has arrived");
        arrivals.push((at.nanos(), b.finish(p)));
    }
    assert_eq!(arrivals, [(1_370_000, 1462), (1_490_000, 1462), (1_496_720, 20)]);
    // The ring holds the charges and ends those of all packets sent in one report.
    assert_eq!((b.uncharged(), w.charges().count()), (0, 3));
    assert_eq!(w.next_completion(), Some(us(1120 + 125)));
    assert!(!w.complete(us(1245), &mut b.ctx()));
    assert_eq!((b.uncharged(), w.charges().count()), (2, 1));
    assert_eq!(w.held(), 0);
}

/// Interrupts keep a minimum distance: a single arrival is passed up immediately, arrivals within the gap
/// together at its end.
#[test]
fn interrupts_keep_their_distance() {
    let gap = Duration::from_micros(300);
    let (mut w, mut b) = (with(|e| e.rx_gap = gap), Bench::new());
    // 120 us each: the last bits arrive at 370, 490, 610, 730, 850, and one at 2370.
    for at in [0, 0, 0, 0, 0, 2_000] {
        let p = b.packet(0, 1462);
        w.push(us(at), p, &mut b.ctx());
    }
    let mut seen = Vec::new();
    while let Some(at) = w.next_arrival() {
        let mut together = 0;
        while let Some(p) = w.arrive(at, &mut b.packets) {
            b.finish(p);
            together += 1;
        }
        seen.push((at.nanos() / 1_000, together));
    }
    assert_eq!(seen, [(370, 1), (670, 2), (970, 2), (2_370, 1)]);
}

#[test]
fn a_full_ring_stops_the_queue_and_a_quarter_free_wakes_it() {
    let (mut w, mut b) = (wire(8), Bench::new());
    for n in 0..8 {
        assert!(!w.is_stopped(), "after {n}");
        let p = b.packet(n, 1462);
        w.push(us(0), p, &mut b.ctx());
    }
    assert!(w.is_stopped());
    // Seven left, then six.
    assert!(!w.complete(us(120), &mut b.ctx()) && w.is_stopped());
    assert!(w.complete(us(240), &mut b.ctx()) && !w.is_stopped());
    assert!(!w.complete(us(360), &mut b.ctx()), "woken once");
}

/// A TCP packet of full segments, the last with `rest` bytes.
pub(super) fn tcp(b: &mut Bench, segs: u16, rest: u32) -> Pkt {
    let payload = u32::from(segs - 1) * 1448 + rest;
    let new = NewPacket {
        now: us(0),
        flow: FlowId(0),
        flow_hash: 0,
        len: payload + 52 * u32::from(segs),
        truesize: TRUESIZE,
        charge: SOCK,
        seq: 1,
        src: Addr(0),
        dst: Addr(1),
        tos: 0,
        kind: PacketKind::Tcp,
    };
    let header = TcpHeader { payload, mss: 1448, ..TcpHeader::blank(SockId(1)) };
    b.packets.create_tcp(new, segs, 0, &header)
}

#[test]
fn a_packet_of_several_segments_becomes_several_frames() {
    let (mut w, mut b) = (wire(256), Bench::new());
    let p = tcp(&mut b, 3, 1448);
    w.push(us(0), p, &mut b.ctx());
    assert_eq!((w.held(), w.charges().count()), (3, 1));
    let mut arrivals = Vec::new();
    while let Some(at) = w.next_arrival() {
        let p = w.arrive(at, &mut b.packets).expect("it has arrived");
        let hot = b.packets.get(p);
        // Each segment arrived in a buffer of its own.
        assert_eq!((hot.segs, hot.len, hot.truesize), (1, 1500, linear_truesize(1500)));
        arrivals.push((at.nanos(), b.finish(p)));
    }
    // 1,538 bytes at 100 Mbit/s are 123.04 us.
    assert_eq!(arrivals, [(373_040, 1), (496_080, 1449), (619_120, 2897)]);
    // The charge ends after the last segment.
    assert_eq!(w.next_completion(), Some(us(3 * 123_040 / 1000) + Duration::from_nanos(120 + 125_000)));
    w.complete(us(300), &mut b.ctx());
    assert_eq!(b.uncharged(), 0);
    w.complete(us(370), &mut b.ctx());
    assert_eq!((b.uncharged(), b.packets.live()), (1, 0));
}

#[test]
fn virtual_devices_pass_packets_whole_and_at_once() {
    let mut w = Wire::new(WireParams::Veth, IfId(0), IfId(1));
    let mut b = Bench::new();
    let p = tcp(&mut b, 40, 1448);
    w.push(us(7), p, &mut b.ctx());
    assert_eq!((w.is_stopped(), w.next_arrival(), w.next_completion()), (false, Some(us(7)), None));
    // The charge stays until the peer has the packet.
    assert_eq!((b.uncharged(), w.charges().count()), (0, 0));
    assert_eq!(w.arrive(us(7), &mut b.packets), Some(p));
    assert_eq!((b.packets.get(p).segs, b.uncharged()), (40, 1));
    assert_eq!(w.next_arrival(), None);
}

#[test]
fn coalescing_by_time_and_by_count() {
    // Frames of 120 us each.
    let times = |usecs, frames, arrivals: bool| {
        let mut w = with(|e| {
            let usecs = Duration::from_micros(usecs);
            if arrivals {
                (e.rx_usecs, e.rx_frames) = (usecs, frames);
            } else {
                (e.tx_usecs, e.tx_frames) = (usecs, frames);
            }
        });
        let mut b = Bench::new();
        for n in 0..7 {
            let p = b.packet(n, 1462);
            w.push(us(0), p, &mut b.ctx());
        }
        let mut out = Vec::new();
        while let Some(at) = if arrivals { w.next_arrival() } else { w.next_completion() } {
            let mut count = 0;
            if arrivals {
                while let Some(p) = w.arrive(at, &mut b.packets) {
                    b.finish(p);
                    count += 1;
                }
            } else {
                w.complete(at, &mut b.ctx());
                count = b.uncharged();
            }
            out.push((at.nanos() / 1000, count));
        }
        out
    };
    assert_eq!(times(0, 0, false)[..2], [(120, 1), (240, 1)]);
    assert_eq!(times(200, 0, false), [(320, 2), (560, 2), (800, 2), (1040, 1)]);
    // Three frames are 240 us apart; the rest waits for the timer.
    assert_eq!(times(1000, 3, false), [(360, 3), (720, 3), (1840, 1)]);
    assert_eq!(times(200, 3, false), [(320, 2), (560, 2), (800, 2), (1040, 1)]);
    // Arrivals are 250 us later.
    assert_eq!(times(0, 5, true)[..2], [(370, 1), (490, 1)]);
    assert_eq!(times(200, 0, true), [(570, 2), (810, 2), (1050, 2), (1290, 1)]);
    assert_eq!(times(1000, 3, true), [(610, 3), (970, 3), (2090, 1)]);
}

#[test]
fn byte_queue_limits_stop_the_queue_long_before_the_ring_does() {
    let mut w = with(|e| e.bql = true);
    let mut b = Bench::new();
    let (mut now, mut most, mut waits) = (us(0), 0, 0);
    for n in 0..20_000_u32 {
        while w.is_stopped() {
            now = w.next_completion().expect("a stopped queue is woken by a report");
            w.complete(now, &mut b.ctx());
            b.uncharged();
            waits += 1;
        }
        let p = b.packet(n, 1500);
        w.push(now, p, &mut b.ctx());
        if n > 10_000 {
            most = most.max(w.charges().count());
        }
        while let Some(p) = w.arrive(now, &mut b.packets) {
            b.finish(p);
        }
    }
    // A report every 125 us covers one packet or two.
    assert!(most <= 5 && waits > 5_000, "{most} packets, {waits} waits");
    // The wire was never idle: 20,000 packets of 123.04 us.
    assert!(w.busy_until.nanos() < 20_000 * 123_040 + 1_000_000, "{:?}", w.busy_until);
}

proptest! {
    /// Reports without a timer, handled before the next packet, leave the wire in the same state as reports
    /// by a timer. That includes reports at the same time, which a timer handles before the packet if its
    /// turn has passed, and after the packet if not.
    #[test]
    fn skipped_reports_leave_the_same_state(
        pushes in prop::collection::vec((0_u64..400, any::<bool>(), 60_u32..1500), 1..200),
        ring in 2_u32..12,
        bql in any::<bool>(),
        frames in 0_u32..4,
        passed in any::<bool>(),
    ) {
        let is_due = |at: Instant, now: Instant| at < now || at == now && passed;
        let made = || with(|e| (e.ring, e.bql, e.tx_frames) = (ring, bql, frames));
        let (mut timed, mut late) = (made(), made());
        let (mut b, mut c) = (Bench::new(), Bench::new());
        let mut now = us(0);
        for (n, (gap, charged, len)) in (0..).zip(pushes) {
            now += Duration::from_micros(gap);
            while let Some(at) = timed.next_report() && is_due(at, now) {
                timed.complete(at, &mut b.ctx());
            }
            while let Some(at) = late.next_completion() && is_due(at, now) {
                late.complete(at, &mut c.ctx());
            }
            late.catch_up(now, passed);
            prop_assert_eq!(timed.is_stopped(), late.is_stopped());
            prop_assert_eq!(timed.charges().count(), late.charges().count());
            prop_assert_eq!(b.uncharged(), c.uncharged());
            for (w, b) in [(&mut timed, &mut b), (&mut late, &mut c)] {
                while let Some(p) = w.arrive(now, &mut b.packets) {
                    b.finish(p);
                }
                if !w.is_stopped() {
                    let p = b.packet(n, len);
                    if !charged {
                        b.packets.orphan(p);
                    }
                    w.push(now, p, &mut b.ctx());
                }
                b.uncharged();
            }
        }
    }
}
