//! Fate of the frames of a PPDU that the hardware has reported.

use super::{WifiDev, Woken};
use crate::types::{Ctx, Instant, Reason, Sink};
use crate::wifi::air::filter::DestinationFilter;
use crate::wifi::air::ppdu::{Content, Mpdu, Ppdu, Returned};
use crate::wifi::config::RetryCount;
use crate::wifi::rx::retry_out::table;
use crate::wifi::tx::transmitter::{Hardware, TidIndex};

impl WifiDev {
    /// Retry limit of the PPDU's frames.
    fn limit(&self, ppdu: &Ppdu) -> u8 {
        // paper: retry-out 2.2 (2) - a lower limit of 2 to 8 below 100 Mbit/s.
        // deviation: uses the PPDU's first rate and Table I - the table of the earlier paper is not
        // available.
        let by_rate = self.limit_by_rate.then(|| table(ppdu.chain.entries()[0].rate.rate())).flatten();
        by_rate.map_or(self.retry_limit, |limit| limit.min(self.retry_limit))
    }

    /// Returns true if rate control gets a report of a data PPDU. Under ath9k, a session PPDU is reported
    /// only if one of its frames is done: acknowledged, or at the retry limit (see
    /// [`DriverConfig::reports_failed_ppdus`](crate::wifi::config::DriverConfig::reports_failed_ppdus)).
    pub(super) fn is_reported(&self, ppdu: &Ppdu) -> bool {
        let limit = self.limit(ppdu);
        let header = ppdu.header;
        if ppdu.filtered && !header.in_session {
            // linux: net/mac80211/status.c ieee80211_tx_status (4.4) - a filtered frame that is retried does
            // not count as tried; ath9k/xmit.c ath_tx_rc_status, ath_tx_status (4.11) - a frame that the
            // driver frees does.
            return self.tx.filter == Some(DestinationFilter::Dropped);
        }
        !header.in_session
            || self.reports_failed
            || ppdu.acknowledged
            || ppdu.mpdus.iter().any(|mpdu| mpdu.tries >= limit)
    }

    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_complete_aggr (4.4) - software does not retry
    // frames outside a session.
    // deviation: if all tries count, a PPDU still completes its retry chain, so a frame may exceed the limit
    // by some tries.
    pub(super) fn data_status<S: Sink>(
        &mut self,
        now: Instant,
        ppdu: &mut Ppdu,
        hw: &mut Hardware<'_>,
        ctx: &mut Ctx<'_, S>,
    ) -> Woken {
        let header = ppdu.header;
        let tid = TidIndex::new(header.peer, header.tid);
        let mut woken = Woken::default();
        let mut gave_up = None;
        let limit = self.limit(ppdu);
        let (acknowledged, filtered) = (ppdu.acknowledged, ppdu.filtered);
        // Tries that this PPDU adds to a frame's count, and the part of them that already counts now.
        let (adds, spent) = match self.counts {
            RetryCount::EarlierTries => (ppdu.tries, 0),
            RetryCount::EarlierPpdus => (1, 0),
            RetryCount::Tries => (ppdu.tries, ppdu.tries),
        };
        let reason = if filtered && !header.in_session { Reason::Filtered } else { Reason::RetryLimit };
        for mut mpdu in ppdu.mpdus.drain(..) {
            let acked = acknowledged && mpdu.pkt.is_none();
            if !acked && header.in_session {
                let t = &mut self.tx.tids[tid.index()];
                if mpdu.tries.saturating_add(spent) < limit && !t.is_given_up(mpdu.seq) {
                    mpdu.tries = mpdu.tries.saturating_add(adds);
                    t.again(mpdu);
                    continue;
                }
                gave_up = Some(mpdu.seq);
            } else if filtered && self.goes_once_more(mpdu) {
                self.tx.tids[tid.index()].once_more(mpdu);
                continue;
            }
            self.end_of(now, tid, mpdu, header.in_session, reason, &mut woken, ctx);
        }
        if !ppdu.acknowledged {
            self.lift_filter(tid, ppdu);
        }
        if let Some(seq) = gave_up {
            let mut lost = core::mem::take(&mut self.lost);
            let start = self.tx.tids[tid.index()].give_up(seq, &mut lost);
            lost.drain(..)
                .for_each(|mpdu| self.end_of(now, tid, mpdu, true, Reason::RetryLimit, &mut woken, ctx));
            self.lost = lost;
            self.tx.send_management(now, tid, header.ac, Content::Bar { start }, hw);
        } else if ppdu.acknowledged
            && let Some(start) = self.tx.tids[tid.index()].take_bar()
        {
            self.tx.send_management(now, tid, header.ac, Content::Bar { start }, hw);
        }
        // linux: net/mac80211/tx.c ieee80211_next_txq (6.12) - the queue of group-addressed frames has no
        // station, and so no deficit.
        if header.content != Content::Group {
            self.driver.charge_tx(now, tid, ppdu.airtime);
        }
        if self.tx.tids[tid.index()].has_waiting() {
            self.driver.schedule(now, tid);
        }
        woken
    }

    /// Returns true if a single frame that the hardware has returned unsent is retried.
    fn goes_once_more(&self, mpdu: Mpdu) -> bool {
        self.tx.filter == Some(DestinationFilter::SentAgain) && mpdu.returned != Returned::Once
    }

    /// Decides, after a PPDU failed or was returned unsent, if the next PPDU clears the hardware's filter.
    // deviation: before 4.9, sets the flag per TID and for each returned frame - Linux has one flag for both
    // TIDs of a station's category, and the first of the frames returned together takes the flag.
    #[cold]
    fn lift_filter(&mut self, tid: TidIndex, ppdu: &Ppdu) {
        let t = &mut self.tx.tids[tid.index()];
        t.lifts |= match self.tx.filter {
            None => false,
            Some(DestinationFilter::Dropped) => true,
            Some(DestinationFilter::SentAgain) if ppdu.header.in_session => t.has_waiting(),
            Some(DestinationFilter::SentAgain) => ppdu.filtered,
        };
    }

    /// Ends a frame whose fate is known: frees its packet, completes its sequence number and frees its place
    /// in the driver.
    #[expect(clippy::too_many_arguments, reason = "a frame's whole fate")]
    #[inline(always)]
    pub(super) fn end_of<S: Sink>(
        &mut self,
        now: Instant,
        tid: TidIndex,
        mpdu: Mpdu,
        in_session: bool,
        reason: Reason,
        woken: &mut Woken,
        ctx: &mut Ctx<'_, S>,
    ) {
        match mpdu.pkt {
            Some(pkt) => ctx.drop(now, pkt, reason, self.place),
            None if self.driver.reports_later(now, tid, &mpdu) => {
                if in_session {
                    self.tx.tids[tid.index()].complete(mpdu.seq);
                }
                return;
            }
            None => ctx.packets.uncharge(mpdu.charge, mpdu.truesize),
        }
        if in_session {
            self.tx.tids[tid.index()].complete(mpdu.seq);
        }
        woken.add(self.driver.completed(now, tid, &mpdu));
    }
}
