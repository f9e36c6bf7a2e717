//! The sending side of one peer's TID: Block Ack session, window, frames to be sent again, and the one
//! PPDU builder that all drivers share.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::types::{Ctx, Duration, Instant, Pkt, Sink, SockId, TidWait};
use crate::wifi::air::ppdu::{Content, Mpdu, Ppdu, Returned};
use crate::wifi::phy::RetryChain;
use crate::wifi::phy::frame::{Cipher, data_mpdu};
use crate::wifi::rate::RateControl;
use crate::wifi::seq_window::{Seq, SeqWindow, WindowPosition};
use crate::wifi::tx::aggregate::{AggregateLimits, Subframes};

mod amsdu;
mod session;

pub use session::{BlockAckSession, Blocked};

/// Transmit state of one TID of a peer.
#[derive(Debug)]
pub struct TxTid {
    /// The Block Ack session.
    pub session: BlockAckSession,
    window: SeqWindow,
    next: Seq,
    /// Frames with a number that wait to be sent (again), oldest first.
    waiting: VecDeque<Mpdu>,
    /// Requests for a session since the last one opened, and when the last was made.
    requests: u32,
    last_request: Instant,
    /// A Block Ack request was lost: it is sent again after the next acknowledgement.
    bar_pending: Option<Seq>,
    /// Frames before this number were given up; the receiver has been told.
    given_up: Option<Seq>,
    /// Frames wait in FIFOs of the driver or firmware: a frame that was looked at and not sent is still the
    /// first of its queue, behind all that are to be sent again.
    fifo: bool,
    /// mac80211 stops its queue of the TID while a session is negotiated. Frames that have left the queue are
    /// sent. If false, the driver or firmware holds all frames.
    stops_queue: bool,
    /// Bytes that encryption adds to a frame.
    sealed: u16,
    /// The next PPDU clears the hardware's destination filter.
    pub lifts: bool,
    /// The peer sleeps, or the device is on another channel: nothing is sent.
    pub asleep: bool,
}

/// How often a session is asked for before requests are spread out, and before they end.
// linux: net/mac80211/sta_info.h HT_AGG_BURST_RETRIES, HT_AGG_MAX_RETRIES, HT_AGG_RETRIES_PERIOD (4.4).
const BURST_REQUESTS: u32 = 3;
const MAX_REQUESTS: u32 = 15;
const REQUEST_PERIOD: Duration = Duration::from_secs(15);

impl TxTid {
    /// A TID that has sent nothing.
    pub fn new(session: BlockAckSession) -> Self {
        Self {
            session,
            window: SeqWindow::default(),
            next: Seq::default(),
            waiting: VecDeque::new(),
            requests: 0,
            last_request: Instant::ZERO,
            bar_pending: None,
            given_up: None,
            fifo: false,
            stops_queue: true,
            sealed: 0,
            lifts: false,
            asleep: false,
        }
    }

    /// Encrypts the TID's frames with `cipher`.
    pub const fn encrypt(&mut self, cipher: Cipher) {
        self.sealed = cipher.bytes() as u16;
    }

    /// Frames wait in a FIFO of the driver, which looks at the first frame before taking it. Without
    /// [`TxTid::stop_queue`], the FIFO holds all frames while a session is negotiated.
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_get_tid_subframe (4.4) - retry_q, and only when
    // that is empty buf_q, of which the first stays until it is sent. ath9k_htc-firmware: wlan/if_owl.c
    // ath_tgt_tx_form_aggr (e888634) - likewise.
    pub fn looks_before_it_takes(&mut self) {
        (self.fifo, self.stops_queue) = (true, false);
    }

    /// Stops mac80211's queue while a session is negotiated, and lets frames below that queue be sent.
    pub fn stop_queue(&mut self) {
        self.stops_queue = true;
    }

    /// Whether frames with a sequence number wait.
    #[inline]
    pub fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether a waiting numbered frame lies inside the window.
    pub fn has_waiting_inside(&self) -> bool {
        !self.asleep && self.waiting.iter().any(|mpdu| self.is_inside(mpdu.seq))
    }

