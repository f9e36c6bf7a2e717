use super::*;
use crate::sched::testing::Bench;
use crate::types::Seed;
use alloc::vec::Vec;

const MS: Duration = Duration::from_millis(1);

fn pie(params: PieQdiscParams) -> Pie {
    Pie::new(params, PlaceId(1), Seed { seed: 1, run: 0 }.stream("pie"))
}

/// Offers a full packet every `offered` us for `seconds` to a queue that takes `served` us per packet.
/// Returns, for the last ten seconds, the packets that arrived, were dropped by PIE, were dropped at the
/// limit, and were marked.
fn offered(q: &mut Pie, offered: u64, served: u64, seconds: u64, tos: u8) -> (u64, u64, u64, u64) {
    let mut b = Bench::new();
    let mut free_at = Instant::ZERO;
    let (mut came, mut before) = (0, PieStats::default());
    for n in 0..seconds * 1_000_000 / offered {
        let now = Instant::ZERO + Duration::from_micros(offered) * n;
        if now >= Instant::ZERO + Duration::from_secs(seconds - 10) {
            if came == 0 {
                before = q.xstats();
            }
            came += 1;
        }
        while free_at <= now
            && let Some(p) = q.dequeue(free_at, &mut b.ctx())
        {
            b.finish(p);
            free_at += Duration::from_micros(served);
        }
        free_at = free_at.max(now);
        let p = b.packet(n as u32, 1500);
        b.packets.get_mut(p).tos = tos;
        let _ = q.enqueue(now, p, &mut b.ctx());
    }
    let account = b.packets.account();
    let s = q.xstats();
    assert_eq!(account.dropped_total(), q.stats().drops);
    assert_eq!(account.created, s.packets_in + s.dropped);
    assert_eq!(account.created, q.stats().packets + s.dropped + u64::from(q.backlog().0));
    let overlimit = s.overlimit - before.overlimit;
    (came, s.dropped - before.dropped - overlimit, overlimit, s.ecn_mark - before.ecn_mark)
}

#[test]
fn an_overload_is_dropped_and_the_delay_stays_at_its_target() {
    let default = PieQdiscParams::new(250);
    // A packet every 500 us, each of which takes 600 us: a sixth is excess.
    let mut q = pie(default);
    let (came, aqm, limit, marks) = offered(&mut q, 500, 600, 60, 0);
    assert!((aqm * 6).abs_diff(came) < came / 20 && limit == 0 && marks == 0, "{aqm} of {came}, {limit}");
    let x = q.xstats();
    // The accumulated probability reaches 0.85 with the third packet just above this probability, and with
    // the fourth just below. From then on one in 1/p is dropped: in total one of 5.5 packets, or of 6.5.
    assert!(((x.prob >> 32) * 300 / 85).abs_diff(1 << 32) < (1 << 32) / 10, "{}", x.prob >> 32);
    assert!((MS * 10..MS * 20).contains(&x.delay), "{:?}", x.delay);
    // Marks do not stop an unresponsive sender: at a probability above a tenth, packets are dropped anyway.
    let ecn = PieParams { ecn: true, ..default.pie };
    let (_, aqm, limit, _) = offered(&mut pie(PieQdiscParams { pie: ecn, ..default }), 500, 600, 60, 2);
    assert!(aqm > 2000 && limit == 0, "{aqm} {limit}");
    // A small overload is marked.
    let (came, aqm, limit, marks) =
        offered(&mut pie(PieQdiscParams { pie: ecn, ..default }), 1000, 1001, 22, 2);
    assert!(aqm == 0 && limit == 0 && marks > came / 500, "{aqm} {limit} {marks} of {came}");
    // No drops without a queue; and a queue of two packets is full before PIE acts.
    assert_eq!(offered(&mut pie(default), 1000, 900, 20, 0), (10_000, 0, 0, 0));
    let (came, aqm, limit, _) = offered(&mut pie(PieQdiscParams { limit: 2, ..default }), 500, 600, 20, 0);
    assert!(aqm == 0 && (limit * 6).abs_diff(came) < 60, "{aqm} {limit} of {came}");
}

#[test]
fn updates_are_as_frequent_as_by_a_timer() {
    // One queue is updated every millisecond, the other only at the bursts.
    let aqm = PieParams { target: MS, alpha: 32, beta: 32, ..PieParams::default() };
    let params = PieQdiscParams { pie: aqm, ..PieQdiscParams::new(250) };
    let (mut looked, mut alone) = (pie(params), pie(params));
    let (mut probs, mut start) = (Vec::new(), Instant::ZERO);
    let mut benches = [Bench::new(), Bench::new()];
    for burst in 0..40 {
        for (q, b) in [&mut looked, &mut alone].into_iter().zip(&mut benches) {
            for n in 0..20 {
                let p = b.packet(n, 1500);
                let _ = q.enqueue(start, p, &mut b.ctx());
            }
            // One packet stays, or there would be no delay.
            while q.backlog().0 > 1 {
                let p = q.dequeue(start + MS * 16, &mut b.ctx()).expect("a packet");
                b.finish(p);
            }
            probs.push(q.xstats().prob);
        }
        assert_eq!(alone.xstats(), looked.xstats());
        for ms in 17..24 {
            looked.update(start + MS * ms);
        }
        start += if burst % 10 == 9 { MS * 10_000 } else { MS * 24 };
    }
    assert!(probs.iter().any(|&p| p > 0));
}

#[test]
fn periods_are_whole_ticks() {
    for (hz, period, kept) in [(250, 15, 16), (1000, 15, 15), (100, 15, 20), (250, 16, 16), (250, 1, 4)] {
        assert_eq!(PieQdiscParams::in_ticks(MS * period, hz), MS * kept, "{hz} {period}");
    }
    assert_eq!(PieQdiscParams::new(250).tupdate, MS * 16);
}
