//! A router's shapers, egress and ingress, at the interface to its modem.

use stillair_model::qdisc::QdiscConfig;
use stillair_model::qdisc::cake::{CakeParams, Isolation, Masquerade};
use stillair_model::qdisc::htb::HtbParams;
use stillair_model::types::Rate;

use super::super::QdiscSpec;
use super::super::description::{self, TableSchema, ValueType};
use super::super::document::Value;
use super::super::error::{Diagnostic, Diagnostics};
use super::super::network::LinkKind;
use super::super::reader::Section;
use super::super::spec::qdisc::Context;
use super::super::spec::qdisc::DeviceQueue;
use super::super::spec::qdisc::shaper::{Shaper, Unshaped};
use super::super::spec::{Key, Section as _};

// sqm-scripts: src/functions.sh, src/piece_of_cake.qos, src/simple.qos (1.6.0) - cake at the root of the
// interface and of an ifb that all which comes in is redirected to; or htb with a discipline in its class on
// both.
static SCHEMA: TableSchema = TableSchema {
    title: "Shaper",
    about: "What a router does so that queues form at itself and not in the modem: it shapes what leaves, and by an ifb (`NODE.ifb4INTERFACE` in \
            results) what has come in.",
    groups: &[Shaper::KEYS],
};

const OFF: ValueType = ValueType::Choice(&["off"]);
const TABLE: ValueType = ValueType::Table(&SCHEMA);
const EITHER: ValueType = ValueType::Either(&[OFF, TABLE]);

/// Key of a wired interface.
pub(super) const KEY: description::Key = description::Key::open(
    "shaper",
    EITHER,
    "off",
    "the rates to which this router shapes both directions, as sqm does",
);

/// Key of a wired interface.
// deviation: addresses are not changed - captures behind the router show those of the hosts, and what begins
// outside comes in as by a port forward.
pub(super) const MASQUERADE: description::Key = description::Key::or(
    "masquerade",
    ValueType::Boolean,
    "false",
    "the router hides its hosts behind this interface's IPv4 address: cake at it, also by `shaper`, takes them for one host unless it has `nat`. \
     Captures show the hosts' own addresses; IPv6 is not masqueraded",
);

/// What a router hides of the packets that its disciplines see; a mistake where none of them looks at hosts.
pub(super) fn masquerade(
    section: &mut Section<'_>,
    egress: &mut QdiscConfig,
    ingress: Option<&mut QdiscConfig>,
) -> Result<(), Diagnostic> {
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
pub(super) fn no_masquerade(section: &Section<'_>, config: &mut QdiscConfig) -> Result<(), Diagnostic> {
    match cake_in(config) {
        Some(cake) if cake.nat => Err(without_masquerade(section)),
        _ => Ok(()),
    }
}

fn without_masquerade(section: &Section<'_>) -> Diagnostic {
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

/// Reads `shaper` of an interface with the qdisc `own`. Returns the qdiscs of what leaves and of what comes
/// in.
pub(super) fn read(
    section: &mut Section<'_>,
    own: QdiscSpec,
    device: &DeviceQueue<'_>,
) -> Result<(QdiscSpec, Option<QdiscConfig>), Diagnostic> {
    let Some(field) = section.get("shaper") else { return Ok((own, None)) };
    if matches!(&field.item.value, Value::String(off) if off == "off") {
        return Ok((own, None));
    }
    if device.link == Some(LinkKind::Veth) {
        return Err(field.found("a shaper before a veth", "one before a link with a rate, or a qdisc"));
    }
    let mut keys =
        field.section("\"off\", or a table such as { down = \"90 Mbit/s\", up = \"9 Mbit/s\" }")?;
    let mut faults = Diagnostics::default();
    let shaper = Shaper::read(&mut keys, &mut faults);
    faults.unless(keys.finish());
    match (shaper.down.place(), shaper.up.place()) {
        (None, up) => {
            shaper.qdisc_down.idle("without down", "down, or no qdisc_down", &mut faults);
            if up.is_none() {
                faults.add(field.found("a shaper of neither down nor up", "at least one of the two"));
            }
        }
        (Some(_), None) if shaper.qdisc_down.place().is_some() => {
            shaper.qdisc.idle("without up beside qdisc_down", "up, or one of the two", &mut faults);
        }
        _ => {}
    }
    let qdisc_down = if shaper.qdisc_down.place().is_some() { &shaper.qdisc_down } else { &shaper.qdisc };
    let down = shaper.down.get().and_then(|rate| config(qdisc_down, *rate, device, &mut faults));
    let up = shaper.up.get().and_then(|rate| config(&shaper.qdisc, *rate, device, &mut faults));
    if shaper.up.place().is_some() {
        faults.unless(section.idle("qdisc", "beside a shaper with up", "the qdisc of the shaper, or no up"));
    }
    faults.or((up.map_or(own, |config| QdiscSpec { mq: false, config }), down))
}

/// Returns the discipline of one direction.
fn config(
    own: &Key<Unshaped>,
    rate: Rate,
    device: &DeviceQueue<'_>,
    faults: &mut Diagnostics,
) -> Option<QdiscConfig> {
    let child = match own.given() {
        Some((qdisc, at)) => qdisc.config(&mut Context { at, device, faults })?,
        None => QdiscConfig::Cake(CakeParams::default()),
    };
    Some(match child {
        QdiscConfig::Cake(params) => QdiscConfig::Cake(CakeParams { bandwidth: Some(rate), ..params }),
        child => {
            let burst = HtbParams::default_burst(rate);
            QdiscConfig::Htb(HtbParams { rate, ceil: rate, burst, cburst: burst, child: Box::new(child) })
        }
    })
}
