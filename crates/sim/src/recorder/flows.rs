//! The summary of a data flow: received packets, lost packets, and delays.

use serde::Serialize;
use std::collections::BTreeMap;
use stillair_model::transport::tcp::info::TcpInfo;

use super::{FlowRecord, mbps};
use crate::scenario::{Flow, FlowKind, QuicLoad, Scenario};

/// What a scenario says of a flow to one of its receivers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FlowAbout {
    /// Its name.
    pub name: String,
    /// Its ends as the scenario names them, the sender first.
    pub ends: [String; 2],
    /// What carries its data; none of pings and of clients of pages, which have summaries of their own.
    pub protocol: Option<FlowProtocol>,
    /// It is a ping, over ICMP or UDP.
    pub pings: bool,
}

impl FlowAbout {
    /// Of all flows of a scenario, one for each receiver, in the order in which the world numbers them.
    pub fn all(scenario: &Scenario) -> Vec<Self> {
        let one = |flow: &Flow| {
            let (from, protocol) = (scenario.end_name(flow.from), FlowProtocol::of(&flow.kind));
            let pings = matches!(flow.kind, FlowKind::Ping { .. } | FlowKind::UdpPing { .. });
            let about = |to: String| {
                let name = format!("{}.{to}", flow.name);
                Self { name, ends: [from.clone(), to], protocol, pings }
            };
            flow.to.iter().map(|&to| about(scenario.end_name(to))).collect::<Vec<_>>()
        };
        scenario.flows.iter().flat_map(one).collect()
    }
}

/// What carries the data of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FlowProtocol {
    /// UDP.
    Udp,
    /// TCP.
    Tcp,
    /// RTP over UDP: a call.
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

    /// Whether a packet that is lost is lost to the application.
    const fn loses(self) -> bool {
        matches!(self, Self::Udp | Self::Voip)
    }
}

/// The summary of one flow that carries data. What does not apply to its protocol is `null`, and TCP's own keys are TCP's alone.
#[derive(Clone, Debug, Serialize)]
pub struct FlowSummary {
    /// What carries its data.
    pub protocol: FlowProtocol,
    /// The end that sends the data.
    pub from: String,
    /// The end that gets it.
    pub to: String,
    /// Payload of datagrams that came, or bytes that the receiver of a stream read, in the time that is measured, in Mbit/s.
    pub goodput_mbps: f64,
    /// Datagrams that came in that time.
    pub packets: Option<u64>,
    /// Datagrams that were dropped in that time, wherever between the socket and the other host.
    pub lost: Option<u64>,
    /// Their part of both, 0 to 1.
    pub loss: Option<f64>,
    /// One-way delay in ms of the packets with data that came in that time, the median: from the write to the socket, or of TCP
    /// from the segment's way down to IP, to the other host.
    pub delay_p50_ms: Option<f64>,
    /// 95th percentile of it.
    pub delay_p95_ms: Option<f64>,
    /// 99th percentile of it.
    pub delay_p99_ms: Option<f64>,
    /// What only TCP has.
    #[serde(flatten)]
    pub tcp: Option<TcpSummary>,
}

/// What the sender of a TCP flow counts.
#[derive(Clone, Debug, Serialize)]
pub struct TcpSummary {
    /// Segments sent again, over the whole run.
    pub retransmissions: u32,
    /// Retransmission timeouts, over the whole run.
    pub timeouts: u32,
    /// Tail-loss probes, over the whole run.
    pub tlp_probes: u32,
    /// Segments that have reached the receiver as far as the sender knows, over the whole run.
    pub delivered: u32,
    /// Bytes acknowledged, over the whole run.
    pub bytes_acked: u64,
    /// Least round-trip time in ms.
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

/// The summaries of all flows that carry data, by name, of a run of which so many seconds were measured; `tcp` is what their
/// senders count, by the position of the flow.
pub(super) fn flow_summaries(
    about: &[FlowAbout],
    records: &[FlowRecord],
    tcp: &BTreeMap<usize, TcpSummary>,
    seconds: f64,
) -> BTreeMap<String, FlowSummary> {
    let one = |(at, (flow, record)): (usize, (&FlowAbout, &FlowRecord))| {
        let protocol = flow.protocol?;
        let [from, to] = flow.ends.clone();
        let FlowRecord { packets, lost, .. } = *record;
        let delay = |part| record.delays.quantile_ms(part);
        let summary = FlowSummary {
            protocol,
            from,
            to,
            goodput_mbps: mbps(record.bytes, seconds),
            packets: protocol.loses().then_some(packets),
            lost: protocol.loses().then_some(lost),
            loss: (protocol.loses() && packets + lost > 0).then(|| lost as f64 / (packets + lost) as f64),
            delay_p50_ms: delay(0.5),
            delay_p95_ms: delay(0.95),
            delay_p99_ms: delay(0.99),
            tcp: tcp.get(&at).cloned(),
        };
        Some((flow.name.clone(), summary))
    };
    about.iter().zip(records).enumerate().filter_map(one).collect()
}
