use alloc::vec::Vec;
use proptest::prelude::*;

use super::*;
use crate::sched::testing::{Bench, TRUESIZE};
use crate::types::{Addr, Ip, Seed};

const RATE: Rate = Rate::from_mbps(20);
/// Transmission time of a full packet at the shaper's rate, in ns.
const FULL: u64 = 605_600;

fn at(ns: u64) -> Instant {
    Instant::from_nanos(ns)
}

fn cake(params: CakeParams) -> Cake {
    Cake::new(params, PlaceId(1), &mut Seed { seed: 3, run: 1 }.stream("cake"))
}

fn shaped() -> CakeParams {
    CakeParams { bandwidth: Some(RATE), ..CakeParams::default() }
}

fn offer(
    q: &mut Cake,
    b: &mut Bench,
    now: Instant,
    flow: u32,
    change: impl FnOnce(&mut crate::types::Packet),
) {
    let p = b.packet_of(flow.wrapping_mul(0x9e37_79b9), flow, 1500);
    change(b.packets.get_mut(p));
    let _ = q.enqueue(now, p, &mut b.ctx());
}

/// Dequeues packets as soon as they may leave, until `until`. Calls `each` for every packet; `each` may
/// enqueue more.
fn serve(
    q: &mut Cake,
    b: &mut Bench,
    from: Instant,
    until: Instant,
    mut each: impl FnMut(&mut Cake, &mut Bench, Instant, Pkt),
) {
    let mut now = from;
    loop {
        match q.next(now) {
            NextSend::Never => return,
            NextSend::At(then) => now = then,
            NextSend::Now => {
                if let Some(p) = q.dequeue(now, &mut b.ctx()) {
                    each(q, b, now, p);
                }
            }
        }
        if now >= until {
            return;
        }
    }
}

#[test]
fn code_points_select_their_tins() {
    // CS0 to CS7, LE, TOS throughput and delay, AF11, AF22, AF33, AF41, VA, EF, an unassigned one.
    const POINTS: [u8; 18] = [0, 8, 16, 24, 32, 40, 48, 56, 1, 2, 4, 10, 20, 30, 34, 44, 46, 63];
    for (tins, want) in [
        (Tins::Besteffort, [0; 18]),
        (Tins::Precedence, [0, 1, 2, 3, 4, 5, 6, 7, 0, 0, 0, 1, 2, 3, 4, 5, 5, 7]),
        (Tins::Diffserv3, [0, 1, 0, 0, 0, 0, 2, 2, 1, 0, 2, 0, 0, 0, 0, 2, 2, 0]),
        (Tins::Diffserv4, [0, 1, 2, 2, 3, 3, 3, 3, 1, 0, 2, 0, 2, 2, 2, 3, 3, 0]),
        (Tins::Diffserv8, [2, 1, 5, 3, 6, 6, 7, 7, 0, 1, 4, 1, 4, 3, 3, 6, 6, 2]),
    ] {
        assert_eq!(POINTS.map(|point| tins.table()[usize::from(point)]), want, "{tins:?}");
        assert!(tins.table().iter().all(|&n| usize::from(n) < tins.count()));
    }
}

