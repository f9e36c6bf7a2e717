//! Captures of the air, a radio, a wire or a host's interface, as a pcapng file for Wireshark.
//!
//! A capture is a trace sink that needs frames. Its points are `air-CHANNEL` (every frame of a channel, as
//! received by its receiver), `NODE-INTERFACE` for each Wi-Fi interface (frames sent by its radio, and
//! received frames addressed to it) and each wired interface (packets as seen by the host: before TSO, after
//! GRO), and each wired link by its own name (packets as they arrive at the end of the link).
//!
//! The time of a frame is the start of its PPDU, so all frames of an A-MPDU have the same time. Radiotap's
//! TSFT is later by the preamble ([`radiotap::tsft`]). A frame that was not received or that collided ends
//! with a wrong FCS and is flagged in the radiotap header.
//!
//! A capture has two halves. The [`Watcher`] runs next to the world and keeps state that is not in the trace.
//! The [`Encoder`] produces and writes bytes. A [`Capture`] contains both. To avoid blocking the world on the
//! encoder, [`halves`] returns both separately: the watcher copies frames into a [`FrameBatch`], and an
//! encoder on another thread writes the same bytes from the batch.

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
    /// Names of the points. Empty: the air of every channel; `all`: every point.
    pub points: Vec<String>,
    /// Frames that start earlier are omitted.
    pub from: Instant,
    /// Frames that start at or after this time are omitted, except the response to an earlier frame.
    pub until: Instant,
    /// Maximum number of bytes captured per frame; zero captures all.
    pub snaplen: u32,
}

impl Selection {
    /// Checks the selection. The error describes what is wrong.
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

/// Minimum [`Selection::snaplen`], which keeps all headers.
pub const LEAST_SNAPLEN: u32 = 160;

/// Creates the two halves of a capture of one run. Returns an error if the selection is invalid.
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
    /// Number of frames per point.
    pub frames: Vec<(String, u64)>,
    /// Length of the file in bytes.
    pub bytes: u64,
}

impl<W: Write> Capture<W> {
    /// Starts a capture of one run. Returns an error if the selection is invalid.
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
                    // A packet that is not captured only matters if it opens a connection.
                    None if p.kind() == PacketKind::Tcp => encoder.note(&p.headers()),
                    None => {}
                }
            }
        }
    }
}
