use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use proptest::prelude::*;

use super::*;
use crate::sched::testing::{Bench, TRUESIZE};
use crate::types::Duration;

const NOW: Instant = Instant::ZERO;
const PARAMS: FlowQueuesParams = FlowQueuesParams {
    flows: 4,
    tins: 2,
    quantum: 300,
    limit: 8192,
    memory_limit: 4 << 20,
    empty_new: EmptyNew::ToOldUnlessAlone,
    mtu_scope: MtuScope::Queue,
};
const CODEL: CodelParams = CodelParams {
    target: Duration::from_millis(20),
    interval: Duration::from_millis(100),
    ecn: true,
    mtu: 0,
};
const PLACE: PlaceId = PlaceId(4);
const A: TinId = TinId(0);
const B: TinId = TinId(1);

fn new(params: FlowQueuesParams) -> FlowQueues {
    FlowQueues::new(params, PLACE, 1)
}

/// A flow hash for each queue of the pool.
fn hashes(q: &FlowQueues) -> Vec<u32> {
    (0..q.params.flows).map(|want| (0..10_000).find(|&h| q.queue_of(h) == Member(want)).unwrap()).collect()
}

fn put(q: &mut FlowQueues, b: &mut Bench, tin: TinId, hash: u32, seq: u32, len: u32) -> Queue {
    let p = b.packet_of(hash, seq, len);
    q.enqueue(NOW, tin, p, &mut b.ctx())
}

fn take(q: &mut FlowQueues, b: &mut Bench, tin: TinId, now: Instant) -> Option<u32> {
    let p = q.dequeue(now, tin, &CODEL, &mut b.ctx())?;
    Some(b.finish(p))
}

#[test]
fn a_queue_is_one_cache_line() {
    assert!(size_of::<FlowQueue>() <= 64);
    assert_eq!(size_of::<CodelState>(), 32);
}

fn tin_of(q: &FlowQueues, number: u32) -> u32 {
    q.find(Member(number)).map_or(UNBOUND, |kept| q.queues[kept].tin)
}

// paper: ending-the-anomaly alg1 and alg2, step by step: one flow hash, two tins.
#[test]
fn a_queue_of_another_tin_means_the_overflow_queue() {
    for empty_new in [EmptyNew::ToOldUnlessAlone, EmptyNew::ToOld] {
        let mut b = Bench::new();
        let mut q = new(FlowQueuesParams { empty_new, ..PARAMS });
        let h = hashes(&q)[2];
        let mut tins_of_queue = Vec::new();
        assert_eq!(put(&mut q, &mut b, A, h, 0, 500), Member(2), "hashed and bound to A");
        assert_eq!(put(&mut q, &mut b, B, h, 1, 500), Member(5), "B's overflow queue");
        assert_eq!(put(&mut q, &mut b, A, h, 2, 500), Member(2));
        assert_eq!(put(&mut q, &mut b, B, h, 3, 500), Member(5));
        assert_eq!((q.backlog(A), q.backlog(B), q.total()), ((2, 1028), (2, 1028), 4));
        assert_eq!((q.stats().collisions, q.stats().new_flow_count), (2, 2));
        for seq in [Some(0), Some(2), None] {
            assert_eq!(take(&mut q, &mut b, A, NOW), seq);
            tins_of_queue.push(tin_of(&q, 2));
        }
        assert_eq!(tins_of_queue, [0, 0, UNBOUND], "let go only when found empty");
        // The queue is free for B's next packet, which overtakes those in the overflow queue: a hazard of the
        // paper's rule.
        assert_eq!(put(&mut q, &mut b, B, h, 4, 500), Member(2));
        assert_eq!(put(&mut q, &mut b, A, h, 5, 500), Member(4), "A's overflow queue");
        let out: Vec<_> = core::iter::from_fn(|| take(&mut q, &mut b, B, NOW)).collect();
        assert_eq!(out, [1, 4, 3]);
        assert_eq!((q.total(), q.backlog(B), q.backlog(A)), (1, (0, 0), (1, 514)));
    }
}