    /// Returns true if frames that have left mac80211's queue, or all frames of a driver without these
    /// queues, may be sent now.
    // deviation: a driver without mac80211's queues holds all frames during a negotiation. In Linux the
    // frames in the driver are sent singly, and mac80211 keeps at most 64 of those that arrive later.
    #[inline]
    pub fn may_send(&self) -> bool {
        !self.asleep && (self.stops_queue || !self.session.is_negotiated())
    }

    /// Returns true while mac80211 gives the driver no frame of the TID, because a session is being
    /// negotiated.
    // linux: net/mac80211/agg-tx.c ieee80211_tx_ba_session_handle_start (4.1 to 6.1), net/mac80211/ht.c
    // ieee80211_ba_session_work (6.2 and stable 6.1, commit 592234e941f1) - IEEE80211_TXQ_STOP is set before
    // the grace period; tx.c ieee80211_tx_dequeue then returns nothing. The bit is cleared by agg-tx.c
    // ieee80211_agg_start_txq: with the response, or when the failed attempt has been ended.
    #[inline]
    pub fn queue_is_stopped(&self) -> bool {
        self.stops_queue && self.session.is_negotiated()
    }

    /// Returns the reason why no new frame is sent now. `None` if only the hardware or the scheduler can
    /// delay the next frame.
    pub fn blocked(&self) -> Option<Blocked> {
        if self.asleep {
            Some(Blocked::Asleep)
        } else if self.session.is_negotiated() {
            Some(Blocked::Negotiating)
        } else if !self.is_inside(self.next) && !self.has_waiting_inside() {
            Some(Blocked::Window)
        } else {
            None
        }
    }

    /// Whether Block Acks of the session have a 256-bit bitmap.
    #[inline]
    pub fn is_wide(&self) -> bool {
        self.window.is_wide()
    }

    /// The oldest sequence number whose frame is not complete.
    pub fn start(&self) -> Seq {
        self.window.start()
    }

    /// Sequence number of the next frame to be sent, where a session would start. A frame may already have
    /// this number while waiting for room in the hardware.
    pub fn next(&self) -> Seq {
        self.waiting.front().map_or(self.next, |m| m.seq)
    }

    /// Whether a session may be requested now.
    // linux: net/mac80211/agg-tx.c ieee80211_start_tx_ba_session (4.4).
    pub fn may_ask(&self, now: Instant) -> bool {
        self.session == BlockAckSession::Closed
            && self.requests <= MAX_REQUESTS
            && (self.requests <= BURST_REQUESTS || now >= self.last_request + REQUEST_PERIOD)
    }

    /// A session is requested. The answer is awaited until `until`.
    pub fn ask(&mut self, now: Instant, until: Instant) {
        self.session = BlockAckSession::Asked(until);
        self.requests += 1;
        self.last_request = now;
    }

    /// Opens the session with a window of `frames` frames, starting at the next frame. Waiting frames get new
    /// numbers if a frame outside the session that is in the hardware has a later number than the first
    /// waiting frame.
    pub fn open(&mut self, frames: u16) {
        self.session = BlockAckSession::Open;
        self.requests = 0;
        self.bar_pending = None;
        self.given_up = None;
        let first = self.next();
        if self.waiting.iter().zip(0..).any(|(mpdu, n)| mpdu.seq != first.plus(n))
            || first.plus(self.waiting.len() as u16) != self.next
        {
            for mpdu in &mut self.waiting {
                mpdu.seq = self.next;
                self.next = self.next.plus(1);
            }
        }
        self.window = SeqWindow::new(self.next(), frames);
    }

    /// Takes the next frame: one that waits, or else a new one from `pull`, which gets the next number.
    ///
    /// In a session nothing is sent that would lie a window or more after the oldest open one: a frame found
    /// there has left its queue and waits.
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_get_tid_subframe (4.11) - into retry_q.
    fn take<'a, S: Sink>(
        &mut self,
        link: &mut LinkRate<'_>,
        ctx: &mut Ctx<'a, S>,
        pull: &mut impl FnMut(&mut Ctx<'a, S>) -> Option<Pkt>,
    ) -> Option<Mpdu> {
        // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_get_tid_subframe (4.11) - others that wait are
        // looked at first.
        if !self.waiting.is_empty() {
            let first = self.waiting.iter().position(|mpdu| self.is_inside(mpdu.seq))?;
            return self.waiting.remove(first);
        }
        let pkt = pull(ctx)?;
        let seq = self.next;
        self.next = seq.plus(1);
        let hot = ctx.packets.get(pkt);
        let (len, truesize, airtime) = (data_mpdu(hot.len) as u16 + self.sealed, hot.truesize, hot.airtime);
        let probe = link.rate.probe(link.now);
        let mpdu = Mpdu {
            pkt: Some(pkt),
            seq,
            len,
            tries: 0,
            returned: Returned::No,
            probe,
            charge: SockId::NONE,
            truesize,
            airtime,
            msdus: 1,
        };
        if self.is_inside(seq) {
            return Some(mpdu);
        }
        self.waiting.push_back(mpdu);
        None
    }

