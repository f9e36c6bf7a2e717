//! Keys of a router's shaper.

use stillair_scenario_derive::Section;

use super::super::super::description::ValueType;
use super::super::super::document::Value;
use super::super::super::error::{Diagnostic, Diagnostics};
use super::super::super::reader::Field;
use super::super::domain::{Inner, OrOff};
use super::super::{Domain, Key};
use super::cake::Bandwidth;
use super::{Options, Qdisc};

/// What a router does so that queues form at itself and not in the modem: it shapes what leaves, and by an
/// ifb (`NODE.ifb4INTERFACE` in results) what has come in.
// sqm-scripts: src/functions.sh, src/piece_of_cake.qos, src/simple.qos (1.6.0) - cake at the root of the
// interface and of an ifb to which all ingress is redirected; or htb with a leaf qdisc on both.
#[derive(Section, Clone, Debug, Default)]
#[section(
    title = "Shaper",
    expected = "\"off\", or a table such as { down = \"90 Mbit/s\", up = \"9 Mbit/s\" }"
)]
pub struct Shaper {
    /// rate of what comes in
    #[key(or = "not shaped")]
    pub down: Key<Bandwidth>,
    /// rate of outgoing packets; replaces the interface's `qdisc`
    #[key(or = "not shaped")]
    pub up: Key<Bandwidth>,
    /// the qdisc of both directions: `cake`, which shapes itself (without `bandwidth` here), or another as
    /// the child of an htb
    #[key(or = "`cake`")]
    pub qdisc: Key<Unshaped>,
    /// the qdisc of what comes in, if it is another, as `iqdisc_opts` of sqm-scripts
    #[key(or = "that of `qdisc`")]
    pub qdisc_down: Key<Unshaped>,
}

/// A shaper, or `off`.
impl Domain for Shaper {
    type Value = Option<Self>;
    const TYPE: ValueType = OrOff::<Inner<Self>>::TYPE;

    fn read(field: &Field<'_>, faults: &mut Diagnostics) -> Result<Option<Self>, Diagnostic> {
        match &field.item.value {
            Value::String(off) if off == "off" => Ok(None),
            _ => Inner::<Self>::read(field, faults).map(Some),
        }
    }

    fn written(value: &Option<Self>) -> Value {
        OrOff::<Inner<Self>>::written(value)
    }
}

/// A qdisc without a rate of its own.
pub struct Unshaped;

impl Domain for Unshaped {
    type Value = Qdisc;
    const TYPE: ValueType = Qdisc::TYPE;

    fn read(field: &Field<'_>, faults: &mut Diagnostics) -> Result<Qdisc, Diagnostic> {
        let (kind, _) = field.kind()?;
        if matches!(kind, "htb" | "tbf") {
            let found = format!("{kind:?}, which has a rate of its own");
            return Err(field.found(found, "cake, or a discipline for the class of an htb"));
        }
        let own = Qdisc::read(field, faults)?;
        if let Options::Cake(cake) = &*own.0 {
            cake.bandwidth.idle("in a shaper", "its down and up", faults);
        }
        Ok(own)
    }

    fn written(value: &Qdisc) -> Value {
        Qdisc::written(value)
    }
}
