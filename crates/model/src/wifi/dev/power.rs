//! Power save at work in a device: what its algorithms ask for is sent, what they hold back stays, what they let go goes.

use super::WifiDev;
use crate::vocabulary::{Ac, Ctx, Instant, PeerId, Pkt, Sink};
use crate::wifi::air::ppdu::{Content, Header, Ppdu};
use crate::wifi::air::radio::BEACON_QUEUE;
use crate::wifi::air::reception::RxOutcome;
use crate::wifi::power::Power;
use crate::wifi::power::saver::{Act, Saver, SaverCounters, State};
use crate::wifi::power::sleepers::{Sleepers, told};
use crate::wifi::power::tim::Tim;
use crate::wifi::tx::tid::BlockAckSession;
use crate::wifi::tx::transmitter::{Hardware, TIDS, TidIndex, management_chain};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// A station's only peer.
const AP: PeerId = PeerId(0);

/// The TID of which mac80211 sends null frames of a category.
// linux: net/mac80211/sta_info.c ieee80211_sta_ps_deliver_response (6.12) - 7, 5, 0 and 1.
const fn null_tid(ac: Ac) -> u8 {
    [7, 5, 0, 1][ac.index()]
}

impl WifiDev {
    fn saver(&mut self) -> Option<&mut Saver> {
        match self.power.as_deref_mut() {
            Some(Power::Station(saver)) => Some(saver),
            _ => None,
        }
    }

    pub(super) fn sleepers(&self) -> Option<&Sleepers> {
        match self.power.as_deref() {
            Some(Power::AccessPoint(sleepers)) => Some(sleepers),
            _ => None,
        }
    }

    fn sleepers_mut(&mut self) -> Option<&mut Sleepers> {
        match self.power.as_deref_mut() {
            Some(Power::AccessPoint(sleepers)) => Some(sleepers),
            _ => None,
        }
    }

    /// What a station did to save power and to scan, until `now`.
    pub fn saver_counters(&self, now: Instant) -> Option<SaverCounters> {
        match self.power.as_deref() {
            Some(Power::Station(saver)) => Some(saver.counters(now)),
            _ => None,
        }
    }

    /// Whether each packet to a peer is to be looked at before it goes down.
    pub(super) fn watches(&self, peer: PeerId) -> bool {
        match self.power.as_deref() {
            Some(Power::Station(_)) => true,
            Some(Power::AccessPoint(sleepers)) => sleepers.is_asleep(peer) || self.tx.group == Some(peer),
            None => false,
        }
    }

    /// A packet comes down to a device with power save: true if it is kept for a sleeper.
    #[cold]
    pub(super) fn keeps<S: Sink>(
        &mut self,
        now: Instant,
        p: Pkt,
        tid: TidIndex,
        ctx: &mut Ctx<'_, S>,
    ) -> bool {
        match self.power.as_deref_mut() {
            Some(Power::Station(saver)) => {
                saver.on_push(now, tid.ac());
                self.heed();
                false
            }
            Some(Power::AccessPoint(sleepers)) if self.tx.group == Some(tid.peer()) => {
                sleepers.keep_for_group(now, p, ctx)
            }
            Some(Power::AccessPoint(sleepers)) if sleepers.host_keeps() && sleepers.is_asleep(tid.peer()) => {
                sleepers.keep(now, p, (tid.peer(), tid.ac()), ctx);
                true
            }
            _ => false,
        }
    }

    /// What the station is, where others look at it.
    fn heed(&mut self) {
        if let Some(saver) = self.saver() {
            let (deaf, pm) = (saver.is_deaf(), saver.pm());
            (self.deaf, self.pm) = (deaf, pm);
        }
    }

    /// Whether the radio has PPDUs of this device.
    fn is_sending(&self, hw: &Hardware<'_>) -> bool {
        hw.radio.ppdus().any(|ppdu| ppdu.header.dev == self.tx.dev)
    }

    /// A time of the station's power save may be over.
    pub(super) fn power_timer<S: Sink>(&mut self, now: Instant, hw: &mut Hardware<'_>, ctx: &mut Ctx<'_, S>) {
        let sending = self.is_sending(hw);
        let waiting = || self.tx.tids.iter().any(|tid| tid.has_waiting()) || !self.tx.held.is_empty();
        let busy = sending || self.driver.queued() > 0 || waiting();
        let Some(saver) = self.saver() else { return };
        let act = saver.on_timer(now, busy, sending);
        self.act(now, act, hw, ctx);
    }

