//! The program that generates the scenario's flows in guests, and its measurements.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use stillair_model::app::WhenFull;
use stillair_model::types::{Duration, Ip, Seed};
use stillair_sim::scenario::{Flow, FlowKind, Gap, InterfaceRef, Scenario, Ways};
use thiserror::Error;

use crate::BEFORE;
use crate::counted;
use crate::guest::{Guest, GuestError};
use crate::plan::Plan;
use crate::series::{self, Counter, SampleError};

/// A flow that guests cannot generate.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("flow {flow}: found {found} between guests, expected {expected}")]
pub struct FlowError {
    /// Name of the flow, including the receiver.
    pub flow: String,
    /// The setting that is not supported.
    pub found: &'static str,
    /// A setting that is supported.
    pub expected: &'static str,
}

/// Errors of reading the guests' measurements.
#[derive(Debug, Error)]
pub enum ReportError {
    /// A file cannot be read.
    #[error(transparent)]
    Guest(#[from] GuestError),
    /// A program wrote a line that is not a sample.
    #[error(transparent)]
    Sample(#[from] SampleError),
}

/// First port used by flows.
const PORT: u16 = 5201;
/// Default sampling interval of programs in ns, unless the scenario sets one for `ss`.
const STEP: u64 = 100_000_000;
/// Head start of servers before the scenario, in ns.
const EARLY: u64 = 500_000_000;
/// Delay between the end of the scenario and the interrupt to programs, in ns, so that output at the end
/// itself is complete.
const LATE: u64 = 1_000_000;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Tcp,
    Udp,
    Ping,
    UdpPing,
}

#[derive(Clone, Debug)]
struct Program {
    guest: usize,
    id: String,
    at: u64,
    words: Vec<String>,
    own: bool,
}

#[derive(Clone, Debug)]
struct RealFlow {
    name: String,
    kind: Kind,
    ends: [String; 2],
    /// Guest and program of the sender and the receiver.
    sender: (usize, String),
    receiver: Option<(usize, String)>,
    interval: u64,
    start: u64,
    /// Entry of the flow in the series, without measurements.
    about: Value,
}

/// The programs of a run.
#[derive(Clone, Debug, Default)]
pub struct Programs {
    all: Vec<Program>,
    flows: Vec<RealFlow>,
    /// Measured time, as a guest's age in ns.
    measured: [u64; 2],
    end: u64,
    /// True if the scenario records `ss` series.
    asks_ss: bool,
}

impl Programs {
    /// Creates the programs for a scenario's flows. The error names a flow that guests cannot generate.
    pub fn new(scenario: &Scenario, plan: &Plan, seed: Seed) -> Result<Self, FlowError> {
        let end = scenario.duration.nanos();
        let measured = [scenario.warm_up.nanos(), end.saturating_sub(scenario.cool_down.nanos())];
        let mut programs = Self {
            measured: measured.map(|at| at + BEFORE),
            end: end + BEFORE + LATE,
            asks_ss: scenario.record.ss.is_some(),
            ..Self::default()
        };
        for flow in &scenario.live_flows {
            for (n, to) in flow.to.iter().enumerate() {
                programs.flow(scenario, plan, seed, flow, n, to.node)?;
            }
        }
        for (guest, of) in plan.guests.iter().enumerate() {
            for (what, step) in [("qdisc", scenario.record.tc), ("nstat", scenario.record.nstat)] {
                let Some(step) = step else { continue };
                let words = ["stats", what, &step.nanos().to_string()].map(str::to_owned).to_vec();
                programs.all.push(Program {
                    guest,
                    id: format!("stats-{what}"),
                    at: BEFORE,
                    words,
                    own: true,
                });
            }
            for (n, program) in of.guest.run.iter().enumerate() {
                let (at, words) = (program.at.nanos() + BEFORE, vec![program.command.clone()]);
                programs.all.push(Program { guest, id: format!("run-{}", n + 1), at, words, own: false });
            }
        }
        Ok(programs)
    }

