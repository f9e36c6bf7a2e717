use super::*;
use crate::qdisc::QdiscConfig;
use crate::qdisc::fifo::FifoParams;
use crate::sched::testing::{Bench, SOCK};
use crate::types::{Seed, SockId};
use alloc::vec::Vec;

fn netem(params: NetemParams) -> Netem {
    Netem::new(params, None, PlaceId(1), Seed { seed: 1, run: 0 }.stream("netem"))
}

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn us(n: u64) -> Instant {
    Instant::ZERO + Duration::from_micros(n)
}

/// Enqueues `count` packets of 1000 bytes, `gap` us apart, and dequeues each as soon as it may leave. Returns
/// time in us and number of each departure.
fn pass(q: &mut Netem, b: &mut Bench, count: u32, gap: u64) -> Vec<(u64, u32)> {
    let (mut out, mut now) = (Vec::new(), Instant::ZERO);
    let mut sent = 0;
    loop {
        let enqueue = (sent < count).then(|| us(u64::from(sent) * gap));
        let wake = match q.next(now) {
            NextSend::At(at) => Some(at),
            NextSend::Now => Some(now),
            NextSend::Never => None,
        };
        let Some(next) = enqueue.into_iter().chain(wake).min() else { return out };
        now = next;
        if enqueue == Some(now) {
            let p = b.packet(sent, 986);
            assert_eq!(q.enqueue(now, p, &mut b.ctx()), Enqueue::Queued);
            sent += 1;
        }
        while let Some(p) = q.dequeue(now, &mut b.ctx()) {
            out.push((now.nanos() / 1000, b.finish(p)));
        }
    }
}

#[test]
fn a_delay_is_exact_and_keeps_order() {
    let (mut q, mut b) = (netem(NetemParams { delay: ms(20), ..NetemParams::default() }), Bench::new());
    let out = pass(&mut q, &mut b, 900, 7);
    let expected: Vec<_> = (0..900).map(|n| (20_000 + u64::from(n) * 7, n)).collect();
    assert_eq!(out, expected);
    assert_eq!((q.stats().packets, q.stats().bytes, q.stats().drops), (900, 900_000, 0));
}

#[test]
fn jitter_is_uniform_and_reorders() {
    let params = NetemParams { delay: ms(10), jitter: ms(4), limit: 100_000, ..NetemParams::default() };
    let (mut q, mut b) = (netem(params), Bench::new());
    let out = pass(&mut q, &mut b, 20_000, 100);
    let waits: Vec<u64> = out.iter().map(|&(at, n)| at - u64::from(n) * 100).collect();
    assert!(waits.iter().all(|w| (6_000..14_000).contains(w)));
    // A quarter of the packets falls into each quarter of the range: 5,000, with a standard deviation of 61.
    for quarter in 0..4 {
        let low = 6_000 + quarter * 2_000;
        let count = waits.iter().filter(|w| (low..low + 2_000).contains(*w)).count();
        assert!((4_700..5_300).contains(&count), "{quarter}: {count}");
    }
    assert!(out.is_sorted_by_key(|&(at, _)| at) && !out.is_sorted_by_key(|&(_, n)| n));
    // If the jitter exceeds the delay, some packets leave immediately, and none in the past.
    let params = NetemParams { delay: ms(1), jitter: ms(4), limit: 100_000, ..params };
    let out = pass(&mut netem(params), &mut Bench::new(), 20_000, 100);
    let at_once = out.iter().filter(|&&(at, n)| at == u64::from(n) * 100).count();
    assert!((7_000..8_000).contains(&at_once), "{at_once}: three eighths");
}

