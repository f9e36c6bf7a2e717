//! Small scenarios of the whole sender, with results worked out by hand.

use super::super::AckIn;
use super::super::config::LossDetection;
use super::queue::UnsentQueue;
use super::testing::*;
use super::*;
use crate::qdisc::Enqueue;
use crate::types::{SockId, TcpFlags, TcpHeader};
use alloc::vec;
use alloc::vec::Vec;

const MSS: u32 = 1_448;
const START: u32 = 1_000;

/// Sequence number of the `n`th segment.
fn seq(n: u32) -> u32 {
    START + n * MSS
}
/// SACK block of segments `a` to `b`, excluding `b`.
fn block(a: u32, b: u32) -> (u32, u32) {
    (seq(a), seq(b))
}

/// A backlogged sender without small queues that sent `cwnd` segments at 100 ms.
fn sending(cwnd: u32) -> (Sender, Sink) {
    let mut s = established();
    s.cfg.small_queues.off = true;
    s.cfg.wmem[2] = 1 << 24;
    (s.sk.snd_cwnd, s.buf.sndbuf) = (cwnd, 1 << 24);
    let mut out = Sink::default();
    assert_eq!(s.write(at_us(100_000), 500 * u64::from(MSS), &mut out), 500 * u64::from(MSS));
    assert_eq!(out.numbers(), (0..cwnd).collect::<Vec<_>>());
    // All segments have left the host.
    for _ in 0..cwnd {
        s.uncharge(LATER, 2_728);
    }
    (s, out)
}

#[test]
fn small_queues_hold_two_packets_or_a_millisecond() {
    // pacing rate in Mbit/s, packets: the last one may exceed the limit
    for (mbps, packets) in [(10, 2), (100, 5), (1_000, 45)] {
        let mut s = established();
        let mut out = Sink::default();
        (s.sk.snd_cwnd, s.buf.sndbuf) = (100, 1 << 24);
        s.sk.pacing_rate = mbps * 125_000;
        s.write(at_us(20_000), 1 << 18, &mut out);
        assert_eq!(out.sent.len(), packets, "{mbps}");
        assert!(out.sent.iter().all(|p| (p.payload, p.segs, p.truesize) == (MSS, 1, 2_728)));
        assert_eq!(s.charged(), packets as u32 * 2_728);
        // Only the first completion wakes the socket.
        assert!(s.uncharge(LATER, 2_728));
        assert!(!s.uncharge(LATER, 2_728));
        out.sent.clear();
        s.push(at_us(21_000), &mut out);
        assert_eq!(out.sent.len(), 2, "{mbps}");
        assert!(s.uncharge(LATER, 2_728));
    }
}

#[test]
fn a_local_refusal_is_no_loss() {
    let (mut s, mut out) = sending(10);
    ack(&mut s, at_us(110_000), seq(2), 100, &[]);
    out.answers.push_back(Enqueue::Dropped);
    s.push(at_us(110_000), &mut out);
    // One packet was refused, and none followed.
    assert_eq!(out.numbers(), [10]);
    assert_eq!((s.sk.ca_state, s.sk.snd_ssthresh, s.sk.snd_nxt), (CaState::Cwr, 6, seq(10)));
    assert!(!s.uncharge(LATER, 2_728));
    assert_eq!(s.charged(), 0);
    // PRR reduces 12 segments to 6: one segment per two acknowledged.
    ack(&mut s, at_us(112_000), seq(4), 100, &[]);
    s.push(at_us(112_000), &mut out);
    assert_eq!(out.numbers(), [10]);
    let mut info = TcpInfo::default();
    s.info(at_us(112_000), &mut info);
    assert_eq!((info.retrans_total, info.lost, info.data_segs_out), (0, 0, 12));
}

#[test]
fn congestion_below_reduces_the_window_but_counts_as_sent() {
    let (mut s, mut out) = sending(10);
    ack(&mut s, at_us(110_000), seq(2), 100, &[]);
    out.answers.push_back(Enqueue::Congested);
    s.push(at_us(110_000), &mut out);
    assert_eq!((s.sk.ca_state, s.sk.snd_nxt), (CaState::Cwr, seq(14)));
    assert_eq!(out.numbers(), [10, 11, 12, 13]);
}

