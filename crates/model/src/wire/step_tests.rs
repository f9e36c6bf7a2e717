//! Changes of a wire's rate and delay.

use super::*;
use crate::qdisc::cake::Framing;
use crate::sched::testing::Bench;
use alloc::vec;
use alloc::vec::Vec;
use proptest::prelude::*;

const ETHERNET: EthernetParams = EthernetParams {
    rate: Rate::from_mbps(8),
    delay: Duration::from_millis(10),
    ring: 256,
    bql: false,
    tx_usecs: Duration::ZERO,
    tx_frames: 0,
    rx_usecs: Duration::ZERO,
    rx_frames: 0,
    rx_gap: Duration::ZERO,
};

fn us(n: u64) -> Instant {
    Instant::ZERO + Duration::from_micros(n)
}

fn kbps(n: u64) -> Rate {
    Rate::from_bps(1_000 * n)
}

fn ethernet(rate: Rate, delay: u64) -> WireParams {
    WireParams::Ethernet(EthernetParams { rate, delay: Duration::from_millis(delay), ..ETHERNET })
}

/// An access line behind an Ethernet of 1 Gbit/s, without overhead.
fn access(rate: Rate, buffer: LineBuffer) -> WireParams {
    let port = EthernetParams { rate: Rate::from_mbps(1_000), ..ETHERNET };
    WireParams::Access(port, LineParams { rate, buffer, framing: Framing::RAW })
}

/// Receives everything that arrives before `until`. Returns numbers and times in us, rounded up.
fn arrivals(w: &mut Wire, b: &mut Bench, until: Instant) -> Vec<(u32, u64)> {
    let mut all = Vec::new();
    while let Some(at) = w.next_arrival().filter(|at| *at < until) {
        while let Some(p) = w.arrive(at, &mut b.packets) {
            all.push((b.finish(p), at.nanos().div_ceil(1_000)));
        }
    }
    all
}

/// Completions before `until`, in us.
fn reports(w: &mut Wire, b: &mut Bench, until: Instant) -> Vec<u64> {
    let mut all = Vec::new();
    while let Some(at) = w.next_completion().filter(|at| *at < until) {
        w.complete(at, &mut b.ctx());
        (0..b.uncharged()).for_each(|_| all.push(at.nanos().div_ceil(1_000)));
    }
    all
}

/// Sends three packets of 962 and 38 bytes at 0, which take 1 ms each at 8 Mbit/s, and applies changes at
/// these times in us. Returns arrivals and completions.
fn three(from: WireParams, changes: &[(u64, WireParams)]) -> (Vec<(u32, u64)>, Vec<u64>) {
    let (mut w, mut b) = (Wire::new(from, IfId(0), IfId(1)), Bench::new());
    for n in 0..3 {
        let p = b.packet(n, 962);
        w.push(us(0), p, &mut b.ctx());
    }
    let (mut came, mut reported) = (Vec::new(), Vec::new());
    for (at, params) in changes {
        reported.extend(reports(&mut w, &mut b, us(*at)));
        came.extend(arrivals(&mut w, &mut b, us(*at)));
        w.change(us(*at), *params, &mut b.ctx());
    }
    reported.extend(reports(&mut w, &mut b, us(1_000_000_000)));
    came.extend(arrivals(&mut w, &mut b, us(1_000_000_000)));
    (came, reported)
}

