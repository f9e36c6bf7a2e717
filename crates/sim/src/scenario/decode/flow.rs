//! Flows: who sends what to whom, and when.

use stillair_model::app::{GateParams, VOIP_INTERVAL};
use stillair_model::vocabulary::{Duration, Ip, Rate};

use super::super::contract::{Form, Key, Shape};
use super::super::document::{Value, join};
use super::super::error::{Fault, gather};
use super::super::reader::{Field, Section};
use super::super::{Attachment, Flow, FlowEnd, FlowKind, Gap, Node, Role, Wifi, profile, units};
use super::{Names, mark, page, quic, responsiveness, video};

/// The largest UDP or ICMP payload of a 1500-byte packet.
const MAX_PAYLOAD: u32 = 1472;

/// Bytes that iperf writes at once.
// iperf 3: src/iperf.h DEFAULT_TCP_BLKSIZE - 128 KiB unless told otherwise.
const IPERF_WRITE: u32 = 128 << 10;

/// Payload of ping and fping.
pub(super) const PING_PAYLOAD: u32 = 56;

/// Payload of irtt as Flent calls it, which asks for no length, so that a packet is irtt's own header: identification 4,
/// token 8, number 4, count and window of what was received 12, four time stamps of 8 (recalled).
// deviation: netperf's UDP_RR, which Flent takes where irtt is missing, sends 1 byte and not at a steady interval; a
// payload of 1 byte is that size.
pub(super) const UDP_PING_PAYLOAD: u32 = 60;

static UDP: Shape = Shape {
    title: "Flow of kind udp",
    about: "Datagrams at a given mean rate, in one direction.",
    groups: &[
        &[Key::tag("kind", "udp")],
        mark::COMMON,
        &[
            Key::need(
                "rate",
                Form::Either(&[Form::Rate, Form::List(&Form::Rate)]),
                "payload bits per second to each receiver; a list has one for each, in their order",
            ),
            Key::open(
                "payload",
                Form::Bytes(1, MAX_PAYLOAD),
                "1470 B, over IPv6 1450 B",
                "payload of a datagram",
            ),
            Key::or("burst", Form::Integer(1, 10_000), "1", "datagrams sent back to back"),
            Key::or(
                "gap",
                Form::Written {
                    words: "`exponential`, `periodic`, or evenly around the mean such as `uniform 0.5..1.5`",
                    pattern: r"^(exponential|periodic|uniform \s*[0-9]+(\.[0-9]+)?\s*\.\.\s*[0-9]+(\.[0-9]+)?\s*)$",
                    examples: &["exponential", "periodic", "uniform 0.5..1.5"],
                },
                "exponential",
                "how times between bursts lie around the mean that rate, payload and burst give",
            ),
            Key::or(
                "multicast",
                Form::Boolean,
                "false",
                "the receivers, all of them stations of one access point, are a group: each datagram is sent to all of them at once, at a basic \
                 rate and without an acknowledgement, and waits for a DTIM while any station sleeps",
            ),
        ],
    ],
};

/// Requests are for measuring, not for load.
// linux: iputils ping.c option -i (20221126) - kept as a whole number of milliseconds (recalled).
// deviation: zero, which there means as soon as a reply has come, is no interval; and a server of irtt refuses less than
// 10 ms unless told otherwise.
const INTERVAL: Form = Form::Times { least: "1 ms", most: None, why: "what ping can tell apart" };

static PING: Shape = Shape {
    title: "Flow of kind ping",
    about: "ICMP echo, answered by the receiver.",
    groups: &[
        &[Key::tag("kind", "ping")],
        mark::COMMON,
        &[
            Key::or("interval", INTERVAL, "200 ms", "time between requests"),
            Key::or("payload", Form::Bytes(0, MAX_PAYLOAD), "56 B", "payload of a request"),
        ],
    ],
};

static UDP_PING: Shape = Shape {
    title: "Flow of kind udp_ping",
    about: "UDP packets at a steady interval, answered by the receiver under their own mark (irtt).",
    groups: &[
        &[Key::tag("kind", "udp_ping")],
        mark::COMMON,
        &[
            Key::or("interval", INTERVAL, "200 ms", "time between packets"),
            Key::or("payload", Form::Bytes(0, MAX_PAYLOAD), "60 B", "payload of a packet"),
        ],
    ],
};

static TCP: Shape = Shape {
    title: "Flow of kind tcp",
    about: "A TCP sender. Without `rate`, `on` and `off` it is greedy: it writes whenever its socket takes anything.",
    groups: &[
        &[Key::tag("kind", "tcp")],
        mark::COMMON,
        &[
            Key::open(
                "congestion_control",
                profile::CONTROL,
                "what the sender's `sysctl` says",
                "its congestion control (TCP_CONGESTION)",
            ),
            Key::open(
                "bytes",
                Form::Bytes(1, u32::MAX),
                "no limit",
                "bytes that it sends to each receiver before it closes",
            ),
            Key::or(
                "write_size",
                Form::Bytes(1, 1 << 30),
                "128 KiB",
                "bytes that its application writes at once",
            ),
            Key::open(
                "rate",
                Form::Rate,
                "as fast as the socket takes it",
                "mean rate at which its application writes, `write_size` at a time; what the socket does not take at once is made up for, as with \
                 `iperf3 -b`. With large writes it is a video of segments: 2.5 MB at 5 Mbit/s are one each 4 s",
            ),
            Key::open(
                "on",
                Form::Period,
                "always",
                "so long its application writes, from its start on; with `off`",
            ),
            Key::open(
                "off",
                Form::Period,
                "never",
                "so long its application is silent after that, before it writes again; with `on`",
            ),
        ],
    ],
};

