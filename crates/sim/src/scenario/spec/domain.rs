//! Types of keys: the values that are accepted.

use core::fmt;
use core::marker::PhantomData;

use serde_json::{Value as Json, json};
use stillair_model::types::{Duration, Rate};

use super::super::builder::Setting;
use super::super::description::ValueType;
use super::super::document::{Item, Table, Value};
use super::super::error::{Diagnostic, Diagnostics};
use super::super::parts::Parts;
use super::super::reader::{Field, Typed};
use super::super::units;
use super::{Domain, Key, Place, Resolved, Titled, alternative};

/// An integer from `LOW` to `HIGH`.
pub struct Int<const LOW: i64, const HIGH: i64, T = u32>(PhantomData<T>);

/// A power of two from `LOW` to `HIGH`.
pub struct PowerOfTwo<const LOW: i64, const HIGH: i64>;

/// An integer number of bytes from `LOW` to `HIGH`, without a unit.
pub struct Octets<const LOW: i64, const HIGH: i64>;

/// A number of bytes from `LOW` to `HIGH`, with or without a unit.
pub struct Bytes<const LOW: u32, const HIGH: u32>;

/// An integer percentage from `LOW` to `HIGH`.
pub struct Percent<const LOW: i64, const HIGH: i64>;

/// A rate above zero.
pub struct BitRate;

/// A boolean.
pub struct Flag;

/// A duration.
pub struct Time;

/// A duration above zero.
pub struct Period;

/// A fraction from 0 to 1.
pub struct Share;

/// The name of a file.
pub struct FileName;

/// A position in millimetres.
pub struct Position;

/// The name of a value of `T`.
pub struct Choice<T>(PhantomData<T>);

/// A nested table.
pub struct Inner<S>(PhantomData<S>);

/// A type whose values have names in scenarios.
pub trait Named: Copy + fmt::Debug + PartialEq + 'static {
    const NAMES: &'static [&'static str];
    const ALL: &'static [(&'static str, Self)];
}

/// Declares the names of a type's values: its own `name` method, explicit names, or a table.
macro_rules! named {
    ($type:ident: $all:expr) => {
        impl $crate::scenario::spec::domain::Named for $type {
            const NAMES: &'static [&'static str] = &$crate::scenario::spec::domain::firsts($all);
            const ALL: &'static [(&'static str, Self)] = &$all;
        }
    };
    ($type:ident { $($value:ident),* $(,)? }) => {
        impl $crate::scenario::spec::domain::Named for $type {
            const NAMES: &'static [&'static str] = &[$($type::$value.name()),*];
            const ALL: &'static [(&'static str, Self)] = &[$(($type::$value.name(), $type::$value)),*];
        }
    };
    ($type:ident { $($value:ident = $name:literal),* $(,)? }) => {
        impl $crate::scenario::spec::domain::Named for $type {
            const NAMES: &'static [&'static str] = &[$($name),*];
            const ALL: &'static [(&'static str, Self)] = &[$(($name, $type::$value)),*];
        }
    };
}
pub(in super::super) use named;

/// Returns the first of each pair, such as the names in a table.
pub(in super::super) const fn firsts<A: Copy, B: Copy, const N: usize>(all: [(A, B); N]) -> [A; N] {
    let (mut firsts, mut n) = ([all[0].0; N], 1);
    while n < N {
        firsts[n] = all[n].0;
        n += 1;
    }
    firsts
}

impl<const LOW: i64, const HIGH: i64, T: Typed + Copy + fmt::Debug + Into<i64>> Domain for Int<LOW, HIGH, T> {
    type Value = T;
    const TYPE: ValueType = ValueType::Integer(LOW, HIGH);

    fn read(field: &Field<'_>, _: &mut Diagnostics) -> Result<T, Diagnostic> {
        field.value()
    }

    fn written(value: &T) -> Value {
        Value::Integer((*value).into())
    }
}

