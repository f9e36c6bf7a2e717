//! Summary of a run.

use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use stillair_model::app::ResponsivenessOutcome;
use stillair_model::metrics::jain;
use stillair_model::metrics::responsiveness::ProbeTimes;
use stillair_model::transport::tcp::info::TcpInfo;
use stillair_model::types::{Duration, FlowId, Instant, PacketAccount, Reason};
use stillair_model::wifi::air::account::{AirAccount, AirUse};

use super::datagrams::Fates;
use super::flows::{FlowAbout, FlowProtocol, FlowSummary, flow_summaries};
use super::latencies::Latencies;
use super::pings::{PingSummary, RoundTrips};
use super::responsiveness::ResponsivenessSummary;
use super::{
    Direction, FlowRecord, HostSummary, Losses, Payload, PowerSummary, Protocol, QuicEnds, QuicSummary,
    RateSummary, Recorder, SocketSeries, VoipSummary, mbps,
};

/// Summary of one run. Names include units; values that were not measured are `null`.
#[derive(Clone, Debug, Serialize)]
pub struct RunSummary {
    /// Number of the repetition.
    pub run: u64,
    /// Seed of the experiment.
    pub seed: u64,
    /// Hash of the trace, in hexadecimal.
    pub trace_hash: String,
    /// Goodput over all flows in Mbit/s: UDP payload delivered, TCP stream bytes read, and payload of
    /// external hosts' packets.
    pub goodput_total_mbps: f64,
    /// Jain's fairness index of the airtime of stations with traffic.
    pub jain_airtime: Option<f64>,
    /// Summaries by station.
    pub stations: BTreeMap<String, StationSummary>,
    /// Mean opinion score (MOS), averaged over the calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mos: Option<f64>,
    /// MOS by the formula of Flent 0.15 to 1.2, averaged over the calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mos_flent_1_2: Option<f64>,
    /// Summaries by VoIP call.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub voip: BTreeMap<String, VoipSummary>,
    /// Mean page load time in s, averaged over the clients.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_load_s: Option<f64>,
    /// Summaries by web client.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub web: BTreeMap<String, WebSummary>,
    /// Summaries by responsiveness test. Each covers the duration of the test.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub responsiveness: BTreeMap<String, ResponsivenessSummary>,
    /// Summaries by QUIC flow.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub quic: BTreeMap<String, QuicSummary>,
    /// Summaries by data flow: UDP, TCP, QUIC and VoIP calls.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub flows: BTreeMap<String, FlowSummary>,
    /// Summaries by ping.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub pings: BTreeMap<String, PingSummary>,
    /// Summaries by external host.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub hosts: BTreeMap<String, HostSummary>,
    /// Samples of the sender's socket by TCP flow, if requested by the scenario.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub sockets: BTreeMap<String, SocketSeries>,
    /// Dropped packets by place and reason, over the whole run.
    pub drops: Vec<Drop>,
    /// Airtime by channel and use, over the whole run, in us.
    pub air: BTreeMap<String, BTreeMap<String, f64>>,
    /// Qdisc counters over the whole run. Keys are interfaces such as `R.eth0`, and inner qdiscs such as
    /// `R.eth0/child` (of a class) and `ap.wlan0/BE` (of an access category).
    pub qdiscs: BTreeMap<String, QdiscSummary>,
    /// Rate control statistics at the end of the run, by link, such as `ap.wlan0 to fast1.wlan0`. Links with
    /// fixed rates are omitted.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub rc_stats: BTreeMap<String, Vec<RateSummary>>,
    /// Losses on the air over the whole run, by link. Links without losses are omitted.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub losses: BTreeMap<String, Losses>,
    /// Power save and scans over the whole run, by interface such as `phone.wlan0`. Interfaces without either
    /// are omitted.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub power: BTreeMap<String, PowerSummary>,
    /// Account of all packets of the run.
    pub packets: PacketSummary,
}

/// Summary of one web client.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct WebSummary {
    /// Page loads that ended after the warm-up.
    pub loads: u64,
    /// Mean load time in s.
    pub mean_s: Option<f64>,
    /// Median load time in s.
    pub median_s: Option<f64>,
    /// 95th percentile of the load time in s.
    pub p95_s: Option<f64>,
    /// 99th percentile of the load time in s.
    pub p99_s: Option<f64>,
    /// Time that the unfinished load had taken at the end of the run, in s.
    pub unfinished_s: Option<f64>,
}