#[test]
fn rack_resends_after_three_and_prr_paces_the_rest() {
    let (mut s, mut out) = sending(20);
    let mut sent = vec![];
    for n in 1..=8 {
        ack(&mut s, at_us(110_000 + u64::from(n) * 100), seq(0), 100, &[block(1, 1 + n)]);
        s.push(at_us(110_000 + u64::from(n) * 100), &mut out);
        sent.push(out.numbers());
    }
    // Two by limited transmit, then the hole, then one per two ACKs.
    assert_eq!(sent, [vec![20], vec![21], vec![0], vec![], vec![22], vec![], vec![23], vec![]], "{:?}", s.sk);
    assert_eq!((s.sk.ca_state, s.sk.snd_ssthresh, s.sk.lost_out), (CaState::Recovery, 10, 1));
    // The ACK for the retransmission ends recovery, and raises the window above the threshold.
    s.uncharge(LATER, 2_728);
    ack(&mut s, at_us(121_000), seq(22), 110, &[]);
    assert_eq!((s.sk.ca_state, s.sk.snd_cwnd, s.sk.packets_out), (CaState::Open, 10 + 1, 2));
}

#[test]
fn reordering_is_undone_and_remembered() {
    let (mut s, mut out) = sending(20);
    for n in 1..=4 {
        ack(&mut s, at_us(110_000), seq(0), 100, &[block(1, 1 + n)]);
    }
    s.push(at_us(110_000), &mut out);
    assert_eq!((s.sk.ca_state, s.sk.snd_cwnd < 20), (CaState::Recovery, true));
    let count = out.sent.len();
    (0..count).for_each(|_| assert!(!s.uncharge(LATER, 2_728)));
    // The original arrives: its timestamp echo is older than the retransmission. It also raises the window.
    ack(&mut s, at_us(111_000), seq(5), 100, &[]);
    assert_eq!((s.sk.ca_state, s.sk.snd_cwnd, s.sk.snd_ssthresh), (CaState::Open, 20 + 1, 0x7fff_ffff));
    assert_eq!(s.reordering, 5);
}

#[test]
fn dsacks_for_every_retransmission_undo_the_reduction() {
    let (mut s, mut out) = sending(20);
    s.timestamps = false;
    for n in 1..=4 {
        ack(&mut s, at_us(110_000), seq(0), 0, &[block(1, 1 + n)]);
    }
    s.push(at_us(110_000), &mut out);
    assert_eq!(out.numbers()[0], 0);
    while s.charged() > 0 {
        s.uncharge(LATER, 2_728);
    }
    ack(&mut s, at_us(111_000), seq(5), 0, &[]);
    assert_eq!((s.sk.ca_state, s.sk.snd_ssthresh), (CaState::Recovery, 10));
    ack(&mut s, at_us(120_000), seq(5), 0, &[block(0, 1)]);
    assert_eq!((s.sk.ca_state, s.sk.snd_cwnd, s.sk.snd_ssthresh), (CaState::Open, 20, 0x7fff_ffff));
    let mut info = TcpInfo::default();
    s.info(at_us(120_000), &mut info);
    assert_eq!((info.dsack_dups, info.retrans_total), (1, 1));
}

#[test]
fn probe_then_timeout_at_ticks() {
    let (mut s, mut out) = sending(2);
    // With an srtt of 10 ms, the probe is due after 20 + 2 ms = 6 ticks, plus a tick of the timer wheel: sent
    // in tick 25, due in tick 32.
    assert_eq!(s.next_timer(), Some(at_us(128_000)));
    s.on_timer(at_us(128_000), &mut out);
    assert_eq!(out.numbers(), [2]);
    // New data served as the probe. The timeout restarts: 10 + 200 ms are 53 ticks.
    assert_eq!(s.next_timer(), Some(at_us(128_000 + 53 * 4_000 + 4_000)));
    s.uncharge(LATER, 2_728);
    s.on_timer(at_us(344_000), &mut out);
    assert_eq!((s.sk.ca_state, s.sk.lost_out, s.sk.snd_cwnd), (CaState::Loss, 3, 1));
    assert_eq!(out.numbers(), [0]);
    // Backoff: 106 ticks from tick 86, in wheel slots of eight beyond 63.
    assert_eq!(s.next_timer(), Some(at_us(200 * 4_000)));
    let mut info = TcpInfo::default();
    s.info(at_us(344_000), &mut info);
    assert_eq!((info.rto_us, info.backoff, info.timeouts, info.tlp_probes), (424_000, 1, 1, 1));
}

