//! Captures of the air, a radio, a wire or a host's interface, as a pcapng file for Wireshark.
//!
//! A capture is a reader of the trace that needs frames. Its points are `air-CHANNEL` (every frame of a
//! channel, as its receiver received it), `NODE-INTERFACE` of each Wi-Fi interface (frames sent by that
//! radio, and received frames addressed to it) and of each wired interface (packets as the host sees them:
//! before TSO, after GRO), and each wired link under its own name (packets as they reach the end of the
//! link).
//!
//! A frame's time is the start of its PPDU, so all frames of an A-MPDU have the same time. Radiotap's TSFT is
//! later by the preamble ([`radiotap::tsft`]). A frame that its receiver did not get, or that was part of a
//! collision, ends with a wrong check sequence and is flagged in the radiotap header.
//!
//! A capture has two halves. The [`Watcher`] runs beside the world and keeps state that the trace does not
//! contain. The [`Encoder`] produces bytes and writes them. A [`Capture`] has both. If the world must not
//! wait for the encoder, [`halves`] returns both separately: the watcher copies frames into a [`FrameBatch`],
//! and an encoder on another thread writes the same bytes from there.

mod bytes;
mod encoder;
mod exchange;
mod frame_batch;
mod memory;
mod output;
mod parts;
pub mod pcapng;
mod ports;
mod topology;
mod watcher;

use std::io::{self, Write};
use std::sync::Arc;

use stillair_model::types::{FrameView, Instant, PacketKind, Sink, TraceEvent};

use crate::scenario::Scenario;
use topology::Topology;

pub use bytes::radiotap;
pub use encoder::Encoder;
pub use frame_batch::FrameBatch;
pub use ports::ports;
pub use topology::point_names;
pub use watcher::Watcher;

/// Selection of frames to capture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Selection {
    /// Names of the points. An empty list means the air of every channel, `all` every point.
    pub points: Vec<String>,
    /// Frames that begin earlier are left out.
    pub from: Instant,
    /// Frames that begin at or after this time are left out, except the response to an earlier frame.
    pub until: Instant,
    /// Maximum number of bytes kept of each frame; zero keeps all.
    pub snaplen: u32,
}

impl Selection {
    /// Checks the selection. The error says what is wrong.
    pub fn check(&self, scenario: &Scenario) -> Result<(), String> {
        let snaplen = self.snaplen;
        if snaplen != 0 && snaplen < LEAST_SNAPLEN {
            return Err(format!("snaplen: found {snaplen}, expected 0 for all or at least {LEAST_SNAPLEN}"));
        }
        if self.until <= self.from {
            return Err("window: it ends before it begins; give an end that is later".to_owned());
        }
        Topology::new(scenario, &crate::world::layout(scenario), &self.points).map(|_| ())
    }
}

/// Smallest [`Selection::snaplen`] that keeps all headers.
pub const LEAST_SNAPLEN: u32 = 160;

/// The two halves of a capture of one run. The error says what is wrong with the selection.
pub fn halves<W: Write>(
    scenario: &Scenario,
    selection: &Selection,
    out: W,
) -> Result<(Watcher, Encoder<W>), String> {
    selection.check(scenario)?;
    let layout = crate::world::layout(scenario);
    let scene = Arc::new(Topology::new(scenario, &layout, &selection.points)?);
    let encoder = Encoder::new(scene.clone(), selection.snaplen, out);
    Ok((Watcher::new(scene, &layout, selection), encoder))
}

/// A capture in progress.
#[derive(Debug)]
pub struct Capture<W> {
    watcher: Watcher,
    encoder: Encoder<W>,
}

/// Size of a finished capture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Captured {
    /// Number of frames at each point.
    pub frames: Vec<(String, u64)>,
    /// Length of the file in bytes.
    pub bytes: u64,
}

impl<W: Write> Capture<W> {
    /// Starts a capture of one run. The error says what is wrong with the selection.
    pub fn new(scenario: &Scenario, selection: &Selection, out: W) -> Result<Self, String> {
        let (watcher, encoder) = halves(scenario, selection, out)?;
        Ok(Self { watcher, encoder })
    }

    /// Ends the capture at the end of the run.
    pub fn finish(self, end: Instant) -> io::Result<Captured> {
        self.encoder.finish(end, &[])
    }
}

impl<W: Write> Sink for Capture<W> {
    const FRAMES: bool = true;

    #[inline]
    fn event(&mut self, _: Instant, _: &TraceEvent) {}

    #[inline(always)]
    fn frame(&mut self, now: Instant, what: &FrameView<'_>) {
        let Self { watcher, encoder } = self;
        match what {
            FrameView::Air(view) => {
                let numbers = watcher.air(view);
                encoder.begun(view);
                if let Some(numbers) = numbers {
                    encoder.air(now, view, numbers, &watcher.inside(view));
                }
            }
            FrameView::Wire(wire, p) | FrameView::Sent(wire, p) | FrameView::Received(wire, p) => {
                match watcher.point(now, what) {
                    Some(point) => {
                        let p = p.headers();
                        encoder.note(&p);
                        encoder.packet(now, point, *wire, &p);
                    }
                    // Of a packet that no point shows, only the start of a connection counts.
                    None if p.kind() == PacketKind::Tcp => encoder.note(&p.headers()),
                    None => {}
                }
            }
        }
    }
}
