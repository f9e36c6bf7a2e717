//! UDP flows: rates, gaps, and multicast.

use serde_json::{Value as Json, json};
use stillair_model::app::WhenFull;
use stillair_model::types::{Duration, Ip, Rate};
use stillair_scenario_derive::Section;

use super::super::super::description::ValueType;
use super::super::super::document::Value;
use super::super::super::error::{Diagnostic, Diagnostics, gather};
use super::super::super::reader::Field;
use super::super::super::{Attachment, FlowEnd, FlowKind, Gap, Role, Wifi, units};
use super::super::domain::{BitRate, Bytes, Choice, Flag, Int, named};
use super::super::{Assign as _, Domain, Key, Place, Resolved, item};
use super::{Context, Traffic};

/// Maximum UDP or ICMP payload of a 1500-byte packet.
pub(super) const MAX_PAYLOAD: u32 = 1472;

named!(WhenFull { Block = "block", Drop = "drop" });

/// Datagrams at a given mean rate, in one direction.
#[derive(Section, Clone, Debug, Default)]
#[section(
    title = "Flow of kind udp",
    kind = "udp",
    common = super::Common,
    params = (u32, u32, Gap, WhenFull),
    base = (1470, 1, Gap::Exponential, WhenFull::Block)
)]
pub struct Udp {
    /// payload bits per second to each receiver; a list has one for each, in their order
    #[key(need = "a rate such as \"10 Mbit/s\"")]
    pub rate: Key<Rates>,
    /// payload of a datagram
    #[key(to = 0, or = "1470 B, over IPv6 1450 B")]
    pub payload: Key<Bytes<1, MAX_PAYLOAD>>,
    /// datagrams sent back to back
    #[key(to = 1)]
    pub burst: Key<Int<1, 10_000>>,
    /// how times between bursts lie around the mean that rate, payload and burst give
    #[key(to = 2)]
    pub gap: Key<Gap>,
    /// when the send buffer of the socket is full: `block` waits for room and then catches up, like iperf;
    /// `drop` skips the rest of the burst, as a non-blocking socket does. Delays count from the time at which
    /// a datagram was due
    #[key(to = 3)]
    pub when_full: Key<Choice<WhenFull>>,
    /// the receivers, all of them stations of one access point, are a group: each datagram is sent to all of
    /// them at once, at a basic rate and without an acknowledgement, and waits for a DTIM while any station
    /// sleeps
    #[key(default = "false")]
    pub multicast: Key<Flag>,
}

/// Payload rates.
#[derive(Clone, Debug)]
pub enum Rates {
    /// The same rate to each receiver.
    Same(Rate),
    /// One rate per receiver, in order.
    Each(Vec<Rate>),
}

impl Domain for Rates {
    type Value = Self;
    const TYPE: ValueType = ValueType::Either(&[ValueType::Rate, ValueType::List(&ValueType::Rate)]);

    fn read(field: &Field<'_>, _: &mut Diagnostics) -> Result<Self, Diagnostic> {
        if field.is_list() {
            gather(field.list().iter().map(Field::value)).map(Self::Each)
        } else {
            field.value().map(Self::Same)
        }
    }

    fn written(value: &Self) -> Value {
        match value {
            Self::Same(rate) => BitRate::written(rate),
            Self::Each(rates) => Value::Array(rates.iter().map(BitRate::written).map(item).collect()),
        }
    }
}

impl Traffic for Udp {
    fn traffic(&self, flow: &Context<'_>, faults: &mut Diagnostics) -> Option<FlowKind> {
        let mut params = Self::base();
        // iperf 2: include/Settings.hpp kDefault_UDPBufLen, kDefault_UDPBufLenV6 (2.1).
        params.0 = if flow.ip == Ip::V6 { 1450 } else { 1470 };
        self.assign(&mut params);
        if let Key::Given(true, at) = &self.multicast {
            let own = self.group(at, flow);
            faults.unless(own);
        }
        let rates = match self.rate.given()? {
            (Rates::Same(rate), _) => vec![*rate; flow.to.len()],
            (Rates::Each(rates), at) => {
                let receivers = flow.to.len();
                if rates.len() != receivers {
                    let right = format!("one, or {receivers} as in to");
                    faults.add(at.found(format!("{} rates", rates.len()), right));
                }
                rates.clone()
            }
        };
        let (payload, burst, gap, when_full) = params;
        Some(FlowKind::Udp { rates, payload, burst, gap, when_full })
    }