#[test]
fn a_probe_that_repaired_a_loss_reduces_the_window() {
    let (mut s, mut out) = sending(10);
    s.unsent = UnsentQueue::default();
    s.sk.unsent = 0;
    s.on_timer(at_us(132_000), &mut out);
    assert_eq!(out.numbers(), [9]);
    s.uncharge(LATER, 2_728);
    ack(&mut s, at_us(142_000), seq(10), 132, &[]);
    // Nothing beyond the probe was acknowledged, so the outcome is still open.
    assert_eq!((s.sk.ca_state, s.tlp.high_seq), (CaState::Open, Some(seq(10))));
    s.write(at_us(143_000), u64::from(MSS), &mut out);
    s.uncharge(LATER, 2_728);
    ack(&mut s, at_us(153_000), seq(11), 143, &[]);
    assert_eq!((s.sk.ca_state, s.tlp.high_seq), (CaState::Open, None));
    assert_eq!(s.sk.snd_cwnd, s.sk.snd_ssthresh);
}

#[test]
fn frto_detects_a_spurious_timeout() {
    let (mut s, mut out) = sending(10);
    s.timestamps = false;
    s.cfg.tail_loss_probe = false;
    s.rearm_rto();
    s.on_timer(s.next_timer().expect("a timeout"), &mut out);
    assert_eq!((s.sk.ca_state, s.sk.lost_out, out.numbers()), (CaState::Loss, 10, vec![0]));
    s.uncharge(LATER, 2_728);
    // The first retransmission is acknowledged: F-RTO sends new data before lost packets.
    ack(&mut s, at_us(400_000), seq(1), 0, &[]);
    s.push(at_us(400_000), &mut out);
    assert_eq!(out.numbers(), [10, 11]);
    // Data that was never retransmitted is acknowledged.
    ack(&mut s, at_us(401_000), seq(3), 0, &[]);
    assert_eq!((s.sk.ca_state, s.sk.snd_cwnd, s.sk.lost_out), (CaState::Open, 10 + 2, 0));
}

#[test]
fn ece_reduces_once_per_window() {
    let (mut s, mut out) = sending(10);
    s.ecn.ok = true;
    let mut header = TcpHeader::blank(SockId(0));
    (header.flags, header.window, header.ts_ecr) = (TcpFlags::ACK.with(TcpFlags::ECE), 1 << 20, 100);
    for n in [2, 4, 6] {
        s.on_ack(at_us(110_000), &AckIn { ack: seq(n), seq: 1, header: &header }, false);
        s.push(at_us(110_000), &mut out);
        assert_eq!((s.sk.ca_state, s.sk.snd_ssthresh), (CaState::Cwr, 5), "{n}");
    }
    let cwr: Vec<_> = out.sent.iter().map(|p| (p.ecn_capable, p.flags.has(TcpFlags::CWR))).collect();
    assert_eq!(cwr, [(true, true), (true, false), (true, false)]);
}

#[test]
fn send_buffer_grows_with_the_window_and_wakes_at_a_third() {
    let mut s = established();
    // Ten segments times two, of 2,048 + 256 bytes; 4,096 + 256 with the header room for Wi-Fi.
    assert_eq!(s.buf.sndbuf, 46_080);
    s.cfg.max_header = 320;
    s.expand_sndbuf();
    assert_eq!(s.buf.sndbuf, 87_040);
    // 32 packets of 2,728 bytes, the last of which exceeds the limit. With a full window the buffer does not
    // grow.
    let mut out = Sink::default();
    s.cfg.small_queues.off = true;
    s.cfg.space_on_send = false;
    s.sk.snd_cwnd = 32;
    assert_eq!(s.write(at_us(20_000), 1 << 20, &mut out), 32 * u64::from(MSS));
    assert_eq!((s.buf.wmem_queued, out.sent.len()), (32 * 2_728, 32));
    s.check_space();
    assert_eq!((s.wants_data(), s.buf.sndbuf), (false, 87_040));
    // With 21 packets 29,752 bytes are free, more than half of what they occupy.
    for (acked, wants) in [(10, false), (11, true)] {
        ack(&mut s, at_us(30_000), seq(acked), 20, &[]);
        s.sk.snd_cwnd = s.sk.in_flight();
        s.check_space();
        assert_eq!(s.wants_data(), wants, "{acked}");
    }
    assert!(!s.wants_data(), "asked for already");
}

