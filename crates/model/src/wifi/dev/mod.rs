//! A Wi-Fi device: the MAC of one wireless interface, access point and station alike.

mod options;
mod power;
mod status;

use super::deadlines::Deadlines;
use crate::types::{Ac, Ctx, Instant, Packets, PeerId, Pkt, PlaceId, RadioId, Sink, SockId, Step};
use crate::wifi::air::ppdu::{Content, Header, Mpdu, Ppdu};
use crate::wifi::air::reception::RxOutcome;
use crate::wifi::config::RetryCount;
use crate::wifi::driver::Driver;
pub use crate::wifi::driver::Woken;
use crate::wifi::phy::PhyRate;
use crate::wifi::power::Power;
use crate::wifi::power::sleepers::Sleepers;
use crate::wifi::rx::interrupts::HeldBack;
use crate::wifi::rx::retry_out::{RetryOutParams, SmoothedRate};
use crate::wifi::rx::transfers::Transfers;
use crate::wifi::rx::{Judge, RxTid};
use crate::wifi::tx::tid::{BlockAckSession, Blocked};
use crate::wifi::tx::transmitter::{Hardware, TIDS, TidIndex, Transmitter};
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

/// The MAC of one wireless interface.
#[derive(Debug)]
pub struct WifiDev {
    /// The device's radio.
    pub radio: RadioId,
    /// Transmit half.
    pub tx: Transmitter,
    driver: Driver,
    rx: Vec<RxTid>,
    place: PlaceId,
    /// Frames that are being given up; kept to be used again.
    lost: Vec<Mpdu>,
    /// mac80211 stops its queues while a Block Ack session is negotiated.
    stops_queues: bool,
    /// A frame of a session that fails is given up if it had so many hardware tries before, in earlier PPDUs.
    retry_limit: u8,
    /// Tries that count towards this limit.
    counts: RetryCount,
    /// Rate control gets a report of each PPDU, even if all frames are sent again.
    reports_failed: bool,
    /// That limit is lower at low rates.
    limit_by_rate: bool,
    /// Pseudo retry-out of what it receives, with the smoothed data rate of each peer.
    retry_out: Option<(RetryOutParams, Vec<SmoothedRate>)>,
    /// By peer, a bit for each TID: its session may be closed. What most packets ask is answered by few
    /// bytes.
    closed: Vec<u8>,
    /// Packets of frames that the host has not been told of, if its device waits with that.
    held_back: Option<HeldBack>,
    /// Packets of frames that are on their way to a host behind USB.
    transfers: Option<Box<Transfers>>,
    /// Of buffers that hold frames, by TID, behind them of sessions that wait for an answer, and last of what
    /// is held back.
    deadlines: Deadlines,
    /// Its power save, or that of its stations.
    power: Option<Box<Power>>,
    /// Others than those of its deadlines may be due: its driver's, or those of power save.
    timed: bool,
    /// The device receives nothing: it sleeps, or is on another channel.
    pub deaf: bool,
    /// The Power Management bit of the device's frames.
    pub pm: bool,
}

impl WifiDev {
    /// A device with all its peers. Drops are recorded at `place`.
    pub fn new(radio: RadioId, mut tx: Transmitter, driver: Driver, retry_limit: u8, place: PlaceId) -> Self {
        if !matches!(driver, Driver::Fq(_)) {
            tx.looks_before_it_takes();
        }
        let stops_queues = driver.stops_queues();
        if stops_queues {
            tx.stop_queues();
        }
        let rx: Vec<_> = (0..tx.tids.len()).map(|_| RxTid::default()).collect();
        let deadlines = Deadlines::new(rx.len() + tx.tids.len() + 1);
        let closed = vec![u8::MAX; tx.peers.len()];
        let timed = matches!(driver, Driver::Htc(_) | Driver::Firmware(_));
        let mut dev = Self {
            radio,
            tx,
            rx,
            place,
            lost: Vec::new(),
            stops_queues,
            retry_limit,
            counts: driver.counts(),
            reports_failed: driver.reports_failed_ppdus(),
            driver,
            limit_by_rate: false,
            retry_out: None,
            closed,
            held_back: None,
            transfers: None,
            deadlines,
            power: None,
            timed,
            deaf: false,
            pm: false,
        };
        for n in 0..dev.tx.peers.len() {
            let peer = PeerId::from_index(n);
            dev.expect(Instant::ZERO, peer);
            if let Some(fq) = dev.driver.mac_queues() {
                fq.weigh(peer, dev.tx.peers[n].weight);
            }
        }
        dev
    }

