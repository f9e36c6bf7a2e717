use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use proptest::prelude::*;

use super::*;
use crate::aqm::codel::CodelParams;
use crate::aqm::pie::PieParams;
use crate::qdisc::cake::{CakeParams, Isolation, Tins};
use crate::qdisc::codel::CodelQdiscParams;
use crate::qdisc::fifo::FifoParams;
use crate::qdisc::fq::FqParams;
use crate::qdisc::fq_codel::FqCodelParams;
use crate::qdisc::htb::HtbParams;
use crate::qdisc::netem::NetemParams;
use crate::qdisc::pfifo_fast::PfifoFastParams;
use crate::qdisc::pie::PieQdiscParams;
use crate::qdisc::sfq::SfqParams;
use crate::qdisc::tbf::{Peak, TbfParams};
use crate::sched::testing::{Bench, TRUESIZE};
use crate::types::{Duration, Rate, Reason, Seed};

fn configs() -> [QdiscConfig; 25] {
    let codel = CodelParams {
        target: Duration::from_millis(1),
        interval: Duration::from_millis(5),
        ecn: false,
        mtu: 1514,
    };
    let rate = Rate::from_mbps(15);
    let htb = |child| {
        let child = Box::new(child);
        QdiscConfig::Htb(HtbParams { rate, ceil: rate, burst: 3000, cburst: 3000, child })
    };
    let tbf = |peak, child| {
        let child = Box::new(child);
        QdiscConfig::Tbf(TbfParams { rate, burst: 3000, peak, child })
    };
    let netem = NetemParams {
        delay: Duration::from_millis(2),
        limit: 20,
        rate: Some(rate),
        ..NetemParams::default()
    };
    let sfq = SfqParams { limit: 12, flows: 8, depth: 5, divisor: 16, ..SfqParams::default() };
    let aqm = PieParams { target: codel.target, alpha: 32, beta: 32, bytemode: true, ..PieParams::default() };
    let pie = PieQdiscParams { limit: 25, tupdate: codel.target, pie: aqm };
    let fq = FqParams { limit: 25, flow_limit: 6, initial_quantum: 2000, ..FqParams::default() };
    let cake = CakeParams {
        bandwidth: Some(rate),
        rtt: codel.interval,
        target: codel.target,
        memlimit: Some(20 * TRUESIZE),
        ingress: true,
        ..CakeParams::default()
    };
    let small = FqCodelParams { limit: 30, flows: 8, drop_batch: 4, codel, ..Default::default() };
    [
        QdiscConfig::PfifoFast(PfifoFastParams { limit: 20, limit_per_band: false }),
        QdiscConfig::PfifoFast(PfifoFastParams { limit: 10, limit_per_band: true }),
        QdiscConfig::FqCodel(small),
        QdiscConfig::Fifo(FifoParams::Packets(15)),
        QdiscConfig::Fifo(FifoParams::Bytes(9000)),
        QdiscConfig::FqCodel(FqCodelParams { memory_limit: 20 * TRUESIZE, ..small }),
        htb(QdiscConfig::FqCodel(small)),
        htb(QdiscConfig::Netem(netem, None)),
        QdiscConfig::Netem(NetemParams { rate: None, ..netem }, None),
        QdiscConfig::Codel(CodelQdiscParams { limit: 25, codel }),
        QdiscConfig::Fq(fq),
        QdiscConfig::Pie(pie),
        htb(QdiscConfig::Pie(PieQdiscParams {
            pie: PieParams { dq_rate_estimator: true, ..pie.pie },
            ..pie
        })),
        QdiscConfig::Fq(FqParams { maxrate: Some(rate), ..fq }),
        htb(QdiscConfig::Fq(FqParams { maxrate: Some(Rate::from_mbps(1)), buckets: 2, ..fq })),
        QdiscConfig::Sfq(sfq),
        QdiscConfig::Sfq(SfqParams { headdrop: true, flows: 3, ..sfq }),
        htb(QdiscConfig::Sfq(SfqParams { flows: 30, ..sfq })),
        QdiscConfig::Cake(cake),
        QdiscConfig::Cake(CakeParams { bandwidth: None, tins: Tins::Diffserv4, ..cake }),
        htb(QdiscConfig::Cake(CakeParams { isolation: Isolation::Flowblind, ..cake })),
        tbf(None, QdiscConfig::Fifo(FifoParams::Bytes(9000))),
        tbf(Some(Peak { rate: Rate::from_mbps(30), mtu: 1514 }), QdiscConfig::FqCodel(small)),
        tbf(None, htb(QdiscConfig::Cake(cake))),
        QdiscConfig::Netem(netem, Some(Box::new(tbf(None, QdiscConfig::FqCodel(small))))),
    ]
}

