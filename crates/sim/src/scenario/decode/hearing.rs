//! Hidden stations of a channel.

use super::super::description::{Key, ValueType};
use super::super::document::Value;
use super::super::error::Diagnostic;
use super::super::hearing::Audible;
use super::super::reader::{Field, Section};
use super::super::{Attachment, InterfaceRef, Node, Role, Wifi, units};
use super::{Names, losses};

static GROUP: ValueType = ValueType::List(&ValueType::Name("end"));

const CAPTURE: ValueType = ValueType::Written {
    words: "`off`, or a ratio of `0 dB` to `60 dB`",
    pattern: r"^(off|[1-5]?[0-9](\.[0-9]{1,3})? ?dB|60 ?dB)$",
    examples: &["off", "0 dB", "9.5 dB", "60 dB"],
};

/// Keys of a channel.
pub(super) const KEYS: &[Key] = &[
    Key::open(
        "hidden",
        ValueType::List(&GROUP),
        "everybody hears everybody",
        "hidden stations: in each list no node or interface hears any other",
    ),
    Key::open(
        "sense_only",
        ValueType::List(&GROUP),
        "none: every radio that senses a frame understands it",
        "in each list the nodes or interfaces sense each other (the medium becomes busy) and decode nothing",
    ),
    Key::open(
        "capture",
        CAPTURE,
        "off",
        "capture: a frame survives if it is this much louder at its receiver than all others on the air together. Every node on the channel \
         then needs a `position`",
    ),
    Key::or(
        "cca_sensitivity",
        losses::LEVEL,
        "-82 dBm",
        "least level at which a transmission is sensed, of nodes with a `position`",
    ),
    Key::or(
        "preamble_detection_threshold",
        losses::LEVEL,
        "-82 dBm",
        "least level at which a preamble is understood, of nodes with a `position`",
    ),
    Key::or(
        "cca_ed_threshold",
        losses::LEVEL,
        "-62 dBm",
        "least level of interference in 20 MHz that makes the medium busy",
    ),
];

/// A level from which on others are heard.
// spec: ieee80211-2016 17.3.10.6 - a preamble of -82 dBm or more in 20 MHz makes the medium busy.
// deviation: most radios hear quieter ones; which is a matter of the device.
pub(super) fn level(section: &mut Section<'_>, key: &'static str) -> Result<i32, Diagnostic> {
    section.or_by(key, -82_000, |field| field.unit(units::level))
}

/// The level from which on energy that is no frame makes the medium busy.
// spec: ieee80211-2016 17.3.10.6, 19.3.19.5.2 and 21.3.18.5.2 - -62 dBm, 20 dB above the least sensitivity,
// in the primary 20 MHz.
pub(super) fn energy(section: &mut Section<'_>) -> Result<i32, Diagnostic> {
    section.or_by("cca_ed_threshold", -62_000, |field| field.unit(units::level))
}

/// What a channel says, until its interfaces are known.
pub(super) struct Given<'a> {
    hidden: Option<Field<'a>>,
    sense_only: Option<Field<'a>>,
    capture: Option<Field<'a>>,
}

impl<'a> Given<'a> {
    pub(super) fn read(section: &mut Section<'a>) -> Self {
        Self {
            hidden: section.get("hidden"),
            sense_only: section.get("sense_only"),
            capture: section.get("capture"),
        }
    }

    /// The interfaces meant on a channel. A station and its access point must understand each other.
    pub(super) fn resolve(
        &self,
        channel: usize,
        names: &Names<'_>,
        nodes: &[Node],
    ) -> Result<Audible, Diagnostic> {
        let groups = |field: &Option<Field<'_>>| {
            let list = field.as_ref().map_or(Ok(Vec::new()), lists)?;
            list.iter()
                .map(|field| group(field, channel, names, nodes))
                .collect::<Result<Vec<_>, Diagnostic>>()
        };
        let (hidden, sense_only) = (groups(&self.hidden)?, groups(&self.sense_only)?);
        if let Some(field) = &self.sense_only {
            beside(field, &hidden, &sense_only, nodes)?;
        }
        Ok(Audible { hidden, sense_only, apart: Vec::new() })
    }

    /// The threshold of capture on a channel, in thousandths of a decibel, if there is one: then all its
    /// nodes must have a place.
    pub(super) fn capture(&self, channel: usize, nodes: &[Node]) -> Result<Option<u32>, Diagnostic> {
        let Some(field) = &self.capture else { return Ok(None) };
        if matches!(&field.item.value, Value::String(off) if off == "off") {
            return Ok(None);
        }
        let expected = "\"off\", or a ratio of 0 dB to 60 dB";
        let threshold = field.unit(units::ratio).map_err(|_| field.wrong(expected))?;
        let threshold =
            u32::try_from(threshold).ok().filter(|t| *t <= 60_000).ok_or_else(|| field.wrong(expected))?;
        let lost = |(at, _): &(InterfaceRef, &Wifi)| {
            on(*at, channel, nodes).is_some() && nodes[at.node].position.is_none()
        };
        match wifis(nodes).find(lost) {
            Some((at, _)) => {
                let name = &nodes[at.node].name;
                Err(field.found(
                    format!("that node {name:?} has no position"),
                    "a position of each node on the channel",
                ))
            }
            None => Ok(Some(threshold)),
        }
    }
}