#[test]
fn correlated_jitter_drifts_like_the_kernels() {
    // Mean step between successive packets in thousandths of the range.
    let step = |jitter: u64, correlation: f64| {
        let delay_correlation = Share::of(correlation);
        let (delay, jitter) = (ms(jitter), ms(jitter));
        let params =
            NetemParams { delay, jitter, delay_correlation, limit: 100_000, ..NetemParams::default() };
        let mut out = pass(&mut netem(params), &mut Bench::new(), 5_000, 100);
        out.sort_by_key(|&(_, n)| n);
        let waits: Vec<i64> = out.iter().map(|&(at, n)| at as i64 - i64::from(n) * 100).collect();
        let sum: u64 = waits.windows(2).map(|w| (w[1] - w[0]).unsigned_abs()).sum();
        sum / 5_000 * 1_000_000 / jitter.nanos() / 2
    };
    // Independent draws: a third.
    assert!((320..346).contains(&step(2_000, 0.0)), "{}", step(2_000, 0.0));
    assert!(step(2_000, 0.9) < 50, "{}", step(2_000, 0.9));
    // The remainder of 32 bits by a few milliseconds hides the correlation.
    assert!((320..346).contains(&step(4, 0.9)), "{}", step(4, 0.9));
}

#[test]
fn losses_duplicates_and_the_senders_results() {
    let chance = |fraction| Chance { share: Share::of(fraction), correlation: Share(0) };
    let count = |params| {
        let (mut q, mut b) = (netem(params), Bench::new());
        let out = pass(&mut q, &mut b, 20_000, 10).len();
        let account = b.packets.account();
        assert_eq!(account.created, account.delivered + account.dropped_total());
        assert_eq!(account.dropped.get(1).map_or(0, |d| d[Reason::Loss as usize]), q.stats().drops);
        out
    };
    let none = NetemParams { limit: 100_000, ..NetemParams::default() };
    assert_eq!(count(none), 20_000);
    assert_eq!(count(NetemParams { loss: chance(1.0), ..none }), 0);
    let lost = 20_000 - count(NetemParams { loss: chance(0.05), ..none });
    assert!((880..1120).contains(&lost), "{lost} of 1000");
    let doubled = count(NetemParams { duplicate: chance(0.1), delay: ms(3), ..none }) - 20_000;
    assert!((1870..2130).contains(&doubled), "{doubled} of 2000");
    // A packet drawn for both is sent once.
    assert_eq!(count(NetemParams { duplicate: chance(1.0), loss: chance(1.0), ..none }), 20_000);
}

#[test]
fn correlated_losses_come_in_bursts() {
    let groups = |correlation: f64| {
        let loss = Chance { share: Share::of(0.2), correlation: Share::of(correlation) };
        let params = NetemParams { loss, ..NetemParams::default() };
        let out = pass(&mut netem(params), &mut Bench::new(), 20_000, 10);
        out.windows(2).filter(|w| w[1].1 > w[0].1 + 1).count()
    };
    assert!((3_000..3_400).contains(&groups(0.0)), "{}: 0.8 of 4000 losses", groups(0.0));
    assert!(groups(0.5) < 2_500, "{}", groups(0.5));
}

#[test]
fn reordering_by_gap_and_by_probability() {
    let order = |gap, fraction| {
        let reorder = Chance { share: Share::of(fraction), correlation: Share(0) };
        let params = NetemParams { delay: ms(10), gap, reorder, ..NetemParams::default() };
        let mut q = netem(params);
        let out = pass(&mut q, &mut Bench::new(), 500, 5);
        let early: Vec<u32> =
            out.iter().filter(|&&(at, n)| at == u64::from(n) * 5).map(|&(_, n)| n).collect();
        assert_eq!(q.stats().requeues, early.len() as u64);
        assert_eq!(out.len(), 500);
        early
    };
    assert_eq!(order(5, 1.0)[..4], [4, 9, 14, 19]);
    let half = order(5, 0.5);
    assert!(half.windows(2).all(|w| w[1] - w[0] >= 5) && (70..97).contains(&half.len()), "{half:?}");
    let any = order(1, 0.25).len();
    assert!((95..155).contains(&any), "{any} of 125");
}

