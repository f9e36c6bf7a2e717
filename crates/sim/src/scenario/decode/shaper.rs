//! A router's shapers, egress and ingress, at the interface to its modem.

use stillair_model::qdisc::QdiscConfig;
use stillair_model::qdisc::cake::{CakeParams, Isolation, Masquerade};
use stillair_model::qdisc::htb::HtbParams;
use stillair_model::vocabulary::Rate;

use super::super::QdiscSpec;
use super::super::contract::{Family, Form, Key, Shape};
use super::super::document::Value;
use super::super::error::Fault;
use super::super::reader::{Field, Section};
use super::link::LinkKind;
use super::qdisc::{self, DeviceQueue};

/// What cake needs at least, as it counts bytes.
const RATE: Form = Form::RateFrom("8 bit/s", "one byte per second");

// sqm-scripts: src/functions.sh, src/piece_of_cake.qos, src/simple.qos (1.6.0) - cake at the root of the interface and of an ifb that all which
// comes in is redirected to; or htb with a discipline in its class on both.
static SHAPE: Shape = Shape {
    title: "Shaper",
    about: "What a router does so that queues form at itself and not in the modem: it shapes what leaves, and by an ifb (`NODE.ifb4INTERFACE` in \
            results) what has come in.",
    groups: &[&[
        Key::open("down", RATE, "not shaped", "rate of what comes in"),
        Key::open("up", RATE, "not shaped", "rate of outgoing packets; replaces the interface's `qdisc`"),
        Key::open(
            "qdisc",
            Form::Part(Family::Qdisc, &qdisc::CHILD),
            "`cake`",
            "the qdisc of both directions: `cake`, which shapes itself (without `bandwidth` here), or another as the child of an htb",
        ),
        Key::open(
            "qdisc_down",
            Form::Part(Family::Qdisc, &qdisc::CHILD),
            "that of `qdisc`",
            "the qdisc of what comes in, if it is another, as `iqdisc_opts` of sqm-scripts",
        ),
    ]],
};

const OFF: Form = Form::Choice(&["off"]);
const TABLE: Form = Form::Table(&SHAPE);
const EITHER: Form = Form::Either(&[OFF, TABLE]);

/// Key of a wired interface.
pub(super) const KEY: Key =
    Key::open("shaper", EITHER, "off", "the rates to which this router shapes both directions, as sqm does");

/// Key of a wired interface.
// deviation: addresses are not changed - captures behind the router show those of the hosts, and what begins outside comes in as by a port forward.
pub(super) const MASQUERADE: Key = Key::or(
    "masquerade",
    Form::Boolean,
    "false",
    "the router hides its hosts behind this interface's IPv4 address: cake at it, also by `shaper`, takes them for one host unless it has `nat`. \
     Captures show the hosts' own addresses; IPv6 is not masqueraded",
);

/// What a router hides of the packets that its disciplines see; a mistake where none of them looks at hosts.
pub(super) fn masquerade(
    section: &mut Section<'_>,
    egress: &mut QdiscConfig,
    ingress: Option<&mut QdiscConfig>,
) -> Result<(), Fault> {
    let hides = section.or("masquerade", false)?;
    let sides = [(Some(egress), Masquerade::Sources), (ingress, Masquerade::Destinations)];
    let (mut looks, mut nat) = (false, false);
    for (config, side) in sides {
        if let Some(cake) = config.and_then(cake_in) {
            looks |= !matches!(cake.isolation, Isolation::Flows | Isolation::Flowblind);
            nat |= cake.nat;
            if hides {
                cake.masquerade = side;
            }
        }
    }
    if nat && !hides {
        return Err(without_masquerade(section));
    }
    if hides && !looks {
        let without = "without a cake that looks at hosts";
        section.idle(
            "masquerade",
            without,
            "cake, in another isolation than flows and flowblind, or none",
        )?;
    }
    Ok(())
}

/// Refuses a cake over Wi-Fi that asks for hosts behind a router.
pub(super) fn no_masquerade(section: &Section<'_>, config: &mut QdiscConfig) -> Result<(), Fault> {
    match cake_in(config) {
        Some(cake) if cake.nat => Err(without_masquerade(section)),
        _ => Ok(()),
    }
}

