//! Destination filter: two stations at an access point, PPDU by PPDU, with frames identified by station and
//! number. A table determines the outcome of each try.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use proptest::prelude::*;

use super::*;
use crate::types::{Ac, DevId, Duration, PeerId, Pkt, PlaceId, RadioId, Reason};
use crate::wifi::air::filter::DestinationFilter;
use crate::wifi::config::{DriverConfig, HardwareDepth, LegacyParams, MacFqParams, Scheduler, WhenFull};
use crate::wifi::driver::Driver;
use crate::wifi::testing::{Rig, ms, peer};

const BE: u8 = 0;
const VO: u8 = 6;

/// An access point with a filter rule. The bench operates the radio's filter as the simulation does.
struct Bench {
    rig: Rig,
    dev: WifiDev,
    acked: u64,
    /// Let the driver fill the hardware only after it has processed all returned PPDUs.
    held: bool,
}

impl Bench {
    fn new(filter: Option<DestinationFilter>, config: DriverConfig) -> Self {
        let mut rig = Rig::in_session([peer(&["ht20-mcs7-sgi"], 2), peer(&["ht20-mcs7-sgi"], 2)]);
        let mut tx = core::mem::replace(&mut rig.tx, Transmitter::new(DevId(0)));
        tx.filter = filter;
        let driver = Driver::new(config, tx.peers.len(), PlaceId(0), 1);
        Self { rig, dev: WifiDev::new(RadioId(0), tx, driver, 10, PlaceId(0)), acked: 0, held: false }
    }

    fn legacy(filter: DestinationFilter) -> Self {
        Self::new(Some(filter), DriverConfig::Legacy(LegacyParams::default()))
    }

    /// Pushes packets to these stations, numbered in order.
    fn push(&mut self, tid: u8, to: &[u16]) {
        for &station in to {
            let p: Pkt = self.rig.packet(TidIndex::new(PeerId(station), tid), 1500);
            let (_, mut hw, mut ctx) = self.rig.parts();
            self.dev.push(ms(0), p, &mut hw, &mut ctx);
        }
        self.take_back();
    }

    /// Passes PPDUs that the hardware has returned unsent to the driver.
    fn take_back(&mut self) -> String {
        let mut what = String::new();
        while let Some(mut ppdu) = self.rig.radio.take_returned() {
            ppdu.return_unsent(Duration::from_micros(100));
            what += &format!(" back {}", frames(&self.rig, &ppdu));
            let (header, (_, mut hw, mut ctx)) = (ppdu.header, self.rig.parts());
            let _ = self.dev.complete(ms(0), ppdu, &mut hw, &mut ctx);
            if !self.held || !hw.radio.has_returned() {
                self.dev.refill(ms(0), header, &mut hw, &mut ctx);
            }
        }
        what
    }

    /// Sends the head of a category's queue, which is received (`comes`) or fails in all its tries. Returns
    /// the PPDU, the PPDUs returned unsent, and the total numbers of frames dropped after failing and after
    /// being returned.
    fn step(&mut self, ac: Ac, comes: bool) -> String {
        let mut ppdu = self.rig.radio.pop(ac.index()).expect("a PPDU");
        let mut what = frames(&self.rig, &ppdu);
        while ppdu.tried(Duration::from_micros(100), true, comes) {}
        if comes {
            ppdu.acknowledged = true;
            for m in &mut ppdu.mpdus {
                let pkt = m.pkt.take().expect("sent once");
                (m.charge, m.truesize) = self.rig.packets.take_charge(pkt);
                self.rig.packets.free(pkt, crate::types::Fate::Delivered);
                self.acked += 1;
            }
        } else if self.dev.tx.filter.is_some() {
            self.rig.radio.failed(&ppdu);
        }
        self.rig.radio.look(ac.index());
        let more = self.rig.radio.queued(ac.index()) > 0;
        let functions = self.rig.radio.edcafs;
        self.rig.medium.done(
            ms(0),
            functions[ac.index()],
            crate::wifi::air::medium::TxOutcome::Finished,
            more,
        );
        self.rig.medium.idle(ms(0), ms(0));
        let (_, mut hw, mut ctx) = self.rig.parts();
        let _ = self.dev.tx_status(ms(0), ppdu, &mut hw, &mut ctx);
        what += &self.take_back();
        let dropped = |reason| self.rig.packets.account().dropped.first().map_or(0, |d| d[reason as usize]);
        format!("{what} | drop {} {}", dropped(Reason::RetryLimit), dropped(Reason::Filtered))
    }

