//! The description of scenarios: every key with its type, default and meaning.
//!
//! The tables are next to the code that reads them (`decode`, `profile`). [`super::reader`] reads values by
//! these tables and accepts no other key. The JSON Schema and the user reference are generated from them.

mod reference;
mod schema;
// The tests try every key, including those of quinn.
#[cfg(all(test, feature = "quinn"))]
mod tests;

pub(super) use reference::{reference, words};
pub(super) use schema::schema;

/// Type of a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum ValueType {
    /// Any text with at least one letter.
    Text,
    /// Name of an element of this scenario: a `node`, `link` or `channel`, an `interface` of any node, the
    /// `end` of a flow (a node or an interface), or the `radio` that an interface uses.
    Name(&'static str),
    /// Text with its own parser: a description, a regular expression that all accepted values match, and
    /// examples.
    Written { words: &'static str, pattern: &'static str, examples: &'static [&'static str] },
    /// One of many names: title of the list, description of its entries, and the names.
    Listed { title: &'static str, words: &'static str, names: fn() -> Vec<String> },
    /// One of a few names.
    Choice(&'static [&'static str]),
    /// The name that distinguishes this table from its alternatives.
    Tag(&'static str),
    /// True or false.
    Boolean,
    /// An integer, both bounds included.
    Integer(i64, i64),
    /// One of a few integers.
    Numbers(&'static [i64]),
    /// A number of bytes, plain or with a unit, both bounds included.
    Bytes(u32, u32),
    /// `Bytes` with the reason for its bounds.
    BytesFor(u32, u32, &'static str),
    /// A duration.
    Time,
    /// A duration above zero.
    Period,
    /// A duration within inclusive bounds, written as in a scenario, and the reason for them.
    Times { least: &'static str, most: Option<&'static str>, why: &'static str },
    /// Bits per second.
    Rate,
    /// Bits per second: the minimum, and the reason for it.
    RateFrom(&'static str, &'static str),
    /// `RateFrom`, or zero.
    RateOrZero(&'static str, &'static str),
    /// A number from 0 to 1.
    Fraction,
    /// A number, both bounds included.
    Number(f64, f64),
    /// This type, or a user-defined part: its bare name, or a table with its `kind` and options.
    Part(Family, &'static ValueType),
    /// Any of these.
    Either(&'static [ValueType]),
    /// A non-empty list.
    List(&'static ValueType),
    /// A table.
    Table(&'static TableSchema),
    /// One of several tables, distinguished by the keys that are present.
    OneOf(&'static [&'static TableSchema]),
    /// One of several tables, distinguished by `kind`. If `bare`, a kind without options may be given as a
    /// plain name.
    Kinds { shapes: &'static [&'static TableSchema], bare: bool },
    /// Named elements of a kind.
    Named(&'static str, &'static ValueType),
    /// Groups of settings whose names contain dots.
    Settings(&'static [&'static [Key]]),
    /// Lists of values by dotted key.
    Sweep,
    /// The type of a table that may contain itself.
    Later(fn() -> &'static ValueType),
}

/// Families of user-defined parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Family {
    /// Congestion controls.
    Control,
    /// Congestion controls for QUIC, named with the prefix `tcp_`.
    QuicControl,
    /// Queueing disciplines, including those built from an AQM algorithm.
    Qdisc,
    /// Queueing disciplines of a Wi-Fi interface.
    WifiQdisc,
    /// AQM algorithms.
    Aqm,
    /// Station schedulers.
    Scheduler,
}

/// Describes the bounds of a number of bytes.
pub(super) fn byte_bounds(low: u32, high: u32, why: &str) -> String {
    format!("{low} to {high} bytes ({why})")
}

/// Describes the bounds of a duration.
pub(super) fn time_bounds(least: &str, most: Option<&str>, why: &str) -> String {
    match most {
        Some(most) => format!("{least} to {most} ({why})"),
        None => format!("at least {least} ({why})"),
    }
}

/// Describes the minimum of a rate.
pub(super) fn rate_bound(least: &str, why: &str) -> String {
    format!("at least {least} ({why})")
}

/// Lists a few numbers in words.
pub(super) fn numbers(all: &[i64]) -> String {
    let all: Vec<String> = all.iter().map(i64::to_string).collect();
    format!("one of {}", all.join(", "))
}

/// Meaning of a missing key.
#[derive(Clone, Copy, Debug)]
pub(super) enum DefaultValue {
    /// An error.
    Required,
    /// This value, as TOML, with text unquoted.
    Literal(&'static str),
    /// A value computed from the engine's parameters, in the same format.
    Computed(fn() -> String),
    /// Described in words.
    Words(&'static str),
}

impl DefaultValue {
    /// Returns the default if it is a value.
    pub(super) fn default(&self) -> Option<String> {
        match self {
            Self::Literal(text) => Some((*text).to_owned()),
            Self::Computed(text) => Some(text()),
            Self::Required | Self::Words(_) => None,
        }
    }
}

/// A key of a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    pub name: &'static str,
    pub form: ValueType,
    pub absent: DefaultValue,
    pub about: &'static str,
}

/// The keys of a table. Alternatives that share keys share a group of them.
#[derive(Debug)]
pub(super) struct TableSchema {
    pub title: &'static str,
    pub about: &'static str,
    pub groups: &'static [&'static [Key]],
}

impl Key {
    /// Creates a required key.
    pub(super) const fn need(name: &'static str, form: ValueType, about: &'static str) -> Self {
        Self { name, form, absent: DefaultValue::Required, about }
    }

    /// Creates a key with a default.
    pub(super) const fn or(
        name: &'static str,
        form: ValueType,
        default: &'static str,
        about: &'static str,
    ) -> Self {
        Self { name, form, absent: DefaultValue::Literal(default), about }
    }

    /// Creates an optional key whose default is described in words.
    pub(super) const fn open(
        name: &'static str,
        form: ValueType,
        otherwise: &'static str,
        about: &'static str,
    ) -> Self {
        Self { name, form, absent: DefaultValue::Words(otherwise), about }
    }

    /// Returns the key with another default.
    pub(super) const fn with(mut self, absent: DefaultValue) -> Self {
        self.absent = absent;
        self
    }

    /// Returns the key with another description.
    pub(super) const fn about(mut self, about: &'static str) -> Self {
        self.about = about;
        self
    }

    /// Creates the key that distinguishes a table from its alternatives.
    pub(super) const fn tag(name: &'static str, value: &'static str) -> Self {
        Self::need(name, ValueType::Tag(value), "selects this table")
    }
}

impl TableSchema {
    /// Returns all keys in order.
    pub(super) fn keys(&self) -> impl Iterator<Item = &'static Key> + use<> {
        self.groups.iter().flat_map(|group| group.iter())
    }

    /// Returns the key `name`.
    pub(super) fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys().find(|key| key.name == name)
    }

    /// Returns true if no key other than `kind` is required.
    pub(super) fn stands_alone(&self) -> bool {
        self.keys().all(|key| key.name == "kind" || !matches!(key.absent, DefaultValue::Required))
    }

    /// Returns the table's `kind`.
    pub(super) fn kind(&self) -> &'static str {
        match self.key("kind").map(|key| &key.form) {
            Some(ValueType::Tag(kind)) => kind,
            _ => unreachable!("{} is chosen by a kind and has none", self.title),
        }
    }
}

impl ValueType {
    /// Returns the element type of a list. A value that may be written as a single element is its own
    /// element.
    pub(super) fn element(&'static self) -> &'static Self {
        match self {
            Self::List(inner) => inner,
            Self::Either(forms) => forms
                .iter()
                .find_map(|f| if let Self::List(inner) = f { Some(*inner) } else { None })
                .unwrap_or(self),
            _ => self,
        }
    }

    /// Returns the duration type of a value, or of the alternative that is a duration.
    pub(super) fn time(&'static self) -> &'static Self {
        match self {
            Self::Either(forms) => forms
                .iter()
                .find(|form| matches!(form, Self::Time | Self::Period | Self::Times { .. }))
                .unwrap_or(self),
            _ => self,
        }
    }

    /// Returns the integer type of a value, or of the alternative that is an integer.
    pub(super) fn whole(&'static self) -> &'static Self {
        match self {
            Self::Either(forms) => {
                forms.iter().find(|form| matches!(form, Self::Integer(..) | Self::Numbers(_))).unwrap_or(self)
            }
            _ => self,
        }
    }

    /// Returns the tables that a value may be.
    pub(super) fn shapes(&'static self) -> Vec<&'static TableSchema> {
        match self {
            Self::Table(shape) => vec![*shape],
            Self::OneOf(shapes) | Self::Kinds { shapes, .. } => shapes.to_vec(),
            Self::Either(forms) => forms.iter().flat_map(Self::shapes).collect(),
            Self::List(inner) | Self::Named(_, inner) | Self::Part(_, inner) => inner.shapes(),
            Self::Later(form) => form().shapes(),
            _ => Vec::new(),
        }
    }
}
