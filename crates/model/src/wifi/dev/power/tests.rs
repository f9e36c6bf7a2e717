//! An access point whose station sleeps and wakes: frames withdrawn from the hardware, their order, drops,
//! and the effect of frames from the station. A table determines the outcome of each try.

use alloc::vec::Vec;

use super::*;
use crate::types::{DevId, Duration, Fate, PlaceId, RadioId, Reason};
use crate::wifi::air::filter::DestinationFilter;
use crate::wifi::config::{DriverConfig, HardwareDepth, MacFqParams, Scheduler, WhenFull};
use crate::wifi::driver::Driver;
use crate::wifi::marks::Marks;
use crate::wifi::power::sleepers::{Habits, LOOK_EVERY};
use crate::wifi::seq_window::Seq;
use crate::wifi::testing::{Rig, ms, peer};
use crate::wifi::tx::tid::BlockAckSession;
use crate::wifi::tx::transmitter::Transmitter;

const STATION: PeerId = PeerId(0);
const BE: TidIndex = TidIndex::new(STATION, 0);

/// An access point with one station, which has U-APSD for best effort, and its radio.
struct Bench {
    rig: Rig,
    dev: WifiDev,
}

impl Bench {
    fn new(filter: Option<DestinationFilter>) -> Self {
        let mut rig = Rig::new([peer(&["ht20-mcs7-sgi"], 8)]);
        rig.set_depth(HardwareDepth { aggregates: 2, singles: 4, ..HardwareDepth::default() });
        let mut tx = core::mem::replace(&mut rig.tx, Transmitter::new(DevId(0)));
        tx.filter = filter;
        let queues = DriverConfig::Fq(MacFqParams::default(), Scheduler::RoundRobin(WhenFull::KeepsTurn));
        let driver = Driver::new(queues, 1, PlaceId(0), 1);
        let habits = Habits { uapsd: 1 << Ac::Be.index(), max_sp: 1, listen: 1 };
        let sleepers =
            Sleepers::new(alloc::vec![habits], 2, Duration::from_micros(102_400), true, PlaceId(0));
        Self { rig, dev: WifiDev::new(RadioId(0), tx, driver, 10, PlaceId(0)).with_sleepers(sleepers) }
    }

    /// Pushes packets that leave their queue before the host's work on the session stops the queue.
    fn push_before_session(&mut self, now: Instant, packets: u32) {
        let (_, mut hw, _) = self.rig.parts();
        self.dev.tx.want_session(now, BE, &mut hw);
        let asked = core::mem::replace(&mut self.dev.tx.tids[BE.index()].session, BlockAckSession::Wanted);
        self.push(now, packets);
        self.dev.tx.tids[BE.index()].session = asked;
    }

    fn push(&mut self, now: Instant, packets: u32) {
        for _ in 0..packets {
            let p = self.rig.packet(BE, 500);
            let (_, mut hw, mut ctx) = self.rig.parts();
            self.dev.push(now, p, &mut hw, &mut ctx);
        }
    }

    /// Receives these frames of a PPDU from the station. Returns the number of packets delivered.
    fn receive(&mut self, now: Instant, ppdu: &mut Ppdu, whole: &[usize]) -> usize {
        let marks = Marks::each(ppdu.mpdus.len().max(1), |n| whole.contains(&n));
        let (rate, mut up) = (ppdu.rate(), Vec::new());
        let (_, mut hw, mut ctx) = self.rig.parts();
        let got = RxOutcome { whole: marks, readable: marks };
        self.dev.receive(now, STATION, ppdu, rate, &got, &mut up, &mut hw, &mut ctx);
        for p in &up {
            self.rig.packets.free(*p, Fate::Consumed);
        }
        while let Some(mut back) = self.rig.radio.take_returned() {
            back.return_unsent(Duration::from_micros(100));
            let (_, mut hw, mut ctx) = self.rig.parts();
            let _ = self.dev.tx_status(now, back, &mut hw, &mut ctx);
        }
        up.len()
    }

    fn says(&mut self, now: Instant, content: Content) {
        let mut ppdu = crate::wifi::testing::ppdu(&mut self.rig.packets, []);
        // The ADDBA response concerns the session of best effort.
        let tid = if matches!(content, Content::AddbaResponse { .. }) { 0 } else { 7 };
        (ppdu.header.content, ppdu.header.ac, ppdu.header.tid) = (content, Ac::Vo, tid);
        self.receive(now, &mut ppdu, &[0]);
    }

    fn sleeps(&mut self, now: Instant, asleep: bool) {
        self.says(now, Content::Null { pm: asleep });
    }

    /// A data PPDU from the station with frames of these numbers and this Power Management bit.
    fn data(&mut self, seqs: &[u16], pm: bool) -> Ppdu {
        let mut ppdu = crate::wifi::testing::ppdu(&mut self.rig.packets, seqs.iter().copied());
        ppdu.pm = pm;
        ppdu
    }

