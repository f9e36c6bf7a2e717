use super::*;
use crate::types::{NoSink, PeerId};
use crate::wifi::testing::{Rig, TRUESIZE, peer};
use crate::wifi::tx::aggregate::MAX_FRAMES;
use crate::wifi::tx::transmitter::TidIndex;
use alloc::vec;
use alloc::vec::Vec;

const TID: TidIndex = TidIndex::new(PeerId(0), 0);

/// A TID with a queue of packets.
struct Bench {
    rig: Rig,
    tid: TxTid,
    queue: VecDeque<Pkt>,
    limits: AggregateLimits,
    rate: RateControl,
}

fn link(rate: &mut RateControl) -> LinkRate<'_> {
    LinkRate { now: Instant::ZERO, rate }
}

impl Bench {
    fn new(session: BlockAckSession, rate: &str, lens: &[u32]) -> Self {
        let mut rig = Rig::new([peer(&[rate], MAX_FRAMES)]);
        let limits = rig.tx.peers[0].limits[2];
        let rate = rig.tx.peers[0].rate.clone();
        let queue = lens.iter().map(|&len| rig.packet(TID, len)).collect();
        let mut tid = TxTid::new(session);
        if session == BlockAckSession::Open {
            tid.open(64);
        }
        Self { rig, tid, queue, limits, rate }
    }
    /// Adds all frames that fit to a PPDU.
    fn add_to(&mut self, ppdu: &mut Ppdu) -> bool {
        let queue = &mut self.queue;
        self.tid.fill(
            ppdu,
            self.limits,
            link(&mut self.rate),
            &mut self.rig.ctx(),
            |_: &mut Ctx<'_, NoSink>| queue.pop_front(),
        )
    }

    /// Builds a PPDU. Returns its sequence numbers, its length and true for an A-MPDU.
    fn build(&mut self) -> (Ppdu, Vec<u16>, u32, bool) {
        let mut ppdu = crate::wifi::testing::ppdu(&mut self.rig.packets, []);
        let built = self.add_to(&mut ppdu);
        let seqs: Vec<_> = ppdu.mpdus.iter().map(|m| m.seq.get()).collect();
        assert_eq!(built, !seqs.is_empty());
        let (bytes, aggregate) = (ppdu.bytes, ppdu.header.content == Content::Data { aggregate: true });
        (ppdu, seqs, bytes, aggregate)
    }
}

fn range(r: core::ops::Range<u16>) -> Vec<u16> {
    r.collect()
}

#[test]
fn an_open_ppdu_grows_as_if_built_later() {
    let mut b = Bench::new(BlockAckSession::Open, "ht20-mcs0-sgi", &[1500]);
    let mut ppdu = b.build().0;
    assert_eq!((ppdu.bytes, ppdu.header.content), (1_538, Content::Data { aggregate: false }));
    assert!(!b.add_to(&mut ppdu), "nothing has come");
    for len in [1500, 1500] {
        b.queue.push_back(b.rig.packet(TID, len));
    }
    assert_eq!([b.add_to(&mut ppdu), b.add_to(&mut ppdu)], [true, false], "the third does not fit");
    assert_eq!((ppdu.bytes, ppdu.header.content), (1_544 + 1_542, Content::Data { aggregate: true }));
}

#[test]
fn the_frame_that_does_not_fit_waits() {
    // 3660 bytes at 7.2 Mbit/s: 1544 + 1542 fit; a third frame fits only if it is small.
    let mut b = Bench::new(BlockAckSession::Open, "ht20-mcs0-sgi", &[1500, 1500, 1500, 60, 1500]);
    let table = [
        (vec![0, 1], 1_544 + 1_542, true, 1),
        // It is now first, with its old number. The 60-byte packet makes 98 bytes: 4 + 98 + 2, and 160 of
        // delimiters.
        (vec![2, 3, 4], 1_544 + 264 + 1_542, true, 0),
        (vec![], 0, true, 0),
    ];
    for (seqs, bytes, aggregate, waiting) in table {
        let built = b.build();
        assert_eq!((built.1, built.2, built.3), (seqs, bytes, aggregate));
        assert_eq!(b.tid.waiting().count(), waiting);
    }
}

