use super::*;
use crate::types::{Duration, Fate, PeerId};
use crate::wifi::air::ppdu::Mpdu;
use crate::wifi::config::{HardwareDepth, UsbParams};
use crate::wifi::testing::{Rig, ms, peer};
use alloc::vec;
use alloc::vec::Vec;

fn us(n: u64) -> Instant {
    Instant::ZERO + Duration::from_micros(n)
}

const BEST: &[&str] = &["ht40-mcs7-sgi"];

fn tid(peer: u16, tid: u8) -> TidIndex {
    TidIndex::new(PeerId(peer), tid)
}

struct Bench {
    rig: Rig,
    driver: HtcDriver,
}

impl Bench {
    fn new(stations: usize) -> Self {
        Self::with_aggregates(stations, HtcParams::default().max_frames)
    }
    fn with_aggregates(stations: usize, frames: u32) -> Self {
        // Without the bus, frames only wait for room in the target.
        Self::with_params(stations, frames, HtcParams { usb: None, ..HtcParams::default() })
    }
    fn with_params(stations: usize, frames: u32, params: HtcParams) -> Self {
        let mut rig = Rig::in_session((0..stations).map(|_| peer(BEST, frames)));
        rig.set_depth(HardwareDepth::HTC);
        rig.tx.looks_before_it_takes();
        Self { driver: HtcDriver::new(params, rig.tx.tids.len()), rig }
    }
    /// Queues frames without filling the hardware.
    fn queue(&mut self, tid: TidIndex, frames: u32) {
        for _ in 0..frames {
            let p = self.rig.packet(tid, 1500);
            self.driver.push(p, &mut self.rig.ctx());
        }
    }
    /// Fills the hardware. Returns the number of frames in each PPDU of a category.
    fn fill(&mut self, ac: Ac) -> Vec<usize> {
        let (tx, mut hw, mut ctx) = self.rig.parts();
        self.driver.fill(ms(0), tx, &mut hw, &mut ctx);
        self.rig.radio.ppdus().filter(|p| p.header.ac == ac).map(|p| p.mpdus.len()).collect()
    }
    /// Completes the first PPDU in the hardware with all frames acknowledged. Returns true if the queues
    /// above woke.
    fn done(&mut self, ac: Ac) -> bool {
        let mut ppdu = self.rig.pop(ms(0), ac);
        let tid = TidIndex::new(ppdu.header.peer, ppdu.header.tid);
        let mut woken = Woken::default();
        for m in ppdu.mpdus.drain(..) {
            self.rig.packets.free(m.pkt.expect("not handed over"), Fate::Delivered);
            self.rig.tx.tids[tid.index()].complete(m.seq);
            woken.add(self.driver.completed());
        }
        assert!(!woken.any() || woken == Woken::ALL);
        woken.any()
    }
    /// Runs all timers until that time. Returns the arrivals of frames in the target and of reports at the
    /// host.
    fn run(&mut self, until: u64) -> Vec<(u64, &'static str, u64)> {
        let mut seen = Vec::new();
        while let Some(at) = self.driver.next_timer().filter(|&at| at <= us(until)) {
            let (tx, mut hw, mut ctx) = self.rig.parts();
            let (waiting, outstanding) = (self.driver.waiting.packets(), self.driver.outstanding);
            let _ = self.driver.on_timer(at, &mut ctx);
            self.driver.fill(at, tx, &mut hw, &mut ctx);
            let micros = (at - Instant::ZERO).nanos() / 1_000;
            let came = u64::from(waiting - self.driver.waiting.packets());
            let heard = u64::from(outstanding - self.driver.outstanding);
            seen.extend(
                [(micros, "came", came), (micros, "heard", heard)].into_iter().filter(|row| row.2 > 0),
            );
        }
        seen
    }
    fn places(&self) -> (u32, u32) {
        (self.driver.waiting.packets(), self.driver.in_target)
    }
}

// linux: drivers/net/wireless/ath/ath9k/htc_drv_txrx.c (4.14) - 246 over all categories and stations; all
// queues wake below that.
#[test]
fn all_queues_stop_at_246_and_wake_below() {
    let mut b = Bench::new(2);
    b.queue(tid(0, 0), 100);
    b.queue(tid(1, 5), 145);
    assert!(!b.driver.is_stopped());
    b.queue(tid(0, 1), 1);
    assert!(b.driver.is_stopped());
    assert_eq!(b.fill(Ac::Be), [17]);
    assert_eq!((b.done(Ac::Be), b.driver.is_stopped(), b.driver.outstanding), (true, false, 229));
    b.queue(tid(0, 0), 17);
    assert!(b.driver.is_stopped());
    b.queue(tid(1, 0), 20); // always accepted
    assert_eq!(b.fill(Ac::Be), [16]);
    assert_eq!((b.done(Ac::Be), b.driver.is_stopped(), b.driver.outstanding), (false, true, 250));
    assert_eq!(b.fill(Ac::Be), [17]);
    assert_eq!((b.done(Ac::Be), b.driver.is_stopped(), b.driver.outstanding), (true, false, 233));
    b.fill(Ac::Be);
    assert!(!b.done(Ac::Be), "woken once");
}

