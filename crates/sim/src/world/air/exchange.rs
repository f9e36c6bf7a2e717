//! Frame exchanges: one event at the end of each exchange, from the first preamble to the acknowledgement,
//! whatever the number of listening stations.

use stillair_model::types::{ChannelId, ChannelUse, Duration, Instant, Sink};
use stillair_model::wifi::air::account::AirUse;
use stillair_model::wifi::air::medium::{EdcafId, Medium, TxOutcome};
use stillair_model::wifi::air::ppdu::{Content, Ppdu};
use stillair_model::wifi::air::protection::Protection;
use stillair_model::wifi::air::radio::{BEACON_QUEUE, Radio};
use stillair_model::wifi::air::reception::RxOutcome;
use stillair_model::wifi::phy::frame;

use super::parts::{airtime, response, use_of};
use super::tries::TryOutcome;
use super::{Air, AirChannel, Alone, UpperLayer};
use crate::engine::Slot;
use crate::world::state::SimState;

/// An exchange that has ended.
#[derive(Clone, Copy)]
pub(super) struct At {
    /// Channel of the exchange.
    pub(super) index: usize,
    pub(super) radio: usize,
    pub(super) queue: usize,
    /// Start and duration of the PPDU.
    pub(super) start: Instant,
    pub(super) took: Duration,
    /// Time from which the sender sees the medium idle, if no other station transmits.
    pub(super) idle_from: Instant,
    /// Start of the TXOP, and its end if this exchange continues a TXOP.
    pub(super) txop_from: Instant,
    pub(super) txop_until: Option<Instant>,
}

impl AirChannel {
    /// Returns the medium as seen by the functions of a radio.
    #[inline]
    pub(super) fn medium(&mut self, radio: usize) -> &mut Medium {
        match &mut self.partly_connected {
            None => &mut self.medium,
            Some(partly) => partly.views.medium(radio),
        }
    }

    /// Ends a radio's exchange. The radio sees the medium idle from `idle_from` on.
    #[inline]
    fn idle(&mut self, now: Instant, radio: usize, idle_from: Instant) {
        match &mut self.partly_connected {
            None => self.medium.idle(now, idle_from),
            Some(partly) => partly.views.release(now, radio, idle_from),
        }
    }

    /// Returns the radio of a function and the function's priority there. Beacons come before all access
    /// categories.
    fn rank(&self, EdcafId(f): EdcafId) -> (usize, usize) {
        let (radio, queue) = self.functions[usize::from(f)];
        (radio, if queue == BEACON_QUEUE { 0 } else { queue + 1 })
    }

    /// Reports whether a winner has the highest priority of its radio, and so transmits.
    pub(super) fn sends(&self, winner: EdcafId) -> bool {
        let (radio, place) = self.rank(winner);
        self.winners.iter().map(|&f| self.rank(f)).all(|(r, p)| r != radio || p >= place)
    }

    fn book_wait(&mut self, start: Instant) {
        self.account.book(AirUse::Idle, self.medium.wanted_from());
        self.account.book(AirUse::Contention, start);
    }

    /// Accounts the airtime up to the end of the run, including an exchange in progress.
    pub(super) fn close(&mut self, end: Instant, radios: &[Radio]) {
        if let Some(partly) = &self.partly_connected {
            return self.account.book(partly.using, end);
        }
        let start = self.medium.start().unwrap_or(Instant::NEVER);
        let wanted = if start == Instant::NEVER { end } else { self.medium.wanted_from().min(end) };
        self.account.book(AirUse::Idle, wanted);
        self.account.book(AirUse::Contention, start.min(end));
        let sent = self.winners.iter().filter(|&&f| self.sends(f));
        let ppdus: Vec<&Ppdu> = sent.filter_map(|&f| self.ppdu(f, radios)).collect();
        let longest = ppdus.iter().map(|p| self.collided(p)).max();
        let (Some(longest), false) = (longest, start >= end) else { return };
        let (on_air, after, longest) = match ppdus[..] {
            [_] if self.rts_lost => (AirUse::Protection, AirUse::Contention, longest),
            [alone] => {
                let protection = Protection::of(alone, self.protection).duration(self.timing);
                self.account.book(AirUse::Protection, (start + protection).min(end));
                (use_of(alone.header.content), AirUse::Ack, protection + airtime(self.timing, alone))
            }
            _ => (AirUse::Collision, AirUse::Contention, longest),
        };
        self.account.book(on_air, (start + longest).min(end));
        self.account.book(after, end);
    }