    /// Packets in the best-effort hardware queue by PPDU, with the numbers of their frames.
    fn hardware(&self) -> Vec<Vec<(u32, u16)>> {
        let frame =
            |m: &crate::wifi::air::ppdu::Mpdu| m.pkt.map(|p| (self.rig.packets.get(p).seq, m.seq.get()));
        let of_be = |ppdu: &&Ppdu| ppdu.header.ac == Ac::Be;
        self.rig.radio.ppdus().filter(of_be).map(|p| p.mpdus.iter().filter_map(frame).collect()).collect()
    }

    fn dropped(&self, reason: Reason) -> u64 {
        self.rig.packets.account().dropped.iter().map(|by| by[reason as usize]).sum()
    }

    /// Returns true during a service period: a PPDU that ends it is in the hardware.
    fn serves(&self) -> bool {
        self.rig.radio.ppdus().any(|ppdu| ppdu.ends)
    }
}

/// Two frames are in the hardware when the session opens, followed by two session frames.
fn before_and_after(filter: Option<DestinationFilter>) -> Bench {
    let mut bench = Bench::new(filter);
    bench.push_before_session(ms(0), 2);
    bench.says(ms(1), Content::AddbaResponse { frames: 64 });
    bench.push(ms(2), 2);
    assert_eq!(
        bench.hardware(),
        [[(0, 0)].to_vec(), [(1, 1)].to_vec(), [(2, 2)].to_vec(), [(3, 3)].to_vec()]
    );
    bench.sleeps(ms(3), true);
    assert!(bench.hardware().is_empty());
    bench.sleeps(ms(4), false);
    bench
}

#[test]
fn frames_sent_before_a_session_join_it_in_order() {
    // The session started at number 2, so all frames are numbered from there in order.
    let all = [(0, 2), (1, 3), (2, 4), (3, 5)];
    assert_eq!(before_and_after(None).hardware(), [all]);
}

// linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_setup_buffer (4.4).
#[test]
fn before_4_9_they_get_the_next_numbers() {
    let bench = before_and_after(Some(DestinationFilter::SentAgain));
    assert_eq!(bench.hardware(), [[(0, 4), (1, 5), (2, 2), (3, 3)]]);
    assert_eq!(bench.dropped(Reason::Filtered), 0);
}

// linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_status (4.11).
#[test]
fn since_4_9_they_are_dropped() {
    let bench = before_and_after(Some(DestinationFilter::Dropped));
    assert_eq!(bench.hardware(), [[(2, 2), (3, 3)]]);
    assert_eq!(bench.dropped(Reason::Filtered), 2);
}

#[test]
fn numbers_stay_once_the_session_has_sent() {
    let mut tid = crate::wifi::tx::tid::TxTid::new(BlockAckSession::Closed);
    tid.open(64);
    let mut rig = Rig::new([peer(&["ht20-mcs7-sgi"], 8)]);
    let frames = crate::wifi::testing::ppdu(&mut rig.packets, [0, 1, 900]).mpdus;
    // These two count as sent, so numbers stay.
    for mpdu in frames[..2].iter().rev() {
        tid.back(crate::wifi::air::ppdu::Mpdu { tries: 1, ..*mpdu });
    }
    tid.join(alloc::vec![frames[2]], true);
    let numbers: Vec<u16> = tid.waiting().map(|m| m.seq.get()).collect();
    assert_eq!(numbers[1..], [0, 1]);
    assert_eq!(tid.waiting().count(), 3);
}

/// Withdrawn frames outside a session expire like those buffered in mac80211, after 10 to 20 seconds.
#[test]
fn withdrawn_frames_outside_a_session_expire() {
    let mut bench = Bench::new(None);
    bench.push_before_session(ms(0), 2);
    assert_eq!(bench.hardware().len(), 2);
    bench.sleeps(ms(1_000), true);
    bench.push(ms(2_000), 1);
    let at = |bench: &mut Bench, now: Instant| {
        assert_eq!(bench.dev.power_due(), Some(now));
        let (_, mut hw, mut ctx) = bench.rig.parts();
        let _ = bench.dev.power_timer(now, &mut hw, &mut ctx);
        bench.dropped(Reason::Expired)
    };
    assert_eq!(at(&mut bench, ms(1_000) + LOOK_EVERY), 0);
    assert_eq!(at(&mut bench, ms(1_000) + LOOK_EVERY * 2), 3);
    assert_eq!(bench.dev.power_due(), None);
    // They are gone, and new frames are sent.
    bench.sleeps(ms(30_000), false);
    assert!(bench.hardware().is_empty());
    bench.dev.tx.tids[BE.index()].session = BlockAckSession::Closed;
    bench.push(ms(30_001), 1);
    assert_eq!(bench.hardware().len(), 1);
}

