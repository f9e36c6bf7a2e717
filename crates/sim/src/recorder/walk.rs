//! The path of one packet: its places, from its sender to its end.

use std::collections::{BTreeMap, VecDeque};

use serde::Serialize;
use stillair_model::vocabulary::{
    Addr, FlowId, FrameView, Instant, Packet, PlaceId, PpduView, Sink, TraceEvent, WireId, WirePacket,
};
use stillair_model::wifi::phy::PhyRate;

/// Packets whose steps are kept until one is chosen; of more the oldest are forgotten.
const MOST: usize = 1 << 16;

/// Packets of several segments that are remembered, to know of a segment when it was handed down.
const BURSTS: usize = 256;

/// Where a packet was seen. Times are in ns.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Step {
    /// Its sender made it.
    Created {
        /// When.
        at_ns: u64,
        /// Bytes from the IP header on.
        bytes: u32,
    },
    /// It was handed to the device that feeds a wire.
    Sent {
        /// When.
        at_ns: u64,
        /// Number of the wire.
        wire: usize,
        /// Segments that it stands for.
        segments: u16,
    },
    /// It has reached the end of a wire.
    Wire {
        /// When.
        at_ns: u64,
        /// Number of the wire.
        wire: usize,
    },
    /// Its host took it from the device at the end of a wire.
    Received {
        /// When.
        at_ns: u64,
        /// Number of the wire.
        wire: usize,
    },
    /// It was on the air.
    Air {
        /// When the preamble of its PPDU began.
        at_ns: u64,
        /// When that PPDU ended.
        end_ns: u64,
        /// Number of the device that sent it.
        device: usize,
        /// 802.11 sequence number of its frame.
        sequence: u16,
        /// Place of its frame in the PPDU, from 0.
        position: usize,
        /// Frames of the PPDU.
        frames: usize,
        /// Try of the PPDU, from 0.
        attempt: u8,
        /// Its frame had been sent before.
        retry: bool,
        /// Its frame came whole.
        whole: bool,
        /// The PPDU met another.
        collided: bool,
        /// The sender got the acknowledgement.
        acknowledged: bool,
        /// Name of the rate.
        rate: String,
    },
    /// Its application, or its socket, has it.
    Delivered {
        /// When.
        at_ns: u64,
        /// Time since its sender made it.
        delay_ns: u64,
    },
    /// It was dropped.
    Dropped {
        /// When.
        at_ns: u64,
        /// Number of the place.
        place: usize,
        /// Why.
        reason: &'static str,
    },
}

/// A reader of the trace that follows the packets of a flow until one of them ends at or after an instant.
#[derive(Debug)]
pub struct Walk {
    flow: FlowId,
    /// Only packets from there.
    from: Option<Addr>,
    at: Instant,
    /// By sequence number.
    under_way: BTreeMap<u32, Vec<Step>>,
    /// First sequence number and bytes of each packet of several segments, and when it was handed down.
    bursts: VecDeque<(u32, u32, Step)>,
    /// The sequence number and the steps of the one that was found.
    pub found: Option<(u32, Vec<Step>)>,
}

impl Walk {
    /// Of `flow`, as far as packets come `from` there, if that is given.
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
            // A segment was handed down as a part of the packet that it was split from.
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
            TraceEvent::Dropped { flow, seq, reason, place } => {
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