    /// When that is, if ever.
    #[inline]
    pub(super) fn power_due(&self) -> Option<Instant> {
        match self.power.as_deref() {
            Some(Power::Station(saver)) => saver.next_timer(),
            _ => None,
        }
    }

    fn act<S: Sink>(&mut self, now: Instant, act: Act, hw: &mut Hardware<'_>, ctx: &mut Ctx<'_, S>) {
        self.heed();
        match act {
            Act::Nothing => {}
            Act::Null { pm } => self.send_null(now, AP, Ac::Vo, Content::Null { pm }, hw),
            Act::Poll => self.send_null(now, AP, Ac::Vo, Content::PsPoll, hw),
            Act::Trigger => {
                let triggers = |ac: &&Ac| self.triggers_with(**ac);
                let ac = Ac::ALL.iter().find(triggers).copied().unwrap_or(Ac::Vo);
                self.send_null(now, AP, ac, Content::QosNull { eosp: false }, hw);
            }
            Act::Hold => {
                self.hold(AP, true);
                self.flushed(now, hw, ctx);
            }
            Act::Release => {
                self.send_null(now, AP, Ac::Vo, Content::Null { pm: false }, hw);
                self.let_go(now, AP, hw, ctx);
            }
        }
    }

    fn triggers_with(&self, ac: Ac) -> bool {
        match self.power.as_deref() {
            Some(Power::Station(saver)) => saver.triggers(ac),
            _ => false,
        }
    }

    /// Frames to a peer stay where they are, or go.
    fn hold(&mut self, peer: PeerId, held: bool) {
        for tid in 0..TIDS as u8 {
            self.tx.tids[TidIndex::new(peer, tid).index()].asleep = held;
        }
        self.closed[peer.index()] = u8::MAX;
    }

    /// A station that is about to leave its channel does so if the hardware has nothing left.
    fn flushed<S: Sink>(&mut self, now: Instant, hw: &mut Hardware<'_>, ctx: &mut Ctx<'_, S>) {
        let sending = self.is_sending(hw);
        if let Some(saver) = self.saver()
            && saver.state() == State::Flushing
            && !sending
        {
            let act = saver.flushed(now);
            self.act(now, act, hw, ctx);
        }
    }

    /// A PPDU of the device is done with.
    pub(super) fn power_status<S: Sink>(
        &mut self,
        now: Instant,
        (header, acknowledged): (Header, bool),
        hw: &mut Hardware<'_>,
        ctx: &mut Ctx<'_, S>,
    ) {
        let Some(saver) = self.saver() else { return };
        let act = match header.content {
            Content::Null { pm } => saver.null_done(now, pm, acknowledged),
            Content::Data { .. } => {
                saver.used(now, header.ac);
                Act::Nothing
            }
            _ => Act::Nothing,
        };
        self.act(now, act, hw, ctx);
        self.flushed(now, hw, ctx);
    }

    /// A null frame or a PS-Poll. The one that tells of sleep goes at the rates of data.
    // linux: net/mac80211/tx.c ieee80211_nullfunc_get, ieee80211_pspoll_get, mlme.c ieee80211_send_nullfunc, rate.c
    // rate_control_send_low (6.12) - a null frame is data, so rate control is asked; a PS-Poll is not: the lowest basic rate.
    fn send_null(&mut self, now: Instant, peer: PeerId, ac: Ac, content: Content, hw: &mut Hardware<'_>) {
        let chain = match content {
            Content::PsPoll => management_chain(self.tx.lowest),
            _ => self.tx.peers[peer.index()].chain,
        };
        let header = Header { dev: self.tx.dev, peer, ac, tid: null_tid(ac), content, in_session: false };
        let ppdu = hw.radio.blank(header, chain);
        hw.send(now, ppdu);
    }

