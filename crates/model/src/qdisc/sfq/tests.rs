use alloc::vec;
use alloc::vec::Vec;
use proptest::prelude::*;

use super::*;
use crate::sched::testing::Bench;
use crate::types::Seed;

const NOW: Instant = Instant::ZERO;

fn sfq(params: SfqParams) -> Sfq {
    Sfq::new(params, PlaceId(1), Seed { seed: 1, run: 0 }.stream("sfq"))
}

/// Enqueues packets of these (flow, bytes including the Ethernet header), numbered in order.
fn offer(q: &mut Sfq, b: &mut Bench, flows: &[(u32, u32)]) -> Vec<Enqueue> {
    let one = |(n, &(flow, bytes)): (usize, &(u32, u32))| {
        let p = b.packet_of(flow, n as u32, bytes - 14);
        q.enqueue(NOW, p, &mut b.ctx())
    };
    flows.iter().enumerate().map(one).collect()
}

/// Dequeues everything. Returns the numbers in order.
fn drain(q: &mut Sfq, b: &mut Bench) -> Vec<u32> {
    core::iter::from_fn(|| q.dequeue(NOW, &mut b.ctx()).map(|p| b.finish(p))).collect()
}

#[test]
fn flows_are_served_in_turn_and_new_ones_join_at_the_end() {
    let (mut q, mut b) = (sfq(SfqParams::default()), Bench::new());
    // Numbers of flow 1: 0 1 2 3; flow 2: 4 5; flow 3: 6.
    offer(&mut q, &mut b, &[(1, 1514), (1, 1514), (1, 1514), (1, 1514), (2, 1514), (2, 1514), (3, 1514)]);
    assert_eq!(q.backlog(), (7, 7 * 1514));
    assert_eq!(drain(&mut q, &mut b), [0, 4, 6, 1, 5, 2, 3]);
    assert_eq!((q.backlog(), q.stats().packets), ((0, 0), 7));
}

#[test]
fn a_round_is_a_quantum_of_bytes_and_debts_are_kept() {
    let (mut q, mut b) = (sfq(SfqParams { quantum: 1000, ..SfqParams::default() }), Bench::new());
    // Flow 1 has packets 0 to 7 of 400 bytes, flow 2 packets 8 to 10 of 1500. A flow sends while its
    // allotment is positive: flow 1 sends three packets (1200 of 1000 bytes), then two on the remaining 800.
    // Flow 2 is 500 in debt after its first packet, so its second needs one more quantum and its third, at
    // 1000 in debt, two.
    let flows: Vec<_> = [(1, 400); 8].into_iter().chain([(2, 1500); 3]).collect();
    offer(&mut q, &mut b, &flows);
    assert_eq!(drain(&mut q, &mut b), [0, 1, 2, 8, 3, 4, 9, 5, 6, 7, 10]);
}

#[test]
fn the_longest_slot_loses_a_packet() {
    let params = SfqParams { limit: 4, ..SfqParams::default() };
    // Each case enqueues five packets of these flows. Only the fifth may exceed the limit.
    let cases: [(bool, [u32; 5], Enqueue, [u32; 4]); 5] = [
        // Another flow loses a packet: the sender sees no congestion.
        (false, [1, 1, 1, 2, 2], Enqueue::Queued, [0, 3, 1, 4]),
        (true, [1, 1, 1, 2, 2], Enqueue::Queued, [1, 3, 2, 4]),
        // Among equally long slots, the one that reached that length last loses.
        (false, [1, 1, 2, 2, 3], Enqueue::Queued, [0, 2, 4, 1]),
        (false, [1; 5], Enqueue::Congested, [0, 1, 2, 3]),
        // If all slots have one packet, the one whose turn it is loses.
        (false, [1, 2, 3, 4, 5], Enqueue::Queued, [1, 2, 3, 4]),
    ];
    for (headdrop, flows, fifth, out) in cases {
        let (mut q, mut b) = (sfq(SfqParams { headdrop, ..params }), Bench::new());
        let flows: Vec<_> = flows.iter().map(|&flow| (flow, 1514)).collect();
        let answers = [Enqueue::Queued, Enqueue::Queued, Enqueue::Queued, Enqueue::Queued, fifth];
        assert_eq!(offer(&mut q, &mut b, &flows), answers, "{flows:?}");
        assert_eq!((q.backlog().0, q.stats().drops), (4, 1));
        assert_eq!(drain(&mut q, &mut b), out, "{flows:?} headdrop {headdrop}");
    }
}