impl<const LOW: i64, const HIGH: i64> Domain for PowerOfTwo<LOW, HIGH> {
    type Value = u32;
    const TYPE: ValueType = ValueType::Integer(LOW, HIGH);

    fn read(field: &Field<'_>, _: &mut Diagnostics) -> Result<u32, Diagnostic> {
        let n: u32 = field.value()?;
        if n.is_power_of_two() { Ok(n) } else { Err(field.wrong("a power of two")) }
    }

    fn written(value: &u32) -> Value {
        Value::Integer((*value).into())
    }
}

impl<const LOW: i64, const HIGH: i64> Domain for Octets<LOW, HIGH> {
    type Value = u32;
    const TYPE: ValueType = ValueType::Integer(LOW, HIGH);
    const UNIT: &'static str = "_bytes";

    fn read(field: &Field<'_>, _: &mut Diagnostics) -> Result<u32, Diagnostic> {
        field.value()
    }

    fn written(value: &u32) -> Value {
        Value::Integer((*value).into())
    }
}

impl<const LOW: i64, const HIGH: i64> Domain for Percent<LOW, HIGH> {
    type Value = u32;
    const TYPE: ValueType = ValueType::Integer(LOW, HIGH);
    const UNIT: &'static str = "_percent";

    fn read(field: &Field<'_>, _: &mut Diagnostics) -> Result<u32, Diagnostic> {
        field.value()
    }

    fn written(value: &u32) -> Value {
        Value::Integer((*value).into())
    }
}

/// Formats a number of bytes.
pub(in super::super) fn bytes_text(bytes: impl fmt::Display) -> String {
    format!("{bytes} B")
}

impl<const LOW: u32, const HIGH: u32> Domain for Bytes<LOW, HIGH> {
    type Value = u32;
    const TYPE: ValueType = ValueType::Bytes(LOW, HIGH);
    const UNIT: &'static str = "_bytes";

    fn read(field: &Field<'_>, _: &mut Diagnostics) -> Result<u32, Diagnostic> {
        field.value()
    }

    fn written(value: &u32) -> Value {
        Value::String(bytes_text(value))
    }
}

impl Domain for Flag {
    type Value = bool;
    const TYPE: ValueType = ValueType::Boolean;

    fn read(field: &Field<'_>, _: &mut Diagnostics) -> Result<bool, Diagnostic> {
        field.value()
    }

    fn written(value: &bool) -> Value {
        Value::Boolean(*value)
    }
}

