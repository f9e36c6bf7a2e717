//! Capture state between PPDUs that is not in the trace: packets already received, the receiver's Block Ack
//! scoreboard, and the numbers of management frames and A-MPDUs.

use stillair_model::types::{ContentView, DevId, Headers, KeptHeaders, MpduView, PpduView};
use stillair_model::wifi::seq_window::{Seq, SeqWindow, WindowPosition};

use crate::world::WorldLayout;

/// Sequence numbers that may be outstanding at a time.
const WINDOW: usize = SeqWindow::MOST as usize;
const TIDS: usize = 8;

/// Block Ack scoreboard of a receiver: one bit per sequence number of the window, from its start.
// spec: ieee80211-2016 10.24.7.3 and 10.24.7.5 - full state: the window moves when a frame beyond it is
// received, or by a BlockAckReq; each Block Ack has the window start as its starting sequence number.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scoreboard(SeqWindow);

impl Scoreboard {
    fn new(start: Seq, frames: u16) -> Self {
        Self(SeqWindow::new(start, frames))
    }

    /// Sets the window size. Frames already received stay marked.
    fn resize(&mut self, frames: u16) {
        let mut window = SeqWindow::new(self.0.start(), frames);
        self.0.marked().filter(|&n| n < frames).for_each(|n| window.mark(n));
        self.0 = window;
    }

    /// Records a frame received without errors.
    pub fn receive(&mut self, seq: Seq) {
        match self.0.position(seq) {
            WindowPosition::Inside(n) => self.0.mark(n),
            WindowPosition::Ahead(n) => {
                let last = self.0.size() - 1;
                self.0.shift(n - last);
                self.0.mark(last);
            }
            WindowPosition::Behind => {}
        }
    }

    /// Moves the window start, after a BlockAckReq.
    pub fn move_to(&mut self, start: Seq) {
        if let WindowPosition::Inside(n) | WindowPosition::Ahead(n) = self.0.position(start) {
            self.0.shift(n);
        }
    }

    /// Returns the starting sequence number and bitmap of a Block Ack.
    pub fn block_ack(&self) -> (u16, [u64; 4]) {
        (self.0.start().get(), self.0.words())
    }
}

/// Frames of one TID from one sender to one peer.
#[derive(Debug)]
struct Link {
    /// Packets received without the sender getting the acknowledgement, by sequence number modulo the window.
    received: [Option<(u16, Box<[KeptHeaders]>)>; WINDOW],
    scoreboard: Scoreboard,
    /// Token of the last ADDBA request, starting with 1.
    token: u8,
    /// Token of the request that opened the session.
    opened: u8,
}

/// Numbers for the frames of one PPDU.
#[derive(Clone, Copy, Debug, Default)]
pub struct Numbers {
    /// Sequence number of a management frame.
    pub seq: u16,
    /// Dialog token of an ADDBA Request or Response.
    pub token: u8,
    /// Reference number of the A-MPDU.
    pub reference: u32,
    /// Starting sequence number and bitmap of the following Block Ack.
    pub block_ack: (u16, [u64; 4]),
}

/// State of a capture.
#[derive(Debug)]
pub struct MemoryFile {
    /// Devices of the peers, by device.
    peers: Vec<Vec<DevId>>,
    /// Links by device, then by peer and TID.
    links: Vec<Vec<Option<Box<Link>>>>,
    /// Next sequence number of a management frame, and that of the last ADDBA frame, by device.
    management: Vec<(u16, u16)>,
    references: u32,
}

impl MemoryFile {
    /// Creates the state before the first PPDU.
    pub fn new(layout: &WorldLayout) -> Self {
        let links = |d: &crate::world::DevLayout| (0..d.peers.len() * TIDS).map(|_| None).collect();
        Self {
            peers: layout.devs.iter().map(|d| d.peers.clone()).collect(),
            links: layout.devs.iter().map(links).collect(),
            management: vec![(0, 0); layout.devs.len()],
            references: 0,
        }
    }

    fn link(&mut self, dev: DevId, peer: usize, tid: u8) -> &mut Link {
        let link = &mut self.links[dev.index()][peer * TIDS + usize::from(tid)];
        link.get_or_insert_with(|| {
            Box::new(Link {
                received: [const { None }; WINDOW],
                scoreboard: Scoreboard::default(),
                token: 0,
                opened: 0,
            })
        })
    }