#[test]
fn a_closed_window_is_probed() {
    let (mut s, mut out) = sending(2);
    let mut header = TcpHeader::blank(SockId(0));
    (header.flags, header.ts_ecr) = (TcpFlags::ACK, 100);
    s.on_ack(at_us(110_000), &AckIn { ack: seq(2), seq: 1, header: &header }, false);
    s.push(at_us(110_000), &mut out);
    assert!(out.sent.is_empty());
    let mut waits = vec![];
    for _ in 0..3 {
        let at = s.next_timer().expect("a probe");
        waits.push(at.nanos() / 4_000_000);
        s.on_timer(at, &mut out);
        let probe = out.sent.pop().expect("a probe");
        assert_eq!((probe.seq, probe.payload, probe.truesize), (seq(2) - 1, 0, 0));
        s.on_ack(at, &AckIn { ack: seq(2), seq: 1, header: &header }, false);
    }
    // In ticks: 53 from tick 27, then 106 and 212, each rounded up to a wheel slot of eight.
    assert_eq!(waits, [81, 192, 408]);
    header.window = 3 * MSS;
    s.sk.snd_cwnd = 10;
    s.on_ack(at_us(1_700_000), &AckIn { ack: seq(2), seq: 1, header: &header }, false);
    s.push(at_us(1_700_000), &mut out);
    assert_eq!(out.numbers(), [2, 3, 4]);
}

#[test]
fn an_idle_window_is_halved_each_timeout() {
    // idle ms, window after; the timeout is 212 ms
    for (idle, cwnd) in [(200, 64), (300, 32), (500, 16), (2_000, 10)] {
        let mut s = established();
        let mut out = Sink::default();
        s.sk.snd_cwnd = 64;
        let now = at_us(10_000 + idle * 1_000);
        s.write(now, 1_000, &mut out);
        assert_eq!(s.sk.snd_cwnd, cwnd, "{idle}");
    }
}

#[test]
fn a_small_segment_waits_for_another_small_one() {
    let mut s = established();
    let mut out = Sink::default();
    s.cfg.small_queues.off = true;
    for bytes in [100, 200, 300] {
        s.write(at_us(20_000), bytes, &mut out);
    }
    // The second segment waited, and the third was appended to it.
    assert_eq!(out.sent.iter().map(|p| p.payload).collect::<Vec<_>>(), [100]);
    ack(&mut s, at_us(30_000), START + 100, 20, &[]);
    s.push(at_us(30_000), &mut out);
    assert_eq!(out.sent[1].payload, 500);
    // A full segment does not wait.
    s.write(at_us(30_000), u64::from(MSS), &mut out);
    assert_eq!(out.sent.len(), 3);
    s.close();
    s.push(at_us(30_000), &mut out);
    assert_eq!((out.sent[3].payload, out.sent[3].flags), (0, TcpFlags::FIN));
}

#[test]
fn pacing_spreads_packets_over_time() {
    let (mut s, mut out) = sending(10);
    s.sk.needs_pacing = true;
    s.sk.pacing_rate = 1_448_000;
    s.sk.snd_cwnd = 20;
    let mut times = vec![];
    let mut now = at_us(100_000);
    s.push(now, &mut out);
    for _ in 0..3 {
        times.push((now.nanos() / 1_000, out.numbers()));
        now = s.next_timer().expect("a departure");
        s.on_timer(now, &mut out);
    }
    assert_eq!(times, [(100_000, vec![10]), (101_000, vec![11]), (102_000, vec![12])]);
}