#[test]
fn tins_have_their_thresholds_targets_and_quanta() {
    let rows = |params| {
        let row = |t: &CakeTinStats| {
            let threshold = t.threshold_rate.map_or(0, |r| r.bps() / 1000);
            (threshold, t.target.nanos() / 1000, t.interval.nanos() / 1000, t.flow_quantum)
        };
        cake(params).xstats().tins.iter().map(row).collect::<Vec<_>>()
    };
    // In kbit/s, us and bytes, as in `tc -s`: bulk first.
    assert_eq!(
        rows(shaped()),
        [(1250, 14_534, 109_534, 300), (20_000, 5000, 100_000, 610), (5000, 5000, 100_000, 300)]
    );
    assert_eq!(
        rows(CakeParams { tins: Tins::Diffserv4, bandwidth: Some(Rate::from_mbps(100)), ..shaped() }),
        [
            (6250, 5000, 100_000, 300),
            (100_000, 5000, 100_000, 1514),
            (50_000, 5000, 100_000, 1514),
            (25_000, 5000, 100_000, 762),
        ]
    );
    let eight = rows(CakeParams { tins: Tins::Diffserv8, bandwidth: Some(Rate::from_mbps(8)), ..shaped() });
    assert_eq!(
        eight.iter().map(|r| r.0).collect::<Vec<_>>(),
        [8000, 7000, 6125, 5359, 4689, 4103, 3590, 3141]
    );
    assert_eq!(rows(CakeParams::default()), [(0, 5000, 100_000, 1514); 3]);
    let slow = CakeParams { bandwidth: Some(Rate::from_bps(100_000)), tins: Tins::Besteffort, ..shaped() };
    assert_eq!(rows(slow), [(100, 181_680, 363_360, 300)]);
    assert_eq!(CakeParams::target_of(Duration::from_millis(20)), Duration::from_millis(1));
    assert_eq!(CakeParams::target_of(Duration::from_micros(19)), Duration::from_micros(1));
}

#[test]
fn memory_follows_rate_and_interval() {
    for (params, want) in [
        (CakeParams::default(), 15_503_360),
        (shaped(), 4 << 20),
        (CakeParams { bandwidth: Some(Rate::from_mbps(200)), ..shaped() }, 10_000_000),
        (CakeParams { bandwidth: Some(Rate::from_mbps(1000)), ..shaped() }, 15_503_360),
        (CakeParams { memlimit: Some(100_000), ..shaped() }, 100_000),
        (CakeParams { memlimit: Some(32 << 20), ..CakeParams::default() }, 32 << 20),
    ] {
        assert_eq!(cake(params).xstats().memory_limit, want);
    }
}

#[test]
fn framing_counts_the_bytes_on_the_link() {
    let raw = Framing::RAW;
    let atm = |overhead| Framing { overhead: Some(overhead), cells: Cells::Atm, mpu: 0 };
    // A full packet and 40 bytes of IP, with their Ethernet headers.
    for (framing, full, small) in [
        (raw, (1514, 1514), (54, 54)),
        (Framing { overhead: Some(0), ..raw }, (1500, 1500), (40, 40)),
        (Framing { overhead: Some(18), mpu: 64, ..raw }, (1500, 1518), (40, 64)),
        (Framing { overhead: Some(38), mpu: 84, ..raw }, (1500, 1538), (40, 84)),
        (atm(48), (1500, 1749), (40, 106)),
        (atm(-8), (1500, 1696), (40, 53)),
        (Framing { overhead: Some(30), cells: Cells::Ptm, mpu: 0 }, (1500, 1554), (40, 72)),
    ] {
        assert_eq!((framing.sizes(1514), framing.sizes(54)), (full, small), "{framing:?}");
    }
}

#[test]
fn the_shaper_spaces_packets_by_their_transmission_time() {
    for (framing, gap) in
        [(Framing::RAW, FULL), (Framing { overhead: Some(48), cells: Cells::Atm, mpu: 0 }, 1749 * 400)]
    {
        let (mut q, mut b) = (cake(CakeParams { framing, ..shaped() }), Bench::new());
        // A long idle time earns no credit.
        let start = at(5_000_000_000);
        for flow in 0..5 {
            offer(&mut q, &mut b, start, flow, |_| {});
        }
        let mut times = Vec::new();
        serve(&mut q, &mut b, start, Instant::NEVER, |_, b, now, p| {
            times.push((now - start).nanos());
            b.finish(p);
        });
        assert_eq!(times, [0, gap, 2 * gap, 3 * gap, 4 * gap]);
        // A packet that arrives before the previous one has been paid for waits.
        let early = start + Duration::from_nanos(4 * gap + 1);
        offer(&mut q, &mut b, early, 1, |_| {});
        assert_eq!(q.next(early), NextSend::At(start + Duration::from_nanos(5 * gap)));
        assert_eq!((q.dequeue(early, &mut b.ctx()), q.stats().overlimits), (None, 2));
    }
}

