//! Declarations of scenario tables: each key is declared once, with its description, type and default.
//!
//! A table is a struct of [`Key`]s with `#[derive(Section)]`; the type of a key is a [`Domain`]. Reading does
//! not stop at the first error: [`Section::read`] collects all of them, and a misread key becomes
//! [`Key::Misread`], so that checks across keys can still run. Conditions that involve other tables, the
//! kernel profile or the device are in `resolve`.
//!
//! Tables can be built in Rust and passed to a [builder](super::builder):
//!
//! ```
//! use stillair_model::qdisc::cake::Tins;
//! use stillair_model::types::Duration;
//! use stillair_sim::scenario::builder::{InterfaceBuilder, LinkBuilder};
//! use stillair_sim::scenario::spec::qdisc::cake::Cake;
//!
//! let cake = Cake::default().rtt(Duration::from_millis(40)).tins(Tins::Besteffort);
//! let eth0 = InterfaceBuilder::wired("lan", "10.0.0.1".parse()?).qdisc(cake);
//! # Ok::<(), std::net::AddrParseError>(())
//! ```
#![allow(private_interfaces, private_bounds, reason = "tables are public, the traits behind them are not")]

#[macro_use]
mod kinds;
pub mod channel;
pub(super) mod custom;
pub mod device;
pub(super) mod domain;
pub mod edca;
pub mod flow;
pub mod interface;
pub mod interference;
pub mod interrupts;
pub mod jitter;
pub mod line;
pub mod link;
pub mod neighbour;
pub mod node_tcp;
pub mod overhead;
pub mod path;
pub mod power;
pub mod product;
pub mod qdisc;
pub mod record;
pub mod retries;
pub mod scheme;
#[cfg(test)]
mod tests;
pub mod usb;

use core::fmt;

use serde_json::Value as Json;

use super::builder::Setting;
use super::description::{self, DefaultValue, ValueType};
use super::document::{Item, Table, Value, join};
use super::error::{Diagnostic, Diagnostics, Origin};
use super::reader::{self, Field};

/// A table of the resolved scenario.
pub(super) type Object = serde_json::Map<String, Json>;

/// The type of a key: the allowed values and how they are read.
pub trait Domain {
    /// The value as read.
    type Value: Clone + fmt::Debug;

    /// Description of the allowed values.
    const TYPE: ValueType;

    /// Suffix of the key's name in the resolved scenario, such as `_ns`.
    const UNIT: &'static str = "";

    /// Reads a value. Errors within a table are added to `faults`; `Err` means that the value cannot be used.
    fn read(field: &Field<'_>, faults: &mut Diagnostics) -> Result<Self::Value, Diagnostic>;

    /// Returns the value as written in a scenario.
    fn written(value: &Self::Value) -> Value;
}

/// An engine parameter that is part of the resolved scenario.
pub(super) trait Resolved {
    fn json(&self) -> Json;
}

/// Line and path of a value, for errors found after reading.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub path: String,
    pub origin: Origin,
    pub found: String,
}

impl Place {
    // Boxed and never inlined, because the caller is instantiated for each type of key.
    #[inline(never)]
    pub(super) fn of(field: &Field<'_>) -> Box<Self> {
        Box::new(Self {
            path: field.path.clone(),
            origin: field.item.origin,
            found: field.item.value.describe(),
        })
    }

    /// Returns the error for a wrong value.
    pub(super) fn wrong(&self, expected: impl Into<String>) -> Diagnostic {
        self.found(&*self.found, expected)
    }

    /// Returns an error at this place with a description of what was found.
    pub(super) fn found(&self, found: impl Into<String>, expected: impl Into<String>) -> Diagnostic {
        Diagnostic::new(self.origin, &*self.path, found, expected)
    }

    /// Returns the error for a missing key of this table.
    pub(super) fn missing(&self, key: &str, expected: &str) -> Diagnostic {
        Diagnostic::new(self.origin, join(&self.path, key), "nothing", expected)
    }

    /// Returns the error for a value without effect.
    pub(super) fn idle(&self, why: &str, right: &str) -> Diagnostic {
        self.found(format!("{}, which has no effect {why}", self.found), right)
    }
}

