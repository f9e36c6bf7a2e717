use super::*;
use crate::sched::testing::{Bench, TRUESIZE};
use crate::types::Reason;
use alloc::vec::Vec;

/// `n` flow hashes that map to different queues, in any qdisc with the same salt.
fn hashes(q: &FqCodel, n: usize) -> Vec<u32> {
    let mut taken = Vec::new();
    let fresh = (0..).map(|i: u32| i.wrapping_mul(0x9e37_79b9)).filter(|&h| {
        let queue = q.queues.queue_of(h);
        let new = !taken.contains(&queue);
        taken.push(queue);
        new
    });
    fresh.take(n).collect()
}

fn new(params: FqCodelParams) -> FqCodel {
    FqCodel::new(params, PlaceId(2), 99)
}

/// Flow A has four large packets queued before B has a small one. B is new, and A's first turn ends after one
/// packet.
// spec: rfc8290 4.2 - sparse flows first.
#[test]
fn step_table() {
    let mut b = Bench::new();
    let mut q = new(FqCodelParams::default());
    let h = hashes(&q, 3);
    // flow (0 A, 1 B, 2 C) and bytes to enqueue, or dequeue with the expected flow; lengths of the new and
    // old lists after the step.
    enum Step {
        In(usize, u32),
        Out(Option<u32>),
    }
    use Step::{In, Out};
    #[rustfmt::skip]
    let table = [
        (In(0, 1500), (1, 0)),
        (In(0, 1500), (1, 0)),
        (In(0, 1500), (1, 0)),
        (Out(Some(0)), (1, 0)), // A used its quantum of 1514 to the last byte
        (In(1, 100), (2, 0)),
        (Out(Some(1)), (1, 1)), // A moves to the old list, B has 1400 left
        (In(1, 100), (1, 1)),   // B is still listed as new
        (Out(Some(1)), (1, 1)),
        (Out(Some(0)), (0, 2)), // B is empty, and moves to the old list because A waits there
        (In(2, 100), (1, 2)),
        (In(1, 100), (1, 2)),   // B is old now
        (Out(Some(2)), (1, 2)),
        (Out(Some(1)), (0, 3)), // C moves to the end; A used up its quantum and is behind B
        (Out(Some(0)), (0, 1)), // B and C are empty and old, and leave
        (Out(None), (0, 0)),
    ];
    for (i, (step, lists)) in table.into_iter().enumerate() {
        match step {
            In(flow, len) => {
                let p = b.packet_of(h[flow], flow as u32, len);
                assert_eq!(q.enqueue(Instant::ZERO, p, &mut b.ctx()), Enqueue::Queued);
            }
            Out(want) => {
                let p = q.dequeue(Instant::ZERO, &mut b.ctx());
                assert_eq!(p.map(|p| b.finish(p)), want, "step {i}");
            }
        }
        let x = q.xstats();
        assert_eq!((x.new_flows_len, x.old_flows_len), lists, "lists after step {i}");
    }
    assert_eq!(q.xstats().new_flow_count, 3);
    assert_eq!((q.stats().packets, q.backlog()), (7, (0, 0)));
}

#[test]
fn the_fattest_flow_loses_up_to_a_batch_or_half() {
    use Enqueue::{Congested, Queued};
    #[rustfmt::skip]
    let table = [
        // batch, packets of A, whether the packet over the limit is B's -> result, packets of A dropped
        (64, 10, true,  Queued,     5),  // half of ten
        (64, 11, true,  Queued,     6),  // five packets are less than half of the bytes
        (64, 10, false, Congested,  6),  // the packet over the limit is A's own
        ( 3, 10, true,  Queued,     3),
        ( 1, 10, true,  Queued,     1),
        (64,  1, true,  Queued,     1),  // equally fat: the lower queue loses a packet
    ];
    for (drop_batch, n, of_b, answer, dropped) in table {
        let mut b = Bench::new();
        let mut q = new(FqCodelParams { limit: n, drop_batch, ..Default::default() });
        let mut h = hashes(&q, 2);
        h.sort_by_key(|&h| q.queues.queue_of(h));
        for seq in 0..n {
            let p = b.packet_of(h[0], seq, 1000);
            assert_eq!(q.enqueue(Instant::ZERO, p, &mut b.ctx()), Queued);
        }
        let p = b.packet_of(h[usize::from(of_b)], 1000, 1000);
        assert_eq!(q.enqueue(Instant::ZERO, p, &mut b.ctx()), answer);
        assert_eq!(q.xstats().drop_overlimit, dropped, "batch {drop_batch}, {n} packets");
        assert_eq!(b.packets.account().dropped[2][Reason::Overlimit as usize], dropped);
        assert_eq!((q.stats().drops, b.uncharged()), (dropped, dropped));
        assert_eq!(q.backlog().0, n + 1 - dropped as u32);
        // Drops are from the head: A's remaining packets are the later ones.
        let left: Vec<_> = core::iter::from_fn(|| {
            let p = q.dequeue(Instant::ZERO, &mut b.ctx())?;
            Some(b.finish(p))
        })
        .filter(|&seq| seq < 1000)
        .collect();
        assert_eq!(left, (dropped as u32..n).collect::<Vec<_>>());
    }
}

/// The memory limit triggers one batch per enqueue, as in Linux, even if that is not enough.
#[test]
fn the_memory_limit_drops_once() {
    let mut b = Bench::new();
    let mut q = new(FqCodelParams { memory_limit: 3 * TRUESIZE, drop_batch: 1, ..Default::default() });
    let h = hashes(&q, 2);
    for seq in 0..3 {
        let p = b.packet_of(h[0], seq, 40);
        assert_eq!(q.enqueue(Instant::ZERO, p, &mut b.ctx()), Enqueue::Queued);
    }
    let big = b.packet_of(h[1], 9, 1500);
    b.packets.get_mut(big).truesize = 3 * TRUESIZE;
    assert_eq!(q.enqueue(Instant::ZERO, big, &mut b.ctx()), Enqueue::Congested, "it was the fattest itself");
    let x = q.xstats();
    assert_eq!((x.drop_overlimit, x.drop_overmemory, x.memory_used), (1, 1, 3 * u64::from(TRUESIZE)));
}

/// CoDel's exemption of the last MTU counts the bytes of the whole qdisc: with B's packets queued, A's last
/// packet may be dropped.
#[test]
fn the_mtu_exemption_covers_the_whole_qdisc() {
    // Packets of B -> whether A's second and last packet is dropped, with all but one of B's behind it.
    for (of_b, dropped) in [(1, false), (2, false), (3, true)] {
        let mut b = Bench::new();
        let mut q = new(FqCodelParams::default());
        let h = hashes(&q, 2);
        for (flow, n) in [(0, 2), (1, of_b)] {
            for _ in 0..n {
                let p = b.packet_of(h[flow as usize], flow, 1500);
                assert_eq!(q.enqueue(Instant::ZERO, p, &mut b.ctx()), Enqueue::Queued);
            }
        }
        let out = [10, 10, 200].map(|ms| {
            let p = q.dequeue(Instant::ZERO + Duration::from_millis(ms), &mut b.ctx()).unwrap();
            b.finish(p)
        });
        assert_eq!(out, [0, 1, u32::from(dropped)], "{of_b} packets of B");
        assert_eq!(b.packets.account().dropped_total(), u64::from(dropped));
    }
}
