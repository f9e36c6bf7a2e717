//! Queueing disciplines: options of each kind, user-defined disciplines, and where each may be used.

pub mod cake;
pub mod codel;
mod custom;
mod device;
pub mod fifo;
pub mod fq;
pub mod fq_codel;
pub mod htb;
pub mod netem;
pub mod pfifo_fast;
pub mod pie;
pub mod sfq;
pub mod shaper;
pub mod tbf;

use stillair_model::qdisc::QdiscConfig;
use stillair_scenario_derive::Section;

use super::super::builder::Setting;
use super::super::description::{self, DefaultValue, Family, TableSchema, ValueType};
use super::super::document::Value;
use super::super::error::{Diagnostic, Diagnostics};
use super::super::reader::{self, Field};
// Also imported by the submodules.
use super::domain::{BitRate, Bytes, Flag, Int, Period, PowerOfTwo, Time};
use super::{Assign, Domain, Key, Place, Resolved, Section, setting};
pub(in super::super) use cake::Cake;
pub(in super::super) use codel::Codel;
use custom::Custom;
pub(in super::super) use device::DeviceQueue;
use fifo::{Bfifo, Pfifo};
pub(in super::super) use fq::Fq;
pub(in super::super) use fq_codel::FqCodel;
pub(in super::super) use htb::Htb;
pub(in super::super) use netem::Netem;
use pfifo_fast::PfifoFast;
pub(in super::super) use pie::Pie;
pub(in super::super) use sfq::Sfq;
pub(in super::super) use tbf::Tbf;

/// Size of a token bucket in bytes.
type Burst = Bytes<1, { 1 << 30 }>;

/// Options of a qdisc.
pub(in super::super) trait Discipline: Section {
    /// Returns the engine's parameters. Errors are added to `context`; returns `None` if the parameters
    /// depend on a misread key.
    fn config(&self, context: &mut Context<'_>) -> Option<QdiscConfig>;
}

/// Context of [`Discipline::config`].
pub(in super::super) struct Context<'c> {
    /// Place of the qdisc.
    pub at: &'c Place,
    pub device: &'c DeviceQueue<'c>,
    pub faults: &'c mut Diagnostics,
}

impl Context<'_> {
    /// Returns the parameters of a child qdisc, if any.
    fn child(&mut self, child: &Key<Qdisc>) -> Option<QdiscConfig> {
        let (child, at) = child.given()?;
        child.config(&mut Context { at, device: self.device, faults: self.faults })
    }
}

const MQ: &[description::Key] = &[description::Key::or(
    "mq",
    ValueType::Boolean,
    "true",
    "one instance for each access category instead of one for the device",
)];

/// The `mq` key of qdiscs that have a single instance per device by default.
const WHOLE: &[description::Key] = &[description::Key::or(
    "mq",
    ValueType::Boolean,
    "false",
    "one instance for each access category instead of one for the device",
)];

/// Declares all qdiscs: the table of each, for any interface and for a Wi-Fi interface, and the kinds by
/// place.
macro_rules! disciplines {
    ($($name:ident: $options:ident = $kind:literal, $mq:expr, $about:literal;)*) => {
        $(
            static $name: [TableSchema; 2] = [
                TableSchema {
                    title: concat!("Qdisc ", $kind),
                    about: $about,
                    groups: &[&[description::Key::tag("kind", $kind)], $options::KEYS],
                },
                TableSchema {
                    title: concat!("Qdisc ", $kind, " of a Wi-Fi interface"),
                    about: $about,
                    groups: &[&[description::Key::tag("kind", $kind)], $options::KEYS, $mq],
                },
            ];

            impl From<$options> for Qdisc {
                fn from(own: $options) -> Self {
                    Self(Box::new(Options::$options(own)))
                }
            }

            impl From<$options> for Setting {
                fn from(own: $options) -> Self {
                    setting($kind, &own)
                }
            }
        )*

        static CHILD: ValueType = ValueType::Kinds { shapes: &[$(&$name[0]),*], bare: true };

        /// Qdiscs of a wired interface.
        pub(in super::super) const WIRED: ValueType = ValueType::Part(
            Family::Qdisc,
            &ValueType::Kinds { shapes: &[$(&$name[0],)* &NOQUEUE], bare: true },
        );

        /// Qdiscs of a Wi-Fi interface.
        pub(in super::super) const WIFI: ValueType = ValueType::Part(
            Family::WifiQdisc,
            &ValueType::Kinds { shapes: &[$(&$name[1],)* &NOQUEUE], bare: true },
        );

        #[derive(Clone, Debug)]
        enum Options {
            $($options($options),)*
            Custom(Custom),
        }

        impl Qdisc {
            /// Reads the options of a kind. `section` is `None` for a kind without a table.
            pub(in super::super) fn of_kind(
                kind: &str,
                section: Option<&mut reader::Section<'_>>,
                field: &Field<'_>,
                faults: &mut Diagnostics,
            ) -> Result<Self, Diagnostic> {
                match kind {
                    $($kind => options::<$options>(section, field, faults).map(Self::from),)*
                    _ => Custom::read(kind, section, field).map(|own| Self(Box::new(Options::Custom(own)))),
                }
            }

            /// Returns the engine's parameters. Errors are added to `context`; returns `None` if the
            /// parameters depend on a misread key.
            pub(in super::super) fn config(&self, context: &mut Context<'_>) -> Option<QdiscConfig> {
                match &*self.0 {
                    $(Options::$options(own) => own.config(context),)*
                    Options::Custom(own) => Some(own.config(context.device)),
                }
            }
        }

        /// A child qdisc.
        impl Domain for Qdisc {
            type Value = Self;
            const TYPE: ValueType = ValueType::Part(Family::Qdisc, &ValueType::Later(|| &CHILD));

            fn read(field: &Field<'_>, faults: &mut Diagnostics) -> Result<Self, Diagnostic> {
                let (kind, mut section) = field.kind()?;
                let own = Self::of_kind(kind, section.as_mut(), field, faults)?;
                if let Some(section) = section {
                    faults.unless(section.finish());
                }
                Ok(own)
            }

            fn written(value: &Self) -> Value {
                match &*value.0 {
                    $(Options::$options(own) => setting($kind, own).into_value(),)*
                    Options::Custom(own) => own.written.clone(),
                }
            }
        }
    };
}

