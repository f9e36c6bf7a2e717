//! Delay from the wake-up of a process by a socket to its execution.

use stillair_model::node::wake::Wake;

use super::super::description::{Key, ValueType};
use super::super::error::Diagnostic;
use super::super::reader::{Field, Section};

const EXPECTED: &str = "\"softirq\", or a time such as \"50 us\"";

/// Upper bound on the wake-up delay.
const LATER: ValueType =
    ValueType::Times { least: "1 ns", most: Some("100 ms"), why: "longer is no wake-up" };

/// The node key.
pub(super) const KEY: Key = Key::or(
    "wake",
    ValueType::Either(&[ValueType::Choice(&["softirq"]), LATER]),
    "softirq",
    "when a TCP application runs after a segment woke it. `softirq`: after the kernel has processed everything that arrived together, such \
     as an aggregate, as on one CPU. A time: this long after the first segment, as on another CPU. Leave the default unless you compare \
     with such a machine",
);

pub(super) fn read(section: &mut Section<'_>) -> Result<Wake, Diagnostic> {
    let read = |field: Field<'_>| match field.text(EXPECTED)? {
        "softirq" => Ok(Wake::Softirq),
        _ => field.value().map(Wake::After).map_err(|_| field.wrong(EXPECTED)),
    };
    Ok(section.get("wake").map(read).transpose()?.unwrap_or_default())
}
