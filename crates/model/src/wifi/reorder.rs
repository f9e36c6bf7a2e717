//! The receiver's reorder buffer of one Block Ack session.

use super::seq_window::{Position, Seq, SeqWindow};
use crate::vocabulary::{Ctx, Duration, Instant, Pkt, PlaceId, Reason, Sink};

const SLOTS: usize = SeqWindow::SIZE as usize;

/// How long a hole may hold back later frames.
// linux: net/mac80211/rx.c HT_RX_REORDER_BUF_TIMEOUT (4.4) - HZ / 10.
pub const RELEASE_TIMEOUT: Duration = Duration::from_millis(100);

/// Puts the frames of one session in order again: 64 frames, released after a timeout if one stays missing.
#[derive(Debug)]
pub struct Reorder {
    window: SeqWindow,
    slots: [Option<(Pkt, Instant)>; SLOTS],
    place: PlaceId,
}

impl Reorder {
    /// An empty buffer whose first expected frame is `start`.
    pub fn new(start: Seq, place: PlaceId) -> Self {
        Self { window: SeqWindow::new(start), slots: [None; SLOTS], place }
    }

    /// Takes a frame; whatever can go up now is appended to `up`.
    ///
    /// A frame from before the window, or one that is held already, is dropped here.
    // linux: net/mac80211/rx.c ieee80211_sta_manage_reorder_buf (4.4).
    pub fn receive<S: Sink>(
        &mut self,
        now: Instant,
        seq: Seq,
        pkt: Pkt,
        up: &mut Vec<Pkt>,
        ctx: &mut Ctx<'_, S>,
    ) {
        let offset = match self.window.position(seq) {
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
mod tests {
    use super::*;
    use crate::fair::testing::Bench;

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(n)
    }

    /// Hands a frame in; what goes up, by number.
    fn receive(r: &mut Reorder, b: &mut Bench, at: u64, seq: u16) -> Vec<u32> {
        let (p, mut up) = (b.packet(u32::from(seq), 1500), Vec::new());
        r.receive(ms(at), Seq::default().plus(seq), p, &mut up, &mut b.ctx());
        up.into_iter().map(|p| b.finish(p)).collect()
    }

    fn timeout(r: &mut Reorder, b: &mut Bench, at: u64) -> Vec<u32> {
        let mut up = Vec::new();
        r.on_timeout(ms(at), &mut up);
        up.into_iter().map(|p| b.finish(p)).collect()
    }

    #[test]
    fn order_duplicates_and_a_jump_ahead() {
        let (mut r, mut b) = (Reorder::new(Seq::default(), PlaceId(0)), Bench::new());
        // Frames in the order in which they come, and what each sends up.
        let table: [(u16, &[u32]); 8] = [
            (0, &[0]),
            (2, &[]),
            (3, &[]),
            (2, &[]), // held already
            (1, &[1, 2, 3]),
            (0, &[]),   // behind the window
            (5, &[]),   // 4 is missing
            (68, &[5]), // the window moves to 5
        ];
        for (seq, want) in table {
            assert_eq!(receive(&mut r, &mut b, 0, seq), want, "frame {seq}");
        }
        assert_eq!(b.packets.account().dropped[0][Reason::OldOrDuplicate as usize], 2);
        assert_eq!(r.held().count(), 1);
    }

    #[test]
    fn the_timer_is_for_the_first_frame_that_is_held() {
        let (mut r, mut b) = (Reorder::new(Seq::default(), PlaceId(0)), Bench::new());
        assert!(receive(&mut r, &mut b, 10, 2).is_empty());
        assert_eq!(r.next_timeout(), Some(ms(110)));
        // A frame before it that comes later waits from its own coming on, and 2 with it.
        assert!(receive(&mut r, &mut b, 60, 1).is_empty());
        assert_eq!(r.next_timeout(), Some(ms(160)));
        assert!(timeout(&mut r, &mut b, 110).is_empty());
        assert_eq!(timeout(&mut r, &mut b, 160), [1, 2]);
        assert_eq!(r.next_timeout(), None);
    }

    #[test]
    fn a_frame_that_becomes_the_first_may_be_overdue() {
        let (mut r, mut b) = (Reorder::new(Seq::default(), PlaceId(0)), Bench::new());
        assert!(receive(&mut r, &mut b, 10, 4).is_empty());
        assert!(receive(&mut r, &mut b, 60, 1).is_empty());
        assert_eq!(receive(&mut r, &mut b, 150, 0), [0, 1]);
        assert_eq!(r.next_timeout(), Some(ms(110)));
        assert_eq!(timeout(&mut r, &mut b, 150), [4]);
    }
}
