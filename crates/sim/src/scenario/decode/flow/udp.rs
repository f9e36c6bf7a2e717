//! UDP flows: rates, gaps, and whether the datagrams are multicast.

use stillair_model::app::WhenFull;
use stillair_model::vocabulary::{Duration, Ip, Rate};

use super::super::super::error::Fault;
use super::super::super::reader::{Field, Section};
use super::super::super::{Attachment, FlowEnd, FlowKind, Gap, Node, Role, Wifi, units};

pub(super) fn udp(section: &mut Section<'_>, receivers: usize, ip: Ip) -> Result<FlowKind, Fault> {
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
        when_full: section.or_by("when_full", WhenFull::Block, |field| {
            field.choice(&[("block", WhenFull::Block), ("drop", WhenFull::Drop)])
        })?,
    })
}

/// Whether datagrams go to a group. Its members are stations of one access point, through which they come.
pub(super) fn multicast(
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