#[test]
fn packets_for_fq_are_stamped_and_sent_immediately() {
    let (mut s, mut out) = sending(10);
    (s.sk.needs_pacing, s.cfg.fq) = (true, true);
    s.sk.pacing_rate = 1_448_000;
    s.sk.snd_cwnd = 14;
    let now = at_us(100_000);
    s.push(now, &mut out);
    let stamps: Vec<_> = out.sent.iter().map(|segment| segment.departs.nanos() / 1_000).collect();
    assert_eq!(stamps, [100_000, 101_000, 102_000, 103_000]);
    // A pure ACK departs behind the data; one created after the last departure is not delayed.
    assert_eq!(s.departure(now), at_us(104_000));
    assert_eq!(s.departure(at_us(104_500)), at_us(104_500));
    // The RTT is measured from the departure: 5 ms for the twelfth packet.
    ack(&mut s, at_us(106_000), seq(12), 0, &[]);
    assert_eq!(s.sk.min_rtt_us, 5_000);
}

#[test]
fn delivery_rate_of_a_clean_path() {
    let (mut s, mut out) = sending(10);
    // Ten segments arrive, one per ms.
    for n in 1..=10 {
        ack(&mut s, at_us(110_000 + u64::from(n) * 1_000), seq(n), 100, &[]);
        s.push(at_us(110_000 + u64::from(n) * 1_000), &mut out);
    }
    // Ten segments in 20 ms, from transmission to the last ACK.
    let mut info = TcpInfo::default();
    s.info(at_us(120_000), &mut info);
    assert_eq!((info.delivery_rate, info.delivered, info.app_limited), (724_000, 11, true));
}

#[test]
fn fack_and_dupack_count_differently() {
    // rule, SACKed segments, recovery starts
    let table = [
        (LossDetection::DupAck, (3, 5), false),
        (LossDetection::DupAck, (3, 6), true),
        (LossDetection::Fack, (3, 4), true),
        (LossDetection::Fack, (1, 2), false),
    ];
    for (rule, (a, b), recovers) in table {
        let (mut s, _) = sending(20);
        s.cfg.loss = rule;
        ack(&mut s, at_us(110_000), seq(0), 100, &[block(a, b)]);
        assert_eq!(s.sk.ca_state == CaState::Recovery, recovers, "{rule:?} {a} {b}");
    }
}

#[test]
fn only_rack_detects_a_lost_retransmission() {
    use super::super::config::RackBeside;
    // RACK alongside counting, lost retransmission is retransmitted before the timeout
    for (rule, rack, again) in [
        (LossDetection::Fack, RackBeside::No, false),
        (LossDetection::Fack, RackBeside::InRecovery, true),
        (LossDetection::DupAck, RackBeside::Always, true),
        (LossDetection::RackTlp, RackBeside::No, true),
    ] {
        let (mut s, mut out) = sending(20);
        (s.cfg.loss, s.cfg.rack_beside) = (rule, rack);
        s.sk.min_rtt_us = 100_000;
        out.numbers();
        // The first is lost and six are SACKed: it is retransmitted, followed by new data.
        ack(&mut s, at_us(110_000), seq(0), 100, &[block(1, 7)]);
        s.push(at_us(110_000), &mut out);
        assert_eq!(out.numbers().iter().filter(|n| **n == 0).count(), 1, "{rule:?} {rack:?}");
        for n in 8..=20 {
            ack(&mut s, at_us(110_000 + 1_000 * n), seq(0), 100, &[block(1, n as u32)]);
            s.push(at_us(110_000 + 1_000 * n), &mut out);
        }
        let new = out.numbers();
        let last = *new.iter().max().expect("new data went out");
        assert!(last >= 20 && !new.contains(&0), "{rule:?} {rack:?} {new:?}");
        // Everything has left the host, including the retransmission.
        for _ in 0..=new.len() {
            s.uncharge(LATER, 2_728);
        }
        // Packets sent long after the retransmission arrive; the retransmission does not.
        ack(&mut s, at_us(230_000), seq(0), 100, &[block(1, 20), block(20, last + 1)]);
        s.push(at_us(230_000), &mut out);
        assert_eq!(out.numbers().contains(&0), again, "{rule:?} {rack:?}");
    }
}