#[test]
fn a_full_slot_refuses_or_drops_its_head() {
    let params = SfqParams { depth: 2, flows: 2, ..SfqParams::default() };
    let (mut q, mut b) = (sfq(params), Bench::new());
    let flows = [(1, 1514), (1, 1514), (1, 100), (2, 1514), (3, 1514)];
    let (queued, dropped) = (Enqueue::Queued, Enqueue::Dropped);
    // The last packet finds no free slot.
    assert_eq!(offer(&mut q, &mut b, &flows), [queued, queued, dropped, queued, dropped]);
    assert_eq!((drain(&mut q, &mut b), q.stats().drops), (vec![0, 3, 1], 2));
    let (mut q, mut b) = (sfq(SfqParams { headdrop: true, ..params }), Bench::new());
    assert_eq!(offer(&mut q, &mut b, &flows), [queued, queued, Enqueue::Congested, queued, dropped]);
    assert_eq!(q.backlog(), (3, 2 * 1514 + 100));
    assert_eq!(drain(&mut q, &mut b), [1, 3, 2]);
}

#[test]
fn a_new_hash_separates_flows_that_shared_a_slot() {
    // Two slots and two flows: each hash puts them into the same slot with probability 1/2.
    let perturb = Duration::from_secs(10);
    let params = SfqParams { flows: 2, divisor: 2, perturb, ..SfqParams::default() };
    let (mut q, mut b) = (sfq(params), Bench::new());
    let mut together = Vec::new();
    for n in 0..40u64 {
        let now = NOW + perturb * n;
        for seq in 0..4 {
            let p = b.packet_of(1 + seq / 2, seq, 1500);
            assert_eq!(q.enqueue(now, p, &mut b.ctx()), Enqueue::Queued);
        }
        // The next period may separate them, or put them together, with each flow in order.
        let now = now + perturb - Duration::from_nanos(1 - n % 2);
        let out: Vec<_> = core::iter::from_fn(|| q.dequeue(now, &mut b.ctx()).map(|p| b.finish(p))).collect();
        let shared = matches!(out[..], [0, 1, 2, 3] | [2, 3, 0, 1]);
        assert!(shared || matches!(out[..], [0, 2, 1, 3] | [2, 0, 3, 1]), "{out:?}");
        together.push(shared);
    }
    let shared = together.iter().filter(|&&t| t).count();
    assert!((8..32).contains(&shared), "{shared}");
    // Without perturbation they stay.
    let (mut q, mut b) = (sfq(SfqParams { perturb: Duration::ZERO, ..params }), Bench::new());
    let runs: Vec<_> = (0..40)
        .map(|_| {
            offer(&mut q, &mut b, &[(1, 1514), (1, 1514), (2, 1514), (2, 1514)]);
            drain(&mut q, &mut b)
        })
        .collect();
    assert!(runs.iter().all(|run| *run == runs[0]));
}

proptest! {
    /// Backlogged flows get the same number of bytes, to within a quantum and a packet, whatever their packet
    /// sizes.
    #[test]
    fn backlogged_flows_share_equally(
        sizes in prop::collection::vec(60u32..1515, 2..6), quantum in 256u32..4000,
    ) {
        let params = SfqParams { quantum, limit: 10_000, ..SfqParams::default() };
        let (mut q, mut b) = (sfq(params), Bench::new());
        let mut sent = vec![0u64; sizes.len()];
        let hash = |flow: usize| (flow as u32).wrapping_mul(0x9e37_79b9);
        let slots: Vec<_> = (0..sizes.len()).map(|flow| q.salt.hash(hash(flow)) & 1023).collect();
        prop_assume!((1..slots.len()).all(|n| !slots[..n].contains(&slots[n])));
        let refill = |q: &mut Sfq, b: &mut Bench, flow: usize| {
            let p = b.packet_of(hash(flow), flow as u32, sizes[flow] - 14);
            prop_assert_eq!(q.enqueue(NOW, p, &mut b.ctx()), Enqueue::Queued);
            Ok(())
        };
        for flow in 0..sizes.len() {
            for _ in 0..3 {
                refill(&mut q, &mut b, flow)?;
            }
        }
        for _ in 0..2000 {
            let p = q.dequeue(NOW, &mut b.ctx()).expect("a backlog");
            let flow = b.finish(p) as usize;
            sent[flow] += u64::from(sizes[flow]);
            refill(&mut q, &mut b, flow)?;
            let (most, least) = (sent.iter().max().unwrap(), sent.iter().min().unwrap());
            prop_assert!(most - least <= u64::from(2 * quantum + 1514), "{sent:?} {quantum}");
        }
    }
}