/// A key of a table.
#[derive(Default)]
pub enum Key<D: Domain> {
    /// Not in the table.
    #[default]
    Absent,
    /// In the table, with a valid value.
    Given(D::Value, Box<Place>),
    /// In the table, with a value that was rejected.
    Misread(Box<Place>),
}

// A derive would require `Clone` of the domain, which is never instantiated.
impl<D: Domain> Clone for Key<D> {
    fn clone(&self) -> Self {
        match self {
            Self::Absent => Self::Absent,
            Self::Given(value, place) => Self::Given(value.clone(), place.clone()),
            Self::Misread(place) => Self::Misread(place.clone()),
        }
    }
}

impl<D: Domain> fmt::Debug for Key<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("Absent"),
            Self::Given(value, _) => value.fmt(f),
            Self::Misread(_) => f.write_str("Misread"),
        }
    }
}

impl<D: Domain> Key<D> {
    /// Returns the value, if it was read.
    pub(super) fn get(&self) -> Option<&D::Value> {
        self.given().map(|(value, _)| value)
    }

    /// Returns the value, or `default`.
    pub(super) fn or(&self, default: D::Value) -> D::Value {
        self.get().cloned().unwrap_or(default)
    }

    /// Returns the value, or `default` if the key is absent; `None` if it was misread.
    pub(super) fn known_or(&self, default: D::Value) -> Option<D::Value> {
        match self {
            Self::Absent => Some(default),
            Self::Given(value, _) => Some(value.clone()),
            Self::Misread(_) => None,
        }
    }

    /// Returns the value and its place, if it was read.
    pub(super) fn given(&self) -> Option<(&D::Value, &Place)> {
        match self {
            Self::Given(value, place) => Some((value, place)),
            Self::Absent | Self::Misread(_) => None,
        }
    }

    /// Returns the key's place, if it is in the table.
    pub(super) fn place(&self) -> Option<&Place> {
        match self {
            Self::Given(_, place) | Self::Misread(place) => Some(place),
            Self::Absent => None,
        }
    }

    /// Returns true if the key's value was rejected.
    pub(super) fn is_misread(&self) -> bool {
        matches!(self, Self::Misread(_))
    }

    /// Rejects the key if it has no effect: `why` names the condition, `right` what to write instead.
    pub(super) fn idle(&self, why: &str, right: &str, faults: &mut Diagnostics) {
        if let Some(place) = self.place() {
            faults.add(place.idle(why, right));
        }
    }
}

/// A table of keys.
pub trait Section: Default {
    /// Number of keys. Depends only on the types, because a table may contain itself.
    const COUNT: usize;

    /// Keys and groups as declared.
    const ROWS: &'static [Row];

    /// All keys, including those of groups.
    const KEYS: &'static [description::Key];

    /// Reads all keys; errors are added to `faults`.
    fn read(section: &mut reader::Section<'_>, faults: &mut Diagnostics) -> Self;

    /// Writes the keys that are set.
    fn written(&self, out: &mut Table);

    /// Adds the places of the keys that are in the table.
    fn places<'k>(&'k self, out: &mut Vec<&'k Place>);

    /// Rejects all keys if they have no effect; see `Key::idle`.
    fn idle(&self, why: &str, right: &str, faults: &mut Diagnostics) {
        let mut places = Vec::new();
        self.places(&mut places);
        places.into_iter().for_each(|place| faults.add(place.idle(why, right)));
    }
}

/// A table with an entry in the reference and the schema.
pub(super) trait Titled: Section {
    /// Expectation in the error for a value that is not a table.
    const EXPECTED: &'static str;
    const SCHEMA: &'static description::TableSchema;
}

/// A field of a declared table: a key, or a group of keys.
pub trait Member: Default {
    /// Argument of the setter.
    type Value;

    /// Number of keys.
    const COUNT: usize;
    /// Description of a single key's values.
    const TYPE: ValueType;
    /// Keys of a group; `None` for a single key.
    const GROUP: Option<&'static [description::Key]>;