    /// Returns the PPDU that a function contends for.
    pub(super) fn ppdu<'a>(&self, EdcafId(f): EdcafId, radios: &'a [Radio]) -> Option<&'a Ppdu> {
        let (radio, queue) = self.functions[usize::from(f)];
        radios[radio].first(queue)
    }
}

impl Air {
    /// Determines the next transmission on a channel and arms the timer for the end of that exchange.
    pub(super) fn plan<S: Sink>(&mut self, core: &mut SimState<S>, index: usize) {
        let channel = &mut self.channels[index];
        channel.dirty = false;
        if channel.partly_connected.is_some() {
            return self.plan_partly_connected(core, index);
        }
        if !channel.medium.has_changed() || channel.medium.has_begun(core.now) {
            return;
        }
        channel.medium.winners(&mut channel.winners);
        let at = channel.medium.start().map(|start| start + self.exchange_duration(core, index));
        core.timers.set(Slot(self.slots.channels + index as u32), at);
    }

    /// Returns the time from the start of a PPDU without collision, or of the RTS or CTS before it, until its
    /// sender knows the outcome. RTS losses by noise are drawn now, because an unanswered RTS shortens the
    /// exchange.
    // deviation: after an unanswered RTS, its sender and the listeners resume when the CTS would have ended.
    // In the standard, a sender waits a slot and about 20 us; a listener waits two SIFS, the CTS and two
    // slots.
    fn alone<S: Sink>(
        &mut self,
        core: &mut SimState<S>,
        index: usize,
        radio: usize,
        queue: usize,
    ) -> Duration {
        let (now, timing) = (core.now, self.channels[index].timing);
        let ppdu = self.radios[radio].first(queue).expect("a function that contends has a PPDU");
        let protection = Protection::of(ppdu, self.channels[index].protection);
        let parts = Alone { protection, before: protection.duration(timing), took: airtime(timing, ppdu) };
        self.channels[index].alone = parts;
        let whole = parts.before + parts.took + response(timing, ppdu);
        let Protection::RtsCts(rate) = protection else { return whole };
        let (dev, peer) = (ppdu.header.dev, ppdu.header.peer);
        let lost = !self.guard_comes(now, dev, peer, rate, frame::RTS)
            || !self.guard_comes(now, dev, peer, rate, frame::CTS);
        self.channels[index].rts_lost = lost;
        if lost { protection.unanswered(timing) } else { whole }
    }

    /// Returns the time from the start of the winners' PPDUs until all radios know the outcome.
    fn exchange_duration<S: Sink>(&mut self, core: &mut SimState<S>, index: usize) -> Duration {
        let channel = &mut self.channels[index];
        channel.rts_lost = false;
        if let [EdcafId(winner)] = channel.winners[..] {
            let (radio, queue) = channel.functions[usize::from(winner)];
            return self.alone(core, index, radio, queue);
        }
        let mut sent = channel
            .winners
            .iter()
            .filter(|&&f| channel.sends(f))
            .map(|f| channel.functions[usize::from(f.0)]);
        let first = sent.next().expect("somebody starts");
        if sent.next().is_none() {
            return self.alone(core, index, first.0, first.1);
        }
        channel.collision_duration(&self.radios)
    }

    pub(in crate::world) fn exchange_ended<A: UpperLayer>(&mut self, above: &mut A, index: usize) {
        let channel = &mut self.channels[index];
        self.dirty.channel(channel, ChannelId::from_index(index));
        if channel.partly_connected.is_some() {
            return self.partly_connected_event(above, index);
        }
        let start = channel.medium.start().expect("an exchange has a start");
        if A::Sink::STEPS {
            channel.tell_wait(above.core(), index, start);
        }
        channel.book_wait(start);
        let mut winners = core::mem::take(&mut channel.winners);
        if winners.len() > 1 {
            self.resolve_internal(above.core().now, index, &mut winners);
        }
        match winners[..] {
            [winner] => self.exchange(above, index, winner, start),
            _ => self.collision(above, index, &mut winners, start),
        }
        self.channels[index].winners = winners;
    }

