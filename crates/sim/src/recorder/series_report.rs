//! The series as reported to front ends. Values are integers, so equal runs give equal text.

use serde::Serialize;
use stillair_model::types::{Ac, Instant, Probe, Reason};

use super::occupancy::QueueSeries;
use super::series::{Cell, STEP, Sample, Series};
use super::{Direction, Recorder};
use crate::scenario::{FlowEnd, FlowKind, Scenario, Ways};

/// Series of one run. Arrays have one value per kept step; the last step may be shorter.
#[derive(Clone, Debug, Serialize)]
pub struct SeriesReport {
    step_ns: u64,
    steps: usize,
    /// Discarded steps before the first kept one, for a run without a fixed end.
    #[serde(skip_serializing_if = "is_zero")]
    gone: usize,
    duration_ns: u64,
    warm_up_ns: u64,
    cool_down_ns: u64,
    /// The Flent test that some of the flows belong to.
    #[serde(skip_serializing_if = "Option::is_none")]
    test: Option<Test>,
    flows: Vec<FlowSeries>,
    stations: Vec<StationSeries>,
    drops: Vec<DropSeries>,
    /// Backlogs at the end of each step.
    queues: Vec<QueueSeries>,
}

/// A Flent test.
#[derive(Clone, Debug, Serialize)]
struct Test {
    name: String,
    from: String,
    to: String,
    length_ns: u64,
    delay_ns: u64,
    streams: Option<u32>,
}

/// A flow: sender, receiver, kind, and arrivals.
#[derive(Clone, Debug, Serialize)]
struct FlowSeries {
    name: String,
    /// Flent's name of this data series, if the flow is part of a test.
    #[serde(skip_serializing_if = "Option::is_none")]
    flent: Option<String>,
    kind: &'static str,
    from: String,
    to: String,
    /// Station at one end of the flow, if any.
    station: Option<String>,
    tos: u8,
    dscp: u8,
    ac: &'static str,
    /// UDP: payload bytes delivered. TCP: stream bytes read.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<Vec<u64>>,
    /// Ping: time of the reply and round-trip time in ns, and sequence number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pings: Option<Vec<(u64, u64, u32)>>,
    /// Call: time of arrival and one-way delay in ns, and sequence number.
    #[serde(skip_serializing_if = "Option::is_none")]
    voip: Option<Vec<(u64, u64, u32)>>,
    /// Page: end and duration of the load in ns, and its number.
    #[serde(skip_serializing_if = "Option::is_none")]
    loads: Option<Vec<(u64, u64, u32)>>,
    /// UDP, TCP and QUIC: percentiles 0 to 100 of the one-way delay of measured packets, in ns. `None`
    /// without such packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    delay_percentiles_ns: Option<Vec<u64>>,
    /// Responsiveness test: time of the reply and duration of a probe in ns, and its kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    probes: Option<Vec<(u64, u64, &'static str)>>,
}

/// Data frames of a station in one access category. Unused categories are omitted.
#[derive(Clone, Debug, Serialize)]
struct StationSeries {
    name: String,
    ac: &'static str,
    /// Airtime of all tries.
    airtime_down_ns: Vec<u32>,
    airtime_up_ns: Vec<u32>,
    /// PPDUs, each counted at its first try, and frames in them.
    ppdus_down: Vec<u32>,
    ppdus_up: Vec<u32>,
    mpdus_down: Vec<u32>,
    mpdus_up: Vec<u32>,
}

