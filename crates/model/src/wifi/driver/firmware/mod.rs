//! Drivers whose firmware builds the aggregates (ath10k, ath11k, mt76): mac80211's queues on the host, a
//! queue per station and TID in the firmware below, and reports of many frames at once.
//!
//! The host knows three things about frames that it handed over: their number, their airtime against airtime
//! queue limits (AQL), and, from a report, which of them are complete. A frame stays charged to its socket
//! until it is reported.

mod airtime_turns;
mod estimate;
mod reports;

use super::fq::{Downstream, FqDriver};
use super::tid_fifos::TidFifos;
use crate::types::{Ac, Ctx, Duration, Instant, Pkt, PlaceId, Reason, Sink, SockId};
use crate::wifi::air::ppdu::Mpdu;
use crate::wifi::config::{
    AirtimeReport, FirmwareParams, MacFqParams, Scheduler, WhenFirmwareFull, WhenFull,
};
use crate::wifi::phy::{OfdmRate, PhyRate, RetryChain};
use crate::wifi::stations::{AirtimeBelow, AirtimeUse, GroupsCount};
use crate::wifi::tx::transmitter::{Hardware, TIDS, TidIndex, Transmitter, chain_of};
use airtime_turns::AirtimeTurns;
use alloc::vec;
use alloc::vec::Vec;
use estimate::{frames_airtime, units};
use reports::{Report, Reports};

/// Initial rate in the cache of airtime estimates.
const NO_FRAME: PhyRate = PhyRate::Ofdm(OfdmRate::M6);
/// All access categories, as bits.
const ALL: u8 = 0b1111;

/// Transmit path of a driver whose firmware builds the aggregates.
#[derive(Debug)]
pub struct FirmwareDriver {
    params: FirmwareParams,
    /// mac80211's queues and scheduler.
    pub(super) host: FqDriver,
    /// Count the airtime below the host's queues, and that of group-addressed frames.
    counts: (bool, bool),
    below: AirtimeBelow,
    /// Frames in the firmware that are not in a PPDU.
    fifos: TidFifos,
    /// Deficits of the stations, if the firmware schedules by airtime.
    turns: Option<AirtimeTurns>,
    /// The last airtime estimate with its inputs, which rarely change between frames.
    counted: (RetryChain, Ac, u32, u16),
    /// Frames handed over and not yet reported.
    outstanding: u32,
    /// Access categories with work for the host: a new frame or a report.
    due: u8,
    reports: Reports,
    /// Airtime counted by the hardware and not read by the host, by peer and category: sent and received.
    counters: Vec<[[Duration; 2]; 4]>,
    place: PlaceId,
}

impl FirmwareDriver {
    /// Creates a driver for a device with `peers` peers. Drops are recorded at `place`. `salt` perturbs the
    /// flow hash.
    pub fn new(
        queues: MacFqParams,
        scheduler: Scheduler,
        params: FirmwareParams,
        peers: usize,
        place: PlaceId,
        salt: u64,
    ) -> Self {
        Self {
            params,
            counts: (
                scheduler.aql().is_some(),
                scheduler.aql().is_some_and(|aql| aql.groups != GroupsCount::Not),
            ),
            host: FqDriver::new(queues, scheduler, peers, place, salt),
            below: AirtimeBelow::new(peers),
            // deviation: without VoW, the stations and TIDs of a category take turns, one aggregate each -
            // the order in other firmware is unknown.
            turns: params.shares_airtime.then(|| AirtimeTurns::new(peers)),
            counted: (chain_of(NO_FRAME, 1), Ac::Be, 0, units(NO_FRAME, Ac::Be, 0)),
            fifos: TidFifos::new(peers * TIDS, WhenFull::KeepsTurn),
            outstanding: 0,
            due: 0,
            reports: Reports::default(),
            counters: vec![Default::default(); peers],
            place,
        }
    }

    /// Queues a packet. If a limit of mac80211's queues is exceeded, drops other packets.
    #[inline(never)]
    pub fn push<S: Sink>(&mut self, now: Instant, p: Pkt, tid: TidIndex, ctx: &mut Ctx<'_, S>) {
        self.due |= 1 << tid.ac().index();
        self.host.push(now, p, tid, ctx);
    }

    /// Returns true if mac80211 negotiates Block Ack sessions, not the firmware.
    pub fn host_negotiates(&self) -> bool {
        self.params.host_sessions
    }

    /// Schedules a TID with frames in the firmware.
    pub fn schedule(&mut self, tid: TidIndex) {
        self.fifos.schedule(tid);
    }

    /// Schedules a TID in the host and the firmware, because its host queue is no longer stopped.
    pub fn restart(&mut self, now: Instant, tid: TidIndex) {
        self.fifos.schedule(tid);
        if self.host.backlog(tid) > 0 {
            self.due |= 1 << tid.ac().index();
            self.host.schedule(now, tid);
        }
    }