#[test]
fn a_rate_serialises_while_the_delay_runs() {
    // 1000 bytes at 8 Mbit/s take 1 ms.
    let rate = Some(Rate::from_mbps(8));
    let times = |delay, gap| {
        let params = NetemParams { rate, delay, ..NetemParams::default() };
        let out = pass(&mut netem(params), &mut Bench::new(), 4, gap);
        out.into_iter().map(|(at, _)| at).collect::<Vec<_>>()
    };
    assert_eq!(times(ms(0), 0), [1_000, 2_000, 3_000, 4_000]);
    assert_eq!(times(ms(5), 0), [6_000, 7_000, 8_000, 9_000]);
    assert_eq!(times(ms(5), 500), [6_000, 7_000, 8_000, 9_000]);
    assert_eq!(times(ms(5), 3_000), [6_000, 9_000, 12_000, 15_000]);
}

#[test]
fn only_packets_that_wait_end_their_charge() {
    let charges = |params| {
        let (mut q, mut b) = (netem(params), Bench::new());
        let p = b.packet(0, 1000);
        let _ = q.enqueue(Instant::ZERO, p, &mut b.ctx());
        (b.uncharged(), b.packets.charge(p))
    };
    let none = NetemParams::default();
    assert_eq!(charges(none), (0, SOCK));
    for waits in [
        NetemParams { delay: ms(1), ..none },
        NetemParams { jitter: ms(1), ..none },
        NetemParams { rate: Some(Rate::from_mbps(1)), ..none },
    ] {
        assert_eq!(charges(waits), (1, SockId::NONE));
    }
}

#[test]
fn the_limit_counts_waiting_packets() {
    let (mut q, mut b) =
        (netem(NetemParams { delay: ms(1), limit: 3, ..NetemParams::default() }), Bench::new());
    let answers: Vec<Enqueue> = (0..5)
        .map(|n| {
            let p = b.packet(n, 100);
            q.enqueue(Instant::ZERO, p, &mut b.ctx())
        })
        .collect();
    let (queued, dropped) = (Enqueue::Queued, Enqueue::Dropped);
    assert_eq!(answers, [queued, queued, queued, dropped, dropped]);
    assert_eq!(b.packets.account().dropped[1][Reason::Overlimit as usize], 2);
    assert_eq!((q.backlog(), q.stats().drops), ((3, 342), 2));
}

#[test]
fn a_child_gets_packets_when_their_time_has_come() {
    let mut b = Bench::new();
    let mut stream = Seed { seed: 1, run: 0 }.stream("child");
    let one = QdiscConfig::Fifo(FifoParams::Packets(1));
    let child = Qdisc::new(&one, PlaceId(2), &mut stream);
    // The limit counts packets whose time has not come.
    let params = NetemParams { delay: ms(5), limit: 3, ..NetemParams::default() };
    let mut q = Netem::new(params, child, PlaceId(1), stream);
    let at = |t| Instant::ZERO + ms(t);
    let offer = |q: &mut Netem, b: &mut Bench, t, seq| {
        let p = b.packet(seq, 1500);
        q.enqueue(at(t), p, &mut b.ctx())
    };
    assert_eq!([0, 1, 2].map(|n| offer(&mut q, &mut b, n, n as u32)), [Enqueue::Queued; 3]);
    assert_eq!(offer(&mut q, &mut b, 2, 9), Enqueue::Dropped);
    assert_eq!((q.dequeue(at(4), &mut b.ctx()), q.next(at(4))), (None, NextSend::At(at(5))));
    // All due packets are enqueued in the child at once, which has room for one.
    let p = q.dequeue(at(7), &mut b.ctx()).expect("a packet");
    assert_eq!(b.finish(p), 0);
    assert_eq!((q.next(at(7)), q.stats().drops, q.backlog()), (NextSend::Never, 3, (0, 0)));
    assert_eq!(q.child().map(|child| child.stats().drops), Some(2));
}
