//! The transmitter shared by all drivers: the device's peers, their TIDs, and attempts to send a PPDU.

use crate::types::{Ac, Ctx, DevId, Duration, Instant, PeerId, Pkt, Rate, Sink, Step};
use crate::wifi::air::filter::DestinationFilter;
use crate::wifi::air::medium::Medium;
use crate::wifi::air::ppdu::{Content, Header, Ppdu};
use crate::wifi::air::radio::Radio;
use crate::wifi::air::reception::PathErrors;
use crate::wifi::phy::{OfdmRate, PhyRate, RateTry, RetryChain};
use crate::wifi::rate::{RateControl, TxReport};
use crate::wifi::seq_window::SeqWindow;
use crate::wifi::tx::aggregate::{AggregateLimits, AmsduLimits, MAX_FRAMES, PEER_MAX};
use crate::wifi::tx::expected::expected_throughput;
use crate::wifi::tx::starts::Starts;
use crate::wifi::tx::tid::{BlockAckSession, LinkRate, TxTid};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Default airtime weight of a station.
// linux: net/mac80211/ieee80211_i.h IEEE80211_DEFAULT_AIRTIME_WEIGHT (5.1).
pub const AIRTIME_WEIGHT: u32 = 256;

/// Number of a TID within a device. Each peer has eight.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TidIndex(pub u32);

/// TIDs per peer.
pub const TIDS: usize = 8;

impl TidIndex {
    /// Returns the number of TID `tid` of `peer`.
    #[inline]
    pub const fn new(peer: PeerId, tid: u8) -> Self {
        Self(peer.0 as u32 * TIDS as u32 + tid as u32)
    }
    /// Returns the peer.
    #[inline]
    pub const fn peer(self) -> PeerId {
        PeerId((self.0 / TIDS as u32) as u16)
    }
    /// Returns the TID, 0 to 7.
    #[inline]
    pub const fn tid(self) -> u8 {
        (self.0 % TIDS as u32) as u8
    }
    /// Returns the TID's access category.
    #[inline]
    pub const fn ac(self) -> Ac {
        Ac::of_tid(self.tid())
    }
    /// Returns the index in tables.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Window sizes of Block Ack sessions with a peer, in frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Windows {
    /// Window size that this device requests.
    pub asks: u16,
    /// Largest window size that this device grants.
    pub grants: u16,
}

impl Default for Windows {
    fn default() -> Self {
        Self { asks: SeqWindow::SIZE, grants: SeqWindow::SIZE }
    }
}

/// A peer that the device exchanges frames with.
#[derive(Clone, Debug)]
pub struct Peer {
    /// The peer's device, and the peer number of this device there.
    pub remote: (DevId, PeerId),
    /// Rate control of frames to the peer.
    pub rate: RateControl,
    /// The retry chain chosen last.
    pub chain: RetryChain,
    /// Aggregate limits, by access category.
    pub limits: [AggregateLimits; 4],
    /// Throughput that rate control expects.
    pub expected: Rate,
    /// Airtime weight of the station (`iw station set airtime_weight`).
    pub weight: u32,
    /// Maximum frames and bytes of an aggregate to the peer, regardless of the rates.
    pub most: (u32, u32),
    /// Include the delimiter in the hardware's minimum subframe length.
    pub delimiter_counted: bool,
    /// Number of empty delimiters that encryption requires between frames.
    pub sealing: u32,
    /// Limits of A-MSDUs to the peer.
    pub amsdu: AmsduLimits,
    /// Window sizes of Block Ack sessions with the peer.
    pub windows: Windows,
    /// Hardware tries of a frame outside a Block Ack session, if the driver sets them. `None`: those of the
    /// retry chain.
    pub single_tries: Option<u8>,
    /// Errors on the path to the peer and back.
    pub errors: PathErrors,
    /// Data PPDUs to the peer that were lost entirely because of noise. Collisions do not count.
    pub unheard: u64,
    /// Lost responses to data PPDUs because of noise. Collisions do not count.
    pub answers_lost: u64,
    /// Data PPDUs to the peer that started during a frame that this device does not hear.
    pub begun_amid: u64,
}

