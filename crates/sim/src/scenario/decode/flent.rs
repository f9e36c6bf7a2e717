//! `[test]`: a named Flent test, expanded into flows when the scenario is read.

use stillair_model::types::Duration;

use super::super::description::{Key, TableSchema, ValueType};
use super::super::document::join;
use super::super::error::Diagnostic;
use super::super::reader::Field;
use super::super::resolve::names::Names;
use super::super::spec::flow::ping::{PING_PAYLOAD, UDP_PING_PAYLOAD};
use super::super::{FlentTest, Flow, FlowEnd, FlowKind, Node, profile};
use super::flow;

/// Time that a test measures before its load starts and after it ends.
// flent: tests/common.inc DELAY (2.3) - behaviour only.
const DELAY: Duration = Duration::from_secs(5);

/// Flent's step size, which is also its ping interval.
const STEP: Duration = Duration::from_millis(200);

/// Bytes per write of netperf's TCP_STREAM: the send buffer of a new socket.
// linux: Documentation/networking/ip-sysctl tcp_wmem - initially 16 KiB.
// deviation: always Linux's default, regardless of `tcp_wmem` and the sender's operating system.
const NETPERF_WRITE: u32 = 16 << 10;

pub(super) static SCHEMA: TableSchema = TableSchema {
    title: "Test",
    about: "One of Flent's tests, by its name: TCP flows and pings beside the `[[flow]]`s, with 5 s of pings alone before \
            and after the load. `up` is from the host that runs the test.",
    groups: &[&[
        Key::need(
            "name",
            ValueType::Listed { title: "flent-test", words: "one of Flent's tests, such as `rrul`", names },
            "which",
        ),
        Key::need("from", ValueType::Name("end"), "the host that runs Flent"),
        Key::need("to", ValueType::Name("end"), "the host that it measures against"),
        Key::or("length", ValueType::Period, "60 s", "how long the load lasts (`-l`)"),
        Key::open(
            "streams",
            ValueType::Integer(1, 1000),
            "required with `tcp_nup` and `tcp_ndown`",
            "their flows (`upload_streams`, `download_streams`)",
        ),
        Key::open(
            "congestion_control",
            profile::CONTROL,
            "what each sender's `sysctl` says",
            "congestion control of all flows (`tcp_cong_control`)",
        ),
        Key::or(
            "start_spread",
            ValueType::Time,
            "10 ms",
            "maximum random delay of the start of flows and pings, drawn for each run, as of processes",
        ),
    ]],
};

/// Flow counts with Flent tests of their own, such as `tcp_2up`.
const COUNTS: [(&str, u32); 5] = [("2", 2), ("4", 4), ("6", 6), ("8", 8), ("12", 12)];

const PLAIN: [&str; 9] =
    ["rrul", "rrul_be", "tcp_upload", "tcp_1up", "tcp_nup", "tcp_download", "tcp_1down", "tcp_ndown", "ping"];

fn names() -> Vec<String> {
    let counted = ["up", "down"].map(|way| COUNTS.map(|(n, _)| format!("tcp_{n}{way}")));
    PLAIN.iter().map(|&name| name.to_owned()).chain(counted.into_iter().flatten()).collect()
}

/// The flows of a test, before their ends are known.
#[derive(Default)]
struct Load {
    /// Upload flows: name, Flent series name, DSCP.
    up: Vec<(String, String, u8)>,
    down: Vec<(String, String, u8)>,
    /// Pings: name, Flent series name, DSCP, and true for UDP.
    pings: Vec<(&'static str, &'static str, u8, bool)>,
}

const CS1: u8 = 8;
const CS5: u8 = 40;
const EF: u8 = 46;

impl Load {
    /// Returns the flows of a test; `streams` is the number of flows in tests that take one.
    // flent: tests/*.conf (2.3) - behaviour only: flows, DSCPs and series names.
    fn of(name: &str, streams: u32) -> Self {
        let mut load = Self::default();
        let icmp = ("ping-icmp", "Ping (ms) ICMP", 0, false);
        match name {
            "rrul" => {
                let all = [("be", "BE", 0), ("bk", "BK", CS1), ("cs5", "CS5", CS5), ("ef", "EF", EF)];
                load.both(all);
                load.pings = vec![
                    ("ping-ef", "Ping (ms) UDP EF", EF, true),
                    ("ping-bk", "Ping (ms) UDP BK", CS1, true),
                    ("ping-be", "Ping (ms) UDP BE", 0, true),
                    icmp,
                ];
            }
            "rrul_be" => {
                load.both([("be", "BE", 0), ("be2", "BE2", 0), ("be3", "BE3", 0), ("be4", "BE4", 0)]);
                load.pings = vec![
                    ("ping-be1", "Ping (ms) UDP BE1", 0, true),
                    ("ping-be2", "Ping (ms) UDP BE2", 0, true),
                    ("ping-be3", "Ping (ms) UDP BE3", 0, true),
                    icmp,
                ];
            }
            "ping" => load.pings = vec![icmp, ("ping-udp", "Ping (ms) UDP", 0, true)],
            "tcp_upload" | "tcp_1up" => {
                load.up.push(("upload".into(), "TCP upload".into(), 0));
                load.pings.push(icmp);
            }
            "tcp_download" | "tcp_1down" => {
                load.down.push(("download".into(), "TCP download".into(), 0));
                load.pings.push(icmp);
            }
            _ => {
                let (way, flows) = if name.ends_with("up") {
                    ("upload", &mut load.up)
                } else {
                    ("download", &mut load.down)
                };
                flows.extend((1..=streams).map(|n| (format!("{way}-{n}"), format!("TCP {way}::{n}"), 0)));
                load.pings.push(icmp);
            }
        }
        load
    }

