//! The `host` key (modelled or external), and its consequences for the node's other keys.

use super::super::description::{Key, ValueType};
use super::super::document::Value;
use super::super::error::Diagnostic;
use super::super::reader::{Field, Section};
use super::super::{Guest, Host, profile};
use super::guest;

const TYPE: ValueType = ValueType::Either(&[
    ValueType::Choice(&["model", "external", "live"]),
    ValueType::Kinds { shapes: &[&guest::SCHEMA], bare: false },
]);

/// The node key `host`.
pub(super) const KEY: Key = Key::or(
    "host",
    TYPE,
    "model",
    "who makes and receives its packets. `model`: the modelled kernel and the flows of the scenario. `external`: a host \
     outside the model, whose packets a driver lets in and out with their bytes; its interfaces are modelled, no flow begins or ends there, \
     and `stillair run` and `stillair sweep` cannot run it. `live`: a real Linux host, a network namespace of `stillair live`; real tools \
     make the flows between two live hosts. A table: a real Linux kernel in virtual time",
);

/// Prefix of the sysctls that a live host supports: those of a network namespace.
const IN_NAMESPACE: &str = "net.ipv4.";
/// Headroom in bytes that a guest's kernel always leaves before TCP data (MAX_TCP_HEADER without Wi-Fi and
/// tunnels, plus alignment).
const OWN_ROOM: u32 = 192;
const WHY: &str = "at an external host, whose kernel is not the model's";
const RIGHT: &str = "host = \"model\", or the setting at the external host itself";

/// A node's host, its guest kernel if any, and the sysctls to set.
type Kept = (Host, Option<Guest>, Vec<(String, String)>);

/// Reads the key, and rejects keys that only a modelled host supports.
pub(super) fn read(section: &mut Section<'_>) -> Result<Kept, Diagnostic> {
    let (host, mut guest) = section.or_by("host", (Host::Model, None), |field| match field.item.value {
        Value::Table(_) => Ok((Host::Uml, Some(guest::read(field)?))),
        _ => {
            let host = [("model", Host::Model), ("external", Host::External), ("live", Host::Live)];
            Ok((field.choice(&host)?, None))
        }
    })?;
    let mut kept = Vec::new();
    if host.is_external() {
        for key in ["wake", "module"] {
            section.idle(key, WHY, RIGHT)?;
        }
        match (host, section.get("tcp")) {
            (Host::Live, Some(tcp)) => only(&tcp, &["tsq", "wifi_pacing_shift"], "a live host")?,
            (Host::Uml, Some(tcp)) => {
                only(
                    &tcp,
                    &["tsq", "tsq_period", "tsq_bytes", "max_header", "wifi_pacing_shift"],
                    "a guest",
                )?;
                if let Some(guest) = &mut guest {
                    let mut own = tcp.section("a table")?;
                    guest.tsq_bytes = own.find("tsq_bytes")?;
                    own.get("max_header").map(|field| room(&field)).transpose()?;
                }
            }
            (_, Some(tcp)) => return Err(tcp.idle(WHY, RIGHT)),
            (_, None) => {}
        }
        let settings = section.get("sysctl").map(|field| profile::flat(&field)).transpose()?;
        for (name, setting) in
            settings.into_iter().flatten().filter(|(name, _)| name != "net.core.default_qdisc")
        {
            if host == Host::External {
                return Err(setting.idle(WHY, RIGHT));
            }
            if host == Host::Live && !name.starts_with(IN_NAMESPACE) {
                return Err(setting
                    .idle("at a live host: its network namespace has no such setting", "one of net.ipv4"));
            }
            kept.push((name, plain(&setting)));
        }
    }
    Ok((host, guest, kept))
}

/// Formats a value for `sysctl`: text without quotes, a list without brackets.
fn plain(setting: &Field<'_>) -> String {
    match &setting.item.value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(|item| item.value.describe()).collect::<Vec<_>>().join(" "),
        other => other.describe(),
    }
}

/// Rejects a headroom smaller than a guest's kernel always leaves.
fn room(field: &Field<'_>) -> Result<(), Diagnostic> {
    let asked: u32 = field.value()?;
    if asked > OWN_ROOM {
        return Ok(());
    }
    Err(field.found(format!("{asked} bytes"), "more than the 192 bytes of a guest's kernel"))
}

/// Rejects all `tcp` keys but `own`, because the kernel of a live host or guest decides the rest. The Wi-Fi
/// driver's demands on TCP, and whether packets waiting there stay charged to the socket, belong to the
/// model; a guest's kernel accepts the keys for which our patches add a parameter.
fn only(tcp: &Field<'_>, own: &[&str], at: &str) -> Result<(), Diagnostic> {
    let Some((name, _)) = tcp.table("a table")?.0.iter().find(|(name, _)| !own.contains(&name.as_str()))
    else {
        return Ok(());
    };
    let [all @ .., last] = own else { unreachable!("a host has some") };
    let why = format!("{name}, which has no effect at {at}, whose kernel is its own");
    Err(tcp.found(why, format!("{} or {last}", all.join(", "))))
}