    /// Resolves internal collisions. Of several functions of one radio that would start in the same slot, the
    /// highest category transmits; the others back off as after a collision, without having sent.
    // spec: ieee80211 10.22.2.4 - internal collisions.
    fn resolve_internal(&mut self, now: Instant, index: usize, winners: &mut Vec<EdcafId>) {
        let channel = &mut self.channels[index];
        winners.sort_unstable_by_key(|&f| channel.rank(f));
        let mut last = usize::MAX;
        winners.retain(|f| {
            let (radio, _) = channel.functions[usize::from(f.0)];
            let first = core::mem::replace(&mut last, radio) != radio;
            if !first {
                channel.medium.done(now, *f, TxOutcome::Failed, true);
            }
            first
        });
    }

    /// Completes the exchange of a PPDU that did not collide.
    fn exchange<A: UpperLayer>(&mut self, above: &mut A, index: usize, winner: EdcafId, start: Instant) {
        let now = above.core().now;
        let channel = &mut self.channels[index];
        let timing = channel.timing;
        let txop_until = channel.txop_until.take();
        let (radio, queue) = channel.functions[usize::from(winner.0)];
        let ppdu = self.radios[radio].pop(queue).expect("a winner has a PPDU");
        // The PPDU has not changed since the exchange was planned.
        let Alone { protection, before, took } = channel.alone;
        debug_assert_eq!(
            (took, protection),
            (airtime(timing, &ppdu), Protection::of(&ppdu, channel.protection))
        );
        let begun = start;
        let start = start + before;
        let at = At { index, radio, queue, start, took, idle_from: now, txop_from: begun, txop_until };
        let sent = TryOutcome { to: None, collided: false, sent: true, acknowledged: false, protection };
        if core::mem::take(&mut channel.rts_lost) {
            channel.account.book(AirUse::Protection, begun + protection.first(timing));
            channel.account.book(AirUse::Contention, now);
            above.core().used(index, now, ChannelUse::Failed);
            let to = self.wlans[ppdu.header.dev.index()].dev.tx.peers[ppdu.header.peer.index()].remote.0;
            return self.conclude(
                above,
                at,
                ppdu,
                &RxOutcome::NOTHING,
                TryOutcome { to: Some(to), sent: false, ..sent },
            );
        }
        channel.account.book(AirUse::Protection, start);
        channel.account.book(use_of(ppdu.header.content), start + took);
        if ppdu.header.content.is_for_all() {
            if A::Sink::STEPS {
                self.tell_exchange(above.core(), at, &ppdu, true);
            }
            return self.conclude(above, at, ppdu, &RxOutcome::NOTHING, sent);
        }

        self.arrives(above, at, ppdu, sent);
    }

    /// Receives a PPDU that did not collide. Noise destroys some of its frames, and the receiver responds.
    pub(super) fn arrives<A: UpperLayer>(
        &mut self,
        above: &mut A,
        at: At,
        ppdu: Box<Ppdu>,
        sent: TryOutcome,
    ) {
        let (got, to) = self.noise(at.start, &ppdu);
        let comes = got.whole.any();
        let acknowledged = comes && self.answer_comes(at.start, &ppdu);
        // deviation: if no frame is received, there is no response, and all radios resume when the response
        // would have ended, as do listeners that decoded the PPDU. In the standard, the receiver waits EIFS
        // and the sender ACKTimeout: longer by a slot, or shorter by less than an ACK.
        let after = if comes { AirUse::Ack } else { AirUse::Contention };
        self.channels[at.index].account.book(after, above.core().now);
        let fate = TryOutcome { to: Some(to.0), acknowledged, ..sent };
        if A::Sink::STEPS {
            self.tell_exchange(above.core(), at, &ppdu, acknowledged);
        }
        self.conclude(above, at, ppdu, &got, fate);
    }