static VOIP: Shape = Shape {
    title: "Flow of kind voip",
    about: "A telephone call, in one direction unless `both_ways`: G.711 over RTP, 172 bytes every 20 ms.",
    groups: &[
        &[Key::tag("kind", "voip")],
        mark::COMMON,
        &[
            mark::BOTH_WAYS,
            Key::or(
                "interval",
                Form::Times { least: "1 ms", most: Some("180 ms"), why: "what a packet can hold" },
                "20 ms",
                "time between packets, and the speech in each: 8 bytes a millisecond and 12 of header; 10 ms is the call of D-ITG, and so of Flent \
             before 1.2",
            ),
        ],
    ],
};

static WEB: Shape = Shape {
    title: "Flow of kind web",
    about: "A browser at `from` that loads a page from `to` over and over: it looks the name up, fetches a list, then what \
            is in it over four connections.",
    groups: &[
        &[Key::tag("kind", "web")],
        mark::COMMON,
        &[
            Key::need("page", page::FORM, "the page"),
            Key::or(
                "interval",
                Form::Times { least: "1 ms", most: None, why: "each load has sockets of its own" },
                "200 ms",
                "least time from the beginning of a load to that of the next, which begins at once where one takes longer",
            ),
        ],
    ],
};

/// What `[[flow]]` may be.
pub(super) const FORM: Form = Form::List(&Form::Kinds {
    shapes: &[&UDP, &PING, &UDP_PING, &TCP, &VOIP, &video::SHAPE, &WEB, &responsiveness::SHAPE, &quic::SHAPE],
    bare: false,
});

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
    end: Duration,
) -> Result<Vec<Flow>, Fault> {
    if !field.is_list() {
        return Err(field.wrong("[[flow]], a list of tables"));
    }
    let mut flows: Vec<Flow> = Vec::new();
    let (mut loads, mut answers) = (0, 0);
    let mut read = |(i, field): (usize, &Field<'_>)| {
        for flow in table(i, field, names, nodes, end)? {
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
    end: Duration,
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
        let mut flow = one(index, field, *from, names, nodes, end)?;
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
    index: usize,
    field: &Field<'_>,
    from: FlowEnd,
    names: &Names<'_>,
    nodes: &[Node],
    end: Duration,
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
    let start_spread = section.or_by("start_spread", Duration::ZERO, |f| {
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

fn udp(section: &mut Section<'_>, receivers: usize, ip: Ip) -> Result<FlowKind, Fault> {
    let field = section.need("rate", "a rate such as \"10 Mbit/s\"")?;
    let mut rates = field.list().iter().map(Field::value).collect::<Result<Vec<Rate>, _>>()?;
    if !field.is_list() {
        rates = vec![rates[0]; receivers];
    } else if rates.len() != receivers {
        return Err(field.found(format!("{} rates", rates.len()), format!("one, or {receivers} as in to")));
    }
    Ok(FlowKind::Udp {
        rates,
        // iperf 2: include/Settings.hpp kDefault_UDPBufLen, kDefault_UDPBufLenV6 (2.1).
        payload: section.or("payload", if ip == Ip::V6 { 1450 } else { 1470 })?,
        burst: section.or("burst", 1)?,
        gap: section.or_by("gap", Gap::Exponential, gap)?,
    })
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

/// Whether datagrams go to a group. Its members are stations of one access point, through which they come.
fn multicast(
    section: &mut Section<'_>,
    nodes: &[Node],
    from: FlowEnd,
    to: &[FlowEnd],
    kind: &FlowKind,
    spread: Duration,
) -> Result<bool, Fault> {
    let Some(field) = section.get("multicast") else { return Ok(false) };
    if !field.value::<bool>()? {
        return Ok(false);
    }
    let ap_of = |end: &FlowEnd| {
        let mut all = nodes[end.node].interfaces.iter().map(|i| match &i.medium {
            Attachment::Wifi(Wifi { role: Role::Station(station), radio: None, .. }) => Some(station.ap),
            _ => None,
        });
        match (all.next(), all.next()) {
            (Some(ap), None) => ap,
            _ => None,
        }
    };
    let first = to.first().and_then(ap_of);
    if first.is_none() || to.iter().any(|end| ap_of(end) != first) {
        return Err(field.found(
            "a receiver that is no station of the same access point, with that interface alone",
            "stations of one access point in to, or no such key",
        ));
    }
    if ap_of(&from).is_some() && ap_of(&from) == first {
        return Err(
            field.found("a sender that is a station of that access point", "a sender behind it, or itself")
        );
    }
    if let FlowKind::Udp { rates, .. } = kind
        && rates.iter().any(|rate| *rate != rates[0])
    {
        return Err(field.found("rates that differ by receiver", "one rate"));
    }
    if spread > Duration::ZERO {
        return Err(field.found("a start_spread, while all receivers get the same", "no start_spread"));
    }
    Ok(true)
}

fn gap(field: &Field<'_>) -> Result<Gap, Fault> {
    let expected = "\"exponential\", \"periodic\" or evenly around the mean such as \"uniform 0.5..1.5\"";
    match field.text(expected)? {
        "exponential" => Ok(Gap::Exponential),
        "periodic" => Ok(Gap::Periodic),
        text => {
            let bounds = text.strip_prefix("uniform ").and_then(|range| range.split_once(".."));
            let bounds = bounds.and_then(|(l, h)| Some((units::millionths(l)?, units::millionths(h)?)));
            match bounds {
                // Around any other middle the flow's rate would not be the one it states.
                Some((low, high)) if low <= high && u64::from(low) + u64::from(high) == 2_000_000 => {
                    Ok(Gap::Uniform { low, high })
                }
                _ => Err(field.wrong(expected)),
            }
        }
    }
}