    fn both(&mut self, all: [(&str, &str, u8); 4]) {
        let named = |way: &str| {
            all.map(|(own, series, mark)| (format!("{way}-{own}"), format!("TCP {way} {series}"), mark))
                .to_vec()
        };
        (self.up, self.down) = (named("upload"), named("download"));
    }
}

/// Timing of a test.
#[derive(Clone, Copy)]
pub(super) struct Times {
    /// Time before and after the load in which only pings run.
    pub delay: Duration,
    /// Duration of the load.
    pub length: Duration,
}

impl Times {
    /// Returns the total duration of the test.
    pub(super) fn total(self) -> Duration {
        self.length + self.delay * 2
    }
}

/// Reads the timing of the test, before anything else of the scenario is known.
pub(super) fn times(field: &Field<'_>) -> Result<Times, Diagnostic> {
    let mut section = field.section("a table with name, from and to")?;
    let name: &str = name(&section.need("name", "one of Flent's tests")?)?;
    let delay = if name == "ping" { Duration::ZERO } else { DELAY };
    Ok(Times { delay, length: section.or("length", Duration::from_secs(60))? })
}

fn name<'a>(field: &Field<'a>) -> Result<&'a str, Diagnostic> {
    let names = names();
    let known: Vec<(&str, ())> = names.iter().map(|name| (name.as_str(), ())).collect();
    field.choice(&known)?;
    field.text("one of Flent's tests")
}

/// Reads the test of a run of length `end` and adds its flows.
pub(super) fn read(
    field: &Field<'_>,
    names: &Names<'_>,
    nodes: &[Node],
    flows: &mut Vec<Flow>,
    end: Duration,
) -> Result<FlentTest, Diagnostic> {
    let Times { delay, length } = times(field)?;
    let mut section = field.section("a table with name, from and to")?;
    let test = name(&section.need("name", "one of Flent's tests")?)?;
    let from = names.end(&section.need("from", "the name of a node")?)?;
    let to = section.need("to", "the name of a node")?;
    let to = *flow::receivers(&to, from, names)?.first().expect("at least one receiver");
    section.or("length", length)?;
    let spread = section.or_by("start_spread", Duration::from_millis(10), |field| {
        let spread = field.value()?;
        if spread < length { Ok(spread) } else { Err(field.wrong("a time shorter than length")) }
    })?;
    let control = section.get("congestion_control");
    let own = COUNTS.iter().find(|(n, _)| test == format!("tcp_{n}up") || test == format!("tcp_{n}down"));
    let asks = matches!(test, "tcp_nup" | "tcp_ndown");
    let streams = match section.get("streams") {
        Some(field) if !asks => {
            let found = format!("{}, and a test of a fixed number of flows", field.item.value.describe());
            return Err(field.found(found, "\"tcp_nup\" or \"tcp_ndown\" as the name"));
        }
        Some(field) => Some(field.value::<u32>()?),
        None if asks => return Err(section.wrong("no streams", "their number")),
        None => own.map(|(_, n)| *n),
    };
    section.finish()?;
    let load = Load::of(test, streams.unwrap_or(0));
    let mut add = |name: &str, series: &str, mark: u8, ends: [FlowEnd; 2], kind: FlowKind| {
        if flows.iter().any(|f| f.name == name) {
            let found = format!("{name:?} a second time, which is a flow of the test");
            return Err(field.found(found, "another name for the flow"));
        }
        let loads = matches!(kind, FlowKind::Tcp { .. });
        flows.push(Flow {
            name: name.to_owned(),
            from: ends[0],
            to: vec![ends[1]],
            ip: names.ip,
            tos: mark << 2,
            start: if loads { delay } else { Duration::ZERO },
            start_spread: spread,
            stop: loads.then(|| delay + length),
            kind,
            multicast: false,
            series: Some(series.to_owned()),
            table: None,
        });
        Ok(())
    };
    let ways = [(load.up, [from, to]), (load.down, [to, from])];
    for ((name, series, mark), ends) in
        ways.into_iter().flat_map(|(all, ends)| all.into_iter().map(move |f| (f, ends)))
    {
        let sender = &nodes[ends[0].node].profile;
        let congestion_control = match &control {
            Some(field) => profile::controller(field, sender.version)?,
            None => sender.congestion_control.clone(),
        };
        add(
            &name,
            &series,
            mark,
            ends,
            FlowKind::Tcp { congestion_control, bytes: None, write_size: NETPERF_WRITE, gate: None },
        )?;
    }
    for (name, series, mark, udp) in load.pings {
        let kind = match udp {
            true => FlowKind::UdpPing { interval: STEP, payload: UDP_PING_PAYLOAD },
            false => FlowKind::Ping { interval: STEP, payload: PING_PAYLOAD },
        };
        add(name, series, mark, [from, to], kind)?;
    }
    let answers = flows.iter().map(|flow| flow.answers(end)).sum();
    flow::bounded(answers, &Field { path: join(&field.path, "length"), ..field.clone() })?;
    Ok(FlentTest { name: test.to_owned(), from, to, length, delay, streams })
}
