//! The tools of a run: their start times and results.

use std::collections::BTreeMap;
use std::fs;

use nix::sys::signal::Signal;
use serde_json::{Map, Value, json};
use stillair_model::app::WhenFull;
use stillair_model::types::Duration;
use stillair_sim::scenario::{Flow, FlowKind, Scenario};

use super::{ToolsError, fping, iperf3, irtt, page, programs};
use crate::plan::Plan;
use crate::space::launcher::{Ended, Launcher, LauncherError, Order};
use crate::space::tool;

/// Number of the user's command.
pub const COMMAND: u32 = 0;
/// First server port.
const PORT: u16 = 5201;
/// Longest wait for servers to listen, in ns. Clients of servers that do not listen by then fail and report
/// an error.
pub const PATIENCE: u64 = 10_000_000_000;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Tcp,
    Udp,
    Ping,
    UdpPing,
    Page,
}

#[derive(Debug)]
struct Tool {
    /// Flow name, including the receiver.
    name: String,
    ends: [String; 2],
    kind: Kind,
    hosts: [usize; 2],
    server: Option<Vec<String>>,
    client: Vec<String>,
    /// Port of its server.
    port: u16,
    /// Start of the client in ns, and the measured time relative to that start.
    start: u64,
    measured: [f64; 2],
    interval: f64,
    state: State,
    /// True if stopped early; its measurements may then be missing.
    stopped: bool,
    /// True while its server is running; the server reports its measurements when it ends.
    listens: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Waits,
    Runs,
    Ended(i32),
}

/// The tools of a run.
#[derive(Debug, Default)]
pub struct Tools(Vec<Tool>);

impl Tools {
    /// The tools for a scenario's flows. Flows without a tool are added to `notes`. `end` is the end of
    /// flows without a stop time, if known. `ours` is true if hosts can find this project's programs.
    pub fn new(
        scenario: &Scenario,
        plan: &Plan,
        end: Option<Duration>,
        ours: bool,
        notes: &mut Vec<String>,
    ) -> Result<Self, ToolsError> {
        let mut all: Vec<Tool> = Vec::new();
        for flow in &scenario.live_flows {
            for (n, to) in flow.to.iter().enumerate() {
                let name = format!("{}.{}", flow.name, scenario.end_name(*to));
                let [from_host, to_host] =
                    [flow.from.node, to.node].map(|node| plan.find(&scenario.nodes[node].name));
                let (Some(from_host), Some(to_host)) = (from_host, to_host) else { continue };
                let port = PORT + all.len() as u16;
                let way = Way { flow, receiver: n, port, to: plan.hosts[to_host].address.to_string(), end };
                let Some((kind, server, client)) = way.commands() else {
                    notes.push(format!(
                        "flow {name}: no real tool generates such traffic between live hosts; skipped"
                    ));
                    continue;
                };
                for command in server.iter().chain([&client]) {
                    needed(&command[0], ours)?;
                }
                let interval = match flow.kind {
                    FlowKind::Ping { interval, .. } | FlowKind::UdpPing { interval, .. } => {
                        interval.secs_f64()
                    }
                    _ => 0.0,
                };
                let since = |t: Duration| t.secs_f64() - flow.start.secs_f64();
                let last = end.map_or(f64::INFINITY, |end| {
                    since(Duration::from_nanos(end.nanos().saturating_sub(scenario.cool_down.nanos())))
                });
                all.push(Tool {
                    name,
                    ends: [scenario.end_name(flow.from), scenario.end_name(*to)],
                    kind,
                    hosts: [from_host, to_host],
                    server,
                    client,
                    port,
                    start: flow.start.nanos(),
                    measured: [since(scenario.warm_up).max(0.0), last],
                    interval,
                    state: State::Waits,
                    stopped: false,
                    listens: matches!(kind, Kind::Tcp | Kind::Udp),
                });
            }
        }
        Ok(Self(all))
    }

    /// Starts all servers.
    pub fn serve(&self, launcher: &Launcher) -> Result<(), LauncherError> {
        for (n, tool) in self.0.iter().enumerate() {
            if let Some(server) = &tool.server {
                start(launcher, number(n, true), tool.hosts[1], server)?;
            }
        }
        Ok(())
    }

