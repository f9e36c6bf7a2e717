//! Reports of packet delays by layer and cause.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Sojourn;
use super::cells::{Cause, Layer};
use super::delivery::DeliveryReport;
use super::parts::{Bucket, Histogram, SlowStay, Slowest, WAYS};

/// Delays of a run's packets by layer and cause, as reported to front ends.
#[derive(Clone, Debug, Serialize)]
pub struct SojournReport {
    /// One in `sample` packets was followed.
    sample: u64,
    /// Names of layers and causes, indexed by `cells`.
    layers: [&'static str; Layer::COUNT],
    causes: [&'static str; Cause::COUNT],
    /// Delays by flow name.
    flows: BTreeMap<String, HistogramReport>,
    /// Slowest packet by flow name.
    slowest: BTreeMap<String, SlowestReport>,
    /// Packets sent, received and dropped by flow name.
    delivery: BTreeMap<String, DeliveryReport>,
    /// Delays by station name and direction.
    stations: BTreeMap<String, BTreeMap<&'static str, HistogramReport>>,
}

/// Packets by delay, shortest first, with the parts of each bucket's delay.
#[derive(Clone, Debug, Serialize)]
struct HistogramReport {
    /// Used cells: layer number and cause number.
    cells: Vec<(usize, usize)>,
    /// Packets per bucket.
    packets: Vec<u64>,
    /// Sum of the delays per bucket.
    delay_ns: Vec<u64>,
    /// Sum of the times by bucket and cell.
    parts_ns: Vec<Vec<u64>>,
    /// Used places: interface and layer number.
    places: Vec<(String, usize)>,
    /// Sum of the times by bucket and place.
    places_ns: Vec<Vec<u64>>,
}

/// Slowest packet of a flow.
#[derive(Clone, Debug, Serialize)]
struct SlowestReport {
    sent_ns: u64,
    delay_ns: u64,
    /// Consecutive stays of the packet.
    steps: Vec<StepReport>,
}

/// A stay of the packet in a layer.
#[derive(Clone, Debug, Serialize)]
struct StepReport {
    layer: &'static str,
    /// Interface of the stay, if it is at one.
    interface: Option<String>,
    from_ns: u64,
    until_ns: u64,
    /// Time by cause.
    causes_ns: BTreeMap<&'static str, u64>,
}

/// Delays of a group of packets by layer and cause, summed over the packets.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SojournTimes {
    /// Number of packets followed.
    pub packets: u64,
    /// Sum of their delays in ns.
    pub delay_ns: u64,
    /// Layer, cause, and sum of the times in ns. Time in `socket` precedes the delay; all other times add up
    /// to `delay_ns`.
    pub cells: Vec<(&'static str, &'static str, u64)>,
}

impl SojournReport {
    /// Returns the times of a station's packets in one direction: `down`, `up` or `round_trip`. `None`
    /// without packets.
    pub fn station(&self, name: &str, way: &str) -> Option<SojournTimes> {
        Some(self.stations.get(name)?.get(way)?.times())
    }

    /// Returns the times of a flow's packets. `None` without packets.
    pub fn flow(&self, name: &str) -> Option<SojournTimes> {
        self.flows.get(name).map(HistogramReport::times)
    }
}

impl HistogramReport {
    fn times(&self) -> SojournTimes {
        let sum = |cell: usize| self.parts_ns.iter().map(|parts| parts[cell]).sum();
        let named = |(cell, &(layer, cause)): (usize, &(usize, usize))| {
            (Layer::NAMES[layer], Cause::NAMES[cause], sum(cell))
        };
        SojournTimes {
            packets: self.packets.iter().sum(),
            delay_ns: self.delay_ns.iter().sum(),
            cells: self.cells.iter().enumerate().map(named).collect(),
        }
    }
}

impl SlowestReport {
    fn of(slowest: &Slowest, interfaces: &[String]) -> Self {
        let step = |stay: &SlowStay| StepReport {
            layer: Layer::NAMES[stay.layer as usize],
            interface: stay.interface.and_then(|n| interfaces.get(n).cloned()),
            from_ns: stay.from,
            until_ns: stay.until,
            causes_ns: stay.cells.show().into_iter().map(|(_, cause, ns)| (cause, ns)).collect(),
        };
        let (sent_ns, delay_ns) = (slowest.began, slowest.delay);
        Self { sent_ns, delay_ns, steps: slowest.stays.iter().map(step).collect() }
    }
}

impl HistogramReport {
    fn of(histogram: &Histogram, interfaces: &[String]) -> Self {
        let all = || histogram.all();
        let used = |&(layer, cause): &(usize, usize)| all().any(|b| b.cells.of(layer, cause) > 0);
        let each = (0..Layer::COUNT).flat_map(|layer| (0..Cause::COUNT).map(move |cause| (layer, cause)));
        let cells: Vec<_> = each.filter(used).collect();
        let parts = all().map(|b| cells.iter().map(|&(l, c)| b.cells.of(l, c)).collect());
        let mut places: Vec<u32> = all().flat_map(|b| &b.places).map(|(place, _)| *place).collect();
        places.sort_unstable();
        places.dedup();
        let time =
            |b: &Bucket, place: &u32| b.places.iter().find(|(p, _)| p == place).map_or(0, |(_, ns)| *ns);
        let name = |place: &u32| {
            let (interface, layer) = (*place as usize / Layer::COUNT, *place as usize % Layer::COUNT);
            (interfaces.get(interface).cloned().unwrap_or_default(), layer)
        };
        Self {
            places: places.iter().map(name).collect(),
            places_ns: all().map(|b| places.iter().map(|place| time(b, place)).collect()).collect(),
            packets: all().map(|b| b.packets).collect(),
            delay_ns: all().map(|b| b.delay).collect(),
            parts_ns: parts.collect(),
            cells,
        }
    }
}

impl Sojourn {
    /// Returns the report, with the names of flows, stations, interfaces, and places of drops.
    pub fn report(
        &self,
        flows: &[String],
        stations: &[String],
        interfaces: &[String],
        places: &[String],
    ) -> SojournReport {
        let met = |h: &Histogram| h.all().next().is_some();
        let of_flows = flows.iter().zip(&self.parts.flows).filter(|(_, h)| met(h));
        let ways = |of: &[Histogram; WAYS.len()]| {
            let all = WAYS.into_iter().zip(of).filter(|(_, h)| met(h));
            all.map(|(way, h)| (way, HistogramReport::of(h, interfaces))).collect::<BTreeMap<_, _>>()
        };
        let of_stations =
            stations.iter().zip(&self.parts.stations).map(|(name, of)| (name.clone(), ways(of)));
        let slowest = flows
            .iter()
            .zip(&self.parts.slowest)
            .filter_map(|(name, found)| Some((name.clone(), SlowestReport::of(found.as_ref()?, interfaces))));
        let delivery = flows.iter().zip(self.delivery.report(places));
        SojournReport {
            delivery: delivery.filter_map(|(name, of)| Some((name.clone(), of?))).collect(),
            slowest: slowest.collect(),
            sample: self.every,
            layers: Layer::NAMES,
            causes: Cause::NAMES,
            flows: of_flows.map(|(name, h)| (name.clone(), HistogramReport::of(h, interfaces))).collect(),
            stations: of_stations.filter(|(_, ways)| !ways.is_empty()).collect(),
        }
    }
}