    fn expect(&mut self, now: Instant, peer: PeerId) {
        if let Some(fq) = self.driver.mac_queues() {
            fq.expect(now, peer, self.tx.peers[peer.index()].expected);
        }
    }

    /// Takes a packet from the interface. The packet is always accepted.
    pub fn push<S: Sink>(&mut self, now: Instant, p: Pkt, hw: &mut Hardware<'_>, ctx: &mut Ctx<'_, S>) {
        let hot = ctx.packets.get(p);
        let tid = TidIndex::new(hot.peer, hot.tid);
        if self.closed[tid.peer().index()] >> tid.tid() & 1 == 1 {
            return self.push_external(now, p, tid, hw, ctx);
        }
        self.driver.take(now, p, tid, &mut self.tx, hw, ctx);
    }

    /// Takes a packet of a TID whose session may be closed, or whose peer may sleep.
    // linux: net/mac80211/tx.c ieee80211_aggr_check, __ieee80211_subif_start_xmit (6.12),
    // rc80211_minstrel_ht.c minstrel_aggr_check (4.11) - the packet only queues the work that stops the TID's
    // queue, and has left that queue before the work runs.
    // deviation: the work starts right after this packet; packets of the same softirq would pass as well.
    // Where a driver holds the frames, the packet itself waits too.
    #[inline(never)]
    fn push_external<S: Sink>(
        &mut self,
        now: Instant,
        p: Pkt,
        tid: TidIndex,
        hw: &mut Hardware<'_>,
        ctx: &mut Ctx<'_, S>,
    ) {
        if self.power.is_some() && self.keeps(now, p, tid, ctx) {
            return;
        }
        if !self.stops_queues {
            self.open_session(now, tid, hw);
        }
        self.driver.take(now, p, tid, &mut self.tx, hw, ctx);
        if self.stops_queues {
            self.open_session(now, tid, hw);
        }
        self.tx.note_withheld(now, tid, ctx);
    }

    /// Requests a session if it is closed.
    #[cold]
    fn open_session(&mut self, now: Instant, tid: TidIndex, hw: &mut Hardware<'_>) {
        if self.tx.tids[tid.index()].session == BlockAckSession::Closed {
            self.tx.want_session(now, tid, hw);
            self.note(self.rx.len() + tid.index());
        } else if !self.watches(tid.peer()) {
            self.closed[tid.peer().index()] &= !(1 << tid.tid());
        }
    }

    /// Returns the reason why the TID sends no new frame now. `None` if only the hardware or the scheduler
    /// can delay the next frame.
    pub fn blocked(&self, peer: PeerId, tid: u8) -> Option<Blocked> {
        self.tx.tids[TidIndex::new(peer, tid).index()].blocked()
    }

    /// Whether the interface's queue for this access category is stopped.
    #[inline]
    pub fn is_stopped(&self, ac: Ac) -> bool {
        self.driver.is_stopped(ac)
    }

    /// The hardware has reported a PPDU: frees acknowledged frames, keeps the others for retransmission or
    /// gives them up at the retry limit, charges the airtime, and fills the hardware again.
    pub fn tx_status<S: Sink>(
        &mut self,
        now: Instant,
        ppdu: Box<Ppdu>,
        hw: &mut Hardware<'_>,
        ctx: &mut Ctx<'_, S>,
    ) -> Woken {
        let header = ppdu.header;
        let woken = self.complete(now, ppdu, hw, ctx);
        self.refill(now, header, hw, ctx);
        woken
    }