#[test]
fn a_retry_that_does_not_fit_stays_first() {
    let mut b = Bench::new(BlockAckSession::Open, "ht20-mcs0-sgi", &[1500; 4]);
    let failed: Vec<Mpdu> = (0..2).flat_map(|_| b.build().0.mpdus).collect();
    failed.into_iter().for_each(|m| b.tid.again(m));
    assert_eq!([b.build().1, b.build().1], [range(0..2), range(2..4)]);
}

#[test]
fn a_lone_frame_is_sent_without_aggregation() {
    let mut b = Bench::new(BlockAckSession::Open, "ht20-mcs15-sgi", &[1500]);
    let (ppdu, seqs, bytes, aggregate) = b.build();
    assert_eq!((seqs, bytes, aggregate, ppdu.header.in_session), (vec![0], 1_538, false, true));
    let m = ppdu.mpdus[0];
    assert_eq!((m.len, m.tries, m.charge, m.truesize), (1_538, 0, SockId::NONE, TRUESIZE));
}

#[test]
fn the_oldest_open_frame_holds_the_window() {
    let mut b = Bench::new(BlockAckSession::Open, "ht20-mcs15-sgi", &[100; 200]);
    b.tid.next = Seq::new(4090);
    b.tid.open(64);
    let wrap = |r: core::ops::Range<u16>| -> Vec<u16> { r.map(|n| n % 4096).collect() };
    let (first, seqs, ..) = b.build();
    assert_eq!(seqs, wrap(4090..4122));
    let (second, seqs, ..) = b.build();
    assert_eq!(seqs, wrap(4122..4154));
    let waiting = |b: &Bench| -> Vec<u16> { b.tid.waiting().map(|m| m.seq.get()).collect() };
    // The whole window is in flight: 64 of 200 frames, and one frame that did not fit into the aggregate.
    assert_eq!((waiting(&b), b.queue.len()), (vec![58], 135));
    assert_eq!((b.build().1, waiting(&b), b.queue.len()), (vec![], vec![58], 135));
    // All frames but the oldest complete: the window does not move.
    for m in first.mpdus.iter().skip(1).chain(&second.mpdus) {
        b.tid.complete(m.seq);
    }
    assert_eq!((b.tid.start().get(), b.build().1, b.queue.len()), (4090, vec![], 135));
    // A retry is allowed although new frames are not: it passes the frame that waits for the window.
    let mut oldest = first.mpdus[0];
    oldest.tries = 4;
    b.tid.again(oldest);
    let (again, seqs, bytes, aggregate) = b.build();
    assert_eq!((seqs, bytes, aggregate, again.mpdus[0].tries), (vec![4090], 138, false, 4));
    assert_eq!((waiting(&b), b.queue.len()), (vec![58], 135));
    b.tid.complete(Seq::new(4090));
    assert_eq!((b.tid.start().get(), b.build().1), ((4090 + 64) % 4096, wrap(4154..4186)));
}

// linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_complete_aggr (4.4, 4.11) - appends retries to retry_q.
// Since 4.11, the frame that did not fit into the aggregate waits there; before, it stayed first in buf_q.
#[test]
fn retries_precede_new_frames_in_order() {
    let sent_again = |looks: bool| {
        let mut b = Bench::new(BlockAckSession::Open, "ht20-mcs15-sgi", &[100; 40]);
        if looks {
            b.tid.looks_before_it_takes();
        }
        let (first, seqs, ..) = b.build();
        assert_eq!(seqs, range(0..32));
        for mut m in first.mpdus {
            m.tries = 1;
            if [3, 7, 30].contains(&m.seq.get()) { b.tid.again(m) } else { b.tid.complete(m.seq) }
        }
        (b.tid.start().get(), b.build().1)
    };
    assert_eq!(sent_again(false), (3, [vec![32, 3, 7, 30], range(33..40)].concat()));
    assert_eq!(sent_again(true), (3, [vec![3, 7, 30], range(32..40)].concat()));
}