#[test]
fn segments_are_split_and_counted_one_by_one() {
    for split_gso in [true, false] {
        let (mut q, mut b) = (cake(CakeParams { split_gso, ..shaped() }), Bench::new());
        let p = b.packet(9, 3000);
        b.packets.get_mut(p).segs = 2;
        let _ = q.enqueue(at(0), p, &mut b.ctx());
        let n = if split_gso { 2 } else { 1 };
        assert_eq!(q.backlog(), (n, 3028));
        let mut left = Vec::new();
        serve(&mut q, &mut b, at(0), Instant::NEVER, |_, b, now, p| {
            left.push((now.nanos(), b.uncharged()));
            b.finish(p);
        });
        assert_eq!(left.len() as u32, n);
        assert_eq!(b.uncharged(), 1);
        assert_eq!((q.stats().packets, q.stats().bytes, q.time_next), (2, 3028, at(2 * FULL)));
        let stats = q.xstats();
        assert_eq!((stats.network_size, stats.tins[1].max_pkt_len), (Span { min: 1514, max: 1514 }, 3028));
    }
}

#[test]
fn a_sparse_flow_waits_for_one_packet() {
    let (mut q, mut b) = (cake(shaped()), Bench::new());
    for n in 0..400 {
        offer(&mut q, &mut b, at(0), n % 8, |_| {});
    }
    let mut worst = 0;
    let mut next_ping = 0;
    serve(&mut q, &mut b, at(0), at(200_000_000), |q, b, now, p| {
        let hot = b.packets.get(p);
        // All flows are new at first.
        if hot.seq == 99 && hot.t_enqueue > at(20_000_000) {
            worst = worst.max((now - hot.t_enqueue).nanos());
        }
        b.finish(p);
        if now >= at(next_ping) {
            next_ping += 10_000_000;
            offer(q, b, now, 99, |hot| hot.len = 84);
        }
    });
    assert_eq!(worst, FULL);
}

/// Shares in percent of the packets that left in ten seconds, by source: eight flows of host 0 against one of
/// host 1.
fn shares(isolation: Isolation, by_destination: bool) -> [u64; 2] {
    let (mut q, mut b) = (cake(CakeParams { isolation, ..shaped() }), Bench::new());
    let host = |flow: u32| Addr(u16::from(flow == 8));
    let again = |q: &mut Cake, b: &mut Bench, now, flow| {
        offer(q, b, now, flow, |hot| {
            let (one, other) = (host(flow), Addr(7));
            (hot.src, hot.dst) = if by_destination { (other, one) } else { (one, other) };
        });
    };
    // Every flow always has two packets queued, so no AQM acts.
    for n in 0..18 {
        again(&mut q, &mut b, at(0), n % 9);
    }
    let mut left = [0_u64; 2];
    serve(&mut q, &mut b, at(0), at(10_000_000_000), |q, b, now, p| {
        let flow = b.packets.get(p).seq;
        left[usize::from(host(flow).0)] += 1;
        b.finish(p);
        again(q, b, now, flow);
    });
    left.map(|n| (200 * n / (left[0] + left[1])).div_ceil(2))
}

#[test]
fn isolation_modes_give_hosts_equal_shares() {
    use Isolation::*;
    for (isolation, by_destination, want) in [
        (Flows, false, [89, 11]),
        (DualSrchost, false, [50, 50]),
        (DualSrchost, true, [89, 11]),
        (DualDsthost, true, [50, 50]),
        (DualDsthost, false, [89, 11]),
        // All nine flows share the other host, which is busier than either and makes them equal.
        (TripleIsolate, false, [89, 11]),
        (Srchost, false, [50, 50]),
        (Hosts, true, [50, 50]),
    ] {
        assert_eq!(shares(isolation, by_destination), want, "{isolation:?} {by_destination}");
    }
}