/// Refuses a pair that senses each other and hears nothing of each other.
fn beside(
    field: &Field<'_>,
    hidden: &[Vec<InterfaceRef>],
    sense_only: &[Vec<InterfaceRef>],
    nodes: &[Node],
) -> Result<(), Diagnostic> {
    for (group, at) in sense_only.iter().zip(field.list()) {
        for others in hidden {
            let mut both =
                group.iter().filter(|radio| others.contains(radio)).map(|radio| &nodes[radio.node].name);
            if let (Some(a), Some(b)) = (both.next(), both.next()) {
                let found = format!("{a:?} and {b:?}, which are hidden from each other");
                return Err(at.found(found, "each pair in one of hidden and sense_only"));
            }
        }
    }
    Ok(())
}

const EXPECTED: &str = "a list of lists of at least two, such as [[\"a\", \"b\"]]";

fn lists<'a>(field: &Field<'a>) -> Result<Vec<Field<'a>>, Diagnostic> {
    if field.is_list() { Ok(field.list()) } else { Err(field.wrong(EXPECTED)) }
}

fn group(
    field: &Field<'_>,
    channel: usize,
    names: &Names<'_>,
    nodes: &[Node],
) -> Result<Vec<InterfaceRef>, Diagnostic> {
    let members = lists(field)?;
    if members.len() < 2 {
        return Err(field.wrong(EXPECTED));
    }
    let mut group = Vec::new();
    for member in &members {
        let radios: Vec<InterfaceRef> = match &member.item.value {
            Value::String(name) if name.contains('.') => {
                on(names.interface(member)?, channel, nodes).into_iter().collect()
            }
            _ => {
                let node = names.node(member)?;
                let all = (0..nodes[node].interfaces.len()).map(|interface| InterfaceRef { node, interface });
                all.filter_map(|at| on(at, channel, nodes)).collect()
            }
        };
        if radios.is_empty() {
            return Err(member.wrong("a node or an interface on this channel"));
        }
        if radios.iter().any(|radio| group.contains(radio)) {
            let found = format!("{} a second time", member.item.value.describe());
            return Err(member.found(found, "others beside it, each radio once"));
        }
        group.extend(radios);
    }
    let associated = |(at, wifi): (InterfaceRef, &Wifi)| match &wifi.role {
        Role::Station(station) => {
            let ap = on(station.ap, channel, nodes)?;
            (group.contains(&wifi.radio.unwrap_or(at)) && group.contains(&ap)).then_some((at, station.ap))
        }
        Role::Ap => None,
    };
    if let Some((station, ap)) = wifis(nodes).find_map(associated) {
        let name = |at: InterfaceRef| &nodes[at.node].name;
        let found = format!("{:?} and its access point {:?}", name(station), name(ap));
        return Err(field.found(found, "those that exchange no frames"));
    }
    Ok(group)
}

fn wifis(nodes: &[Node]) -> impl Iterator<Item = (InterfaceRef, &Wifi)> {
    nodes.iter().enumerate().flat_map(|(node, n)| {
        n.interfaces.iter().enumerate().filter_map(move |(interface, i)| match &i.medium {
            Attachment::Wifi(wifi) => Some((InterfaceRef { node, interface }, wifi)),
            Attachment::Wired { .. } => None,
        })
    })
}

/// The interface whose radio an interface on a channel sends with.
fn on(at: InterfaceRef, channel: usize, nodes: &[Node]) -> Option<InterfaceRef> {
    match &nodes[at.node].interfaces[at.interface].medium {
        Attachment::Wifi(wifi) if wifi.channel == channel => Some(wifi.radio.unwrap_or(at)),
        _ => None,
    }
}