    /// [`WifiDev::tx_status`] without filling the hardware, so that other devices on the same radio come
    /// first.
    pub fn complete<S: Sink>(
        &mut self,
        now: Instant,
        mut ppdu: Box<Ppdu>,
        hw: &mut Hardware<'_>,
        ctx: &mut Ctx<'_, S>,
    ) -> Woken {
        let header = ppdu.header;
        let mut woken = Woken::default();
        match header.content {
            // Frames to a group have a rate that learns nothing.
            Content::Data { .. } | Content::Group => {
                let learns = self.tx.peers[header.peer.index()].rate.learns() && self.is_reported(&ppdu);
                if learns && self.tx.learn(now, &ppdu, hw.radio) {
                    self.expect(now, header.peer);
                }
                woken = self.data_status(now, &mut ppdu, hw, ctx);
                self.tx.note_withheld(now, TidIndex::new(header.peer, header.tid), ctx);
            }
            Content::Bar { start } if !ppdu.acknowledged => {
                self.tx.tids[TidIndex::new(header.peer, header.tid).index()].bar_lost(start)
            }
            // linux: net/mac80211/agg-tx.c sta_addba_resp_timer_expired (4.4) - a request that fails is not
            // noticed before the time for its answer is over.
            _ => {}
        }
        let (acknowledged, ends) = (ppdu.acknowledged, ppdu.ends);
        hw.radio.recycle(ppdu);
        if self.power.is_some() {
            self.power_status(now, (header, acknowledged, ends), hw, ctx);
        }
        woken
    }

    /// Fills the hardware after a PPDU with this header has left it. The PPDU may be of another device on the
    /// same radio.
    pub fn refill<S: Sink>(
        &mut self,
        now: Instant,
        header: Header,
        hw: &mut Hardware<'_>,
        ctx: &mut Ctx<'_, S>,
    ) {
        if header.content == Content::Group {
            // The limit of frames to groups is one for all categories.
            return Ac::ALL.iter().for_each(|&ac| self.driver.fill(now, ac, &mut self.tx, hw, ctx));
        }
        self.driver.fill(now, header.ac, &mut self.tx, hw, ctx);
        let ac = Ac::of_tid(header.tid);
        if header.ac != ac {
            self.driver.fill(now, ac, &mut self.tx, hw, ctx);
        }
    }

    /// The hardware received one try of a PPDU from `peer` at `rate`: frames without errors and broken ones,
    /// which the driver also sees. Packets that can go up are appended to `up`. Of an A-MSDU, only the first
    /// packet is appended.
    #[expect(clippy::too_many_arguments, reason = "the air's report to the receiver, each part of it needed")]
    pub fn receive<S: Sink>(
        &mut self,
        now: Instant,
        peer: PeerId,
        ppdu: &mut Ppdu,
        rate: PhyRate,
        got: &RxOutcome,
        up: &mut Vec<Pkt>,
        hw: &mut Hardware<'_>,
        ctx: &mut Ctx<'_, S>,
    ) {
        let tid = TidIndex::new(peer, ppdu.header.tid);
        if self.heeds(got) {
            self.power_received(now, peer, ppdu, got, hw, ctx);
        }
        match ppdu.header.content {
            Content::Data { .. } => {
                let rx = &mut self.rx[tid.index()];
                let judge = self.retry_out.as_mut().map(|(params, rates)| Judge {
                    params: *params,
                    smoothed: &mut rates[peer.index()],
                    rate: rate.rate(),
                });
                rx.receive(now, ppdu, got, judge, up, ctx);
                self.note(tid.index());
                self.driver.charge_rx(now, tid, ppdu, rate, &got.whole);
            }
            Content::Bar { start } => {
                self.rx[tid.index()].on_bar(start, up);
                self.note(tid.index());
            }
            Content::AddbaRequest { start, frames } => {
                // A repeat after a lost ACK is known by its sequence number, and not answered again.
                if !core::mem::replace(&mut ppdu.taken, true) {
                    // linux: net/mac80211/agg-rx.c __ieee80211_start_rx_ba_session (6.12) - what is asked
                    // for, within one's own limit.
                    let frames = frames.min(self.tx.peers[peer.index()].windows.grants);
                    self.rx[tid.index()].open(start, frames, self.place, up);
                    if self.retry_out.is_some() {
                        self.rx[tid.index()].count_broken();
                    }
                    self.note(tid.index());
                    self.tx.send_management(now, tid, Ac::Vo, Content::AddbaResponse { frames }, hw);
                }
            }
            Content::AddbaResponse { frames } => {
                if matches!(self.tx.tids[tid.index()].session, BlockAckSession::Asked(_)) {
                    // linux: net/mac80211/agg-tx.c ieee80211_process_addba_resp (6.12) - what is granted,
                    // within one's own limit.
                    let frames = frames.min(self.tx.peers[peer.index()].windows.asks);
                    self.tx.tids[tid.index()].open(frames);
                    self.driver.restart(now, tid);
                    self.tx.note_withheld(now, tid, ctx);
                    self.driver.fill(now, tid.ac(), &mut self.tx, hw, ctx);
                }
            }
            // What was asked for once is not asked for again by a repeat.
            Content::Null { .. } | Content::QosNull { .. } | Content::PsPoll => ppdu.taken = true,
            // What came is copied for each that heard it, and the rest is not for the device.
            Content::Beacon | Content::Group => {}
        }
        ctx.each_step(now, up.iter().copied(), |p| Step::InOrder { p });
        if self.held_back.is_some() {
            self.hold_back(now, got.broken(ppdu), up);
        }
        if let Some(transfers) = &mut self.transfers
            && let Content::Data { .. } = ppdu.header.content
        {
            transfers.received(now, ppdu, rate, &got.whole, up);
        } else if let Some(transfers) = &mut self.transfers {
            transfers.behind(now, up);
        }
    }

