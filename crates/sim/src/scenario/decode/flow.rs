//! Flows: sender, receiver, kind of traffic and times.

use stillair_model::app::{GateParams, VOIP_INTERVAL};
use stillair_model::vocabulary::Duration;

use super::super::document::{Value, join};
use super::super::error::{Fault, gather};
use super::super::reader::{Field, Section};
use super::super::{Flow, FlowEnd, FlowKind, Node, profile};
use super::{Names, mark, page, quic, responsiveness, video};

mod keys;
mod udp;

use keys::IPERF_WRITE;
pub(super) use keys::{FORM, PING_PAYLOAD, UDP_PING_PAYLOAD};
use udp::{multicast, udp};

/// Most loads of pages in a run: the sockets of each have places of their own, kept from the beginning.
const LOADS: u64 = 1_000_000;

/// Most answers to pings and packets of calls in a run: when each came stays in memory until its end.
const ANSWERS: u64 = 10_000_000;

/// Kinds of flows that may go both ways.
const BOTH: [&str; 2] = ["voip", "video"];

/// Refuses the flow read last if with it there are so many `answers` that they could not be kept.
pub(super) fn bounded(answers: u64, key: &Field<'_>) -> Result<(), Fault> {
    if answers <= ANSWERS {
        return Ok(());
    }
    let found = format!("{answers} answers to pings and packets of calls");
    Err(key.found(found, format!("at most {ANSWERS} in a run")))
}

/// Reads the `[[flow]]` tables of a run of length `end`.
pub(super) fn all(
    field: &Field<'_>,
    names: &Names<'_>,
    nodes: &[Node],
    times: [Duration; 2],
) -> Result<Vec<Flow>, Fault> {
    let [_, end] = times;
    if !field.is_list() {
        return Err(field.wrong("[[flow]], a list of tables"));
    }
    let mut flows: Vec<Flow> = Vec::new();
    let (mut loads, mut answers) = (0, 0);
    let mut read = |(i, field): (usize, &Field<'_>)| {
        for flow in table(i, field, names, nodes, times)? {
            loads += flow.loads(end) + flow.connections(end);
            if loads > LOADS {
                let test = flow.connections(end) > 0;
                let (key, of) =
                    if test { ("stop", "connections of probes") } else { ("interval", "loads of pages") };
                let key = Field { path: join(&field.path, key), ..field.clone() };
                return Err(key.found(format!("{loads} {of}"), format!("at most {LOADS} in a run")));
            }
            answers += flow.answers(end);
            let pings = !matches!(flow.kind, FlowKind::Voip { .. });
            let key = join(&field.path, if pings { "interval" } else { "to" });
            bounded(answers, &Field { path: key, ..field.clone() })?;
            if flows.iter().any(|f| f.name == flow.name) {
                let key = Field { path: join(&field.path, "name"), ..field.clone() };
                return Err(key.found(format!("{:?} a second time", flow.name), "a name of its own"));
            }
            flows.push(flow);
        }
        Ok(())
    };
    gather(field.list().iter().enumerate().map(&mut read))?;
    Ok(flows)
}

/// The flows of a table: one, or one for each of several senders.
fn table(
    index: usize,
    field: &Field<'_>,
    names: &Names<'_>,
    nodes: &[Node],
    times: [Duration; 2],
) -> Result<Vec<Flow>, Fault> {
    let (kind, mut section) = field.kind_table("a table")?;
    let both_ways = BOTH.contains(&kind) && section.or(mark::BOTH_WAYS.name, false)?;
    let from = section.need("from", "the name of a node, or a list of them")?;
    let several = from.is_list() || pattern(&from).is_some();
    let mut senders = Vec::new();
    for (sender, at) in names.ends(&from, None)? {
        if senders.contains(&at) {
            return Err(
                sender.found(format!("{} a second time", sender.item.value.describe()), "each sender once")
            );
        }
        senders.push(at);
    }
    if senders.is_empty() {
        return Err(from.wrong("at least one sender"));
    }
    let one = |from: &FlowEnd| {
        let mut flow = one((index, field), (*from, senders.len()), names, nodes, times)?;
        if several {
            flow.name = format!("{}-{}", flow.name, names.end_name(*from));
        }
        let back = |to: &FlowEnd| Flow {
            name: format!("{}-back-{}", flow.name, names.end_name(*to)),
            from: *to,
            to: vec![flow.from],
            ..flow.clone()
        };
        let backs: Vec<Flow> = flow.to.iter().filter(|_| both_ways).map(back).collect();
        Ok(core::iter::once(flow).chain(backs).collect::<Vec<_>>())
    };
    let all = senders.iter().map(one).collect::<Result<Vec<_>, Fault>>()?;
    Ok(all.into_iter().flatten().collect())
}

/// The text of an end that is a pattern.
pub(super) fn pattern<'a>(field: &Field<'a>) -> Option<&'a str> {
    match &field.item.value {
        Value::String(text) if text.contains('*') => Some(text),
        _ => None,
    }
}