/// A lone queue that has run empty is released within the same call, whether or not the rule moves it to the
/// old list first.
#[test]
fn a_lone_empty_queue_leaves_by_either_rule() {
    for empty_new in [EmptyNew::ToOldUnlessAlone, EmptyNew::ToOld] {
        let mut b = Bench::new();
        let mut q = new(FlowQueuesParams { empty_new, ..PARAMS });
        let h = hashes(&q);
        put(&mut q, &mut b, A, h[0], 7, 100);
        assert_eq!(take(&mut q, &mut b, A, NOW), Some(7));
        assert_eq!((q.list_lengths(A), tin_of(&q, 0)), ((1, 0), 0));
        assert_eq!(take(&mut q, &mut b, A, NOW), None);
        assert_eq!((q.list_lengths(A), tin_of(&q, 0)), ((0, 0), UNBOUND));
    }
}

#[test]
fn the_longest_by_bytes_loses_its_head() {
    let mut b = Bench::new();
    let mut q = new(FlowQueuesParams { limit: 6, ..PARAMS });
    let h = hashes(&q);
    // tin, queue, packets, bytes of each: queue 3 (of B) is the longest in bytes, though queue 1 has more
    // packets.
    let mut seq = 0;
    for (tin, queue, n, len) in [(A, 1, 4, 86), (B, 3, 2, 486)] {
        for _ in 0..n {
            assert_eq!(put(&mut q, &mut b, tin, h[queue], seq, len), Member(queue as u32));
            seq += 1;
        }
    }
    assert_eq!((q.over_limit(), q.trim(NOW, 1, &mut b.ctx())), (None, 0));
    // Each further packet makes the longest queue drop its head. Packets 0 to 3 are in queue 1, 4 and 5 in
    // queue 3.
    let mut left = [(A, vec![]), (B, vec![])];
    for (queue, len) in [(0, 86), (0, 386), (0, 86), (2, 500)] {
        put(&mut q, &mut b, A, h[queue], seq, len);
        seq += 1;
        assert_eq!(q.trim(NOW, 1, &mut b.ctx()), 1);
    }
    for (tin, seqs) in &mut left {
        seqs.extend(core::iter::from_fn(|| take(&mut q, &mut b, *tin, NOW)));
        seqs.sort();
    }
    // Bytes of queues 0 to 3 before each drop, and the dropped packet: 100 400 0 1000: 4. 500 400 0 500:
    // equal, so the first: 6. 500 400 0 500: 7. 100 400 514 500: 9, the newcomer itself.
    assert_eq!(left, [(A, vec![0, 1, 2, 3, 8]), (B, vec![5])]);
    assert_eq!((q.stats().drop_overlimit, q.stats().drop_overmemory), (4, 0));
    assert_eq!(b.packets.account().dropped[4][Reason::Overlimit as usize], 4);
    assert_eq!(q.memory_used(), 0);
}

/// Drops as many as needed: one packet of large truesize displaces several.
#[test]
fn trim_keeps_both_limits() {
    let mut b = Bench::new();
    let mut q = new(FlowQueuesParams { memory_limit: 5 * TRUESIZE, ..PARAMS });
    let h = hashes(&q);
    for seq in 0..5 {
        put(&mut q, &mut b, A, h[0], seq, 1000);
    }
    assert_eq!(q.over_limit(), None);
    let big = b.packet_of(h[1], 5, 1000);
    b.packets.get_mut(big).truesize = 3 * TRUESIZE;
    q.enqueue(NOW, B, big, &mut b.ctx());
    assert_eq!(q.over_limit(), Some(OverLimit { memory: true }));
    assert_eq!(q.trim(NOW, 1, &mut b.ctx()), 3);
    assert_eq!((q.stats().drop_overlimit, q.stats().drop_overmemory), (3, 3));
    assert_eq!((q.total(), q.memory_used()), (3, 5 * u64::from(TRUESIZE)));
    assert_eq!(take(&mut q, &mut b, A, NOW), Some(3));
}

// linux: include/net/fq_impl.h fq_flow_drop (5.12) - 32 packets, or half of the queue, but at least one.
#[test]
fn trim_by_batches() {
    for (held, most, dropped) in
        [(1, 32, 1), (2, 32, 1), (3, 32, 1), (5, 32, 2), (64, 32, 32), (100, 32, 32), (100, 1, 1)]
    {
        let mut b = Bench::new();
        let mut q = new(FlowQueuesParams { limit: held - 1, ..PARAMS });
        for seq in 0..held {
            let p = b.packet_of(1, seq, 1000);
            q.enqueue(NOW, A, p, &mut b.ctx());
        }
        assert_eq!(q.trim(NOW, most, &mut b.ctx()), dropped, "{held} {most}");
        assert_eq!(q.stats().drop_overlimit, u64::from(dropped));
        assert_eq!(take(&mut q, &mut b, A, NOW), (held > dropped).then_some(dropped), "from the head");
    }
}