    fn flow(
        &mut self,
        scenario: &Scenario,
        plan: &Plan,
        seed: Seed,
        flow: &Flow,
        n: usize,
        to: usize,
    ) -> Result<(), FlowError> {
        let name = format!("{}.{}", flow.name, scenario.end_name(flow.to[n]));
        let refuse = |found, expected| Err(FlowError { flow: name.clone(), found, expected });
        let Some(from) = plan.of_node(flow.from.node) else {
            return refuse("a sender that is not a guest", "a guest");
        };
        let nth = self.flows.len();
        let port = PORT + nth as u16;
        let six = flow.ip == Ip::V6;
        let text = |at: InterfaceRef| {
            let of = &scenario.nodes[at.node].interfaces[at.interface];
            if six { of.address6.to_string() } else { of.address.to_string() }
        };
        let [own, other] = Ways::new(scenario).ends(flow.from, flow.to[n]);
        let address = text(other);
        // A guest with one interface needs no source address.
        let own = if plan.guests[from].interfaces.len() > 1 { text(own) } else { "-".to_owned() };
        let any = if six { "::" } else { "0.0.0.0" };
        let of_both = |guest: usize| plan.guests[guest].guest.mptcp;
        let mptcp = u8::from(of_both(from) && plan.of_node(to).is_some_and(of_both));
        // Same start offset as for a modelled flow of that name.
        let late = flow.start_spread.nanos() as f64 * seed.stream(&format!("{name}.start")).unit();
        let start = flow.start.nanos() + late as u64 + BEFORE;
        let stop = flow.stop.map_or(scenario.duration.nanos(), Duration::nanos) + BEFORE;
        let step = scenario.record.ss.map_or(STEP, Duration::nanos).max(1_000_000);
        // Bytes after a receiver's last line are not counted, so lines are at most this far apart.
        let counts = step.min(STEP);
        let (tos, port) = (flow.tos, port.to_string());
        let (kind, server, client, interval) = match &flow.kind {
            FlowKind::Tcp { congestion_control, bytes, write_size, gate: None } => {
                let (control, bytes) = (congestion_control.name(), bytes.unwrap_or(0));
                let control = plan.guests[from].guest.congestion_control.as_deref().unwrap_or(control);
                let client = format!(
                    "tcp-send {own} {address} {port} {control} {bytes} {write_size} {tos} {stop} {step} {mptcp}"
                );
                (Kind::Tcp, Some(format!("tcp-sink {any} {port} {counts} {mptcp}")), client, 0)
            }
            FlowKind::Udp { rates, payload, burst, gap, when_full } => {
                if *when_full != WhenFull::Block {
                    return refuse("a socket that does not block", "when_full = \"block\"");
                }
                if *gap != Gap::Periodic {
                    return refuse("random gaps", "gap = \"periodic\"");
                }
                let bits = u128::from(*payload) * u128::from(*burst) * 8 * 1_000_000_000;
                let each = (bits / u128::from(rates[n].bps().max(1))).max(1);
                let client = format!("udp-send {own} {address} {port} {payload} {burst} {each} {tos} {stop}");
                (Kind::Udp, Some(format!("udp-sink {any} {port} {counts}")), client, 0)
            }
            FlowKind::Ping { interval, payload } => {
                let each = interval.nanos();
                (Kind::Ping, None, format!("ping {own} {address} {each} {payload} {tos} {stop}"), each)
            }
            FlowKind::UdpPing { interval, payload } => {
                let each = interval.nanos();
                let client = format!("udp-ping {own} {address} {port} {each} {payload} {tos} {stop}");
                (Kind::UdpPing, Some(format!("udp-echo {any} {port}")), client, each)
            }
            FlowKind::Tcp { .. } => {
                return refuse("TCP by rate or in turns", "a greedy transfer, or one of so many bytes");
            }
            _ => return refuse("such traffic", "\"tcp\", \"udp\", \"ping\" or \"udp_ping\""),
        };
        let words = |text: String| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let receiver = match (server, plan.of_node(to)) {
            (Some(server), Some(guest)) => {
                let id = format!("flow-{}-server", nth + 1);
                let at = BEFORE - EARLY;
                self.all.push(Program { guest, id: id.clone(), at, words: words(server), own: true });
                Some((guest, id))
            }
            _ => None,
        };
        let id = format!("flow-{}-client", nth + 1);
        self.all.push(Program { guest: from, id: id.clone(), at: start, words: words(client), own: true });
        let ends = [scenario.end_name(flow.from), scenario.end_name(flow.to[n])];
        let about = series::about(scenario, flow, n, &name);
        self.flows.push(RealFlow { name, kind, ends, sender: (from, id), receiver, interval, start, about });
        Ok(())
    }

    /// Orders for a guest's first program.
    pub fn orders(&self, guest: usize) -> String {
        let mut all = String::new();
        for program in self.all.iter().filter(|program| program.guest == guest) {
            let what = if program.own { "traffic" } else { "run" };
            all.push_str(&format!("{what}\t{}\t{}\t{}\n", program.id, program.at, program.words.join("\t")));
        }
        all.push_str(&format!("end\t{}\n", self.end));
        all
    }

