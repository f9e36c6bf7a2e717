//! When the processes of a host run after their sockets woke them.

use stillair_model::node::wake::Wake;

use super::super::contract::{Form, Key};
use super::super::error::Fault;
use super::super::reader::{Field, Section};

const EXPECTED: &str = "\"softirq\", or a time such as \"50 us\"";

/// Key of a node.
pub(super) const KEY: Key = Key::or(
    "wake",
    Form::Either(&[Form::Choice(&["softirq"]), Form::Period]),
    "\"softirq\"",
    "when applications over TCP run after a segment woke them: when the softirq is over, so that all frames of an aggregate pass TCP before \
     the first is read, as on the CPU that runs the softirq; or so long after the wake-up, as on another CPU",
);

pub(super) fn read(section: &mut Section<'_>) -> Result<Wake, Fault> {
    let read = |field: Field<'_>| match field.text(EXPECTED)? {
        "softirq" => Ok(Wake::Softirq),
        _ => field.value().map(Wake::After).map_err(|_| field.wrong(EXPECTED)),
    };
    Ok(section.get("wake").map(read).transpose()?.unwrap_or_default())
}
