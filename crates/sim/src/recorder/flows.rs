//! Summary of a data flow: received packets, lost packets, and delays.

use serde::Serialize;
use std::collections::BTreeMap;
use stillair_model::transport::tcp::info::TcpInfo;

use super::datagrams::Fates;
use super::{FlowRecord, mbps};
use crate::scenario::{Flow, FlowKind, QuicLoad, Scenario};

/// Description of a flow to one receiver, from the scenario.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FlowAbout {
    /// Name of the flow.
    pub name: String,
    /// Names of both ends as in the scenario, sender first.
    pub ends: [String; 2],
    /// Protocol of the flow's data. `None` for pings and web clients, which have their own summaries.
    pub protocol: Option<FlowProtocol>,
    /// True for pings over ICMP or UDP.
    pub pings: bool,
    /// True for calls and video, which skip packets that do not fit in the send buffer.
    pub skips: bool,
}

impl FlowAbout {
    /// Returns all flows of a scenario, one per receiver, in the order of the world's flow numbers.
    pub fn all(scenario: &Scenario) -> Vec<Self> {
        let one = |flow: &Flow| {
            let (from, protocol) = (scenario.end_name(flow.from), FlowProtocol::of(&flow.kind));
            let pings = matches!(flow.kind, FlowKind::Ping { .. } | FlowKind::UdpPing { .. });
            let skips = matches!(flow.kind, FlowKind::Voip { .. } | FlowKind::Video(_));
            let about = |to: String| {
                let name = format!("{}.{to}", flow.name);
                Self { name, ends: [from.clone(), to], protocol, pings, skips }
            };
            flow.to.iter().map(|&to| about(scenario.end_name(to))).collect::<Vec<_>>()
        };
        scenario.flows.iter().flat_map(one).collect()
    }
}

/// Protocol of a flow's data.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FlowProtocol {
    /// UDP.
    Udp,
    /// TCP.
    Tcp,
    /// A VoIP call: RTP over UDP.
    Voip,
    /// QUIC.
    Quic,
}

impl FlowProtocol {
    const fn of(kind: &FlowKind) -> Option<Self> {
        match kind {
            FlowKind::Udp { .. } | FlowKind::Video(_) => Some(Self::Udp),
            FlowKind::Tcp { .. } => Some(Self::Tcp),
            FlowKind::Voip { .. } => Some(Self::Voip),
            FlowKind::Quic(quic) => match quic.load {
                QuicLoad::Transfer { .. } => Some(Self::Quic),
                QuicLoad::Page { .. } => None,
            },
            FlowKind::Ping { .. }
            | FlowKind::UdpPing { .. }
            | FlowKind::Web { .. }
            | FlowKind::Responsiveness(_) => None,
        }
    }

    /// Returns true if a lost packet is lost to the application.
    const fn loses(self) -> bool {
        matches!(self, Self::Udp | Self::Voip)
    }
}