    fn step_any(&mut self, ac: Ac, comes: bool) {
        let _ = self.step(ac, comes);
        let _ = self.rig.uncharged();
    }

    fn walk(&mut self, ac: Ac, table: &[(bool, &str)]) {
        for (n, &(comes, row)) in table.iter().enumerate() {
            assert_eq!(self.step(ac, comes), row, "step {n}");
        }
    }

    /// Opens a session of Excellent Effort, unless it is open, regardless of frames in flight.
    fn open(&mut self, station: u16) {
        let tid = TidIndex::new(PeerId(station), 3);
        if self.dev.tx.tids[tid.index()].session != BlockAckSession::Open {
            self.dev.tx.tids[tid.index()].open(64);
            self.dev.driver.schedule(ms(0), tid);
            let (_, mut hw, mut ctx) = self.rig.parts();
            self.dev.driver.fill(ms(0), tid.ac(), &mut self.dev.tx, &mut hw, &mut ctx);
            self.take_back();
        }
    }

    /// Asserts that every packet was delivered or dropped, nothing waits, and no session waits for the fate
    /// of a number.
    fn closes(&mut self, pushed: u64) {
        let _ = self.rig.uncharged();
        let held = (
            self.dev.held(&self.rig.packets),
            self.rig.radio.ppdus().count(),
            self.rig.packets.live_charges().count(),
        );
        assert_eq!(held, (0, 0, 0));
        for t in self.dev.tx.tids.iter().filter(|t| t.session == BlockAckSession::Open) {
            assert_eq!(t.start(), t.next());
        }
        assert_eq!(self.acked + self.rig.packets.account().dropped_total(), pushed);
    }
}

/// Station, `*` if the PPDU clears the filter, and packets of the PPDU.
fn frames(rig: &Rig, ppdu: &Ppdu) -> String {
    let numbers = ppdu.mpdus.iter().filter_map(|m| m.pkt).map(|p| format!(" {}", rig.packets.get(p).seq));
    let lifts = if ppdu.lifts { "*" } else { "" };
    format!("to {}{lifts}:{}", ppdu.header.peer.0, numbers.collect::<String>())
}

// linux: net/mac80211/status.c ieee80211_handle_filtered_frame (4.4).
#[test]
fn before_4_9_a_single_frame_is_retried_once_and_clears_the_filter() {
    let mut bench = Bench::legacy(DestinationFilter::SentAgain);
    bench.push(VO, &[0, 0, 1, 0]);
    bench.walk(
        Ac::Vo,
        &[
            // A failed single frame is dropped. The next one is returned before the frame to the other
            // station is sent.
            (false, "to 0: 0 back to 0: 1 | drop 1 0"),
            (true, "to 1: 2 back to 0: 3 | drop 1 0"),
            (true, "to 0*: 1 | drop 1 0"),
            (true, "to 0*: 3 | drop 1 0"),
        ],
    );
    // A failed single frame clears nothing: the next frames arrive at an idle queue, are returned, and are
    // retried immediately.
    bench.push(VO, &[0]);
    bench.walk(Ac::Vo, &[(false, "to 0: 4 | drop 2 0")]);
    bench.push(VO, &[0, 0]);
    bench.walk(Ac::Vo, &[(true, "to 0*: 5 | drop 2 0"), (true, "to 0*: 6 | drop 2 0")]);
    bench.closes(7);
}

#[test]
fn before_4_9_a_frame_returned_twice_is_dropped() {
    let mut bench = Bench::legacy(DestinationFilter::SentAgain);
    bench.rig.set_depth(HardwareDepth { singles: 3, ..HardwareDepth::default() });
    bench.push(VO, &[0, 0, 0]);
    // The hardware has no room before both frames have been returned. They are retried together, and only the
    // first one clears the filter.
    bench.held = true;
    bench.walk(Ac::Vo, &[(false, "to 0: 0 back to 0: 1 back to 0: 2 | drop 1 0")]);
    bench.held = false;
    bench.walk(Ac::Vo, &[(false, "to 0*: 1 back to 0: 2 | drop 2 1")]);
    bench.closes(3);
}

// linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_status, ath_tx_process_buffer (4.11).
#[test]
fn since_4_9_a_single_frame_is_dropped_and_the_next_clears_the_filter() {
    let mut bench = Bench::legacy(DestinationFilter::Dropped);
    bench.push(VO, &[0, 0, 1, 0]);
    bench.walk(
        Ac::Vo,
        &[(false, "to 0: 0 back to 0: 1 | drop 1 1"), (true, "to 1: 2 back to 0: 3 | drop 1 2")],
    );
    bench.push(VO, &[0, 0]);
    bench.walk(Ac::Vo, &[(true, "to 0*: 4 | drop 1 2"), (true, "to 0: 5 | drop 1 2")]);
    bench.closes(6);
}

// linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_complete_aggr (4.4, 4.11).
#[test]
fn session_frames_are_retried_by_the_driver() {
    for filter in [DestinationFilter::SentAgain, DestinationFilter::Dropped] {
        let mut bench = Bench::legacy(filter);
        bench.push(BE, &[0, 0, 0, 0, 0]);
        bench.walk(
            Ac::Be,
            &[
                (false, "to 0: 0 back to 0: 1 | drop 0 0"),
                (true, "to 0*: 0 2 | drop 0 0"),
                (true, "to 0*: 1 3 | drop 0 0"),
                (true, "to 0: 4 | drop 0 0"),
            ],
        );
        bench.closes(5);
    }
}

#[test]
fn a_returned_frame_counts_one_more_try() {
    let mut bench = Bench::legacy(DestinationFilter::Dropped);
    bench.push(BE, &[0, 0]);
    let tries =
        |bench: &Bench| bench.rig.radio.ppdus().flat_map(|p| &p.mpdus).map(|m| m.tries).collect::<Vec<_>>();
    bench.walk(Ac::Be, &[(false, "to 0: 0 back to 0: 1 | drop 0 0")]);
    assert_eq!(tries(&bench), [2, 1]);
}

#[test]
fn other_categories_are_not_filtered() {
    let mut bench = Bench::legacy(DestinationFilter::Dropped);
    bench.push(BE, &[0, 0]);
    bench.push(VO, &[0]);
    bench.walk(Ac::Be, &[(false, "to 0: 0 back to 0: 1 | drop 0 0")]);
    bench.walk(Ac::Vo, &[(true, "to 0: 2 | drop 0 0")]);
}

#[test]
fn hardware_without_a_filter_sends_everything() {
    let mut bench = Bench::new(None, DriverConfig::Legacy(LegacyParams::default()));
    bench.push(VO, &[0, 0]);
    bench.walk(Ac::Vo, &[(false, "to 0: 0 | drop 1 0"), (true, "to 0: 1 | drop 1 0")]);
    bench.closes(2);
}

proptest! {
    #[test]
    fn accounts_close_after_any_failures(
        rule in 0_usize..2,
        fq in any::<bool>(),
        singles in 1_u32..6,
        ops in prop::collection::vec((0_usize..30, 0_u16..2, any::<bool>()), 1..200),
    ) {
        let filter = [DestinationFilter::SentAgain, DestinationFilter::Dropped][rule];
        let config = match fq {
            true => DriverConfig::Fq(MacFqParams::default(), Scheduler::RoundRobin(WhenFull::KeepsTurn)),
            false => DriverConfig::Legacy(LegacyParams::default()),
        };
        let (mut bench, mut pushed) = (Bench::new(Some(filter), config), 0);
        bench.rig.set_depth(HardwareDepth { singles, ..HardwareDepth::default() });
        for station in 0..2 {
            bench.dev.tx.tids[TidIndex::new(PeerId(station), 3).index()].session = BlockAckSession::Wanted;
        }
        for (op, station, comes) in ops {
            match op {
                0..12 => {
                    bench.push([BE, 3, 3, VO][op % 4], &[station, station]);
                    pushed += 2;
                }
                12 => bench.open(station),
                _ => {
                    let ac = if op < 16 { Ac::Vo } else { Ac::Be };
                    if bench.rig.radio.queued(ac.index()) > 0 {
                        bench.step_any(ac, comes);
                    }
                }
            }
        }
        while let Some(ac) = [Ac::Vo, Ac::Be].into_iter().find(|ac| bench.rig.radio.queued(ac.index()) > 0) {
            bench.step_any(ac, true);
        }
        let _ = bench.rig.uncharged();
        bench.closes(pushed);
    }
}