#[test]
fn waiting_frames_leave_at_the_new_rate() {
    let at = |rate: u64| ethernet(kbps(rate), 10);
    let from = at(8_000);
    // Departures; arrivals are 10 ms later.
    for (changes, sent) in [
        (vec![], [1_000, 2_000, 3_000]),
        // Before the first bit, at a quarter of the first frame, between two frames, in the last frame, and
        // after all frames.
        (vec![(0, at(4_000))], [2_000, 4_000, 6_000]),
        (vec![(250, at(4_000))], [1_750, 3_750, 5_750]),
        (vec![(1_000, at(800))], [1_000, 11_000, 21_000]),
        (vec![(2_500, at(16_000))], [1_000, 2_000, 2_750]),
        (vec![(3_000, at(800))], [1_000, 2_000, 3_000]),
        // Two changes within a frame: a quarter at 8, a quarter at 4 Mbit/s, the rest at 16.
        (vec![(250, at(4_000)), (750, at(16_000))], [1_000, 1_500, 2_000]),
        // An outage in the middle of a frame, and from the end of a frame on, with a change from zero to
        // zero.
        (vec![(1_500, at(0)), (9_500, at(8_000))], [1_000, 10_000, 11_000]),
        (vec![(1_000, at(0)), (5_000, at(0)), (9_000, at(4_000))], [1_000, 11_000, 13_000]),
    ] {
        let (came, reported) = three(from, &changes);
        let arrived: Vec<(u32, u64)> = (0..).zip(sent.map(|at| at + 10_000)).collect();
        assert_eq!((came, reported), (arrived, sent.to_vec()), "{changes:?}");
    }
    // Down for the whole run, and down from the start until the rate is raised.
    assert_eq!(three(at(0), &[]), (vec![], vec![]));
    assert_eq!(three(at(0), &[(7_000, at(8_000))]).1, [8_000, 9_000, 10_000]);
}

#[test]
fn a_new_delay_applies_to_bits_not_sent_and_no_frame_overtakes() {
    let at = |rate, delay| ethernet(kbps(rate), delay);
    let came = |changes: &[(u64, WireParams)]| {
        three(at(8_000, 10), changes).0.into_iter().map(|(_, at)| at).collect::<Vec<_>>()
    };
    assert_eq!(came(&[(1_500, at(8_000, 15))]), [11_000, 17_000, 18_000]);
    // The first frame arrives at 11 ms. With 2 ms of delay, the half frame and the next one continue from 9
    // ms on.
    assert_eq!(came(&[(1_500, at(8_000, 2))]), [11_000, 11_500, 12_500]);
    // Rate and delay together, and again while the wire pauses.
    assert_eq!(came(&[(1_500, at(4_000, 2))]), [11_000, 12_000, 14_000]);
    assert_eq!(came(&[(1_500, at(4_000, 2)), (5_000, at(8_000, 2))]), [11_000, 11_500, 12_500]);
}

#[test]
fn bits_that_have_left_count_at_any_rate() {
    // 3,000 of 8,000 bits at 8 Mbit/s, the others at 1 to 3 kbit/s with a change every ms: none is lost.
    let (mut w, mut b) = (Wire::new(ethernet(Rate::from_mbps(8), 0), IfId(0), IfId(1)), Bench::new());
    let p = b.packet(0, 962);
    w.push(us(0), p, &mut b.ctx());
    let mut now = us(375);
    for n in 0..500 {
        w.change(now, ethernet(kbps(1 + n % 3), 0), &mut b.ctx());
        now += Duration::from_millis(1);
    }
    // 5,000 bits minus 1, 2 and 3 bits in turn: 167 ones, 167 twos, 166 threes.
    w.change(now, ethernet(kbps(1), 0), &mut b.ctx());
    let left = 5_000 - (167 + 2 * 167 + 3 * 166);
    // Each change rounds up to a nanosecond.
    let takes = (w.next_arrival().expect("a frame") - now).nanos();
    assert!((left * 1_000_000..=left * 1_000_000 + 500).contains(&takes), "{takes} ns for {left} bits");
}

#[test]
fn a_packet_of_several_segments_is_reported_with_its_last_one() {
    let (mut w, mut b) = (Wire::new(ethernet(kbps(0), 10), IfId(0), IfId(1)), Bench::new());
    for _ in 0..2 {
        let p = tests::tcp(&mut b, 3, 1448);
        w.push(us(0), p, &mut b.ctx());
    }
    assert_eq!((w.held(), w.charges().count(), w.next_arrival() > Some(us(1 << 40))), (6, 2, true));
    w.change(us(1_000), ethernet(Rate::from_mbps(100), 10), &mut b.ctx());
    // 1,538 bytes take 123.04 us.
    assert_eq!(reports(&mut w, &mut b, us(1_000_000)), [1_370, 1_739]);
    assert_eq!(arrivals(&mut w, &mut b, us(1_000_000)).len(), 6);
}