#[test]
fn send_buffer_grows_while_the_window_is_filled() {
    for (space_on_send, sndbuf) in [(true, 2 * 20 * 2_304), (false, 46_080)] {
        let mut s = established();
        let mut out = Sink::default();
        s.cfg.small_queues.off = true;
        s.cfg.space_on_send = space_on_send;
        s.write(at_us(20_000), 1 << 20, &mut out);
        // 17 packets fill the buffer, ten the window. Packets sent before the writer waits do not wake it.
        assert_eq!((s.sk.in_flight(), s.buf.sndbuf, s.wants_data()), (10, 46_080, false));
        s.sk.snd_cwnd = 20;
        s.push(at_us(20_000), &mut out);
        assert_eq!((s.sk.in_flight(), s.buf.sndbuf, s.wants_data()), (17, sndbuf, space_on_send));
    }
}

#[test]
fn full_packets_are_sent_immediately_and_remainders_refilled() {
    let mut s = sender(&TcpConfig { tso: true, tso_rtt_log: 0, ..config() });
    s.established(
        at_us(400),
        START,
        &PEER,
        65_160,
        Some(Duration::from_micros(400)),
        &PathMetrics::default(),
    );
    let mut out = Sink::default();
    // As measured on the kernel: a packet holds 22 segments; half of the window is sent immediately, and the
    // rest is filled up again; the forced PSH lets everything be sent, which leaves room for one more fill.
    assert_eq!(s.write(at_us(400), 1 << 20, &mut out), (22 + 5 + 5) * u64::from(MSS));
    let sizes = |out: &mut Sink| out.sent.drain(..).map(|p| p.segs).collect::<Vec<_>>();
    assert_eq!((sizes(&mut out), s.buf.wmem_queued, s.sk.unsent), (vec![5, 5], 50_176, 22 * MSS));
    let mut header = TcpHeader::blank(SockId(0));
    (header.flags, header.window) = (TcpFlags::ACK, 61_312);
    s.on_ack(at_us(800), &AckIn { ack: seq(5), seq: 1, header: &header }, false);
    s.push(at_us(800), &mut out);
    // Three more segments of window would be deferred, but the woken writer pushes them.
    assert_eq!((sizes(&mut out), s.buf.sndbuf, s.wants_data()), (vec![7], 69_120, true));
    assert_eq!(s.write(at_us(800), 1 << 20, &mut out), (7 + 3 + 22) * u64::from(MSS));
    assert_eq!((sizes(&mut out), s.sk.in_flight()), (vec![3], 15));
}

#[test]
fn probes_wait_in_us_or_in_ticks() {
    // in us, packets in flight, srtt in us, ticks of 4 ms
    let table = [
        (true, 2, 1_100, 2),
        (true, 2, 900, 1),
        (false, 2, 900, 3),
        (true, 2, 10_000, 6),
        (false, 2, 10_000, 7),
        (true, 1, 900, 51),
        (false, 1, 900, 51),
    ];
    for (timeouts_in_us, packets, srtt, ticks) in table {
        let (mut s, _) = sending(packets);
        s.cfg.timeouts_in_us = timeouts_in_us;
        s.sk.srtt_us = srtt << 3;
        assert!(s.schedule_loss_probe(true));
        let fires = at_us((s.sk.jiffies as u64 + ticks + 1) * 4_000);
        assert_eq!(s.next_timer(), Some(fires), "{timeouts_in_us} {packets} {srtt}");
    }
}

#[test]
fn sacked_neighbours_share_one_sk_buff() {
    let (mut s, _) = sending(20);
    let full = s.buf.wmem_queued;
    // SACK blocks, sk_buffs freed
    for (blocks, heads) in
        [(&[block(3, 4)][..], 0), (&[block(5, 6), block(3, 4)], 0), (&[block(3, 6)], 2), (&[block(3, 9)], 5)]
    {
        ack(&mut s, at_us(110_000), seq(0), 100, blocks);
        assert_eq!(full - s.buf.wmem_queued, heads * (2_728 - MSS), "{blocks:?}");
    }
    ack(&mut s, at_us(120_000), seq(20), 110, &[]);
    assert_eq!(s.buf.wmem_queued, 480 * 2_728);
}
