//! Packets sent and received by external hosts.

use std::collections::BTreeMap;

use serde::Serialize;
use stillair_model::types::{Duration, FlowId};

use super::Delays;

/// Flow numbers of external hosts' packets. These flows follow those of the scenario, one per pair of hosts.
/// All modelled hosts count as one host.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HostFlows {
    first: u32,
    hosts: u32,
}

/// Maximum number of external hosts with named flows, because every pair has a flow.
const NAMED: usize = 64;

impl HostFlows {
    /// Numbers the flows of `hosts` external hosts behind the scenario's `flows`.
    pub fn new(flows: usize, hosts: usize) -> Self {
        Self { first: flows as u32, hosts: hosts as u32 }
    }

    /// Returns the flow from one host to another. `None` is any modelled host.
    pub fn flow(self, from: Option<u32>, to: Option<u32>) -> FlowId {
        let [from, to] = [from, to].map(|host| host.unwrap_or(self.hosts));
        FlowId(self.first + from * (self.hosts + 1) + to)
    }

    /// Returns the names of all these flows in order, such as `a to b`; `model` is any modelled host. Empty
    /// with more than 64 external hosts.
    pub fn names(hosts: &[String]) -> Vec<String> {
        if hosts.is_empty() || hosts.len() > NAMED {
            return Vec::new();
        }
        let all = || hosts.iter().map(String::as_str).chain(["model"]);
        all().flat_map(|from| all().map(move |to| format!("{from} to {to}"))).collect()
    }

    /// Returns the hosts at the ends of such a flow, or `None` for other flows.
    pub(crate) fn ends(self, flow: FlowId) -> Option<[Option<usize>; 2]> {
        let pair = flow.0.checked_sub(self.first)?;
        let all = self.hosts + 1;
        Some([pair / all, pair % all].map(|host| (host < self.hosts).then_some(host as usize)))
    }
}

/// Packets of an external host in one direction, in the measurement interval.
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
    /// Packets from each host, and packets to it.
    by_host: Vec<[HostRecord; 2]>,
}

impl HostRecords {
    /// Creates empty records for hosts with these flow numbers.
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

    /// Records a packet that reached its destination.
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

    /// Returns the summaries by host name.
    pub fn summaries(&self, names: &[String]) -> BTreeMap<String, HostSummary> {
        let one = |[from, to]: &[HostRecord; 2]| HostSummary { from: from.into(), to: to.into() };
        names.iter().cloned().zip(self.by_host.iter().map(one)).collect()
    }
}

/// TCP and UDP payload of external hosts' packets delivered in the measurement interval, in bytes. Data that
/// TCP delivers twice counts twice.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Payload {
    /// Payload sent to and by each host.
    pub by_host: Vec<u64>,
    /// Payload of all packets.
    pub total: u64,
}

/// Summary of an external host.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct HostSummary {
    /// Packets sent by the host.
    pub from: HostTraffic,
    /// Packets sent to the host.
    pub to: HostTraffic,
}

/// Packets of an external host in one direction, in the measurement interval.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct HostTraffic {
    /// Packets delivered within the model.
    pub packets: u64,
    /// Bytes of these packets, from the IP header on.
    pub bytes: u64,
    /// Packets dropped.
    pub lost: u64,
    /// Median delay from entering the model to delivery, in ms.
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
