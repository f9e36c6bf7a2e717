//! What was written: one declaration for each key, and nothing that depends on another table.
//!
//! A table is a struct of [`Key`]s with `#[derive(Section)]`. What a value may be is a type, a [`Domain`].

#[macro_use]
mod section;
pub(super) mod cake;
pub(super) mod domain;
pub(super) mod jitter;
pub(super) mod overhead;
pub(super) mod power;
#[cfg(test)]
mod tests;

use core::fmt;

use serde_json::Value as Json;

use super::contract::{self, Absent, Form};
use super::document::{Item, Table, Value};
use super::error::{Fault, Origin};
use super::reader::{self, Field};

/// A table of the resolved scenario.
pub(super) type Object = serde_json::Map<String, Json>;

/// What a value may be, and how it is read.
pub(super) trait Domain {
    /// What it is read as.
    type Value: Clone + fmt::Debug;

    /// Its description.
    const FORM: Form;

    /// What its key has after its name in the resolved scenario.
    const UNIT: &'static str = "";

    /// Reads it.
    fn read(field: &Field<'_>) -> Result<Self::Value, Fault>;

    /// The value as it is written in a scenario.
    fn written(value: &Self::Value) -> Value;
}

/// A value of the engine as the resolved scenario has it.
pub(super) trait Resolved {
    fn json(&self) -> Json;
}

/// Where a value was written, and what stood there.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub path: String,
    pub origin: Origin,
    found: String,
}

impl Place {
    pub(super) fn of(field: &Field<'_>) -> Self {
        Self { path: field.path.clone(), origin: field.item.origin, found: field.item.value.describe() }
    }

    /// A mistake of this value.
    pub(super) fn wrong(&self, expected: impl Into<String>) -> Fault {
        Fault::new(self.origin, &*self.path, &*self.found, expected)
    }

    /// A mistake of this value, in other words than the value itself.
    pub(super) fn says(&self, found: impl Into<String>, expected: impl Into<String>) -> Fault {
        Fault::new(self.origin, &*self.path, found, expected)
    }

    /// The mistake of a value that would have no effect.
    pub(super) fn idle(&self, why: &str, right: &str) -> Fault {
        Fault::new(self.origin, &*self.path, format!("{}, which has no effect {why}", self.found), right)
    }
}

/// A key of a table: what was written, or nothing.
pub(super) struct Key<D: Domain>(Option<(D::Value, Place)>);

// A derive would ask the same of the domain, which has no values.
impl<D: Domain> Clone for Key<D> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<D: Domain> fmt::Debug for Key<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<D: Domain> Default for Key<D> {
    fn default() -> Self {
        Self(None)
    }
}

impl<D: Domain> Key<D> {
    /// The value, if there is one.
    pub(super) fn get(&self) -> Option<&D::Value> {
        self.0.as_ref().map(|(value, _)| value)
    }

    /// The value, or `default`.
    pub(super) fn or(&self, default: D::Value) -> D::Value {
        self.get().cloned().unwrap_or(default)
    }

    /// The value with its place, if there is one.
    pub(super) fn given(&self) -> Option<(&D::Value, &Place)> {
        self.0.as_ref().map(|(value, place)| (value, place))
    }

    /// Refuses it where it would have no effect: `why` says with what, `right` what would have one.
    pub(super) fn idle(&self, why: &str, right: &str) -> Result<(), Fault> {
        self.given().map_or(Ok(()), |(_, place)| Err(place.idle(why, right)))
    }
}

/// A table.
pub(super) trait Section: Default {
    /// How many keys it has; the types alone say it, as a table may hold itself.
    const COUNT: usize;

    /// As declared.
    const ROWS: &'static [Row];

    /// The keys, those of groups among them.
    const KEYS: &'static [contract::Key];

    /// Reads all keys. A mistake in one does not hide those in others.
    fn read(section: &mut reader::Section<'_>) -> Result<Self, Fault>;

    /// Writes what was set.
    fn written(&self, out: &mut Table);
}

/// What a row of a table declares: a key, or the keys of a group.
pub(super) trait Member: Default {
    /// What its setter takes.
    type Value;

