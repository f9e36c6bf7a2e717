//! ACK behaviour of a receiver.

use alloc::vec;
use alloc::vec::Vec;
use proptest::prelude::*;

use super::testing::{Bench, MSS, Sent, TRUESIZE, config};
use super::*;
use crate::transport::tcp::config::TcpConfig;
use crate::types::SockId;

type Blocks = &'static [(u32, u32)];

#[test]
fn the_first_sixteen_are_acknowledged_one_by_one_then_every_second() {
    let mut bench = Bench::new(&config());
    for n in 0..22 {
        bench.after_us(1000);
        bench.segment(n);
    }
    let expected: Vec<u32> = (1..=16).chain([18, 20, 22]).collect();
    assert_eq!(bench.acks(), expected);
}

#[test]
fn a_single_segment_waits_for_ten_ticks_and_up_to_one_more() {
    // 37,500 us is tick 9: the timer is set for tick 19 and fires at tick 20.
    let mut bench = Bench::warm(&config(), 36);
    bench.after_us(1500);
    bench.segment(36);
    assert_eq!(bench.acks(), []);
    bench.after_us(100_000);
    assert_eq!(bench.sent, [Sent { at_us: 80_000, ack: 37, blocks: vec![] }]);
}

#[test]
fn a_packet_of_four_segments_gets_one_acknowledgement() {
    let mut bench = Bench::warm(&config(), 36);
    bench.segments(36, 4, 2);
    assert_eq!(bench.acks(), [40]);
}

// linux: net/core/skbuff.c skb_try_coalesce (6.12) - copies data that fits into the tail room of the last
// packet.
#[test]
fn segments_that_fit_the_tail_room_use_no_memory() {
    let memory = |truesize: u32, payloads: [u32; 6], read_after: usize| -> Vec<u32> {
        let mut bench = Bench::new(&config());
        (bench.greedy, bench.truesize) = (false, truesize);
        let mut seq = 0;
        let mut come = |(n, payload)| {
            let mut header = TcpHeader::blank(SockId(0));
            (header.payload, header.mss) = (payload, MSS as u16);
            bench.bytes(seq, header, 1, 2);
            seq += payload;
            if n + 1 == read_after {
                bench.receiver.read(bench.now, u64::MAX);
            }
            bench.receiver.space.rmem_alloc
        };
        payloads.into_iter().enumerate().map(&mut come).collect()
    };
    // 4,352 bytes less 256 of sk_buff, 320 of shared info and 128 of headers: 3,648, two full segments.
    assert_eq!(memory(4352, [1448; 6], 0), [4352, 4352, 8704, 8704, 13_056, 13_056]);
    assert_eq!(memory(2304, [1448; 6], 0), [2304, 4608, 6912, 9216, 11_520, 13_824]);
    // 1,600 bytes less 600 leave room for 500 and 500.
    assert_eq!(memory(2304, [600, 500, 500, 100, 1448, 52], 0), [2304, 2304, 2304, 4608, 4608, 4608]);
    // A packet that has been read provides no tail room.
    assert_eq!(memory(4352, [1448; 6], 3), [4352, 4352, 0, 4352, 4352, 8704]);
}

#[test]
fn gaps_are_acknowledged_immediately_when_they_open_and_close() {
    let mut bench = Bench::warm(&config(), 20);
    // segment received; ACK sent: acknowledged up to, SACK blocks
    let table: [(u32, u32, Blocks); 6] = [
        (21, 20, &[(21, 22)]),
        (23, 20, &[(23, 24), (21, 22)]),
        (21, 20, &[(21, 22), (21, 22), (23, 24)]), // duplicate: D-SACK
        (20, 22, &[(23, 24)]),
        (22, 24, &[]),
        (10, 24, &[(10, 11)]), // older than the last ACK
    ];
    for (n, ack, blocks) in table {
        bench.after_us(1000);
        bench.segment(n);
        let at_us = bench.now.nanos() / 1000;
        assert_eq!(bench.sent, [Sent { at_us, ack, blocks: blocks.to_vec() }], "{n}");
        bench.sent.clear();
    }
}