disciplines! {
    PFIFO_FAST: PfifoFast = "pfifo_fast", MQ,
        "Three bands by the type of service; the interface's `txqueuelen` is the limit of each instance.";
    PFIFO: Pfifo = "pfifo", MQ, "One queue, limited in packets.";
    BFIFO: Bfifo = "bfifo", MQ, "One queue, limited in bytes.";
    CODEL: Codel = "codel", MQ, "One queue with CoDel, under the names that `tc` uses.";
    FQ_CODEL: FqCodel = "fq_codel", MQ, "Under the names that `tc` uses.";
    CAKE: Cake = "cake", MQ,
        "Shaper, priorities, fair queueing and COBALT in one, under the names that `tc` uses.";
    SFQ: Sfq = "sfq", MQ, "Stochastic fairness queueing, under the names that `tc` uses.";
    HTB: Htb = "htb", WHOLE, "A token bucket; everything goes to its one class.";
    TBF: Tbf = "tbf", WHOLE, "One or two token buckets, under the names that `tc` uses.";
    FQ: Fq = "fq", MQ, "Fair queueing with departure times, under the names that `tc` uses.";
    PIE: Pie = "pie", MQ, "One queue with PIE before it, under the names that `tc` uses.";
    NETEM: Netem = "netem", WHOLE, "An emulated network.";
}

static NOQUEUE: TableSchema = TableSchema {
    title: "Qdisc noqueue",
    about: "None; only over a device that never stops its queue: where the MAC queues, and over a veth.",
    groups: &[&[description::Key::tag("kind", "noqueue")]],
};

/// A qdisc of any kind with its options.
#[derive(Clone, Debug)]
pub struct Qdisc(Box<Options>);

/// The root qdisc of a Wi-Fi or wired interface.
pub struct Root<const WIFI: bool>;

/// A qdisc, and its use under `mq`.
#[derive(Clone, Debug)]
pub struct RootQdisc {
    /// `Err` for `noqueue`, with the names of the other kinds.
    pub(in super::super) qdisc: Result<Qdisc, Vec<&'static str>>,
    /// True for one instance per access category.
    pub mq: Option<bool>,
}

impl<const WIFI: bool> Domain for Root<WIFI> {
    type Value = RootQdisc;
    const TYPE: ValueType = if WIFI { self::WIFI } else { WIRED };

    fn read(field: &Field<'_>, faults: &mut Diagnostics) -> Result<RootQdisc, Diagnostic> {
        if names_mq(&field.item.value) {
            let right = if WIFI {
                "the kind of its instances with mq = true, such as { kind = \"fq_codel\", mq = true }"
            } else {
                "the kind of its one instance: a wired device has one queue"
            };
            return Err(field.found("\"mq\"", right));
        }
        let (kind, mut section) = field.kind()?;
        let qdisc = match kind {
            "noqueue" => Err(field.kinds().into_iter().filter(|kind| *kind != "noqueue").collect()),
            _ => Ok(Qdisc::of_kind(kind, section.as_mut(), field, faults)?),
        };
        let mut mq = None;
        if let Some(mut section) = section {
            if section.offers("mq") {
                mq = faults.unless(section.find("mq")).flatten();
            }
            faults.unless(section.finish());
        }
        Ok(RootQdisc { qdisc, mq })
    }

    fn written(value: &RootQdisc) -> Value {
        let mut table = match &value.qdisc {
            Ok(qdisc) => Qdisc::written(qdisc),
            Err(_) => Value::String("noqueue".to_owned()),
        };
        if let (Value::Table(table), Some(mq)) = (&mut table, value.mq) {
            table.0.push(("mq".to_owned(), super::item(Value::Boolean(mq))));
        }
        table
    }
}

/// Returns true for tc's `mq`, which is not a qdisc of its own here.
fn names_mq(value: &Value) -> bool {
    match value {
        Value::String(kind) => kind == "mq",
        Value::Table(table) => table.get("kind").is_some_and(|kind| names_mq(&kind.value)),
        _ => false,
    }
}

fn options<S: Section>(
    section: Option<&mut reader::Section<'_>>,
    field: &Field<'_>,
    faults: &mut Diagnostics,
) -> Result<S, Diagnostic> {
    match section {
        Some(section) => Ok(S::read(section, faults)),
        None if S::KEYS.iter().any(|key| matches!(key.absent, DefaultValue::Required)) => {
            Err(field.wrong("a table with its rate"))
        }
        None => Ok(S::default()),
    }
}
