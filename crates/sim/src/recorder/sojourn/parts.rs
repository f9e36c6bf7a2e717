//! Delay histograms with their parts, for each flow and for each station and direction. Each bucket holds the
//! sums of its packets' times by layer and cause.

use super::cells::{Cause, Cells, Few, Layer};

/// Log2 of the number of buckets per octave.
const FINE: u32 = 5;

/// Returns the cause of time in a layer where packets do not wait for a resource.
pub(super) const fn by_itself(layer: Layer, leaves: bool) -> Cause {
    match layer {
        Layer::Wire if leaves => Cause::Serialise,
        Layer::Wire => Cause::Propagate,
        Layer::Reorder => Cause::Missing,
        Layer::Socket => Cause::SendBuffer,
        _ => Cause::Wake,
    }
}

/// Packets of similar delay.
#[derive(Clone, Debug)]
pub(super) struct Bucket {
    pub(super) packets: u64,
    /// Sum of their delays in ns.
    pub(super) delay: u64,
    /// Sums of their cells.
    pub(super) cells: Cells,
    /// Sums of their time in each place, a number that combines interface and layer.
    pub(super) places: Vec<(u32, u64)>,
}

/// Histogram of delays with their parts.
#[derive(Clone, Debug, Default)]
pub(super) struct Histogram {
    /// Buckets by number, up to the highest used.
    buckets: Vec<Option<Box<Bucket>>>,
}

/// Returns the bucket of a delay: one per ns in the first two octaves, then 32 per octave.
const fn bucket(ns: u64) -> u32 {
    let octave = 63 - FINE - (ns | 1 << FINE).leading_zeros();
    (octave << FINE) + (ns >> octave) as u32
}

impl Histogram {
    fn add(&mut self, delay: u64, cells: &Few, places: &[(u32, u64)]) {
        let at = bucket(delay) as usize;
        if self.buckets.len() <= at {
            self.buckets.resize(at + 1, None);
        }
        let empty = || Box::new(Bucket { packets: 0, delay: 0, cells: Cells::default(), places: Vec::new() });
        let bucket = self.buckets[at].get_or_insert_with(empty);
        bucket.packets += 1;
        bucket.delay += delay;
        cells.add_to(&mut bucket.cells);
        for &(place, ns) in places {
            match bucket.places.iter_mut().find(|(known, _)| *known == place) {
                Some((_, sum)) => *sum += ns,
                None => bucket.places.push((place, ns)),
            }
        }
    }

    /// Returns the used buckets, shortest delays first.
    pub(super) fn all(&self) -> impl Iterator<Item = &Bucket> {
        self.buckets.iter().flatten().map(|bucket| &**bucket)
    }
}

/// Directions, as seen from the access point.
pub(super) const WAYS: [&str; 3] = ["down", "up", "round_trip"];

/// All histograms.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    /// Histograms by flow.
    pub(super) flows: Vec<Histogram>,
    /// Histograms by station and direction.
    pub(super) stations: Vec<[Histogram; WAYS.len()]>,
    /// Slowest packet of each flow.
    pub(super) slowest: Vec<Option<Slowest>>,
}

/// The slowest packet of a flow.
#[derive(Clone, Debug)]
pub(super) struct Slowest {
    pub(super) delay: u64,
    pub(super) began: u64,
    pub(super) stays: Vec<SlowStay>,
}

/// A stay of the slowest packet: layer, start, end, and causes.
#[derive(Clone, Debug)]
pub(super) struct SlowStay {
    pub(super) layer: Layer,
    pub(super) interface: Option<usize>,
    pub(super) from: u64,
    pub(super) until: u64,
    pub(super) cells: Cells,
}

impl Parts {
    pub(super) fn new(flows: usize) -> Self {
        Self { flows: vec![Histogram::default(); flows], stations: Vec::new(), slowest: vec![None; flows] }
    }

    /// Returns true if a packet is slower than all before in its flow.
    pub(super) fn is_slowest(&self, flow: usize, delay: u64) -> bool {
        self.slowest.get(flow).is_some_and(|known| known.as_ref().is_none_or(|known| delay > known.delay))
    }

    pub(super) fn add(
        &mut self,
        flow: usize,
        hop: Option<(u32, u8)>,
        round: bool,
        delay: u64,
        (cells, places): (&Few, &[(u32, u64)]),
    ) {
        if let Some(histogram) = self.flows.get_mut(flow) {
            histogram.add(delay, cells, places);
        }
        let Some((station, way)) = hop else { return };
        let (station, way) = (station as usize, if round { 2 } else { usize::from(way) });
        if self.stations.len() <= station {
            self.stations.resize(station + 1, Default::default());
        }
        self.stations[station][way].add(delay, cells, places);
    }
}