#[test]
fn duplicate_acks_are_compressed_after_three() {
    // RTT estimate from timestamps of 8 ms: 1/20 is 400 us, plus 100 us of slack.
    let mut bench = Bench::warm(&config(), 20);
    for n in 0..400 {
        bench.after_us(1000);
        let mut header = TcpHeader::blank(SockId(0));
        (header.payload, header.mss) = (MSS, MSS as u16);
        (header.ts_val, header.ts_ecr) = (millis(bench.now), millis(bench.now) - 8);
        bench.bytes((20 + n) * MSS, header, 1, 2);
    }
    assert!((63_900..=64_000).contains(&bench.receiver.space.rtt_us()));
    bench.after_us(100_000);
    bench.sent.clear();
    let start = bench.now.nanos() / 1000;
    for n in 421..427 {
        bench.after_us(10);
        bench.segment(n);
    }
    // The window could still grow at the first, and three more are never compressed.
    assert_eq!(bench.acks(), [420, 420, 420, 420]);
    bench.after_us(10_000);
    assert_eq!(bench.sent, [Sent { at_us: start + 50 + 400 + 100, ack: 420, blocks: vec![(421, 427)] }]);
}

#[test]
fn a_third_hole_flushes_the_compressed_ack() {
    let mut bench = Bench::warm(&config(), 20);
    for n in [21, 23, 25, 26] {
        bench.segment(n);
    }
    assert_eq!(bench.sent.len(), 3);
    bench.sent.clear();
    bench.segment(28);
    let blocks: Vec<_> = bench.sent.iter().map(|s| s.blocks.clone()).collect();
    assert_eq!(blocks, [vec![(25, 27), (23, 24), (21, 22)]]);
}

#[test]
fn small_segments_at_the_end_of_a_message_are_acknowledged_when_read() {
    let mut bench = Bench::warm(&config(), 36);
    let mut header = TcpHeader::blank(SockId(0));
    (header.payload, header.mss, header.flags) = (100, MSS as u16, TcpFlags::ACK.with(TcpFlags::PSH));
    header.ts_val = 100;
    bench.bytes(36 * MSS, header, 1, 2);
    assert_eq!(bench.acks(), [36]);
}

#[test]
fn window_matches_linux() {
    let mut receiver = Receiver::new(&config());
    assert_eq!(receiver.open(false), (64_240, 7));
    let mut receiver = Receiver::new(&config());
    assert_eq!(receiver.open(true), (65_160, 7));
    let mut bench = Bench::new(&config());
    bench.segment(0);
    // 65,160 of 65,536 (half of the buffer), without room for another segment, in units of 128.
    assert_eq!(bench.header.window, 64_128);
}

#[test]
fn buffer_grows_with_the_data_read_per_rtt() {
    // With an RTT of 2 ms, first 20 segments per RTT, then 40: at least twice the amount read.
    let mut bench = Bench::new(&config());
    let mut seen = Vec::new();
    let mut n = 0;
    for burst in [10, 20, 40, 80, 80, 80] {
        bench.after_us(2000);
        for _ in 0..burst {
            let mut header = TcpHeader::blank(SockId(0));
            (header.payload, header.mss) = (MSS, MSS as u16);
            (header.ts_val, header.ts_ecr) = (millis(bench.now), millis(bench.now) - 2);
            bench.bytes(n * MSS, header, 1, 2);
            n += 1;
        }
        let space = &bench.receiver.space;
        seen.push((space.rcv_space() / MSS, space.rcvbuf, space.window_clamp));
    }
    // A round ends with the first segment of the next burst. 11 segments after 10: 2 x 11 + 16, plus 2/10 for
    // growth: 45 segments of 2,920 bytes. 20 after 11: 56 + 2 x 56 x 9/11 = 147. 40 after 20: 96 x 3. 80
    // after 40: 176 x 3.
    assert_eq!(
        seen,
        [
            (10, 131_072, 64_088),
            (11, 131_400, 65_700),
            (20, 429_240, 214_620),
            (40, 840_960, 420_480),
            (80, 1_541_760, 770_880),
            (80, 1_541_760, 770_880),
        ]
    );
}

#[test]
fn a_sleeping_reader_closes_the_window() {
    let config = TcpConfig { moderate_rcvbuf: false, ..config() };
    let mut bench = Bench::warm(&config, 20);
    bench.greedy = false;
    let mut n = 20;
    while bench.header.window >= MSS {
        bench.segment(n);
        bench.after_us(250_000);
        n += 1;
    }
    let full = bench.receiver.readable();
    assert!(bench.receiver.space.rmem_alloc <= bench.receiver.space.rcvbuf + TRUESIZE);
    assert_eq!(bench.receiver.read(bench.now, u64::from(MSS) - 1), u64::from(MSS) - 1);
    assert!(!bench.receiver.ack_now(), "the packet is still there");
    bench.receiver.read(bench.now, full);
    assert!(bench.receiver.ack_now());
}

