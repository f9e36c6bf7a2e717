//! Path of one packet: the places where it was observed, from the sender to its end.

use std::collections::{BTreeMap, VecDeque};

use serde::Serialize;
use stillair_model::types::{
    Addr, FlowId, FrameView, Instant, Packet, PlaceId, PpduView, Sink, TraceEvent, WireId, WirePacket,
};
use stillair_model::wifi::phy::PhyRate;

/// Maximum number of packets whose steps are kept until one is chosen. The oldest are discarded.
const MOST: usize = 1 << 16;

/// Remembered packets of several segments, for the handover time of their segments.
const BURSTS: usize = 256;

/// Observation of a packet. Times are in ns from the start of the run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Step {
    /// The sender created the packet.
    Created {
        /// Time of creation.
        at_ns: u64,
        /// Bytes from the IP header on.
        bytes: u32,
    },
    /// The packet was passed to the device of a wire.
    Sent {
        /// Time of the handover.
        at_ns: u64,
        /// Number of the wire.
        wire: usize,
        /// Segments in the packet (TSO).
        segments: u16,
    },
    /// The packet reached the end of a wire.
    Wire {
        /// Time of arrival.
        at_ns: u64,
        /// Number of the wire.
        wire: usize,
    },
    /// The host read the packet from the device at the end of a wire.
    Received {
        /// Time of the read.
        at_ns: u64,
        /// Number of the wire.
        wire: usize,
    },
    /// The packet's frame was sent on the air.
    Air {
        /// Start of the PPDU's preamble.
        at_ns: u64,
        /// End of the PPDU.
        end_ns: u64,
        /// Number of the sending device.
        device: usize,
        /// 802.11 sequence number of the frame.
        sequence: u16,
        /// Index of the frame in the PPDU, from 0.
        position: usize,
        /// Number of frames in the PPDU.
        frames: usize,
        /// Number of the PPDU's try, from 0.
        attempt: u8,
        /// True if the frame had been sent before.
        retry: bool,
        /// True if the frame was received without errors.
        whole: bool,
        /// True if the PPDU collided.
        collided: bool,
        /// True if the sender received the acknowledgement.
        acknowledged: bool,
        /// Name of the rate.
        rate: String,
    },
    /// The packet reached its application or its socket.
    Delivered {
        /// Time of delivery.
        at_ns: u64,
        /// Time since the sender created the packet.
        delay_ns: u64,
    },
    /// The packet was dropped.
    Dropped {
        /// Time of the drop.
        at_ns: u64,
        /// Number of the place.
        place: usize,
        /// Reason of the drop.
        reason: &'static str,
    },
}

/// Trace sink that follows the packets of a flow until one is delivered or dropped at or after a given
/// instant.
#[derive(Debug)]
pub struct Walk {
    flow: FlowId,
    /// Source address of the packets to follow; `None` for any.
    from: Option<Addr>,
    at: Instant,
    /// Steps of the packets in flight, by sequence number.
    under_way: BTreeMap<u32, Vec<Step>>,
    /// First sequence number, bytes and handover of each packet of several segments.
    bursts: VecDeque<(u32, u32, Step)>,
    /// Sequence number and observations of the packet found.
    pub found: Option<(u32, Vec<Step>)>,
}

impl Walk {
    /// Follows packets of `flow`, only those from `from` if given, until one ends at or after `at`.
    pub fn new(flow: FlowId, from: Option<Addr>, at: Instant) -> Self {
        Self { flow, from, at, under_way: BTreeMap::new(), bursts: VecDeque::new(), found: None }
    }

    fn step(&mut self, p: &Packet, step: Step) {
        if p.flow != self.flow || self.found.is_some() || self.from.is_some_and(|from| p.src != from) {
            return;
        }
        if self.under_way.len() >= MOST && !self.under_way.contains_key(&p.seq) {
            self.under_way.pop_first();
        }
        let bursts = &mut self.bursts;
        if let Step::Sent { segments: 2.., .. } = step {
            bursts.truncate(BURSTS - 1);
            bursts.push_front((p.seq, p.len, step.clone()));
        }
        let created = || {
            let made = Step::Created { at_ns: p.t_sent.nanos(), bytes: p.len };
            // A segment was handed over as part of the packet that it was split from.
            let within =
                |&&(first, bytes, _): &&(u32, u32, Step)| (1..bytes).contains(&p.seq.wrapping_sub(first));
            let before = bursts.iter().filter(within).min_by_key(|&&(first, ..)| p.seq.wrapping_sub(first));
            core::iter::once(made).chain(before.map(|(.., sent)| sent.clone())).collect()
        };
        self.under_way.entry(p.seq).or_insert_with(created).push(step);
    }

    fn end(&mut self, now: Instant, flow: FlowId, seq: u32, step: Step) {
        if flow != self.flow || self.found.is_some() {
            return;
        }
        let Some(mut steps) = self.under_way.remove(&seq) else { return };
        if now >= self.at {
            steps.push(step);
            self.found = Some((seq, steps));
        }
    }

    fn air(&mut self, view: &PpduView<'_>) {
        let t = &view.tried;
        for (position, mpdu) in view.mpdus.iter().enumerate() {
            let packets = mpdu.packet.into_iter().flat_map(|first| view.packets.amsdu(first));
            for p in packets {
                let step = Step::Air {
                    at_ns: t.start.nanos(),
                    end_ns: (t.start + t.airtime).nanos(),
                    device: t.dev.index(),
                    sequence: mpdu.seq,
                    position,
                    frames: view.mpdus.len(),
                    attempt: t.attempt,
                    retry: mpdu.retry,
                    whole: mpdu.whole,
                    collided: t.collided,
                    acknowledged: t.acknowledged,
                    rate: PhyRate::of_code(view.rate).map(|rate| rate.to_string()).unwrap_or_default(),
                };
                self.step(view.packets.get(p), step);
            }
        }
    }
}

impl Sink for Walk {
    const FRAMES: bool = true;

    #[inline]
    fn event(&mut self, now: Instant, what: &TraceEvent) {
        let at_ns = now.nanos();
        match *what {
            TraceEvent::Delivered { flow, seq, delay, src, .. }
                if self.from.is_none_or(|from| from == src) =>
            {
                self.end(now, flow, seq, Step::Delivered { at_ns, delay_ns: delay.nanos() });
            }
            TraceEvent::Dropped { flow, seq, reason, place, .. } => {
                let place = PlaceId::index(place);
                self.end(now, flow, seq, Step::Dropped { at_ns, place, reason: reason.name() });
            }
            _ => {}
        }
    }

    fn frame(&mut self, now: Instant, what: &FrameView<'_>) {
        let at_ns = now.nanos();
        let seen = |walk: &mut Self, p: &WirePacket<'_>, step| walk.step(&p.headers(), step);
        let number = |wire: &WireId| wire.index();
        match what {
            FrameView::Air(view) => self.air(view),
            FrameView::Sent(wire, p) => {
                seen(self, p, Step::Sent { at_ns, wire: number(wire), segments: p.headers().segs });
            }
            FrameView::Wire(wire, p) => seen(self, p, Step::Wire { at_ns, wire: number(wire) }),
            FrameView::Received(wire, p) => seen(self, p, Step::Received { at_ns, wire: number(wire) }),
        }
    }
}
