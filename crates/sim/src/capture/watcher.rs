//! The half of a capture beside the world: it keeps state that the trace does not contain, and selects the
//! frames.

use std::sync::Arc;

use stillair_model::types::{FrameView, Headers, Instant, MpduView, PacketKind, PpduView, TcpFlags};

use super::Selection;
use super::exchange::Inside;
use super::frame_batch::FrameBatch;
use super::memory::{MemoryFile, Numbers};
use super::topology::Topology;
use crate::world::WorldLayout;

/// Receives every frame of a world.
#[derive(Debug)]
pub struct Watcher {
    scene: Arc<Topology>,
    memory: MemoryFile,
    from: Instant,
    until: Instant,
    /// Bytes of a packet that a frame of it can show.
    shown: usize,
    left_out: Vec<u64>,
}

impl Watcher {
    pub(super) fn new(scene: Arc<Topology>, layout: &WorldLayout, selection: &Selection) -> Self {
        let Selection { from, until, snaplen, .. } = *selection;
        let shown = if snaplen == 0 { usize::MAX } else { snaplen as usize };
        let left_out = vec![0; scene.points().len()];
        Self { memory: MemoryFile::new(layout), scene, from, until, shown, left_out }
    }

    /// Copies a frame into a batch, if a point shows the frame. If the batch is full, the frame is left out
    /// and counted; the other frames are as if it had been written.
    pub fn take(&mut self, now: Instant, what: &FrameView<'_>, into: &mut FrameBatch) {
        match what {
            FrameView::Air(view) => self.take_air(now, view, into),
            FrameView::Wire(wire, p) | FrameView::Sent(wire, p) | FrameView::Received(wire, p) => {
                if p.kind() == PacketKind::Tcp {
                    opens(&p.headers(), into);
                }
                match self.point(now, what) {
                    Some(point) if into.is_full() => self.left_out[point as usize] += 1,
                    Some(point) => into.put_packet(now, point, *wire, &p.headers(), self.shown),
                    None => {}
                }
            }
        }
    }

    fn take_air(&mut self, now: Instant, view: &PpduView<'_>, into: &mut FrameBatch) {
        let numbers = self.air(view);
        let shown = view.mpdus.iter().filter_map(|mpdu| mpdu.packet);
        let tcp = shown
            .flat_map(|first| view.packets.amsdu(first))
            .filter(|&p| view.packets.get(p).kind == PacketKind::Tcp);
        tcp.for_each(|p| opens(&Headers::of(view.packets, p), into));
        let Some(numbers) = numbers else { return };
        if into.is_full() {
            let left_out = &mut self.left_out;
            self.scene.parts(view, |point, part| left_out[point as usize] += part.frames(view));
            return;
        }
        let mut is_shown = false;
        self.scene.parts(view, |_, _| is_shown = true);
        if is_shown {
            into.put_ppdu(now, view, numbers, &self.inside(view), self.shown);
        }
    }

    /// By point, the number of frames left out because a batch was full.
    pub fn left_out(&self) -> &[u64] {
        &self.left_out
    }

    /// Takes note of an exchange: the numbers for its frames, if they are wanted.
    pub(super) fn air(&mut self, view: &PpduView<'_>) -> Option<Numbers> {
        let begun = view.guard.as_ref().map_or(view.tried.start, |g| g.rts.unwrap_or(g.cts));
        let is_unanswered = view.guard.as_ref().is_some_and(|guard| !guard.answered);
        let numbers = if is_unanswered { Numbers::default() } else { self.memory.note(view) };
        self.wants(begun).then_some(numbers)
    }

    /// The point of a packet on a wire, or at one end of it, if it is wanted.
    #[inline]
    pub(super) fn point(&self, now: Instant, what: &FrameView<'_>) -> Option<u32> {
        let scene = &self.scene;
        let point = match *what {
            FrameView::Wire(wire, _) => scene.wire(wire),
            FrameView::Sent(wire, _) => scene.host(wire, 0),
            FrameView::Received(wire, _) => scene.host(wire, 1),
            FrameView::Air(_) => None,
        };
        point.filter(|_| self.wants(now))
    }

    /// Where the packets of an exchange are that it took note of.
    pub(super) fn inside<'a>(&'a self, view: &'a PpduView<'a>) -> InWorld<'a> {
        InWorld { memory: &self.memory, view }
    }

    fn wants(&self, at: Instant) -> bool {
        self.from <= at && at < self.until
    }
}

/// A connection of the model that begins is told with the batch, as all its segments are written by what its
/// ends say then.
fn opens(p: &Headers<'_>, into: &mut FrameBatch) {
    if p.tcp.is_some_and(|header| header.flags.has(TcpFlags::SYN)) {
        into.begin(*p);
    }
}

/// The packets of a world, including those that have left it.
#[derive(Clone, Copy, Debug)]
pub struct InWorld<'a> {
    memory: &'a MemoryFile,
    view: &'a PpduView<'a>,
}

impl Inside for InWorld<'_> {
    #[inline]
    fn packets(&self, _: usize, mpdu: &MpduView) -> impl Iterator<Item = Headers<'_>> {
        self.memory.packets(self.view, mpdu)
    }

    #[inline]
    fn first(&self, _: usize, mpdu: &MpduView) -> Headers<'_> {
        self.memory.first(self.view, mpdu)
    }
}
