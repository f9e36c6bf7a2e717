//! Report of a finished run.

use std::collections::BTreeMap;

use serde::Serialize;
use stillair_model::types::{IfId, Instant, Sink};
use stillair_model::wifi::rate::StatsRow;

use super::{Records, Session};
use crate::recorder::{
    self, AirNames, AtEnd, ExchangesReport, FlowAbout, HostFlows, Losses, OccupancyReport, PowerSummary,
    QdiscSummary, RateSummary, RunSummary, SeriesReport, SocketSeries, SojournReport, summarise,
};
use crate::scenario::Scenario;
use crate::world::{self, DevLayout, QdiscCounters, World};

/// Report of one run.
#[derive(Debug, Serialize)]
pub struct RunReport {
    /// Summary of the run.
    #[serde(flatten)]
    pub summary: RunSummary,
    /// Series, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<SeriesReport>,
    /// Frame exchanges in a part of the run, if the scenario records them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exchanges: Option<ExchangesReport>,
    /// Queue lengths in each layer of each interface, if the scenario records them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queues: Option<OccupancyReport>,
    /// Packet delays by layer and cause, if the scenario records them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sojourn: Option<SojournReport>,
}

impl RunReport {
    /// Returns the run as a JSON object.
    pub fn to_json(&self) -> Result<String, String> {
        serde_json::to_string(self).map_err(|e| format!("cannot write the result: {e}"))
    }
}

impl<S: Records> Session<'_, S> {
    /// Checks the accounts of a finished run and returns its report.
    pub(super) fn report(&mut self) -> Result<RunReport, String> {
        let (end, run) = (self.end(), self.seed.run);
        self.world.close(end).map_err(|e| format!("run {run}: accounts do not close: {e}"))?;
        self.told()
    }

    /// Returns the report of a run whose accounts have been checked.
    pub(super) fn told(&mut self) -> Result<RunReport, String> {
        self.settle();
        let (scenario, samples) = (self.scenario.clone(), core::mem::take(&mut self.samples.sockets));
        let summary = self.summary(samples);
        let recorder = self.world.trace().recorder();
        let series = recorder::report(&scenario, self.end(), recorder, &self.stations, &self.places);
        let queues =
            scenario.record.queues.map(|interval| self.samples.occupancy.report(&scenario, interval));
        let exchanges = recorder.exchanges.as_ref().map(|found| found.report(air_names(&scenario)));
        let sojourn = self.sojourn()?;
        Ok(RunReport { summary, series, exchanges, queues, sojourn })
    }

    /// Passes the counters of sources to the recorder.
    fn settle(&mut self) {
        let (scenario, end) = (self.scenario.clone(), self.end());
        let due: Vec<_> = self.world.books().due(end).collect();
        self.world.trace_mut().recorder_mut().settle(&scenario, end, due.into_iter());
    }

    /// Returns the packet delays by layer and cause. Returns an error if the parts do not add up to the
    /// delays.
    fn sojourn(&self) -> Result<Option<SojournReport>, String> {
        let Some(sojourn) = self.world.trace().sojourn() else { return Ok(None) };
        if let Some(problem) = sojourn.problem() {
            return Err(format!("run {}: accounts do not close: sojourn {problem}", self.seed.run));
        }
        let of_external = HostFlows::names(&self.scenario.external_hosts());
        let flows: Vec<String> =
            FlowAbout::all(&self.scenario).into_iter().map(|about| about.name).chain(of_external).collect();
        let interfaces = self.scenario.interface_names();
        Ok(Some(sojourn.report(&flows, &self.stations, &interfaces, &self.places)))
    }

    fn summary(&self, sockets: Vec<SocketSeries>) -> RunSummary {
        let end = self.end();
        let Self { scenario, seed, world, stations, places, .. } = self;
        let range = &world.trace().recorder().measured;
        let measured = range.end.min(end).saturating_since(range.start);
        let flows = FlowAbout::all(scenario);
        let hosts = scenario.external_hosts();
        let tcp = world
            .books()
            .tcp_senders()
            .zip(sockets)
            .map(|((flow, info), series)| (flows[flow.index()].name.clone(), flow, info, series));
        let since = |(flow, since): (_, Option<Instant>)| (flow, since.map(|since| end - since));
        let at_end = AtEnd {
            packets: world.books().packet_account(),
            air: world.books().air_accounts(),
            qdiscs: qdiscs(scenario, world, end),
            rc_stats: rc_stats(scenario, world),
            losses: losses(scenario, world),
            power: power(scenario, world),
            tcp: tcp.collect(),
            quic: (world.books().quic_ends().collect(), end),
            hosts: (&hosts, world.books().external_payload()),
            flows: &flows,
            under_way: world.books().loads_under_way().map(since).collect(),
            tests: world.books().tests(end).collect(),
        };
        let seen = world.trace().recorder();
        summarise((seed.seed, seed.run), seen, measured, stations, places, at_end)
    }
}