impl Peer {
    /// Creates a peer with a loss-free path. `remote` is as in [`Peer::remote`]. The aggregate limits assume
    /// no TXOP limits.
    pub fn new(remote: (DevId, PeerId), rate: RateControl) -> Self {
        let chain = rate.chain();
        let limits = [AggregateLimits::of(&chain, Duration::ZERO, MAX_FRAMES, PEER_MAX); 4];
        let mut new = Self {
            remote,
            rate,
            chain,
            limits,
            expected: Rate::from_bps(0),
            most: AggregateLimits::most(chain.entries()[0].rate),
            delimiter_counted: false,
            sealing: 0,
            amsdu: AmsduLimits::NONE,
            windows: Windows::default(),
            single_tries: None,
            errors: PathErrors::NONE,
            weight: AIRTIME_WEIGHT,
            unheard: 0,
            answers_lost: 0,
            begun_amid: 0,
        };
        new.choose(|_| Duration::ZERO);
        new
    }

    /// Adopts the rates chosen by rate control, and updates the aggregate limits and the expected throughput.
    pub fn choose(&mut self, txop: impl Fn(Ac) -> Duration) {
        self.chain = self.rate.chain();
        let (frames, bytes) = self.most;
        let amsdu = self.amsdu_at_these_rates();
        self.limits = Ac::ALL.map(|ac| {
            let limits = AggregateLimits::of(&self.chain, txop(ac), frames, bytes)
                .with_sealing(self.sealing)
                .with_amsdu(amsdu, &self.chain);
            if self.delimiter_counted { limits.with_delimiter_counted() } else { limits }
        });
        let first = self.chain.entries()[0].rate;
        let unless_learnt = || expected_throughput(first, self.limits[Ac::Be.index()]);
        self.expected = self.rate.expected().unwrap_or_else(unless_learnt);
    }

    /// Limits of A-MSDUs at the chosen rates.
    // deviation: applies mac80211's A-MSDU limit to A-MSDUs built in firmware - rate control in firmware
    // certainly considers the rate, too, but no source documents how. Minstrel, which replaces it here, sets
    // that limit as well.
    fn amsdu_at_these_rates(&self) -> AmsduLimits {
        if self.amsdu.packets == 1 {
            return self.amsdu;
        }
        let bytes = self.rate.amsdu_bytes().map_or(self.amsdu.bytes, |most| most.min(self.amsdu.bytes));
        AmsduLimits { bytes, ..self.amsdu }
    }
}

/// The hardware as seen by a driver.
#[derive(Debug)]
pub struct Hardware<'a> {
    /// The device's radio.
    pub radio: &'a mut Radio,
    /// The radio's channel.
    pub medium: &'a mut Medium,
}

impl Hardware<'_> {
    /// Appends a PPDU to the queue of its access category.
    pub fn send(&mut self, now: Instant, ppdu: Box<Ppdu>) {
        self.radio.send(now, ppdu.header.ac.index(), ppdu, self.medium);
    }
}

/// Result of an attempt to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Attempt {
    /// A PPDU was handed to the hardware.
    Sent,
    /// The hardware has no room.
    Full,
    /// No frame may be sent now.
    Nothing,
}

/// Transmit half of a Wi-Fi device.
#[derive(Debug)]
pub struct Transmitter {
    /// The device.
    pub dev: DevId,
    /// Its peers.
    pub peers: Vec<Peer>,
    /// Eight TIDs per peer.
    pub tids: Vec<TxTid>,
    /// Rate of management frames.
    pub lowest: PhyRate,
    /// Tries of management frames.
    pub management_tries: u8,
    /// RTS threshold: longer PPDUs, in bytes, are sent with RTS and CTS.
    pub rts_threshold: u32,
    /// Work queue for session setup. `None`: sessions start as soon as they are wanted.
    pub starts: Option<Starts>,
    /// The hardware's destination filter, if any.
    pub filter: Option<DestinationFilter>,
    /// Management frames waiting until a peer wakes, or until the device is back on its channel.
    pub held: Vec<(TidIndex, Ac, Content)>,
    /// Pseudo-peer for group-addressed frames, if any are sent.
    pub group: Option<PeerId>,
}

/// Timeout of an ADDBA request.
// linux: net/mac80211/agg-tx.c ADDBA_RESP_INTERVAL (4.4) - one second.
const ADDBA_TIMEOUT: Duration = Duration::from_secs(1);