    /// Hands over the frames that AQL allows, then lets the firmware build PPDUs. A PPDU that waits for the
    /// medium takes new frames.
    // deviation: the host acts immediately - mt76's thread and NAPI share the CPU with other work.
    pub fn fill<S: Sink>(
        &mut self,
        now: Instant,
        tx: &mut Transmitter,
        hw: &mut Hardware<'_>,
        ctx: &mut Ctx<'_, S>,
    ) {
        for ac in Ac::ALL {
            if self.due >> ac.index() & 1 == 1 {
                self.hand_over(now, ac, tx, hw, ctx);
            }
            self.build(now, ac, tx, hw, ctx);
        }
        self.due = 0;
    }

    /// Takes a packet with the same result as [`FirmwareDriver::push`] and [`FirmwareDriver::fill`]. A packet
    /// that finds the host's queues of its category empty bypasses them.
    #[inline]
    pub fn take<S: Sink>(
        &mut self,
        now: Instant,
        p: Pkt,
        tid: TidIndex,
        tx: &mut Transmitter,
        hw: &mut Hardware<'_>,
        ctx: &mut Ctx<'_, S>,
    ) {
        if self.due != 0 {
            self.push(now, p, tid, ctx);
            return self.fill(now, tx, hw, ctx);
        }
        // Only the packet's category has work.
        let ac = tid.ac();
        if !self.passes(now, p, tid, tx, hw, ctx) {
            self.host.push(now, p, tid, ctx);
            self.hand_over(now, ac, tx, hw, ctx);
        }
        self.build(now, ac, tx, hw, ctx);
    }

    /// Lets the firmware build PPDUs of a category.
    #[inline]
    fn build<S: Sink>(
        &mut self,
        now: Instant,
        ac: Ac,
        tx: &mut Transmitter,
        hw: &mut Hardware<'_>,
        ctx: &mut Ctx<'_, S>,
    ) {
        let extended = self.fifos.extend(now, ac, tx, hw, ctx);
        match &mut self.turns {
            None => self.fifos.fill(now, ac, extended, tx, hw, ctx),
            Some(turns) => self.fifos.fill_by(|tid| turns.may_send(tid), now, ac, tx, hw, ctx),
        }
    }

    /// Hands a packet to the firmware directly if the host's queues would hand it over immediately and do
    /// nothing else: the queues of its category are empty, and airtime queue limits allow this frame and
    /// another. If not, returns false without any change.
    #[inline]
    fn passes<S: Sink>(
        &mut self,
        now: Instant,
        p: Pkt,
        tid: TidIndex,
        tx: &Transmitter,
        hw: &Hardware<'_>,
        ctx: &mut Ctx<'_, S>,
    ) -> bool {
        let room = match self.params.full {
            WhenFirmwareFull::Drops => self.outstanding < self.params.frames,
            // With the last place taken, a pass ends before the queue is found empty.
            WhenFirmwareFull::Waits => self.outstanding + 1 < self.params.frames,
        };
        if !room || tx.group == Some(tid.peer()) {
            return false;
        }
        let units = match self.counts.0 {
            true => remembered(&mut self.counted, tx, tid, ctx.packets.get(p).len),
            false => 0,
        };
        let mut to = Downstream { tx, radio: hw.radio, airtime: &mut self.below, room: 0 };
        if !self.host.passes(now, p, tid, units, &mut to, ctx) {
            return false;
        }
        self.outstanding += 1;
        ctx.packets.get_mut(p).airtime = units;
        self.fifos.push(p, tid, ctx);
        true
    }

    /// Hands over frames until no host queue yields any.
    // linux: drivers/net/wireless/mediatek/mt76/tx.c mt76_txq_schedule (6.12) - repeats rounds until one
    // moves no frame; ath10k/mac.c ath10k_mac_schedule_txq, net/mac80211/util.c wake_tx_push_queue (6.12) -
    // one round, emptying each queue.
    // deviation: always serves all queues - ath10k serves only the queue of a new frame, and all queues only
    // if half of its descriptors are free.
    fn hand_over<S: Sink>(
        &mut self,
        now: Instant,
        ac: Ac,
        tx: &Transmitter,
        hw: &Hardware<'_>,
        ctx: &mut Ctx<'_, S>,
    ) {
        let Self { params, host, counts, below, fifos, counted: last, outstanding, place, .. } = self;
        let drops = params.full == WhenFirmwareFull::Drops;
        loop {
            let room = if drops { u32::MAX } else { params.frames - *outstanding };
            let mut to = Downstream { tx, radio: hw.radio, airtime: below, room };
            let moved = host.hand_over(now, ac, &mut to, ctx, |p, tid, ctx| {
                if drops && *outstanding == params.frames {
                    ctx.drop(now, p, Reason::Overlimit, *place);
                    return None;
                }
                *outstanding += 1;
                let hot = ctx.packets.get_mut(p);
                hot.airtime = 0;
                let (stations, groups) = *counts;
                let counted = if tx.group == Some(tid.peer()) { groups } else { stations };
                if counted {
                    hot.airtime = remembered(last, tx, tid, hot.len);
                }
                let counted = hot.airtime;
                fifos.push(p, tid, ctx);
                Some(counted)
            });
            if !moved {
                break;
            }
        }
    }