/// Parameters are passed per call: those of a slow station are more patient. CoDel spares the last packet of
/// a queue.
#[test]
fn codel_uses_the_callers_parameters() {
    let slow =
        CodelParams { target: Duration::from_millis(50), interval: Duration::from_millis(300), ..CODEL };
    // Parameters, packets -> drops when dequeued 30 ms and 131 ms after they were queued.
    for (codel, n, drops) in [(CODEL, 3, 1), (CODEL, 2, 0), (slow, 3, 0)] {
        let mut b = Bench::new();
        let mut q = new(PARAMS);
        for seq in 0..n {
            put(&mut q, &mut b, A, 1, seq, 1500);
        }
        for ms in [30, 131] {
            let p = q.dequeue(NOW + Duration::from_millis(ms), A, &codel, &mut b.ctx()).unwrap();
            b.finish(p);
        }
        assert_eq!(q.codel_stats(A).drop_count, drops);
        assert_eq!(b.packets.account().dropped_total(), drops);
        assert_eq!(q.total() as u64, n as u64 - 2 - drops);
    }
}

#[test]
fn the_salt_determines_collisions() {
    let together = |salt| {
        let q = FlowQueues::new(FlowQueuesParams { flows: 1024, ..PARAMS }, PLACE, salt);
        // Consecutive hashes, as without mixing.
        (0..1000u32).map(|h| (q.queue_of(h), q.queue_of(h + 1))).filter(|(a, b)| a == b).count()
    };
    assert!((0..20).all(|salt| together(salt) < 50));
    let q = |salt| new(FlowQueuesParams { flows: 1024, ..PARAMS }).with_salt(salt);
    assert_ne!(q(1).queue_of(5), q(2).queue_of(5));
}

impl FlowQueues {
    fn with_salt(mut self, salt: u64) -> Self {
        self.salt = Salt::new(salt);
        self
    }
}