impl WebSummary {
    fn new(loads: &Latencies, unfinished: Option<Duration>) -> Self {
        let [median_s, p95_s, p99_s] =
            loads.quantiles_ns([0.5, 0.95, 0.99]).map_or([None; 3], |all| all.map(|ns| Some(ns / 1e9)));
        Self {
            loads: loads.count(),
            mean_s: loads.mean_ns().map(|ns| ns / 1e9),
            median_s,
            p95_s,
            p99_s,
            unfinished_s: unfinished.map(Duration::secs_f64),
        }
    }
}

/// Qdisc counters, as printed by `tc -s qdisc`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct QdiscSummary {
    /// Kind of the qdisc, such as `fq_codel`.
    pub kind: String,
    /// Bytes sent, including Ethernet headers.
    pub bytes: u64,
    /// Segments sent.
    pub packets: u64,
    /// Packets dropped, including inner qdiscs.
    pub drops: u64,
    /// Times that a rate limit delayed the qdisc.
    pub overlimits: u64,
    /// Packets that the device rejected, and packets requeued in front of others.
    pub requeues: u64,
    /// Packets queued at the end of the run.
    pub backlog_packets: u64,
    /// Bytes queued at the end of the run.
    pub backlog_bytes: u64,
    /// Counters specific to this kind of qdisc, named as in `tc -s -j qdisc`.
    #[serde(flatten)]
    pub own: Map<String, Value>,
}

/// Summary of one station.
#[derive(Clone, Debug, Serialize)]
pub struct StationSummary {
    /// Goodput of all flows to and from the station in Mbit/s: UDP payload and TCP stream bytes. For an
    /// external host: TCP and UDP payload of packets delivered to it and from it.
    pub goodput_mbps: f64,
    /// Share of the airtime of all stations, 0 to 1.
    pub airtime_share: Option<f64>,
    /// MPDUs per data PPDU sent to the station, or by the station if none were sent to it.
    pub mean_aggregate: Option<f64>,
    /// MPDUs per data PPDU sent by the station.
    pub mean_aggregate_up: Option<f64>,
    /// Mean PHY rate of A-MPDUs sent by the station, counting each try, in Mbit/s.
    pub mean_rate_up_mbps: Option<f64>,
    /// Median round-trip time of ICMP pings in ms.
    pub ping_median_ms: Option<f64>,
    /// 95th percentile of the round-trip time of ICMP pings in ms.
    pub ping_p95_ms: Option<f64>,
    /// 99th percentile of the round-trip time of ICMP pings in ms.
    pub ping_p99_ms: Option<f64>,
    /// Mean round-trip time of ICMP pings in ms.
    pub ping_mean_ms: Option<f64>,
    /// Median round-trip time of UDP pings in ms.
    pub udp_ping_median_ms: Option<f64>,
    /// 95th percentile of the round-trip time of UDP pings in ms.
    pub udp_ping_p95_ms: Option<f64>,
    /// 99th percentile of the round-trip time of UDP pings in ms.
    pub udp_ping_p99_ms: Option<f64>,
    /// Airtime of all data tries to the station, in us.
    pub airtime_tx_us: f64,
    /// Airtime of all data tries by the station, in us.
    pub airtime_rx_us: f64,
}

/// Packets dropped at one place for one reason.
#[derive(Clone, Debug, Serialize)]
pub struct Drop {
    /// Name of the place.
    pub place: String,
    /// Reason of the drop.
    pub reason: &'static str,
    /// Number of packets.
    pub packets: u64,
}

/// Packet account: created = delivered + consumed + merged + dropped + inside.
#[derive(Clone, Debug, Serialize)]
pub struct PacketSummary {
    /// Packets created.
    pub created: u64,
    /// Packets delivered to an application.
    pub delivered: u64,
    /// Packets consumed by a reply, such as echo requests.
    pub consumed: u64,
    /// Packets merged into others by a receiving interface (GRO).
    pub merged: u64,
    /// Packets dropped.
    pub dropped: u64,
    /// Packets queued or in flight at the end of the run.
    pub inside: u64,
}

