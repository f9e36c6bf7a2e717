//! The description of scenarios: every key with its form, default and meaning.
//!
//! The tables are beside the code that reads them (`decode`, `profile`). [`super::reader`] reads values by
//! these tables and accepts no other key. The JSON Schema and the reference for users are generated from
//! them.

mod reference;
mod schema;
// They try every key, those of quinn too.
#[cfg(all(test, feature = "quinn"))]
mod tests;

pub(super) use reference::{reference, words};
pub(super) use schema::schema;

/// What a value may be.
#[derive(Clone, Copy, Debug)]
pub(super) enum ValueType {
    /// Any text with at least one letter.
    Text,
    /// The name of a thing of this scenario: of a `node`, `link` or `channel`, of an `interface` of any node,
    /// of the `end` of a flow (a node or an interface), of the `radio` that an interface sends with.
    Name(&'static str),
    /// Text that is read by a function of its own: what it is in words, and a regular expression that all of
    /// it meets.
    Written { words: &'static str, pattern: &'static str, examples: &'static [&'static str] },
    /// One of many names: what the list is called, what they are in words, and the names.
    Listed { title: &'static str, words: &'static str, names: fn() -> Vec<String> },
    /// One of a few names.
    Choice(&'static [&'static str]),
    /// The one name that tells this table from its alternatives.
    Tag(&'static str),
    /// True or false.
    Boolean,
    /// A whole number, both bounds included.
    Integer(i64, i64),
    /// One of a few whole numbers.
    Numbers(&'static [i64]),
    /// A number of bytes, plain or with a unit, both bounds included.
    Bytes(u32, u32),
    /// The same, and why it is bounded so.
    BytesFor(u32, u32, &'static str),
    /// A time.
    Time,
    /// A time above zero.
    Period,
    /// A time between bounds, both included and written as in a scenario, and why they are.
    Times { least: &'static str, most: Option<&'static str>, why: &'static str },
    /// Bits per second.
    Rate,
    /// Bits per second, at least so many, and why.
    RateFrom(&'static str, &'static str),
    /// The same, or zero.
    RateOrZero(&'static str, &'static str),
    /// A number from 0 to 1.
    Fraction,
    /// A number, both bounds included.
    Number(f64, f64),
    /// This, or a user-defined part: its name alone, or a table of its `kind` and its options.
    Part(Family, &'static ValueType),
    /// Any of these.
    Either(&'static [ValueType]),
    /// A list of at least one.
    List(&'static ValueType),
    /// A table.
    Table(&'static TableSchema),
    /// A table that is one of several, told apart by the keys it has.
    OneOf(&'static [&'static TableSchema]),
    /// A table that is one of several, told apart by its `kind`; where `bare`, a kind without options may
    /// stand alone.
    Kinds { shapes: &'static [&'static TableSchema], bare: bool },
    /// Things of a kind by name.
    Named(&'static str, &'static ValueType),
    /// Settings by names that have dots in them, in groups.
    Settings(&'static [&'static [Key]]),
    /// Lists by dotted key.
    Sweep,
    /// The form of a table that may contain itself.
    Later(fn() -> &'static ValueType),
}

/// Kinds of parts that somebody may bring.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Family {
    /// Congestion controls.
    Control,
    /// The same for QUIC, with `tcp_` before their names.
    QuicControl,
    /// Queueing disciplines, with those that are made of an AQM.
    Qdisc,
    /// The same of a Wi-Fi interface.
    WifiQdisc,
    /// AQM algorithms.
    Aqm,
    /// Schedulers of stations.
    Scheduler,
}

/// Bounds of a number of bytes in words.
pub(super) fn byte_bounds(low: u32, high: u32, why: &str) -> String {
    format!("{low} to {high} bytes ({why})")
}

/// Bounds of a time in words.
pub(super) fn time_bounds(least: &str, most: Option<&str>, why: &str) -> String {
    match most {
        Some(most) => format!("{least} to {most} ({why})"),
        None => format!("at least {least} ({why})"),
    }
}

/// The least of a rate in words.
pub(super) fn rate_bound(least: &str, why: &str) -> String {
    format!("at least {least} ({why})")
}

/// A few numbers in words.
pub(super) fn numbers(all: &[i64]) -> String {
    let all: Vec<String> = all.iter().map(i64::to_string).collect();
    format!("one of {}", all.join(", "))
}

/// What holds where a key is not given.
#[derive(Clone, Copy, Debug)]
pub(super) enum DefaultValue {
    /// That is a mistake.
    Required,
    /// This value, as TOML; text stands without quotes.
    Literal(&'static str),
    /// The same, of the engine's parameters.
    Computed(fn() -> String),
    /// What these words say.
    Words(&'static str),
}

impl DefaultValue {
    /// The default, if it is a value.
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
    /// A key that must be there.
    pub(super) const fn need(name: &'static str, form: ValueType, about: &'static str) -> Self {
        Self { name, form, absent: DefaultValue::Required, about }
    }

    /// A key with a default.
    pub(super) const fn or(
        name: &'static str,
        form: ValueType,
        default: &'static str,
        about: &'static str,
    ) -> Self {
        Self { name, form, absent: DefaultValue::Literal(default), about }
    }

    /// A key without which something else holds.
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

    /// The key that tells a table from its alternatives.
    pub(super) const fn tag(name: &'static str, value: &'static str) -> Self {
        Self::need(name, ValueType::Tag(value), "selects this table")
    }
}

impl TableSchema {
    /// All keys, in the order of the tables.
    pub(super) fn keys(&self) -> impl Iterator<Item = &'static Key> + use<> {
        self.groups.iter().flat_map(|group| group.iter())
    }

    /// The key `name`.
    pub(super) fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys().find(|key| key.name == name)
    }

    /// Whether its kind says enough: no other key must be there.
    pub(super) fn stands_alone(&self) -> bool {
        self.keys().all(|key| key.name == "kind" || !matches!(key.absent, DefaultValue::Required))
    }

    /// Its `kind`.
    pub(super) fn kind(&self) -> &'static str {
        match self.key("kind").map(|key| &key.form) {
            Some(ValueType::Tag(kind)) => kind,
            _ => unreachable!("{} is chosen by a kind and has none", self.title),
        }
    }
}

impl ValueType {
    /// What the elements of a list may be; a value that stands for a list of one is its own element.
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

    /// What a value that is a time may be; of alternatives, the one that is a time.
    pub(super) fn time(&'static self) -> &'static Self {
        match self {
            Self::Either(forms) => forms
                .iter()
                .find(|form| matches!(form, Self::Time | Self::Period | Self::Times { .. }))
                .unwrap_or(self),
            _ => self,
        }
    }

    /// What a value that is a whole number may be; of alternatives, the one that is one.
    pub(super) fn whole(&'static self) -> &'static Self {
        match self {
            Self::Either(forms) => {
                forms.iter().find(|form| matches!(form, Self::Integer(..) | Self::Numbers(_))).unwrap_or(self)
            }
            _ => self,
        }
    }

    /// The tables that a value may be.
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