fn without_masquerade(section: &Section<'_>) -> Fault {
    let found = "nat of cake at an interface that does not masquerade, where it has no effect";
    section.wrong(found, "masquerade = true at a wired interface, or no nat")
}

/// The cake in a discipline, if there is one.
fn cake_in(config: &mut QdiscConfig) -> Option<&mut CakeParams> {
    match config {
        QdiscConfig::Cake(params) => Some(params),
        QdiscConfig::Htb(p) => cake_in(&mut p.child),
        QdiscConfig::Tbf(p) => cake_in(&mut p.child),
        QdiscConfig::Netem(_, child) => child.as_deref_mut().and_then(cake_in),
        _ => None,
    }
}

/// Disciplines that have a rate of their own.
const SHAPES: [&str; 2] = ["htb", "tbf"];

/// Reads `shaper` of an interface with the discipline of its own: the one it has then, and that of what comes in.
pub(super) fn read(
    section: &mut Section<'_>,
    own: QdiscSpec,
    device: &DeviceQueue<'_>,
) -> Result<(QdiscSpec, Option<QdiscConfig>), Fault> {
    let Some(field) = section.get("shaper") else { return Ok((own, None)) };
    if matches!(&field.item.value, Value::String(off) if off == "off") {
        return Ok((own, None));
    }
    if device.link == Some(LinkKind::Veth) {
        return Err(field.found("a shaper before a veth", "one before a link with a rate, or a qdisc"));
    }
    let mut keys =
        field.section("\"off\", or a table such as { down = \"90 Mbit/s\", up = \"9 Mbit/s\" }")?;
    let (down, up): (Option<Rate>, Option<Rate>) = (keys.find("down")?, keys.find("up")?);
    let kind = keys.get("qdisc");
    if down.is_none() {
        keys.idle("qdisc_down", "without down", "down, or no qdisc_down")?;
    } else if up.is_none() && keys.has("qdisc_down") {
        keys.idle("qdisc", "without up beside qdisc_down", "up, or one of the two")?;
    }
    let kind_down = keys.get("qdisc_down");
    let child = |kind: Option<&Field<'_>>, rate: Option<Rate>| {
        rate.map(|rate| config(kind, rate, device)).transpose()
    };
    let down_config = child(kind_down.as_ref().or(kind.as_ref()), down)?;
    let up_config = child(kind.as_ref(), up)?;
    keys.finish()?;
    if down.is_none() && up.is_none() {
        return Err(field.found("a shaper of neither down nor up", "at least one of the two"));
    }
    let egress = match up_config {
        Some(config) => {
            section.idle("qdisc", "beside a shaper with up", "the qdisc of the shaper, or no up")?;
            QdiscSpec { mq: false, config }
        }
        None => own,
    };
    Ok((egress, down_config))
}

/// The discipline of one direction.
fn config(field: Option<&Field<'_>>, rate: Rate, device: &DeviceQueue<'_>) -> Result<QdiscConfig, Fault> {
    let shaped = |config: QdiscConfig| match config {
        QdiscConfig::Cake(params) => QdiscConfig::Cake(CakeParams { bandwidth: Some(rate), ..params }),
        child => {
            let burst = HtbParams::default_burst(rate);
            QdiscConfig::Htb(HtbParams { rate, ceil: rate, burst, cburst: burst, child: Box::new(child) })
        }
    };
    let Some(field) = field else { return Ok(shaped(QdiscConfig::Cake(CakeParams::default()))) };
    let (kind, mut options) = field.kind()?;
    if SHAPES.contains(&kind) {
        let found = format!("{kind:?}, which has a rate of its own");
        return Err(field.found(found, "cake, or a discipline for the class of an htb"));
    }
    if let Some(options) = options.as_mut().filter(|_| kind == "cake") {
        options.idle("bandwidth", "in a shaper", "its down and up")?;
    }
    let config = qdisc::config(kind, options.as_mut(), field, device)?;
    options.map_or(Ok(()), Section::finish)?;
    Ok(shaped(config))
}