    /// A PPDU has been received, by this device or by another on its radio. Packets in `up` wait for the
    /// interrupt. A broken frame raises an interrupt by itself.
    // linux: drivers/net/wireless/ath/ath9k/mac.c ath9k_hw_set_interrupts (4.4) - RXERR stays a reason where
    // RXOK is none.
    // deviation: frames behind the broken one have another wait; most of them wait for it in the reorder
    // buffer anyway.
    pub fn hold_back(&mut self, now: Instant, broken: bool, up: &mut Vec<Pkt>) {
        let Some(held_back) = &mut self.held_back else { return };
        held_back.received(now, up);
        if broken && held_back.interrupt(now) {
            held_back.hand_up(up);
        }
        self.note(self.rx.len() + self.tx.tids.len());
    }

    /// Whether received packets wait for the interrupt.
    #[inline]
    pub fn holds_back(&self) -> bool {
        self.held_back.as_ref().is_some_and(|held_back| held_back.due().is_some())
    }

    /// An interrupt of another kind: the host also handles the received packets.
    #[inline]
    pub fn interrupt(&mut self, now: Instant, up: &mut Vec<Pkt>) {
        let Some(held_back) = &mut self.held_back else { return };
        if held_back.interrupt(now) {
            held_back.hand_up(up);
        } else {
            self.note(self.rx.len() + self.tx.tids.len());
        }
    }

    /// A part of the device may have a deadline, or an earlier one than before.
    fn note(&mut self, part: usize) {
        if let Some(at) = deadline(&self.rx, &self.tx, self.held_back.as_ref(), part) {
            self.deadlines.note(part, at);
        }
    }

    /// When to call [`WifiDev::on_timer`], if at all; the time may be past.
    #[inline]
    pub fn next_timer(&mut self) -> Option<Instant> {
        let Self { deadlines, rx, tx, held_back, .. } = self;
        let first = deadlines.first(|part| deadline(rx, tx, held_back.as_ref(), part)).map(|(at, _)| at);
        if self.timed {
            let transfers = self.transfers.as_ref().and_then(|transfers| transfers.next_timer());
            let others = [first, self.driver.next_timer(), transfers, self.power_due()];
            return others.into_iter().flatten().min();
        }
        first
    }