    /// Whether a frame of this number may be sent now.
    #[inline]
    fn is_inside(&self, seq: Seq) -> bool {
        self.session != BlockAckSession::Open
            || matches!(self.window.position(seq), WindowPosition::Inside(_))
    }

    /// Takes a new frame out of its queue before the hardware has room, as ath9k with mac80211 queues does.
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_sched_aggr (4.11) - the frame looked at waits in
    // retry_q.
    pub fn hold_one<'a, S: Sink>(
        &mut self,
        mut link: LinkRate<'_>,
        ctx: &mut Ctx<'a, S>,
        mut pull: impl FnMut(&mut Ctx<'a, S>) -> Option<Pkt>,
    ) {
        if self.waiting.is_empty()
            && let Some(mpdu) = self.take(&mut link, ctx, &mut pull)
        {
            self.waiting.push_back(mpdu);
        }
    }

    /// Adds frames to `ppdu`, which is empty or has not been tried, up to its limits. Returns whether a frame
    /// was added, or a packet was added to a frame.
    ///
    /// The first frame that does not fit waits at the head. A single frame is sent without aggregation.
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_form_aggr (4.4) - limits in this order: window,
    // bytes, frames. The frame that finds the aggregate full has been taken out of its queue by then.
    // deviation: the frame that does not fit waits at the head, not at the tail, of the frames to be sent
    // again; only their order within the window differs.
    pub fn fill<'a, S: Sink>(
        &mut self,
        ppdu: &mut Ppdu,
        limits: AggregateLimits,
        mut link: LinkRate<'_>,
        ctx: &mut Ctx<'a, S>,
        mut pull: impl FnMut(&mut Ctx<'a, S>) -> Option<Pkt>,
    ) -> bool {
        if ppdu.mpdus.first().is_some_and(|first| first.probe.is_some()) {
            return false;
        }
        let before = ppdu.bytes;
        let mut subframes = match (ppdu.mpdus.first(), ppdu.mpdus.last()) {
            (Some(first), Some(last)) => {
                let ends = [first, last].map(|mpdu| u32::from(mpdu.len));
                Subframes::resumed(limits, ppdu.mpdus.len() as u32, ends, before)
            }
            _ => Subframes::new(limits),
        };
        loop {
            let (next, sealed) = (self.next, u32::from(self.sealed));
            let mut join = |ctx: &mut Ctx<'a, S>| match limits.amsdu().packets {
                1 => pull(ctx),
                _ => amsdu::pull(&mut pull, ppdu.mpdus.last_mut(), next, sealed, &mut subframes, ctx),
            };
            let Some(mut mpdu) = self.take(&mut link, ctx, &mut join) else { break };
            link.ask(&mut mpdu, ppdu.mpdus.is_empty());
            // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_form_aggr, ath_lookup_rate (4.4) - a probe
            // is sent alone.
            let probes = mpdu.probe.is_some();
            let full = subframes.frames() >= limits.frames();
            if full || !subframes.would_fit(u32::from(mpdu.len)) || (probes && subframes.frames() > 0) {
                self.waiting.push_front(mpdu);
                break;
            }
            subframes.add(u32::from(mpdu.len));
            ppdu.mpdus.push(mpdu);
            if probes {
                break;
            }
        }
        match ppdu.mpdus.as_slice() {
            [] => {}
            [alone] => {
                ppdu.bytes = u32::from(alone.len);
                link.with_probe(alone, &mut ppdu.chain);
                ppdu.header.content = Content::Data { aggregate: false };
            }
            _ => {
                ppdu.bytes = subframes.psdu_bytes();
                ppdu.header.content = Content::Data { aggregate: true };
            }
        }
        ppdu.bytes > before
    }

    /// Puts one frame, without aggregation, into `ppdu`. Returns false if no frame is available.
    pub fn build_single<'a, S: Sink>(
        &mut self,
        ppdu: &mut Ppdu,
        mut link: LinkRate<'_>,
        ctx: &mut Ctx<'a, S>,
        mut pull: impl FnMut(&mut Ctx<'a, S>) -> Option<Pkt>,
    ) -> bool {
        let Some(mut mpdu) = self.take(&mut link, ctx, &mut pull) else { return false };
        link.ask(&mut mpdu, true);
        ppdu.bytes = u32::from(mpdu.len);
        link.with_probe(&mpdu, &mut ppdu.chain);
        ppdu.mpdus.push(mpdu);
        true
    }

    /// The fate of the frame with number `seq` is known.
    #[inline(always)]
    pub fn complete(&mut self, seq: Seq) {
        if let WindowPosition::Inside(n) = self.window.position(seq) {
            // In order each is the oldest that is open, and none behind it is done with.
            if n == 0 && !self.window.any() {
                self.window.shift(1);
            } else {
                self.window.mark(n);
                self.window.advance();
            }
            // Numbers come round again: what lies behind is forgotten.
            if self.given_up.is_some_and(|g| {
                matches!(self.window.position(g), WindowPosition::Behind | WindowPosition::Inside(0))
            }) {
                self.given_up = None;
            }
        }
    }

    /// Gives up the session frame `seq` and all incomplete frames before it. Those that wait are appended to
    /// `lost`. Returns the first number that is still sent.
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_complete_aggr, ath_tx_get_tid_subframe (4.4) - the
    // request starts just past the frame given up, and older frames are not sent any more.
    pub fn give_up(&mut self, seq: Seq, lost: &mut Vec<Mpdu>) -> Seq {
        let start = seq.plus(1);
        self.given_up = Some(start);
        let window = &self.window;
        lost.extend(self.waiting.iter().filter(|m| before(window, m.seq, start)));
        self.waiting.retain(|m| !before(window, m.seq, start));
        start
    }

    /// Whether the number lies before a session frame that was given up.
    #[inline]
    pub fn is_given_up(&self, seq: Seq) -> bool {
        self.given_up.is_some_and(|start| before(&self.window, seq, start))
    }

    /// A Block Ack request that moves the window to `start` was lost.
    // linux: net/mac80211/status.c ieee80211_set_bar_pending, ieee80211_check_pending_bar (4.4).
    pub fn bar_lost(&mut self, start: Seq) {
        self.bar_pending = Some(start);
    }

    /// Takes the lost Block Ack request, if any, to be sent again now that the receiver has answered.
    #[inline]
    pub fn take_bar(&mut self) -> Option<Seq> {
        self.bar_pending.take()
    }

    /// A session frame failed and waits to be sent again.
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_complete_aggr, ath_lookup_rate (4.11) - the marks
    // of a frame that is to be sent again stay: a probe of which no try arrived probes again, alone.
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_complete_aggr (4.11) - to the end of retry_q,
    // behind new frames that wait there.
    pub fn again(&mut self, mpdu: Mpdu) {
        let behind_new = !self.fifo || self.waiting.back().is_none_or(|last| last.tries > 0);
        let at = self.waiting.len() - usize::from(!behind_new);
        self.waiting.insert(at, mpdu);
    }

    /// The hardware has returned a single frame. The frame is sent once more, with a new sequence number.
    // linux: net/mac80211/tx.c ieee80211_tx_pending_skb, ieee80211_tx_h_sequence (4.4) - what is sent again
    // is processed anew.
    // deviation: it goes before what waits in the driver's FIFO - in Linux behind it.
    pub fn once_more(&mut self, mpdu: Mpdu) {
        // New frames wait for room behind those that were returned.
        let at = self.waiting.iter().take_while(|mpdu| mpdu.returned == Returned::Once).count();
        self.waiting.insert(at, Mpdu { returned: Returned::Once, seq: self.next, ..mpdu });
        self.next = self.next.plus(1);
    }

    /// The hardware has given a frame back because its receiver fell asleep. The frame goes to the head of
    /// the waiting frames.
    pub fn back(&mut self, mpdu: Mpdu) {
        self.waiting.push_front(mpdu);
    }

    /// Adds frames from before the session that the hardware has given back because their receiver fell
    /// asleep, in the given order. With `in_order`, and if no frame of the session has been sent, all frames
    /// are renumbered in order. Otherwise the added frames get the next numbers, so that the receiver hands
    /// them up after the session's waiting frames.
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_setup_buffer (6.12) - the TID's next number,
    // whatever the frame had before.
    // deviation: where firmware gives numbers, or no driver is known, order is kept - no source tells.
    pub fn join(&mut self, before: Vec<Mpdu>, in_order: bool) {
        let first = self.window.start();
        let unsent = !self.window.any()
            && self.waiting.iter().all(|mpdu| mpdu.tries == 0)
            && first.plus(self.waiting.len() as u16) == self.next;
        if !in_order || !unsent {
            return before.into_iter().for_each(|mpdu| self.once_more(mpdu));
        }
        before.into_iter().rev().for_each(|mpdu| self.waiting.push_front(mpdu));
        self.next = first;
        for mpdu in &mut self.waiting {
            mpdu.seq = self.next;
            self.next = self.next.plus(1);
        }
    }

    /// External a session, removes old frames that the hardware gave back because their receiver fell asleep,
    /// and appends them to `old`. Returns whether other such frames are left. Returns false while a session
    /// is open.
    pub fn give_up_old(&mut self, is_old: impl Fn(Pkt) -> bool, old: &mut Vec<Mpdu>) -> bool {
        if self.session == BlockAckSession::Open {
            return false;
        }
        let came_back = |mpdu: &Mpdu| mpdu.returned == Returned::Asleep;
        let goes = |mpdu: &Mpdu| came_back(mpdu) && mpdu.pkt.is_some_and(&is_old);
        old.extend(self.waiting.iter().filter(|mpdu| goes(mpdu)));
        self.waiting.retain(|mpdu| !goes(mpdu));
        self.waiting.iter().any(came_back)
    }

    /// Returns why the TID's frames are withheld while the peer is awake. `None` if only the hardware or the
    /// scheduler can delay them.
    pub fn withheld(&self) -> Option<TidWait> {
        match self.session {
            BlockAckSession::Starting(_)
            | BlockAckSession::Asked(_)
            | BlockAckSession::Unanswered
            | BlockAckSession::Stopping(_) => Some(TidWait::Session),
            BlockAckSession::Open if !self.is_inside(self.next) && !self.has_waiting_inside() => {
                Some(TidWait::Window)
            }
            _ => None,
        }
    }

    /// Frames that wait to be sent or sent again.
    pub fn waiting(&self) -> impl Iterator<Item = &Mpdu> {
        self.waiting.iter()
    }
}

/// Rate control of a link, which may choose a probe rate for a frame when the frame is taken.
#[derive(Debug)]
pub struct LinkRate<'r> {
    /// Current time.
    pub now: Instant,
    /// The rate control.
    pub rate: &'r mut RateControl,
}

impl LinkRate<'_> {
    /// A frame is put into a PPDU, perhaps as its first: of a rate control that probes by PPDU that one alone
    /// finds something out.
    #[inline]
    fn ask(&mut self, mpdu: &mut Mpdu, first: bool) {
        if self.rate.probes_by_ppdu() {
            mpdu.probe = if first { self.rate.probe_by_ppdu(self.now) } else { None };
        }
    }

    fn with_probe(&self, mpdu: &Mpdu, chain: &mut RetryChain) {
        if let Some(probe) = mpdu.probe {
            *chain = self.rate.probe_chain(probe, chain);
        }
    }
}

/// Whether `seq` lies in the window and before `limit`.
fn before(window: &SeqWindow, seq: Seq, limit: Seq) -> bool {
    matches!(window.position(seq), WindowPosition::Inside(n) if n < limit.since(window.start()))
        && matches!(window.position(limit), WindowPosition::Inside(_) | WindowPosition::Ahead(_))
}

#[cfg(test)]
mod tests;
