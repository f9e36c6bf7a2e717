//! Types of keys: what values may be.

use core::fmt;
use core::marker::PhantomData;

use serde_json::{Value as Json, json};
use stillair_model::types::{Duration, Rate};

use super::super::description::ValueType;
use super::super::document::{Table, Value};
use super::super::error::{Diagnostic, Diagnostics};
use super::super::reader::{Field, Typed};
use super::super::units;
use super::{Domain, Resolved, Titled};

/// A whole number from `LOW` to `HIGH`.
pub struct Int<const LOW: i64, const HIGH: i64, T = u32>(PhantomData<T>);

/// A power of two from `LOW` to `HIGH`.
pub struct PowerOfTwo<const LOW: i64, const HIGH: i64>;

/// A whole number of bytes from `LOW` to `HIGH`, without a unit.
pub struct Octets<const LOW: i64, const HIGH: i64>;

/// A number of bytes from `LOW` to `HIGH`, with or without a unit.
pub struct Bytes<const LOW: u32, const HIGH: u32>;

/// A whole number of per cent from `LOW` to `HIGH`.
pub struct Percent<const LOW: i64, const HIGH: i64>;

/// A rate above zero.
pub struct BitRate;

/// A boolean.
pub struct Flag;

/// A time.
pub struct Time;

/// A time above zero.
pub struct Period;

/// The name of a value of `T`.
pub struct Choice<T>(PhantomData<T>);

/// A table of its own.
pub struct Inner<S>(PhantomData<S>);

/// A type whose values have names in scenarios.
pub trait Named: Copy + fmt::Debug + PartialEq + 'static {
    const NAMES: &'static [&'static str];
    const ALL: &'static [(&'static str, Self)];
}

/// Names the values of a type, by its own `name`, as given, or by a table.
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

/// Writes a number of bytes.
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

/// Declares domains that are read by their form and written by a function of [`units`]; with a doc comment,
/// their types too.
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
        let mut section = field.section(S::EXPECTED)?;
        let own = S::read(&mut section, faults);
        faults.unless(section.finish());
        Ok(own)
    }

    fn written(value: &S) -> Value {
        let mut table = Table::default();
        value.written(&mut table);
        Value::Table(table)
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

plain!(bool, u8, u16, u32, u64, i16);