    /// Something of a PPDU has come whole, for the first time or again: what it says of its sender's sleep, or what the station is told.
    #[cold]
    pub(super) fn power_received<S: Sink>(
        &mut self,
        now: Instant,
        peer: PeerId,
        ppdu: &Ppdu,
        hw: &mut Hardware<'_>,
        ctx: &mut Ctx<'_, S>,
    ) {
        let first = !ppdu.taken && ppdu.mpdus.iter().all(|mpdu| mpdu.pkt.is_some());
        if let Some(saver) = self.saver() {
            if !matches!(ppdu.header.content, Content::Bar { .. }) {
                let act = saver.received(now, ppdu.header.ac, ppdu.more, ppdu.eosp);
                self.act(now, act, hw, ctx);
            }
            return;
        }
        let asleep = match ppdu.header.content {
            Content::Null { pm } => pm,
            Content::PsPoll => true,
            // spec: ieee80211-2016 9.2.4.1.7 - control frames say nothing of it.
            Content::Bar { .. } | Content::Beacon => return,
            _ => ppdu.pm,
        };
        let Some(sleepers) = self.sleepers_mut() else { return };
        let news = sleepers.set_asleep(peer, asleep);
        let any = (!sleepers.host_keeps()).then(|| sleepers.any_asleep());
        let habits = sleepers.habits(peer);
        match (news, asleep) {
            (true, true) => self.falls_asleep(now, peer, hw, ctx),
            (true, false) => self.let_go(now, peer, hw, ctx),
            (false, _) => {}
        }
        if let (true, Some(group), Some(any)) = (news, self.tx.group, any) {
            // The firmware keeps frames to groups for the next DTIM.
            if any { self.hold(group, true) } else { self.let_go(now, group, hw, ctx) }
        }
        if !asleep || !first {
            return;
        }
        let triggers = |ac: Ac| habits.uapsd >> ac.index() & 1 == 1;
        match ppdu.header.content {
            Content::PsPoll => self.serve(now, (peer, told(habits.uapsd), 1), false, hw, ctx),
            Content::QosNull { .. } | Content::Data { .. } if triggers(ppdu.header.ac) => {
                self.serve(now, (peer, habits.uapsd, habits.max_sp), true, hw, ctx);
            }
            _ => {}
        }
    }

    /// A station sleeps from now on: what the hardware has for it comes back and goes before all else when it wakes.
    // linux: net/mac80211/status.c ieee80211_handle_filtered_frame (6.12) - kept before others.
    // deviation: all of it comes back at once - ath9k's hardware returns each as its turn comes.
    fn falls_asleep<S: Sink>(
        &mut self,
        now: Instant,
        peer: PeerId,
        hw: &mut Hardware<'_>,
        ctx: &mut Ctx<'_, S>,
    ) {
        self.hold(peer, true);
        let (mut back, mut outside) = (Vec::new(), Vec::new());
        hw.radio.withdraw(now, (self.tx.dev, peer), hw.medium, &mut back);
        for mut ppdu in back.into_iter().rev() {
            let Header { ac, tid, content, .. } = ppdu.header;
            let tid = TidIndex::new(peer, tid);
            match content {
                Content::Data { .. } => {
                    let tries = ppdu.tries;
                    let t = &mut self.tx.tids[tid.index()];
                    if ppdu.header.in_session || t.session != BlockAckSession::Open {
                        ppdu.mpdus.drain(..).rev().for_each(|mpdu| t.back(mpdu, tries));
                    } else {
                        // Sent before the session began: their numbers are behind its window.
                        outside.extend(ppdu.mpdus.drain(..).map(|mpdu| (tid, mpdu)));
                    }
                    self.driver.charge_tx(now, tid, ppdu.airtime);
                }
                Content::Null { .. } | Content::QosNull { .. } => {}
                _ => self.tx.held.push((tid, ac, content)),
            }
            hw.radio.recycle(ppdu);
        }
        outside.into_iter().rev().for_each(|(tid, mpdu)| self.tx.tids[tid.index()].once_more(mpdu));
        Ac::ALL.iter().for_each(|&ac| self.driver.fill(now, ac, &mut self.tx, hw, ctx));
    }

    /// A peer may be sent to again: what waited below goes first, then what came while it slept.
    // linux: net/mac80211/sta_info.c ieee80211_sta_ps_deliver_wakeup (6.12) - its queues, then filtered frames, then those that were kept.
    fn let_go<S: Sink>(&mut self, now: Instant, peer: PeerId, hw: &mut Hardware<'_>, ctx: &mut Ctx<'_, S>) {
        self.hold(peer, false);
        let mut held = core::mem::take(&mut self.tx.held);
        held.retain(|&(tid, ac, content)| {
            let own = tid.peer() == peer;
            if own {
                self.tx.send_management(now, tid, ac, content, hw);
            }
            !own
        });
        self.tx.held = held;
        for ac in Ac::ALL {
            for tid in (0..TIDS as u8).filter(|&tid| Ac::of_tid(tid) == ac) {
                let tid = TidIndex::new(peer, tid);
                if self.tx.tids[tid.index()].has_waiting() || self.driver.backlog(tid) > 0 {
                    self.driver.schedule(now, tid);
                }
            }
            while let Some(p) = self.kept(peer, ac, ctx) {
                let tid = TidIndex::new(peer, ctx.packets.get(p).tid);
                self.driver.push(now, p, tid, ctx);
            }
            self.driver.fill(now, ac, &mut self.tx, hw, ctx);
        }
    }