    fn multicast(&self) -> bool {
        self.multicast.or(false)
    }
}

impl Udp {
    /// Rejects a multicast group unless its members are stations of one access point, and the datagrams
    /// arrive through that access point.
    fn group(&self, at: &Place, flow: &Context<'_>) -> Result<(), Diagnostic> {
        let ap_of = |end: &FlowEnd| {
            let mut all = flow.nodes[end.node].interfaces.iter().map(|i| match &i.medium {
                Attachment::Wifi(Wifi { role: Role::Station(station), radio: None, .. }) => Some(station.ap),
                _ => None,
            });
            match (all.next(), all.next()) {
                (Some(ap), None) => ap,
                _ => None,
            }
        };
        let first = flow.to.first().and_then(ap_of);
        if first.is_none() || flow.to.iter().any(|end| ap_of(end) != first) {
            return Err(at.found(
                "a receiver that is no station of the same access point, with that interface alone",
                "stations of one access point in to, or no such key",
            ));
        }
        if ap_of(&flow.from).is_some() && ap_of(&flow.from) == first {
            return Err(
                at.found("a sender that is a station of that access point", "a sender behind it, or itself")
            );
        }
        if let Some(Rates::Each(rates)) = self.rate.get()
            && rates.iter().any(|rate| *rate != rates[0])
        {
            return Err(at.found("rates that differ by receiver", "one rate"));
        }
        if flow.start_spread > Duration::ZERO {
            return Err(at.found("a start_spread, while all receivers get the same", "no start_spread"));
        }
        Ok(())
    }
}

impl Domain for Gap {
    type Value = Self;
    const TYPE: ValueType = ValueType::Written {
        words: "`exponential`, `periodic`, or evenly around the mean such as `uniform 0.5..1.5`",
        pattern: r"^(exponential|periodic|uniform \s*[0-9]+(\.[0-9]+)?\s*\.\.\s*[0-9]+(\.[0-9]+)?\s*)$",
        examples: &["exponential", "periodic", "uniform 0.5..1.5"],
    };

    fn read(field: &Field<'_>, _: &mut Diagnostics) -> Result<Self, Diagnostic> {
        let expected = "\"exponential\", \"periodic\" or evenly around the mean such as \"uniform 0.5..1.5\"";
        match field.text(expected)? {
            "exponential" => Ok(Self::Exponential),
            "periodic" => Ok(Self::Periodic),
            text => {
                let bounds = text.strip_prefix("uniform ").and_then(|range| range.split_once(".."));
                let bounds = bounds.and_then(|(l, h)| Some((units::millionths(l)?, units::millionths(h)?)));
                match bounds {
                    // With another centre, the flow's mean rate would differ from the stated one.
                    Some((low, high)) if low <= high && u64::from(low) + u64::from(high) == 2_000_000 => {
                        Ok(Self::Uniform { low, high })
                    }
                    _ => Err(field.wrong(expected)),
                }
            }
        }
    }

    fn written(value: &Self) -> Value {
        let times = |millionths: u32| f64::from(millionths) / 1e6;
        Value::String(match value {
            Self::Exponential => "exponential".to_owned(),
            Self::Periodic => "periodic".to_owned(),
            Self::Uniform { low, high } => format!("uniform {}..{}", times(*low), times(*high)),
        })
    }
}

impl Resolved for Gap {
    fn json(&self) -> Json {
        match self {
            Self::Exponential => "exponential".into(),
            Self::Periodic => "periodic".into(),
            Self::Uniform { low, high } => json!({ "uniform_millionths": [low, high] }),
        }
    }
}