/// Returns the Wi-Fi interfaces of a scenario as numbered in the trace.
fn air_names(scenario: &Scenario) -> AirNames {
    let layout = world::layout(scenario);
    let name = |dev: &DevLayout| {
        let at = &layout.interfaces[dev.interface.index()];
        format!("{}.{}", at.node, at.name)
    };
    AirNames {
        interfaces: layout.devs.iter().map(name).collect(),
        access_points: layout.devs.iter().map(|dev| dev.ap).collect(),
        channels: layout.devs.iter().map(|dev| scenario.channels[dev.channel.index()].name.clone()).collect(),
        peers: layout.devs.iter().map(|dev| dev.peers.clone()).collect(),
    }
}

/// Returns the rate control statistics of each link.
fn rc_stats<S: Sink>(scenario: &Scenario, world: &World<S>) -> BTreeMap<String, Vec<RateSummary>> {
    let names = scenario.interface_names();
    let one = |(from, to, rows): (IfId, IfId, Vec<StatsRow>)| {
        let rows = rows.into_iter().map(RateSummary::from).collect();
        (format!("{} to {}", names[from.index()], names[to.index()]), rows)
    };
    world.books().rate_stats().map(one).collect()
}

/// Returns the losses of each link that had any.
fn losses<S: Sink>(scenario: &Scenario, world: &World<S>) -> BTreeMap<String, Losses> {
    let names = scenario.interface_names();
    let lossy = world.books().losses().filter(|(.., losses)| *losses != Losses::default());
    lossy
        .map(|(from, to, losses)| (format!("{} to {}", names[from.index()], names[to.index()]), losses))
        .collect()
}

/// Returns the power save and scan statistics of stations.
fn power<S: Sink>(scenario: &Scenario, world: &World<S>) -> BTreeMap<String, PowerSummary> {
    let names = scenario.interface_names();
    world.books().savers().map(|(at, counters)| (names[at.index()].clone(), counters.into())).collect()
}

/// Returns the counters of all qdiscs, by name.
pub(super) fn qdiscs<S: Sink>(
    scenario: &Scenario,
    world: &World<S>,
    end: Instant,
) -> BTreeMap<String, QdiscSummary> {
    let names = scenario.interface_names();
    let one = |q: QdiscCounters| {
        let name = &names[q.interface.index()];
        let summary = QdiscSummary {
            kind: q.kind,
            bytes: q.stats.bytes,
            packets: q.stats.packets,
            drops: q.stats.drops,
            overlimits: q.stats.overlimits,
            requeues: q.stats.requeues,
            backlog_packets: q.backlog.0,
            backlog_bytes: q.backlog.1,
            own: recorder::named(&q.own, end),
        };
        (format!("{name}{}", q.path), summary)
    };
    world.books().qdiscs().into_iter().map(one).collect()
}
