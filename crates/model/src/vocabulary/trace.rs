//! Trace events, which parts report to a [`Sink`], and the context through which parts act on the world.
//!
//! Captures, logs, accounts and hashes read this stream; parts do not log.

use super::addr::Addr;
use super::fate::{Fate, Reason};
use super::frames::{FrameView, PpduTry};
use super::ids::{FlowId, PlaceId};
use super::kind::PacketKind;
use super::packet::{Packets, Pkt};
use super::probe::Probe;
use super::quic::LongPackets;
use super::steps::Step;
use super::time::{Duration, Instant};

/// One event.
#[derive(Clone, Copy, Debug)]
pub enum TraceEvent {
    /// An application got a packet.
    Delivered {
        /// Its flow.
        flow: FlowId,
        /// What it carried.
        kind: PacketKind,
        /// Its sequence number in the flow.
        seq: u32,
        /// Bytes from the IP header on.
        len: u32,
        /// Time since its sender created it.
        delay: Duration,
        /// Address of its sender.
        src: Addr,
    },
    /// A ping wrote a request.
    Asked {
        /// Its flow.
        flow: FlowId,
        /// Its number.
        seq: u32,
    },
    /// An application read bytes of a stream, in order.
    Read {
        /// Its flow.
        flow: FlowId,
        /// From the end that opened the connection to the other, or back.
        forth: bool,
        /// How many bytes.
        bytes: u32,
    },
    /// A page is there as a whole.
    Loaded {
        /// Its flow.
        flow: FlowId,
        /// Time since its load began.
        took: Duration,
    },
    /// A probe of a test of responsiveness was answered.
    Probed {
        /// Its flow.
        flow: FlowId,
        /// What it timed.
        probe: Probe,
        /// How long it took.
        took: Duration,
    },
    /// Something happened to a QUIC connection.
    Quic {
        /// Its flow.
        flow: FlowId,
        /// What.
        what: QuicTrace,
    },
    /// A packet was dropped.
    Dropped {
        /// Its flow.
        flow: FlowId,
        /// Its sequence number in the flow.
        seq: u32,
        /// Why.
        reason: Reason,
        /// Where.
        place: PlaceId,
    },
    /// One try of a PPDU ended, with its acknowledgement or without.
    Ppdu(PpduTry),
}

/// What happens to a QUIC connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QuicTrace {
    /// The socket of the end that sends the data gave a datagram to its host. It is sent, or dropped on its way to the device.
    HandedDown {
        /// Its packet number, or zero if the stack does not tell; where it has several packets, that of the last one.
        number: u64,
    },
    /// A datagram was handed to the device of the host that made it: where a capture there sees it.
    Sent {
        /// Address of that host.
        src: Addr,
        /// Its packet number, or zero if the stack does not tell; where it has several packets, that of the last one.
        number: u64,
        /// Bytes of UDP payload.
        len: u32,
        /// What of them are packets of the handshake, if the stack tells.
        long: LongPackets,
    },
    /// A datagram came to a host.
    Received {
        /// Address of the host that made it.
        src: Addr,
        /// Its packet number, or zero if the stack does not tell; where it has several packets, that of the last one.
        number: u64,
        /// Bytes of UDP payload.
        len: u32,
        /// What of them are packets of the handshake, if the stack tells.
        long: LongPackets,
        /// The newest packet that it acknowledges, or zero if it does not or the stack does not tell.
        acked: u64,
    },
    /// The end that sends the data has dealt with a datagram.
    Window {
        /// Congestion window in bytes.
        cwnd: u64,
        /// Bytes in flight, as far as the stack tells.
        in_flight: u64,
        /// Smoothed round-trip time; zero before the first sample.
        srtt: Duration,
        /// Slow start has not been left, if the stack tells.
        slow_start: Option<bool>,
    },
    /// A packet was declared lost, if the stack tells.
    Lost {
        /// Its number.
        number: u64,
    },
    /// Data may be sent.
    Established,
    /// All that was asked for is there.
    Done,
}

/// A reader of the trace.
pub trait Sink {
    /// Whether it reads whole frames too. Frames are built only if this is true.
    const FRAMES: bool = false;
    /// Whether it follows packets from layer to layer. Steps are reported only if this is true.
    const STEPS: bool = false;

    /// Receives an event at `now`.
    fn event(&mut self, now: Instant, what: &TraceEvent);