/// Behind a masquerading router all hosts look like one, unless `nat` is on. IPv6 is not affected.
// linux: net/sched/sch_cake.c cake_update_flowkeys (6.1).
#[test]
fn a_masquerading_router_hides_hosts() {
    use Isolation::*;
    let apart = |isolation, masquerade, nat, ip| {
        let q = cake(CakeParams { isolation, masquerade, nat, ..shaped() });
        let mut b = Bench::new();
        let keys = [1, 2].map(|host| {
            let p = b.packet(host, 1500);
            let hot = b.packets.get_mut(p);
            let (one, other) = (Addr(host as u16).of(ip), Addr(7).of(ip));
            let leaves = masquerade != Masquerade::Destinations;
            (hot.src, hot.dst) = if leaves { (one, other) } else { (other, one) };
            let Keys { source, destination, .. } = q.keys(p, &b.packets);
            if leaves { source } else { destination }
        });
        keys[0] != keys[1]
    };
    for isolation in [DualSrchost, DualDsthost, TripleIsolate, Hosts] {
        for (masquerade, nat, ip, want) in [
            (Masquerade::Off, false, Ip::V4, true),
            (Masquerade::Sources, false, Ip::V4, false),
            (Masquerade::Sources, true, Ip::V4, true),
            (Masquerade::Sources, false, Ip::V6, true),
            (Masquerade::Destinations, false, Ip::V4, false),
            (Masquerade::Destinations, true, Ip::V4, true),
            (Masquerade::Destinations, false, Ip::V6, true),
        ] {
            assert_eq!(
                apart(isolation, masquerade, nat, ip),
                want,
                "{isolation:?} {masquerade:?} {nat} {ip:?}"
            );
        }
    }
}

#[test]
fn flows_get_their_own_queue_while_their_set_has_a_free_one() {
    let (mut q, mut b) = (cake(CakeParams { tins: Tins::Besteffort, ..shaped() }), Bench::new());
    for flow in 0..300 {
        offer(&mut q, &mut b, at(0), flow, |_| {});
        offer(&mut q, &mut b, at(0), flow, |_| {});
    }
    let tin = q.xstats().tins[0];
    // With plain hashing, forty of three hundred flows would share a queue.
    assert_eq!((tin.way_misses, tin.way_collisions, tin.sparse_flows), (300, 0, 300));
    assert!(tin.way_indirect_hits > 20 && tin.way_indirect_hits < 100, "{tin:?}");
    for flow in 300..3000 {
        offer(&mut q, &mut b, at(0), flow, |_| {});
    }
    let tin = q.xstats().tins[0];
    assert_eq!((tin.sparse_flows, tin.way_misses + tin.way_collisions), (1024, 3000));
}

#[test]
fn voice_has_priority_up_to_its_threshold_and_bulk_gets_a_sixteenth() {
    const EF: u8 = 46 << 2;
    const CS1: u8 = 8 << 2;
    for (bandwidth, want) in [(Some(RATE), [69, 6, 25]), (None, [76, 5, 19])] {
        let (mut q, mut b) = (cake(CakeParams { bandwidth, ..CakeParams::default() }), Bench::new());
        let tos = [0, CS1, EF];
        let mut left = [0_u32; 3];
        for n in 0..6 {
            offer(&mut q, &mut b, at(0), n % 3, |hot| hot.tos = tos[n as usize % 3]);
        }
        let mut served = 0;
        serve(&mut q, &mut b, at(0), at(10_000_000_000), |q, b, now, p| {
            let flow = b.packets.get(p).seq;
            b.finish(p);
            served += 1;
            if served <= 10_000 {
                left[flow as usize] += 1;
                offer(q, b, now, flow, |hot| hot.tos = tos[flow as usize]);
            }
        });
        let sum: u32 = left.iter().sum();
        assert_eq!(left.map(|n| (200 * n / sum).div_ceil(2)), want, "{bandwidth:?}");
    }
}

