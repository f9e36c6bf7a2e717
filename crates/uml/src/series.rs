//! The guests' part of a run's series: bytes per step, ping replies, socket samples.

use serde_json::{Value, json};
use stillair_sim::scenario::{Attachment, Flow, FlowKind, InterfaceRef, Role, Scenario, Ways};

use thiserror::Error;

use crate::BEFORE;

/// A line of a guest's program that is not a sample.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("a guest's program wrote \"{line}\"")]
pub struct SampleError {
    /// The line.
    pub line: String,
}

/// A counter sampled by a guest's program, one line per sample.
#[derive(Debug)]
pub struct Counter(Vec<(u64, f64)>);

impl Counter {
    /// Parses the lines of this kind, which have the time and then columns. The counter is zero until
    /// `start`.
    pub fn new(text: &str, start: u64, kind: &str, column: usize) -> Result<Self, SampleError> {
        let mut points: Vec<(u64, f64)> = vec![(0, 0.0), (start, 0.0)];
        for line in text.lines().filter(|line| line.split(' ').next() == Some(kind)) {
            let words: Vec<&str> = line.split(' ').collect();
            let at = words.get(1).and_then(|word| word.parse().ok());
            let value = words.get(1 + column).and_then(|word| word.parse().ok());
            let (Some(at), Some(value)) = (at, value) else {
                return Err(SampleError { line: line.to_owned() });
            };
            if at > start {
                points.push((at, value));
            }
        }
        Ok(Self(points))
    }

    /// Value at a guest's age, interpolated linearly between samples.
    fn at(&self, at: u64) -> f64 {
        let n = self.0.partition_point(|&(t, _)| t <= at);
        let (t0, v0) = self.0[n - 1];
        self.0.get(n).map_or(v0, |&(t1, v1)| v0 + (v1 - v0) * (at - t0) as f64 / (t1 - t0) as f64)
    }

    /// Increase of the counter in a period.
    pub fn change(&self, [from, until]: [u64; 2]) -> f64 {
        self.at(until) - self.at(from)
    }

    /// Increase in each step since the start of the scenario.
    fn steps(&self, step: u64, steps: u64) -> Vec<u64> {
        let edge = |n: u64| self.at(BEFORE + n * step) as u64;
        (0..steps).map(|n| edge(n + 1) - edge(n)).collect()
    }
}

/// Entry of a flow to its `n`th receiver in the series, without measurements.
pub fn about(scenario: &Scenario, flow: &Flow, n: usize, name: &str) -> Value {
    let ends = Ways::new(scenario).ends(flow.from, flow.to[n]);
    let station = |at: &InterfaceRef| {
        let medium = &scenario.nodes[at.node].interfaces[at.interface].medium;
        matches!(medium, Attachment::Wifi(wifi) if matches!(wifi.role, Role::Station(_)))
    };
    let [from, to] = ends;
    let of = [to, from].into_iter().find(station).map(|at| scenario.station_name(at));
    let kind = match flow.kind {
        FlowKind::Tcp { .. } => "tcp",
        FlowKind::Ping { .. } => "ping",
        FlowKind::UdpPing { .. } => "udp_ping",
        _ => "udp",
    };
    let mut all = json!({
        "name": name, "kind": kind, "from": scenario.end_name(flow.from), "to": scenario.end_name(flow.to[n]),
        "station": of,
        "tos": flow.tos, "dscp": flow.tos >> 2, "ac": scenario.category(flow, ends).name(),
    });
    if let Some(series) = &flow.series {
        all["flent"] = json!(series);
    }
    all
}

/// Adds a flow to the series of a run, if the run has series: its bytes per step, or the replies that its
/// program reported.
pub fn put(run: &mut Value, about: &Value, bytes: Option<&Counter>, said: Option<&str>) {
    let Some(series) = run.get_mut("series").filter(|series| series.is_object()) else { return };
    let number = |key: &str| series[key].as_u64().unwrap_or(0);
    let mut flow = about.clone();
    if let Some(bytes) = bytes {
        flow["bytes"] = json!(bytes.steps(number("step_ns"), number("steps")));
    }
    if let Some(said) = said {
        flow["pings"] = json!(replies(said));
    }
    if let Some(flows) = series["flows"].as_array_mut() {
        flows.push(flow);
    }
}