fn build(config: &QdiscConfig) -> Option<Qdisc> {
    Qdisc::new(config, PlaceId(1), &mut Seed { seed: 1, run: 1 }.stream("qdisc"))
}

#[test]
fn noqueue_creates_no_qdisc() {
    assert!(build(&QdiscConfig::Noqueue).is_none());
}

#[test]
fn emptying_leaves_nothing() {
    for config in configs() {
        let (mut b, mut q) = (Bench::new(), build(&config).unwrap());
        let now = Instant::ZERO + Duration::from_millis(3);
        for n in 0..60_u32 {
            let p = b.packet_of((n % 7).wrapping_mul(0x9e37_79b9), n, 1000);
            let _ = q.enqueue(Instant::ZERO, p, &mut b.ctx());
        }
        let out: Vec<Pkt> = (0..3).filter_map(|_| q.dequeue(now, &mut b.ctx())).collect();
        for p in out {
            let _ = b.finish(p);
        }
        let inside = b.packets.live();
        assert!(inside > 0, "{config:?}");
        empty(&mut q, now, PlaceId(1), &mut b.ctx());
        assert_eq!((q.backlog(), b.packets.live()), ((0, 0), 0), "{config:?}");
        let account = b.packets.account();
        assert_eq!(account.delivered + account.dropped_total(), 60, "{config:?}");
        let replaced: u64 = account.dropped.iter().map(|of| of[Reason::Replaced as usize]).sum();
        assert!(replaced > 0 && replaced <= inside, "{config:?}: {replaced} of {inside}");
    }
}

proptest! {
    /// Every packet is queued, dropped and counted, or dequeued in the order of its flow, and every packet
    /// that is gone has ended its charge.
    #[test]
    fn packet_accounts_balance(
        ops in prop::collection::vec((0u8..3, 0u32..12, 20u32..1500, 0u64..800), 0..400),
        which in 0usize..25,
    ) {
        let mut b = Bench::new();
        let mut q = build(&configs()[which]).unwrap();
        let mut now = Instant::ZERO;
        let (mut created, mut refused, mut ended) = (0u32, 0, 0);
        let mut out: Vec<Vec<u32>> = vec![Vec::new(); 12];
        for (op, flow, len, us) in ops {
            now += Duration::from_micros(us);
            if op < 2 {
                let p = b.packet_of(flow.wrapping_mul(0x9e37_79b9), created, len);
                // One priority per flow, or strict priorities would reorder it.
                b.packets.get_mut(p).prio = flow as u8;
                b.packets.get_mut(p).tos = (flow as u8).wrapping_mul(0x1a) & !3;
                created += 1;
                let held = Some(q.next(now)).filter(|next| q.holds_back_all() && matches!(next, NextSend::At(_)));
                let answer = q.enqueue(now, p, &mut b.ctx());
                refused += u64::from(answer == Enqueue::Dropped);
                if answer == Enqueue::Queued && let Some(next) = held {
                    prop_assert_eq!(q.next(now), next);
                }
            } else if let Some(p) = q.dequeue(now, &mut b.ctx()) {
                let flow = b.packets.get(p).flow_hash;
                let i = (0..12u32).position(|f| f.wrapping_mul(0x9e37_79b9) == flow).unwrap();
                out[i].push(b.finish(p));
            }
            ended += b.uncharged();
            let (inside, bytes) = q.backlog();
            match q.next(now) {
                NextSend::Never => prop_assert_eq!(inside, 0),
                NextSend::Now => prop_assert!(inside > 0),
                NextSend::At(at) => prop_assert!(inside > 0 && at > now && q.holds_back()),
            }
            prop_assert_eq!(inside == 0, bytes == 0);
            prop_assert_eq!(u64::from(inside), b.packets.live());
            let account = b.packets.account();
            prop_assert_eq!(account.dropped_total(), q.stats().drops);
            prop_assert_eq!(account.delivered, q.stats().packets);
            // netem's packets are charged to no socket.
            let inside = if matches!(which, 7 | 8 | 24) { 0 } else { inside };
            prop_assert_eq!(ended, u64::from(created - inside));
        }
        prop_assert!(refused <= q.stats().drops);
        prop_assert!(out.iter().all(|seqs| seqs.is_sorted()));
        // No wake-up is lost: dequeuing at the times that `next` returns gets everything out.
        loop {
            while let Some(p) = q.dequeue(now, &mut b.ctx()) {
                b.finish(p);
            }
            let NextSend::At(at) = q.next(now) else { break };
            now = at;
        }
        prop_assert_eq!((q.backlog(), b.packets.live()), ((0, 0), 0));
    }
}