    /// Hosts with servers, and the port of each.
    pub fn listeners(&self) -> impl Iterator<Item = (usize, u16)> {
        self.0.iter().filter(|tool| tool.server.is_some()).map(|tool| (tool.hosts[1], tool.port))
    }

    /// Starts the clients that are due. Returns the time of the next start.
    pub fn begin(&mut self, now: u64, launcher: &Launcher) -> Result<u64, LauncherError> {
        for (n, tool) in self.0.iter_mut().enumerate() {
            if tool.state == State::Waits && tool.start <= now {
                start(launcher, number(n, false), tool.hosts[0], &tool.client)?;
                tool.state = State::Runs;
            }
        }
        let waits = self.0.iter().filter(|tool| tool.state == State::Waits);
        Ok(waits.map(|tool| tool.start).min().unwrap_or(u64::MAX))
    }

    /// Records that a program has ended.
    pub fn ended(&mut self, ended: Ended) {
        let (n, server) = ((ended.id - 1) as usize / 2, ended.id.is_multiple_of(2));
        let Some(tool) = self.0.get_mut(n) else { return };
        if server {
            tool.listens = false;
        } else {
            tool.state = State::Ended(ended.status);
            // A failed client never reached its server.
            tool.listens &= ended.status == 0;
        }
    }

    /// Returns true if all tools have ended, or there are none.
    pub fn are_done(&self) -> bool {
        self.0.iter().all(|tool| matches!(tool.state, State::Ended(_)) && !tool.listens)
    }

    /// Returns true if there are any tools.
    pub fn are_some(&self) -> bool {
        !self.0.is_empty()
    }

    /// Stops running clients, and cancels clients that have not started.
    pub fn stop(&mut self, launcher: &Launcher) {
        for (n, tool) in self.0.iter_mut().enumerate() {
            match tool.state {
                State::Runs => {
                    tool.stopped = true;
                    let _ = launcher
                        .order(&Order::Signal { id: number(n, false), signal: Signal::SIGINT as i32 });
                }
                State::Waits => (tool.state, tool.listens) = (State::Ended(0), false),
                State::Ended(_) => {}
            }
        }
    }