/// Arrival time and round-trip time of each reply in ns, and its number, in order of arrival.
fn replies(said: &str) -> Vec<[u64; 3]> {
    let all = said.lines().filter_map(|line| line.strip_prefix("p ")).filter_map(|line| {
        let words: Vec<u64> = line.split(' ').filter_map(|word| word.parse().ok()).collect();
        let [n, at, rtt] = words[..] else { return None };
        Some([(at + rtt).saturating_sub(BEFORE), rtt, n])
    });
    all.collect()
}

/// Socket samples as a series, under the names of modelled sockets. A sample has: age in ns, congestion
/// window, ssthresh, srtt and rttvar in us, pacing rate in B/s, retransmitted segments, and acknowledged
/// bytes.
pub fn socket(samples: impl Iterator<Item = [f64; 8]>) -> Value {
    let all: Vec<[f64; 8]> = samples.collect();
    let column = |n: usize, by: f64| all.iter().map(|sample| sample[n] * by).collect::<Vec<f64>>();
    let t: Vec<f64> = all.iter().map(|sample| (sample[0] - BEFORE as f64) / 1e9).collect();
    let acked: Vec<u64> = all.iter().map(|sample| sample[7] as u64).collect();
    json!({
        "t_s": t, "cwnd": column(1, 1.0), "ssthresh": column(2, 1.0), "srtt_ms": column(3, 1e-3), "rttvar_ms": column(4, 1e-3),
        "pacing_mbps": column(5, 8e-6), "retrans_total": column(6, 1.0), "bytes_acked": acked,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "r 2100000000 1 1000\nr 2200000000 1 3000\nr 2400000000 1 7000\n";

    #[test]
    fn a_counter_is_interpolated_between_samples() {
        let counter = Counter::new(SAID, 2_050_000_000, "r", 2).expect("a counter");
        assert_eq!(counter.steps(100_000_000, 6), [1000, 2000, 2000, 2000, 0, 0]);
        assert_eq!(counter.change([2_200_000_000, 2_300_000_000]), 2000.0);
        assert!(Counter::new("r 21 x\n", 0, "r", 2).is_err());
    }

    #[test]
    fn flows_are_added_to_existing_series() {
        let about = json!({ "name": "up.b", "kind": "tcp" });
        let counter = Counter::new(SAID, 2_050_000_000, "r", 2).expect("a counter");
        let mut without = json!({ "series": null });
        put(&mut without, &about, Some(&counter), None);
        assert_eq!(without, json!({ "series": null }));
        let mut run = json!({ "series": { "step_ns": 200_000_000, "steps": 2, "flows": [] } });
        put(&mut run, &about, Some(&counter), None);
        put(
            &mut run,
            &json!({ "name": "ping.b" }),
            None,
            Some("p 0 2000000000 5000000\nq 2\np 1 2200000000 6000000\n"),
        );
        assert_eq!(
            run["series"]["flows"],
            json!([
                { "name": "up.b", "kind": "tcp", "bytes": [3000, 4000] },
                { "name": "ping.b", "pings": [[5_000_000, 5_000_000, 0], [206_000_000, 6_000_000, 1]] },
            ])
        );
    }

    #[test]
    fn a_real_socket_has_the_columns_of_a_modelled_one() {
        let socket = socket([[2.2e9, 10.0, 7.0, 5000.0, 100.0, 1.25e6, 3.0, 14480.0]].into_iter());
        assert_eq!(socket["bytes_acked"], json!([14480]));
        assert_eq!((&socket["srtt_ms"], &socket["pacing_mbps"]), (&json!([5.0]), &json!([10.0])));
    }
}
