//! The receiver's reorder buffer of one Block Ack session.

use crate::types::{Ctx, Duration, Instant, Pkt, PlaceId, Reason, Sink};
use crate::wifi::rx::retry_out::RetryOut;
use crate::wifi::seq_window::{Seq, SeqWindow, WindowPosition};
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

/// Maximum time for which a hole in the sequence numbers holds back later frames.
// linux: net/mac80211/rx.c HT_RX_REORDER_BUF_TIMEOUT (4.4) - HZ / 10.
pub const RELEASE_TIMEOUT: Duration = Duration::from_millis(100);

/// Reorder buffer for one window of a session's frames. Frames behind a hole are released after a timeout.
#[derive(Debug)]
pub struct Reorder {
    window: SeqWindow,
    /// Slots by sequence number. Their number is a power of two and at least the window size.
    slots: Box<[Option<(Pkt, Instant)>]>,
    /// A frame of the session has been received.
    started: bool,
    place: PlaceId,
    /// Counts of frames with errors. A number that is marked in the window but holds no frame was marked
    /// lost.
    retry_out: Option<Box<RetryOut>>,
}

impl Reorder {
    /// Creates an empty buffer with a window of `frames` frames. `start` is the first expected frame.
    pub fn new(start: Seq, frames: u16, place: PlaceId) -> Self {
        Self {
            window: SeqWindow::new(start, frames),
            slots: slots(frames),
            started: false,
            place,
            retry_out: None,
        }
    }

    /// Counts frames with errors from now on. [`Reorder::broken`] marks a frame as lost after too many
    /// errors.
    pub fn count_broken(&mut self) {
        let frames = self.window.size();
        self.retry_out.get_or_insert_with(|| Box::new(RetryOut::new(frames)));
    }

    /// Replaces the session by a new one: delivers held frames, and expects frame `start` next.
    // linux: net/mac80211/agg-rx.c __ieee80211_start_rx_ba_session (4.4) - stops an open session first.
    pub fn restart(&mut self, start: Seq, frames: u16, up: &mut Vec<Pkt>) {
        self.shift(self.window.size(), up);
        if frames != self.window.size() {
            self.slots = slots(frames);
        }
        self.window = SeqWindow::new(start, frames);
        self.started = false;
        if let Some(retry_out) = &mut self.retry_out {
            **retry_out = RetryOut::new(frames);
        }
    }

    /// Processes a frame. Appends packets that can be delivered now to `up`.
    ///
    /// Drops frames before the window, and frames already held. Until the first frame of the session arrives,
    /// delivers frames before the window: they were in flight when the session was requested.
    // linux: net/mac80211/rx.c ieee80211_sta_manage_reorder_buf (4.4).
    pub fn receive<S: Sink>(
        &mut self,
        now: Instant,
        seq: Seq,
        pkt: Pkt,
        up: &mut Vec<Pkt>,
        ctx: &mut Ctx<'_, S>,
    ) {
        let position = self.window.position(seq);
        let started = self.started;
        self.started |= position != WindowPosition::Behind;
        let offset = match position {
            WindowPosition::Behind if !started => return up.push(pkt),
            WindowPosition::Behind => return ctx.drop(now, pkt, self.why_not(seq), self.place),
            WindowPosition::Inside(0) if !self.window.any() => {
                self.move_on(1);
                up.push(pkt);
                return;
            }
            WindowPosition::Inside(n) => n,
            WindowPosition::Ahead(n) => {
                // The sender has given up earlier frames: make the frame the last one of the window.
                let size = self.window.size();
                self.shift(n + 1 - size, up);
                size - 1
            }
        };
        if self.window.is_marked(offset) {
            return ctx.drop(now, pkt, self.why_not(seq), self.place);
        }
        let slot = self.slot(offset);
        self.slots[slot] = Some((pkt, now));
        self.window.mark(offset);
        self.release_ready(up);
    }

    /// Returns true if any of these frames, arriving in this order, would be delivered immediately.
    // linux: net/mac80211/rx.c ieee80211_sta_manage_reorder_buf (6.12) - the next expected frame bypasses the
    // buffer if the buffer is empty.
    pub fn passes(&self, frames: impl Iterator<Item = Seq>) -> bool {
        let mut window = self.window;
        for seq in frames {
            match window.position(seq) {
                WindowPosition::Behind if !self.started => return true,
                WindowPosition::Behind => {}
                WindowPosition::Inside(0) if !window.any() => return true,
                WindowPosition::Inside(n) => {
                    window.mark(n);
                    window.advance();
                }
                WindowPosition::Ahead(n) => {
                    window.shift(n + 1 - window.size());
                    window.mark(window.size() - 1);
                    window.advance();
                }
            }
        }
        false
    }

