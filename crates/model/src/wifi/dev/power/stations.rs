//! Access point side of power save: stations that fall asleep or wake, frames for sleeping stations, and
//! group-addressed frames.

use super::{WifiDev, Woken, null_tid};
use crate::types::{Ac, Ctx, Instant, PeerId, Pkt, Reason, Sink};
use crate::wifi::air::filter::DestinationFilter;
use crate::wifi::air::ppdu::{Content, Header, Mpdu, Ppdu, Returned};
use crate::wifi::air::radio::BEACON_QUEUE;
use crate::wifi::driver::Driver;
use crate::wifi::power::Power;
use crate::wifi::power::sleepers::Sleepers;
use crate::wifi::power::tim::Tim;
use crate::wifi::tx::tid::BlockAckSession;
use crate::wifi::tx::transmitter::{Hardware, TIDS, TidIndex};
use alloc::boxed::Box;
use alloc::vec::Vec;

impl WifiDev {
    /// Handles a station that falls asleep. Its frames in the hardware are withdrawn, and are sent first when
    /// the station wakes. Since Linux 4.9, ath9k drops withdrawn frames outside a session.
    // linux: net/mac80211/status.c ieee80211_handle_filtered_frame (6.12) - buffers them before other frames;
    // ath9k/xmit.c ath_tx_status (4.11) - the driver frees frames outside a session without reporting them to
    // mac80211.
    // deviation: withdraws all frames immediately - ath9k hardware returns each one in its turn, after
    // another has failed in all its tries.
    pub(super) fn falls_asleep<S: Sink>(
        &mut self,
        now: Instant,
        peer: PeerId,
        hw: &mut Hardware<'_>,
        ctx: &mut Ctx<'_, S>,
    ) {
        self.hold(now, peer, true, ctx);
        let mut back = Vec::new();
        hw.radio.withdraw(now, (self.tx.dev, peer), hw.medium, &mut back);
        let single =
            |ppdu: &Ppdu| matches!(ppdu.header.content, Content::Data { .. }) && !ppdu.header.in_session;
        if self.tx.filter == Some(DestinationFilter::Dropped) {
            back.extract_if(.., |ppdu| single(ppdu)).for_each(|ppdu| hw.radio.return_unsent(ppdu));
        }
        // Frames sent before their session started, by TID.
        let mut before: [Vec<Mpdu>; TIDS] = Default::default();
        for mut ppdu in back.into_iter().rev() {
            let Header { ac, tid, content, in_session, .. } = ppdu.header;
            let index = TidIndex::new(peer, tid);
            ppdu.is_given_back(now, ctx);
            match content {
                Content::Data { .. } => {
                    let tries = ppdu.tries;
                    let t = &mut self.tx.tids[index.index()];
                    for mut mpdu in ppdu.mpdus.drain(..).rev() {
                        mpdu.tries = mpdu.tries.saturating_add(tries);
                        if !in_session {
                            mpdu.returned = Returned::Asleep;
                            mpdu.pkt.iter().for_each(|&p| ctx.packets.get_mut(p).t_enqueue = now);
                        }
                        match t.session {
                            BlockAckSession::Open if !in_session => before[usize::from(tid)].push(mpdu),
                            _ => t.back(mpdu),
                        }
                    }
                    self.driver.charge_tx(now, index, ppdu.airtime);
                }
                Content::Null { .. } | Content::QosNull { .. } => {}
                _ => self.tx.held.push((index, ac, content)),
            }
            hw.radio.recycle(ppdu);
        }
        let in_order = self.tx.filter.is_none();
        for (tid, mut before) in before.into_iter().enumerate().filter(|(_, before)| !before.is_empty()) {
            before.reverse();
            self.tx.tids[TidIndex::new(peer, tid as u8).index()].join(before, in_order);
        }
        if let Some(sleepers) = self.sleepers_mut() {
            sleepers.look_later(now);
        }
        Ac::ALL.iter().for_each(|&ac| self.driver.fill(now, ac, &mut self.tx, hw, ctx));
    }

    /// Gives up frames that have waited too long for a station: those buffered by the host, and withdrawn
    /// frames outside a session. Returns the queues above that are woken.
    // linux: net/mac80211/sta_info.c sta_info_cleanup_expire_buffered_ac (6.12) - expires both; session
    // frames in the driver do not expire.
    pub(super) fn give_up_old<S: Sink>(&mut self, now: Instant, ctx: &mut Ctx<'_, S>) -> Woken {
        let mut woken = Woken::default();
        let mut power = self.power.take();
        if let Some(Power::AccessPoint(sleepers)) = power.as_deref_mut()
            && sleepers.next_timer().is_some_and(|at| at <= now)
        {
            let mut left = sleepers.give_up_old(now, ctx);
            let mut old = Vec::new();
            for peer in (0..self.tx.peers.len()).map(PeerId::from_index) {
                if !sleepers.is_asleep(peer) {
                    continue;
                }
                let expiry = sleepers.expiry(peer);
                for tid in (0..TIDS as u8).map(|tid| TidIndex::new(peer, tid)) {
                    let packets = &ctx.packets;
                    let is_old = |p| now.saturating_since(packets.get(p).t_enqueue) > expiry;
                    left |= self.tx.tids[tid.index()].give_up_old(is_old, &mut old);
                    for mpdu in old.drain(..) {
                        self.end_of(now, tid, mpdu, false, Reason::Expired, &mut woken, ctx);
                    }
                }
            }
            sleepers.looked(now, left);
        }
        self.power = power;
        woken
    }

