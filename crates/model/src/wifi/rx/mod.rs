//! Receive side of one peer's TID.

pub mod interrupts;
pub mod reorder;
pub mod retry_out;
pub mod transfers;

use crate::types::{Ctx, Instant, Pkt, PlaceId, Rate, Sink};
use crate::wifi::air::ppdu::{Mpdu, Ppdu};
use crate::wifi::air::reception::RxOutcome;
use crate::wifi::marks::Marks;
use crate::wifi::rx::reorder::Reorder;
use crate::wifi::rx::retry_out::{RetryOutParams, SmoothedRate};
use crate::wifi::seq_window::Seq;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Receive state of a peer's TID.
#[derive(Debug, Default)]
pub struct RxTid {
    session: Option<Box<Reorder>>,
    /// Frames received with errors and a readable delimiter.
    pub broken: u64,
    /// Duplicates, received because an acknowledgement was lost.
    pub duplicates: u64,
}

/// State of pseudo retry-out for the sender of a PPDU.
#[derive(Debug)]
pub struct Judge<'a> {
    /// Rule that decides when a frame counts as lost.
    pub params: RetryOutParams,
    /// The peer's smoothed data rate.
    pub smoothed: &'a mut SmoothedRate,
    /// The data rate of the PPDU.
    pub rate: Rate,
}

impl RxTid {
    /// Counts frames with errors from now on. Each PPDU is then passed with a [`Judge`].
    pub fn count_broken(&mut self) {
        if let Some(reorder) = &mut self.session {
            reorder.count_broken();
        }
    }

    /// Opens a Block Ack session that starts at `start` with a window of `frames` frames. Ends a session that
    /// is already open because the response was lost.
    pub fn open(&mut self, start: Seq, frames: u16, place: PlaceId, up: &mut Vec<Pkt>) {
        match &mut self.session {
            Some(reorder) => reorder.restart(start, frames, up),
            None => self.session = Some(Box::new(Reorder::new(start, frames, place))),
        }
    }

    /// Processes the frames of one try of a PPDU.
    ///
    /// Moves the packets of error-free frames to `up`. Their memory charge stays in the sender's entry. With
    /// a `judge`, a TCP segment received with errors may count as lost while its sender keeps retrying.
    pub fn receive<S: Sink>(
        &mut self,
        now: Instant,
        ppdu: &mut Ppdu,
        got: &RxOutcome,
        mut judge: Option<Judge<'_>>,
        up: &mut Vec<Pkt>,
        ctx: &mut Ctx<'_, S>,
    ) {
        if ppdu.mpdus.len() <= Marks::WORD {
            let marks = (got.whole.words()[0], got.readable.words()[0]);
            return self.receive_some(now, &mut ppdu.mpdus, marks, judge.as_mut(), up, ctx);
        }
        let words = got.whole.words().iter().zip(got.readable.words());
        for (mpdus, (&whole, &readable)) in ppdu.mpdus.chunks_mut(Marks::WORD).zip(words) {
            self.receive_some(now, mpdus, (whole, readable), judge.as_mut(), up, ctx);
        }
    }

    /// Processes at most 64 frames, with one bit per frame for those received without error and those that
    /// are readable.
    #[inline]
    fn receive_some<S: Sink>(
        &mut self,
        now: Instant,
        mpdus: &mut [Mpdu],
        (whole, readable): (u64, u64),
        mut judge: Option<&mut Judge<'_>>,
        up: &mut Vec<Pkt>,
        ctx: &mut Ctx<'_, S>,
    ) {
        for (n, mpdu) in mpdus.iter_mut().enumerate() {
            if let Some(judge) = judge.as_mut().filter(|_| readable >> n & 1 == 1) {
                judge.smoothed.update(judge.rate);
            }
            if whole >> n & 1 == 0 {
                if readable >> n & 1 == 0 {
                    continue;
                }
                self.broken += 1;
                if let (Some(judge), Some(reorder)) = (&judge, &mut self.session) {
                    // Frames received before are only counted.
                    let tcp = mpdu.pkt.is_some_and(|p| ctx.packets.carries_tcp(p));
                    reorder.broken(mpdu.seq, tcp, judge.params.index(*judge.smoothed), up);
                }
                continue;
            }
            let Some(pkt) = mpdu.pkt.take() else {
                self.duplicates += 1;
                continue;
            };
            (mpdu.charge, mpdu.truesize) = match mpdu.msdus {
                1 => ctx.packets.take_charge(pkt),
                _ => ctx.packets.take_charges(pkt),
            };
            match &mut self.session {
                Some(reorder) => reorder.receive(now, mpdu.seq, pkt, up, ctx),
                None => up.push(pkt),
            }
        }
    }

    /// Returns true if any frame of a PPDU would be delivered immediately: it is not held, old, or a
    /// duplicate. Call this before the packets are taken.
    pub fn passes(&self, ppdu: &Ppdu, got: &RxOutcome) -> bool {
        let mut frames = got.first_of(ppdu);
        match &self.session {
            Some(reorder) => reorder.passes(frames.map(|mpdu| mpdu.seq)),
            None => frames.next().is_some(),
        }
    }

    /// Moves the window to `start`, as requested by a Block Ack request.
    pub fn on_bar(&mut self, start: Seq, up: &mut Vec<Pkt>) {
        if let Some(reorder) = &mut self.session {
            reorder.move_to(start, up);
        }
    }

    /// Returns when a hole will be given up, if there is one.
    #[inline]
    pub fn next_timeout(&self) -> Option<Instant> {
        self.session.as_ref().and_then(|r| r.next_timeout())
    }

    /// Gives up holes that have timed out.
    pub fn on_timeout(&mut self, now: Instant, up: &mut Vec<Pkt>) {
        if let Some(reorder) = &mut self.session {
            reorder.on_timeout(now, up);
        }
    }

    /// Returns the session's reorder buffer, if a session is open.
    pub fn session(&self) -> Option<&Reorder> {
        self.session.as_deref()
    }

    /// Returns the packets held in the reorder buffer.
    pub fn held(&self) -> impl Iterator<Item = Pkt> {
        self.session.iter().flat_map(|r| r.held())
    }
}

#[cfg(test)]
mod tests;
