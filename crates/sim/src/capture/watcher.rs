//! First half of a capture, next to the world: keeps state that is not in the trace, and selects frames.

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
    /// Maximum number of bytes of a packet that its frame can contain.
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

    /// Copies a frame into a batch, if a point captures it. If the batch is full, the frame is omitted and
    /// counted; other frames are not affected.
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

    /// Returns the number of frames omitted because a batch was full, by point.
    pub fn left_out(&self) -> &[u64] {
        &self.left_out
    }

    /// Records an exchange. Returns the numbers for its frames if a point captures it.
    pub(super) fn air(&mut self, view: &PpduView<'_>) -> Option<Numbers> {
        let begun = view.guard.as_ref().map_or(view.tried.start, |g| g.rts.unwrap_or(g.cts));
        let is_unanswered = view.guard.as_ref().is_some_and(|guard| !guard.answered);
        let numbers = if is_unanswered { Numbers::default() } else { self.memory.note(view) };
        self.wants(begun).then_some(numbers)
    }

    /// Returns the point that captures a packet on a wire or at one end of it, if any.
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

    /// Returns the packets of a recorded exchange.
    pub(super) fn inside<'a>(&'a self, view: &'a PpduView<'a>) -> InWorld<'a> {
        InWorld { memory: &self.memory, view }
    }

    fn wants(&self, at: Instant) -> bool {
        self.from <= at && at < self.until
    }
}

/// Adds the start of a modelled connection to the batch, because all its segments are written according to
/// the SYNs of both ends.
fn opens(p: &Headers<'_>, into: &mut FrameBatch) {
    if p.tcp.is_some_and(|header| header.flags.has(TcpFlags::SYN)) {
        into.begin(*p);
    }
}

/// Packets of a world, including those that have left it.
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