/// Number of consecutive single frames per turn of a TID.
// linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_form_burst (4.4).
const BURST: usize = 2;

impl Transmitter {
    /// Creates a transmitter without peers.
    pub fn new(dev: DevId) -> Self {
        let lowest = PhyRate::Ofdm(OfdmRate::M6);
        Self {
            dev,
            peers: Vec::new(),
            tids: Vec::new(),
            lowest,
            management_tries: MANAGEMENT_TRIES,
            rts_threshold: u32::MAX,
            starts: None,
            filter: None,
            held: Vec::new(),
            group: None,
        }
    }

    /// Adds a peer. Frames to it are aggregated, except voice, if all rates of its retry chain are HT, VHT or
    /// HE.
    pub fn add_peer(&mut self, peer: Peer) -> PeerId {
        let id = PeerId::from_index(self.peers.len());
        let ht = peer.chain.entries().iter().all(|e| e.rate.aggregates());
        for tid in 0..TIDS as u8 {
            // linux: net/mac80211/rc80211_minstrel_ht.c minstrel_aggr_check (4.4) - no session for voice.
            let session = if ht && Ac::of_tid(tid) != Ac::Vo {
                BlockAckSession::Closed
            } else {
                BlockAckSession::Never
            };
            self.tids.push(TxTid::new(session));
        }
        self.peers.push(peer);
        id
    }

    /// Declares that frames wait in FIFOs of the driver (see [`TxTid::looks_before_it_takes`]).
    pub fn looks_before_it_takes(&mut self) {
        self.tids.iter_mut().for_each(TxTid::looks_before_it_takes);
    }

    /// Stops mac80211's queues during negotiations (see [`TxTid::stop_queue`]).
    pub fn stop_queues(&mut self) {
        self.tids.iter_mut().for_each(TxTid::stop_queue);
    }

    /// Reports the result of a data PPDU, which must still hold its frames, to rate control. Returns true if
    /// the expected throughput has changed.
    pub fn learn(&mut self, now: Instant, ppdu: &Ppdu, radio: &Radio) -> bool {
        let peer = &mut self.peers[ppdu.header.peer.index()];
        let (used, n) = ppdu.used();
        let sent = TxReport {
            tries: &used[..n],
            frames: ppdu.mpdus.len() as u32,
            acked: ppdu.acked(),
            probe: ppdu.mpdus.first().and_then(|m| m.probe),
            unsent: ppdu.unsent(),
        };
        let changed = peer.rate.sent(now, sent);
        if changed {
            peer.choose(|ac| radio.txop(ac));
        }
        changed
    }

    /// Dequeues a frame before the hardware has room for it (see [`TxTid::hold_one`]).
    pub fn hold_one<'a, S: Sink>(
        &mut self,
        now: Instant,
        tid: TidIndex,
        ctx: &mut Ctx<'a, S>,
        pull: impl FnMut(&mut Ctx<'a, S>) -> Option<Pkt>,
    ) {
        let rate = &mut self.peers[tid.peer().index()].rate;
        self.tids[tid.index()].hold_one(LinkRate { now, rate }, ctx, pull);
    }

    /// Requests a session for a TID without one, on the arrival of a frame. Does nothing if too many requests
    /// were sent, or if the last of several is too recent.
    // linux: net/mac80211/rc80211_minstrel_ht.c minstrel_aggr_check, agg-tx.c ieee80211_start_tx_ba_session
    // (4.4) - runs at the first rate lookup of a frame.
    pub fn want_session(&mut self, now: Instant, tid: TidIndex, hw: &mut Hardware<'_>) {
        let t = &mut self.tids[tid.index()];
        if !t.may_ask(now) {
            return;
        }
        match &mut self.starts {
            None => self.ask_for_session(now, tid, hw),
            Some(starts) => {
                t.session = BlockAckSession::Wanted;
                let work = starts.want(now, tid.0);
                self.begin_work(work);
            }
        }
    }