fn one(
    (index, field): (usize, &Field<'_>),
    (from, senders): (FlowEnd, usize),
    names: &Names<'_>,
    nodes: &[Node],
    [warm_up, end]: [Duration; 2],
) -> Result<Flow, Fault> {
    let (kind, mut section) = field.kind_table("a table")?;
    section.get("from");
    if BOTH.contains(&kind) {
        section.get(mark::BOTH_WAYS.name);
    }
    let name = section
        .get("name")
        .map(|f| f.label("a name of at least one letter").map(str::to_owned))
        .transpose()?;
    let to = receivers(&section.need("to", "the name of a node, or a list of them")?, from, names)?;
    let tos = section.or_by("mark", 0, mark::tos)?;
    let ip = section.or_by("ip", names.ip, mark::ip)?;
    let start = section.or_by("start", Duration::ZERO, |f| {
        let start = f.value()?;
        if start < end { Ok(start) } else { Err(f.wrong("a time before the end of the run")) }
    })?;
    let several = senders * to.len();
    let counted = names.is_counted(from) || to.iter().any(|to| names.is_counted(*to));
    let is_group =
        matches!(field.table("a table")?.get("multicast"), Some(item) if item.value == Value::Boolean(true));
    let usual = if several > 1 && counted && !is_group {
        let stop = section.get("stop").map_or(Ok(end), |field| field.value())?;
        usual_spread(several as u64, start, warm_up, stop.min(end))
    } else {
        Duration::ZERO
    };
    let start_spread = section.or_by("start_spread", usual, |f| {
        let spread = f.value()?;
        if start + spread < end {
            Ok(spread)
        } else {
            Err(f.wrong("with start a time before the end of the run"))
        }
    })?;
    let stop = section.get("stop").map(|f| {
        let stop = f.value()?;
        if stop > start + start_spread {
            Ok(stop)
        } else {
            Err(f.wrong(if start_spread > Duration::ZERO {
                "a time after start + start_spread"
            } else {
                "a time after start"
            }))
        }
    });
    let stop = stop.transpose()?;
    let kind_of_traffic = match kind {
        "udp" => udp(&mut section, to.len(), ip)?,
        "ping" => {
            let (interval, payload) = ping(&mut section, PING_PAYLOAD)?;
            FlowKind::Ping { interval, payload }
        }
        "tcp" => {
            let sender = &nodes[from.node].profile;
            let congestion_control =
                section.or_by("congestion_control", sender.congestion_control.clone(), |field| {
                    profile::controller(field, sender.version)
                })?;
            FlowKind::Tcp {
                congestion_control,
                bytes: section.find::<u32>("bytes")?.map(u64::from),
                write_size: section.or("write_size", IPERF_WRITE)?,
                gate: gate(&mut section)?,
            }
        }
        "voip" => FlowKind::Voip { interval: section.or("interval", VOIP_INTERVAL)? },
        "video" => FlowKind::Video(video::read(&mut section)?),
        "responsiveness" => FlowKind::Responsiveness(responsiveness::read(&mut section)?),
        "quic" => FlowKind::Quic(Box::new(quic::read(&mut section)?)),
        "web" => FlowKind::Web {
            page: page::read(&section.need("page", "the name of a page, or a table with list and objects")?)?,
            interval: section.or("interval", Duration::from_millis(200))?,
        },
        _ => {
            let (interval, payload) = ping(&mut section, UDP_PING_PAYLOAD)?;
            FlowKind::UdpPing { interval, payload }
        }
    };
    let multicast = match kind {
        "udp" => multicast(&mut section, nodes, from, &to, &kind_of_traffic, start_spread)?,
        _ => false,
    };
    section.finish()?;
    let name = name.unwrap_or_else(|| format!("{kind}-{index}"));
    Ok(Flow {
        name,
        from,
        to,
        ip,
        tos,
        start,
        start_spread,
        stop,
        kind: kind_of_traffic,
        multicast,
        series: None,
        table: Some(index),
    })
}

/// Default of `start_spread` for several flows of nodes with a `count`. Stations that start together ask for their Block Ack sessions
/// together, and their frames collide until some requests are given up.
fn usual_spread(flows: u64, start: Duration, warm_up: Duration, stop: Duration) -> Duration {
    let left = stop.saturating_sub(start).nanos();
    let most = match warm_up.saturating_sub(start) {
        Duration::ZERO => left / 10,
        before => before.nanos().min(left) / 2,
    };
    Duration::from_nanos((100_000_000 * flows).min(most))
}

pub(super) fn receivers(field: &Field<'_>, from: FlowEnd, names: &Names<'_>) -> Result<Vec<FlowEnd>, Fault> {
    let mut to = Vec::new();
    for (receiver, at) in names.ends(field, Some(from))? {
        if at.node == from.node {
            return Err(receiver.wrong("a node other than from"));
        }
        if to.contains(&at) {
            return Err(receiver
                .found(format!("{} a second time", receiver.item.value.describe()), "each receiver once"));
        }
        to.push(at);
    }
    if to.is_empty() { Err(field.wrong("at least one receiver")) } else { Ok(to) }
}

/// Interval and payload of a ping of either kind.
fn ping(section: &mut Section<'_>, payload: u32) -> Result<(Duration, u32), Fault> {
    Ok((section.or("interval", Duration::from_millis(200))?, section.or("payload", payload)?))
}

/// When an application over TCP has something to write.
fn gate(section: &mut Section<'_>) -> Result<Option<GateParams>, Fault> {
    let rate = section.find("rate")?;
    let on_off = match (section.find("on")?, section.find("off")?) {
        (Some(on), Some(off)) => Some((on, off)),
        (None, None) => None,
        _ => return Err(section.wrong("one of on and off", "both or neither")),
    };
    Ok((rate.is_some() || on_off.is_some()).then_some(GateParams { rate, on_off }))
}
