//! What was seen: per flow and per station, from the trace alone, and a hash of the whole trace.

mod hash;
mod series;
mod series_report;
mod summary;

pub use series::{Backlog, LAYERS, PingSample, STEP, Series};
pub use series_report::{SeriesReport, report};
pub use summary::{Drop, RunSummary, StationSummary, summarise};

use stillair_model::vocabulary::{Duration, Instant, Kind, PpduKind, PpduTry, Sink, Trace};

use hash::TraceHash;

/// Bytes of an IPv4 and a UDP header, which are not payload.
const HEADERS: u32 = 28;

/// Which way a frame goes, seen from the access point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// To a station.
    Down,
    /// From a station.
    Up,
}

/// What was seen of a flow after the warm-up.
#[derive(Clone, Debug, Default)]
pub struct FlowRecord {
    /// Station that the flow begins or ends at.
    pub station: Option<usize>,
    /// Bytes of UDP payload delivered.
    pub bytes: u64,
    /// Round-trip times of pings, in ns, in the order of their replies.
    pub rtts: Vec<u64>,
}

/// What was seen of a station after the warm-up.
#[derive(Clone, Debug, Default)]
pub struct StationRecord {
    /// Airtime of all tries of data sent to it and by it.
    pub airtime: [Duration; 2],
    /// Data PPDUs sent to it and by it, each counted once.
    pub ppdus: [u64; 2],
    /// Frames in them.
    pub mpdus: [u64; 2],
}

/// The recorder of a run.
#[derive(Debug)]
pub struct Recorder {
    /// Nothing before is measured; the hash covers everything.
    pub measure_from: Instant,
    /// By flow.
    pub flows: Vec<FlowRecord>,
    /// By station, in the order of the scenario.
    pub stations: Vec<StationRecord>,
    /// By device and peer: the station whose airtime it is.
    pub links: Vec<Vec<(usize, Direction)>>,
    /// What happened step by step, if that is wanted.
    pub series: Option<Series>,
    hash: TraceHash,
}

impl Recorder {
    /// A recorder for flows and stations; `links` says for each device and each of its peers whose airtime is used.
    pub fn new(
        measure_from: Instant,
        flows: Vec<FlowRecord>,
        stations: usize,
        links: Vec<Vec<(usize, Direction)>>,
    ) -> Self {
        let stations = vec![StationRecord::default(); stations];
        Self { measure_from, flows, stations, links, series: None, hash: TraceHash::default() }
    }

    /// The hash of all that was traced so far.
    pub fn trace_hash(&self) -> u64 {
        self.hash.finish()
    }

    fn ppdu(&mut self, now: Instant, t: &PpduTry) {
        if !matches!(t.kind, PpduKind::Single | PpduKind::Aggregate) {
            return;
        }
        let (station, direction) = self.links[t.dev.index()][t.peer.index()];
        if let Some(series) = &mut self.series {
            series.ppdu(t, station, direction);
        }
        if now < self.measure_from {
            return;
        }
        let record = &mut self.stations[station];
        record.airtime[direction as usize] += t.airtime;
        if t.attempt == 0 {
            record.ppdus[direction as usize] += 1;
            record.mpdus[direction as usize] += u64::from(t.mpdus);
        }
    }
}

impl Sink for Recorder {
    #[inline]
    fn event(&mut self, now: Instant, what: &Trace) {
        self.hash.add(now, what);
        if let Some(series) = &mut self.series {
            series.event(now, what);
        }
        match what {
            Trace::Ppdu(t) => self.ppdu(now, t),
            _ if now < self.measure_from => {}
            Trace::Delivered { flow, kind, len, delay, .. } => {
                let record = &mut self.flows[flow.index()];
                match kind {
                    Kind::Udp => record.bytes += u64::from(len - HEADERS),
                    Kind::EchoReply => record.rtts.push(delay.nanos()),
                    Kind::EchoRequest => {}
                }
            }
            Trace::Dropped { .. } => {}
        }
    }
}
