//! Several PPDUs that begin in the same slot, where all radios hear each other.

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
    /// How long a PPDU that collides is on the air, with what goes before it.
    pub(super) fn collided(&self, ppdu: &Ppdu) -> Duration {
        Protection::of(ppdu, self.protection).collided(self.timing, airtime(self.timing, ppdu))
    }

    /// How long everybody waits after a collision: as those who listened, after a frame that they did not
    /// understand, and where there are but two radios, as the senders for the answer.
    fn after_collision(&self) -> Duration {
        let may_listen = self.functions.len() > 2 * QUEUES;
        if may_listen { self.timing.eifs_extra() } else { self.timing.unanswered() }
    }

    /// Of those that send, the one whose PPDU meets nobody: only the CTS before it did, and all others are
    /// over by then. There is none or one, as its own PPDU begins within that of any other that waits so
    /// long.
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

    /// From the start of the winners' PPDUs until everybody knows how they ended.
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
    /// Several PPDUs began at once: none is understood, but for one of which only the CTS met the others,
    /// which then is the only winner.
    // deviation: where others listen, everybody waits EIFS after a collision; its senders would wait for
    // their own timeout, which is 31 us less (274 us where 1 Mbit/s is the lowest basic rate), but then not
    // all would count the same slots. After a PPDU that came through nobody does.
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
            // deviation: an RTS that collides is a try of the chain - ath9k's radio counts such tries apart.
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
                // It may go on within its transmit opportunity, as the only one.
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

    /// The PPDU of a winner that met nobody; the CTS before it was lost, and with it what others would know
    /// of it.
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