    /// Releases the frames to a peer: first frames below mac80211, then frames buffered while the peer slept.
    // linux: net/mac80211/sta_info.c ieee80211_sta_ps_deliver_wakeup (6.12) - releases the driver's queues,
    // then filtered frames, then buffered frames.
    pub(super) fn let_go<S: Sink>(
        &mut self,
        now: Instant,
        peer: PeerId,
        hw: &mut Hardware<'_>,
        ctx: &mut Ctx<'_, S>,
    ) {
        self.hold(now, peer, false, ctx);
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

    /// Returns true if frames of these categories wait for a peer.
    fn waits(&self, peer: PeerId, acs: u8) -> bool {
        let has = |ac: Ac| acs >> ac.index() & 1 == 1;
        let below = (0..TIDS as u8).filter(|&tid| has(Ac::of_tid(tid))).any(|tid| {
            let tid = TidIndex::new(peer, tid);
            self.tx.tids[tid.index()].has_waiting() || self.driver.backlog(tid) > 0
        });
        let kept = |sleepers: &Sleepers| Ac::ALL.iter().any(|&ac| has(ac) && sleepers.waits(peer, ac));
        below || self.sleepers().is_some_and(kept) || self.tx.held.iter().any(|(tid, ..)| tid.peer() == peer)
    }

    /// Sends frames to a sleeping station: one frame, or those of a service period, which ends with EOSP.
    /// Sends a QoS Null frame if none is buffered.
    // linux: net/mac80211/sta_info.c ieee80211_sta_ps_deliver_response, rx.c ieee80211_rx_h_uapsd_and_pspoll
    // (6.12) - sends a Null frame if nothing is buffered, and ignores requests until the last frame of the
    // previous response is reported.
    // deviation: sends single frames, never aggregates.
    pub(super) fn serve<S: Sink>(
        &mut self,
        now: Instant,
        (peer, acs, most): (PeerId, u8, u32),
        period: bool,
        hw: &mut Hardware<'_>,
        ctx: &mut Ctx<'_, S>,
    ) {
        if self.sleepers_mut().is_none_or(|sleepers| sleepers.set_served(peer, true)) {
            return;
        }
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
                (ppdu.eosp, ppdu.ends) = (period, true);
                hw.send(now, ppdu);
            }
            None => {
                let ac = Ac::ALL.into_iter().find(|ac| acs >> ac.index() & 1 == 1).unwrap_or(Ac::Vo);
                let content = Content::QosNull { eosp: period };
                let chain = self.tx.peers[peer.index()].chain;
                let header =
                    Header { dev: self.tx.dev, peer, ac, tid: null_tid(ac), content, in_session: false };
                let mut ppdu = hw.radio.blank(header, chain);
                (ppdu.eosp, ppdu.ends) = (period, true);
                hw.send(now, ppdu);
            }
        }
    }

    /// Builds a single-frame PPDU of the next frame for a sleeping station.
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
            return Some(hw.radio.blank(header, self.tx.management_chain()));
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
        // linux: drivers/net/wireless/ath/ath9k/xmit.c ath9k_release_buffered_frames (6.12) - takes frames
        // from the TID's queue, which may be stopped.
        let stopped = matches!(driver, Driver::Fq(_)) && tx.tids[tid.index()].queue_is_stopped();
        tx.single(now, tid, hw, ctx, |ctx| if stopped { None } else { driver.pull(now, tid, ctx) })
    }

    /// Prepares the access point's next beacon. Returns its TIM.
    pub fn make_beacon(&mut self) -> Option<&Tim> {
        let mut power = self.power.take();
        if let Some(Power::AccessPoint(sleepers)) = power.as_deref_mut() {
            let frames = |group: PeerId| {
                let of = |tid: u8| self.driver.backlog(TidIndex::new(group, tid));
                (0..TIDS as u8).map(of).sum()
            };
            let below =
                self.tx.group.filter(|_| !sleepers.host_keeps() && sleepers.any_asleep()).map_or(0, frames);
            sleepers.beacon(below, |peer, acs| self.waits(peer, acs));
        }
        self.power = power;
        self.tim()
    }

    /// Takes the oldest packet buffered for a station in a category.
    fn kept<S: Sink>(&mut self, peer: PeerId, ac: Ac, ctx: &mut Ctx<'_, S>) -> Option<Pkt> {
        if self.tx.group == Some(peer) {
            return None;
        }
        self.sleepers_mut()?.take(peer, ac, ctx)
    }

    /// Sends the next group-addressed frame due after a DTIM, before all other frames.
    // linux: drivers/net/wireless/ath/ath9k/beacon.c ath9k_beacon_generate (6.12) - queues all of them behind
    // the beacon in advance.
    // deviation: each frame contends separately, like a beacon, without a backoff; frames left at the next
    // beacon wait for the following DTIM.
    pub fn next_group<S: Sink>(&mut self, now: Instant, hw: &mut Hardware<'_>, ctx: &mut Ctx<'_, S>) {
        let (Some(group), Some(sleepers)) = (self.tx.group, self.sleepers_mut()) else { return };
        if hw.radio.queued(BEACON_QUEUE) > 0 || !sleepers.group.is_due() || sleepers.holds() {
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
}