/// Drops at one place for one reason: pairs of step and packets, for steps with drops.
#[derive(Clone, Debug, Serialize)]
struct DropSeries {
    place: String,
    reason: &'static str,
    steps: Vec<(u32, u32)>,
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// Returns the series that `recorder` kept in a run of `scenario` that ended at `end`. `None` if it kept
/// none.
pub fn report(
    scenario: &Scenario,
    end: Instant,
    recorder: &Recorder,
    stations: &[String],
    places: &[String],
) -> Option<SeriesReport> {
    let series = recorder.series.as_ref()?;
    Some(SeriesReport {
        step_ns: STEP.nanos(),
        steps: series.steps(),
        gone: series.gone(),
        duration_ns: end.nanos(),
        warm_up_ns: scenario.warm_up.nanos(),
        cool_down_ns: scenario.cool_down.nanos(),
        test: scenario.test.as_ref().map(|test| Test {
            name: test.name.clone(),
            from: scenario.end_name(test.from),
            to: scenario.end_name(test.to),
            length_ns: test.length.nanos(),
            delay_ns: test.delay.nanos(),
            streams: test.streams,
        }),
        flows: flows(scenario, recorder, series, stations),
        stations: station_cells(series, stations),
        drops: drops(series, places),
        queues: series.occupancy.queues(scenario),
    })
}

fn flows(scenario: &Scenario, recorder: &Recorder, series: &Series, stations: &[String]) -> Vec<FlowSeries> {
    let ways = Ways::new(scenario);
    // The world numbers flows in this order.
    let all = scenario.flows.iter().flat_map(|flow| flow.to.iter().map(move |&to| (flow, to)));
    let one = |(id, (flow, to)): (usize, (&crate::scenario::Flow, FlowEnd))| {
        let (kind, carries_data) = match flow.kind {
            FlowKind::Udp { .. } | FlowKind::Video(_) => ("udp", true),
            FlowKind::Tcp { .. } => ("tcp", true),
            FlowKind::Voip { .. } => ("voip", true),
            FlowKind::Web { .. } => ("web", true),
            FlowKind::Responsiveness(_) => ("responsiveness", true),
            FlowKind::Quic(_) => ("quic", true),
            FlowKind::Ping { .. } => ("ping", false),
            FlowKind::UdpPing { .. } => ("udp_ping", false),
        };
        let bytes = || {
            let rows = series.bytes.iter().skip(id).step_by(recorder.flows.len());
            rows.take(series.steps()).copied().collect()
        };
        let samples = || series.samples[id].iter().map(|s| (s.at.nanos(), s.delay.nanos(), s.seq)).collect();
        let delays = &recorder.flows[id].delays;
        let percentile =
            |percent: u32| delays.quantile_ms(f64::from(percent) / 100.0).map(|ms| (ms * 1e6).round() as u64);
        let probes = || {
            let one = |s: &Sample| (s.at.nanos(), s.delay.nanos(), Probe::ALL[s.seq as usize].name());
            series.samples[id].iter().map(one).collect()
        };
        FlowSeries {
            name: format!("{}.{}", flow.name, scenario.end_name(to)),
            flent: flow.series.clone(),
            kind,
            from: scenario.end_name(flow.from),
            to: scenario.end_name(to),
            station: recorder.flows[id].station.map(|s| stations[s].clone()),
            tos: flow.tos,
            dscp: flow.tos >> 2,
            ac: scenario.category(flow, ways.ends(flow.from, to)).name(),
            bytes: carries_data.then(bytes),
            pings: (!carries_data).then(samples),
            voip: (kind == "voip").then(samples),
            loads: (kind == "web").then(samples),
            delay_percentiles_ns: if carries_data { (0..=100).map(percentile).collect() } else { None },
            probes: (kind == "responsiveness").then(probes),
        }
    };
    all.enumerate().map(one).collect()
}

fn station_cells(series: &Series, stations: &[String]) -> Vec<StationSeries> {
    let width = stations.len() * Ac::ALL.len();
    let all = (0..stations.len()).flat_map(|s| Ac::ALL.map(|ac| (s, ac)));
    let used = all.filter_map(|(station, ac)| {
        let all = || series.cells.iter().skip(station * Ac::ALL.len() + ac.index()).step_by(width);
        let cells = || all().take(series.steps());
        let column = |of: fn(&Cell) -> [u32; 2], d: Direction| cells().map(|c| of(c)[d as usize]).collect();
        cells().any(|c| c.airtime_ns != [0, 0]).then(|| StationSeries {
            name: stations[station].clone(),
            ac: ac.name(),
            airtime_down_ns: column(|c| c.airtime_ns, Direction::Down),
            airtime_up_ns: column(|c| c.airtime_ns, Direction::Up),
            ppdus_down: column(|c| c.ppdus, Direction::Down),
            ppdus_up: column(|c| c.ppdus, Direction::Up),
            mpdus_down: column(|c| c.mpdus, Direction::Down),
            mpdus_up: column(|c| c.mpdus, Direction::Up),
        })
    });
    used.collect()
}

fn drops(series: &Series, places: &[String]) -> Vec<DropSeries> {
    let all = (0..places.len()).flat_map(|p| (0..Reason::COUNT).map(move |r| (p, r)));
    let mut by_kind: Vec<DropSeries> = all
        .map(|(p, r)| DropSeries {
            place: places[p].clone(),
            reason: Reason::ALL[r].name(),
            steps: Vec::new(),
        })
        .collect();
    for d in &series.drops {
        by_kind[d.place.index() * Reason::COUNT + d.reason].steps.push((d.step, d.packets));
    }
    by_kind.retain(|d| !d.steps.is_empty());
    by_kind
}
