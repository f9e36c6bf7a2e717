//! Flows: sender, receivers, kind of traffic, start and stop.

use stillair_model::types::Duration;

use super::super::document::join;
use super::super::error::{Diagnostic, Diagnostics, gather};
use super::super::reader::Field;
use super::super::resolve::names::{Names, pattern};
use super::super::spec::flow::{self, Common, Context, Traffic};
use super::super::spec::{Key, Place, Section as _};
use super::super::{Flow, FlowEnd, FlowKind, Node};

/// Maximum number of page loads in a run. Each has its own sockets, allocated from the start.
const LOADS: u64 = 1_000_000;

/// Maximum number of ping replies and call packets in a run. Their arrival times stay in memory until the
/// end.
const ANSWERS: u64 = 10_000_000;

/// Returns an error at `key` if the flow read last brings the total of `answers` above the limit.
pub(super) fn bounded(answers: u64, key: &Field<'_>) -> Result<(), Diagnostic> {
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
) -> Result<Vec<Flow>, Diagnostic> {
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

/// Reads the flows of a table: one, or one per sender.
fn table(
    index: usize,
    field: &Field<'_>,
    names: &Names<'_>,
    nodes: &[Node],
    times: [Duration; 2],
) -> Result<Vec<Flow>, Diagnostic> {
    let (kind, mut section) = field.kind_table("a table")?;
    let mut faults = Diagnostics::default();
    let common = Common::read(&mut section, &mut faults);
    let own = flow::read(kind, &mut section, &mut faults);
    faults.unless(section.finish());
    let senders = common.from.late(field.parts, |from| senders(from, names));
    let (senders, several) = senders.and_then(|all| faults.unless(all)).unwrap_or_default();
    let name = common.name.or(format!("{kind}-{index}"));
    let mut flows = Vec::new();
    for from in &senders {
        let to = common.to.late(field.parts, |to| receivers(to, *from, names));
        let Some(to) = to.and_then(|to| faults.unless(to)) else { continue };
        let ends = (senders.len(), *from, to.as_slice());
        let Some((start, start_spread, stop)) =
            faults.unless(period(&common, usual_spread(&common, &*own, ends, names, times), times[1]))
        else {
            continue;
        };
        let (at, ip) = (&Place::of(field), common.ip.or(names.ip));
        let context = Context { at, parts: field.parts, nodes, from: *from, to: &to, ip, start_spread };
        let Some(kind) = own.traffic(&context, &mut faults) else { continue };
        let flow = Flow {
            name: if several { format!("{name}-{}", names.end_name(*from)) } else { name.clone() },
            from: *from,
            to,
            ip,
            tos: common.dscp.or(0),
            start,
            start_spread,
            stop,
            kind,
            multicast: own.multicast(),
            series: None,
            table: Some(index),
        };
        let back = |to: &FlowEnd| Flow {
            name: format!("{}-back-{}", flow.name, names.end_name(*to)),
            from: *to,
            to: vec![flow.from],
            ..flow.clone()
        };
        let backs: Vec<Flow> = flow.to.iter().filter(|_| own.bidirectional()).map(back).collect();
        flows.push(flow);
        flows.extend(backs);
    }
    faults.or(flows)
}

/// Returns the senders, and true if each has a flow of its own, named after the sender.
fn senders(field: &Field<'_>, names: &Names<'_>) -> Result<(Vec<FlowEnd>, bool), Diagnostic> {
    let mut senders = Vec::new();
    for (sender, at) in names.ends(field, None)? {
        if senders.contains(&at) {
            let found = format!("{} a second time", sender.item.value.describe());
            return Err(sender.found(found, "each sender once"));
        }
        senders.push(at);
    }
    if senders.is_empty() {
        return Err(field.wrong("at least one sender"));
    }
    Ok((senders, field.is_list() || pattern(field).is_some()))
}

/// Returns the start, start spread and stop time of a flow in a run that ends at `end`.
fn period(
    common: &Common,
    usual: Duration,
    end: Duration,
) -> Result<(Duration, Duration, Option<Duration>), Diagnostic> {
    let (start, spread) = (common.start.or(Duration::ZERO), common.start_spread.or(usual));
    match (&common.start, &common.start_spread, &common.stop) {
        (Key::Given(start, at), ..) if *start >= end => Err(at.wrong("a time before the end of the run")),
        (_, Key::Given(spread, at), _) if start + *spread >= end => {
            Err(at.wrong("with start a time before the end of the run"))
        }
        (.., Key::Given(stop, at)) if *stop <= start + spread => Err(at.wrong(match spread {
            Duration::ZERO => "a time after start",
            _ => "a time after start + start_spread",
        })),
        (.., stop) => Ok((start, spread, stop.get().copied())),
    }
}

/// Returns the default of `start_spread`, which is above zero for multiple flows of nodes with a `count`.
/// Stations that start together set up their Block Ack sessions together, and their frames collide until some
/// setups fail.
fn usual_spread(
    common: &Common,
    own: &dyn Traffic,
    (senders, from, to): (usize, FlowEnd, &[FlowEnd]),
    names: &Names<'_>,
    [warm_up, end]: [Duration; 2],
) -> Duration {
    let flows = senders * to.len();
    let counted = names.is_counted(from) || to.iter().any(|to| names.is_counted(*to));
    if flows == 1 || !counted || own.multicast() {
        return Duration::ZERO;
    }
    let start = common.start.or(Duration::ZERO);
    let left = common.stop.or(end).min(end).saturating_sub(start).nanos();
    let most = match warm_up.saturating_sub(start) {
        Duration::ZERO => left / 10,
        before => before.nanos().min(left) / 2,
    };
    Duration::from_nanos((100_000_000 * flows as u64).min(most))
}

pub(super) fn receivers(
    field: &Field<'_>,
    from: FlowEnd,
    names: &Names<'_>,
) -> Result<Vec<FlowEnd>, Diagnostic> {
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