    /// Reads the key, or the group's keys. `need` is the expectation for a missing required key.
    fn read(
        section: &mut reader::Section<'_>,
        key: &str,
        need: Option<&str>,
        faults: &mut Diagnostics,
    ) -> Self;
    /// Returns the field for a setter's argument.
    fn built(value: Self::Value) -> Self;
    /// Writes the keys that are set.
    fn written(&self, key: &str, out: &mut Table);
    /// Adds the places of the keys that are in the table.
    fn places<'k>(&'k self, out: &mut Vec<&'k Place>);
}

/// Applies keys to the engine's parameters.
pub(super) trait Assign<T> {
    fn assign(&self, params: &mut T);
}

/// Writes the engine's parameters to the resolved scenario, under the names of the keys.
pub(super) trait Export<T> {
    fn export(key: &str, params: &T, out: &mut Object);
}

/// Formats the engine's default as in a scenario.
pub(super) trait DefaultText<T> {
    fn text(params: &T) -> String;
}

pub(super) fn item(value: Value) -> Item {
    Item { value, origin: Origin::Built }
}

pub(super) fn name(name: &str) -> Item {
    item(Value::String(name.to_owned()))
}

/// Returns a key's value, if the table has the key. A missing required key is added to `faults`.
#[inline(never)]
fn field_of<'a>(
    section: &mut reader::Section<'a>,
    key: &str,
    need: Option<&str>,
    faults: &mut Diagnostics,
) -> Option<Field<'a>> {
    match need {
        Some(expected) => faults.unless(section.need(key, expected)),
        None => section.get(key),
    }
}

impl<D: Domain> Member for Key<D> {
    type Value = D::Value;

    const COUNT: usize = 1;
    const TYPE: ValueType = D::TYPE;
    const GROUP: Option<&'static [description::Key]> = None;

    fn read(
        section: &mut reader::Section<'_>,
        key: &str,
        need: Option<&str>,
        faults: &mut Diagnostics,
    ) -> Self {
        // A table may accept only some of the keys that are declared together.
        if !section.offers(key) {
            return Self::Absent;
        }
        let Some(field) = field_of(section, key, need, faults) else { return Self::Absent };
        let place = Place::of(&field);
        match D::read(&field, faults) {
            Ok(value) => Self::Given(value, place),
            Err(fault) => {
                faults.add(fault);
                Self::Misread(place)
            }
        }
    }

    fn built(value: D::Value) -> Self {
        let found = D::written(&value).describe();
        Self::Given(value, Box::new(Place { path: String::new(), origin: Origin::Built, found }))
    }

    fn written(&self, key: &str, out: &mut Table) {
        out.0.extend(self.get().map(|value| (key.to_owned(), item(D::written(value)))));
    }

    fn places<'k>(&'k self, out: &mut Vec<&'k Place>) {
        out.extend(self.place());
    }
}

impl<D: Domain, T> Assign<T> for Key<D>
where
    D::Value: Into<T>,
{
    fn assign(&self, params: &mut T) {
        if let Some(value) = self.get() {
            *params = value.clone().into();
        }
    }
}

impl<D: Domain, T: Resolved> Export<T> for Key<D> {
    fn export(key: &str, params: &T, out: &mut Object) {
        put(out, key, D::UNIT, params.json());
    }
}

/// Inserts a value at a key; a dotted key goes into a nested table.
#[inline(never)]
fn put(out: &mut Object, key: &str, unit: &str, value: Json) {
    let (out, name) = within(out, key);
    out.insert(format!("{name}{unit}"), value);
}

impl<D: Domain> DefaultText<D::Value> for Key<D> {
    fn text(params: &D::Value) -> String {
        match D::written(params) {
            Value::String(text) => text,
            other => other.describe(),
        }
    }
}

/// A group: its keys are keys of the table that contains it.
impl<S: Section> Member for S {
    type Value = S;

    const COUNT: usize = S::COUNT;
    const TYPE: ValueType = ValueType::Sweep;
    const GROUP: Option<&'static [description::Key]> = Some(S::KEYS);

    fn read(section: &mut reader::Section<'_>, _: &str, _: Option<&str>, faults: &mut Diagnostics) -> Self {
        S::read(section, faults)
    }

