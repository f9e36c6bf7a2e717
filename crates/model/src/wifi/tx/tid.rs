//! The sending side of one peer's traffic identifier: Block Ack session, window, frames to be sent again, and the one
//! PPDU builder that all drivers share.

use std::collections::VecDeque;

use crate::vocabulary::{Ctx, Instant, Pkt, Sink, SockId};
use crate::wifi::air::ppdu::{Content, Mpdu, Ppdu};
use crate::wifi::phy::frame::data_mpdu;
use crate::wifi::seq_window::{Position, Seq, SeqWindow};
use crate::wifi::tx::aggregate::{AggregateLimits, Subframes};

/// State of the Block Ack session in which frames may be aggregated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Session {
    /// None can be had: voice, or a peer without HT. Frames go out singly.
    Never,
    /// None yet: the next frame asks for one.
    Closed,
    /// Asked for; frames wait until the answer comes, at the latest until then.
    Asked(Instant),
    /// Frames are aggregated.
    Open,
}

/// One peer's traffic identifier, as its sender sees it.
#[derive(Debug)]
pub struct TxTid {
    /// The Block Ack session.
    pub session: Session,
    window: SeqWindow,
    next: Seq,
    /// Frames with a number that wait to be sent (again), oldest first.
    waiting: VecDeque<Mpdu>,
}

impl TxTid {
    /// A traffic identifier that has sent nothing.
    pub fn new(session: Session) -> Self {
        Self { session, window: SeqWindow::default(), next: Seq::default(), waiting: VecDeque::new() }
    }

    /// Whether numbered frames wait.
    #[inline]
    pub fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether frames may be sent now.
    #[inline]
    pub fn may_send(&self) -> bool {
        !matches!(self.session, Session::Asked(_))
    }

    /// The oldest number that is still open.
    pub fn start(&self) -> Seq {
        self.window.start()
    }

    /// The number of the next frame that is sent, where a session would start: a frame may have its number already and
    /// wait for room in the hardware.
    pub fn next(&self) -> Seq {
        self.waiting.front().map_or(self.next, |m| m.seq)
    }

    /// The session opens: its window starts at the next frame.
    pub fn open(&mut self) {
        self.session = Session::Open;
        self.window = SeqWindow::new(self.next());
    }

    /// Takes the next frame: one that waits, or else a new one from `pull`, which gets the next number.
    ///
    /// In a session nothing is taken that would lie 64 numbers or more after the oldest open one.
    fn take<'a, S: Sink>(
        &mut self,
        ctx: &mut Ctx<'a, S>,
        pull: &mut impl FnMut(&mut Ctx<'a, S>) -> Option<Pkt>,
    ) -> Option<Mpdu> {
        if let Some(waiting) = self.waiting.pop_front() {
            return Some(waiting);
        }
        if self.session == Session::Open && !matches!(self.window.position(self.next), Position::Inside(_)) {
            return None;
        }
        let pkt = pull(ctx)?;
        let seq = self.next;
        self.next = seq.plus(1);
        let hot = ctx.packets.get(pkt);
        let (len, truesize) = (data_mpdu(hot.len) as u16, hot.truesize);
        Some(Mpdu { pkt: Some(pkt), seq, len, tries: 0, charge: SockId::NONE, truesize })
    }

    /// Takes a new frame out of its queue before there is room for it, as ath9k with MAC queues does.
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_sched_aggr (4.11) - the frame looked at waits in retry_q.
    pub fn hold_one<'a, S: Sink>(
        &mut self,
        ctx: &mut Ctx<'a, S>,
        mut pull: impl FnMut(&mut Ctx<'a, S>) -> Option<Pkt>,
    ) {
        if self.waiting.is_empty()
            && let Some(mpdu) = self.take(ctx, &mut pull)
        {
            self.waiting.push_back(mpdu);
        }
    }

    /// Fills `ppdu` with frames up to the limits; false if there is none.
    ///
    /// The frame that does not fit any more waits at the head. A lone frame is sent without aggregation.
    // linux: drivers/net/wireless/ath/ath9k/xmit.c ath_tx_form_aggr (4.4) - limits in this order: window, bytes, frames.
    // deviation: the frame that does not fit waits at the head, not at the tail, of the frames to be sent again; only
    // their order within the window differs.
    pub fn build<'a, S: Sink>(
        &mut self,
        ppdu: &mut Ppdu,
        limits: AggregateLimits,
        ctx: &mut Ctx<'a, S>,
        mut pull: impl FnMut(&mut Ctx<'a, S>) -> Option<Pkt>,
    ) -> bool {
        let mut subframes = Subframes::new(limits);
        while subframes.frames() < limits.frames() {
            let Some(mpdu) = self.take(ctx, &mut pull) else { break };
            if !subframes.would_fit(u32::from(mpdu.len)) {
                self.waiting.push_front(mpdu);
                break;
            }
            subframes.add(u32::from(mpdu.len));
            ppdu.mpdus.push(mpdu);
        }
        match ppdu.mpdus.as_slice() {
            [] => return false,
            [alone] => {
                ppdu.bytes = u32::from(alone.len);
                ppdu.header.content = Content::Data { aggregate: false };
            }
            _ => ppdu.bytes = subframes.psdu_bytes(),
        }
        true
    }

    /// Puts one frame, without aggregation, into `ppdu`; false if there is none.
    pub fn build_single<'a, S: Sink>(
        &mut self,
        ppdu: &mut Ppdu,
        ctx: &mut Ctx<'a, S>,
        mut pull: impl FnMut(&mut Ctx<'a, S>) -> Option<Pkt>,
    ) -> bool {
        let Some(mpdu) = self.take(ctx, &mut pull) else { return false };
        ppdu.bytes = u32::from(mpdu.len);
        ppdu.mpdus.push(mpdu);
        true
    }

    /// A frame's fate is known: its number is done with.
    pub fn complete(&mut self, seq: Seq) {
        if let Position::Inside(n) = self.window.position(seq) {
            self.window.mark(n);
            self.window.advance();
        }
    }

    /// A frame of a session failed and waits to be sent again.
    pub fn again(&mut self, mpdu: Mpdu) {
        self.waiting.push_back(mpdu);
    }

    /// Frames that wait to be sent (again).
    pub fn waiting(&self) -> impl Iterator<Item = &Mpdu> {
        self.waiting.iter()
    }
}

#[cfg(test)]
mod tests;
