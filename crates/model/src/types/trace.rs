//! Trace events, which the model's components report to a [`Sink`], and the context through which they act on
//! the world.
//!
//! Captures, logs, packet accounts and hashes are built from this stream; components do not log.

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
    /// An application received a packet.
    Delivered {
        /// Flow of the packet.
        flow: FlowId,
        /// Kind of the packet.
        kind: PacketKind,
        /// Sequence number in the flow.
        seq: u32,
        /// Length in bytes from the IP header on.
        len: u32,
        /// Time since the sender created the packet. For a `udp`, `voip` or `video` datagram: time since its
        /// scheduled departure.
        delay: Duration,
        /// Source address.
        src: Addr,
    },
    /// A ping sent a request.
    Asked {
        /// Flow of the ping.
        flow: FlowId,
        /// Sequence number of the request.
        seq: u32,
    },
    /// An application read bytes of a stream, in order.
    Read {
        /// Flow of the stream.
        flow: FlowId,
        /// Direction: true if the end that opened the connection sent the bytes.
        forth: bool,
        /// Number of bytes.
        bytes: u32,
    },
    /// A web page is complete.
    Loaded {
        /// Flow of the page.
        flow: FlowId,
        /// Page load time.
        took: Duration,
    },
    /// A probe of a responsiveness test was answered.
    Probed {
        /// Flow of the test.
        flow: FlowId,
        /// Kind of the probe.
        probe: Probe,
        /// Measured time.
        took: Duration,
    },
    /// An event of a QUIC connection.
    Quic {
        /// Flow of the connection.
        flow: FlowId,
        /// The event.
        what: QuicTrace,
    },
    /// A packet was dropped.
    Dropped {
        /// Flow of the packet.
        flow: FlowId,
        /// Sequence number in the flow.
        seq: u32,
        /// Time at which the sender created the packet, or scheduled departure of a datagram.
        sent: Instant,
        /// Source address.
        src: Addr,
        /// Reason of the drop.
        reason: Reason,
        /// Place of the drop.
        place: PlaceId,
    },
    /// A source skipped datagrams that were due, because its send buffer is full.
    Skipped {
        /// Flow of the datagrams.
        flow: FlowId,
        /// Number of datagrams.
        datagrams: u32,
    },
    /// The network made a copy of a packet.
    Doubled {
        /// Flow of the packet.
        flow: FlowId,
        /// Kind of the packet.
        kind: PacketKind,
        /// Sequence number in the flow.
        seq: u32,
    },
    /// One try of a PPDU has ended, acknowledged or not.
    Ppdu(PpduTry),
}

/// An event of a QUIC connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QuicTrace {
    /// The data sender's socket passed a datagram to its host. The datagram is then sent, or dropped before
    /// it reaches the device.
    HandedDown {
        /// Packet number (of the last packet, if there are several). Zero if the stack does not report it.
        number: u64,
    },
    /// A datagram was handed to the device of the sending host, where a packet capture sees it.
    Sent {
        /// Address of the sending host.
        src: Addr,
        /// Packet number (of the last packet, if there are several). Zero if the stack does not report it.
        number: u64,
        /// UDP payload in bytes.
        len: u32,
        /// The long-header packets in the datagram, if the stack reports them.
        long: LongPackets,
    },
    /// A host received a datagram.
    Received {
        /// Address of the sending host.
        src: Addr,
        /// Packet number (of the last packet, if there are several). Zero if the stack does not report it.
        number: u64,
        /// UDP payload in bytes.
        len: u32,
        /// The long-header packets in the datagram, if the stack reports them.
        long: LongPackets,
        /// Largest acknowledged packet number. Zero if the datagram has no acknowledgement or the stack does
        /// not report it.
        acked: u64,
    },
    /// The data sender has processed a datagram.
    Window {
        /// Congestion window in bytes.
        cwnd: u64,
        /// Bytes in flight, if the stack reports them.
        in_flight: u64,
        /// Smoothed round-trip time; zero before the first sample.
        srtt: Duration,
        /// True during the connection's first slow start. `None` if the stack does not report it.
        slow_start: Option<bool>,
    },
    /// A packet was declared lost. Only from stacks that report it.
    Lost {
        /// Packet number.
        number: u64,
    },
    /// The handshake is complete: data can be sent.
    Established,
    /// All requested data was received.
    Done,
}

/// A reader of the trace.
pub trait Sink {
    /// True if the sink reads frames, which are built only then.
    const FRAMES: bool = false;
    /// True if the sink follows packets from layer to layer. Steps are reported only then.
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

/// Two sinks that read the same trace.
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

/// The part of the world that a component may act on: passed as an argument, never stored.
#[derive(Debug)]
pub struct Ctx<'a, S> {
    /// All packets.
    pub packets: &'a mut Packets,
    /// The sink for events.
    pub trace: &'a mut S,
}

impl<S: Sink> Ctx<'_, S> {
    /// Reports a step, if the sink follows packets.
    #[inline(always)]
    pub fn step(&mut self, now: Instant, what: &Step<'_>) {
        if S::STEPS {
            self.trace.step(now, self.packets, what);
        }
    }

    /// Reports a step of each packet, and of each packet in an A-MSDU, if the sink follows packets.
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

    /// Drops a packet, or each packet of an A-MSDU: reports the drop, counts it, and ends the charge.
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
        let (flow, seq, sent, src) = (hot.flow, hot.seq, hot.t_sent, hot.src);
        self.trace.event(now, &TraceEvent::Dropped { flow, seq, sent, src, reason, place });
        self.packets.free(p, Fate::Dropped(reason, place));
    }

    /// Drops a packet in a run that has A-MSDUs.
    #[cold]
    #[inline(never)]
    fn drop_joined(&mut self, now: Instant, p: Pkt, reason: Reason, place: PlaceId) {
        let mut next = Some(p);
        while let Some(p) = next {
            next = self.packets.take_msdu(p);
            self.drop_one(now, p, reason, place);
        }
    }

    /// Delivers a packet to its application: reports the delivery, counts it, and ends the charge.
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
