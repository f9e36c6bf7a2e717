//! The receiver's reorder buffer of one Block Ack session.

use crate::vocabulary::{Ctx, Duration, Instant, Pkt, PlaceId, Reason, Sink};
use crate::wifi::seq_window::{Position, Seq, SeqWindow};

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
}

impl Reorder {
    /// An empty buffer whose first expected frame is `start`.
    pub fn new(start: Seq, place: PlaceId) -> Self {
        Self { window: SeqWindow::new(start), slots: [None; SLOTS], started: false, place }
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
        self.started |= position != Position::Behind;
        let offset = match position {
            Position::Behind if !started => return up.push(pkt),
            Position::Behind => return ctx.drop(now, pkt, Reason::OldOrDuplicate, self.place),
            Position::Inside(0) if !self.window.any() => {
                self.window.shift(1);
                up.push(pkt);
                return;
            }
            Position::Inside(n) => n,
            Position::Ahead(n) => {
                // The sender has given up what lies before: make the frame the last one of the window.
                self.shift(n + 1 - SeqWindow::SIZE, up);
                SeqWindow::SIZE - 1
            }
        };
        let slot = self.slot(offset);
        if self.slots[slot].is_some() {
            return ctx.drop(now, pkt, Reason::OldOrDuplicate, self.place);
        }
        self.slots[slot] = Some((pkt, now));
        self.window.mark(offset);
        self.release_ready(up);
    }

    /// A Block Ack request: nothing before `start` will come any more.
    pub fn move_to(&mut self, start: Seq, up: &mut Vec<Pkt>) {
        if let Position::Inside(n) | Position::Ahead(n) = self.window.position(start) {
            self.shift(n, up);
            self.release_ready(up);
        }
    }

    /// When a hole will be given up, if there is one: when the first frame behind it has waited for the timeout, although
    /// later frames may have waited longer. It may be past already, once the frames before have gone up.
    // linux: net/mac80211/rx.c ieee80211_sta_reorder_release (4.4) - the timer is set for the first frame that is held.
    pub fn next_timeout(&self) -> Option<Instant> {
        let first = self.window.first_mark()?;
        let (_, since) = self.slots[self.slot(first)].expect("a marked slot is full");
        Some(since + RELEASE_TIMEOUT)
    }

    /// Gives up holes before frames that have waited for the timeout.
    // linux: net/mac80211/rx.c ieee80211_sta_reorder_release (4.4).
    pub fn on_timeout(&mut self, now: Instant, up: &mut Vec<Pkt>) {
        while let Some(n) = self.window.first_mark() {
            let (_, since) = self.slots[self.slot(n)].expect("a marked slot is full");
            if now < since + RELEASE_TIMEOUT {
                break;
            }
            self.window.shift(n);
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
        self.window.shift(n);
    }

    fn release_ready(&mut self, up: &mut Vec<Pkt>) {
        let from = self.window.start();
        for n in 0..self.window.advance() {
            let slot = usize::from(from.plus(n).get()) % SLOTS;
            up.extend(self.slots[slot].take().map(|(pkt, _)| pkt));
        }
    }
}

#[cfg(test)]
mod tests;