    /// Returns the packets of a data frame of a try passed to [`Self::note`]: one, or those of an A-MSDU.
    ///
    /// Panics if the frame has no packets and was not received earlier without being acknowledged, which
    /// never happens.
    #[inline]
    pub fn packets<'a>(
        &'a self,
        view: &PpduView<'a>,
        mpdu: &MpduView,
    ) -> impl Iterator<Item = Headers<'a>> + use<'a> {
        let (shown, packets) = (mpdu.packet, view.packets);
        let kept = if shown.is_none() { self.received(view, mpdu.seq) } else { &[] };
        let inside = shown.into_iter().flat_map(|first| packets.amsdu(first));
        inside.map(|p| Headers::of(packets, p)).chain(kept.iter().map(KeptHeaders::get))
    }

    /// Returns the first of these packets.
    #[inline]
    pub fn first<'a>(&'a self, view: &PpduView<'a>, mpdu: &MpduView) -> Headers<'a> {
        match mpdu.packet {
            Some(p) => Headers::of(view.packets, p),
            None => self.received(view, mpdu.seq).first().expect("a data frame has a packet").get(),
        }
    }

    fn received(&self, view: &PpduView<'_>, seq: u16) -> &[KeptHeaders] {
        let links = &self.links[view.tried.dev.index()];
        let link = links[view.tried.peer.index() * TIDS + usize::from(view.tid)].as_ref();
        let kept = link.and_then(|link| link.received[usize::from(seq) % WINDOW].as_ref());
        let (_, headers) =
            kept.filter(|(n, _)| *n == seq).expect("a frame without its packet was received before");
        headers
    }

    /// Records a try and returns the numbers for its frames.
    pub fn note(&mut self, view: &PpduView<'_>) -> Numbers {
        let (dev, peer) = (view.tried.dev, view.tried.peer.index());
        let mut numbers = Numbers::default();
        match view.content {
            ContentView::Beacon => {
                let next = &mut self.management[dev.index()].0;
                numbers.seq = core::mem::replace(next, (*next + 1) & 0xfff);
            }
            ContentView::Null { .. } | ContentView::QosNull { .. } => numbers.seq = self.addba_seq(view),
            ContentView::PsPoll | ContentView::Group => {}
            ContentView::AddbaRequest { start, .. } => {
                numbers.seq = self.addba_seq(view);
                let link = self.link(dev, peer, view.tid);
                if view.tried.attempt == 0 {
                    link.token = link.token.wrapping_add(1);
                }
                numbers.token = link.token;
                // A request repeated after a lost ACK finds the session open, possibly with frames in it.
                if view.whole && link.opened != link.token {
                    link.opened = link.token;
                    // The response carries the granted window, before any frame is sent.
                    link.scoreboard = Scoreboard::new(Seq::new(start), SeqWindow::SIZE);
                }
            }
            ContentView::AddbaResponse { frames } => {
                numbers.seq = self.addba_seq(view);
                let asker = self.peers[dev.index()][peer];
                let back = self.peers[asker.index()].iter().position(|&d| d == dev);
                let link = self.link(asker, back.expect("peers know each other"), view.tid);
                if view.tried.attempt == 0 {
                    link.scoreboard.resize(frames);
                }
                numbers.token = link.token;
            }
            ContentView::Bar { start } => {
                let link = self.link(dev, peer, view.tid);
                if view.whole {
                    link.scoreboard.move_to(Seq::new(start));
                }
                numbers.block_ack = link.scoreboard.block_ack();
            }
            ContentView::Data { aggregate } => {
                if aggregate {
                    self.references = self.references.wrapping_add(1);
                    numbers.reference = self.references;
                }
                // The receiver consumes a packet immediately; the sender repeats the frame unless it receives
                // an acknowledgement.
                let unheard = !view.answer.is_some_and(|answer| answer.heard);
                let link = self.link(dev, peer, view.tid);
                for mpdu in view.mpdus.iter().filter(|mpdu| mpdu.whole) {
                    link.scoreboard.receive(Seq::new(mpdu.seq));
                    if let (Some(p), true) = (mpdu.packet, unheard) {
                        let packets = view.packets.amsdu(p);
                        let kept = packets.map(|p| Headers::of(view.packets, p).keep()).collect();
                        link.received[usize::from(mpdu.seq) % WINDOW] = Some((mpdu.seq, kept));
                    }
                }
                numbers.block_ack = link.scoreboard.block_ack();
            }
        }
        numbers
    }

    /// Returns the sequence number of an ADDBA frame: a new one for its first try.
    // deviation: a device has one counter for beacons and the ADDBA frames of all its peers, as in mac80211.
    fn addba_seq(&mut self, view: &PpduView<'_>) -> u16 {
        let (next, last) = &mut self.management[view.tried.dev.index()];
        if view.tried.attempt == 0 {
            *last = core::mem::replace(next, (*next + 1) & 0xfff);
        }
        *last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scoreboard_keeps_a_window_of_numbers() {
        let mut board = Scoreboard::new(Seq::new(4090), 64);
        let first = |bits| [bits, 0, 0, 0];
        [4090, 4092, 3].into_iter().for_each(|n| board.receive(Seq::new(n)));
        assert_eq!(board.block_ack(), (4090, first(1 | 1 << 2 | 1 << 9)));
        // 4090 + 64 is 58 modulo 4096: one past the window, which therefore moves by one.
        board.receive(Seq::new(58));
        assert_eq!(board.block_ack(), (4091, first(1 << 1 | 1 << 8 | 1 << 63)));
        board.receive(Seq::new(4000));
        board.move_to(Seq::new(4000));
        assert_eq!(board.block_ack(), (4091, first(1 << 1 | 1 << 8 | 1 << 63)));
        board.move_to(Seq::new(3));
        assert_eq!(board.block_ack(), (3, first(1 | 1 << 55)));
        board.receive(Seq::new(2000));
        assert_eq!(board.block_ack(), (1937, first(1 << 63)));
        // 4000 + 255 is 159 modulo 4096: the last number of a window of 256.
        let mut board = Scoreboard::new(Seq::new(4000), 256);
        [4001, 159].into_iter().for_each(|n| board.receive(Seq::new(n)));
        assert_eq!(board.block_ack(), (4000, [2, 0, 0, 1 << 63]));
        board.receive(Seq::new(160));
        assert_eq!(board.block_ack(), (4001, [1, 0, 0, 3 << 62]));
    }
}
