use super::*;
use crate::aqm::codel::CodelParams;
use crate::qdisc::fifo::FifoParams;
use crate::qdisc::fq_codel::FqCodelParams;
use crate::sched::testing::Bench;
use crate::types::{PlaceId, Seed};
use alloc::boxed::Box;
use alloc::vec::Vec;

fn htb(rate: Rate, child: QdiscConfig) -> Qdisc {
    let burst = HtbParams::default_burst(rate);
    with(HtbParams { rate, ceil: rate, burst, cburst: burst, child: Box::new(child) })
}

fn with(params: HtbParams) -> Qdisc {
    Qdisc::new(&QdiscConfig::Htb(params), PlaceId(1), &mut Seed { seed: 1, run: 0 }.stream("htb")).unwrap()
}

fn pfifo() -> QdiscConfig {
    QdiscConfig::Fifo(FifoParams::Packets(1000))
}

/// Dequeues every packet as early as possible. Returns the times in nanoseconds.
fn drain(q: &mut Qdisc, b: &mut Bench, mut now: Instant) -> Vec<u64> {
    let mut times = Vec::new();
    loop {
        while let Some(p) = q.dequeue(now, &mut b.ctx()) {
            b.finish(p);
            times.push(now.nanos());
        }
        match q.next(now) {
            NextSend::At(at) => {
                assert!(at > now);
                // Not a nanosecond earlier.
                assert!(q.dequeue(Instant::from_nanos(at.nanos() - 1), &mut b.ctx()).is_none());
                now = at;
            }
            NextSend::Never => return times,
            NextSend::Now => panic!("nothing came, although it might"),
        }
    }
}

fn fill(q: &mut Qdisc, b: &mut Bench, count: u32, len: u32, segs: u16) {
    for n in 0..count {
        let p = b.packet(n, len);
        b.packets.get_mut(p).segs = segs;
        assert_eq!(q.enqueue(Instant::ZERO, p, &mut b.ctx()), Enqueue::Queued);
    }
}

#[test]
fn the_class_has_its_own_counters() {
    // Two of five packets do not fit, and each of the three that leave takes 121.12 us of the 128 us in the
    // buckets.
    let (mut q, mut b) = (htb(Rate::from_mbps(100), QdiscConfig::Fifo(FifoParams::Packets(3))), Bench::new());
    for n in 0..5 {
        let p = b.packet(n, 1500);
        let _ = q.enqueue(Instant::ZERO, p, &mut b.ctx());
    }
    let own = |q: &Qdisc| match q.xstats() {
        crate::qdisc::Xstats::Htb(own) => own,
        other => panic!("{other:?}"),
    };
    let (tokens, ctokens) = (128_000 - 121_120, 128_000 - 121_120);
    let p = q.dequeue(Instant::ZERO, &mut b.ctx()).expect("a full bucket");
    b.finish(p);
    assert_eq!(own(&q), HtbStats { drops: 2, lended: 1, tokens, ctokens });
    drain(&mut q, &mut b, Instant::ZERO);
    assert_eq!((own(&q).lended, own(&q).drops, q.stats().drops), (3, 2, 2));
}

#[test]
fn packets_are_spaced_at_the_rate() {
    // Packets of 1,514 bytes with the Ethernet header; of 64 bytes; of 43 segments with a header each.
    for (mbps, spacing) in [
        (10, [1_211_200, 51_200, 52_081_600]),
        (100, [121_120, 5_120, 5_208_160]),
        (1000, [12_112, 512, 520_816]),
    ] {
        for ((len, segs), spacing) in [(1500, 1), (50, 1), (1500 * 43, 43)].into_iter().zip(spacing) {
            let (mut q, mut b) = (htb(Rate::from_mbps(mbps), pfifo()), Bench::new());
            fill(&mut q, &mut b, 100, len, segs);
            let times = drain(&mut q, &mut b, Instant::ZERO);
            let gaps: Vec<u64> = times.windows(2).map(|w| w[1] - w[0]).filter(|&gap| gap > 0).collect();
            // The reciprocal's last bit is below 1 ns for one packet.
            assert!(gaps[1..].iter().all(|&gap| spacing - gap <= 1), "{mbps} {len}: {gaps:?}");
            assert_eq!(q.stats().packets, 100 * u64::from(segs));
            assert_eq!(q.stats().bytes, 100 * u64::from(len + 14 * u32::from(segs)));
        }
    }
}

