//! Stations served in turn as by ath9k in Linux 4.10, which had queues in the MAC and no airtime scheduler yet: the round of
//! its older driver over the new queues.

use super::{Fq, Member, Tin};
use crate::vocabulary::{Ac, Ctx, Instant, Sink};
use crate::wifi::tx::transmitter::{Attempt, Hardware, Transmitter};

impl Fq {
    /// Serves the stations one aggregate each until the hardware is full; who finds it full has had its turn.
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_txq_schedule, ath_tx_sched_aggr (4.10) - the frame that was looked at
    // waits in retry_q; the round ends where it began unless something was sent.
    // deviation: an identifier whose last frame is sent in a burst of two leaves at once, not at its next turn; a look that
    // finds the hardware full does not turn the frames that are to be sent again round by one, so that only their order
    // differs; and what is beyond the window stays in its queue, where CoDel may drop it.
    pub(super) fn fill_in_turn<S: Sink>(
        &mut self,
        now: Instant,
        ac: Ac,
        tx: &mut Transmitter,
        hw: &mut Hardware<'_>,
        ctx: &mut Ctx<'_, S>,
    ) {
        let mut last = self.rounds[ac.index()].last();
        let mut sent = false;
        while !self.rounds[ac.index()].is_empty() {
            let unit = self.queues.tins_mut().remove_head(&mut self.rounds[ac.index()]);
            let attempt = self.try_one(now, unit, tx, hw, ctx);
            sent |= attempt == Attempt::Sent;
            if self.backlogged(unit, tx).is_some() {
                self.queues.tins_mut().activate(&mut self.rounds[ac.index()], unit, false);
            }
            if attempt == Attempt::Full {
                break;
            }
            if Some(unit) == last {
                if !sent {
                    break;
                }
                sent = false;
                last = self.rounds[ac.index()].last();
            }
        }
    }

    /// One turn; the hardware is full only for who has a frame that would go there.
    fn try_one<S: Sink>(
        &mut self,
        now: Instant,
        unit: Member,
        tx: &mut Transmitter,
        hw: &mut Hardware<'_>,
        ctx: &mut Ctx<'_, S>,
    ) -> Attempt {
        let Some(tid) = self.backlogged(unit, tx) else { return Attempt::Nothing };
        let codel = self.codel(tid.peer());
        let queues = &mut self.queues;
        let mut pull = |ctx: &mut Ctx<'_, S>| queues.dequeue(now, Tin(tid.0), &codel, ctx);
        let attempt = tx.attempt(now, tid, hw, ctx, &mut pull);
        if attempt == Attempt::Full {
            tx.hold_one(now, tid, ctx, pull);
            // CoDel may have dropped all there was.
            if !tx.tids[tid.index()].has_waiting() {
                return Attempt::Nothing;
            }
        }
        attempt
    }
}
