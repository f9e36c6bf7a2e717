//! Second half of a capture: encodes frames as bytes, directly from the world or from a batch.

use std::io::{self, Write};
use std::sync::Arc;

use stillair_model::types::{Headers, Instant, PpduView, WireId};

use super::Captured;
use super::bytes::ip;
use super::bytes::tcp::Connections;
use super::exchange::{ExchangeFrames, Inside};
use super::frame_batch::{FrameBatch, TakenFrame};
use super::memory::Numbers;
use super::pcapng::Writer;
use super::topology::Topology;

/// Encodes frames and writes them.
#[derive(Debug)]
pub struct Encoder<W> {
    writer: Writer<W>,
    scene: Arc<Topology>,
    connections: Connections,
}

impl<W: Write> Encoder<W> {
    pub(super) fn new(scene: Arc<Topology>, snaplen: u32, out: W) -> Self {
        let application = concat!("stillair ", env!("CARGO_PKG_VERSION"));
        let writer = Writer::new(out, application, scene.points(), snaplen);
        Self { writer, scene, connections: Connections::default() }
    }

    /// Writes the frames of a batch. Batches must be passed in the order in which they were filled.
    pub fn batch(&mut self, batch: &FrameBatch) {
        batch.begun().for_each(|p| self.note(&p));
        for frame in batch.frames() {
            match *frame {
                TakenFrame::Packet { now, point, wire, packet } => {
                    self.packet(now, point, wire, &batch.packet(packet));
                }
                TakenFrame::Air { now, ppdu } => {
                    let (view, numbers) = batch.ppdu(ppdu);
                    self.air(now, &view, numbers, &batch.inside(ppdu));
                }
            }
        }
    }

    /// Ends the capture at the end of the run. `left_out` is the number of frames per point that did not fit
    /// in a batch.
    pub fn finish(self, end: Instant, left_out: &[u64]) -> io::Result<Captured> {
        let (frames, bytes) = self.writer.finish(end, left_out)?;
        let names = self.scene.points().iter().map(|p| p.name.clone());
        Ok(Captured { frames: names.zip(frames).collect(), bytes })
    }

    /// Records connection state from a packet, captured or not.
    pub(super) fn note(&mut self, p: &Headers<'_>) {
        self.connections.note(p);
    }

    /// Records connection state from the packets of an exchange.
    pub(super) fn begun(&mut self, view: &PpduView<'_>) {
        for mpdu in view.mpdus {
            match mpdu.packet {
                Some(p) if mpdu.msdus == 1 => self.connections.note(&Headers::of(view.packets, p)),
                Some(first) => {
                    let packets = view.packets.amsdu(first);
                    packets.for_each(|p| self.connections.note(&Headers::of(view.packets, p)));
                }
                None => {}
            }
        }
    }

    /// Writes a packet on a wire or at one end of it.
    pub(super) fn packet(&mut self, now: Instant, point: u32, wire: WireId, p: &Headers<'_>) {
        let (addresses, macs) = (self.scene.addresses(p), self.scene.ends(wire));
        let connections = &self.connections;
        self.writer.frame(now, point, now, |out| ip::ethernet(out, p, addresses, macs, connections));
    }

    /// Writes an exchange at all points that capture it.
    pub(super) fn air<I: Inside>(&mut self, now: Instant, view: &PpduView<'_>, numbers: Numbers, inside: &I) {
        let Self { writer, scene, connections } = self;
        let shot = ExchangeFrames { scene, inside, connections, view, numbers };
        scene.parts(view, |point, part| shot.part(writer, now, point, &part));
    }
}