#[test]
fn the_memory_limit_drops_from_the_longest_queue() {
    let params = CakeParams { memlimit: Some(10 * TRUESIZE), tins: Tins::Besteffort, ..shaped() };
    let (mut q, mut b) = (cake(params), Bench::new());
    let packets: Vec<_> = [1, 1, 1, 1, 1, 1, 2, 2, 2, 3].map(|f| b.packet_of(f << 20, f, 1500)).into();
    for p in packets {
        assert_eq!(q.enqueue(at(0), p, &mut b.ctx()), Enqueue::Queued);
    }
    let p = b.packet_of(3 << 20, 3, 1500);
    assert_eq!(q.enqueue(at(0), p, &mut b.ctx()), Enqueue::Queued, "another's queue was longer");
    let p = b.packet_of(1 << 20, 1, 1500);
    assert_eq!(q.enqueue(at(10_000_000), p, &mut b.ctx()), Enqueue::Congested);
    let stats = q.xstats();
    assert_eq!((q.stats().drops, stats.tins[0].drops, stats.tins[0].unresponsive_flows), (2, 2, 1));
    assert_eq!((stats.memory_used, q.backlog().0), (u64::from(11 * TRUESIZE), 10));
    assert_eq!(b.packets.account().dropped[1][Reason::Overlimit as usize], 2);
}

#[test]
fn washing_leaves_the_congestion_mark() {
    for (wash, want) in [(true, [1, 0, 3]), (false, [0x1d, 0xb8, 0xbb])] {
        let (mut q, mut b) = (cake(CakeParams { wash, ..shaped() }), Bench::new());
        for (flow, tos) in [0x1d, 0xb8, 0xbb].into_iter().enumerate() {
            offer(&mut q, &mut b, at(0), flow as u32, |hot| hot.tos = tos);
        }
        let mut seen = [0; 3];
        serve(&mut q, &mut b, at(0), Instant::NEVER, |_, b, _, p| {
            seen[b.packets.get(p).seq as usize] = b.packets.get(p).tos;
            b.finish(p);
        });
        assert_eq!(seen, want);
        // The DSCP on arrival selects the tin.
        assert_eq!(q.xstats().tins[2].sent_packets, 2);
    }
}

proptest! {
    /// While the qdisc is backlogged, packets leave at exactly the configured rate, whatever arrives and
    /// whatever is dropped.
    #[test]
    fn the_rate_is_exact(
        sizes in prop::collection::vec((0u32..20, 20u32..1500, 0u8..64), 1..200),
        tins in prop::sample::select(&[Tins::Besteffort, Tins::Diffserv3, Tins::Diffserv8][..]),
        kbps in 64u64..2_000_000,
    ) {
        let rate = Rate::from_bps(kbps * 1000);
        let (mut q, mut b) = (cake(CakeParams { bandwidth: Some(rate), tins, ..shaped() }), Bench::new());
        for &(flow, len, dscp) in &sizes {
            let p = b.packet_of(flow << 16, flow, len);
            b.packets.get_mut(p).tos = dscp << 2;
            let _ = q.enqueue(at(0), p, &mut b.ctx());
        }
        let mut due = Some(at(0));
        let pace = Pace::new(rate.bps() / 8);
        serve(&mut q, &mut b, at(0), Instant::NEVER, |_, b, now, p| {
            due = due.filter(|&due| due == now).map(|due| due + pace.time(skb_len(b.packets.get(p))));
            b.finish(p);
        });
        prop_assert!(due.is_some());
        // The time per byte is exact to 1 ns in 4 s.
        let exact = u128::from(rate.bps());
        let second = u128::from(pace.time((rate.bps() / 8).min(1 << 29) as u32).nanos());
        let bytes = u128::from((rate.bps() / 8).min(1 << 29));
        prop_assert!((bytes * 8_000_000_000 / exact).abs_diff(second) <= 1);
        prop_assert_eq!(b.packets.live(), 0);
    }
}