#[test]
fn a_held_frame_joins_a_session_that_opens_later() {
    let mut b = Bench::new(BlockAckSession::Closed, "ht20-mcs15-sgi", &[100; 3]);
    let queue = &mut b.queue;
    for _ in 0..2 {
        b.tid.hold_one(link(&mut b.rate), &mut b.rig.ctx(), |_: &mut Ctx<'_, NoSink>| queue.pop_front());
    }
    assert_eq!((b.tid.waiting().count(), b.queue.len(), b.tid.next().get()), (1, 2, 0));
    b.tid.open(64);
    assert_eq!((b.tid.start().get(), b.build().1), (0, vec![0, 1, 2]));
    b.tid.complete(Seq::new(0));
    assert_eq!((b.tid.start().get(), b.tid.next().get()), (1, 3));
}

/// Frames that pass in each state: frames below mac80211's queue, or all frames of a driver without these
/// queues (`below`), and frames of the queue (`queued`).
#[test]
fn frames_that_pass_by_session_state() {
    let at = Instant::ZERO;
    let table = [
        (BlockAckSession::Never, false),
        (BlockAckSession::Closed, false),
        (BlockAckSession::Wanted, false),
        (BlockAckSession::Starting(at), true),
        (BlockAckSession::Asked(at), true),
        (BlockAckSession::Unanswered, true),
        (BlockAckSession::Stopping(at), true),
        (BlockAckSession::Open, false),
    ];
    for (session, negotiated) in table {
        let mut tid = TxTid::new(session);
        if session == BlockAckSession::Open {
            tid.open(64);
        }
        let reason = negotiated.then_some(Blocked::Negotiating);
        // mac80211's queues stop; frames that have left them are sent.
        assert_eq!((tid.may_send(), tid.queue_is_stopped()), (true, negotiated), "{session:?}");
        assert_eq!(tid.blocked(), reason, "{session:?}");
        // The driver or firmware holds all frames.
        tid.looks_before_it_takes();
        assert_eq!((tid.may_send(), tid.queue_is_stopped()), (!negotiated, false), "{session:?}");
        assert_eq!(tid.blocked(), reason, "{session:?}");
        // mt76: a FIFO in the firmware below mac80211's queue.
        tid.stop_queue();
        assert_eq!((tid.may_send(), tid.queue_is_stopped()), (true, negotiated), "{session:?}");
        tid.asleep = true;
        assert_eq!((tid.may_send(), tid.blocked()), (false, Some(Blocked::Asleep)), "{session:?}");
    }
}

#[test]
fn a_full_window_blocks_new_frames_only() {
    let mut b = Bench::new(BlockAckSession::Open, "ht20-mcs15-sgi", &[100; 200]);
    assert_eq!(b.tid.blocked(), None);
    let first = b.build().0;
    let _ = b.build();
    assert_eq!(b.tid.blocked(), Some(Blocked::Window));
    b.tid.again(first.mpdus[0]);
    assert_eq!(b.tid.blocked(), None, "the oldest frame may be sent again");
}

#[test]
fn no_window_outside_a_session() {
    let mut b = Bench::new(BlockAckSession::Never, "ht20-mcs15-sgi", &[100; 70]);
    for n in 0..70 {
        let mut ppdu = crate::wifi::testing::ppdu(&mut b.rig.packets, []);
        let queue = &mut b.queue;
        assert!(b.tid.build_single(
            &mut ppdu,
            link(&mut b.rate),
            &mut b.rig.ctx(),
            |_: &mut Ctx<'_, NoSink>| queue.pop_front()
        ));
        assert_eq!((ppdu.mpdus[0].seq.get(), ppdu.bytes), (n, 138));
    }
}