#[test]
fn a_modem_drains_and_fills_at_the_new_rate() {
    // Packets of 986 bytes, 1,000 with Ethernet: 1 ms at 8 Mbit/s, just over 8 us on the port.
    let line = |rate: u64| access(kbps(rate), LineBuffer::Bytes(4_000));
    let run = |from: u64, pushes: &[u64], changes: &[(u64, u64)]| {
        let (mut w, mut b) = (Wire::new(line(from), IfId(0), IfId(1)), Bench::new());
        let mut events: Vec<(u64, Option<u64>)> = pushes.iter().map(|at| (*at, None)).collect();
        events.extend(changes.iter().map(|(at, rate)| (*at, Some(*rate))));
        events.sort_by_key(|(at, _)| *at);
        let (mut came, mut n) = (Vec::new(), 0);
        for (at, what) in events {
            came.extend(arrivals(&mut w, &mut b, us(at)));
            w.complete(us(at), &mut b.ctx());
            match what {
                Some(rate) => w.change(us(at), line(rate), &mut b.ctx()),
                None => {
                    let p = b.packet(n, 986);
                    w.push(us(at), p, &mut b.ctx());
                    n += 1;
                }
            }
        }
        came.extend(arrivals(&mut w, &mut b, us(1_000_000_000)));
        // Arrivals without the delay of 10 ms, in steps of 0.1 ms.
        came.into_iter().map(|(n, at)| (n, (at - 10_000) / 100)).collect::<Vec<_>>()
    };
    // One on the line and four in the buffer; the sixth is dropped.
    assert_eq!(run(8_000, &[0; 6], &[]), [(0, 10), (1, 20), (2, 30), (3, 40), (4, 50)]);
    // At 1.5 ms half of the second is left; 80 Mbit/s take 0.1 ms per packet.
    assert_eq!(run(8_000, &[0; 6], &[(1_500, 80_000)]), [(0, 10), (1, 15), (2, 16), (3, 17), (4, 18)]);
    // The buffer empties quickly, and accepts four more.
    let later = [0, 0, 0, 0, 0, 2_000, 2_000, 2_000, 2_000, 2_000, 2_000];
    assert_eq!(run(8_000, &later, &[(1_500, 80_000), (1_990, 8_000)]).len(), 10);
    // At a tenth of the rate, the buffer still has no room at 2.5 ms.
    assert_eq!(run(8_000, &[0, 0, 0, 0, 0, 2_500, 2_500], &[]).len(), 7);
    let slower = run(8_000, &[0, 0, 0, 0, 0, 2_500, 2_500], &[(500, 800)]);
    assert_eq!(slower, [(0, 55), (1, 155), (2, 255), (3, 355), (4, 455)]);
    // An outage: queued packets stay, packets beyond the buffer are dropped, and the rest continues
    // afterwards.
    let outage = run(8_000, &[0, 0, 2_000, 2_000, 2_000, 2_000], &[(500, 0), (9_500, 8_000)]);
    assert_eq!(outage, [(0, 100), (1, 110), (2, 120), (3, 130), (4, 140)]);
    assert_eq!(run(0, &[0; 6], &[(5_000, 8_000)]), [(0, 60), (1, 70), (2, 80), (3, 90)]);
}

