//! Measurements in each step of a run, from the start of the run, including the warm-up.
//!
//! Memory for all steps is allocated before the run, or for the last steps if the run has no end ([`LAST`]).
//! The driver of the world ends a step at its boundary, so an event only adds to the current row and does not
//! check the time.

use stillair_model::types::{
    Ac, Duration, FlowId, Instant, PacketKind, PlaceId, PpduKind, PpduTry, Reason, TraceEvent,
};

use super::occupancy::{Backlog, Occupancy};
use super::{Direction, payload};

/// Length of a step, which is Flent's sampling interval.
pub const STEP: Duration = Duration::from_millis(200);

/// Minimum number of steps kept for a run without a fixed end: one hour.
pub const LAST: usize = 18_000;

/// Data to and from a station in one step and access category.
// 32 bits are far more than the airtime of a step needs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cell {
    pub(super) airtime_ns: [u32; 2],
    pub(super) ppdus: [u32; 2],
    pub(super) mpdus: [u32; 2],
}

/// A ping reply, a packet of a VoIP call, a page load, or a probe of a responsiveness test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sample {
    /// Time of reception, or end of the load or probe.
    pub at: Instant,
    /// Time since the request or packet was sent, or since the load or probe started.
    pub delay: Duration,
    /// Sequence number of the request or packet, number of the load, or kind of the probe.
    pub seq: u32,
}

/// Packets dropped in one step at one place for one reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct DropStep {
    pub(super) step: u32,
    pub(super) place: PlaceId,
    pub(super) reason: usize,
    pub(super) packets: u32,
}

/// Steps of a run. An event at a boundary belongs to the step that starts there. A PPDU belongs to the step
/// in which its exchange ended.
#[derive(Debug)]
pub struct Series {
    n_flows: usize,
    n_stations: usize,
    /// Number of discarded steps, all before the kept ones.
    gone: u32,
    /// Index of the current step among the kept ones.
    step: u32,
    /// Number of steps after which the first half is discarded. `None` for a run with a fixed end.
    most: Option<usize>,
    /// Bytes by step and flow.
    pub(super) bytes: Vec<u64>,
    /// Cells by step, station and category.
    pub(super) cells: Vec<Cell>,
    /// Samples by flow.
    pub(super) samples: Vec<Vec<Sample>>,
    /// Pages loaded so far, by flow.
    loads: Vec<u32>,
    /// Backlogs at the end of each step.
    pub(super) occupancy: Occupancy,
    /// Drops ordered by step, place and reason.
    pub(super) drops: Vec<DropStep>,
    /// Drops in the current step, by place and reason.
    dropping: Vec<[u32; Reason::COUNT]>,
}

impl Series {
    /// Allocates memory for all steps of a run of `duration`. For a run without a fixed end, keeps the last
    /// 18,000 to 36,000 steps.
    pub fn new(
        duration: Option<Duration>,
        flows: usize,
        stations: usize,
        places: usize,
        interfaces: usize,
    ) -> Self {
        let steps = duration.map_or(2 * LAST, |duration| duration.div_ceil(STEP) as usize);
        Self {
            n_flows: flows,
            n_stations: stations,
            gone: 0,
            step: 0,
            most: duration.is_none().then_some(steps),
            bytes: vec![0; steps * flows],
            cells: vec![Cell::default(); steps * stations * Ac::ALL.len()],
            samples: vec![Vec::new(); flows],
            loads: vec![0; flows],
            occupancy: Occupancy::new(steps, interfaces),
            drops: Vec::new(),
            dropping: vec![[0; Reason::COUNT]; places],
        }
    }