proptest! {
    /// Two backlogged flows get the same bytes, to within a quantum and the larger packet, whatever their
    /// packet sizes.
    #[test]
    fn backlogged_flows_share_equally(a in 40u32..1500, b_len in 40u32..1500, quantum in 256u32..3000) {
        let mut b = Bench::new();
        let mut q = new(FlowQueuesParams { quantum, ..PARAMS });
        let h = hashes(&q);
        let mut got = [0i64; 2];
        for i in 0..400 {
            for (flow, len) in [(0, a), (1, b_len)] {
                put(&mut q, &mut b, A, h[flow], flow as u32, len);
            }
            // Both stay backlogged: two packets are queued for each one that leaves.
            let flow = take(&mut q, &mut b, A, NOW).unwrap();
            got[flow as usize] += i64::from([a, b_len][flow as usize] + 14);
            let bound = i64::from(quantum + a.max(b_len) + 14);
            prop_assert!((got[0] - got[1]).abs() <= bound, "{got:?} after {i}");
        }
    }

    /// Random operations on several tins: the totals match a simple model, and nothing is lost.
    #[test]
    fn packet_accounts_balance(
        ops in prop::collection::vec((0u8..3, 0u32..3, 0u32..12, 20u32..1500, 0u64..3000), 0..300),
        paper in any::<bool>(),
    ) {
        let mut b = Bench::new();
        let empty_new = if paper { EmptyNew::ToOld } else { EmptyNew::ToOldUnlessAlone };
        let mut q = new(FlowQueuesParams { tins: 3, limit: 40, memory_limit: 35 * TRUESIZE, empty_new, ..PARAMS });
        let codel = CodelParams { target: Duration::from_millis(2), interval: Duration::from_millis(10), ..CODEL };
        let (mut now, mut created, mut ended) = (NOW, 0, 0);
        for (op, tin, hash, len, us) in ops {
            now += Duration::from_micros(us);
            if op < 2 {
                // The sequence number carries the tin, to be checked at dequeue.
                let p = b.packet_of(hash.wrapping_mul(0x9e37_79b9), tin, len);
                q.enqueue(now, TinId(tin), p, &mut b.ctx());
                created += 1;
                q.trim(now, if paper { 32 } else { 1 }, &mut b.ctx());
            } else if let Some(p) = q.dequeue(now, TinId(tin), &codel, &mut b.ctx()) {
                prop_assert_eq!(b.finish(p), tin, "a packet of another tin");
            }
            ended += b.uncharged();
            let tins = [0, 1, 2].map(|t| q.backlog(TinId(t)));
            let bytes: u64 = q.queues.iter().map(|f| f.list.bytes()).sum();
            prop_assert_eq!(tins.iter().map(|t| t.0).sum::<u32>(), q.total());
            prop_assert_eq!(tins.iter().map(|t| t.1).sum::<u64>(), bytes);
            prop_assert_eq!(q.memory_used(), u64::from(q.total() * TRUESIZE));
            prop_assert_eq!(u64::from(q.total()), b.packets.live());
            prop_assert_eq!(ended, created - u64::from(q.total()));
            let codel_drops: u64 = (0..3).map(|t| q.codel_stats(TinId(t)).drop_count).sum();
            prop_assert_eq!(codel_drops + q.stats().drop_overlimit, b.packets.account().dropped_total());
            prop_assert_eq!(q.over_limit(), None);
            // Compare the longest queue with a linear scan.
            let most = q.queues.iter().map(|f| f.list.bytes()).max().unwrap_or(0);
            let longest = q.queues.iter().filter(|f| most > 0 && f.list.bytes() == most);
            let first = longest.map(|f| f.number).min();
            let found = q.longest();
            prop_assert_eq!(found.map(|kept| q.queues[kept].number), first);
            // A queue is bound to a tin if and only if it is listed.
            for (i, f) in q.queues.iter().enumerate() {
                prop_assert_eq!(f.tin != UNBOUND, q.queues.is_listed(Member(i as u32)));
                prop_assert!(f.list.is_empty() || f.tin != UNBOUND);
            }
        }
        for tin in 0..3 {
            while let Some(p) = q.dequeue(now, TinId(tin), &codel, &mut b.ctx()) {
                b.finish(p);
            }
        }
        prop_assert_eq!((q.total(), q.memory_used(), b.packets.live()), (0, 0, 0));
    }

    /// A packet that bypasses the queues leaves the same state as one that is queued and taken, whatever
    /// happened to the tins before.
    #[test]
    fn bypassing_equals_enqueue_and_dequeue(
        ops in prop::collection::vec((0u8..4, 0u32..2, 0u32..6, 20u32..1500, 0u64..30_000), 0..300),
        target in prop::sample::select(vec![0u64, 2_000]),
    ) {
        let params = FlowQueuesParams { limit: 12, memory_limit: 10 * TRUESIZE, ..PARAMS };
        let (target, interval) = (Duration::from_micros(target), Duration::from_millis(10));
        let codel = CodelParams { target, interval, ..CODEL };
        let mut sides = [false, true].map(|passes| (new(params), Bench::new(), passes));
        let mut now = NOW;
        for (seq, (op, tin, hash, len, us)) in (0..).zip(ops) {
            now += Duration::from_micros(us);
            let tin = TinId(tin);
            let seen = sides.each_mut().map(|(q, b, passes)| {
                let mut out = Vec::new();
                if op > 0 {
                    let p = b.packet_of(hash.wrapping_mul(0x9e37_79b9), seq, len);
                    let free = op > 1 && q.is_free(tin, p, &b.packets);
                    if free && *passes {
                        q.pass(now, tin, p, &codel, &mut b.ctx());
                        out.push(b.finish(p));
                    } else {
                        q.enqueue(now, tin, p, &mut b.ctx());
                        q.trim(now, 1, &mut b.ctx());
                        while free && let Some(p) = q.dequeue(now, tin, &codel, &mut b.ctx()) {
                            out.push(b.finish(p));
                        }
                    }
                } else if let Some(p) = q.dequeue(now, tin, &codel, &mut b.ctx()) {
                    out.push(b.finish(p));
                }
                let aqms = format!("{:?} {:?} {:?}", q.codel, q.codel_stats, q.stats);
                (out, aqms, [A, B].map(|tin| q.backlog(tin)), q.memory_used(), b.packets.account().dropped_total())
            });
            prop_assert_eq!(&seen[0], &seen[1]);
        }
    }
}