    /// Handles the end of a wait of the TID's session. If the host's work queue starts another item, returns
    /// its TID.
    pub fn session_is_due(&mut self, now: Instant, tid: TidIndex, hw: &mut Hardware<'_>) -> Option<TidIndex> {
        let t = &mut self.tids[tid.index()];
        let work = match (t.session, &mut self.starts) {
            (BlockAckSession::Asked(_), Some(starts)) => {
                t.session = BlockAckSession::Unanswered;
                starts.want(now, tid.0)
            }
            (BlockAckSession::Starting(_), Some(starts)) => {
                let work = starts.done(now);
                self.ask_for_session(now, tid, hw);
                work
            }
            (_, starts) => {
                t.session = BlockAckSession::Closed;
                starts.as_mut().and_then(|starts| starts.done(now))
            }
        };
        self.begin_work(work)
    }

    fn begin_work(&mut self, work: Option<(u32, Instant)>) -> Option<TidIndex> {
        let (tid, until) = work.map(|(number, until)| (TidIndex(number), until))?;
        let session = &mut self.tids[tid.index()].session;
        *session = if *session == BlockAckSession::Wanted {
            BlockAckSession::Starting(until)
        } else {
            BlockAckSession::Stopping(until)
        };
        Some(tid)
    }

    // linux: net/mac80211/agg-tx.c ieee80211_tx_ba_session_handle_start (4.4).
    fn ask_for_session(&mut self, now: Instant, tid: TidIndex, hw: &mut Hardware<'_>) {
        let t = &mut self.tids[tid.index()];
        let late = self.starts.as_mut().map_or(Duration::ZERO, Starts::late);
        t.ask(now, now + ADDBA_TIMEOUT + late);
        let frames = self.peers[tid.peer().index()].windows.asks;
        let content = Content::AddbaRequest { start: t.next(), frames };
        self.send_management(now, tid, Ac::Vo, content, hw);
    }

    /// Returns the retry chain of management frames.
    // linux: net/mac80211/rate.c rate_control_send_low (4.4) - the lowest basic rate, with max_rate_tries
    // tries.
    pub fn management_chain(&self) -> RetryChain {
        chain_of(self.lowest, self.management_tries)
    }

    /// Sends a management frame or a Block Ack request at the lowest basic rate. Frames to a sleeping peer
    /// wait.
    // spec: ieee80211-2016 11.2.2 - buffers action frames.
    // deviation: buffers Block Ack requests as well - they would be lost.
    pub fn send_management(
        &mut self,
        now: Instant,
        tid: TidIndex,
        ac: Ac,
        content: Content,
        hw: &mut Hardware<'_>,
    ) {
        if self.tids[tid.index()].asleep {
            return self.held.push((tid, ac, content));
        }
        let header =
            Header { dev: self.dev, peer: tid.peer(), ac, tid: tid.tid(), content, in_session: false };
        let mut ppdu = hw.radio.blank(header, self.management_chain());
        ppdu.wide = self.tids[tid.index()].is_wide();
        hw.send(now, ppdu);
    }

    /// Reports to a per-packet sink whether the TID's frames are withheld.
    #[inline]
    pub fn note_withheld<S: Sink>(&self, now: Instant, tid: TidIndex, ctx: &mut Ctx<'_, S>) {
        if S::STEPS {
            let why = self.tids[tid.index()].withheld();
            ctx.step(now, &Step::Withheld { dev: self.dev, peer: tid.peer(), tid: tid.tid(), why });
        }
    }

    /// Builds a PPDU of one frame of a TID, even if the peer sleeps. Returns `None` if no frame may be sent.
    pub fn single<'a, S: Sink>(
        &mut self,
        now: Instant,
        tid: TidIndex,
        hw: &mut Hardware<'_>,
        ctx: &mut Ctx<'a, S>,
        pull: impl FnMut(&mut Ctx<'a, S>) -> Option<Pkt>,
    ) -> Option<Box<Ppdu>> {
        let group = self.group == Some(tid.peer());
        let peer = &mut self.peers[tid.peer().index()];
        let t = &mut self.tids[tid.index()];
        let in_session = t.session == BlockAckSession::Open;
        let content = if group { Content::Group } else { Content::Data { aggregate: false } };
        let header =
            Header { dev: self.dev, peer: tid.peer(), ac: tid.ac(), tid: tid.tid(), content, in_session };
        let mut ppdu = hw.radio.blank(header, peer.chain);
        if !t.build_single(&mut ppdu, LinkRate { now, rate: &mut peer.rate }, ctx, pull) {
            hw.radio.recycle(ppdu);
            return None;
        }
        if let Some(tries) = peer.single_tries.filter(|_| !in_session) {
            ppdu.chain = ppdu.chain.with_tries(tries);
        }
        ppdu.long = ppdu.bytes > self.rts_threshold && !group;
        // The caller sends the PPDU immediately.
        ppdu.is_in_hardware(now, (0, 0), ctx);
        Some(ppdu)
    }