    fn built(value: S) -> Self {
        value
    }

    fn written(&self, _: &str, out: &mut Table) {
        Section::written(self, out);
    }

    fn places<'k>(&'k self, out: &mut Vec<&'k Place>) {
        Section::places(self, out);
    }
}

/// A declared row: a key, or a group and the default of its first key.
#[derive(Clone, Copy, Debug)]
pub(super) enum Row {
    One(description::Key),
    Group(&'static [description::Key], DefaultValue),
}

pub(super) const fn row<M: Member>(name: &'static str, absent: DefaultValue, about: &'static str) -> Row {
    match M::GROUP {
        Some(keys) => Row::Group(keys, absent),
        None => Row::One(description::Key { name, form: M::TYPE, absent, about }),
    }
}

/// Returns the keys of all rows.
pub(super) const fn keys<const N: usize>(rows: &[Row]) -> [description::Key; N] {
    let mut all = [description::Key::tag("", ""); N];
    let (mut n, mut at) = (0, 0);
    while n < rows.len() {
        match rows[n] {
            Row::One(key) => {
                all[at] = key;
                at += 1;
            }
            Row::Group(keys, absent) => {
                let first = at;
                while at - first < keys.len() {
                    all[at] = keys[at - first];
                    at += 1;
                }
                all[first].absent = absent;
            }
        }
        n += 1;
    }
    all
}

/// Returns a declared key by name, for tables that accept only some of the keys or have other defaults.
pub(super) const fn key(keys: &'static [description::Key], name: &str) -> description::Key {
    let mut n = 0;
    while n < keys.len() {
        let (own, name) = (keys[n].name.as_bytes(), name.as_bytes());
        let mut same = 0;
        while same < own.len() && same < name.len() && own[same] == name[same] {
            same += 1;
        }
        if same == own.len() && same == name.len() {
            return keys[n];
        }
        n += 1;
    }
    panic!("no key of this name is declared")
}

/// Rejects several keys if they have no effect.
pub(super) fn idle<const N: usize>(
    keys: [Option<&Place>; N],
    why: &str,
    right: &str,
    faults: &mut Diagnostics,
) {
    keys.into_iter().flatten().for_each(|place| faults.add(place.idle(why, right)));
}

/// Removes the common prefix from the names of a table.
pub(super) fn without(prefix: &str, keys: Object) -> Object {
    keys.into_iter().map(|(key, value)| (key.trim_start_matches(prefix).to_owned(), value)).collect()
}

/// Returns a table with a kind and its options as a builder value.
pub(super) fn setting<S: Section>(kind: &str, options: &S) -> Setting {
    let mut table = Table(vec![("kind".to_owned(), name(kind))]);
    options.written(&mut table);
    Setting::of(Value::Table(table))
}

/// Reads all keys of a table that has no others.
pub(super) fn read<S: Section>(section: &mut reader::Section<'_>) -> Result<S, Diagnostic> {
    let mut faults = Diagnostics::default();
    let own = S::read(section, &mut faults);
    faults.or(own)
}

/// Reads a table as this one of several alternatives.
pub(super) fn alternative<S: Titled>(mut section: reader::Section<'_>, faults: &mut Diagnostics) -> S {
    section.narrow(S::SCHEMA);
    let own = S::read(&mut section, faults);
    faults.unless(section.finish());
    own
}

/// Returns the table for a dotted name in the resolved scenario, and the rest of the name: `codel.target` is
/// in the table `codel`.
fn within<'o, 'n>(out: &'o mut Object, name: &'n str) -> (&'o mut Object, &'n str) {
    match name.split_once('.') {
        Some((table, name)) => {
            let table = out.entry(table).or_insert_with(|| Object::new().into());
            (table.as_object_mut().expect("names with a dot are in tables"), name)
        }
        None => (out, name),
    }
}

/// Returns a table's parameters as shown in the resolved scenario.
pub(super) fn resolved<S: Export<P>, P>(params: &P) -> Object {
    let mut out = Object::new();
    S::export("", params, &mut out);
    out
}