    /// Records an event in the current step.
    #[inline]
    pub(super) fn event(&mut self, now: Instant, what: &TraceEvent) {
        match *what {
            TraceEvent::Delivered { flow, kind: PacketKind::Udp, len, src, .. } => {
                self.bytes[self.step as usize * self.n_flows + flow.index()] += payload(len, src);
            }
            TraceEvent::Delivered { flow, kind: PacketKind::Voip, len, seq, delay, src } => {
                self.bytes[self.step as usize * self.n_flows + flow.index()] += payload(len, src);
                self.sample(flow, Sample { at: now, delay, seq });
            }
            TraceEvent::Delivered {
                flow,
                kind: PacketKind::EchoReply | PacketKind::UdpReply,
                seq,
                delay,
                ..
            } => {
                self.sample(flow, Sample { at: now, delay, seq });
            }
            TraceEvent::Read { flow, bytes, .. } => {
                self.bytes[self.step as usize * self.n_flows + flow.index()] += u64::from(bytes);
            }
            TraceEvent::Loaded { flow, took } => {
                let seq = self.loads[flow.index()];
                self.loads[flow.index()] += 1;
                self.sample(flow, Sample { at: now, delay: took, seq });
            }
            TraceEvent::Probed { flow, probe, took } => {
                self.sample(flow, Sample { at: now, delay: took, seq: probe as u32 });
            }
            TraceEvent::Delivered {
                kind:
                    PacketKind::EchoRequest
                    | PacketKind::UdpRequest
                    | PacketKind::Tcp
                    | PacketKind::Quic
                    | PacketKind::Query
                    | PacketKind::Answer
                    | PacketKind::External,
                ..
            }
            | TraceEvent::Asked { .. }
            | TraceEvent::Skipped { .. }
            | TraceEvent::Doubled { .. }
            | TraceEvent::Quic { .. }
            | TraceEvent::Ppdu(_) => {}
            TraceEvent::Dropped { reason, place, .. } => self.dropping[place.index()][reason as usize] += 1,
        }
    }

    fn sample(&mut self, flow: FlowId, sample: Sample) {
        self.samples[flow.index()].push(sample);
    }

    /// Records one try of a PPDU to or from a station.
    pub(super) fn ppdu(&mut self, t: &PpduTry, station: usize, direction: Direction) {
        debug_assert!(matches!(t.kind, PpduKind::Single | PpduKind::Aggregate));
        let row = self.step as usize * self.n_stations + station;
        let cell = &mut self.cells[row * Ac::ALL.len() + t.ac.index()];
        cell.airtime_ns[direction as usize] += t.airtime.nanos() as u32;
        if t.attempt == 0 {
            cell.ppdus[direction as usize] += 1;
            cell.mpdus[direction as usize] += u32::from(t.mpdus);
        }
    }

    /// Ends the current step and records the backlog of each interface.
    pub fn end_step(&mut self, backlogs: impl Iterator<Item = Backlog>) {
        self.occupancy.push(backlogs);
        for (place, counts) in self.dropping.iter_mut().enumerate() {
            for (reason, count) in counts.iter_mut().enumerate().filter(|(_, count)| **count > 0) {
                let (place, packets) = (PlaceId::from_index(place), core::mem::take(count));
                self.drops.push(DropStep { step: self.step, place, reason, packets });
            }
        }
        self.step += 1;
        if self.most == Some(self.steps()) {
            self.let_go(LAST);
        }
    }

    /// Discards the first kept steps.
    #[cold]
    fn let_go(&mut self, steps: usize) {
        fn shift<T: Default + Clone>(rows: &mut Vec<T>, by: usize) {
            rows.drain(..by);
            rows.resize(rows.len() + by, T::default());
        }
        self.gone += steps as u32;
        self.step -= steps as u32;
        shift(&mut self.bytes, steps * self.n_flows);
        shift(&mut self.cells, steps * self.n_stations * Ac::ALL.len());
        self.occupancy.let_go(steps);
        self.drops.retain_mut(|drop| {
            let kept = drop.step as usize >= steps;
            drop.step = drop.step.wrapping_sub(steps as u32);
            kept
        });
        let from = Instant::ZERO + STEP * u64::from(self.gone);
        self.samples.iter_mut().for_each(|samples| samples.retain(|sample| sample.at >= from));
    }

    /// Returns the number of completed steps kept.
    pub fn steps(&self) -> usize {
        self.step as usize
    }

    /// Returns the number of discarded steps.
    pub fn gone(&self) -> usize {
        self.gone as usize
    }
}