    /// Adds the tools' measurements to the report of a run, under the keys of modelled flows. Returns the
    /// command line and output of each tool by flow. Failures are added to `faults`, and missing
    /// measurements of stopped tools to `notes`.
    pub fn report(&self, run: &mut Value, faults: &mut Vec<String>, notes: &mut Vec<String>) -> Value {
        let mut all = Map::new();
        let (mut goodput, mut flows, mut pings, mut pages) =
            (0.0, BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        for (n, tool) in self.0.iter().enumerate() {
            let text = |server| fs::read_to_string(file(number(n, server))).unwrap_or_default();
            let [from, until] = tool.measured;
            let [sender, receiver] = &tool.ends;
            let found = match tool.kind {
                Kind::Tcp | Kind::Udp => iperf3::transfer(&text(true), from, until).map(|t| {
                    goodput += t.mbps;
                    let protocol = if tool.kind == Kind::Tcp { "tcp" } else { "udp" };
                    let mut flow = json!({
                        "protocol": protocol, "from": sender, "to": receiver, "goodput_mbps": t.mbps,
                        "packets": t.datagrams.map(|(got, _)| got), "lost": t.datagrams.map(|(_, lost)| lost),
                        "loss": t.datagrams.map(|(got, lost)| lost as f64 / (got + lost).max(1) as f64),
                        "delay_p50_ms": null, "delay_p95_ms": null, "delay_p99_ms": null,
                    });
                    if let Some(again) = iperf3::retransmissions(&text(false)) {
                        flow["retransmissions"] = json!(again);
                    }
                    flows.insert(tool.name.clone(), flow);
                }),
                Kind::Ping => Ok(fping::requests(&text(false))).map(|all| ping(&mut pings, tool, &all)),
                Kind::UdpPing => irtt::requests(&text(false)).map(|all| ping(&mut pings, tool, &all)),
                Kind::Page => page::loads(&text(false)).map(|all| {
                    pages.insert(tool.name.clone(), all.summary(from, until));
                }),
            };
            let why = found.err().map(|why| why.to_string()).or_else(|| match tool.state {
                State::Ended(127) => Some(text(false).trim().to_owned()),
                _ => None,
            });
            if let Some(why) = &why {
                if tool.stopped { &mut *notes } else { &mut *faults }
                    .push(format!("flow {}: {why}", tool.name));
            }
            let status = match tool.state {
                State::Ended(status) => json!(status),
                _ => json!(null),
            };
            let said =
                |server| serde_json::from_str(text(server).trim()).unwrap_or_else(|_| json!(text(server)));
            all.insert(
                tool.name.clone(),
                json!({
                    "command": tool.client.join(" "), "status": status, "client": said(false),
                    "server": tool.server.as_ref().map(|_| said(true)),
                }),
            );
        }
        put(run, "flows", flows);
        at_stations(run, &self.0, &pings);
        put(run, "pings", pings);
        if !pages.is_empty() {
            put(run, "web", pages);
            let of = |page: &Value| page["mean_s"].as_f64();
            let means: Vec<f64> =
                run["web"].as_object().into_iter().flat_map(|all| all.values()).filter_map(of).collect();
            if !means.is_empty() {
                run["page_load_s"] = json!(means.iter().sum::<f64>() / means.len() as f64);
            }
        }
        let total = run["goodput_total_mbps"].as_f64().unwrap_or(0.0) + goodput;
        run["goodput_total_mbps"] = json!(total);
        Value::Object(all)
    }
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

/// Outcome of the requests sent in the measured time, and round-trip times of the replies received in it.
fn ping(pings: &mut BTreeMap<String, Value>, tool: &Tool, requests: &[(u64, Option<f64>)]) {
    let [from, until] = tool.measured;
    let at = |number: u64| number as f64 * tool.interval;
    let of_them: Vec<_> = requests.iter().filter(|(n, _)| (from..=until).contains(&at(*n))).collect();
    let received = of_them.iter().filter(|(_, ms)| ms.is_some()).count();
    let lost = of_them.len() - received;
    let came =
        requests.iter().filter_map(|&(n, ms)| ms.filter(|ms| (from..=until).contains(&(at(n) + ms / 1e3))));
    let mut times: Vec<f64> = came.collect();
    times.sort_by(f64::total_cmp);
    let part = |p: f64| times.get((p * times.len().saturating_sub(1) as f64).round() as usize);
    let mean = (!times.is_empty()).then(|| times.iter().sum::<f64>() / times.len() as f64);
    let loss = (!of_them.is_empty()).then(|| lost as f64 / of_them.len() as f64);
    pings.insert(
        tool.name.clone(),
        json!({
            "sent": of_them.len(), "received": received, "lost": lost, "loss": loss, "replies": times.len(),
            "median_ms": part(0.5), "p95_ms": part(0.95), "p99_ms": part(0.99), "mean_ms": mean, "longest_ms": part(1.0),
        }),
    );
}

/// Copies round-trip times of pings to or from a station to the report's station entries.
fn at_stations(run: &mut Value, tools: &[Tool], pings: &BTreeMap<String, Value>) {
    for tool in tools {
        let (Some(ping), prefix) =
            (pings.get(&tool.name), if tool.kind == Kind::Ping { "ping" } else { "udp_ping" })
        else {
            continue;
        };
        for end in &tool.ends {
            let Some(station) = run["stations"].get_mut(end.as_str()).and_then(Value::as_object_mut) else {
                continue;
            };
            for of in ["median_ms", "p95_ms", "p99_ms", "mean_ms"] {
                if let Some(place) =
                    station.get_mut(&format!("{prefix}_{of}")).filter(|place| place.is_null())
                {
                    *place = ping[of].clone();
                }
            }
        }
    }
}

/// Tools are numbered from 1, with two numbers each: client and server.
fn number(n: usize, server: bool) -> u32 {
    n as u32 * 2 + 1 + u32::from(server)
}

fn file(id: u32) -> String {
    format!("output-{id}")
}

fn start(launcher: &Launcher, id: u32, host: usize, command: &[String]) -> Result<(), LauncherError> {
    launcher.order(&Order::Start { id, host, command: command.to_vec(), output: Some(file(id)) })
}

/// Checks that a program is available; the error says how to install it. This project's own programs are
/// Python scripts, available if `ours` is true.
fn needed(program: &str, ours: bool) -> Result<(), ToolsError> {
    let program = match program {
        programs::PAGE if !ours => return Err(ToolsError::NoFolder { program: program.to_owned() }),
        programs::PAGE => "python3",
        other => other,
    };
    match tool::find(program) {
        Some(_) => Ok(()),
        None => Err(ToolsError::Missing { program: program.to_owned() }),
    }
}

/// The kind of tool, its server command if any, and its client command.
type Commands = (Kind, Option<Vec<String>>, Vec<String>);

struct Way<'a> {
    flow: &'a Flow,
    receiver: usize,
    port: u16,
    to: String,
    end: Option<Duration>,
}

impl Way<'_> {
    /// Duration in s; `None` until stopped.
    fn length(&self) -> Option<f64> {
        let end = self.flow.stop.or(self.end)?;
        Some((end.secs_f64() - self.flow.start.secs_f64()).max(0.1))
    }