    /// Tries to hand one PPDU, or a burst of single frames, of one TID to the hardware.
    pub fn attempt<'a, S: Sink>(
        &mut self,
        now: Instant,
        tid: TidIndex,
        hw: &mut Hardware<'_>,
        ctx: &mut Ctx<'a, S>,
        mut pull: impl FnMut(&mut Ctx<'a, S>) -> Option<Pkt>,
    ) -> Attempt {
        let ac = tid.ac();
        let group = self.group == Some(tid.peer());
        let peer = &mut self.peers[tid.peer().index()];
        let t = &mut self.tids[tid.index()];
        let in_session = t.session == BlockAckSession::Open;
        if !hw.radio.room(ac, in_session) {
            if in_session
                && hw.radio.stays_open()
                && let Some(ppdu) = hw.radio.open(now, ac, hw.medium)
                && ppdu.header.is_data_of((self.dev, tid.peer(), tid.tid()))
                && ppdu.chain == peer.chain
            {
                let link = LinkRate { now, rate: &mut peer.rate };
                let had = ppdu.ends_with();
                let grown = t.fill(ppdu, peer.limits[ac.index()], link, ctx, pull);
                // A packet that joins the last frame may only replace padding.
                ppdu.is_in_hardware(now, had, ctx);
                if grown {
                    ppdu.long = ppdu.bytes > self.rts_threshold;
                    hw.medium.resized();
                }
                self.note_withheld(now, tid, ctx);
            }
            return Attempt::Full;
        }
        let content = if group { Content::Group } else { Content::Data { aggregate: in_session } };
        let header = Header { dev: self.dev, peer: tid.peer(), ac, tid: tid.tid(), content, in_session };
        if in_session {
            let mut ppdu = hw.radio.blank(header, peer.chain);
            let link = LinkRate { now, rate: &mut peer.rate };
            if t.fill(&mut ppdu, peer.limits[ac.index()], link, ctx, pull) {
                ppdu.long = ppdu.bytes > self.rts_threshold;
                ppdu.wide = t.is_wide();
                ppdu.lifts = core::mem::take(&mut t.lifts);
                ppdu.is_in_hardware(now, (0, 0), ctx);
                hw.send(now, ppdu);
                self.note_withheld(now, tid, ctx);
                return Attempt::Sent;
            }
            hw.radio.recycle(ppdu);
            self.note_withheld(now, tid, ctx);
            return Attempt::Nothing;
        }
        let mut attempt = Attempt::Nothing;
        for _ in 0..BURST {
            let mut ppdu = hw.radio.blank(header, peer.chain);
            if !t.build_single(&mut ppdu, LinkRate { now, rate: &mut peer.rate }, ctx, &mut pull) {
                hw.radio.recycle(ppdu);
                break;
            }
            if let Some(tries) = peer.single_tries {
                ppdu.chain = ppdu.chain.with_tries(tries);
            }
            ppdu.long = ppdu.bytes > self.rts_threshold && !group;
            ppdu.lifts = core::mem::take(&mut t.lifts);
            ppdu.is_in_hardware(now, (0, 0), ctx);
            hw.send(now, ppdu);
            attempt = Attempt::Sent;
        }
        attempt
    }
}

/// Tries of management frames under ath9k.
// linux: drivers/net/wireless/ath/ath9k/init.c ath9k_set_hw_capab (4.4) - max_rate_tries is 10.
const MANAGEMENT_TRIES: u8 = 10;

/// Returns a chain with a single rate.
pub fn chain_of(rate: PhyRate, tries: u8) -> RetryChain {
    RetryChain::new(&[RateTry::new(rate, tries.max(1))]).expect("one entry with tries")
}
