//! Whether a host is modelled or stands outside, and what that means for its other keys.

use super::super::contract::{Form, Key};
use super::super::error::Fault;
use super::super::reader::Section;
use super::super::{Host, profile};

/// Key of a node.
pub(super) const KEY: Key = Key::or(
    "host",
    Form::Choice(&["model", "outside"]),
    "model",
    "who makes its packets and takes what comes for it. `model`: the modelled kernel and the flows of the scenario. `outside`: a host \
     outside the model, whose packets a driver lets in and out with their bytes; its interfaces are modelled, no flow begins or ends there, \
     and `stillair run` and `stillair sweep` cannot run it",
);

/// Key of an interface.
pub(super) const DEFAULT_ROUTE: Key = Key::or(
    "default_route",
    Form::Boolean,
    "false",
    "packets to addresses that no interface of the scenario has, such as those of the Internet, leave the model here; one interface of an \
     outside host may have it",
);

const WHY: &str = "at an outside host, whose kernel is not the model's";
const RIGHT: &str = "host = \"model\", or the setting at the outside host itself";

/// Reads the key of a node, and refuses what only a modelled host has.
pub(super) fn read(section: &mut Section<'_>) -> Result<Host, Fault> {
    let host = section.or_by("host", Host::Model, |field| {
        field.choice(&[("model", Host::Model), ("outside", Host::Outside)])
    })?;
    if host == Host::Outside {
        for key in ["wake", "module", "tcp"] {
            section.idle(key, WHY, RIGHT)?;
        }
        let settings = section.get("sysctl").map(|field| profile::flat(&field)).transpose()?;
        let is_idle = |name: &str| name != "net.core.default_qdisc";
        if let Some((_, setting)) = settings.iter().flatten().find(|(name, _)| is_idle(name)) {
            return Err(setting.idle(WHY, RIGHT));
        }
    }
    Ok(host)
}

/// Reads the key of an interface, and refuses what only interfaces of modelled hosts have.
pub(super) fn interface(section: &mut Section<'_>, host: Host) -> Result<bool, Fault> {
    let default_route = section.get("default_route").map(|field| Ok((field.value::<bool>()?, field)));
    let default_route = default_route.transpose()?;
    match (host, default_route) {
        (Host::Model, Some((true, field))) => {
            Err(field.found("true at a modelled host, which knows no addresses beyond", "host = \"outside\""))
        }
        (Host::Model, _) => Ok(false),
        (Host::Outside, route) => {
            for key in ["tso", "rx_buffer"] {
                let right = "none: packets come in one by one, and their bytes leave the model";
                section.idle(key, "at an outside host", right)?;
            }
            Ok(route.is_some_and(|(value, _)| value))
        }
    }
}
