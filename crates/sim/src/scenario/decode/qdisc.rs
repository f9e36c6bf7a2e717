//! An interface's qdisc: the one given, or the default of the device.

use stillair_model::qdisc::QdiscConfig;

use super::super::QdiscSpec;
use super::super::document::Value;
use super::super::error::{Diagnostic, Diagnostics, suggest};
use super::super::reader::Section;
use super::super::spec::Place;
use super::super::spec::qdisc::{Context, DeviceQueue, Qdisc};

/// Reads `qdisc`: a name, or a table of `kind` and tc's options.
pub(super) fn read(section: &mut Section<'_>, device: &DeviceQueue<'_>) -> Result<QdiscSpec, Diagnostic> {
    let Some(field) = section.get("qdisc") else { return Ok(device.default_qdisc()) };
    if names_mq(&field.item.value) {
        return Err(field.found(
            "\"mq\"",
            match device.scheme {
                Some(_) => {
                    "the kind of its instances with mq = true, such as { kind = \"fq_codel\", mq = true }"
                }
                None => "the kind of its one instance: a wired device has one queue",
            },
        ));
    }
    let (kind, mut section) = field.kind()?;
    let config = match kind {
        "noqueue" if device.never_stops() => QdiscConfig::Noqueue,
        "noqueue" => {
            let others: Vec<&str> = field.kinds().into_iter().filter(|kind| *kind != "noqueue").collect();
            let found = "\"noqueue\" over a device that stops its queue";
            return Err(field.found(found, suggest("", &others)));
        }
        _ => {
            let mut faults = Diagnostics::default();
            let read = Qdisc::of_kind(kind, section.as_mut(), &field, &mut faults);
            let at = Place::of(&field);
            let config = faults
                .unless(read)
                .and_then(|qdisc| qdisc.config(&mut Context { at: &at, device, faults: &mut faults }));
            faults.or(config)?.expect("a reason is among the mistakes")
        }
    };
    // What shapes or emulates stands for the whole device, unless told otherwise.
    let whole = matches!(config, QdiscConfig::Htb(_) | QdiscConfig::Tbf(_) | QdiscConfig::Netem(..));
    let many = device.scheme.is_some() && config != QdiscConfig::Noqueue;
    let mut mq = many && !whole;
    if let Some(mut section) = section {
        if many {
            mq = section.or("mq", mq)?;
        }
        section.finish()?;
    }
    Ok(QdiscSpec { mq, config })
}

/// Whether a value is tc's `mq`, which is no discipline of its own here.
fn names_mq(value: &Value) -> bool {
    match value {
        Value::String(kind) => kind == "mq",
        Value::Table(table) => table.get("kind").is_some_and(|kind| names_mq(&kind.value)),
        _ => false,
    }
}