/// State of a world at the end of a run that its recorder does not see.
#[derive(Debug)]
pub struct AtEnd<'a> {
    /// Packet account, and number of packets still in the world.
    pub packets: (&'a PacketAccount, u64),
    /// Name and airtime account of each channel.
    pub air: Vec<(String, &'a AirAccount)>,
    /// Qdisc counters, by name.
    pub qdiscs: BTreeMap<String, QdiscSummary>,
    /// Rate control statistics, by link.
    pub rc_stats: BTreeMap<String, Vec<RateSummary>>,
    /// Losses, by link.
    pub losses: BTreeMap<String, Losses>,
    /// Power save and scans, by interface.
    pub power: BTreeMap<String, PowerSummary>,
    /// TCP senders: name of the flow, number of the flow, state, samples.
    pub tcp: Vec<(String, FlowId, TcpInfo, SocketSeries)>,
    /// State of both ends of each QUIC flow, and the end of the run.
    pub quic: (Vec<QuicEnds>, Instant),
    /// Names of the external hosts in order, and the payload of their packets.
    pub hosts: (&'a [String], &'a Payload),
    /// All flows, in order.
    pub flows: &'a [FlowAbout],
    /// Web clients, and how long each one's unfinished load has taken.
    pub under_way: Vec<(FlowId, Option<Duration>)>,
    /// Responsiveness tests: outcome, and probe times.
    pub tests: Vec<(FlowId, (ResponsivenessOutcome, ProbeTimes))>,
}

fn quic_summaries(
    recorder: &Recorder,
    flows: &[FlowAbout],
    (ends, end): (Vec<QuicEnds>, Instant),
) -> BTreeMap<String, QuicSummary> {
    let one = |(flow, ends): QuicEnds| {
        let record = &recorder.flows[flow.index()];
        let seen = record.quic.as_ref()?;
        Some((flows[flow.index()].name.clone(), seen.summary(end, ends, record.bytes)))
    };
    ends.into_iter().filter_map(one).collect()
}

/// Airtime of each station's data in both directions, in us.
fn used_airtime(recorder: &Recorder) -> Vec<f64> {
    recorder.stations.iter().map(|s| s.airtime.iter().copied().sum::<Duration>().micros_f64()).collect()
}

/// Returns the airtime of stations with traffic: stations whose data used airtime, and stations of a flow
/// with packets due, delivered or dropped.
fn with_traffic(recorder: &Recorder, used: &[f64]) -> Vec<f64> {
    let mut has: Vec<bool> = used.iter().map(|&us| us > 0.0).collect();
    for flow in &recorder.flows {
        if let Some(station) = flow.station {
            has[station] |=
                flow.packets + flow.lost + flow.bytes + flow.due.datagrams > 0 || flow.ping.sent() > 0;
        }
    }
    used.iter().zip(has).filter_map(|(&us, has)| has.then_some(us)).collect()
}

/// Returns the summaries by station. `seconds` is the length of the measurement interval.
fn station_summaries(
    recorder: &Recorder,
    names: &[String],
    (hosts, payload): (&[String], &Payload),
    seconds: f64,
) -> BTreeMap<String, StationSummary> {
    let used = used_airtime(recorder);
    let total: f64 = used.iter().sum();
    let mut flows_of = vec![Vec::new(); names.len()];
    for flow in &recorder.flows {
        flow.station.into_iter().for_each(|station| flows_of[station].push(flow));
    }
    let external = |name: &String| {
        let host = hosts.iter().position(|host| host == name);
        host.map_or(0, |host| payload.by_host[host])
    };
    let station = |i: usize| {
        let record = &recorder.stations[i];
        let flows = || flows_of[i].iter();
        let rtts = |protocol: Protocol| RoundTrips::of(flows().map(|f| &f.rtts[protocol as usize]));
        let (icmp, udp) = (rtts(Protocol::Icmp), rtts(Protocol::Udp));
        let mean = |d: Direction| {
            let (frames, ppdus) = (record.mpdus[d as usize], record.ppdus[d as usize]);
            (ppdus > 0).then(|| frames as f64 / ppdus as f64)
        };
        let (tries, rates) = record.tries[Direction::Up as usize];
        StationSummary {
            goodput_mbps: mbps(flows().map(|f| f.bytes).sum::<u64>() + external(&names[i]), seconds),
            airtime_share: (total > 0.0).then(|| used[i] / total),
            mean_aggregate: mean(Direction::Down).or(mean(Direction::Up)),
            mean_aggregate_up: mean(Direction::Up),
            mean_rate_up_mbps: (tries > 0).then(|| rates as f64 / tries as f64 / 1e6),
            ping_median_ms: icmp.median_ms,
            ping_p95_ms: icmp.p95_ms,
            ping_p99_ms: icmp.p99_ms,
            ping_mean_ms: icmp.mean_ms,
            udp_ping_median_ms: udp.median_ms,
            udp_ping_p95_ms: udp.p95_ms,
            udp_ping_p99_ms: udp.p99_ms,
            airtime_tx_us: record.airtime[Direction::Down as usize].micros_f64(),
            airtime_rx_us: record.airtime[Direction::Up as usize].micros_f64(),
        }
    };
    names.iter().enumerate().map(|(i, name)| (name.clone(), station(i))).collect()
}

fn ping_summaries(recorder: &Recorder, flows: &[FlowAbout]) -> BTreeMap<String, PingSummary> {
    let one = |(about, flow): (&FlowAbout, &FlowRecord)| {
        about.pings.then(|| (about.name.clone(), PingSummary::new(&flow.ping, &flow.rtts)))
    };
    flows.iter().zip(&recorder.flows).filter_map(one).collect()
}

/// Summarises a run with the measurement interval `measured`.
pub fn summarise(
    (seed, run): (u64, u64),
    recorder: &Recorder,
    measured: Duration,
    stations: &[String],
    places: &[String],
    end: AtEnd<'_>,
) -> RunSummary {
    let AtEnd {
        packets: (account, inside),
        air,
        qdiscs,
        rc_stats,
        losses,
        power,
        tcp,
        quic,
        hosts,
        flows: about,
        under_way,
        tests,
    } = end;
    let test =
        |(flow, became): &(FlowId, _)| (about[flow.index()].name.clone(), ResponsivenessSummary::new(became));
    let (_, now) = quic;
    let quic = quic_summaries(recorder, about, quic);
    let seconds = measured.secs_f64();
    let used = used_airtime(recorder);
    let senders = tcp.iter().map(|(_, flow, info, _)| (flow.index(), info.into())).collect();
    let flows = flow_summaries(about, &recorder.flows, &senders, seconds);
    let sockets = tcp.into_iter().filter(|(.., series)| !series.is_empty());
    let sockets = sockets.map(|(name, .., series)| (name, series)).collect();
    let calls = about
        .iter()
        .zip(&recorder.flows)
        .filter(|(a, _)| a.protocol == Some(FlowProtocol::Voip))
        .filter_map(|(a, f)| Some((a.name.clone(), f.voip.summary(Fates::of(f), &f.due, now)?)));
    let voip: BTreeMap<String, VoipSummary> = calls.collect();
    let mean_score = |of: fn(&VoipSummary) -> f64| {
        (!voip.is_empty()).then(|| voip.values().map(of).sum::<f64>() / voip.len() as f64)
    };
    let (mos, mos_flent_1_2) = (mean_score(|call| call.mos), mean_score(|call| call.mos_flent_1_2));
    let page = |(flow, under_way): (FlowId, Option<Duration>)| {
        (about[flow.index()].name.clone(), WebSummary::new(&recorder.flows[flow.index()].loads, under_way))
    };
    let web: BTreeMap<String, WebSummary> = under_way.into_iter().map(page).collect();
    let means: Vec<f64> = web.values().filter_map(|client| client.mean_s).collect();
    let page_load_s = (!means.is_empty()).then(|| means.iter().sum::<f64>() / means.len() as f64);
    let dropped = account.dropped.iter().enumerate().flat_map(|(place, by_reason)| {
        let counts = Reason::ALL.iter().zip(by_reason).filter(|&(_, &n)| n > 0);
        counts.map(move |(reason, &packets)| Drop {
            place: places[place].clone(),
            reason: reason.name(),
            packets,
        })
    });
    let uses = |a: &AirAccount| {
        let told = |u: &&AirUse| !u.is_foreign() || a.used(**u) > Duration::ZERO;
        let all = AirUse::ALL.iter().filter(told);
        all.map(|&u| (format!("{}_us", u.name()), a.used(u).micros_f64())).collect()
    };
    RunSummary {
        run,
        seed,
        trace_hash: format!("{:016x}", recorder.trace_hash()),
        goodput_total_mbps: mbps(
            recorder.flows.iter().map(|f| f.bytes).sum::<u64>() + hosts.1.total,
            seconds,
        ),
        jain_airtime: jain(&with_traffic(recorder, &used)),
        mos,
        mos_flent_1_2,
        voip,
        page_load_s,
        web,
        responsiveness: tests.iter().map(test).collect(),
        quic,
        stations: station_summaries(recorder, stations, hosts, seconds),
        flows,
        pings: ping_summaries(recorder, about),
        hosts: recorder.hosts.summaries(hosts.0),
        sockets,
        drops: dropped.collect(),
        air: air.iter().map(|(name, a)| (name.clone(), uses(a))).collect(),
        qdiscs,
        rc_stats,
        losses,
        power,
        packets: PacketSummary {
            created: account.created,
            delivered: account.delivered,
            consumed: account.consumed,
            merged: account.merged,
            dropped: account.dropped_total(),
            inside,
        },
    }
}