#[test]
fn ce_is_echoed_until_cwr() {
    let mut bench = Bench::warm(&config(), 36);
    // segment, its ECN bits, CWR; ECE flag of the ACK sent, if any
    let table = [
        (36, 2, false, None),
        (37, 3, false, Some(true)),
        (38, 2, false, Some(true)), // the second quick ACK
        (39, 2, false, None),
        (40, 2, false, Some(true)),
        (41, 2, true, Some(false)), // acknowledged immediately
        (42, 2, false, None),
        (43, 2, false, Some(false)),
    ];
    for (n, ecn, cwr, echo) in table {
        bench.after_us(100);
        let mut header = TcpHeader::blank(SockId(0));
        (header.payload, header.mss, header.ts_val) = (MSS, MSS as u16, millis(bench.now));
        header.flags = if cwr { TcpFlags::CWR } else { TcpFlags::ACK };
        bench.bytes(n * MSS, header, 1, ecn);
        let sent = bench.sent.pop().map(|_| bench.header.flags.has(TcpFlags::ECE));
        assert_eq!(sent, echo, "{n}");
    }
}

#[test]
fn timestamp_echo_is_that_of_the_first_unacknowledged_segment() {
    let mut bench = Bench::warm(&config(), 36);
    let at = millis(bench.now);
    bench.segment(36);
    bench.after_us(5000);
    bench.segment(37);
    assert_eq!((bench.acks(), bench.header.ts_ecr, bench.header.ts_val), (vec![38], at + 1, at + 5));
    // Neither the second segment of an ACK nor one beyond a gap is echoed.
    bench.after_us(5000);
    bench.segment(39);
    assert_eq!((bench.acks(), bench.header.ts_ecr), (vec![38], at + 1));
}

#[test]
fn fin_takes_a_sequence_number_but_no_byte() {
    let mut bench = Bench::warm(&config(), 20);
    let mut header = TcpHeader::blank(SockId(0));
    (header.payload, header.mss, header.flags) = (MSS, MSS as u16, TcpFlags::FIN);
    header.ts_val = 100;
    bench.bytes(21 * MSS, header, 1, 2);
    assert!(!bench.receiver.fin_received());
    bench.segment(20);
    assert!(bench.receiver.fin_received());
    assert_eq!((bench.receiver.rcv_nxt(), bench.receiver.readable()), (22 * MSS + 1, 0));
    let mut info = TcpInfo::default();
    bench.receiver.info(Instant::ZERO, &mut info);
    assert_eq!((info.bytes_received, info.rmem_alloc), (u64::from(22 * MSS), 0));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Segments in any order, with losses, duplicates, overlaps and an occasional reader: every byte is read
    /// once, all memory is freed, and the window never shrinks.
    #[test]
    fn memory_is_freed_and_the_window_never_shrinks(
        arrivals in prop::collection::vec((0_u32..40, 1_u16..4, 0_u32..3, 0_u64..5000, any::<bool>()), 1..300),
        start in any::<u32>(),
    ) {
        let mut config = config();
        config.rmem = [4096, 131_072, 200_000];
        let mut bench = Bench::from(&config, start);
        bench.greedy = false;
        let (mut read, mut right) = (0, start);
        for (ahead, count, part, gap, reads) in arrivals {
            bench.after_us(gap);
            let mut header = TcpHeader::blank(SockId(0));
            header.payload = MSS * u32::from(count) - part * 100;
            (header.mss, header.ts_val) = (MSS as u16, millis(bench.now));
            let seq = bench.receiver.rcv_nxt.wrapping_add(ahead * MSS / 4).wrapping_sub(3 * MSS);
            bench.bytes(seq, header, count, 2);
            if reads {
                read += bench.receiver.read(bench.now, 5000);
            }
            let now_right = bench.receiver.rcv_nxt.wrapping_add(bench.receiver.window());
            prop_assert!(!before(now_right, right));
            right = now_right;
            let held: u32 = bench.receiver.queue.iter().map(|q| q.1).sum();
            prop_assert!(held <= bench.receiver.space.rmem_alloc);
            prop_assert!(bench.receiver.ofo.is_empty() != (held < bench.receiver.space.rmem_alloc));
        }
        read += bench.receiver.read(bench.now, u64::MAX);
        prop_assert_eq!(read, u64::from(distance(start, bench.receiver.rcv_nxt)));
        while let Some(range) = bench.receiver.ofo.pop_in_order(bench.receiver.rcv_nxt.wrapping_add(1 << 30)) {
            bench.receiver.space.rmem_alloc -= range.truesize;
        }
        prop_assert_eq!(bench.receiver.space.rmem_alloc, 0);
    }
}
