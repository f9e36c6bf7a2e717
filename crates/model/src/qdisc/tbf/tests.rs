use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use proptest::prelude::*;

use super::*;
use crate::qdisc::codel::CodelQdiscParams;
use crate::qdisc::fifo::FifoParams;
use crate::sched::testing::Bench;
use crate::types::Seed;

fn tbf(rate: Rate, burst: u32, peak: Option<Peak>, child: QdiscConfig) -> Tbf {
    let params = TbfParams { rate, burst, peak, child: Box::new(child) };
    let mut stream = Seed { seed: 1, run: 1 }.stream("tbf");
    let child = Qdisc::new(&params.child, PlaceId(1), &mut stream).expect("a discipline");
    Tbf::new(&params, child, PlaceId(1))
}

fn bytes(limit: u32) -> QdiscConfig {
    QdiscConfig::Fifo(FifoParams::Bytes(limit))
}

/// Departure times, in us after `start`, of packets queued at `start`.
fn times(q: &mut Tbf, b: &mut Bench, start: u64, lens: &[u32]) -> Vec<u64> {
    let start = Instant::ZERO + Duration::from_micros(start);
    for (seq, &len) in lens.iter().enumerate() {
        let p = b.packet(seq as u32, len);
        assert_eq!(q.enqueue(start, p, &mut b.ctx()), Enqueue::Queued);
    }
    let (mut now, mut out) = (start, Vec::new());
    loop {
        if let Some(p) = q.dequeue(now, &mut b.ctx()) {
            b.finish(p);
            out.push((now - start).nanos() / 1000);
            continue;
        }
        match q.next(now) {
            NextSend::At(at) => now = at,
            NextSend::Never => return out,
            NextSend::Now => panic!("nothing left though it was to"),
        }
    }
}

#[test]
fn the_bucket_is_never_in_debt() {
    // A full packet takes 1,211.2 us at 10 Mbit/s; the bucket holds two packets and 972 bytes.
    let rate = Rate::from_mbps(10);
    let mut b = Bench::new();
    let mut q = tbf(rate, 4000, None, bytes(100_000));
    assert_eq!(times(&mut q, &mut b, 0, &[1500; 5]), [0, 0, 433, 1644, 2856]);
    // The bucket fills up to its depth only, and keeps filling across failed dequeues.
    assert_eq!(times(&mut q, &mut b, 1_000_000, &[1500; 3]), [0, 0, 433]);
    assert_eq!(times(&mut q, &mut b, 1_000_433 + 600, &[100, 100, 1500]), [0, 0, 794]);
    assert_eq!((q.stats().packets, q.stats().overlimits), (11, 5));
}

#[test]
fn a_second_bucket_spreads_the_burst_of_the_first() {
    let (rate, peak) = (Rate::from_mbps(10), Peak { rate: Rate::from_mbps(40), mtu: 1514 });
    let mut b = Bench::new();
    let mut q = tbf(rate, 6056, Some(peak), bytes(100_000));
    // A quarter of a packet's time at the rate apart, until the first bucket's four packets and its refill
    // are spent.
    assert_eq!(times(&mut q, &mut b, 0, &[1500; 8]), [0, 302, 605, 908, 1211, 2422, 3633, 4844]);
}

#[test]
fn packets_larger_than_the_bucket_are_split_or_refused() {
    for (burst, segs, want) in [
        (1513, 1, Enqueue::Dropped),
        (1514, 1, Enqueue::Queued),
        (1513, 3, Enqueue::Dropped),
        (1514, 3, Enqueue::Queued),
    ] {
        let mut b = Bench::new();
        let mut q = tbf(Rate::from_mbps(10), burst, None, bytes(100_000));
        let p = b.packet(0, 1500 * segs);
        b.packets.get_mut(p).segs = segs as u16;
        assert_eq!(q.enqueue(Instant::ZERO, p, &mut b.ctx()), want);
        let (packets, drops) = if want == Enqueue::Queued { (segs, 0) } else { (0, 1) };
        assert_eq!((q.backlog(), q.stats().drops), ((packets, u64::from(packets * 1514)), drops));
        assert_eq!(b.uncharged(), drops);
    }
    // A packet that fits is not split.
    let mut b = Bench::new();
    let mut q = tbf(Rate::from_mbps(10), 4542, None, bytes(100_000));
    let p = b.packet(0, 4500);
    b.packets.get_mut(p).segs = 3;
    assert_eq!((q.enqueue(Instant::ZERO, p, &mut b.ctx()), q.backlog()), (Enqueue::Queued, (1, 4542)));
}

