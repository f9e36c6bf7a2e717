//! Collisions: several PPDUs start in the same slot on a channel where all radios hear each other.

use stillair_model::types::{ChannelUse, Duration, Instant};
use stillair_model::wifi::air::account::AirUse;
use stillair_model::wifi::air::medium::{EdcafId, TxOutcome};
use stillair_model::wifi::air::ppdu::{Content, Ppdu};
use stillair_model::wifi::air::protection::Protection;
use stillair_model::wifi::air::radio::{QUEUES, Radio};
use stillair_model::wifi::air::reception::RxOutcome;

use super::exchange::At;
use super::parts::{airtime, response, use_of};
use super::tries::TryOutcome;
use super::{Air, AirChannel, UpperLayer};

impl AirChannel {
    /// Returns the airtime of a colliding PPDU, including RTS or CTS before it.
    pub(super) fn collided(&self, ppdu: &Ppdu) -> Duration {
        Protection::of(ppdu, self.protection).collided(self.timing, airtime(self.timing, ppdu))
    }

    /// Returns how long all radios wait after a collision: EIFS, as for listeners that received a frame with
    /// errors. On a channel with two radios, both are senders and wait for the response timeout.
    fn after_collision(&self) -> Duration {
        let may_listen = self.functions.len() > 2 * QUEUES;
        if may_listen { self.timing.eifs_extra() } else { self.timing.unanswered() }
    }

    /// Returns the winner whose PPDU did not collide because only the CTS before it met other frames, which
    /// end before the PPDU starts. At most one winner qualifies, because the others' PPDUs overlap it.
    fn survivor<'a>(
        &self,
        sent: impl Iterator<Item = EdcafId> + Clone,
        radios: &'a [Radio],
    ) -> Option<(EdcafId, &'a Ppdu)> {
        self.protection?;
        let ppdus = || sent.clone().filter_map(|f| Some((f, self.ppdu(f, radios)?)));
        ppdus().find(|&(own, ppdu)| {
            let protection = Protection::of(ppdu, self.protection);
            let begins = protection.duration(self.timing);
            matches!(protection, Protection::CtsToSelf(_))
                && ppdus().all(|(other, ppdu)| other == own || self.collided(ppdu) <= begins)
        })
    }

    /// Returns the time from the start of the winners' PPDUs until all radios know the outcome.
    pub(super) fn collision_duration(&self, radios: &[Radio]) -> Duration {
        let sent = self.winners.iter().copied().filter(|&f| self.sends(f));
        if let Some((_, ppdu)) = self.survivor(sent.clone(), radios) {
            return self.collided(ppdu) + response(self.timing, ppdu);
        }
        let longest = sent.filter_map(|f| self.ppdu(f, radios)).map(|p| self.collided(p)).max();
        longest.unwrap_or(Duration::ZERO) + self.after_collision()
    }
}

impl Air {
    /// Handles PPDUs that started in the same slot. All are lost, unless only the CTS before one of them
    /// collided; that PPDU is then the only winner.
    // deviation: if other stations listen, all radios wait EIFS after a collision. The senders would wait for
    // their own timeout, which is 31 us shorter (274 us if the lowest basic rate is 1 Mbit/s), but then
    // radios would count different slots. After a surviving PPDU, no radio waits.
    pub(super) fn collision<A: UpperLayer>(
        &mut self,
        above: &mut A,
        index: usize,
        winners: &mut Vec<EdcafId>,
        start: Instant,
    ) {
        let now = above.core().now;
        let channel = &mut self.channels[index];
        let timing = channel.timing;
        let survivor = channel.survivor(winners.iter().copied(), &self.radios).map(|(f, _)| f);
        if survivor.is_none() {
            let after = channel.after_collision();
            channel.account.book(AirUse::Collision, now - after);
            channel.account.book(AirUse::Contention, now);
            above.core().used(index, now, ChannelUse::Failed);
        }
        let mut failed = core::mem::take(&mut self.failed);
        for &winner in winners.iter().filter(|&&f| Some(f) != survivor) {
            let (radio, queue) = self.channels[index].functions[usize::from(winner.0)];
            let mut ppdu = self.radios[radio].pop(queue).expect("a winner has a PPDU");
            let took = airtime(timing, &ppdu);
            let peer = &self.wlans[ppdu.header.dev.index()].dev.tx.peers.get(ppdu.header.peer.index());
            let to = peer.filter(|_| !ppdu.header.content.is_for_all()).map(|p| p.remote.0);
            let protection = Protection::of(&ppdu, self.channels[index].protection);
            // deviation: an RTS collision counts as a try of the rate chain; ath9k hardware counts RTS
            // failures separately.
            let sent = !matches!(protection, Protection::RtsCts(_));
            let fate = TryOutcome { to, collided: true, sent, acknowledged: false, protection };
            let start = start + protection.duration(timing);
            self.report(above.core(), index, &ppdu, start, took, &RxOutcome::NOTHING, fate);
            let beacon = ppdu.header.content == Content::Beacon;
            if ppdu.tried(took, sent, ppdu.header.content.is_for_all()) {
                self.radios[radio].put_back(queue, ppdu);
                self.channels[index].medium.done(now, winner, TxOutcome::Failed, true);
                continue;
            }
            self.leaves(radio, queue, &ppdu, beacon);
            let more = self.radios[radio].queued(queue) > 0;
            self.channels[index].medium.done(now, winner, TxOutcome::Finished, more);
            match beacon {
                true => self.radios[radio].recycle(ppdu),
                false => failed.push(ppdu),
            }
        }
        match survivor {
            Some(winner) => {
                // Only the surviving sender may continue its TXOP.
                winners.retain(|&f| f == winner);
                self.comes_through(above, index, winner, start);
            }
            None => self.channels[index].medium.idle(now, now),
        }
        for ppdu in failed.drain(..) {
            match ppdu.header.content {
                Content::Group => self.group_sent(above, ppdu, start, true),
                _ => self.tx_status(above, ppdu),
            }
        }
        self.failed = failed;
    }

    /// Handles a PPDU that did not collide. The CTS before it was lost, so no other radio set its NAV.
    fn comes_through<A: UpperLayer>(&mut self, above: &mut A, index: usize, winner: EdcafId, begun: Instant) {
        let channel = &mut self.channels[index];
        let (radio, queue) = channel.functions[usize::from(winner.0)];
        let ppdu = self.radios[radio].pop(queue).expect("a winner has a PPDU");
        let took = airtime(channel.timing, &ppdu);
        let protection = Protection::of(&ppdu, channel.protection);
        let start = begun + protection.duration(channel.timing);
        channel.account.book(AirUse::Collision, start);
        above.core().used(index, start, ChannelUse::Failed);
        channel.account.book(use_of(ppdu.header.content), start + took);
        let at = At {
            index,
            radio,
            queue,
            start,
            took,
            idle_from: above.core().now,
            txop_from: begun,
            txop_until: None,
        };
        let sent = TryOutcome { to: None, collided: false, sent: true, acknowledged: false, protection };
        self.arrives(above, at, ppdu, sent);
    }
}