    const COUNT: usize;
    const FORM: Form;
    const GROUP: Option<&'static [contract::Key]>;

    fn read(section: &mut reader::Section<'_>, key: &str, need: Option<&str>) -> Result<Self, Fault>;
    fn built(value: Self::Value) -> Self;
    fn written(&self, key: &str, out: &mut Table);
}

/// Puts what was written into the engine's parameters.
pub(super) trait Onto<T> {
    fn onto(&self, params: &mut T);
}

/// Tells the engine's parameters under the names of the keys.
pub(super) trait Tell<T> {
    fn tell(key: &str, params: &T, out: &mut Object);
}

/// An engine's parameter as it would be written.
pub(super) trait Text<T> {
    fn text(params: &T) -> String;
}

pub(super) fn item(value: Value) -> Item {
    Item { value, origin: Origin::Built }
}

pub(super) fn name(name: &str) -> Item {
    item(Value::String(name.to_owned()))
}

impl<D: Domain> Member for Key<D> {
    type Value = D::Value;

    const COUNT: usize = 1;
    const FORM: Form = D::FORM;
    const GROUP: Option<&'static [contract::Key]> = None;

    fn read(section: &mut reader::Section<'_>, key: &str, need: Option<&str>) -> Result<Self, Fault> {
        let field = match need {
            Some(expected) => Some(section.need(key, expected)?),
            None => section.get(key),
        };
        let read = field.map(|field| Ok((D::read(&field)?, Place::of(&field))));
        read.transpose().map(Self)
    }

    fn built(value: D::Value) -> Self {
        let found = D::written(&value).describe();
        Self(Some((value, Place { path: String::new(), origin: Origin::Built, found })))
    }

    fn written(&self, key: &str, out: &mut Table) {
        out.0.extend(self.get().map(|value| (key.to_owned(), item(D::written(value)))));
    }
}

impl<D: Domain, T> Onto<T> for Key<D>
where
    D::Value: Into<T>,
{
    fn onto(&self, params: &mut T) {
        if let Some(value) = self.get() {
            *params = value.clone().into();
        }
    }
}

impl<D: Domain, T: Resolved> Tell<T> for Key<D> {
    fn tell(key: &str, params: &T, out: &mut Object) {
        out.insert(format!("{key}{}", D::UNIT), params.json());
    }
}

impl<D: Domain> Text<D::Value> for Key<D> {
    fn text(params: &D::Value) -> String {
        match D::written(params) {
            Value::String(text) => text,
            other => other.describe(),
        }
    }
}

/// A group stands for its keys.
impl<S: Section> Member for S {
    type Value = S;

    const COUNT: usize = S::COUNT;
    const FORM: Form = Form::Sweep;
    const GROUP: Option<&'static [contract::Key]> = Some(S::KEYS);

    fn read(section: &mut reader::Section<'_>, _: &str, _: Option<&str>) -> Result<Self, Fault> {
        S::read(section)
    }

    fn built(value: S) -> Self {
        value
    }

    fn written(&self, _: &str, out: &mut Table) {
        Section::written(self, out);
    }
}

/// A row: a key, or a group whose first key has other words for what holds without it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Row {
    One(contract::Key),
    Group(&'static [contract::Key], Absent),
}

pub(super) const fn row<M: Member>(name: &'static str, absent: Absent, about: &'static str) -> Row {
    match M::GROUP {
        Some(keys) => Row::Group(keys, absent),
        None => Row::One(contract::Key { name, form: M::FORM, absent, about }),
    }
}

/// The keys of these rows.
pub(super) const fn keys<const N: usize>(rows: &[Row]) -> [contract::Key; N] {
    let mut all = [contract::Key::tag("", ""); N];
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

/// The keys of a group, with other words for what holds without the first.
pub(super) const fn otherwise<const N: usize>(
    group: &'static [contract::Key],
    words: &'static str,
) -> [contract::Key; N] {
    keys(&[Row::Group(group, Absent::Words(words))])
}

/// The parameters of a table as the resolved scenario has them.
pub(super) fn resolved<S: Tell<P>, P>(params: &P) -> Object {
    let mut out = Object::new();
    S::tell("", params, &mut out);
    out
}