    /// Gives up holes in reorder buffers and unanswered requests, and hands up packets that were held back.
    /// Returns the queues above that are woken by USB reports.
    pub fn on_timer<S: Sink>(
        &mut self,
        now: Instant,
        up: &mut Vec<Pkt>,
        hw: &mut Hardware<'_>,
        ctx: &mut Ctx<'_, S>,
    ) -> Woken {
        let Self { deadlines, rx, tx, held_back, .. } = self;
        while let Some((at, part)) = deadlines.first(|part| deadline(rx, tx, held_back.as_ref(), part))
            && at <= now
        {
            if let Some(rx) = rx.get_mut(part) {
                // What has come before goes up before it.
                held_back.iter_mut().for_each(|held_back| held_back.hand_up(up));
                rx.on_timeout(now, up);
                ctx.each_step(now, up.iter().copied(), |p| Step::InOrder { p });
                self.transfers.iter_mut().for_each(|transfers| transfers.behind(now, up));
            } else if part == rx.len() + tx.tids.len() {
                held_back.iter_mut().for_each(|held_back| held_back.hand_up(up));
            } else {
                let tid = TidIndex((part - rx.len()) as u32);
                let next = tx.session_is_due(now, tid, hw);
                for tid in [Some(tid), next].into_iter().flatten() {
                    tx.note_withheld(now, tid, ctx);
                    let part = rx.len() + tid.index();
                    let at = deadline(rx, tx, held_back.as_ref(), part);
                    at.into_iter().for_each(|at| deadlines.note(part, at));
                }
                if tx.tids[tid.index()].session == BlockAckSession::Closed {
                    self.closed[tid.peer().index()] |= 1 << tid.tid();
                    self.driver.restart(now, tid);
                    self.driver.fill(now, tid.ac(), tx, hw, ctx);
                }
            }
        }
        let mut woken = Woken::default();
        if self.power_due().is_some_and(|at| at <= now) {
            woken = self.power_timer(now, hw, ctx);
        }
        self.transfers.iter_mut().for_each(|transfers| transfers.on_timer(now, up));
        if self.driver.next_timer().is_none_or(|at| at > now) {
            return woken;
        }
        woken.add(self.driver.on_timer(now, &self.tx, ctx));
        self.driver.fill(now, Ac::Be, &mut self.tx, hw, ctx);
        woken
    }

    /// Frames with a sequence number that wait to be sent or retried.
    pub fn waiting(&self) -> impl Iterator<Item = &Mpdu> {
        self.tx.tids.iter().flat_map(|t| t.waiting())
    }

    /// Packets in the device, except those in its radio: queued, waiting for a retry, or received and not
    /// handed up.
    pub fn held(&self, packets: &Packets) -> u64 {
        let waiting: u64 = self.waiting().map(Mpdu::held).sum();
        let received: u64 = self.received().map(|p| u64::from(packets.msdus(p))).sum();
        let kept = self.sleepers().map_or(0, Sleepers::packets);
        self.driver.queued() + waiting + received + kept
    }

    /// Packets in the driver's queues, and their bytes with Ethernet headers.
    pub fn queued(&self) -> (u64, u64) {
        let kept = self.sleepers().map_or((0, 0), |sleepers| (sleepers.packets(), sleepers.bytes()));
        (self.driver.queued() + kept.0, self.driver.queued_bytes() + kept.1)
    }

    /// Packets received and not handed up: in reorder buffers, or waiting for the interrupt. Of an A-MSDU,
    /// only the first packet.
    pub fn received(&self) -> impl Iterator<Item = Pkt> {
        let held_back = self.held_back.iter().flat_map(HeldBack::packets);
        let moving = self.transfers.iter().flat_map(|transfers| transfers.packets());
        self.rx.iter().flat_map(|r| r.held()).chain(held_back).chain(moving)
    }

    /// Charges of frames that are done and that the host has not been told of.
    pub fn unheard_charges(&self) -> impl Iterator<Item = (SockId, u32)> {
        self.driver.charges()
    }

    /// The place at which the device's drops are recorded.
    pub const fn place(&self) -> PlaceId {
        self.place
    }

    /// Number of duplicate frames received from all peers.
    pub fn duplicates(&self) -> u64 {
        self.rx.iter().map(|r| r.duplicates).sum()
    }

    /// Receive state of a peer's TID.
    pub fn rx(&self, peer: PeerId, tid: u8) -> &RxTid {
        &self.rx[peer.index() * TIDS + usize::from(tid)]
    }
}

/// The deadline of one part of a device: its receiving TIDs come first, then the sending ones, last what is
/// held back.
#[inline]
fn deadline(rx: &[RxTid], tx: &Transmitter, held_back: Option<&HeldBack>, part: usize) -> Option<Instant> {
    match rx.get(part) {
        Some(rx) => rx.next_timeout(),
        None => match tx.tids.get(part - rx.len()) {
            Some(tid) => match tid.session {
                BlockAckSession::Starting(until)
                | BlockAckSession::Asked(until)
                | BlockAckSession::Stopping(until) => Some(until),
                _ => None,
            },
            None => held_back?.due(),
        },
    }
}

#[cfg(test)]
mod filter;
#[cfg(test)]
mod steps;
#[cfg(test)]
mod tests;