#[test]
fn withdrawn_session_frames_do_not_expire() {
    let mut bench = Bench::new(Some(DestinationFilter::Dropped));
    bench.says(ms(0), Content::AddbaResponse { frames: 64 });
    bench.dev.tx.tids[BE.index()].open(64);
    bench.push(ms(0), 2);
    bench.sleeps(ms(1_000), true);
    let (_, mut hw, mut ctx) = bench.rig.parts();
    let _ = bench.dev.power_timer(ms(1_000) + LOOK_EVERY, &mut hw, &mut ctx);
    assert_eq!((bench.dropped(Reason::Expired), bench.dev.power_due()), (0, None));
    bench.sleeps(ms(100_000), false);
    assert_eq!(bench.hardware().concat().len(), 2);
}

/// The Null frame of a waking station is lost. The next data frame also shows that the station is awake, in a
/// session only if it is the expected frame.
// linux: net/mac80211/rx.c ieee80211_rx_h_sta_process (6.12).
#[test]
fn the_next_frame_shows_that_the_station_is_awake() {
    for (frames, whole, awake) in [
        (&[0, 1][..], &[0, 1][..], true),
        // The first frame is lost. Frames in the reorder buffer have no effect, neither on arrival nor on
        // release.
        (&[0, 1][..], &[1][..], false),
    ] {
        let mut bench = Bench::new(None);
        bench.sleeps(ms(0), true);
        bench.says(ms(1), Content::AddbaRequest { start: Seq::new(0), frames: 64 });
        bench.dev.rx[7].open(Seq::new(0), 64, PlaceId(0), &mut Vec::new());
        bench.dev.rx[0].open(Seq::new(0), 64, PlaceId(0), &mut Vec::new());
        bench.sleeps(ms(1), true);
        let mut ppdu = bench.data(frames, false);
        bench.receive(ms(2), &mut ppdu, whole);
        let asleep = |bench: &Bench| bench.dev.sleepers().is_some_and(|s| s.is_asleep(STATION));
        assert_eq!(asleep(&bench), !awake, "{whole:?}");
        if !awake {
            // It arrives at the second try, which also releases the frame behind it: neither has an effect.
            assert_eq!(bench.receive(ms(3), &mut ppdu, &[0]), 2);
            assert!(asleep(&bench));
            let mut next = bench.data(&[2], false);
            bench.receive(ms(4), &mut next, &[0]);
            assert!(!asleep(&bench));
        }
    }
}

/// Aggregates of a sleeping station trigger a service period if one of their frames is delivered immediately.
// linux: net/mac80211/rx.c ieee80211_rx_h_uapsd_and_pspoll (6.12).
#[test]
fn a_trigger_in_a_mixed_aggregate() {
    // Frames 0 to 2 received in the first try, whether that triggers, and the same for a second try.
    for (first, asks, second, asks_again) in [
        (&[0, 1, 2][..], true, &[0, 1, 2][..], false),
        // The others are duplicates; the new frame has errors again.
        (&[0, 1][..], true, &[0, 1][..], false),
        (&[0, 1][..], true, &[2][..], true),
        // Held until the hole is filled: neither those nor the one that fills it count.
        (&[1, 2][..], false, &[0][..], false),
        // With the hole filled and an empty buffer, the next one counts.
        (&[1][..], false, &[0, 2][..], true),
    ] {
        let mut bench = Bench::new(None);
        bench.dev.rx[0].open(Seq::new(0), 64, PlaceId(0), &mut Vec::new());
        bench.sleeps(ms(0), true);
        let mut ppdu = bench.data(&[0, 1, 2], true);
        let mut tried = |bench: &mut Bench, whole: &[usize], ms_from: u64| {
            bench.receive(ms(ms_from), &mut ppdu, whole);
            let serves = bench.serves();
            // End the service period immediately.
            let mut back = Vec::new();
            let (_, hw, _) = bench.rig.parts();
            hw.radio.withdraw(ms(ms_from), (DevId(0), STATION), hw.medium, &mut back);
            bench.dev.sleepers_mut().map(|s| s.set_served(STATION, false));
            serves
        };
        assert_eq!(tried(&mut bench, first, 1), asks, "{first:?}");
        assert_eq!(tried(&mut bench, second, 2), asks_again, "{first:?} {second:?}");
    }
}

/// A station that is not marked as asleep cannot trigger, nor can the frame that announces its sleep.
#[test]
fn the_frame_that_announces_sleep_does_not_trigger() {
    let mut bench = Bench::new(None);
    bench.says(ms(0), Content::PsPoll);
    assert!(!bench.serves() && !bench.dev.sleepers().is_some_and(|s| s.any_asleep()));
    let mut first = bench.data(&[0], true);
    bench.receive(ms(1), &mut first, &[0]);
    assert!(!bench.serves() && bench.dev.sleepers().is_some_and(|s| s.any_asleep()));
    let mut second = bench.data(&[1], true);
    bench.receive(ms(2), &mut second, &[0]);
    assert!(bench.serves());
}
