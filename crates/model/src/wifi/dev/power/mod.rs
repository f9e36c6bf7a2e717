//! Power save in a device: sends the frames that the power-save algorithms request, and holds or releases the
//! device's frames.

mod stations;
mod trips;

use super::{WifiDev, Woken};
use crate::types::{Ac, Ctx, Instant, PeerId, Pkt, Sink, Step};
use crate::wifi::air::ppdu::{Content, Header, Ppdu};
use crate::wifi::air::reception::RxOutcome;
use crate::wifi::power::Power;
use crate::wifi::power::saver::{Act, Saver, SaverCounters, State};
use crate::wifi::power::sleepers::{Sleepers, told};
use crate::wifi::power::tim::Tim;
use crate::wifi::tx::transmitter::{Hardware, TIDS, TidIndex};

/// A station's only peer.
const AP: PeerId = PeerId(0);

/// TID of Null frames of a category in mac80211.
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

    /// Returns the counters of power save and scans up to `now`.
    pub fn saver_counters(&self, now: Instant) -> Option<SaverCounters> {
        match self.power.as_deref() {
            Some(Power::Station(saver)) => Some(saver.counters(now)),
            Some(Power::AccessPoint(sleepers)) => sleepers.trips.as_ref().map(|trips| trips.counters(now)),
            None => None,
        }
    }

    /// Returns true if packets to a peer need a power-save check before they are queued.
    pub(super) fn watches(&self, peer: PeerId) -> bool {
        match self.power.as_deref() {
            Some(Power::Station(_)) => true,
            Some(Power::AccessPoint(sleepers)) => {
                sleepers.is_asleep(peer) || self.tx.group == Some(peer) || sleepers.holds()
            }
            None => false,
        }
    }

    /// Handles a packet in a device with power save. Returns true if the packet is buffered for a sleeping
    /// station.
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
            // A station that woke while the access point was about to leave its channel still has frames
            // here. New packets go behind them.
            Some(Power::AccessPoint(sleepers))
                if sleepers.host_keeps()
                    && (sleepers.is_asleep(tid.peer())
                        || sleepers.holds() && sleepers.waits(tid.peer(), tid.ac())) =>
            {
                sleepers.keep(now, p, (tid.peer(), tid.ac()), ctx);
                true
            }
            _ => false,
        }
    }

    fn heed(&mut self) {
        if let Some(saver) = self.saver() {
            let (deaf, pm) = (saver.is_deaf(), saver.pm());
            (self.deaf, self.pm) = (deaf, pm);
        }
    }

    fn is_sending(&self, hw: &Hardware<'_>) -> bool {
        hw.radio.ppdus().any(|ppdu| ppdu.header.dev == self.tx.dev)
    }

    /// Returns true if the radio has PPDUs of this device other than beacons.
    fn is_sending_data(&self, hw: &Hardware<'_>) -> bool {
        let own = |ppdu: &Ppdu| ppdu.header.dev == self.tx.dev && ppdu.header.content != Content::Beacon;
        hw.radio.ppdus().any(own)
    }

    /// Handles an expired power-save timer of a station, or an access point's check for old frames. Returns
    /// the queues above that are woken.
    pub(super) fn power_timer<S: Sink>(
        &mut self,
        now: Instant,
        hw: &mut Hardware<'_>,
        ctx: &mut Ctx<'_, S>,
    ) -> Woken {
        let sending = self.is_sending(hw);
        let waiting = || self.tx.tids.iter().any(|tid| tid.has_waiting()) || !self.tx.held.is_empty();
        let busy = sending || self.driver.queued() > 0 || waiting();
        let Some(saver) = self.saver() else {
            self.trip_timer(now, busy, hw, ctx);
            return self.give_up_old(now, ctx);
        };
        let act = saver.on_timer(now, busy, sending);
        self.act(now, act, hw, ctx);
        Woken::default()
    }

    /// Returns the next power-save timer, if any.
    #[inline]
    pub(super) fn power_due(&self) -> Option<Instant> {
        match self.power.as_deref() {
            Some(Power::Station(saver)) => saver.next_timer(),
            Some(Power::AccessPoint(sleepers)) => {
                let trip = sleepers.trips.as_ref().and_then(|trips| trips.next_timer());
                sleepers.next_timer().into_iter().chain(trip).min()
            }
            None => None,
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
                self.hold(now, AP, true, ctx);
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

    /// Holds or releases the frames to a peer.
    fn hold<S: Sink>(&mut self, now: Instant, peer: PeerId, held: bool, ctx: &mut Ctx<'_, S>) {
        ctx.step(now, &Step::Sleeps { dev: self.tx.dev, peer, held });
        for tid in 0..TIDS as u8 {
            self.tx.tids[TidIndex::new(peer, tid).index()].asleep = held;
        }
        self.closed[peer.index()] = u8::MAX;
    }

    /// Lets a station that is about to leave its channel do so once the hardware is empty.
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

    /// Handles the completion of a PPDU of this device.
    pub(super) fn power_status<S: Sink>(
        &mut self,
        now: Instant,
        (header, acknowledged, ends): (Header, bool, bool),
        hw: &mut Hardware<'_>,
        ctx: &mut Ctx<'_, S>,
    ) {
        if ends && let Some(sleepers) = self.sleepers_mut() {
            sleepers.set_served(header.peer, false);
        }
        self.trip_flushed(now, hw);
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

    /// Sends a Null frame or a PS-Poll. Null frames use the rates of data.
    // linux: net/mac80211/tx.c ieee80211_nullfunc_get, ieee80211_pspoll_get, mlme.c ieee80211_send_nullfunc,
    // rate.c rate_control_send_low (6.12) - Null frames are data frames and use rate control; PS-Polls use
    // the lowest basic rate.
    fn send_null(&mut self, now: Instant, peer: PeerId, ac: Ac, content: Content, hw: &mut Hardware<'_>) {
        let chain = match content {
            Content::PsPoll => self.tx.management_chain(),
            _ => self.tx.peers[peer.index()].chain,
        };
        let header = Header { dev: self.tx.dev, peer, ac, tid: null_tid(ac), content, in_session: false };
        let ppdu = hw.radio.blank(header, chain);
        hw.send(now, ppdu);
    }

    /// Handles a PPDU of which at least one frame was received, for the first time or again: updates the
    /// sleep state of its sender or, in a station, its own.
    #[cold]
    pub(super) fn power_received<S: Sink>(
        &mut self,
        now: Instant,
        peer: PeerId,
        ppdu: &Ppdu,
        got: &RxOutcome,
        hw: &mut Hardware<'_>,
        ctx: &mut Ctx<'_, S>,
    ) {
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
            // spec: ieee80211-2016 9.2.4.1.7 - control frames do not carry this bit.
            Content::Bar { .. } | Content::Beacon => return,
            _ => ppdu.pm,
        };
        let Some(host) = self.sleepers().map(Sleepers::host_keeps) else { return };
        // linux: net/mac80211/rx.c ieee80211_rx_h_sta_process, ieee80211_rx_h_uapsd_and_pspoll (6.12) - both
        // run after duplicate detection and the reorder buffer; frames released from that buffer are ignored
        // (IEEE80211_RX_DEFERRED_RELEASE).
        // deviation: firmware evaluates frames on arrival.
        let counts = match ppdu.header.content {
            Content::Data { .. } if host => {
                self.rx[TidIndex::new(peer, ppdu.header.tid).index()].passes(ppdu, got)
            }
            Content::Data { .. } => got.first_of(ppdu).next().is_some(),
            _ => !ppdu.taken,
        };
        if !counts && !matches!(ppdu.header.content, Content::Null { .. }) {
            return;
        }
        let Some(sleepers) = self.sleepers_mut() else { return };
        // linux: net/mac80211/rx.c ieee80211_rx_h_uapsd_and_pspoll (6.12) - ignores triggers of stations that
        // are not marked as asleep.
        let asks = counts && (sleepers.is_asleep(peer) || !host);
        if !asks && ppdu.header.content == Content::PsPoll {
            return;
        }
        let news = sleepers.set_asleep(peer, asleep);
        let any = (!sleepers.host_keeps()).then(|| sleepers.any_asleep());
        let habits = sleepers.habits(peer);
        let off = self.is_off();
        match (news, asleep) {
            (true, true) => self.falls_asleep(now, peer, hw, ctx),
            (true, false) if !off => self.let_go(now, peer, hw, ctx),
            _ => {}
        }
        match (any.filter(|_| news), self.tx.group) {
            // The firmware buffers group-addressed frames for the next DTIM.
            (Some(true), Some(group)) => self.hold(now, group, true, ctx),
            (Some(false), Some(group)) if !off => self.let_go(now, group, hw, ctx),
            _ => {}
        }
        // An access point that is about to leave its channel serves no station. The frames withdrawn here may
        // have been its last ones.
        if off {
            return self.trip_flushed(now, hw);
        }
        if !asleep || !asks {
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

    /// Returns true if the device receives a group-addressed frame: it is awake, or has woken for the frames
    /// after a DTIM. `more` is the More Data bit.
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

    /// Returns the TIM of the current beacon, or of the last one sent.
    pub fn tim(&self) -> Option<&Tim> {
        self.sleepers().map(|sleepers| &sleepers.tim)
    }

    /// Takes the TIM of a sent beacon, to pass it to the receivers. Call [`WifiDev::put_tim`] before the
    /// device acts again.
    pub fn take_tim(&mut self) -> Option<Tim> {
        self.sleepers_mut().map(|sleepers| core::mem::take(&mut sleepers.tim))
    }

    /// Puts back the TIM taken by [`WifiDev::take_tim`].
    pub fn put_tim(&mut self, tim: Tim) {
        if let Some(sleepers) = self.sleepers_mut() {
            sleepers.tim = tim;
        }
    }

    /// Returns true if the station listens to a beacon with this TIM.
    pub fn hears(&self, tim: &Tim) -> bool {
        match self.power.as_deref() {
            Some(Power::Station(saver)) => saver.hears(tim),
            _ => false,
        }
    }

    /// Handles a beacon from the station's access point, where the station has peer number `own`.
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

    /// Returns true if a received PPDU can affect power save here.
    #[inline]
    pub(super) fn heeds(&self, got: &RxOutcome) -> bool {
        self.power.is_some() && got.whole.any()
    }
}

#[cfg(test)]
mod tests;
