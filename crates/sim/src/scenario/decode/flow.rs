//! Flows: who sends what to whom, and when.

use stillair_model::vocabulary::{Duration, Rate};

use super::super::document::{Value, join};
use super::super::error::{Fault, suggest};
use super::super::reader::{Field, Section};
use super::super::{Flow, FlowKind, Gap, InterfaceRef, units};
use super::{Names, refer};

/// The largest UDP or ICMP payload of a 1500-byte packet.
const MAX_PAYLOAD: u32 = 1472;

/// Payload of ping and fping.
const PING_PAYLOAD: u32 = 56;

/// Payload of irtt as Flent calls it, which asks for no length, so that a packet is irtt's own header: identification 4,
/// token 8, number 4, count and window of what was received 12, four time stamps of 8 (recalled).
// deviation: netperf's UDP_RR, which Flent takes where irtt is missing, sends 1 byte and not at a steady interval; a
// payload of 1 byte is that size.
const UDP_PING_PAYLOAD: u32 = 60;

/// Reads the `[[flow]]` tables of a run of length `end`.
pub(super) fn all(field: &Field<'_>, names: &Names<'_>, end: Duration) -> Result<Vec<Flow>, Fault> {
    if !field.is_list() {
        return Err(field.wrong("[[flow]], a list of tables"));
    }
    let mut flows: Vec<Flow> = Vec::new();
    for (i, field) in field.list().iter().enumerate() {
        let flow = one(i, field, names, end)?;
        if flows.iter().any(|f| f.name == flow.name) {
            let key = Field { path: join(&field.path, "name"), item: field.item };
            return Err(key.found(format!("{:?} a second time", flow.name), "a name of its own"));
        }
        flows.push(flow);
    }
    Ok(flows)
}

fn one(index: usize, field: &Field<'_>, names: &Names<'_>, end: Duration) -> Result<Flow, Fault> {
    let mut section = field.section("a table")?;
    let kinds = ["udp", "ping", "udp_ping"];
    let kind = section.need("kind", &suggest("", &kinds))?;
    let kind = kinds[refer(&kind, &kinds)?];
    let expected = "a name of at least one letter";
    let name = section.get("name").map(|f| f.text(expected).map(str::to_owned)).transpose()?;
    let from = names.endpoint(&section.need("from", "the name of a node")?)?;
    let to = receivers(&section.need("to", "the name of a node, or a list of them")?, from, names)?;
    let tos = section.or("mark", 0, tos)?;
    let start = section.or("start", Duration::ZERO, |f| {
        let start = f.duration()?;
        if start < end { Ok(start) } else { Err(f.wrong("a time before the end of the run")) }
    })?;
    let stop = section.get("stop").map(|f| {
        let stop = f.duration()?;
        if stop > start { Ok(stop) } else { Err(f.wrong("a time after start")) }
    });
    let stop = stop.transpose()?;
    let kind_of_traffic = match kind {
        "udp" => udp(&mut section, to.len())?,
        "ping" => {
            let (interval, payload) = ping(&mut section, PING_PAYLOAD)?;
            FlowKind::Ping { interval, payload }
        }
        _ => {
            let (interval, payload) = ping(&mut section, UDP_PING_PAYLOAD)?;
            FlowKind::UdpPing { interval, payload }
        }
    };
    section.finish()?;
    let name = name.unwrap_or_else(|| format!("{kind}-{index}"));
    Ok(Flow { name, from, to, tos, start, stop, kind: kind_of_traffic })
}

fn receivers(field: &Field<'_>, from: InterfaceRef, names: &Names<'_>) -> Result<Vec<InterfaceRef>, Fault> {
    let mut to = Vec::new();
    for receiver in field.list() {
        let at = names.endpoint(&receiver)?;
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
    let interval = section.or("interval", Duration::from_millis(200), Field::period)?;
    Ok((interval, section.or("payload", payload, |f| f.bytes(0..=MAX_PAYLOAD))?))
}

fn udp(section: &mut Section<'_>, receivers: usize) -> Result<FlowKind, Fault> {
    let field = section.need("rate", "a rate such as \"10 Mbit/s\"")?;
    let mut rates = field.list().iter().map(Field::rate).collect::<Result<Vec<Rate>, _>>()?;
    if !field.is_list() {
        rates = vec![rates[0]; receivers];
    } else if rates.len() != receivers {
        return Err(field.found(format!("{} rates", rates.len()), format!("one, or {receivers} as in to")));
    }
    Ok(FlowKind::Udp {
        rates,
        payload: section.or("payload", 1470, |f| f.bytes(1..=MAX_PAYLOAD))?,
        burst: section.or("burst", 1, |f| f.integer(1..=10_000))?,
        gap: section.or("gap", Gap::Exponential, gap)?,
    })
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

/// The type-of-service byte of a mark: the name of a DSCP or its number.
fn tos(field: &Field<'_>) -> Result<u8, Fault> {
    let expected = "a mark: \"CS0\" to \"CS7\", \"AF11\" to \"AF43\", \"EF\" or a DSCP from 0 to 63";
    let dscp = match &field.item.value {
        Value::Integer(n @ 0..=63) => Some(*n as u8),
        Value::String(name) => dscp(name),
        _ => None,
    };
    dscp.map(|d| d << 2).ok_or_else(|| field.wrong(expected))
}

// spec: rfc2474 4.2.2.1 - class selectors are the former precedence; rfc2597 6 - assured forwarding; rfc3246
// 2.7 - expedited forwarding.
fn dscp(name: &str) -> Option<u8> {
    match name.as_bytes() {
        b"EF" => Some(46),
        [b'C', b'S', class @ b'0'..=b'7'] => Some((class - b'0') << 3),
        [b'A', b'F', class @ b'1'..=b'4', drop @ b'1'..=b'3'] => {
            Some(((class - b'0') << 3) | ((drop - b'0') << 1))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: rfc4594 figure 3 - the code points of the service classes.
    #[test]
    fn code_points() {
        for (name, point) in [
            ("CS0", Some(0)),
            ("CS1", Some(8)),
            ("CS5", Some(40)),
            ("CS7", Some(56)),
            ("AF11", Some(0b001_010)),
            ("AF23", Some(0b010_110)),
            ("AF41", Some(0b100_010)),
            ("EF", Some(0b101_110)),
            ("AF44", None),
            ("CS8", None),
            ("ef", None),
        ] {
            assert_eq!(dscp(name), point, "{name}");
        }
    }
}