    /// Receives a frame; called only if [`Sink::FRAMES`] is true.
    #[inline]
    fn frame(&mut self, _now: Instant, _what: &FrameView<'_>) {}

    /// Receives a packet's step; called only if [`Sink::STEPS`] is true.
    #[inline]
    fn step(&mut self, _now: Instant, _packets: &Packets, _what: &Step<'_>) {}
}

/// A sink that ignores everything, at no cost.
#[derive(Debug, Default)]
pub struct NoSink;

impl Sink for NoSink {
    #[inline]
    fn event(&mut self, _: Instant, _: &TraceEvent) {}
}

/// Two readers of the same trace.
#[derive(Debug, Default)]
pub struct Tee<A, B>(pub A, pub B);

impl<A: Sink, B: Sink> Sink for Tee<A, B> {
    const FRAMES: bool = A::FRAMES || B::FRAMES;
    const STEPS: bool = A::STEPS || B::STEPS;

    #[inline]
    fn event(&mut self, now: Instant, what: &TraceEvent) {
        self.0.event(now, what);
        self.1.event(now, what);
    }

    #[inline]
    fn frame(&mut self, now: Instant, what: &FrameView<'_>) {
        if A::FRAMES {
            self.0.frame(now, what);
        }
        if B::FRAMES {
            self.1.frame(now, what);
        }
    }

    #[inline]
    fn step(&mut self, now: Instant, packets: &Packets, what: &Step<'_>) {
        if A::STEPS {
            self.0.step(now, packets, what);
        }
        if B::STEPS {
            self.1.step(now, packets, what);
        }
    }
}

/// The part of the world that a part may act on: passed as an argument, never stored.
#[derive(Debug)]
pub struct Ctx<'a, S> {
    /// All packets.
    pub packets: &'a mut Packets,
    /// Where events are reported.
    pub trace: &'a mut S,
}

impl<S: Sink> Ctx<'_, S> {
    /// Tells a reader that follows packets of a step; nothing otherwise.
    #[inline(always)]
    pub fn step(&mut self, now: Instant, what: &Step<'_>) {
        if S::STEPS {
            self.trace.step(now, self.packets, what);
        }
    }

    /// Tells a reader that follows packets of each of these, of an A-MSDU each; nothing otherwise.
    #[inline(always)]
    pub fn each_step(
        &mut self,
        now: Instant,
        of: impl Iterator<Item = Pkt>,
        what: impl Fn(Pkt) -> Step<'static>,
    ) {
        if S::STEPS {
            let packets = &*self.packets;
            of.flat_map(|first| packets.amsdu(first)).for_each(|p| self.trace.step(now, packets, &what(p)));
        }
    }

    /// Drops a packet: reports it, books it, ends its charge; of an A-MSDU each.
    #[inline]
    pub fn drop(&mut self, now: Instant, p: Pkt, reason: Reason, place: PlaceId) {
        if self.packets.joins() {
            self.drop_joined(now, p, reason, place);
        } else {
            self.drop_one(now, p, reason, place);
        }
    }

    #[inline]
    fn drop_one(&mut self, now: Instant, p: Pkt, reason: Reason, place: PlaceId) {
        let hot = self.packets.get(p);
        self.trace.event(now, &TraceEvent::Dropped { flow: hot.flow, seq: hot.seq, reason, place });
        self.packets.free(p, Fate::Dropped(reason, place));
    }

    /// The same in a run that has A-MSDUs.
    #[cold]
    #[inline(never)]
    fn drop_joined(&mut self, now: Instant, p: Pkt, reason: Reason, place: PlaceId) {
        let mut next = Some(p);
        while let Some(p) = next {
            next = self.packets.take_msdu(p);
            self.drop_one(now, p, reason, place);
        }
    }

    /// Hands a packet to its application: reports it, books it, ends its charge.
    pub fn deliver(&mut self, now: Instant, p: Pkt) {
        self.step(now, &Step::Delivered { p });
        let hot = self.packets.get(p);
        let delay = now - hot.t_sent;
        self.trace.event(
            now,
            &TraceEvent::Delivered {
                flow: hot.flow,
                kind: hot.kind,
                seq: hot.seq,
                len: hot.len,
                delay,
                src: hot.src,
            },
        );
        self.packets.free(p, Fate::Delivered);
    }
}
