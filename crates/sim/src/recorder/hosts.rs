//! Packets sent and received by external hosts.

use std::collections::BTreeMap;

use serde::Serialize;
use stillair_model::types::{Duration, FlowId};

use super::Delays;

/// Flow numbers of external hosts' packets. These flows come after the flows of the scenario, one for each
/// pair of hosts. All modelled hosts together count as one host.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HostFlows {
    first: u32,
    hosts: u32,
}

/// Most external hosts whose flows are told one by one, as there is one for each pair.
const NAMED: usize = 64;

impl HostFlows {
    /// Flow numbers for this many external hosts, after this many flows of the scenario.
    pub fn new(flows: usize, hosts: usize) -> Self {
        Self { first: flows as u32, hosts: hosts as u32 }
    }

    /// The flow from one host to another; `None` stands for a modelled host.
    pub fn flow(self, from: Option<u32>, to: Option<u32>) -> FlowId {
        let [from, to] = [from, to].map(|host| host.unwrap_or(self.hosts));
        FlowId(self.first + from * (self.hosts + 1) + to)
    }

    /// Names of all these flows in order, such as `a to b`; `model` stands for any modelled host. Empty if
    /// there are more than 64 external hosts.
    pub fn names(hosts: &[String]) -> Vec<String> {
        if hosts.is_empty() || hosts.len() > NAMED {
            return Vec::new();
        }
        let all = || hosts.iter().map(String::as_str).chain(["model"]);
        all().flat_map(|from| all().map(move |to| format!("{from} to {to}"))).collect()
    }

    /// The hosts at its ends, if it is such a flow.
    pub(crate) fn ends(self, flow: FlowId) -> Option<[Option<usize>; 2]> {
        let pair = flow.0.checked_sub(self.first)?;
        let all = self.hosts + 1;
        Some([pair / all, pair % all].map(|host| (host < self.hosts).then_some(host as usize)))
    }
}

/// What was seen of an external host in one direction, in the time that is measured.
#[derive(Clone, Debug, Default)]
struct HostRecord {
    packets: u64,
    bytes: u64,
    lost: u64,
    delays: Delays,
}

/// Records of all external hosts.
#[derive(Clone, Debug, Default)]
pub struct HostRecords {
    flows: HostFlows,
    /// By host: what it sent, and what it got.
    by_host: Vec<[HostRecord; 2]>,
}

impl HostRecords {
    /// Empty records for hosts with these flow numbers.
    pub fn new(flows: HostFlows) -> Self {
        Self { flows, by_host: vec![Default::default(); flows.hosts as usize] }
    }

    fn of(&mut self, flow: FlowId, mut note: impl FnMut(&mut HostRecord)) {
        let ends = self.flows.ends(flow).unwrap_or_default();
        for (direction, host) in ends.into_iter().enumerate() {
            if let Some(host) = host {
                note(&mut self.by_host[host][direction]);
            }
        }
    }

    /// Records a packet that reached its end.
    #[cold]
    pub fn delivered(&mut self, flow: FlowId, len: u32, delay: Duration) {
        self.of(flow, |record| {
            record.packets += 1;
            record.bytes += u64::from(len);
            record.delays.add(delay);
        });
    }

    /// Records a dropped packet.
    #[cold]
    pub fn dropped(&mut self, flow: FlowId) {
        self.of(flow, |record| record.lost += 1);
    }

    /// The summaries by host name.
    pub fn summaries(&self, names: &[String]) -> BTreeMap<String, HostSummary> {
        let one = |[from, to]: &[HostRecord; 2]| HostSummary { from: from.into(), to: to.into() };
        names.iter().cloned().zip(self.by_host.iter().map(one)).collect()
    }
}

/// TCP and UDP payload of delivered packets of external hosts in the measured time, in bytes. Data that TCP
/// delivers twice counts twice.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Payload {
    /// By host: sent to and by the host.
    pub by_host: Vec<u64>,
    /// Of all packets.
    pub total: u64,
}

/// The summary of an external host.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct HostSummary {
    /// Packets sent by the host.
    pub from: HostTraffic,
    /// Packets sent to the host.
    pub to: HostTraffic,
}

/// Packets of an external host in one direction, in the measured time.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct HostTraffic {
    /// Packets delivered within the model.
    pub packets: u64,
    /// Bytes of these packets, from the IP header on.
    pub bytes: u64,
    /// Packets dropped.
    pub lost: u64,
    /// Median delay in ms from entering the model to delivery.
    pub delay_p50_ms: Option<f64>,
    /// 95th percentile of this delay in ms.
    pub delay_p95_ms: Option<f64>,
    /// 99th percentile of this delay in ms.
    pub delay_p99_ms: Option<f64>,
}

impl From<&HostRecord> for HostTraffic {
    fn from(record: &HostRecord) -> Self {
        let delay = |part| record.delays.quantile_ms(part);
        Self {
            packets: record.packets,
            bytes: record.bytes,
            lost: record.lost,
            delay_p50_ms: delay(0.5),
            delay_p95_ms: delay(0.95),
            delay_p99_ms: delay(0.99),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pair_of_hosts_is_a_flow() {
        let flows = HostFlows::new(5, 3);
        let all = || [Some(0), Some(1), Some(2), None];
        let pairs = all().into_iter().flat_map(|from| all().map(|to| (from, to)));
        for (n, (from, to)) in pairs.enumerate() {
            let flow = flows.flow(from, to);
            assert_eq!(flow, FlowId(5 + n as u32));
            assert_eq!(flows.ends(flow), Some([from, to].map(|host| host.map(|n| n as usize))));
        }
        assert_eq!(flows.ends(FlowId(4)), None);
    }

    #[test]
    fn a_packet_counts_at_both_ends() {
        let flows = HostFlows::new(0, 2);
        let mut records = HostRecords::new(flows);
        records.delivered(flows.flow(Some(0), Some(1)), 100, Duration::from_millis(3));
        records.dropped(flows.flow(Some(1), None));
        let names = ["a", "b"].map(str::to_owned);
        let counts = |t: &HostTraffic| (t.packets, t.bytes, t.lost);
        let found: Vec<_> =
            records.summaries(&names).values().map(|host| (counts(&host.from), counts(&host.to))).collect();
        assert_eq!(found, [((1, 100, 0), (0, 0, 0)), ((0, 0, 1), (1, 100, 0))]);
    }
}