#[test]
fn a_frame_on_its_way_to_the_modem_may_find_it_full() {
    let line = |rate| access(rate, LineBuffer::Packets(2));
    let (mut w, mut b) = (Wire::new(line(Rate::from_mbps(800)), IfId(0), IfId(1)), Bench::new());
    // 100 packets in the ring, 8.192 us each on the port and 10 us on the line: the buffer grows by one
    // packet per 50 us.
    for n in 0..10 {
        let p = b.packet(n, 986);
        w.push(us(0), p, &mut b.ctx());
    }
    w.change(us(9), line(kbps(8_000)), &mut b.ctx());
    // The first is on the line, two wait, the others are dropped.
    assert_eq!((w.held(), b.packets.live()), (3, 3));
    let came = arrivals(&mut w, &mut b, us(1_000_000));
    assert_eq!(came.iter().map(|(n, _)| *n).collect::<Vec<_>>(), [0, 1, 2]);
    // The port's reports do not change.
    assert_eq!(reports(&mut w, &mut b, us(1_000_000)).last(), Some(&82));
}

proptest! {
    /// For any changes, packets arrive in order, every packet has arrived, been dropped or is inside, and the
    /// line never carries more than its rates allow.
    #[test]
    fn no_packet_is_lost_duplicated_or_overtakes(
        events in prop::collection::vec((0_u64..3_000, 0_u8..4, 20_u32..1_500, 0_usize..6, 0_u64..12), 1..120),
        modem in any::<bool>(),
        bql in any::<bool>(),
        buffer in 0_u64..20_000,
    ) {
        const RATES: [u64; 6] = [0, 64, 1_000, 8_000, 100_000, 1_000_000];
        let params = |rate: usize, delay: u64| {
            let delay = Duration::from_millis(delay);
            let (rate, ethernet) = (kbps(RATES[rate]), EthernetParams { delay, bql, ring: 64, ..ETHERNET });
            if modem {
                let line = LineParams { rate, buffer: LineBuffer::Bytes(buffer), framing: Framing::RAW };
                WireParams::Access(EthernetParams { rate: Rate::from_mbps(1_000), ..ethernet }, line)
            } else {
                WireParams::Ethernet(EthernetParams { rate, ..ethernet })
            }
        };
        let (mut w, mut b) = (Wire::new(params(3, 5), IfId(0), IfId(1)), Bench::new());
        let (mut now, mut rate, mut n, mut came) = (us(0), 3, 0_u32, Vec::new());
        let (mut bits_allowed, mut pushed_at) = (0_u64, Vec::new());
        let mut came_bits = 0;
        for (gap, what, len, to, delay) in events {
            let next = now + Duration::from_micros(gap);
            bits_allowed += RATES[rate] * gap / 1_000;
            for at in reports(&mut w, &mut b, next) {
                prop_assert!(us(at) >= now, "a report in the past");
            }
            let before = b.packets.live();
            for (seq, at) in arrivals(&mut w, &mut b, next) {
                prop_assert!(us(at) >= now, "an arrival in the past");
                came.push(seq);
                came_bits += u64::from(pushed_at[seq as usize] + 14_u32) * 8;
            }
            prop_assert!(b.packets.live() <= before);
            now = next;
            w.complete(now, &mut b.ctx());
            b.uncharged();
            if what > 0 && !w.is_stopped() {
                w.catch_up(now, true);
                let p = b.packet(n, len);
                w.push(now, p, &mut b.ctx());
                pushed_at.push(len);
                n += 1;
            } else if what == 0 {
                w.change(now, params(to, delay), &mut b.ctx());
                rate = to;
            }
            prop_assert_eq!(w.held(), b.packets.live(), "all that lives is inside");
            prop_assert!(came_bits <= bits_allowed + 12_000, "{} of {} bits", came_bits, bits_allowed);
        }
        w.change(now, params(5, 1), &mut b.ctx());
        came.extend(arrivals(&mut w, &mut b, now + Duration::from_millis(100)).into_iter().map(|(seq, _)| seq));
        reports(&mut w, &mut b, now + Duration::from_millis(100));
        prop_assert!(came.is_sorted_by(|a, b| a < b), "{:?}", came);
        prop_assert_eq!((w.held(), b.packets.live(), w.charges().count()), (0, 0, 0));
        prop_assert!(!w.is_stopped());
        if !modem {
            prop_assert_eq!(came.len() as u32, n, "an Ethernet drops nothing");
        }
    }
}