    /// Adds the programs' measurements to the report of a run, under the keys of modelled flows. Failures
    /// are added to `faults`. Returns the exit results of each guest's programs.
    pub fn report(
        &self,
        run: &mut Value,
        plan: &Plan,
        guests: &[Guest],
        faults: &mut Vec<String>,
    ) -> Result<Value, ReportError> {
        let (mut flows, mut pings, mut sockets, mut goodput) =
            (BTreeMap::new(), BTreeMap::new(), BTreeMap::new(), 0.0);
        for flow in &self.flows {
            let read = |(guest, id): &(usize, String)| guests[*guest].said(id);
            let sent = read(&flow.sender)?;
            let received = flow.receiver.as_ref().map(read).transpose()?.unwrap_or_default();
            let [from, to] = &flow.ends;
            match flow.kind {
                Kind::Tcp => {
                    let bytes = Counter::new(&received, flow.start, "r", 2)?;
                    let mbps = self.rate(&bytes);
                    series::put(run, &flow.about, Some(&bytes), None);
                    goodput += mbps;
                    let mut tcp = self.samples(&sent);
                    let paths = counted::paths(&sent);
                    if !paths.is_empty() {
                        tcp["paths"] = json!(paths);
                    }
                    if self.asks_ss {
                        sockets.insert(flow.name.clone(), series::socket(samples(&sent)));
                    }
                    if sent.lines().all(|line| !line.starts_with("s ") && !line.starts_with("f ")) {
                        faults.push(format!("flow {}: nothing sent: {}", flow.name, sent.trim()));
                    }
                    flows.insert(
                        flow.name.clone(),
                        json!({
                            "protocol": "tcp", "from": from, "to": to, "goodput_mbps": mbps, "packets": null, "lost": null, "loss": null,
                            "delay_p50_ms": null, "delay_p95_ms": null, "delay_p99_ms": null,
                            "retransmissions": tcp["retransmissions"], "guest_tcp": tcp,
                        }),
                    );
                }
                Kind::Udp => {
                    let bytes = Counter::new(&received, flow.start, "d", 2)?;
                    let mbps = self.rate(&bytes);
                    series::put(run, &flow.about, Some(&bytes), None);
                    goodput += mbps;
                    let [got, last] = [1, 3].map(|column| Counter::new(&received, flow.start, "d", column));
                    let (got, last) = (got?.change(self.measured), last?.change(self.measured));
                    let lost = (last - got).max(0.0);
                    flows.insert(
                        flow.name.clone(),
                        json!({
                            "protocol": "udp", "from": from, "to": to, "goodput_mbps": mbps, "packets": got.round(), "lost": lost.round(),
                            "loss": lost / last.max(1.0), "delay_p50_ms": null, "delay_p95_ms": null, "delay_p99_ms": null,
                        }),
                    );
                }
                Kind::Ping | Kind::UdpPing => {
                    let ping = self.ping(flow, &sent);
                    series::put(run, &flow.about, None, Some(&sent));
                    if ping["received"] == json!(0) {
                        faults.push(format!("flow {}: no reply received: {}", flow.name, sent.trim()));
                    }
                    at_stations(run, flow, &ping);
                    pings.insert(flow.name.clone(), ping);
                }
            }
        }
        put(run, "flows", flows);
        put(run, "pings", pings);
        put(run, "sockets", sockets);
        counted::put(
            run,
            plan,
            guests,
            &self.all.iter().map(|of| (of.guest, of.id.as_str())).collect::<Vec<_>>(),
        )?;
        let total = run["goodput_total_mbps"].as_f64().unwrap_or(0.0) + goodput;
        run["goodput_total_mbps"] = json!(total);
        let mut programs = json!({});
        for program in &self.all {
            let guest = &guests[program.guest];
            let status = guest.file(&format!("{}.status", program.id))?;
            let status = status.and_then(|text| String::from_utf8_lossy(&text).trim().parse::<i32>().ok());
            let one = json!({ "command": program.words.join(" "), "at_ns": program.at.saturating_sub(BEFORE), "status": status });
            programs[&guest.name][&program.id] = one;
            if program.own && status.is_some_and(|status| status != 0) {
                let why = guest.said(&program.id)?;
                let last = why.lines().last().unwrap_or_default();
                faults.push(format!("node.{}: {}: {last}", guest.name, program.words.join(" ")));
            }
        }
        Ok(programs)
    }