// ath9k_htc-firmware: wlan/if_owl.c (e888634) - builds an aggregate of the frames present when the previous
// one completes: 33 buffers hold 17 and 16.
#[test]
fn aggregates_are_of_17_and_16_frames_from_33_buffers() {
    let mut b = Bench::new(1);
    b.queue(tid(0, 0), 200);
    let mut sizes = vec![];
    for _ in 0..8 {
        let hardware = b.fill(Ac::Be);
        let (_, in_target) = b.places();
        assert!(in_target == 33 && hardware.len() == 1, "{in_target} {hardware:?}");
        sizes.extend(hardware);
        b.done(Ac::Be);
    }
    assert_eq!(sizes, [17, 16, 17, 16, 17, 16, 17, 16]);
    assert_eq!(b.driver.queued(), 200 - sizes.iter().sum::<usize>() as u64);
}

#[test]
fn a_frame_that_finds_the_hardware_idle_is_sent_alone() {
    let mut b = Bench::new(1);
    b.queue(tid(0, 0), 1);
    assert_eq!(b.fill(Ac::Be), [1]);
    b.queue(tid(0, 0), 3);
    assert_eq!((b.fill(Ac::Be), b.places()), (vec![1], (0, 4)));
    b.done(Ac::Be);
    assert_eq!(b.fill(Ac::Be), [3]);
}

#[test]
fn categories_share_the_target_and_the_order_on_the_host() {
    let mut b = Bench::new(1);
    b.queue(tid(0, 1), 60);
    b.queue(tid(0, 5), 1);
    // A video frame waits on the host behind background frames, which fill the target.
    assert_eq!((b.fill(Ac::Vi), b.fill(Ac::Bk), b.places()), (vec![], vec![17], (28, 33)));
    b.done(Ac::Bk);
    assert_eq!((b.fill(Ac::Vi), b.fill(Ac::Bk), b.places()), (vec![], vec![16], (11, 33)));
    b.done(Ac::Bk);
    assert_eq!((b.fill(Ac::Vi), b.fill(Ac::Bk), b.places()), (vec![1], vec![17], (0, 28)));
}

#[test]
fn failed_frames_keep_their_buffers() {
    let mut b = Bench::new(1);
    b.queue(tid(0, 0), 40);
    assert_eq!(b.fill(Ac::Be), [17]);
    let ppdu = b.rig.pop(ms(0), Ac::Be);
    let failed = ppdu.mpdus.len();
    let t = &mut b.rig.tx.tids[tid(0, 0).index()];
    ppdu.mpdus.into_iter().for_each(|m| t.again(Mpdu { tries: 1, ..m }));
    b.driver.schedule(tid(0, 0));
    assert_eq!((failed, b.fill(Ac::Be), b.places()), (17, vec![17], (7, 33)));
    let first = b.rig.radio.ppdus().next().unwrap().mpdus[0].seq.get();
    assert_eq!((first, b.driver.outstanding), (0, 40), "retries first, all of them counted");
}

// ath9k_htc-firmware: wlan/if_owl.c ath_tgt_txq_schedule (e888634) - only runs after a completion.
#[test]
fn stations_take_turns_and_keep_them_when_the_hardware_is_full() {
    let mut b = Bench::with_aggregates(3, 2);
    (0..3).for_each(|s| b.queue(tid(s, 0), 4));
    let mut order = vec![];
    while !b.fill(Ac::Be).is_empty() {
        b.fill(Ac::Be);
        order.push(b.rig.hardware(Ac::Be)[0]);
        b.done(Ac::Be);
    }
    assert_eq!(order, [0, 1, 2, 0, 1, 2]);
    assert_eq!((b.driver.outstanding, b.driver.queued(), b.places()), (0, 0, (0, 0)));
}

// linux: drivers/net/wireless/ath/ath9k/hif_usb.c (4.14) - one transfer at a time, with up to 20 waiting
// frames.
#[test]
fn one_transfer_at_a_time() {
    let usb = UsbParams {
        packet: Duration::from_micros(10),
        start: Duration::from_micros(50),
        interrupt: Duration::from_micros(60),
        ..UsbParams::default()
    };
    let params = HtcParams { usb: Some(usb), target_buffers: 5, ..HtcParams::default() };
    let mut b = Bench::with_params(1, 17, params);
    b.queue(tid(0, 0), 1);
    assert_eq!(b.fill(Ac::Be), [0_usize; 0]);
    b.queue(tid(0, 0), 30);
    // The first frame is sent alone, as 4 packets of 512 bytes; the next 20 follow when the host has learned
    // of its completion. The target has room for four.
    assert_eq!(b.run(230), [(90, "came", 1)]);
    assert_eq!(b.run(1_000), [(240, "came", 1), (280, "came", 1), (320, "came", 1), (360, "came", 1)]);
    assert_eq!((b.driver.in_target, b.driver.waiting.packets()), (5, 26));
    // A completed frame frees its buffer immediately. The report reaches the host, and ends the charge, 110
    // us later.
    let ppdu = b.rig.pop(us(1_000), Ac::Be);
    for m in ppdu.mpdus {
        b.rig.packets.free(m.pkt.expect("not handed over"), Fate::Delivered);
        assert!(b.driver.reports_later(us(1_000), SockId(7), 2304));
        b.rig.tx.tids[0].complete(m.seq);
    }
    let (tx, mut hw, mut ctx) = b.rig.parts();
    b.driver.fill(us(1_000), tx, &mut hw, &mut ctx);
    assert_eq!(b.driver.charges().count(), 1);
    assert_eq!(b.run(2_000), [(1_040, "came", 1), (1_110, "heard", 1)]);
    assert_eq!((b.driver.charges().count(), b.rig.uncharged()), (0, vec![0, 7]));
    assert_eq!(b.driver.outstanding, 30);
}