    /// The tool, its server command if any, and its client command.
    fn commands(&self) -> Option<Commands> {
        let words = |text: String| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let Self { flow, port, to, .. } = self;
        let tos = flow.tos;
        // iperf3 accepts only whole seconds; 0 means no end.
        let seconds = self.length().map_or(0, |s| (s.round() as u64).max(1));
        let server = || Some(words(format!("iperf3 -s -1 -J -i 0.5 -B {to} -p {port}")));
        let iperf3 = format!("iperf3 -c {to} -p {port} -J -i 0.5 -S {tos}");
        match &flow.kind {
            FlowKind::Tcp { congestion_control, bytes, write_size, gate: None } => {
                let much = bytes.map_or_else(|| format!("-t {seconds}"), |bytes| format!("-n {bytes}"));
                let client = format!("{iperf3} {much} -l {write_size} -C {}", congestion_control.name());
                Some((Kind::Tcp, server(), words(client)))
            }
            FlowKind::Udp { rates, payload, when_full: WhenFull::Block, .. } => {
                let client =
                    format!("{iperf3} -t {seconds} -u -b {} -l {payload}", rates[self.receiver].bps());
                Some((Kind::Udp, server(), words(client)))
            }
            FlowKind::Ping { interval, payload } => {
                let ms = (interval.nanos() as f64 / 1e6).max(1.0);
                let much = self
                    .length()
                    .map_or_else(|| "-l".to_owned(), |s| format!("-c {}", (s * 1e3 / ms) as u64));
                // Minimum size that fping sends.
                let size = (*payload).max(12);
                Some((Kind::Ping, None, words(format!("fping {much} -p {ms:.0} -b {size} -O {tos} {to}"))))
            }
            FlowKind::UdpPing { interval, payload } => {
                let long = self.length().unwrap_or(86_400.0);
                let (us, dscp) = (interval.nanos() / 1_000, tos);
                let client = format!(
                    "irtt client -i {us}us -d {:.0}ms -l {payload} --dscp={dscp} -o - -Q --local=:0 {to}:{port}",
                    long * 1e3
                );
                Some((Kind::UdpPing, Some(words(format!("irtt server -b {to}:{port} -i 0"))), words(client)))
            }
            FlowKind::Web { page, interval } => {
                let client = [
                    vec![programs::PAGE.to_owned(), "load".to_owned(), to.clone(), port.to_string()],
                    vec![page::as_json(page)],
                    words(format!("--interval {} --tos {tos}", interval.secs_f64())),
                    self.length().map_or_else(Vec::new, |s| words(format!("--seconds {s}"))),
                ];
                let server = words(format!("{} serve {to} {port}", programs::PAGE));
                Some((Kind::Page, Some(server), client.concat()))
            }
            _ => None,
        }
    }
}
