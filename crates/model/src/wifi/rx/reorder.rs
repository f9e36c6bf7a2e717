//! The receiver's reorder buffer of one Block Ack session.

use crate::vocabulary::{Ctx, Duration, Instant, Pkt, PlaceId, Reason, Sink};
use crate::wifi::rx::retry_out::RetryOut;
use crate::wifi::seq_window::{Seq, SeqWindow, WindowPosition};
use alloc::boxed::Box;
use alloc::vec::Vec;

const SLOTS: usize = SeqWindow::SIZE as usize;

/// How long a hole may hold back later frames.
// linux: net/mac80211/rx.c HT_RX_REORDER_BUF_TIMEOUT (4.4) - HZ / 10.
pub const RELEASE_TIMEOUT: Duration = Duration::from_millis(100);

/// Puts the frames of one session in order again: 64 frames, released after a timeout if one stays missing.
#[derive(Debug)]
pub struct Reorder {
    window: SeqWindow,
    slots: [Option<(Pkt, Instant)>; SLOTS],
    /// A frame of the session has come.
    started: bool,
    place: PlaceId,
    /// Broken frames are counted. A number that is marked in the window and holds no frame was marked lost.
    retry_out: Option<Box<RetryOut>>,
}

impl Reorder {
    /// An empty buffer whose first expected frame is `start`.
    pub fn new(start: Seq, place: PlaceId) -> Self {
        Self { window: SeqWindow::new(start), slots: [None; SLOTS], started: false, place, retry_out: None }
    }

    /// Frames that come broken are counted from now on, and count as lost when [`Reorder::broken`] finds that they came so
    /// too often.
    pub fn count_broken(&mut self) {
        self.retry_out.get_or_insert_default();
    }

    /// A new session takes the place of this one: what is held goes up, and the next frame expected is `start`.
    // linux: net/mac80211/agg-rx.c __ieee80211_start_rx_ba_session (4.4) - a session that is open is stopped first.
    pub fn restart(&mut self, start: Seq, up: &mut Vec<Pkt>) {
        self.shift(SeqWindow::SIZE, up);
        self.window = SeqWindow::new(start);
        self.started = false;
        if let Some(retry_out) = &mut self.retry_out {
            **retry_out = RetryOut::default();
        }
    }

    /// Takes a frame; whatever can go up now is appended to `up`.
    ///
    /// A frame from before the window, or one that is held already, is dropped here. Until the first frame of the
    /// session comes, those from before it go up: they were on their way when the session was asked for.
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
                // The sender has given up what lies before: make the frame the last one of the window.
                self.shift(n + 1 - SeqWindow::SIZE, up);
                SeqWindow::SIZE - 1
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

    /// A frame came broken, of a packet that this rule is for or of another one. If broken frames are counted and the estimated
    /// count of its retransmissions has reached `index`, it counts as lost, and what waited for it alone is appended to `up`.
    // paper: retry-out 3.2 (3) - frames that are held already, or were passed by, are only counted.
    pub fn broken(&mut self, seq: Seq, concerned: bool, index: Option<u8>, up: &mut Vec<Pkt>) {
        let Some(retry_out) = &mut self.retry_out else { return };
        let position = self.window.position(seq);
        let remembered = match position {
            WindowPosition::Inside(_) => true,
            WindowPosition::Ahead(_) => false,
            WindowPosition::Behind => self.window.start().since(seq) <= SeqWindow::SIZE,
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

    /// What is remembered of frames that came broken, if they are counted.
    pub fn retry_out(&self) -> Option<&RetryOut> {
        self.retry_out.as_deref()
    }

    /// Why a frame that has come does not go up.
    fn why_not(&self, seq: Seq) -> Reason {
        let near = self.window.position(seq) != WindowPosition::Behind
            || self.window.start().since(seq) <= SeqWindow::SIZE;
        match &self.retry_out {
            Some(retry_out) if near && retry_out.is_lost(seq) => Reason::RetryOut,
            _ => Reason::OldOrDuplicate,
        }
    }

    /// A Block Ack request: nothing before `start` will come any more.
    pub fn move_to(&mut self, start: Seq, up: &mut Vec<Pkt>) {
        if let WindowPosition::Inside(n) | WindowPosition::Ahead(n) = self.window.position(start) {
            self.shift(n, up);
            self.release_ready(up);
        }
    }

    /// When a hole will be given up, if there is one: when the first frame behind it has waited for the timeout, although
    /// later frames may have waited longer. It may be past already, once the frames before have gone up.
    // linux: net/mac80211/rx.c ieee80211_sta_reorder_release (4.4) - the timer is set for the first frame that is held.
    pub fn next_timeout(&self) -> Option<Instant> {
        self.first_held().map(|(_, since)| since + RELEASE_TIMEOUT)
    }

    /// The first frame that is held, and since when. Numbers marked lost hold none.
    #[inline]
    fn first_held(&self) -> Option<(u16, Instant)> {
        let mut marked = self.window.marked();
        marked.find_map(|offset| self.slots[self.slot(offset)].map(|(_, since)| (offset, since)))
    }

    /// Gives up holes before frames that have waited for the timeout.
    // linux: net/mac80211/rx.c ieee80211_sta_reorder_release (4.4).
    pub fn on_timeout(&mut self, now: Instant, up: &mut Vec<Pkt>) {
        while let Some((n, since)) = self.first_held()
            && now >= since + RELEASE_TIMEOUT
        {
            self.move_on(n);
            self.release_ready(up);
        }
    }

    /// Packets held back.
    pub fn held(&self) -> impl Iterator<Item = Pkt> {
        self.slots.iter().flatten().map(|&(pkt, _)| pkt)
    }

    fn slot(&self, offset: u16) -> usize {
        usize::from(self.window.start().plus(offset).get()) % SLOTS
    }

    fn shift(&mut self, n: u16, up: &mut Vec<Pkt>) {
        for offset in 0..n.min(SeqWindow::SIZE) {
            let slot = self.slot(offset);
            up.extend(self.slots[slot].take().map(|(pkt, _)| pkt));
        }
        self.move_on(n);
    }

    /// Moves the window; nothing that it leaves behind is held.
    #[inline]
    fn move_on(&mut self, n: u16) {
        if let Some(retry_out) = &mut self.retry_out {
            retry_out.moved(self.window.start(), n);
        }
        self.window.shift(n);
    }

    fn release_ready(&mut self, up: &mut Vec<Pkt>) {
        let from = self.window.start();
        let n = self.window.advance();
        if let Some(retry_out) = &mut self.retry_out {
            retry_out.moved(from, n);
        }
        for n in 0..n {
            let slot = usize::from(from.plus(n).get()) % SLOTS;
            up.extend(self.slots[slot].take().map(|(pkt, _)| pkt));
        }
    }
}

#[cfg(test)]
mod tests;
