//! Delay between the wake-up of a process by a socket and its run.

use serde_json::{Value as Json, json};
use stillair_model::node::wake::Wake;
use stillair_scenario_derive::Section;

use super::super::contract::Form;
use super::super::document::Value;
use super::super::error::{Fault, Mistakes};
use super::super::reader::Field;
use super::super::units;
use super::{Domain, Key, Resolved};

/// Key of a node.
#[derive(Section, Clone, Debug, Default)]
pub struct OfNode {
    /// when a TCP application runs after a segment woke it. `softirq`: after the kernel has processed everything that arrived together, such
    /// as an aggregate, as on one CPU. A time: this long after the first segment, as on another CPU. Leave the default unless you compare
    /// with such a machine
    #[key(default = "softirq")]
    pub wake: Key<Wake>,
}

const EXPECTED: &str = "\"softirq\", or a time such as \"50 us\"";

impl Domain for Wake {
    type Value = Self;
    // A process that is woken does not sleep for longer.
    const FORM: Form = Form::Either(&[
        Form::Choice(&["softirq"]),
        Form::Times { least: "1 ns", most: Some("100 ms"), why: "longer is no wake-up" },
    ]);

    fn read(field: &Field<'_>, _: &mut Mistakes) -> Result<Self, Fault> {
        match field.text(EXPECTED)? {
            "softirq" => Ok(Self::Softirq),
            _ => field.value().map(Self::After).map_err(|_| field.wrong(EXPECTED)),
        }
    }

    fn written(value: &Self) -> Value {
        Value::String(match value {
            Self::Softirq => "softirq".to_owned(),
            Self::After(delay) => units::duration_text(*delay),
        })
    }
}

impl Resolved for Wake {
    fn json(&self) -> Json {
        match self {
            Self::Softirq => json!("softirq"),
            Self::After(delay) => json!({ "after_ns": delay.nanos() }),
        }
    }
}
