//! Property tests of the whole sender.

use alloc::vec;
use alloc::vec::Vec;
use proptest::prelude::*;

use super::super::config::LossDetection;
use super::queue::{LOST, NIL, RETRANS, SACKED};
use super::testing::*;
use super::*;
use crate::types::TcpFlags;

/// Checks the sender's invariants.
fn check(s: &Sender, refused: bool) {
    let sk = &s.sk;
    let sum =
        |flag: u16| -> u32 { s.rtx.iter().filter(|skb| skb.is(flag)).map(|skb| u32::from(skb.segs)).sum() };
    let all: u32 = s.rtx.iter().map(|skb| u32::from(skb.segs)).sum();
    assert_eq!(sk.packets_out, all, "packets out");
    assert_eq!(sk.lost_out, sum(LOST), "lost");
    assert_eq!(sk.retrans_out, sum(RETRANS), "sent again");
    if s.sack {
        assert_eq!(sk.sacked_out, sum(SACKED), "SACKed");
    }
    assert!(sk.sacked_out + sk.lost_out <= sk.packets_out, "more left than out");
    assert!(!s.rtx.iter().any(|skb| skb.is(SACKED) && skb.is(LOST)), "SACKed and lost");
    let mut seq = s.rtx.head().map_or(sk.snd_nxt, |skb| skb.seq);
    for skb in s.rtx.iter() {
        assert_eq!(skb.seq, seq, "no gap between packets");
        seq = skb.end;
    }
    assert_eq!(seq, sk.snd_nxt);
    let (mut id, mut last, mut linked) = (s.rtx.oldest(), 0, 0);
    while id != NIL {
        let skb = s.rtx.at(id);
        // A refused retransmission has a new time but keeps its place.
        assert!(skb.sent_us >= last || refused, "in order of transmission");
        (last, linked) = (skb.sent_us, linked + 1);
        id = s.rtx.sent_after(id);
    }
    assert!(linked <= s.rtx.len());
    let memory: u32 = s.rtx.iter().map(|skb| skb.truesize).sum();
    assert!(s.buf.wmem_queued >= memory);
    assert!(sk.snd_cwnd > 0);
}

fn finish(run: &mut Run, bytes: u64) {
    let mut steps = 0u64;
    while !run.s.finished() {
        assert!(run.step(), "nothing left to happen, yet not finished");
        check(&run.s, run.refused);
        assert!(run.s.charged() >= run.held());
        steps += 1;
        assert!(run.seconds() < 7_200.0, "stalled: {:?}", run.s.sk);
        assert!(steps < 2_000_000);
    }
    assert!(run.fin);
    assert_eq!(run.received, bytes + 1);
    while run.s.charged() > 0 {
        assert!(run.step());
    }
    assert_eq!(run.s.buf.wmem_queued, 0);
    // Only a pacing timer may still be pending.
    for _ in 0..2 {
        run.s.on_timer(run.s.next_timer().unwrap_or_default(), &mut Sink::default());
    }
    assert_eq!(run.s.next_timer(), None);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn everything_arrives_and_all_accounts_close(
        (bytes, seed) in (1u64..1_200_000, any::<u64>()),
        (rate, queue, delay_us) in (1u64..60, 1usize..60, 50u64..40_000),
        (loss, duplicate, late, ack_loss) in (0u8..12, 0u8..6, 0u8..12, 0u8..12),
        (tso, sack, timestamps, ecn, paced) in any::<(bool, bool, bool, bool, bool)>(),
        (off, every, closes) in any::<(bool, bool, bool)>(),
        loss_rule in 0u8..4,
        hz in prop::sample::select(vec![100u32, 250, 300, 1000]),
    ) {
        let mut c = config();
        (c.tso, c.sack, c.timestamps, c.hz) = (tso, sack || loss_rule > 1, timestamps, hz);
        c.ecn = if ecn { 1 } else { 0 };
        c.small_queues.off = off;
        c.loss = match loss_rule {
            0 => LossDetection::DupAck,
            1 => LossDetection::Fack,
            _ => LossDetection::RackTlp,
        };
        let path = Path { rate, queue, delay_us, loss, duplicate, late, ack_loss, mark: 3, closes, every };
        let mut run = Run::new(&c, path, bytes, seed);
        run.s.sk.needs_pacing = paced;
        finish(&mut run, bytes);
    }
}

// linux: net/ipv4/tcp_output.c __tcp_transmit_skb (6.1; absent in 5.3).
#[test]
fn tso_packets_have_psh_since_5_4() {
    for (each, pushed) in [(true, [true, true, true]), (false, [false, false, true])] {
        let mut c = config();
        (c.tso, c.push_each_packet, c.small_queues.off) = (true, each, true);
        let mut s = established_by(&c, &PathMetrics::default());
        let mut out = Sink::default();
        s.write(at_us(20_000), 6 * 1_448, &mut out);
        let sent: Vec<(u16, bool)> =
            out.sent.iter().map(|one| (one.segs, one.flags.has(TcpFlags::PSH))).collect();
        assert_eq!(sent, pushed.map(|psh| (2, psh)), "{each}");
        // PSH belongs to the transmission: single-segment retransmissions do not have it.
        assert_eq!(s.rtx.iter().filter(|skb| skb.is(queue::PUSH)).count(), 1);
    }
}