    /// Concludes an exchange at both ends. The sender retries, continues or completes the PPDU.
    pub(super) fn conclude<A: UpperLayer>(
        &mut self,
        above: &mut A,
        at: At,
        mut ppdu: Box<Ppdu>,
        got: &RxOutcome,
        fate: TryOutcome,
    ) {
        let At { index, radio, queue, start, took, .. } = at;
        if ppdu.header.content == Content::Group {
            return self.group_concluded(above, at, ppdu, fate);
        }
        self.report(above.core(), index, &ppdu, start, took, got, fate);
        if ppdu.header.content == Content::Beacon {
            self.back_off(above.core().now, at, TxOutcome::Finished);
            if !fate.collided {
                self.beacon_heard(above.core(), &ppdu);
            }
            return self.radios[radio].recycle(ppdu);
        }
        let peer = &mut self.wlans[ppdu.header.dev.index()].dev.tx.peers[ppdu.header.peer.index()];
        let remote = peer.remote;
        let lost = !fate.acknowledged && !fate.collided && fate.sent;
        if lost && matches!(ppdu.header.content, Content::Data { .. }) {
            peer.unheard += u64::from(got.is_nothing());
            peer.answers_lost += u64::from(got.whole.any());
        }
        // Another try may use another rate.
        let rate = ppdu.rate();
        if ppdu.tried(took, fate.sent, fate.acknowledged) {
            // The receiver may have received frames even if the acknowledgement was lost.
            self.hand_over(above, &mut ppdu, rate, remote, got);
            self.radios[radio].put_back(queue, ppdu);
            return self.back_off(above.core().now, at, TxOutcome::Failed);
        }
        self.leaves(radio, queue, &ppdu, fate.acknowledged);
        let more = self.radios[radio].queued(queue) > 0;
        self.back_off(above.core().now, at, TxOutcome::Finished);
        self.hand_over(above, &mut ppdu, rate, remote, got);
        ppdu.acknowledged = fate.acknowledged;
        let limit = self.radios[radio].txop(ppdu.header.ac);
        self.tx_status(above, ppdu);
        if fate.acknowledged && more && limit > Duration::ZERO {
            self.go_on(above.core(), at, at.txop_until.unwrap_or(at.txop_from + limit));
        }
    }

    /// Draws the next backoff of the sender's function and marks its medium idle.
    pub(super) fn back_off(&mut self, now: Instant, at: At, outcome: TxOutcome) {
        let radio = &self.radios[at.radio];
        let channel = &mut self.channels[at.index];
        let medium = channel.medium(radio.number);
        medium.done(now, radio.edcafs[at.queue], outcome, radio.queued(at.queue) > 0);
        channel.idle(now, radio.number, at.idle_from);
    }

    /// Continues a TXOP that ends at `until`: the next PPDU of the queue follows after SIFS if it ends in
    /// time. It must have been in the hardware before the last one was acknowledged, because software cannot
    /// build a PPDU within SIFS.
    // spec: ieee80211 10.22.2.8 - multiple frame transmission in an EDCA TXOP.
    fn go_on<S: Sink>(&mut self, core: &mut SimState<S>, at: At, until: Instant) {
        let now = core.now;
        let channel = &mut self.channels[at.index];
        let begins = now + channel.timing.sifs;
        let Some(next) = self.radios[at.radio].first(at.queue) else { return };
        let before = Protection::of(next, channel.protection).duration(channel.timing);
        let ends = begins + before + airtime(channel.timing, next) + response(channel.timing, next);
        if ends > until {
            return;
        }
        if channel.partly_connected.is_some() {
            return self.resume(core.now, at, begins, until);
        }
        // The winner of the previous exchange remains the winner.
        channel.medium.hold(now, begins);
        channel.txop_until = Some(until);
        let ends = begins + self.alone(core, at.index, at.radio, at.queue);
        core.timers.set(Slot(self.slots.channels + at.index as u32), Some(ends));
    }
}