    /// Records an MPDU that the firmware has completed. The next report informs the host and ends the charge.
    #[inline(never)]
    pub fn done(&mut self, now: Instant, tid: TidIndex, mpdu: &Mpdu, charge: SockId) {
        let Mpdu { airtime, len, msdus, truesize, .. } = *mpdu;
        let report = Report { tid, airtime, len, msdus, charge, truesize };
        self.reports.add(now, report, &self.params);
    }

    /// Counts the airtime of a PPDU to a station after all its tries, or of a PPDU received from it.
    #[inline(never)]
    pub fn count(&mut self, tid: TidIndex, airtime: Duration, kind: AirtimeUse) {
        if let (Some(turns), AirtimeUse::Tx) = (&mut self.turns, kind) {
            turns.charge(tid, airtime);
        }
        if self.params.airtime == AirtimeReport::Counters {
            self.counters[tid.peer().index()][tid.ac().index()][kind as usize] += airtime;
        }
    }

    /// Returns the time of the firmware's next report.
    #[inline]
    pub fn next_timer(&self) -> Option<Instant> {
        self.reports.due()
    }

    /// Processes the due reports: ends charges, reduces the pending airtime (AQL), and charges stations for
    /// the airtime used.
    pub fn on_timer<S: Sink>(&mut self, now: Instant, tx: &Transmitter, ctx: &mut Ctx<'_, S>) {
        let Self { params, host, below, outstanding, reports, counters, due, .. } = self;
        if reports.due().is_none_or(|at| at > now) {
            return;
        }
        let mut read_last = None;
        for report in reports.take() {
            let Report { tid, airtime, len, msdus, charge, truesize } = report;
            ctx.packets.uncharge(charge, truesize);
            if tx.group == Some(tid.peer()) {
                below.remove_of_groups(airtime);
            } else {
                below.remove(tid, airtime);
            }
            *outstanding -= u32::from(msdus);
            match params.airtime {
                AirtimeReport::Nothing => {}
                AirtimeReport::Frames => {
                    let rate = tx.peers[tid.peer().index()].chain.entries()[0].rate;
                    host.charge(now, tid, frames_airtime(rate, len, msdus), AirtimeUse::Tx);
                }
                // A station's counters are empty if it has just been read.
                AirtimeReport::Counters if read_last.replace(tid.peer()) != Some(tid.peer()) => {
                    read(&mut counters[tid.peer().index()], now, tid, host);
                }
                AirtimeReport::Counters => {}
            }
        }
        *due = ALL;
    }

    /// Returns the charges of frames that the firmware has completed and not reported.
    pub fn charges(&self) -> impl Iterator<Item = (SockId, u32)> {
        self.reports.charges()
    }

    /// Returns the number of packets of a TID in the firmware, excluding the host's queues.
    pub fn backlog(&self, tid: TidIndex) -> u32 {
        self.fifos.backlog(tid)
    }

    /// Takes the next packet of a TID from the firmware.
    pub fn pull<S: Sink>(&mut self, tid: TidIndex, ctx: &mut Ctx<'_, S>) -> Option<Pkt> {
        self.fifos.pull(tid, ctx)
    }

    /// Returns the number of packets in the host's queues and in the firmware, except those in PPDUs.
    pub fn queued(&self) -> u64 {
        self.host.queued() + self.fifos.queued()
    }

    /// Returns the bytes of these packets, with Ethernet headers.
    pub fn queued_bytes(&self) -> u64 {
        self.host.queued_bytes() + self.fifos.queued_bytes()
    }

    /// Returns the airtime of frames not yet reported.
    #[cfg(test)]
    pub(crate) fn below(&self) -> &AirtimeBelow {
        &self.below
    }
}

/// Airtime estimate of a frame of `len` bytes, cached in `last`.
#[inline]
fn remembered(last: &mut (RetryChain, Ac, u32, u16), tx: &Transmitter, tid: TidIndex, len: u32) -> u16 {
    let (chain, ac) = (&tx.peers[tid.peer().index()].chain, tid.ac());
    if last.0 != *chain || (last.1, last.2) != (ac, len) {
        *last = (*chain, ac, len, units(chain.entries()[0].rate, ac, len));
    }
    last.3
}

/// Reads a station's counters and charges the airtime since the previous read.
// linux: drivers/net/wireless/mediatek/mt76/mt7915/mac.c mt7915_mac_sta_poll (6.12) - for each station named
// in a report: all categories, sent and received.
fn read(counters: &mut [[Duration; 2]; 4], now: Instant, of: TidIndex, host: &mut FqDriver) {
    for ac in Ac::ALL {
        let number = [6, 4, 0, 1][ac.index()];
        for kind in [AirtimeUse::Tx, AirtimeUse::Rx] {
            let used = core::mem::take(&mut counters[ac.index()][kind as usize]);
            if used > Duration::ZERO {
                host.charge(now, TidIndex::new(of.peer(), number), used, kind);
            }
        }
    }
}

#[cfg(test)]
mod tests;