    /// Whether frames of these categories wait for a peer.
    fn waits(&self, peer: PeerId, acs: u8) -> bool {
        let has = |ac: Ac| acs >> ac.index() & 1 == 1;
        let below = (0..TIDS as u8).filter(|&tid| has(Ac::of_tid(tid))).any(|tid| {
            let tid = TidIndex::new(peer, tid);
            self.tx.tids[tid.index()].has_waiting() || self.driver.backlog(tid) > 0
        });
        let kept = |sleepers: &Sleepers| Ac::ALL.iter().any(|&ac| has(ac) && sleepers.waits(peer, ac));
        below || self.sleepers().is_some_and(kept) || self.tx.held.iter().any(|(tid, ..)| tid.peer() == peer)
    }

    /// A sleeping station gets frames: one, or those of a service period. Who asked for a service period, or in vain, is told of its end.
    // linux: net/mac80211/sta_info.c ieee80211_sta_ps_deliver_response (6.12) - a null frame where there is none.
    // deviation: single frames, none of them aggregated.
    fn serve<S: Sink>(
        &mut self,
        now: Instant,
        (peer, acs, most): (PeerId, u8, u32),
        period: bool,
        hw: &mut Hardware<'_>,
        ctx: &mut Ctx<'_, S>,
    ) {
        let mut last: Option<Box<Ppdu>> = None;
        for _ in 0..most {
            let Some(next) = self.release(now, peer, acs, hw, ctx) else { break };
            if let Some(mut before) = last.replace(next) {
                before.more = true;
                hw.send(now, before);
            }
        }
        match last {
            Some(mut ppdu) => {
                ppdu.more = self.waits(peer, acs);
                ppdu.eosp = period;
                hw.send(now, ppdu);
            }
            None => {
                let ac = Ac::ALL.into_iter().find(|ac| acs >> ac.index() & 1 == 1).unwrap_or(Ac::Vo);
                let content = Content::QosNull { eosp: period };
                let chain = self.tx.peers[peer.index()].chain;
                let header =
                    Header { dev: self.tx.dev, peer, ac, tid: null_tid(ac), content, in_session: false };
                let mut ppdu = hw.radio.blank(header, chain);
                ppdu.eosp = period;
                hw.send(now, ppdu);
            }
        }
    }

    /// The next frame for a sleeping station, as a PPDU of its own.
    fn release<S: Sink>(
        &mut self,
        now: Instant,
        peer: PeerId,
        acs: u8,
        hw: &mut Hardware<'_>,
        ctx: &mut Ctx<'_, S>,
    ) -> Option<Box<Ppdu>> {
        if let Some(at) = self.tx.held.iter().position(|(tid, ..)| tid.peer() == peer) {
            let (tid, ac, content) = self.tx.held.remove(at);
            let header = Header { dev: self.tx.dev, peer, ac, tid: tid.tid(), content, in_session: false };
            return Some(hw.radio.blank(header, management_chain(self.tx.lowest)));
        }
        for ac in Ac::ALL.into_iter().filter(|ac| acs >> ac.index() & 1 == 1) {
            for tid in (0..TIDS as u8).filter(|&tid| Ac::of_tid(tid) == ac) {
                let built = self.release_of(now, TidIndex::new(peer, tid), hw, ctx);
                if built.is_some() {
                    return built;
                }
            }
            while let Some(p) = self.kept(peer, ac, ctx) {
                let tid = TidIndex::new(peer, ctx.packets.get(p).tid);
                self.driver.push(now, p, tid, ctx);
                let built = self.release_of(now, tid, hw, ctx);
                if built.is_some() {
                    return built;
                }
            }
        }
        None
    }