#[test]
fn a_burst_leaves_at_once() {
    // 100 Mbit/s. tc's 1600 bytes are a full packet and 86 bytes, so the wait after the second packet is
    // 6,880 ns shorter.
    let (mut q, mut b) = (htb(Rate::from_mbps(100), pfifo()), Bench::new());
    fill(&mut q, &mut b, 4, 1500, 1);
    let expected = [0, 0, 2 * 121_120 - 128_000, 3 * 121_120 - 128_000];
    assert_eq!(drain(&mut q, &mut b, Instant::ZERO), expected);
    // A longer pause does not help: the bucket depth is the limit.
    let later = Instant::from_nanos(5_000_000_000);
    for n in 0..4 {
        let p = b.packet(n, 1500);
        let _ = q.enqueue(later, p, &mut b.ctx());
    }
    assert_eq!(drain(&mut q, &mut b, later), expected.map(|ns| later.nanos() + ns));
    // A burst of ten packets: eleven leave, as the last may drive the bucket below zero.
    let rate = Rate::from_mbps(100);
    let params = HtbParams { rate, ceil: rate, burst: 15_140, cburst: 15_140, child: Box::new(pfifo()) };
    let (mut q, mut b) = (with(params.clone()), Bench::new());
    fill(&mut q, &mut b, 20, 1500, 1);
    let times = drain(&mut q, &mut b, Instant::ZERO);
    assert_eq!(times.iter().filter(|&&ns| ns == 0).count(), 11);
    // The ceiling's bucket holds packets back too.
    let (mut q, mut b) = (with(HtbParams { cburst: 1600, ..params }), Bench::new());
    fill(&mut q, &mut b, 20, 1500, 1);
    assert_eq!(drain(&mut q, &mut b, Instant::ZERO)[..3], expected[..3]);
}

#[test]
fn a_higher_ceiling_without_a_parent_has_no_effect() {
    let rate = Rate::from_mbps(10);
    let ceil = Rate::from_mbps(1000);
    let params = HtbParams { rate, ceil, burst: 1600, cburst: 1600, child: Box::new(pfifo()) };
    let (mut q, mut b) = (with(params), Bench::new());
    fill(&mut q, &mut b, 50, 1500, 1);
    let times = drain(&mut q, &mut b, Instant::ZERO);
    assert_eq!(times[49] - times[9], 40 * 1_211_200);
    // The class is always in debt to its rate, but only once to its ceiling: when two packets left together.
    assert_eq!(q.stats().overlimits, 1);
}

#[test]
fn the_class_aqm_sees_the_delay_of_the_bucket() {
    let codel = CodelParams {
        target: Duration::from_millis(5),
        interval: Duration::from_millis(100),
        ecn: false,
        mtu: 1514,
    };
    let child = QdiscConfig::FqCodel(FqCodelParams { codel, ..FqCodelParams::default() });
    let (mut q, mut b) = (htb(Rate::from_mbps(10), child), Bench::new());
    let mut now = Instant::ZERO;
    for n in 0..3300 {
        now += Duration::from_micros(605);
        let p = b.packet(n, 1500);
        b.packets.get_mut(p).t_enqueue = now;
        let _ = q.enqueue(now, p, &mut b.ctx());
        while let Some(p) = q.dequeue(now, &mut b.ctx()) {
            b.finish(p);
        }
    }
    let child = q.child().expect("a class");
    assert_eq!((child.kind(), q.kind()), ("fq_codel", "htb"));
    assert!(q.stats().drops > 30, "{:?}", q.stats());
    assert_eq!(child.stats().drops, q.stats().drops, "what the class drops, the bucket has dropped");
    assert_eq!(child.stats().packets, q.stats().packets);
    assert_eq!((child.stats().overlimits, child.backlog()), (0, q.backlog()));
}

#[test]
fn bursts_as_tc_passes_them() {
    // 1600 bytes at 100 Mbit/s are 128 us, 2000 units of 64 ns; at 30 Mbit/s 6,666.67 units, rounded up.
    assert_eq!(depth(Rate::from_mbps(100), 1600), 128_000);
    assert_eq!(depth(Rate::from_mbps(30), 1600), 6667 * 64);
    assert_eq!(HtbParams::default_burst(Rate::from_mbps(1000)), 1600);
    assert_eq!(HtbParams::default_burst(Rate::from_mbps(80_000)), 1610);
}

#[test]
fn a_debt_is_forgiven_after_a_minute() {
    // A packet takes 1,200 s at 10 bit/s, which the kernel rounds to a byte per second.
    let (mut q, mut b) = (htb(Rate::from_bps(10), pfifo()), Bench::new());
    fill(&mut q, &mut b, 4, 1500, 1);
    let times = drain(&mut q, &mut b, Instant::ZERO);
    // The burst of 1600 s is not full: tc's units end at 274 s.
    assert_eq!(times, [0, 59_999_999_999, 119_999_999_998, 179_999_999_997]);
}