/// Summary of one data flow. Values that do not apply to the protocol are `null`. The keys of `tcp` exist
/// only for TCP.
#[derive(Clone, Debug, Serialize)]
pub struct FlowSummary {
    /// Protocol of the data.
    pub protocol: FlowProtocol,
    /// Name of the sender.
    pub from: String,
    /// Name of the receiver.
    pub to: String,
    /// Goodput in the measurement interval, in Mbit/s: UDP payload received, or stream bytes read by the
    /// receiver. Calls, video and UDP that drops count datagrams due in the interval; UDP that blocks counts
    /// arrivals, but no more than was due.
    pub goodput_mbps: f64,
    /// Datagrams due in the measurement interval: received, lost and in flight.
    pub due: Option<u64>,
    /// Datagrams due in the measurement interval and received by the end of the run.
    pub packets: Option<u64>,
    /// Datagrams due in the measurement interval that were dropped anywhere or omitted by the sender.
    pub lost: Option<u64>,
    /// Lost datagrams that a call or video skipped because the send buffer was full.
    pub skipped: Option<u64>,
    /// Lost datagrams that never entered the socket of a `udp` source.
    pub unsent: Option<u64>,
    /// Datagrams due in the measurement interval and neither received nor lost at the end of the run.
    pub under_way: Option<u64>,
    /// Loss rate: lost datagrams divided by those due, 0 to 1.
    pub loss: Option<f64>,
    /// Longest time without an arrival within the measurement interval, in ms, for calls and video.
    pub longest_gap_ms: Option<f64>,
    /// Median one-way delay of the data packets, in ms. The delay starts when a datagram is due (QUIC: when
    /// it is written to the socket, TCP: when the segment is handed to IP) and ends at the receiving host. A
    /// skipped datagram counts with the time until a newer one arrives.
    pub delay_p50_ms: Option<f64>,
    /// 95th percentile of the one-way delay in ms.
    pub delay_p95_ms: Option<f64>,
    /// 99th percentile of the one-way delay in ms.
    pub delay_p99_ms: Option<f64>,
    /// TCP counters.
    #[serde(flatten)]
    pub tcp: Option<TcpSummary>,
}

/// Counters of a TCP flow's sender.
#[derive(Clone, Debug, Serialize)]
pub struct TcpSummary {
    /// Retransmitted segments, over the whole run.
    pub retransmissions: u32,
    /// Retransmission timeouts, over the whole run.
    pub timeouts: u32,
    /// Tail loss probes (RFC 8985), over the whole run.
    pub tlp_probes: u32,
    /// Segments known to the sender as delivered, over the whole run.
    pub delivered: u32,
    /// Bytes acknowledged, over the whole run.
    pub bytes_acked: u64,
    /// Minimum round-trip time in ms.
    pub minrtt_ms: Option<f64>,
}

impl From<&TcpInfo> for TcpSummary {
    fn from(info: &TcpInfo) -> Self {
        Self {
            retransmissions: info.retrans_total,
            timeouts: info.timeouts,
            tlp_probes: info.tlp_probes,
            delivered: info.delivered,
            bytes_acked: info.bytes_acked,
            minrtt_ms: (info.minrtt_us != u32::MAX).then(|| f64::from(info.minrtt_us) / 1e3),
        }
    }
}

/// Returns the summaries of all data flows by name. `seconds` is the length of the measurement interval;
/// `tcp` holds the sender's counters by flow.
pub(super) fn flow_summaries(
    about: &[FlowAbout],
    records: &[FlowRecord],
    tcp: &BTreeMap<usize, TcpSummary>,
    seconds: f64,
) -> BTreeMap<String, FlowSummary> {
    let one = |(at, (flow, record)): (usize, (&FlowAbout, &FlowRecord))| {
        let protocol = flow.protocol?;
        let [from, to] = flow.ends.clone();
        let fates = Fates::of(record);
        let datagrams = |count: u64| protocol.loses().then_some(count);
        let delay = |part| record.delays.quantile_ms(part);
        let summary = FlowSummary {
            protocol,
            from,
            to,
            goodput_mbps: mbps(record.bytes, seconds),
            due: datagrams(fates.due),
            packets: datagrams(fates.received),
            lost: datagrams(fates.lost),
            skipped: datagrams(record.due.unsent).filter(|_| flow.skips),
            unsent: datagrams(record.due.unsent).filter(|_| !flow.skips),
            under_way: datagrams(fates.under_way),
            loss: fates.loss().filter(|_| protocol.loses()),
            longest_gap_ms: record.datagrams.as_ref().and_then(|datagrams| datagrams.longest_gap_ms()),
            delay_p50_ms: delay(0.5),
            delay_p95_ms: delay(0.95),
            delay_p99_ms: delay(0.99),
            tcp: tcp.get(&at).cloned(),
        };
        Some((flow.name.clone(), summary))
    };
    about.iter().zip(records).enumerate().filter_map(one).collect()
}