    fn release_of<S: Sink>(
        &mut self,
        now: Instant,
        tid: TidIndex,
        hw: &mut Hardware<'_>,
        ctx: &mut Ctx<'_, S>,
    ) -> Option<Box<Ppdu>> {
        let Self { tx, driver, .. } = self;
        tx.single(now, tid, hw, ctx, |ctx| driver.pull(now, tid, ctx))
    }

    /// An access point's next beacon is made: what it says of waiting frames.
    pub fn make_beacon<S: Sink>(&mut self, now: Instant, ctx: &mut Ctx<'_, S>) -> Option<&Tim> {
        let mut power = self.power.take();
        if let Some(Power::AccessPoint(sleepers)) = power.as_deref_mut() {
            let frames = |group: PeerId| {
                let of = |tid: u8| self.driver.backlog(TidIndex::new(group, tid));
                (0..TIDS as u8).map(of).sum()
            };
            let below =
                self.tx.group.filter(|_| !sleepers.host_keeps() && sleepers.any_asleep()).map_or(0, frames);
            sleepers.beacon(now, ctx, below, |peer, acs| self.waits(peer, acs));
        }
        self.power = power;
        self.tim()
    }

    /// What is kept for a station in a category, the oldest first.
    fn kept<S: Sink>(&mut self, peer: PeerId, ac: Ac, ctx: &mut Ctx<'_, S>) -> Option<Pkt> {
        if self.tx.group == Some(peer) {
            return None;
        }
        self.sleepers_mut()?.take(peer, ac, ctx)
    }

    /// After a DTIM, and after each of them, the next frame to a group that is due is sent, before all others.
    // linux: drivers/net/wireless/ath/ath9k/beacon.c ath9k_beacon_generate (6.12) - the queue behind the beacon has them all by then.
    // deviation: each contends anew as a beacon does, without a back-off, and one that the next beacon finds waits for the DTIM after that.
    pub fn next_group<S: Sink>(&mut self, now: Instant, hw: &mut Hardware<'_>, ctx: &mut Ctx<'_, S>) {
        let (Some(group), Some(sleepers)) = (self.tx.group, self.sleepers_mut()) else { return };
        if hw.radio.queued(BEACON_QUEUE) > 0 || !sleepers.group.is_due() {
            return;
        }
        if sleepers.host_keeps() {
            let Some(p) = sleepers.group.next(ctx) else { return };
            let tid = TidIndex::new(group, ctx.packets.get(p).tid);
            self.driver.push(now, p, tid, ctx);
        } else {
            sleepers.group.below();
        }
        let tids = (0..TIDS as u8).map(|tid| TidIndex::new(group, tid));
        for tid in tids {
            let Some(mut ppdu) = self.release_of(now, tid, hw, ctx) else { continue };
            ppdu.more = self.sleepers().is_some_and(|sleepers| sleepers.group.is_due());
            return hw.radio.send(now, BEACON_QUEUE, ppdu, hw.medium);
        }
    }

    /// Whether a frame to a group reaches this device: it is awake, or has woken for those that follow a DTIM, until the last.
    pub fn takes_group(&mut self, more: bool) -> bool {
        let deaf = self.deaf;
        match self.saver() {
            Some(saver) => {
                let takes = !deaf || saver.group;
                saver.group &= more;
                takes
            }
            None => !deaf,
        }
    }

    /// What the beacon says that is sent, or was sent last.
    pub fn tim(&self) -> Option<&Tim> {
        self.sleepers().map(|sleepers| &sleepers.tim)
    }

    /// Whether a station hears a beacon that says this.
    pub fn hears(&self, tim: &Tim) -> bool {
        match self.power.as_deref() {
            Some(Power::Station(saver)) => saver.hears(tim),
            _ => false,
        }
    }

    /// A station has heard a beacon of its access point, which knows it by this number.
    pub fn on_beacon<S: Sink>(
        &mut self,
        now: Instant,
        own: PeerId,
        tim: &Tim,
        hw: &mut Hardware<'_>,
        ctx: &mut Ctx<'_, S>,
    ) {
        if let Some(saver) = self.saver() {
            let act = saver.on_beacon(now, own, tim);
            self.act(now, act, hw, ctx);
        }
    }

    /// Whether a received PPDU says anything of power save here.
    #[inline]
    pub(super) fn heeds(&self, got: &RxOutcome) -> bool {
        self.power.is_some() && got.whole.any()
    }
}