    /// Handles a frame received with errors. `concerned` is true if the rule applies to its packet. If errors
    /// are counted and the estimated number of retransmissions has reached `index`, marks the frame as lost
    /// and appends frames that waited only for it to `up`.
    // paper: retry-out 3.2 (3) - only counts errors of frames that are already held or have been skipped.
    pub fn broken(&mut self, seq: Seq, concerned: bool, index: Option<u8>, up: &mut Vec<Pkt>) {
        let Some(retry_out) = &mut self.retry_out else { return };
        let position = self.window.position(seq);
        let remembered = match position {
            WindowPosition::Inside(_) => true,
            WindowPosition::Ahead(_) => false,
            WindowPosition::Behind => self.window.start().since(seq) <= self.window.size(),
        };
        if !remembered {
            return;
        }
        let count = retry_out.broken(seq);
        if let WindowPosition::Inside(offset) = position
            && !self.window.is_marked(offset)
            && concerned
            && index.is_some_and(|index| count >= index)
        {
            retry_out.mark(seq);
            self.started = true;
            self.window.mark(offset);
            self.release_ready(up);
        }
    }

    /// Returns the counts of frames with errors, if enabled.
    pub fn retry_out(&self) -> Option<&RetryOut> {
        self.retry_out.as_deref()
    }

    /// Reason for which a received frame is dropped.
    fn why_not(&self, seq: Seq) -> Reason {
        let near = self.window.position(seq) != WindowPosition::Behind
            || self.window.start().since(seq) <= self.window.size();
        match &self.retry_out {
            Some(retry_out) if near && retry_out.is_lost(seq) => Reason::RetryOut,
            _ => Reason::OldOrDuplicate,
        }
    }

    /// Handles a Block Ack request: frames before `start` are no longer expected.
    pub fn move_to(&mut self, start: Seq, up: &mut Vec<Pkt>) {
        if let WindowPosition::Inside(n) | WindowPosition::Ahead(n) = self.window.position(start) {
            self.shift(n, up);
            self.release_ready(up);
        }
    }

    /// Returns when a hole will be given up, if there is one: when the first frame behind it has waited for
    /// the timeout, even if later frames have waited longer. The time may be in the past after the frames
    /// before the hole have been delivered.
    // linux: net/mac80211/rx.c ieee80211_sta_reorder_release (4.4) - sets the timer for the first frame held.
    pub fn next_timeout(&self) -> Option<Instant> {
        self.first_held().map(|(_, since)| since + RELEASE_TIMEOUT)
    }

    /// The first frame held and its arrival. Numbers marked as lost hold no frame.
    #[inline]
    fn first_held(&self) -> Option<(u16, Instant)> {
        if !self.window.any() {
            return None;
        }
        let mut marked = self.window.marked();
        marked.find_map(|offset| self.slots[self.slot(offset)].map(|(_, since)| (offset, since)))
    }

    /// Gives up holes in front of frames that have waited for the timeout.
    // linux: net/mac80211/rx.c ieee80211_sta_reorder_release (4.4).
    pub fn on_timeout(&mut self, now: Instant, up: &mut Vec<Pkt>) {
        while let Some((n, since)) = self.first_held()
            && now >= since + RELEASE_TIMEOUT
        {
            self.move_on(n);
            self.release_ready(up);
        }
    }

    /// Returns the packets held.
    pub fn held(&self) -> impl Iterator<Item = Pkt> {
        self.slots.iter().flatten().map(|&(pkt, _)| pkt)
    }

    fn slot(&self, offset: u16) -> usize {
        self.slot_of(self.window.start().plus(offset))
    }

    #[inline]
    fn slot_of(&self, seq: Seq) -> usize {
        usize::from(seq.get()) & (self.slots.len() - 1)
    }

    fn shift(&mut self, n: u16, up: &mut Vec<Pkt>) {
        for offset in 0..n.min(self.window.size()) {
            let slot = self.slot(offset);
            up.extend(self.slots[slot].take().map(|(pkt, _)| pkt));
        }
        self.move_on(n);
    }

    /// Moves the window. The numbers that leave it must not hold frames.
    #[inline]
    fn move_on(&mut self, n: u16) {
        if let Some(retry_out) = &mut self.retry_out {
            retry_out.moved(self.window.end(), n);
        }
        self.window.shift(n);
    }

    fn release_ready(&mut self, up: &mut Vec<Pkt>) {
        let (from, end) = (self.window.start(), self.window.end());
        let n = self.window.advance();
        if let Some(retry_out) = &mut self.retry_out {
            retry_out.moved(end, n);
        }
        for n in 0..n {
            let slot = self.slot_of(from.plus(n));
            up.extend(self.slots[slot].take().map(|(pkt, _)| pkt));
        }
    }
}

fn slots(frames: u16) -> Box<[Option<(Pkt, Instant)>]> {
    vec![None; usize::from(frames).next_power_of_two()].into_boxed_slice()
}

#[cfg(test)]
mod tests;
