//! Occupancy of each layer of each interface, from the socket down, sampled at a fixed interval.

use serde::Serialize;
use stillair_model::types::Duration;

use crate::scenario::Scenario;

/// Layers of an interface in the order of [`Backlog`]: the transmit path from the socket down, then the
/// receiver's reorder buffer.
pub const LAYERS: [&str; 6] = ["socket", "qdisc", "driver", "hardware", "wire", "reorder"];

/// Backlog of a layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LayerBacklog {
    /// Packets. In a socket: full segments, of which the last may be shorter.
    pub packets: u32,
    /// Bytes as counted by qdiscs, from the Ethernet header on. In a socket: payload.
    pub bytes: u64,
}

impl core::ops::AddAssign for LayerBacklog {
    fn add_assign(&mut self, other: Self) {
        self.packets += other.packets;
        self.bytes += other.bytes;
    }
}

/// Backlog of each of the [`LAYERS`] of an interface.
pub type Backlog = [LayerBacklog; LAYERS.len()];

/// Samples of all interfaces.
#[derive(Clone, Debug, Default)]
pub struct Occupancy {
    /// Backlogs by sample and interface.
    samples: Vec<Backlog>,
    /// Number of interfaces.
    interfaces: usize,
}

impl Occupancy {
    /// Creates an empty record with memory for this many samples.
    pub fn new(samples: usize, interfaces: usize) -> Self {
        Self { samples: Vec::with_capacity(samples * interfaces), interfaces }
    }

    /// Discards the first samples.
    pub(super) fn let_go(&mut self, samples: usize) {
        self.samples.drain(..samples * self.interfaces);
    }

    /// Records a sample of all interfaces.
    pub fn push(&mut self, interfaces: impl Iterator<Item = Backlog>) {
        self.samples.extend(interfaces);
    }

    /// Returns the samples by interface and layer. Layers that were never used are omitted.
    pub(super) fn queues(&self, scenario: &Scenario) -> Vec<QueueSeries> {
        let names = scenario.interface_names();
        let mut all = Vec::new();
        for (interface, name) in names.iter().enumerate() {
            for (l, layer) in LAYERS.into_iter().enumerate() {
                let samples = self.samples.iter().skip(interface).step_by(names.len()).map(|b| b[l]);
                if samples.clone().any(|waiting| waiting.packets > 0) {
                    let (packets, bytes) = samples.map(|waiting| (waiting.packets, waiting.bytes)).unzip();
                    all.push(QueueSeries { interface: name.clone(), layer, packets, bytes });
                }
            }
        }
        all
    }

    /// Returns the samples as reported to front ends. The first sample is taken one `interval` after the
    /// start.
    pub fn report(&self, scenario: &Scenario, interval: Duration) -> OccupancyReport {
        let interfaces = scenario.interface_names().len();
        let samples = self.samples.len().checked_div(interfaces).unwrap_or(0);
        OccupancyReport { interval_ns: interval.nanos(), samples, queues: self.queues(scenario) }
    }
}

/// Samples of one layer of an interface.
#[derive(Clone, Debug, Serialize)]
pub(super) struct QueueSeries {
    interface: String,
    layer: &'static str,
    packets: Vec<u32>,
    bytes: Vec<u64>,
}

/// Samples of a run, one every `interval_ns`. The first is taken one interval after the start.
#[derive(Clone, Debug, Serialize)]
pub struct OccupancyReport {
    interval_ns: u64,
    samples: usize,
    queues: Vec<QueueSeries>,
}