/// Declares domains that are parsed by their type and written by a function of [`units`]. Also declares their
/// Rust types if doc comments are given.
macro_rules! quantity {
    ($($(#[doc = $about:literal])+ $domain:ident: $value:ty = $form:expr, $unit:literal, $text:path;)+) => {
        $($(#[doc = $about])+
        pub struct $domain;)+
        quantity! { $($domain: $value = $form, $unit, $text;)+ }
    };
    ($($domain:ident: $value:ty = $form:expr, $unit:literal, $text:path;)*) => {
        $(impl $crate::scenario::spec::Domain for $domain {
            type Value = $value;
            const TYPE: $crate::scenario::description::ValueType = $form;
            const UNIT: &'static str = $unit;

            fn read(
                field: &$crate::scenario::reader::Field<'_>,
                _: &mut $crate::scenario::error::Diagnostics,
            ) -> Result<$value, $crate::scenario::error::Diagnostic> {
                field.value()
            }

            fn written(value: &$value) -> $crate::scenario::document::Value {
                $crate::scenario::document::Value::String($text(*value))
            }
        })*
    };
}
pub(in super::super) use quantity;

quantity! {
    Time: Duration = ValueType::Time, "_ns", units::duration_text;
    Period: Duration = ValueType::Period, "_ns", units::duration_text;
    BitRate: Rate = ValueType::Rate, "_bps", units::rate_text;
}

impl Domain for Share {
    type Value = f64;
    const TYPE: ValueType = ValueType::Fraction;

    fn read(field: &Field<'_>, _: &mut Diagnostics) -> Result<f64, Diagnostic> {
        field.value()
    }

    fn written(value: &f64) -> Value {
        Value::Float(*value)
    }
}

impl Domain for FileName {
    type Value = String;
    const TYPE: ValueType = ValueType::Text;

    fn read(field: &Field<'_>, _: &mut Diagnostics) -> Result<String, Diagnostic> {
        field.text("the name of a file").map(str::to_owned)
    }

    fn written(value: &String) -> Value {
        Value::String(value.clone())
    }
}

/// Domains in thousandths of a decibel, and in millimetres.
macro_rules! thousandths {
    ($($(#[doc = $about:literal])+ $domain:ident: $value:ty = $unit:literal, $suffix:literal, $sign:literal, $read:path,
        $words:literal, $examples:expr;)*) => {
        $($(#[doc = $about])+
        pub struct $domain;

        impl Domain for $domain {
            type Value = $value;
            const TYPE: ValueType = ValueType::Written {
                words: $words,
                pattern: concat!("^", $sign, r"[0-9]+(\.[0-9]{1,3})? ?", $unit, "$"),
                examples: &$examples,
            };
            const UNIT: &'static str = $suffix;

            fn read(field: &Field<'_>, _: &mut Diagnostics) -> Result<$value, Diagnostic> {
                field.unit($read)
            }

            fn written(value: &$value) -> Value {
                Value::String(format!("{} {}", *value as f64 / 1e3, $unit))
            }
        })*
    };
}

thousandths! {
    /// A ratio in thousandths of a decibel.
    Ratio: i32 = "dB", "_mdb", "-?", units::ratio, "a ratio such as `25 dB`", ["25 dB", "-3.5 dB"];
    /// A level in thousandths of a dBm.
    Level: i32 = "dBm", "_mdbm", "-?", units::level, "a level such as `16 dBm`", ["16 dBm", "-94.5 dBm"];
    /// A length in millimetres.
    Length: u64 = "m", "_mm", "", units::length, "a length such as `10 m`", ["10 m", "2.5 m"];
}

impl Domain for Position {
    type Value = [u64; 2];
    const TYPE: ValueType = ValueType::Written {
        words: "two coordinates such as `3 m, 4.5 m`",
        pattern: r"^[0-9]+(\.[0-9]{1,3})? ?m *, *[0-9]+(\.[0-9]{1,3})? ?m$",
        examples: &["0 m, 0 m", "10 m, 2.5 m"],
    };

    fn read(field: &Field<'_>, _: &mut Diagnostics) -> Result<[u64; 2], Diagnostic> {
        let expected = "two coordinates such as \"3 m, 4.5 m\"";
        let coordinate = |text: &str| match text.trim() {
            "0 m" | "0m" => Ok(0),
            other => units::length(other).map_err(|_| field.wrong(expected)),
        };
        let (x, y) = field.text(expected)?.split_once(',').ok_or_else(|| field.wrong(expected))?;
        Ok([coordinate(x)?, coordinate(y)?])
    }

    fn written(value: &[u64; 2]) -> Value {
        let [x, y] = value.map(|length| length as f64 / 1e3);
        Value::String(format!("{x} m, {y} m"))
    }
}

impl<T: Named> Domain for Choice<T> {
    type Value = T;
    const TYPE: ValueType = ValueType::Choice(T::NAMES);

    fn read(field: &Field<'_>, _: &mut Diagnostics) -> Result<T, Diagnostic> {
        field.choice(T::ALL)
    }

    fn written(value: &T) -> Value {
        Value::String(name(*value).to_owned())
    }
}

impl<S: Titled + Clone + fmt::Debug> Domain for Inner<S> {
    type Value = S;
    const TYPE: ValueType = ValueType::Table(S::SCHEMA);

    fn read(field: &Field<'_>, faults: &mut Diagnostics) -> Result<S, Diagnostic> {
        Ok(alternative(field.section(S::EXPECTED)?, faults))
    }

    fn written(value: &S) -> Value {
        let mut table = Table::default();
        value.written(&mut table);
        Value::Table(table)
    }
}

/// A value of `D`, or a table.
pub struct OrTable<D, S>(PhantomData<(D, S)>);

/// A value, or a table.
#[derive(Clone, Debug)]
pub enum OneOrTable<V, S> {
    /// A single value.
    One(V),
    /// A table.
    Table(S),
}

impl<D: Domain, S: Titled + Clone + fmt::Debug> Domain for OrTable<D, S> {
    type Value = OneOrTable<D::Value, S>;
    const TYPE: ValueType = ValueType::Either(&[D::TYPE, ValueType::Table(S::SCHEMA)]);

    fn read(field: &Field<'_>, faults: &mut Diagnostics) -> Result<Self::Value, Diagnostic> {
        match field.item.value {
            Value::Table(_) => Inner::<S>::read(field, faults).map(OneOrTable::Table),
            _ => D::read(&Field { form: const { &D::TYPE }, ..field.clone() }, faults).map(OneOrTable::One),
        }
    }

    fn written(value: &Self::Value) -> Value {
        match value {
            OneOrTable::One(value) => D::written(value),
            OneOrTable::Table(table) => Inner::<S>::written(table),
        }
    }
}

/// A value of `D` over time: a single value, or a list of the initial value and tables of changes.
pub struct Steps<D, S>(PhantomData<(D, S)>);

/// A value and its changes.
#[derive(Clone, Debug)]
pub struct Series<V, S> {
    /// The initial value; `None` for an empty list.
    pub first: Option<V>,
    /// The changes, in order.
    pub later: Vec<S>,
    /// True if written as a list.
    pub is_list: bool,
}

impl<D: Domain, S: Titled + Clone + fmt::Debug> Steps<D, S> {
    /// Type of a list element.
    pub(super) const ONE: ValueType = ValueType::Either(&[D::TYPE, ValueType::Table(S::SCHEMA)]);
}

impl<D: Domain, S: Titled + Clone + fmt::Debug> Domain for Steps<D, S> {
    type Value = Series<D::Value, S>;
    const TYPE: ValueType = ValueType::Either(&[D::TYPE, ValueType::List(&Self::ONE)]);

    fn read(field: &Field<'_>, faults: &mut Diagnostics) -> Result<Self::Value, Diagnostic> {
        let all = field.list();
        let mut series = Series { first: None, later: Vec::new(), is_list: field.is_list() };
        let Some((first, later)) = all.split_first() else { return Ok(series) };
        series.first = Some(D::read(&Field { form: const { &D::TYPE }, ..first.clone() }, faults)?);
        for change in later {
            let read = Inner::<S>::read(change, faults);
            series.later.extend(faults.unless(read));
        }
        Ok(series)
    }

    fn written(value: &Self::Value) -> Value {
        let later = value.later.iter().map(Inner::<S>::written);
        let mut all: Vec<Value> = value.first.iter().map(D::written).chain(later).collect();
        if value.is_list { Value::Array(all.into_iter().map(super::item).collect()) } else { all.remove(0) }
    }
}

/// A list of values of `D`; a single value is a list of one.
pub struct List<D>(PhantomData<D>);

/// A value in a list.
#[derive(Clone, Debug)]
pub struct Listed<V> {
    /// The value.
    pub value: V,
    pub(in super::super) place: Box<Place>,
}

impl<D: Domain> Domain for List<D> {
    type Value = Vec<Listed<D::Value>>;
    const TYPE: ValueType = ValueType::List(&D::TYPE);

    fn read(field: &Field<'_>, faults: &mut Diagnostics) -> Result<Self::Value, Diagnostic> {
        let mut one = |field: &Field<'_>| {
            let field = Field { form: const { &D::TYPE }, ..field.clone() };
            Ok(Listed { value: D::read(&field, faults)?, place: Place::of(&field) })
        };
        let read: Vec<_> = field.list().iter().map(&mut one).collect();
        let (mut all, mut last) = (Vec::new(), None);
        for value in read {
            match value {
                Ok(value) => all.push(value),
                Err(fault) => last.replace(fault).into_iter().for_each(|fault| faults.add(fault)),
            }
        }
        last.map_or(Ok(all), Err)
    }

    fn written(value: &Self::Value) -> Value {
        Value::Array(value.iter().map(|one| super::item(D::written(&one.value))).collect())
    }
}

/// A value of `D`, or `off`.
pub struct OrOff<D>(PhantomData<D>);

impl<D: Domain> Domain for OrOff<D> {
    type Value = Option<D::Value>;
    const TYPE: ValueType = ValueType::Either(&[ValueType::Choice(&["off"]), D::TYPE]);
    const UNIT: &'static str = D::UNIT;

    fn read(field: &Field<'_>, faults: &mut Diagnostics) -> Result<Self::Value, Diagnostic> {
        if matches!(&field.item.value, Value::String(off) if off == "off") {
            return Ok(None);
        }
        let value = D::read(&Field { form: const { &D::TYPE }, ..field.clone() }, faults);
        value.map(Some).map_err(|fault| fault.or("\"off\""))
    }

    fn written(value: &Self::Value) -> Value {
        value.as_ref().map_or_else(|| Value::String("off".to_owned()), D::written)
    }
}

/// Declares an enum of several tables, distinguished by their `kind`. With `bare`, a kind may be given as a
/// plain name; `needs` is the expectation in the error if such a kind has required keys. Without `bare`, the
/// text is the expectation in the error for a value that is not a table.
macro_rules! alternatives {
    ($(#[doc = $about:literal])+ pub enum $name:ident: bare { $($rest:tt)* }) => {
        alternatives! { @whole $(#[doc = $about])+ $name (true, "a table") $($rest)* }
    };
    ($(#[doc = $about:literal])+ pub enum $name:ident: $expected:literal { $($rest:tt)* }) => {
        alternatives! { @whole $(#[doc = $about])+ $name (false, $expected) $($rest)* }
    };
    (@whole $(#[doc = $about:literal])+ $name:ident ($bare:literal, $expected:literal)
        $($table:ident $(needs $words:literal)?),* $(,)?) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug)]
        pub enum $name {
            $(#[doc = concat!("As [`", stringify!($table), "`] has it.")]
            $table($table)),*
        }

        impl $crate::scenario::spec::Domain for $name {
            type Value = Self;
            const TYPE: $crate::scenario::description::ValueType = $crate::scenario::description::ValueType::Kinds {
                shapes: &[$(<$table as $crate::scenario::spec::Titled>::SCHEMA),*],
                bare: $bare,
            };

            fn read(
                field: &$crate::scenario::reader::Field<'_>,
                faults: &mut $crate::scenario::error::Diagnostics,
            ) -> Result<Self, $crate::scenario::error::Diagnostic> {
                let (kind, mut section) = if $bare {
                    field.kind()?
                } else {
                    let (kind, section) = field.kind_table($expected)?;
                    (kind, Some(section))
                };
                $(if kind == <$table as $crate::scenario::spec::Titled>::SCHEMA.kind() {
                    $(if section.is_none() {
                        return Err(field.wrong($words));
                    })?
                    let table = section.take().map(|section| $crate::scenario::spec::alternative(section, faults));
                    return Ok(Self::$table(table.unwrap_or_default()));
                })*
                unreachable!("{kind} is one of its kinds")
            }

            fn written(value: &Self) -> $crate::scenario::document::Value {
                match value {
                    $(Self::$table(own) => $crate::scenario::builder::Setting::from(own.clone()).into_value()),*
                }
            }
        }
    };
}
pub(in super::super) use alternatives;

/// A domain whose values have names.
pub trait Thing: Domain {
    /// Noun for a value in messages.
    const WHAT: &'static str;
}

/// Named values.
pub struct Map<D>(PhantomData<D>);

/// An entry of a [`Map`].
#[derive(Clone, Debug)]
pub struct Entry<V> {
    /// Name of the entry.
    pub name: String,
    pub(in super::super) place: Box<Place>,
    /// The value; `None` if it was rejected.
    pub value: Option<V>,
}

impl<D: Thing> Domain for Map<D> {
    type Value = Vec<Entry<D::Value>>;
    const TYPE: ValueType = ValueType::Named(D::WHAT, &D::TYPE);

    fn read(field: &Field<'_>, faults: &mut Diagnostics) -> Result<Self::Value, Diagnostic> {
        let mut one = |(name, field): (&str, Field<'_>)| {
            let read = D::read(&field, faults);
            Entry { name: name.to_owned(), place: Place::of(&field), value: faults.unless(read) }
        };
        Ok(field.named(D::WHAT)?.into_iter().map(&mut one).collect())
    }

    fn written(value: &Self::Value) -> Value {
        let one = |entry: &Entry<D::Value>| {
            Some((entry.name.clone(), super::item(D::written(entry.value.as_ref()?))))
        };
        Value::Table(Table(value.iter().filter_map(one).collect()))
    }
}

/// Declares domains whose values refer to nodes or user-defined parts. The value is stored as written, and
/// read once these are known.
macro_rules! as_written {
    ($($(#[doc = $about:literal])+ $domain:ident = $form:expr;)*) => {
        $($(#[doc = $about])+
        pub struct $domain;

        impl $crate::scenario::spec::Domain for $domain {
            type Value = $crate::scenario::builder::Setting;
            const TYPE: $crate::scenario::description::ValueType = $form;

            fn read(
                field: &$crate::scenario::reader::Field<'_>,
                _: &mut $crate::scenario::error::Diagnostics,
            ) -> Result<Self::Value, $crate::scenario::error::Diagnostic> {
                Ok($crate::scenario::builder::Setting::of(field.item.value.clone()))
            }

            fn written(value: &Self::Value) -> $crate::scenario::document::Value {
                value.clone().into_value()
            }
        })*
    };
}
pub(in super::super) use as_written;

impl<D: Domain<Value = Setting>> Key<D> {
    /// Reads a value that was stored as written.
    pub(in super::super) fn late<T>(&self, parts: &Parts, read: impl FnOnce(&Field<'_>) -> T) -> Option<T> {
        let (value, at) = self.given()?;
        let item = Item { value: value.clone().into_value(), origin: at.origin };
        Some(read(&Field { path: at.path.clone(), item: &item, form: const { &D::TYPE }, parts }))
    }
}

fn name<T: Named>(value: T) -> &'static str {
    T::ALL.iter().find(|(_, one)| *one == value).expect("all values have names").0
}

impl<T: Named> Resolved for T {
    fn json(&self) -> Json {
        name(*self).into()
    }
}

impl Resolved for Duration {
    fn json(&self) -> Json {
        self.nanos().into()
    }
}

impl Resolved for Rate {
    fn json(&self) -> Json {
        self.bps().into()
    }
}

impl Resolved for Vec<u32> {
    fn json(&self) -> Json {
        json!(self)
    }
}

impl<T: Resolved> Resolved for Option<T> {
    fn json(&self) -> Json {
        self.as_ref().map_or(Json::Null, T::json)
    }
}

macro_rules! plain {
    ($($type:ty),*) => { $(impl Resolved for $type {
        fn json(&self) -> Json {
            json!(self)
        }
    })* };
}

plain!(bool, u8, u16, u32, u64, i16, i32);