    fn rate(&self, bytes: &Counter) -> f64 {
        let seconds = self.measured[1].saturating_sub(self.measured[0]) as f64 / 1e9;
        bytes.change(self.measured) * 8.0 / 1e6 / seconds.max(1e-9)
    }

    /// Socket statistics of a sender, as `ss` would report them: means over the measured time.
    fn samples(&self, text: &str) -> Value {
        let (mut cwnd, mut srtt, mut pacing, mut again) = (Vec::new(), Vec::new(), Vec::new(), 0);
        for [at, window, _, rtt, _, rate, retransmissions, _] in samples(text) {
            again = retransmissions as u64;
            if (self.measured[0] as f64..=self.measured[1] as f64).contains(&at) && rtt > 0.0 {
                cwnd.push(window);
                srtt.push(rtt / 1e3);
                pacing.push(rate * 8.0 / 1e6);
            }
        }
        let mean = |all: &[f64]| (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64);
        srtt.sort_by(f64::total_cmp);
        json!({
            "retransmissions": again, "cwnd_mean": mean(&cwnd), "srtt_mean_ms": mean(&srtt), "srtt_median_ms": part(&srtt, 0.5),
            "pacing_mean_mbps": mean(&pacing),
        })
    }

    /// Outcome of the requests sent in the measured time, and round-trip times of the replies received in
    /// it.
    fn ping(&self, flow: &RealFlow, text: &str) -> Value {
        let sent: u64 = text.lines().find_map(|line| line.strip_prefix("q ")?.parse().ok()).unwrap_or(0);
        let within = |at: u64| (self.measured[0]..=self.measured[1]).contains(&at);
        let all = (0..sent).filter(|n| within(flow.start + n * flow.interval)).count();
        let (mut received, mut times) = (0, Vec::new());
        for line in text.lines().filter(|line| line.starts_with("p ")) {
            let words: Vec<u64> = line.split(' ').skip(1).filter_map(|word| word.parse().ok()).collect();
            let [n, at, rtt] = words[..] else { continue };
            received += usize::from(within(flow.start + n * flow.interval));
            if within(at + rtt) {
                times.push(rtt as f64 / 1e6);
            }
        }
        times.sort_by(f64::total_cmp);
        let mean = (!times.is_empty()).then(|| times.iter().sum::<f64>() / times.len() as f64);
        let lost = all.saturating_sub(received);
        json!({
            "sent": all, "received": received, "lost": lost, "loss": (all > 0).then(|| lost as f64 / all as f64), "replies": times.len(),
            "median_ms": part(&times, 0.5), "p95_ms": part(&times, 0.95), "p99_ms": part(&times, 0.99), "mean_ms": mean,
        })
    }
}

/// Samples of a sender's socket: age in ns, congestion window, ssthresh, srtt and rttvar in us, pacing rate
/// in B/s, retransmitted segments, acknowledged bytes.
fn samples(text: &str) -> impl Iterator<Item = [f64; 8]> {
    text.lines().filter(|line| line.starts_with("s ")).filter_map(|line| {
        let words: Vec<f64> = line.split(' ').skip(1).filter_map(|word| word.parse().ok()).collect();
        let [at, window, threshold, rtt, var, rate, _, again, _, _, _, _, acked] = words[..] else {
            return None;
        };
        Some([at, window, threshold, rtt, var, rate, again, acked])
    })
}

/// Quantile of sorted numbers.
fn part(all: &[f64], p: f64) -> Option<f64> {
    all.get((p * all.len().saturating_sub(1) as f64).round() as usize).copied()
}

fn put(run: &mut Value, group: &str, new: BTreeMap<String, Value>) {
    if new.is_empty() {
        return;
    }
    if run[group].is_null() {
        run[group] = json!({});
    }
    new.into_iter().for_each(|(name, value)| run[group][name] = value);
}

/// Copies round-trip times of a ping to or from a station to the report's station entries.
fn at_stations(run: &mut Value, flow: &RealFlow, ping: &Value) {
    let prefix = if flow.kind == Kind::Ping { "ping" } else { "udp_ping" };
    for end in &flow.ends {
        let Some(station) = run["stations"].get_mut(end.as_str()).and_then(Value::as_object_mut) else {
            continue;
        };
        for of in ["median_ms", "p95_ms", "p99_ms", "mean_ms"] {
            if let Some(place) = station.get_mut(&format!("{prefix}_{of}")).filter(|place| place.is_null()) {
                *place = ping[of].clone();
            }
        }
    }
}