#[test]
fn latency_becomes_a_limit_in_bytes() {
    let (rate, ms) = (Rate::from_mbps(10), Duration::from_millis);
    assert_eq!(TbfParams::limit(rate, 5000, None, ms(50)), 67_500);
    let peak = Some(Peak { rate: Rate::from_mbps(11), mtu: 1514 });
    assert_eq!(TbfParams::limit(rate, 5000, peak, ms(10)), 15_264);
    assert_eq!(TbfParams::limit(rate, 5000, peak, ms(50)), 67_500);
}

#[test]
fn a_fifo_still_counts_a_peeked_packet() {
    let mut b = Bench::new();
    let mut q = tbf(Rate::from_mbps(10), 1514, None, bytes(3 * 1514));
    assert_eq!(times(&mut q, &mut b, 0, &[1500]), [0]);
    let answers: Vec<_> = (0..4)
        .map(|seq| {
            let p = b.packet(seq, 1500);
            let answer = q.enqueue(Instant::ZERO, p, &mut b.ctx());
            assert!(q.dequeue(Instant::ZERO, &mut b.ctx()).is_none());
            answer
        })
        .collect();
    use Enqueue::{Dropped, Queued};
    assert_eq!((answers, q.backlog()), (vec![Queued, Queued, Queued, Dropped], (3, 3 * 1514)));
    // Other qdiscs give the packet away, and are empty then.
    let mut q = tbf(Rate::from_mbps(10), 1514, None, QdiscConfig::Codel(CodelQdiscParams::default()));
    assert_eq!(times(&mut q, &mut b, 0, &[1500]), [0]);
    let p = b.packet(9, 1500);
    let _ = q.enqueue(Instant::ZERO, p, &mut b.ctx());
    assert!(q.dequeue(Instant::ZERO, &mut b.ctx()).is_none());
    assert_eq!((q.backlog(), q.child().backlog()), ((1, 1514), (0, 0)));
    assert_eq!(q.next(Instant::ZERO), NextSend::At(Instant::from_nanos(1_211_200)));
}

proptest! {
    /// In no interval does more leave than the rate and the bucket allow, and packets leave as soon as they
    /// may.
    #[test]
    fn no_more_than_rate_and_burst(
        packets in prop::collection::vec((20u32..1500, 0u64..3000), 2..80),
        burst in 1514u32..10_000,
        mbps in 1u64..100,
    ) {
        let (mut b, mut q) = (Bench::new(), tbf(Rate::from_mbps(mbps), burst, None, bytes(1 << 30)));
        let (mut now, mut left) = (Instant::ZERO, Vec::new());
        let mut waiting = packets.into_iter().map(|(len, us)| (len, Duration::from_micros(us))).peekable();
        let mut due = Instant::ZERO;
        loop {
            while let Some(&(len, gap)) = waiting.peek() && due + gap <= now {
                due += gap;
                let p = b.packet(0, len);
                let _ = q.enqueue(now, p, &mut b.ctx());
                waiting.next();
            }
            while let Some(p) = q.dequeue(now, &mut b.ctx()) {
                left.push((now, skb_len(b.packets.get(p))));
                b.finish(p);
            }
            let arrival = waiting.peek().map(|&(_, gap)| due + gap);
            let wake = match q.next(now) {
                NextSend::At(at) => Some(at),
                NextSend::Never => None,
                NextSend::Now => return Err(TestCaseError::fail("it could leave and did not")),
            };
            let Some(next) = arrival.into_iter().chain(wake).min() else { break };
            now = next;
        }
        for (n, &(from, _)) in left.iter().enumerate() {
            let mut bytes = 0;
            for &(to, len) in &left[n..] {
                bytes += u64::from(len);
                let allowed = u128::from(burst) + u128::from((to - from).nanos()) * u128::from(mbps) / 8000;
                // The kernel's reciprocal rounds the time of each packet down by less than 2 ns.
                prop_assert!(u128::from(bytes) <= allowed + 2, "{bytes} {allowed}");
            }
        }
    }
}
